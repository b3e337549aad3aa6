"""Numbers of the architecture with their bounds: they may fall; one that rises needs its reason written beside it."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path
from types import FrameType

import pytest

from svyaz.cli import main

PACKAGE = Path(__file__).parent.parent / "src" / "svyaz"

BOUNDS = {
    "modules": 616,
    "lines of code": 62510,
    "tokens": 762500,
    "modules over 350 lines": 9,
    "longest chain of imports": 16,
    "functions over 60 lines": 4,
    "functions over 8 parameters": 14,
    "functions over 15 branches": 100,
    "functions named by a participle": 600,
    "classes": 651,
    "public names": 939,
    "constants with numbers": 1092,
    "questions whether there is a recursion": 0,
    "calls of by_recursions": 3,
    "questions for the class of a law": 2,
    "questions for the name of a joint": 0,
    "raw addresses": 53,
}

REPRESENTATIONS = {
    "questions whether there is a recursion": r"recursion is (?:not )?None",
    "calls of by_recursions": r"\bby_recursions\(",
    "questions for the class of a law": r"isinstance\([^()]*, ?\(?(?:\w+ ?\| ?)?(?:Bodies|TurningBodies|RollingPlant)\b",
    "questions for the name of a joint": r"joint(?:\.kind)? ?(?:==|!=|in|not in) ?[\"'(\[{]",
    "raw addresses": r"\bwhole\(|\breal\(.*\+ ?8 ?\*",
}
"""Texts by which code asks for the representation of equations, where it should ask the equations themselves."""

STRONG = "told held kept shown written taken made begun given found known met set put gone built drawn seen left lost"
NO_PARTICIPLES = {"speed", "speeds", "fixed", "closed", "embed", "reduced", "constrained", "damped"}
LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
FORKS = (ast.If, ast.For, ast.While, ast.IfExp, ast.ExceptHandler, ast.comprehension, ast.BoolOp, ast.Match)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_participle(name: str) -> bool:
    first = name.strip("_").partition("_")[0]
    return first in STRONG.split() or (len(first) > 4 and first.endswith("ed") and first not in NO_PARTICIPLES)


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def survey(node: ast.AST, numbers: Counter[str], lines: set[int]) -> int:
    """The branches below a node. Its functions and classes go to ``numbers``, the lines of its statements to ``lines``.

    Lines of docstrings, comments and empty ones are left out.
    """
    if isinstance(node, ast.stmt) and not is_docstring(node):
        lines.update((node.lineno,) if hasattr(node, "body") else range(node.lineno, node.end_lineno + 1))
    branches = isinstance(node, FORKS) + sum([survey(inner, numbers, lines) for inner in ast.iter_child_nodes(node)])
    if isinstance(node, ast.ClassDef):
        numbers["classes"] += 1
    elif isinstance(node, FUNCTIONS):
        given = node.args
        numbers["functions over 60 lines"] += node.end_lineno - node.lineno >= 60
        numbers["functions over 8 parameters"] += len(given.posonlyargs + given.args + given.kwonlyargs) > 8
        numbers["functions over 15 branches"] += branches >= 15
        numbers["functions named by a participle"] += is_participle(node.name)
    return branches


def constants(tree: ast.Module) -> int:
    """Names in capitals at the top of a module, where their values contain numbers."""
    pairs = [(n.targets[0], ast.unparse(n.value)) for n in tree.body if isinstance(n, ast.Assign)]
    named = [(t.elts if isinstance(t, ast.Tuple) else [t]) for t, value in pairs if re.search(r"\d", value)]
    return sum(len(names) for names in named if all(isinstance(n, ast.Name) and n.id.isupper() for n in names))


def top_imports(tree: ast.Module) -> set[str]:
    """Modules of the package that are loaded with this one."""
    found, stack = set(), list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            stack += node.orelse
        elif not isinstance(node, FUNCTIONS):
            stack += [inner for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.stmt)]
    return found


def longest_chain(graph: dict[str, set[str]]) -> int:
    @cache
    def length(name: str) -> int:
        return 1 + max((length(inner) for inner in graph[name] if inner in graph and inner != name), default=0)

    return max(length(name) for name in graph)


@cache
def measured() -> dict[str, int]:
    numbers: Counter[str] = Counter()
    graph: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree, words = ast.parse(text), tokenize.generate_tokens(io.StringIO(text).readline)
        lines: set[int] = set()
        survey(tree, numbers, lines)
        numbers["modules"] += 1
        numbers["lines of code"] += len(lines)
        numbers["tokens"] += sum(word.type not in LAYOUT for word in words)
        numbers["modules over 350 lines"] += text.count("\n") > 350
        numbers["constants with numbers"] += constants(tree)
        numbers += Counter({what: len(re.findall(pattern, text)) for what, pattern in REPRESENTATIONS.items()})
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        graph[name.removesuffix(".__init__")] = top_imports(tree)
    stubs = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.pyi")]
    numbers["public names"] = sum(text.count(" import ") for text in stubs)
    numbers["longest chain of imports"] = longest_chain(graph)
    return dict(numbers)


@pytest.mark.parametrize("what", BOUNDS)
def test_W7_a_number_of_the_architecture_does_not_grow(what) -> None:
    assert measured().get(what, 0) <= BOUNDS[what]


def walk(words: list[str]) -> tuple[int, int]:
    """Modules that a command enters, and how often it changes from one package to another."""
    modules: set[str] = set()
    changes, last = 0, ""

    def watch(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal changes, last
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("svyaz.") and frame.f_code.co_name != "<module>":
            modules.add(name)
            changes += name.split(".")[1] != last
            last = name.split(".")[1]

    sys.setprofile(watch)
    try:
        assert main(words) == 0
    finally:
        sys.setprofile(None)
    return len(modules), changes


@pytest.mark.parametrize(("words", "modules", "changes"), [("simulate sleigh", 147, 440), ("steady hoop", 108, 1650)])
def test_W7_a_command_enters_few_modules_and_changes_packages_rarely(words, modules, changes, capsys) -> None:
    """As a second run, so that modules that are loaded and code that is compiled do not count."""
    assert main(words.split()) == 0
    assert capsys.readouterr().out
    entered, changed = walk(words.split())
    assert entered <= modules
    assert changed <= changes
