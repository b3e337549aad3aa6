"""The package is typed: what its doors offer has types, and mypy sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_mypy_sees_the_types_behind_the_doors(monkeypatch) -> None:
    """With warn_unused_ignores every line of ``mistakes_are_found`` must be a mistake, so nothing there is Any."""
    api = pytest.importorskip("mypy.api")
    monkeypatch.chdir(ROOT)
    report, errors, status = api.run(["tests/typing/promises.py"])
    assert (status, errors) == (0, ""), report
