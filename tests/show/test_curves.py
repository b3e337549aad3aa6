"""Curves are smooth however few the rows, open at jumps, in degrees on request; figures have the size and style asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import svyaz
from svyaz.model import angles
from svyaz.show.curves import curve, dense, moments
from svyaz.show.style import Looks, in_style, panels, size_of

BALL = """
name = "ball"
coordinates = ["y"]
kinetic = "m/2*y'^2"
potential = "m*g*y"
[parameters]
m = 1
g = 10
[[constraint]]
name = "floor"
equation = "y = 0"
on = "-y"
off = "-lambda_floor"
impact = "newton"
restitution = 0.5
[initial]
y = 5
[run]
method = "dop853"
rtol = 1e-9
until = 1.5
every = 0.75
"""
PENDULUM = """
name = "cost in $, of _pendula_"
coordinates = ["θ", "x_far_away", "_h"]
kinetic = "m/2*(l^2*θ'^2 + x_far_away'^2 + _h'^2)"
potential = "-m*g*l*cos(θ) + k/2*x_far_away^2"
[parameters]
m = 1
l = 1
g = 9.81
k = 4
[initial]
"θ" = 1e-3
x_far_away = 0.5
_h = 3
[limits]
"θ" = [-1.5, 2.1]
[run]
until = 4
every = 1
rtol = 1e-10
method = "dop853"
"""


@pytest.fixture(scope="module")
def ball() -> svyaz.Motion:
    return svyaz.loads(BALL).simulate()


@pytest.fixture(scope="module")
def pendulum() -> svyaz.Motion:
    return svyaz.loads(PENDULUM).simulate()


def drawn(figure: Figure, panel: int = 0, line: int = 0) -> np.ndarray:
    return np.asarray(figure.axes[panel].get_lines()[line].get_xydata())


def test_P5_few_rows_are_drawn_smoothly(pendulum: svyaz.Motion) -> None:
    assert len(pendulum.times) == 5
    t, x = drawn(pendulum.plot("x_far_away").figure).T
    assert len(t) > 500
    assert x == pytest.approx(0.5 * np.cos(2 * t), abs=1e-7)
    found = dense(pendulum)
    assert dense(found) is found


def test_P5_jumps_are_not_joined(ball: svyaz.Motion) -> None:
    struck = 1.0  # sqrt(2 h/g); the speed 10 is thrown back as 5
    assert moments(ball) == pytest.approx([struck])
    t, v = drawn(ball.plot(show="y'").figure).T
    (gap,) = np.flatnonzero(np.isnan(v))
    assert (t[gap - 1], v[gap - 1]) == pytest.approx((struck, -10.0))
    assert (t[gap + 1], v[gap + 1]) == pytest.approx((struck, 5.0))
    height = drawn(ball.plot("y").figure)
    assert np.isfinite(height).all()  # the place does not jump


def test_P5_degrees(pendulum: svyaz.Motion) -> None:
    assert angles(pendulum.system) == {"θ"}
    figure = pendulum.plot(show="θ, θ' over θ, x_far_away", degrees=True).figure
    t, angle = drawn(figure).T
    assert angle == pytest.approx(np.degrees(1e-3 * np.cos(np.sqrt(9.81) * t)), abs=1e-6)
    assert [axes.get_ylabel() for axes in figure.axes] == [
        r"$\theta$, °",
        r"$\dot{\theta}$, ° per unit of $t$",
        r"$x_{\mathrm{far},\mathrm{away}}$",
    ]
    assert drawn(figure, 2)[0, 1] == 0.5
    titles = [axes.get_ylabel() for axes in pendulum.plot("θ", "x_far_away", degrees=True).figure.axes]
    assert titles == ["°", ""]  # a panel for each unit


def test_P5_every_cell_of_the_grid_is_filled() -> None:
    for count, columns in ((1, 2), (3, 2), (5, 2), (5, 3), (7, 3)):
        figure = Figure()
        found = panels(figure, count, columns)
        grid = found[0].get_gridspec()
        cells = sum(
            (s.rowspan.stop - s.rowspan.start) * (s.colspan.stop - s.colspan.start)
            for s in (axes.get_subplotspec() for axes in found)
        )
        assert cells == grid.nrows * grid.ncols


def test_P5_size_style_and_strange_names(pendulum: svyaz.Motion, tmp_path: Path) -> None:
    picture = pendulum.plot(size="7x3.5", style="dark_background", file=tmp_path / "a.svg")
    assert tuple(picture.figure.get_size_inches()) == (7, 3.5)
    assert picture.figure.get_facecolor()[:3] == (0, 0, 0)
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    own = pendulum.plot("_h", style={"axes.grid": False}, size=(4, 3)).figure
    assert own.axes[0].get_legend_handles_labels()[1] == [r"$\mathrm{\_h}$"]
    low, high = own.axes[0].get_ylim()
    assert low < 2.5 < 3.5 < high  # a constant in the middle


@pytest.mark.parametrize(
    ("looks", "words"),
    [({"size": "12"}, "12x6"), ({"size": (0, 4)}, "inches"), ({"style": "grayscal"}, "did you mean 'grayscale'")],
)
def test_P5_looks_that_are_none(pendulum: svyaz.Motion, looks: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        pendulum.plot(**looks)


def test_P5_numbers_beyond_all_paper(constrained) -> None:
    wild = np.where(constrained.times > 2, 1e308, 1.0)
    wild[-1] = np.inf
    line = curve(constrained, constrained.times, wild)
    assert np.nanmax(line.up) == 1.0
    assert size_of("12×6") == (12, 6)
    with in_style(Looks(style={"lines.linewidth": 3})):
        pass


def test_P5_looks_from_the_command_line(svyaz, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(PENDULUM, encoding="utf-8")
    done = svyaz(
        "simulate", "p.toml", "--show", "θ,θ'", "--size", "6x3", "--degrees", "--plot", "p.pdf", env={"LC_ALL": "C"}
    )
    assert done.returncode == 0, done.stderr
    box = (tmp_path / "p.pdf").read_bytes()
    assert b"/MediaBox [ 0 0 432 216 ]" in box  # 72 points to the inch
    assert svyaz("simulate", "p.toml", "--degrees").returncode == 2
    refused = svyaz("simulate", "pendulum-xy", "--degrees", "--plot", "p.png")
    assert refused.returncode == 2
    assert "known to be an angle" in refused.stderr
