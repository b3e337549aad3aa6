"""Results are written by their types: as JSON, and as HTML and LaTeX, which notebooks show."""

from __future__ import annotations

import json

import pytest

from svyaz import System
from svyaz.show import as_json, html_of, latex_of

SPRING = {"coordinates": ["x"], "kinetic": "x'^2/2", "potential": "2*x^2", "initial": {"x": 1}}


def test_a_type_that_nobody_writes_is_refused() -> None:
    for write in (as_json, html_of, latex_of):
        with pytest.raises(TypeError, match="a dict is not written in this way"):
            write({})


def test_results_of_a_room_are_written_by_its_file() -> None:
    system = System(**SPRING)
    for result in (system.simulate(until=0.1), system.derive(), system.equilibria(box={"x": (-1, 1)})):
        assert json.dumps(as_json(result), allow_nan=False)
    with pytest.raises(TypeError, match="a Motion is not written in this way"):
        latex_of(system.simulate(until=0.1))
