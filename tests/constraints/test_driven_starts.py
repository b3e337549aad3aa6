"""V1: the start of driven nonholonomic systems, against linear algebra of the test's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from svyaz import System
from svyaz.constraints.states import NoConsistentState, project
from svyaz.forms.derivation import derive
from svyaz.motion import simulate


@dataclass(frozen=True)
class Driven:
    """Drives A q + B sin(q_first) = C sin(w t + p) and velocity constraints (D + E cos(q_last)) q̇ = f."""

    mass: np.ndarray
    drives: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    rolling: tuple[np.ndarray, np.ndarray, np.ndarray]

    @property
    def names(self) -> list[str]:
        return [f"q{k}" for k in range(len(self.mass))]

    def position(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """h and its Jacobian at t = 0."""
        a, b, c, _, p = self.drives
        slope = a.copy()
        slope[:, 0] += b * np.cos(q[0])
        return a @ q + b * np.sin(q[0]) - c * np.sin(p), slope

    def velocity(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """G and the right side of G q̇ = s at t = 0: the drives with their time derivatives, then the rolling rows."""
        d, e, f = self.rolling
        _, _, c, w, p = self.drives
        return np.vstack([self.position(q)[1], d + e * np.cos(q[-1])]), np.concatenate([c * w * np.cos(p), f])

    def model(self, start: np.ndarray, further: tuple[str, ...] = ()) -> System:
        """The same as a text; ``further`` are equations of more constraints."""
        names, (a, b, c, w, p), (d, e, f) = self.names, self.drives, self.rolling

        def total(row: np.ndarray, of: list[str]) -> str:
            return " + ".join(f"({float(x)!r})*({s})" for x, s in zip(row, of, strict=True))

        speeds = [f"{q}'" for q in names]
        pairs = [f"{u}*{v}" for u in speeds for v in speeds]
        texts = [
            f"{total(row, names)} + ({b[k]!r})*sin(q0) = ({c[k]!r})*sin(({w[k]!r})*t + ({p[k]!r}))".replace(
                "np.float64", ""
            )
            for k, row in enumerate(a)
        ]
        cosine = f"cos({names[-1]})"
        texts += [
            f"{total(row, speeds)} + {cosine}*({total(e[k], speeds)}) = ({f[k]!r})".replace("np.float64", "")
            for k, row in enumerate(d)
        ]
        return System(
            name="driven",
            coordinates=names,
            kinetic=f"({total(self.mass.ravel(), pairs)})/2",
            constraint=[{"name": f"c{k}", "equation": text} for k, text in enumerate((*texts, *further))],
            initial=dict(zip([*names, *speeds], start.tolist(), strict=True)),
        )


def draw(seed: int) -> tuple[Driven, np.ndarray]:
    """A system of three to five coordinates with drives and rolling rows, and a start; every other one is at rest."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 6)), int(rng.integers(1, 3))
    k = int(rng.integers(1, n - m + 1))
    root = rng.normal(size=(n, n))
    mass = (root @ root.T + 0.3 * np.eye(n)) * 10.0 ** rng.integers(-3, 4)
    phases = np.where(rng.random(m) < 0.5, 0.0, rng.normal(size=m))
    drives = (rng.normal(size=(m, n)), 0.3 * rng.normal(size=m), rng.normal(size=m), 5 * rng.normal(size=m), phases)
    sides = np.where(rng.random(k) < 0.7, 0.0, rng.normal(size=k))
    rolling = (rng.normal(size=(k, n)), rng.normal(size=(k, n)), sides)
    start = np.zeros(2 * n) if seed % 2 else rng.normal(size=2 * n)
    return Driven(mass, drives, rolling), start


@pytest.mark.parametrize("seed", range(10))
def test_V1_driven_nonholonomic_starts_are_the_nearest_consistent_states(seed: int) -> None:
    """h = 0, dh/dt = 0 (with ∂h/∂t) and f = 0 hold; positions and velocities are changed least in the norm of M."""
    driven, start = draw(seed)
    n = len(driven.mass)
    found = project(derive(driven.model(start))).state
    q, v = found[:n], found[n:]
    h, slope = driven.position(q)
    np.testing.assert_allclose(h, 0.0, atol=1e-12)
    moved = driven.mass @ (q - start[:n])  # stationary: M δ = Gᵀ λ
    rest = moved - slope.T @ np.linalg.lstsq(slope.T, moved, rcond=None)[0]
    np.testing.assert_allclose(rest, 0.0, atol=1e-6 * max(1.0, float(np.abs(moved).max())))
    rows, side = driven.velocity(q)
    count = len(rows)
    matrix = np.block([[driven.mass, rows.T], [rows, np.zeros((count, count))]])
    wanted = np.linalg.solve(matrix, np.concatenate([driven.mass @ start[n:], side]))[:n]
    np.testing.assert_allclose(v, wanted, atol=1e-9 * (1.0 + float(np.abs(wanted).max())))


@pytest.mark.parametrize("seed", range(10, 14))
def test_V1_velocities_that_contradict_each_other_are_refused_and_named(seed: int) -> None:
    """A combination of all rows with another right side has no solution; the same combination with its own right side has."""
    driven, start = draw(seed)
    n = len(driven.mass)
    positions = project(derive(driven.model(start))).state[:n]
    start[:n] = positions
    rows, side = driven.velocity(positions)
    combination = np.random.default_rng(seed).normal(size=len(rows))
    row, value = combination @ rows, float(combination @ side)
    left = " + ".join(f"({float(x)!r})*{q}'" for x, q in zip(row, driven.names, strict=True))
    size = 1.0 + abs(value)
    with pytest.raises(
        NoConsistentState, match=r"no velocity near the given one satisfies .* contradict each other"
    ) as no:
        project(derive(driven.model(start, (f"{left} = {value + size!r}",))))
    assert set(no.value.constraints) == {f"c{k}" for k in range(len(rows) + 1)}
    agreed = project(derive(driven.model(start, (f"{left} = {value!r}",)))).state
    np.testing.assert_allclose(rows @ agreed[n:], side, atol=1e-9 * (1.0 + float(np.abs(side).max())))


def test_V1_a_nonlinear_constraint_that_is_not_met_is_not_called_impossible() -> None:
    model = System(
        name="two circles",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        constraint=[
            {"name": "a", "equation": "x^2 + y^2 = 1"},
            {"name": "b", "equation": "(x - 3)^2 + y^2 = 1"},
        ],
        initial={"x": 1.5, "y": 0.1},
    )
    with pytest.raises(NoConsistentState, match="no position near the given one was found that satisfies"):
        project(derive(model))


def test_V1_driven_vehicles_start_from_rest() -> None:
    """The Roller Racer steered by phi = A sin(w t), from rest: its front wheel needs phi' = A w at the start."""
    racer = System(
        name="Roller Racer",
        coordinates=["x", "y", "theta", "phi"],
        kinetic="(x'^2 + y'^2)/2 + 0.1/2*theta'^2 + 0.01/2*(theta' + phi')^2",
        dissipation="0.01*(x'^2 + y'^2)",
        constraint=[
            {"name": "rear", "equation": "x'*sin(theta) = y'*cos(theta)"},
            {
                "name": "front",
                "equation": "x'*sin(theta+phi) - y'*cos(theta+phi) = theta'*0.25*cos(phi) + (theta' + phi')*0.1",
            },
            {"name": "steer", "equation": "phi = 0.6*sin(6*t)"},
        ],
    )
    motion = simulate(racer, project=True, until=10.0, rtol=1e-10, stabilize="off")
    assert motion.moved["phi'"][1] == pytest.approx(3.6, rel=1e-14)
    assert motion.moved["theta'"][1] == pytest.approx(-3.6 * 0.1 / 0.35, rel=1e-14)
    ends = [motion.column(name)[-1] for name in ("x", "y", "theta")]
    np.testing.assert_allclose(ends, [-14.82197921, 0.24657403, -0.85846773], atol=2e-7)
