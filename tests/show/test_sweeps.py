"""Pictures of sweeps."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import gallery, loads
from svyaz.show.sweeps import plot_sweep, sweep_curves, sweep_maps
from svyaz.study import sweep


@pytest.fixture(scope="module")
def sleigh():
    return loads(gallery.find("sleigh", {}), file="sleigh")


def test_stable_interval_is_shaded_and_failures_are_marked(sleigh, tmp_path) -> None:
    found = sweep(sleigh, {"stabilize": np.geomspace(10, 4000, 20)}, method="euler", step=1e-3, until=6)
    figure = sweep_curves(found)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Largest residual", "Drift of integrals"]
    for axes in figure.axes:
        assert axes.get_xscale() == axes.get_yscale() == "log"
        (shade,) = axes.patches
        assert shade.get_x() == pytest.approx(10)
        assert shade.get_x() + shade.get_width() == pytest.approx(2000)
        failed = next(line for line in axes.get_lines() if line.get_label() == "failed")
        expected = [row.point[0] for row in found.rows if row.status != "finished"]
        assert list(failed.get_xdata()) == expected
        assert min(expected) > 2000
    assert plot_sweep(found, tmp_path / "sweep.svg").stat().st_size > 5000


def test_only_what_should_be_small_is_drawn_unless_nothing_else_is_measured(sleigh) -> None:
    options = {"method": "rk4", "step": 0.01, "until": 0.5, "stabilize": 5}
    figure = sweep_curves(sweep(sleigh, {"J": [1.0, 1.5, 2.0]}, ["final"], **options))
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == "Final state"
    assert axes.get_yscale() == "linear"
    assert len(axes.get_lines()) == 6


def test_two_axes_make_maps(sleigh, tmp_path) -> None:
    vary = {"stabilize": np.geomspace(10, 4000, 8), "J": np.linspace(1, 2, 5)}
    found = sweep(sleigh, vary, ["residual", "energy"], method="euler", step=1e-3, until=0.3)
    figure = sweep_maps(found)
    maps = [axes for axes in figure.axes if axes.get_title(loc="left")]
    assert [axes.get_title(loc="left") for axes in maps] == ["Largest residual: blade", "Drift of integrals: energy"]
    assert (maps[0].get_xscale(), maps[0].get_yscale()) == ("log", "linear")
    assert plot_sweep(found, tmp_path / "map.png").stat().st_size > 5000


def test_lost_runs_do_not_hide_the_others(tmp_path) -> None:
    pendulum = loads(gallery.find("pendulum-xy", {}), file="pendulum-xy")
    vary = {"alpha": np.linspace(1, 400, 9), "beta": np.linspace(1, 60000, 9)}
    found = sweep(pendulum, vary, method="euler", step=0.01, until=2)
    assert found.column("residual.rod").max() > 1e100
    assert plot_sweep(found, tmp_path / "map.png").stat().st_size > 5000
    figure = sweep_maps(found)
    assert figure.axes[0].collections[0].norm.vmax < 1e6


def test_single_value_can_be_drawn(sleigh, tmp_path) -> None:
    found = sweep(sleigh, {"J": [1.5]}, method="rk4", step=0.01, until=0.5, stabilize=5)
    assert plot_sweep(found, tmp_path / "one.png").stat().st_size > 1000
