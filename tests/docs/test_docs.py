"""The documentation builds strictly, needs no network, and knows every word of the model files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from svyaz.integrate import method_names
from svyaz.model.reading import words

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
        assert resources.loaded
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
        "BYPASS",
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


def test_every_method_is_explained(site) -> None:
    text = (site / "reference" / "methods.html").read_text(encoding="utf-8")
    assert [name for name in method_names() if f'<span class="pre">{name}</span></code></p></td>' not in text] == []


def test_errata_are_numbered_by_source(root) -> None:
    text = (root / "docs" / "explanation" / "errata.md").read_text(encoding="utf-8")
    entries = re.findall(r"^- \[\*\*(\d{3}-E\d+[ab]?)\*\*\]\{#(\d{3}-e\d+[ab]?)\}", text, re.MULTILINE)
    assert entries
    assert all(label.lower() == anchor for label, anchor in entries)
    assert len(set(entries)) == len(entries) == len(re.findall(r"^- ", text, re.MULTILINE))


def test_the_page_for_developers_shows_all_rooms_and_explains_all_codes(root) -> None:
    page = (root / "docs" / "developing.md").read_text(encoding="utf-8")
    package = root / "src" / "svyaz"
    rooms = [f.name for f in package.iterdir() if (f / "__init__.py").is_file()]
    rooms += [f.name for f in package.glob("*.py") if not f.name.startswith("__")]
    table = [line for line in page.splitlines() if line.startswith("| `")]
    assert [room for room in rooms if not any(f"`{room}`" in line for line in table)] == []
    names = re.findall(
        r"def test_(\d{3}_[A-Z]|[A-Z])\d+[a-z]?_", "".join(p.read_text() for p in root.glob("tests/*/*.py"))
    )
    lists = {name.replace("_", "-") for name in names}
    assert lists == set(re.findall(r"^\| ((?:\d{3}-)?[A-Z])1", page, re.MULTILINE))


def test_P4_the_examples_of_the_page_on_python_run(root, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (root / "docs" / "howto" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 5
    exec(compile("\n".join(blocks), "docs/howto/python.md", "exec"), {"__name__": "page"})
    assert {"u.png", "film.html", "motion.npz"} <= {f.name for f in tmp_path.iterdir()}
