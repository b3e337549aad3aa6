"""What is drawn of a tree that says nothing of its looks."""

from __future__ import annotations

import numpy as np
import pytest

import svyaz

ARM = """
name = "arm"
gravity = [0, "-g", 0]
[parameters]
g = 9.81
[[body]]
name = "1"
base = "ground"
joint = "revolute"
coordinate = "q"
axis = [0, 0, 1]
mass = 1
center = [0.5, 0, 0]
inertia = { zz = 1 }
[[point]]
name = "tip"
body = "1"
at = [2, 0, 0]
"""


def test_P5_points_of_bodies_are_marked() -> None:
    arm = svyaz.loads(ARM)
    drawn = dict(arm.derive().function().points([0.3]))
    assert drawn["tip"].ravel() == pytest.approx([2 * np.cos(0.3), 2 * np.sin(0.3)])
    assert drawn["1"].ravel() == pytest.approx([0.5 * np.cos(0.3), 0.5 * np.sin(0.3)])


def test_P5_a_model_with_drawings_of_its_own_keeps_them() -> None:
    arm = svyaz.loads(ARM + '[[draw]]\npoint = ["tip_x", "tip_y"]\n')
    assert len(arm.drawings) == 1
