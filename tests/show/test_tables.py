"""Tables on a terminal of 80 columns: no number is cut or broken."""

from __future__ import annotations

import json
from itertools import pairwise

NARROW = {"COLUMNS": "80"}


def masses(count: int) -> str:
    """Masses on a line between springs, of which the first and the last are pushed."""
    q = [f"elongation_{k}" for k in range(count)]
    squares = " + ".join(f"{x}'^2" for x in q)
    springs = " + ".join(f"({y} - {x})^2/2" for x, y in pairwise(q))
    return "\n".join(
        [
            f"coordinates = {json.dumps(q)}",
            f'kinetic = "({squares})/2"',
            f'potential = "{q[0]}^2/3 + {springs}"',
            "[inputs]\nf = 0\nh = 0",
            f'[forces]\n{q[0]} = "f"\n{q[-1]} = "h"',
            "[box]",
            *(f"{x} = [-1, 1]" for x in q),
        ]
    )


def test_gains_of_many_variables_are_not_cut(svyaz, tmp_path) -> None:
    (tmp_path / "masses.toml").write_text(masses(5))
    asked = ("regulate", "masses.toml", "--measure", "elongation_0, elongation_1 + elongation_3, elongation_4")
    done = svyaz(*asked, "--json", "out.json", env=NARROW)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out.json").read_text())
    printed = done.stdout.split()
    for row in (*result["K"], *result["observer"]["gain"]):
        assert {f"{gain:.6g}" for gain in row} <= set(printed)
    assert "…" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_numbers_of_runs_stand_beside_long_names(svyaz, tmp_path) -> None:
    name = "the rod between the pivot and the bob, which is as long as its name"
    (tmp_path / "pendulum.toml").write_text(
        f"""coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[constraint]]
name = "{name}"
equation = "x^2 + y^2 = 1"
[initial]
x = 1
[run]
method = "rk4"
step = 0.01
until = 1
stabilize = "off"
"""
    )
    done = svyaz("simulate", "pendulum.toml", "--json", "out.json", env=NARROW)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out.json").read_text())
    numbers = [*result["residuals"][name].values(), result["multipliers"][name]]
    assert {f"{x:.4g}" for x in numbers} <= set(done.stdout.split())
    assert "…" not in done.stdout
