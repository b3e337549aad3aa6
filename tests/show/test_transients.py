"""Pictures of closed loops and of positions of rest."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import gallery, loads
from svyaz.control import Regulation, Transient, regulate
from svyaz.show.positions import Position, positions_figure, positions_scene
from svyaz.show.scene import build_scene
from svyaz.show.sweeps import transients_figure
from svyaz.stability.equilibrium_search import equilibria
from svyaz.stability.starts import consistent_start


@pytest.fixture(scope="module")
def found() -> Regulation:
    return regulate(loads(gallery.find("parallel-manipulator") or ""), against_linearised=True, measure=["x", "y"])


@pytest.fixture(scope="module")
def run(found: Regulation) -> Transient:
    start = consistent_start(found.system, found.plant.state, found.plant.dependent, {"q1": 0.1})
    return found.loop().run(start.state, 3.0, rows=30)


def test_linear_and_nonlinear_transients_stand_together(run: Transient) -> None:
    figure = transients_figure({"regulator": run})
    assert [axes.get_ylabel() for axes in figure.axes] == ["deviation of $q_{1}$", "deviation of $q_{2}$", "inputs"]
    linear, nonlinear = figure.axes[0].get_lines()
    assert linear.get_ydata() == pytest.approx(run.linear["q1"])
    assert nonlinear.get_ydata() == pytest.approx(run.deviations["q1"])
    assert linear.get_xdata()[-1] == pytest.approx(3.0)
    assert len(figure.axes[2].get_lines()) == 2


def test_a_closed_loop_is_a_motion_of_the_plant(found: Regulation, run: Transient) -> None:
    motion = run.motion
    assert motion.state_names[: len(found.system.states)] == found.system.states
    assert motion.column("x")[-1] == pytest.approx(found.plant.state["x"], abs=1e-3)
    gripper = build_scene(motion).items[-1]
    assert gripper.points[:, 0, 1] == pytest.approx(motion.column("y"))


def test_positions_of_rest_stand_side_by_side() -> None:
    system = loads(gallery.find("ball-and-beam") or "")
    rests = equilibria(system, {"r": 0.25}).equilibria
    wider = system.with_settings({"d": 0.05})
    positions = [
        *(Position(f"{k}", system, e.state) for k, e in enumerate(rests)),
        Position("d", wider, rests[0].state),
    ]
    scene = positions_scene(positions)
    wheel = next(item for item in scene.items if item.name == "wheel")
    assert wheel.radius == pytest.approx([0.06, 0.06, 0.05])
    rods = next(item for item in scene.items if item.name == "rod").points
    assert np.linalg.norm(rods[:2, 1] - rods[:2, 0], axis=1) == pytest.approx([0.12, 0.12])
    figure = positions_figure(positions)
    assert [axes.get_title(loc="left") for axes in figure.axes][:3] == ["0", "1", "d"]


def test_commands_draw_equilibria_and_films(svyaz, tmp_path) -> None:
    picture, film = tmp_path / "rest.png", tmp_path / "loop.gif"
    assert svyaz("equilibria", "inverted-pendulum-xy", "--fix", "X=0", "--plot", str(picture)).returncode == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    done = svyaz("regulate", "inverted-pendulum-xy", "--until", "1", "--start", "X=0.02", "--animate", str(film))
    assert film.read_bytes().startswith(b"GIF"), done.stderr
    assert svyaz("regulate", "inverted-pendulum-xy", "--animate", str(tmp_path / "loop.avi")).returncode == 2
