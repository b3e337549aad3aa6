"""Where the parts of a mechanism are between the stored moments, and how they lie on paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from svyaz import System
from svyaz.show.scene import Item, Scene, bounds, build_scene, flat, project, states_at, zigzag


def test_hermite_between_rows_is_exact_for_cubics(constrained) -> None:
    t = np.array([0.0, 0.7, 1.0, 2.5])
    states = np.stack([t**3 - t, 2 * t, 3 * t**2 - 1, np.full_like(t, 2.0)], axis=1)
    motion = replace(constrained, times=t, states=states)
    wanted = np.array([0.0, 0.1, 0.69, 0.7, 1.9, 2.5])
    rows = states_at(motion, wanted)
    assert rows[:, 0] == pytest.approx(wanted**3 - wanted, abs=1e-13)
    assert rows[:, 1] == pytest.approx(2 * wanted, abs=1e-13)


def test_a_jump_of_velocity_at_a_doubled_moment_does_no_harm(constrained) -> None:
    t = np.array([0.0, 1.0, 1.0, 2.0])
    states = np.array([[0, 0, 1, 0], [1, 0, 1, 0], [1, 0, -1, 0], [0, 0, -1, 0.0]])
    motion = replace(constrained, times=t, states=states)
    assert states_at(motion, np.array([0.5, 1.0, 1.5]))[:, 0] == pytest.approx([0.5, 1.0, 0.5])


def test_scene_has_the_points_of_the_chain(sling) -> None:
    scene = build_scene(sling, np.array([0.0, 0.5]))
    assert [item.kind for item in scene.items] == ["link"] * 5
    assert scene.items[4].points.shape == (2, 2, 2)
    assert scene.items[4].points[0, 1] == pytest.approx([0, 0], abs=1e-14)  # the loop is closed at the start
    assert scene.items[2].points[0, 0] == pytest.approx([-1.5, -np.sqrt(4 - 1.5**2)])


def test_moments_without_numbers_are_left_out(constrained) -> None:
    states = constrained.states.copy()
    states[300:] = np.nan
    scene = build_scene(replace(constrained, states=states, status="diverged"))
    assert len(scene.times) == 300
    assert all(np.isfinite(item.points).all() for item in scene.items)


def test_projection_keeps_lengths_across_the_line_of_sight() -> None:
    up = project(np.array([0.0, 0, 1]), azimuth=0.4, elevation=0.0)
    assert up == pytest.approx([0, 1])
    across = project(np.array([-np.sin(0.4), np.cos(0.4), 0]), azimuth=0.4, elevation=0.7)
    assert across == pytest.approx([1, 0])
    eye = np.array([np.cos(0.7) * np.cos(0.4), np.cos(0.7) * np.sin(0.4), np.sin(0.7)])
    assert project(eye, azimuth=0.4, elevation=0.7) == pytest.approx([0, 0], abs=1e-15)


@pytest.mark.parametrize("up", range(3))
def test_any_axis_of_space_can_be_upwards(up) -> None:
    axes = project(np.eye(3), up, azimuth=0.4, elevation=0.7)
    assert axes[up] == pytest.approx([0, np.cos(0.7)])
    # The picture is not mirrored: what z, x, y are to each other for z upwards, the next axes are for another one.
    plain = project(np.eye(3), 2, azimuth=0.4, elevation=0.7)
    right, back = plain[0], plain[1]
    assert axes == pytest.approx(np.array({0: [plain[2], right, back], 1: [right, plain[2], -back], 2: plain}[up]))


def test_tree_is_seen_from_where_gravity_is_downwards() -> None:
    words = {"joint": "revolute", "base": "ground", "coordinate": "q", "axis": [1, 0, 0], "pole": [0, 1, 0], "mass": 1}
    arm = System(
        gravity=[0, "-g", 0], parameters={"g": 9.81}, body=[{**words, "center": [0, -1, 0]}], initial={"q": 0.1}
    )
    scene = build_scene(arm.simulate(until=0.1))
    assert scene.up == 1
    assert [item.kind for item in scene.items] == ["link", "link", "point"]
    assert scene.items[0].points[0] == pytest.approx(np.array([[0, 0, 0], [0, 1, 0]]))  # it stands on the ground
    paper = flat(scene)
    assert paper.projected
    assert paper.items[0].points[0, 1] == pytest.approx([0, np.cos(np.radians(22))])


def test_bounds_hold_circles_and_all_moments() -> None:
    points = np.array([[[0.0, 0.0]], [[4.0, 1.0]]])
    low, high = bounds(Scene(np.arange(2.0), (Item("circle", points, np.array([1.0, 0.5])),)))
    assert (low <= [-1, -1]).all()
    assert (high >= [4.5, 1.5]).all()


def test_flat_scene_of_a_spatial_one(spatial) -> None:
    scene = build_scene(spatial)
    assert scene.spatial
    assert flat(scene).projected
    assert flat(scene).items[0].points.shape[2] == 2


def test_spring_runs_from_end_to_end() -> None:
    ends = np.array([[1.0, 2.0], [4.0, 6.0]])
    line = zigzag(ends)
    assert line[0] == pytest.approx(ends[0])
    assert line[-1] == pytest.approx(ends[1])
    assert np.mean(line, axis=0) == pytest.approx(ends.mean(axis=0))
