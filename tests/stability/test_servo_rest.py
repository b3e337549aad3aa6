"""K9: equilibria, their stability and regulators where controls keep constraints: M q̈ + bias = Gᵀλ + B u, h = 0."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import root

from svyaz import System

BOX = dict.fromkeys("abcd", (-0.8, 0.8))


def random_model(seed: int) -> tuple[System, np.ndarray]:
    """Four coordinates, an ideal rod, and a servo-constraint with a direction that is not its gradient."""
    k = np.random.default_rng(seed).uniform(0.5, 1.5, 12).round(3)
    system = System(
        name=f"servo {seed}",
        coordinates=["a", "b", "c", "d"],
        kinetic=f"(a'^2 + {k[0]}*b'^2 + {k[1]}*c'^2 + {k[2]}*d'^2)/2 + 0.2*cos(a - b)*a'*b'",
        potential=f"{k[3]}*a^2 + {k[4]}*b^2/2 + {k[5]}*c^2 - 0.3*cos(d - a) + {k[6]}*d^2/2 + 0.2*b",
        dissipation=f"{k[7]}/2*a'^2 + 0.3*(b' - c')^2 + 0.2*d'^2",
        constraint=[
            {"name": "rod", "equation": f"a + {k[8]}*sin(b) = 0.1"},
            {
                "name": "held",
                "equation": f"c - {k[9]}/2*d^2 + 0.3*b = 0.2",
                "direction": ["0", "0.2", "1", f"{k[10]}*cos(a)"],
            },
        ],
        box=BOX,
    )
    return system, k


def pushed(k: np.ndarray, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
    """M, the forces with those of Coriolis, G, the columns of reactions, and minus the bias of the constraints."""
    a, b, c, d = q
    mass = np.diag([1.0, k[0], k[1], k[2]])
    mass[0, 1] = mass[1, 0] = 0.2 * np.cos(a - b)
    pull = np.array([2 * k[3] * a - 0.3 * np.sin(d - a), k[4] * b + 0.2, 2 * k[5] * c, 0.3 * np.sin(d - a) + k[6] * d])
    drag = np.array([k[7] * v[0], 0.6 * (v[1] - v[2]), -0.6 * (v[1] - v[2]), 0.4 * v[3]])
    turning = 0.2 * np.sin(a - b) * np.array([v[1] ** 2, -(v[0] ** 2), 0, 0])
    rows = np.array([[1, k[8] * np.cos(b), 0, 0], [0, 0.3, 1, -k[9] * d]])
    columns = np.column_stack([rows[0], [0, 0.2, 1, k[10] * np.cos(a)]])
    return mass, -pull - drag - turning, rows, columns, np.array([k[8] * np.sin(b) * v[1] ** 2, k[9] * v[3] ** 2])


def held(k: np.ndarray, q: np.ndarray) -> list[float]:
    return [q[0] + k[8] * np.sin(q[1]) - 0.1, q[2] - k[9] / 2 * q[3] ** 2 + 0.3 * q[1] - 0.2]


def accelerations(k: np.ndarray, x: np.ndarray) -> np.ndarray:
    mass, force, rows, columns, rest = pushed(k, x[:4], x[4:])
    saddle = np.block([[mass, -columns], [rows, np.zeros((2, 2))]])
    return np.concatenate([x[4:], np.linalg.solve(saddle, np.concatenate([force, rest]))[:4]])


@pytest.mark.parametrize("seed", range(5))
def test_K9_equilibria_that_controls_keep(seed: int) -> None:
    system, k = random_model(seed)

    def balance(z: np.ndarray) -> np.ndarray:
        _, force, _, columns, _ = pushed(k, z[:4], np.zeros(4))
        return np.concatenate([force + columns @ z[4:], held(k, z[:4])])

    found = system.equilibria()
    assert found.complete
    ends = {
        tuple(np.round(root(balance, start, tol=1e-13).x, 6))
        for start in np.random.default_rng(1).normal(0, 0.4, (40, 6))
    }
    inside = [e for e in ends if max(map(abs, e[:4])) < 0.8 and np.abs(balance(np.array(e))).max() < 1e-4]
    assert len(found.equilibria) == len(inside)
    for e in found.equilibria:
        x = np.array([*e.state.values(), *[0.0] * 4])
        assert np.abs(balance(np.array([*x[:4], e.multipliers["rod"], e.multipliers["held"]]))).max() < 1e-9
        by = [(accelerations(k, x + 1e-5 * s) - accelerations(k, x - 1e-5 * s)) / 2e-5 for s in np.eye(8)]
        expected = np.linalg.eigvals(np.column_stack(by))
        own = [z for z in e.verdict.roots if abs(z) > 1e-6]
        # the deviations of two constraints and their rates are double zeros, which numerical slopes scatter
        expected = sorted(expected, key=abs)[4:]
        assert len(own) == len(expected)
        assert max(min(abs(z - w) for w in expected) for z in own) < 1e-5
        assert f"'held' is kept by its control = {e.multipliers['held']:.9g}" in e.notes


CRANE = {
    "name": "crane",
    "coordinates": ["x", "a"],
    "kinetic": "M/2*x'^2 + m/2*((x' + l*a'*cos(a))^2 + (l*a'*sin(a))^2)",
    "potential": "-m*g*l*cos(a)",
    "parameters": {"M": 2, "m": 1, "l": 1.5, "g": 9.81, "T": 0.5},
    "inputs": {"u": 0, "F": {"value": 0, "low": -0.5, "high": 0.5}},
    "forces": {"a": "u - 0.1*a'", "x": "F - 2*T"},
    "box": {"x": (-1, 1), "a": (-1, 1)},
}


def test_K9_a_control_beyond_its_limits_is_told_and_another_input_regulates() -> None:
    """The trolley is held at x = 0.2 by F = 2 T; l a'' = -g a and the torque u remain."""
    system = System(**CRANE, constraint=[{"name": "place", "equation": "x = 0.2", "direction": "F"}])
    (rest,) = system.equilibria({"u": 0.0}).equilibria
    assert "'place' is kept by the input F = 1, beyond its limits -0.5 and 0.5" in rest.notes
    found = system.regulate(fix={"u": 0.0})
    assert np.sort(np.abs(found.design.model.A[-1])) == pytest.approx([0.1 / 2.25, 9.81 / 1.5])
    assert found.run({"a": 0.1}, 60.0)["regulator"].transient.returned


def test_K9_directions_that_do_not_suffice_are_told() -> None:
    """A force along y does not keep x: it may hold any y, and no motion is determined."""
    system = System(
        name="weak",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="x^2 + y^2",
        constraint=[{"name": "place", "equation": "x = 0", "direction": ["0", "1"]}],
        box={"x": (-1, 1), "y": (-1, 1)},
    )
    assert system.equilibria().dimension == 1
    (rest,) = system.equilibria({"y": 0.3}).equilibria
    assert rest.verdict is None
    assert any("controls do not suffice" in note for note in rest.notes)
