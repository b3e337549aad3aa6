"""``Any`` is rare in the package, and no public name has it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "svyaz"
STUBS = [PACKAGE / "__init__.pyi", *sorted(PACKAGE.glob("*/__init__.pyi"))]

MOST = 60
"""So often ``Any`` may be written in the package; it was 563 times before public names had types."""

Seen = frozenset[tuple[Path, str]]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def source_of(module: str) -> Path:
    path = PACKAGE.parent.joinpath(*module.split("."))
    if not path.is_dir():
        return path.with_suffix(".py")
    stub = path / "__init__.pyi"
    return stub if stub.exists() else path / "__init__.py"


@cache
def imported(path: Path) -> dict[str, tuple[Path, str]]:
    """Where names of the package come from that a module imports."""
    lines = [n for n in ast.walk(parsed(path)) if isinstance(n, ast.ImportFrom) and (n.module or "")[:5] == "svyaz"]
    return {a.asname or a.name: (source_of(n.module), a.name) for n in lines for a in n.names if n.module != "svyaz"}


@cache
def assigned(path: Path) -> dict[str, ast.expr]:
    """What a module assigns to names: among it the names of types."""
    plain = {n.targets[0]: n.value for n in parsed(path).body if isinstance(n, ast.Assign)}
    typed = {n.target: n.value for n in parsed(path).body if isinstance(n, ast.AnnAssign) and n.value is not None}
    return {name.id: value for name, value in {**plain, **typed}.items() if isinstance(name, ast.Name)}


def means_any(path: Path, name: str, seen: Seen = frozenset()) -> bool:
    """Is the name Any, or a name for a type with Any in it, given in this module or where it is imported from?"""
    if name == "Any" or (path, name) in seen:
        return name == "Any"
    if name in imported(path):
        return means_any(*imported(path)[name], seen | {(path, name)})
    return name in assigned(path) and has_any(path, assigned(path)[name], seen | {(path, name)})


def has_any(path: Path, annotation: ast.expr | None, seen: Seen = frozenset()) -> bool:
    nodes = [] if annotation is None else list(ast.walk(annotation))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)} | set(re.findall(r"\w+", " ".join(texts)))
    return any(means_any(path, name, seen) for name in names)


def annotations(node: ast.stmt) -> list[tuple[str, ast.expr | None]]:
    """What a function or a class says of the types of its arguments, results and fields, as far as they are public."""
    if isinstance(node, ast.ClassDef):
        public = [n for n in node.body if getattr(n, "name", "")[:1] != "_" or n.name == "__init__"]
        return [(f"{node.name}.{name}", a) for inner in public for name, a in annotations(inner)]
    if isinstance(node, ast.AnnAssign):
        return [(ast.unparse(node.target), node.annotation)]
    if not isinstance(node, ast.FunctionDef):
        return []
    given = node.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return [(node.name, a.annotation) for a in arguments if a is not None] + [(node.name, node.returns)]


@pytest.mark.parametrize("stub", STUBS, ids=lambda path: path.parent.name)
def test_no_public_name_has_any(stub) -> None:
    offered = re.findall(r"^from (\S+) import (\w+) as \2$", stub.read_text(encoding="utf-8"), re.MULTILINE)
    untyped = {
        f"{home}: {what}"
        for home, name in offered
        for node in parsed(source_of(home)).body
        if getattr(node, "name", None) == name
        for what, annotation in annotations(node)
        if has_any(source_of(home), annotation)
    }
    assert untyped == set()


def test_any_is_rare() -> None:
    names = (n for path in sorted(PACKAGE.rglob("*.py")) for n in ast.walk(parsed(path)) if isinstance(n, ast.Name))
    assert sum(name.id == "Any" for name in names) <= MOST
