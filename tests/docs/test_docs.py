"""The documentation builds strictly, needs no network, and knows every word of the model files."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import subprocess
import sys
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import is_typeddict
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest

import svyaz
from svyaz import gallery
from svyaz.commands.contents import COMMANDS
from svyaz.integrate import method_names
from svyaz.model.reading import words
from svyaz_published.rules import bypass

LOADED = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built pages; warnings are errors, and commands whose words, files and package are unchanged are not run again."""
    root = Path(__file__).parents[2]
    target = tmp_path_factory.mktemp("site")
    path = os.pathsep.join([str(root / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "-W",
            "--keep-going",
            "-q",
            "-b",
            "html",
            "-d",
            target / "trees",
            "docs",
            target,
        ],
        cwd=root,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target


class Resources(HTMLParser):
    """Addresses of everything that a browser loads for a page, where its links lead, and the places that it has."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if (address := found.get(LOADED.get(tag, ""))) and found.get("rel") not in ("index", "search", "next", "prev"):
            self.loaded.append(address)
        if tag == "a" and (address := found.get("href")):
            self.links.append(address)
        self.places.update(filter(None, [found.get("id")]))


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Resources]:
    """What the built pages hold."""
    found = {page: Resources(page) for page in sorted(site.rglob("*.html"))}
    assert len(found) > 20
    return found


def test_nothing_is_loaded_from_elsewhere(site, pages) -> None:
    for page, resources in pages.items():
        assert resources.loaded or page.parent.name == "gallery"  # living pages hold all that they need
        assert [a for a in resources.loaded if re.match(r"(\w+:)?//", a)] == [], page
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\(\s*['\"]?(?:\w+:)?//[^)]*|@import[^;]*//[^;]*", styles) == []


def test_P4_no_link_is_dead_and_nothing_is_missing(pages) -> None:
    dead = []
    for page, resources in pages.items():
        for address in [*resources.links, *resources.loaded]:
            where = urlsplit(address)
            if where.scheme or where.netloc:
                continue
            target = (page.parent / unquote(where.path)).resolve() if where.path else page
            places = pages[target].places if target in pages else set()
            if not target.is_file() or (target in pages and where.fragment and unquote(where.fragment) not in places):
                dead.append(f"{page.name}: {address}")
    assert dead == []


def test_P4_every_model_of_the_gallery_has_its_living_page(site, pages) -> None:
    links = pages[site / "reference" / "gallery.html"].links
    living = {Path(address).name for address in links if address.endswith(".html") and "_static/gallery/" in address}
    assert len(living) == len(svyaz.gallery())
    for name in living:
        assert b"<script" in (site / "_static" / "gallery" / name).read_bytes()


def test_formulas_are_rendered_when_the_pages_are_built(site, pages) -> None:
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert 'class="math notranslate' not in text, page
        assert "katex-error" not in text, page
    assert 'class="katex' in (site / "explanation" / "signs.html").read_text(encoding="utf-8")


def test_every_page_is_whole_in_a_browser(site, browser) -> None:
    text = browser(site / "explanation" / "signs.html", "--dump-dom")
    assert "The pull in a rod" in text or "the pull in a rod" in text
    assert 'class="katex' in text


@pytest.mark.parametrize(
    "table",
    [
        "MODEL",
        "CONSTRAINT",
        "INTEGRAL",
        "INPUT",
        "DRAW",
        "RUN",
        "SOURCE",
        "MOTOR",
        "BODY",
        "INERTIA",
        "DH",
        "DH_LINK",
    ],
)
def test_every_word_of_the_model_files_is_explained(root, table) -> None:
    text = (root / "docs" / "reference" / "models.md").read_text(encoding="utf-8")
    known = set(re.findall(r"`(\w+)`", text)) | set(re.findall(r"\[(\w+)\]", text))
    assert set(getattr(words, table)) - known == set()


def test_every_word_of_a_rule_of_the_sources_is_explained(root) -> None:
    text = (root / "docs" / "reference" / "models.md").read_text(encoding="utf-8")
    assert bypass.KEYS.keys() - set(re.findall(r"`(\w+)`", text)) == set()


def test_every_method_is_explained(site) -> None:
    text = (site / "reference" / "methods.html").read_text(encoding="utf-8")
    assert [name for name in method_names() if f'<span class="pre">{name}</span></code></p></td>' not in text] == []


def test_errata_are_numbered_by_source(root) -> None:
    text = (root / "docs" / "explanation" / "errata.md").read_text(encoding="utf-8")
    entries = re.findall(r"^- \[\*\*(\d{3}-E\d+[ab]?)\*\*\]\{#(\d{3}-e\d+[ab]?)\}", text, re.MULTILINE)
    assert entries
    assert all(label.lower() == anchor for label, anchor in entries)
    assert len(set(entries)) == len(entries) == len(re.findall(r"^- ", text, re.MULTILINE))


def test_the_page_for_developers_shows_all_packages_and_explains_all_codes(root) -> None:
    page = (root / "docs" / "developing.md").read_text(encoding="utf-8")
    package = root / "src" / "svyaz"
    packages = [f.name for f in package.iterdir() if (f / "__init__.py").is_file()]
    packages += [f.name for f in package.glob("*.py") if not f.name.startswith("__")]
    table = [line for line in page.splitlines() if line.startswith("| `")]
    assert [name for name in packages if not any(f"`{name}`" in line for line in table)] == []
    names = re.findall(
        r"def test_(\d{3}_[A-Z]|[A-Z])\d+[a-z]?_", "".join(p.read_text() for p in root.glob("tests/*/*.py"))
    )
    lists = {name.replace("_", "-") for name in names}
    assert lists == set(re.findall(r"^\| ((?:\d{3}-)?[A-Z])1", page, re.MULTILINE))


NOTEBOOKS = (
    "first-model",
    "holding-constraints",
    "robot",
    "regulator",
    "steady-motions",
    "inverse-problem",
    "study",
    "side-by-side",
)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_P3_notebooks_are_executed_and_show_what_they_find(site, root, name) -> None:
    cells = CELL.findall((root / "docs" / "tutorials" / f"{name}.md").read_text(encoding="utf-8"))
    page = (site / "tutorials" / f"{name}.html").read_text(encoding="utf-8")
    assert len(cells) >= 6
    assert page.count('class="cell docutils') >= len(cells)
    speaking = [c for c in cells if "print(" in c or isinstance(ast.parse(c).body[-1], ast.Expr)]
    assert page.count('class="cell_output') == len(speaking)  # a mistake that is not made would leave one silent
    assert not re.search(r"Traceback \(most recent|output stderr|%matplotlib|plt\.show", page)
    assert re.search(r'<img [^>]*src="[^"]+\.png"|data:image/png|<iframe', page)
    book = json.loads((site / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert ["".join(c["source"]) + "\n" for c in book["cells"] if c["cell_type"] == "code"] == cells
    assert not any(c.get("outputs") for c in book["cells"])


CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```", re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^```[^\n]*\n.*?^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("language", ["ru", "uk"])
@pytest.mark.parametrize("page", ["tutorials/quickstart", "tutorials/first-model", "reference/glossary"])
def test_P4_translations_have_the_same_commands_and_numbers(root, language, page) -> None:
    english = (root / "docs" / f"{page}.md").read_text(encoding="utf-8")
    other = (root / "docs" / language / f"{Path(page).name}.md").read_text(encoding="utf-8")
    assert FENCED.findall(english) == FENCED.findall(other)
    for of in (r"\d+(?:\.\d+)?", r"\$[^$]+\$", r"(?<!`)`[^`\n]+`(?!`)", r"\]\(([^)]+)\)", r"^#+ ", r"^:   "):
        assert sorted(re.findall(of, english, re.MULTILINE)) == sorted(re.findall(of, other, re.MULTILINE)), of
    words = re.sub(r"`[^`]*`|\$[^$]*\$|\([^)]*\)|\[[^]]*\]", "", FENCED.sub("", other))
    letters = [letter for letter in words if letter.isalpha()]
    assert sum("а" <= letter.lower() <= "ґ" for letter in letters) > 0.8 * len(letters)


def test_P4_every_public_name_has_a_documented_entry(site) -> None:
    page = (site / "reference" / "library.html").read_text(encoding="utf-8")
    assert [name for name in svyaz.__all__ if f'id="svyaz.{name}"' not in page] == []
    empty = []
    for name in svyaz.__all__:
        found = getattr(svyaz, name)
        members = inspect.getmembers(found) if inspect.isclass(found) and not is_typeddict(found) else []
        empty += [name] if not inspect.getdoc(found) else []
        empty += [
            f"{name}.{key}"
            for key, value in members
            if not key.startswith("_")
            and (callable(value) or isinstance(value, property | cached_property))
            and getattr(value, "__module__", "svyaz").startswith("svyaz")
            and not inspect.getdoc(value)
        ]
    assert empty == []


def test_P4_every_command_has_an_entry_with_its_help(site) -> None:
    page = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    for name in [name for table in COMMANDS.values() for name in table]:
        assert f'id="svyaz-{name}"' in page, name
        assert re.search(rf"svyaz\s*{name}\s*--help", re.sub(r"<[^>]+>", " ", page).replace("&#32;", " ")), name


def test_P4_every_model_has_a_picture_and_a_film(site) -> None:
    page = (site / "reference" / "gallery.html").read_text(encoding="utf-8")
    for name in gallery.names():
        plain = re.escape(name.replace(":", "-"))
        (still,) = re.findall(rf'src="\.\./(_static/gallery/{plain}-picture-\w+\.svg)"', page)
        (film,) = re.findall(rf'src="\.\./(_static/gallery/{plain}-film-\w+\.svg)"', page)
        assert len(re.findall("<(?:polyline|circle)", ElementTree.canonicalize((site / still).read_text()))) >= 1
        text = (site / film).read_text(encoding="utf-8")
        moving = re.findall(r'<animate attributeName="\w+" values="([^"]+)"', text)
        assert moving, name
        assert all(len(values.split(";")) >= 48 for values in moving), name
        assert "nan" not in text
        assert len(text) < 60_000


def test_P4_defaults_of_every_word_of_run_are_told(site) -> None:
    page = re.sub(r"<[^>]+>", " ", (site / "reference" / "models.html").read_text(encoding="utf-8"))
    table = " ".join(page.partition("as the code answers:")[2].partition("[source]")[0].split())
    assert [word for word in words.RUN if f" {word} " not in f" {table} "] == []
    assert "method dop853" in table
    assert "until 10.0" in table
    assert "rtol 1e-09 ; none where a step" in table


def test_P4_the_comparison_names_all_peers(root) -> None:
    page = (root / "docs" / "explanation" / "comparison.md").read_text(encoding="utf-8")
    head = page[page.index("| | svyaz") :].splitlines()[0]
    peers = ["SymPy mechanics", "PyDy", "MapleSim", "Drake", "MuJoCo", "EXUDYN", "python-control"]
    assert [peer.strip() for peer in head.split("|")[3:-1]] == peers
    assert all(f"\n{peer}\n:   " in page for peer in peers)


def test_P4_the_examples_of_the_page_on_python_run(root, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (root / "docs" / "howto" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 5
    exec(compile("\n".join(blocks), "docs/howto/python.md", "exec"), {"__name__": "page"})
    assert {"u.png", "film.html", "motion.npz"} <= {f.name for f in tmp_path.iterdir()}
