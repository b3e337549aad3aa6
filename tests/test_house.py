"""The architecture: packages are used by their public names, a name is offered once, and nothing hides it."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from types import FrameType

import pytest
from syntax import syntax_of

from svyaz.cli import main

PACKAGE = Path(__file__).parent.parent / "src" / "svyaz"
PACKAGES = sorted(folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").is_file())
PUBLISHED = PACKAGE.with_name("svyaz_published")
MODULES = sorted([*PACKAGE.rglob("*.py"), *PUBLISHED.rglob("*.py")])


@pytest.fixture(scope="module", autouse=True)
def _free_syntax_trees() -> Iterator[None]:
    yield
    syntax_of.cache_clear()


def public_names(package: str) -> list[str]:
    return list(import_module(package).__all__)


@pytest.mark.parametrize("package", ["svyaz", *(f"svyaz.{name}" for name in PACKAGES), "svyaz_published"])
def test_every_public_name_is_found(package) -> None:
    module = import_module(package)
    assert public_names(package)
    assert all(getattr(module, name) is not None for name in public_names(package))
    assert set(public_names(package)) <= set(dir(module))
    stub = Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    stated = re.findall(r"^from \S+ import (\w+) as \1$", stub, re.MULTILINE)
    assert sorted(stated) == public_names(package)
    assert len(stated) == stub.count(" import ")


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_hides_a_public_name_of_its_package(package) -> None:
    inside = {path.stem for path in (PACKAGE / package).iterdir()}
    assert not inside & set(public_names(f"svyaz.{package}"))


def test_public_names_are_found_in_an_archive(tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        for path in [*MODULES, *PACKAGE.rglob("*.pyi"), *PACKAGE.rglob("*.toml")]:
            archive.write(path, path.relative_to(PACKAGE.parent))
    code = "import svyaz; print(svyaz.__file__, svyaz.ModelError.__name__, len(svyaz.gallery()) > 10)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "archive.zip")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "archive.zip" in done.stdout, done.stderr
    assert done.stdout.split()[-2:] == ["ModelError", "True"], done.stderr


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match=r"module 'svyaz\.motion' has no attribute 'pendulum'"):
        import_module("svyaz.motion").pendulum  # noqa: B018


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE.parent)))
def test_other_packages_are_used_by_their_public_names(path) -> None:
    package, home = path.relative_to(PACKAGE.parent).parts[:2]
    past = [
        node.module
        for node in ast.walk(syntax_of(path))
        if isinstance(node, ast.ImportFrom) and re.match(r"svyaz\.\w+\.", node.module or "")
        if package != "svyaz" or node.module.split(".")[1] != home.removesuffix(".py")
    ]
    assert past == []


@pytest.mark.parametrize("package", [PACKAGE, PUBLISHED], ids=lambda package: package.name)
def test_a_class_has_a_name_of_its_own(package) -> None:
    homes: dict[str, list[str]] = {}
    for path in package.rglob("*.py"):
        for node in ast.walk(syntax_of(path)):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(f"{path.relative_to(package)}:{node.lineno}")
    assert homes
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_A5_no_module_imports_itself_by_others() -> None:
    """Imports inside of functions count; those for the type checker do not."""
    modules = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        tree = syntax_of(path)
        checked = [
            node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        ]
        unread = {id(inner) for node in checked for part in node.body for inner in ast.walk(part)}
        wanted = [
            (node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module and id(node) not in unread
            for alias in node.names
        ]
        found = {f"{module}.{inner}" if f"{module}.{inner}" in modules else module for module, inner in wanted}
        graph[name] = found & set(modules)
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_A6_a_motion_changes_packages_rarely_and_compiles_few_programs(capsys) -> None:
    """``simulate sleigh``, whose gains are chosen and vary, from the reading of the model to what is printed.

    Its programs are those of the measure, of the rates, and of the rates with gains that vary; functions that programs share
    and the loops are compiled once for all models.
    """
    changes, programs, last = 0, 0, ""

    def watch(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal changes, programs, last
        name = frame.f_globals.get("__name__", "")
        if event != "call" or not name.startswith("svyaz.") or frame.f_code.co_name == "<module>":
            return
        package = name.split(".")[1]
        changes += package != last
        last = package
        programs += frame.f_code.co_qualname == "Native.__init__"

    sys.setprofile(watch)
    try:
        assert main(["simulate", "sleigh"]) == 0
    finally:
        sys.setprofile(None)
    assert "finished" in capsys.readouterr().out
    assert programs <= 3
    assert (
        changes <= 560
    )  # 500 before runs checked themselves and arguments from Python were checked: some 30 and 25 changes
