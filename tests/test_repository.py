"""The repository itself: the program starts light, says what it can do, and its texts agree with each other."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from pathlib import Path

import pytest

import svyaz as package
from svyaz.commands.contents import COMMANDS, overview

HEAVY = ("numpy", "scipy", "symengine", "sympy", "llvmlite", "numba", "xarray", "matplotlib", "PIL", "click", "rich")
NAMES = [name for table in COMMANDS.values() for name in table]

# Written in pieces, so that this file does not contain what it looks for.
FORBIDDEN = {
    "a path of somebody's machine": re.compile("/" + r"(root|work|home/\w+)/"),
    "a private index": re.compile("extra-index" + "-url|index" + "-url", re.IGNORECASE),
    "an unfinished place": re.compile(r"\b(TO" + r"DO|FIX" + r"ME|coming " + r"soon|lorem " + r"ipsum)\b"),
}


def tracked(root: Path) -> list[Path]:
    """The text files that git keeps."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    files = [root / name for name in names.split("\0") if name]
    return [path for path in files if path.is_file() and b"\0" not in path.read_bytes()[:4096]]


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ()])
def test_help_loads_no_library(python, arguments) -> None:
    code = (
        "import sys; from svyaz.cli import main; "
        f"code = main({list(arguments)!r}); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    done = python("-c", code)
    assert (done.returncode, done.stderr.strip()) == (0, "[]")


def test_P6_a_simulation_from_a_warm_cache_loads_no_more_than_it_uses(python) -> None:
    """Neither compilers nor algebra beyond SymEngine, no masked arrays, nothing that judges gains where there are none."""
    spare = ("sympy", "scipy", "numba", "matplotlib", "rich", "numpy.ma", "numpy.polynomial")
    spare += ("svyaz.stabilise.judgement", "svyaz.forms.tree.numeric", "svyaz.program.llvm_text", "svyaz.show.records")
    code = (
        "import sys; from svyaz.cli import main; main(['simulate', 'pendulum:2']); "
        f"print([name for name in {spare!r} if name in sys.modules], file=sys.stderr)"
    )
    python("-c", code)
    done = python("-c", code)
    assert (done.returncode, done.stderr.strip()) == (0, "[]")


def test_help_is_the_same_asked_in_any_way(svyaz) -> None:
    texts = {svyaz(*arguments).stdout for arguments in [(), ("-h",), ("--help",)]}
    assert texts == {overview() + "\n"}
    assert all(f"  {name} " in overview() for name in NAMES)


def test_every_command_is_listed(root) -> None:
    files = (root / "src" / "svyaz" / "commands").glob("*.py")
    assert {path.stem for path in files if "\ndef command(" in path.read_text(encoding="utf-8")} == set(NAMES)


def test_version_is_the_newest_of_the_changelog(svyaz, root) -> None:
    newest = re.search(r"^## \[(\d[^\]]*)\]", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == package.__version__
    assert svyaz("--version").stdout == f"svyaz {package.__version__}\n"


@pytest.mark.parametrize("name", NAMES)
def test_each_command_teaches(svyaz, name) -> None:
    done = svyaz(name, "--help")
    assert done.returncode == 0, done.stderr
    assert "Examples:" in done.stdout
    assert f"svyaz {name}" in done.stdout.partition("Examples:")[2]


def test_examples_of_the_overview_call_commands_that_exist() -> None:
    called = re.findall(r"^ {2}svyaz (\w+)", overview().partition("Examples:")[2], re.MULTILINE)
    assert called
    assert set(called) <= set(NAMES)


@pytest.mark.parametrize(
    "page", ["README.md", "docs/index.md", "docs/tutorials/quickstart.md", "docs/reference/gallery.md"]
)
def test_commands_in_the_texts_exist(root, page) -> None:
    text = (root / page).read_text(encoding="utf-8")
    called = re.findall(r"^(?:\./run|svyaz) ([a-z]\w*)", text, re.MULTILINE)
    called += re.findall(r"`(?:\./run|svyaz) ([a-z]\w*)", text)
    assert set(called) <= {*NAMES, "docs"}  # ./run docs builds the pages


@pytest.mark.parametrize("script", ["run", "test", ".ci/run"])
def test_scripts_are_executable_and_parse(root, script) -> None:
    assert os.stat(root / script).st_mode & stat.S_IXUSR
    assert subprocess.run(["bash", "-n", root / script], check=False).returncode == 0


def test_texts_are_fit_to_be_read_elsewhere(root) -> None:
    found = [
        f"{path.relative_to(root)}:{number}: {what}"
        for path in tracked(root)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for what, pattern in FORBIDDEN.items()
        if pattern.search(line)
    ]
    assert found == []
