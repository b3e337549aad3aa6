"""Small motions made without the rest of the package: SciPy integrates, plain functions draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz.expr import Scope
from svyaz.motion import Drift, EnergyBalance, ResidualSize


@dataclass(frozen=True)
class Part:
    """A drawing whose points are a function of the rows [t, states…]: (k, 1 + n) → (k, p, dim)."""

    kind: str
    at: Callable[[np.ndarray], np.ndarray]
    radius: float | None = None
    trace: bool = False
    name: str = ""


class Motion:
    """By this name arguments that stand for motions are known."""


@dataclass(frozen=True)
class FakeMotion(Motion):
    """What the figures need of a motion."""

    system: Any
    times: np.ndarray
    states: np.ndarray
    state_names: tuple[str, ...]
    residuals: dict[str, np.ndarray] = field(default_factory=dict)
    multipliers: dict[str, np.ndarray] = field(default_factory=dict)
    integrals: dict[str, np.ndarray] = field(default_factory=dict)
    kinetic: np.ndarray | None = None
    potential: np.ndarray | None = None
    form: str = "lagrange"
    method: str = "dop853"
    step: float | None = None
    rtol: float | None = 1e-10
    status: str = "finished"
    reason: str = ""
    steps: int = 120
    evaluations: int = 1500
    seconds: float = 0.0123
    phases: tuple[dict[str, Any], ...] = ()
    trajectory_error: float | None = None
    gains: None = None
    notes: tuple[str, ...] = ()
    deviations: dict[str, np.ndarray] = field(default_factory=dict)
    outputs: dict[str, np.ndarray] = field(default_factory=dict)
    limits: Mapping[str, object] = field(default_factory=dict)
    undetermined: tuple[str, ...] = ()
    balance: EnergyBalance | None = None
    jumps: tuple[object, ...] = ()
    slides: tuple[object, ...] = ()
    again: None = None
    chapters: tuple[object, ...] = ()

    @property
    def finished(self) -> bool:
        return self.status == "finished"

    @property
    def energy(self) -> np.ndarray | None:
        return self.integrals.get("energy")

    @property
    def energy_error(self) -> np.ndarray | None:
        return None if self.energy is None else np.abs(self.energy - self.energy[0]) / self.energy_scale

    @property
    def energy_scale(self) -> float:
        return max(abs(self.energy[0]), self.kinetic.max()) or 1.0

    def column(self, name: str) -> np.ndarray:
        return self.states[:, self.state_names.index(name)]

    def evaluate_drawing(self, drawing: Part, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        assert rows.shape[1] == 1 + len(self.state_names)
        return drawing.at(rows), None if drawing.radius is None else np.full(len(rows), drawing.radius)

    def residual_sizes(self) -> dict[str, ResidualSize]:
        return {
            name: ResidualSize(
                largest=float(np.max(np.abs(r))),
                mean_square=float(np.sqrt(np.mean(r**2))),
                final=float(r[-1]),
                time_of_largest=float(self.times[np.argmax(np.abs(r))]),
            )
            for name, r in self.residuals.items()
        }

    def drifts(self) -> dict[str, Drift]:
        return {
            name: Drift(float(g[0]), float(g[-1]), float(np.max(np.abs(g - g[0]))))
            for name, g in self.integrals.items()
        }


def system(name: str, coordinates: tuple[str, ...], drawings: tuple[Part, ...], **parameters: float) -> SimpleNamespace:
    return SimpleNamespace(
        name=name,
        coordinates=coordinates,
        velocities=tuple(f"{q}'" for q in coordinates),
        drawings=drawings,
        parameters=parameters,
        constants=parameters,
        law=None,
        bodies=(),
        constraints=(),
        forces={},
        dissipation=0,
        inputs={},
        motors=(),
        units={},
        words={},
        source={},
        file=None,
        scope=Scope({}),
    )


def joint(k: int, lengths: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Point number k (0 is fixed) of a chain with absolute angles in columns 1…n of the rows."""
    return lambda rows: np.stack(
        [
            np.sum(lengths[:k] * np.sin(rows[:, 1 : k + 1]), axis=1),
            -np.sum(lengths[:k] * np.cos(rows[:, 1 : k + 1]), axis=1),
        ],
        axis=1,
    )


def rod(k: int, lengths: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda rows: np.stack([joint(k, lengths)(rows), joint(k + 1, lengths)(rows)], axis=1)


def chain(lengths: np.ndarray, masses: np.ndarray, angles: np.ndarray, until: float, rows: int) -> FakeMotion:
    """n-link pendulum from rest by its closed form, M_ij = Σ_{k≥max(i,j)} m_k L_i L_j cos(u_i - u_j)."""
    n, g = len(lengths), 9.81
    carried = np.cumsum(masses[::-1])[::-1]
    weights = carried[np.maximum.outer(np.arange(n), np.arange(n))] * np.outer(lengths, lengths)

    def rates(_: float, x: np.ndarray) -> np.ndarray:
        u, v = x[:n], x[n:]
        difference = u[:, None] - u
        bias = (weights * np.sin(difference)) @ v**2 + carried * g * lengths * np.sin(u)
        return np.concatenate([v, np.linalg.solve(weights * np.cos(difference), -bias)])

    times = np.linspace(0, until, rows)
    start = np.concatenate([angles, np.zeros(n)])
    states = solve_ivp(rates, (0, until), start, t_eval=times, rtol=1e-9, atol=1e-9, method="DOP853").y.T
    u, v = states[:, :n], states[:, n:]
    kinetic = 0.5 * np.einsum("ki,kj,ij,kij->k", v, v, weights, np.cos(u[:, :, None] - u[:, None, :]))
    potential = g * np.sum(carried * lengths * (1 - np.cos(u)), axis=1)
    names = tuple(f"u{k + 1}" for k in range(n))
    drawings = [Part("link", rod(k, lengths), trace=k == n - 1, name=f"link {k + 1}") for k in range(n)]
    parameters = {f"L{k + 1}": float(lengths[k]) for k in range(n)} | {f"m{k + 1}": float(masses[k]) for k in range(n)}
    return FakeMotion(
        system(f"{n}-link pendulum", names, tuple(drawings), **parameters, g=g),
        times,
        states,
        names + tuple(name + "'" for name in names),
        integrals={"energy": kinetic + potential},
        kinetic=kinetic,
        potential=potential,
    )


@pytest.fixture(scope="session")
def sling() -> FakeMotion:
    """The five links released from the closed loop."""
    a = np.arcsin(0.75)
    angles = np.array([-a, -a, np.pi / 2, np.pi + a, np.pi + a])
    return chain(np.array([1.0, 1, 3, 1, 1]), np.array([1.0, 10, 10, 1, 1]), angles, 1.0, 201)


@pytest.fixture(scope="session")
def long_chain() -> FakeMotion:
    """Forty links."""
    n = 40
    return chain(np.full(n, 0.25), np.ones(n), np.linspace(0.5, 1.2, n), 2.0, 401)


@pytest.fixture(scope="session")
def constrained() -> FakeMotion:
    """A point on a circle in Cartesian coordinates, u = 0.5 cos 3t, with residual, multiplier, wheel and spring."""
    t = np.linspace(0, 4, 401)
    u, v = 0.5 * np.cos(3 * t), -1.5 * np.sin(3 * t)
    x, y = np.sin(u), -np.cos(u)
    states = np.stack([x, y, v * np.cos(u), v * np.sin(u)], axis=1)

    def bob(rows: np.ndarray) -> np.ndarray:
        return rows[:, None, 1:3]

    def fixed(rows: np.ndarray, place: tuple[float, float]) -> np.ndarray:
        return np.broadcast_to(np.array(place), (len(rows), 1, 2))

    parts = (
        Part("link", lambda rows: np.concatenate([fixed(rows, (0, 0)), bob(rows)], axis=1)),
        Part("spring", lambda rows: np.concatenate([fixed(rows, (1.5, -1)), bob(rows)], axis=1)),
        Part("circle", bob, radius=0.15),
        Part("point", bob, trace=True, name="bob"),
    )
    return FakeMotion(
        SimpleNamespace(
            **{
                **vars(system("pendulum on a rod", ("x", "y"), parts, l=1.0, m=1.0, theta0=0.5)),
                "constraints": (
                    SimpleNamespace(
                        name="rod", anchors=(), text="x^2 + y^2 = l^2", start=None, end=None, switched=False, order=0
                    ),
                ),
            }
        ),
        t,
        states,
        ("x", "y", "x'", "y'"),
        residuals={"rod": 1e-9 * t * np.sin(7 * t)},
        multipliers={"rod": -5 * np.cos(u) - v**2 / 2},
        integrals={"energy": np.full_like(t, -1.0), "momentum": 1 + 1e-7 * t},
        kinetic=v**2 / 2,
        potential=-np.cos(u),
        form="multipliers",
        method="rk4",
        step=0.01,
        rtol=None,
    )


@pytest.fixture(scope="session")
def spatial() -> FakeMotion:
    """A conical pendulum, drawn in space."""
    t = np.linspace(0, 3, 301)
    states = np.stack([2 * t, np.full_like(t, 2.0)], axis=1)

    def bob(rows: np.ndarray) -> np.ndarray:
        a = rows[:, 1]
        return np.stack([0.6 * np.cos(a), 0.6 * np.sin(a), np.full_like(a, -0.8)], axis=1)[:, None]

    parts = (
        Part("link", lambda rows: np.concatenate([np.zeros((len(rows), 1, 3)), bob(rows)], axis=1)),
        Part("point", bob, trace=True, name="bob"),
    )
    return FakeMotion(system("conical pendulum", ("alpha",), parts, l=1.0), t, states, ("alpha", "alpha'"))
