"""The library advises in words, the command line says it with its flags."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from syntax import syntax_of

import svyaz
from svyaz.commands.hints import FLAGS, problems_with_flags, with_flags
from svyaz.expr import Advice, Problem

PACKAGE = Path(svyaz.__file__).parent
LIBRARY = [p for p in sorted(PACKAGE.rglob("*.py")) if p.relative_to(PACKAGE).parts[0] not in ("commands", "cli.py")]


@pytest.fixture(scope="module", autouse=True)
def _free_syntax_trees() -> Iterator[None]:
    yield
    syntax_of.cache_clear()


def texts(path: Path) -> list[str]:
    tree = syntax_of(path)
    return [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def test_no_room_of_the_library_mentions_a_flag() -> None:
    flag = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
    strange = {str(p.relative_to(PACKAGE)): [t for t in texts(p) if flag.search(t)] for p in LIBRARY}
    for file in ("show/player.py", "show/living/widget.py"):
        strange[file] = [t for t in strange[file] if "style=" not in t]  # a property of CSS
    del strange["show/living/page.py"]  # a command line that is shown to be typed
    strange["show/report_forms.py"] = [
        t for t in strange["show/report_forms.py"] if not t.startswith("--")
    ]  # a browser's
    assert {file: found for file, found in strange.items() if found} == {}


def test_every_advice_is_said_with_flags_and_every_flag_has_its_advice() -> None:
    calls = [
        node
        for path in LIBRARY
        for node in ast.walk(syntax_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Advice"
    ]
    keys = {call.args[1].value: len(call.args) - 2 for call in calls}
    assert set(keys) == set(FLAGS)
    for key, parts in keys.items():
        assert {int(n) for n in re.findall(r"\{(\d)\}", FLAGS[key])} == set(range(parts)), key


def test_an_advice_is_a_text_and_keeps_what_it_is_about() -> None:
    advice = Advice("prescribe 'r'", "free base")
    assert advice == "prescribe 'r'"
    assert with_flags(advice) == "--free-base lets it float"
    assert with_flags("prescribe 'r'") == "prescribe 'r'"
    told = problems_with_flags([Problem("no joint moves", hint=advice), Problem("nothing else")])
    assert told == "no joint moves\n    hint: --free-base lets it float\nnothing else"
