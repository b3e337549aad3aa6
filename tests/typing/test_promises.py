"""The package is typed: its public names have types, and mypy sees them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_mypy_sees_the_types_of_public_names(monkeypatch) -> None:
    """With warn_unused_ignores every line of ``mistakes_are_found`` must be a mistake, so nothing there is Any."""
    api = pytest.importorskip("mypy.api")
    monkeypatch.chdir(ROOT)
    report, errors, status = api.run(["tests/typing/promises.py"])
    assert (status, errors) == (0, ""), report


def test_P2_user_code_for_all_tasks_is_typed_strictly(monkeypatch) -> None:
    """Whatever ``mypy --strict`` asks is asked of the tasks; so its cache serves, and nothing is checked twice."""
    api = pytest.importorskip("mypy.api")
    monkeypatch.chdir(ROOT)
    told = "".join(line.strip() for line in api.run(["--help"])[0].partition("following flags:")[2].splitlines())
    strict = {flag.replace("-", "_") for flag in re.findall(r"--([a-z-]+)", told.partition("--disable-error-code")[0])}
    assert len(strict) > 10
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    asked = {name for name, value in settings.items() if value is True}
    asked |= {name for part in settings["overrides"] if "tasks" in part["module"] for name in part}
    asked |= {"no_implicit_reexport"} if any("implicit_reexport" in part for part in settings["overrides"]) else set()
    assert strict <= asked
    report, errors, status = api.run(["tests/typing/tasks.py"])
    assert (status, errors) == (0, ""), report
