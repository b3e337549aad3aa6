"""Directions that cannot be moved or seen, by name: planted in random systems, and known by symmetry."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import eigh

from svyaz import System
from svyaz.control import NotSolvable, placing
from svyaz.control.spaces import observer_for, regulator_for

TWINS = """
name = "two equal inverted pendulums on a cart"
coordinates = ["c", "x1", "y1", "x2", "y2"]
kinetic = "M/2*c'^2 + m/2*(x1'^2 + y1'^2 + x2'^2 + y2'^2)"
potential = "m*g*(y1 + y2)"
[parameters]
M = 1
m = 0.2
g = 9.81
l1 = 0.5
l2 = 0.5
[inputs]
u = 0
[forces]
c = "u"
[[constraint]]
name = "rod 1"
equation = "(x1 - c)^2 + y1^2 = l1^2"
[[constraint]]
name = "rod 2"
equation = "(x2 - c)^2 + y2^2 = l2^2"
[initial]
y1 = 0.5
y2 = 0.5
"""

NAMES = ("a", "b", "c", "d")


def quadratic(matrix: np.ndarray, mark: str) -> str:
    places = [(i, k) for i in range(4) for k in range(4)]
    return " + ".join(f"({float(matrix[i, k])!r})/2*{NAMES[i]}{mark}*{NAMES[k]}{mark}" for i, k in places)


def along(weights: dict[str, float], expected: np.ndarray) -> bool:
    """Are the weights parallel to this?"""
    told = np.array([weights.get(name, 0.0) for name in NAMES])
    return bool(abs(told @ expected) > (1 - 1e-9) * np.linalg.norm(told) * np.linalg.norm(expected))


@pytest.mark.parametrize("seed", range(6))
def test_N1_1_10_a_planted_mode_is_named_in_coordinates(seed: int) -> None:
    """M q̈ + K q = b f, σ = c q: with aᵀb = 0 for a mode K a = -k M a nothing moves (Ma)ᵀq; with c a = 0 nothing shows a."""
    random = np.random.default_rng(seed)
    root = random.normal(size=(4, 4))
    mass = root @ root.T + 4 * np.eye(4)
    shape = random.normal(size=(4, 4))
    stiff = shape + shape.T - 9 * np.eye(4)  # falling in every direction: what is fixed must be refused
    mode = eigh(stiff, mass)[1][:, random.integers(4)]
    across = random.normal(size=4)
    force = across - mode * (across @ mode) / (mode @ mode)
    words = {
        "coordinates": NAMES,
        "kinetic": quadratic(mass, "'"),
        "potential": quadratic(stiff, ""),
        "inputs": {"f": 0.0, "h": 0.0},
        "forces": {
            name: f"({float(x)!r})*f" + ("+ h" if name == "a" else "") for name, x in zip(NAMES, force, strict=True)
        },
    }
    with pytest.raises(NotSolvable, match=r"not controllable: the root .* \(direction ") as refusal:
        System(**words).regulate(inputs="f")
    fixed = refusal.value.facts.uncontrollable
    assert len(fixed) == 2
    assert all(along(d.weights, mass @ mode) for d in fixed)
    measured = "+".join(f"({float(x)!r})*{name}" for name, x in zip(NAMES, force, strict=True))
    with pytest.raises(NotSolvable, match=r"not observable: the root .* \(direction ") as refusal:
        System(**words).regulate(inputs="h", measure=[measured])
    hidden = refusal.value.facts.unobservable
    assert len(hidden) == 2
    assert all(along(d.weights, mode) for d in hidden)


def test_N1_1_10_twins_are_refused_by_their_difference(svyaz, tmp_path: Path) -> None:
    (tmp_path / "twins.toml").write_text(TWINS)
    done = svyaz("regulate", "twins.toml", "--fix", "c=0", "--json", "-")
    assert done.returncode == 1
    root = np.sqrt(9.81 / 0.5)
    assert f"the root {root:.5g} cannot be moved by u (direction x1 - x2)" in done.stderr
    fixed = json.loads(done.stdout)["uncontrollable"]
    assert [d["direction"] for d in fixed] == [{"x1": 1.0, "x2": pytest.approx(-1.0)}] * 2
    assert [d["root"] for d in fixed] == [[pytest.approx(root), 0.0], [pytest.approx(-root), 0.0]]


def test_N1_1_10_of_three_equal_ones_two_differences_are_left() -> None:
    words = {
        "coordinates": ["p", "q", "r"],
        "kinetic": "(p'^2 + q'^2 + r'^2)/2",
        "potential": "-(p^2 + q^2 + r^2)/2",
        "inputs": {"f": 0.0},
        "forces": dict.fromkeys("pqr", "f"),
        "box": dict.fromkeys("pqr", (-1, 1)),
    }
    with pytest.raises(NotSolvable) as refusal:
        System(**words).regulate()
    fixed = refusal.value.facts.uncontrollable
    assert [round(d.root.real) for d in fixed] == [1, 1, -1, -1]
    assert all(sum(d.weights.values()) == pytest.approx(0, abs=1e-9) for d in fixed)
    assert all(len(d.weights) == 2 for d in fixed)


def test_N1_1_10_placed_roots_and_plain_spaces_name_them_too() -> None:
    """The difference of two damped bodies dies out by itself: optimal gains exist, placed roots do not."""
    words = {
        "coordinates": ["p", "q"],
        "kinetic": "(p'^2 + q'^2)/2",
        "potential": "(p^2 + q^2)/2",
        "inputs": {"f": 0.0},
        "forces": {"p": "f - p'", "q": "f - q'"},
        "box": {"p": (-1, 1), "q": (-1, 1)},
    }
    assert str(System(**words).regulate().design.facts.uncontrollable[0]) == "p - q"
    with pytest.raises(NotSolvable, match=r"cannot be placed.*cannot be moved \(direction p - q\)"):
        System(**words).regulate(method=placing([-1, -2, -3, -4]))
    space = SimpleNamespace(A=[[1.0, 0], [0, -2]], B=[[0.0], [1]], C=[[0.0, 1]], state_labels=["fast", "slow"])
    with pytest.raises(NotSolvable, match=r"the root 1 cannot be moved \(direction fast\)"):
        regulator_for(space)
    with pytest.raises(NotSolvable, match=r"the root 1 cannot be seen \(direction fast\)"):
        observer_for(space)


def test_N1_1_10_against_keeps_its_keys_without_a_design(svyaz) -> None:
    """A bob of an inverted pendulum: linearised, its rod leaves nothing that moves it."""
    refused = json.loads(svyaz("regulate", "inverted-pendulum-xy", "--against", "linearised", "--json", "-").stdout)
    designed = json.loads(svyaz("regulate", "ball-and-beam", "--against", "linearised", "--json", "-").stdout)
    assert refused["against"].keys() == designed["against"].keys()
    assert (refused["against"]["K"], refused["against"]["stabilises"]) == (None, False)
    assert refused["against"]["uncontrollable"]
    assert np.shape(refused["against"]["A"]) == np.shape(refused["A"])
