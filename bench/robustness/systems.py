"""Mechanical systems made at random, and their accelerations and multipliers by a route of their own.

    L_vv a + L_vq v + L_vt - L_q + ∂D/∂v - Q = Gᵀ λ,     G a + γ = 0,

with all derivatives by jets and one dense solution. Consistent states are found by Newton's method on the same jets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import numpy as np
from bench.robustness.jets import Array, Jet, Tree, jet, text

from svyaz import System

NAMES = ("x", "y", "z", "w")
PARAMETERS = {"m": 1.3, "k": 0.7, "a": 0.45, "g": 2.1}
WORST = 1e5
"""Systems with a worse conditioned augmented matrix are not used: rounding alone could show there."""


@dataclass(frozen=True)
class RandomSystem:
    """Trees of a system: L, D, Q by coordinate, constraints with their kind; and a state on the constraints."""

    coordinates: tuple[str, ...]
    lagrangian: Tree
    split: tuple[Tree, Tree] | None
    dissipation: Tree
    forces: Mapping[str, Tree]
    constraints: tuple[tuple[str, Tree], ...]
    time: float
    state: Mapping[str, float]

    @property
    def speeds(self) -> tuple[str, ...]:
        return tuple(f"{q}'" for q in self.coordinates)

    def model(self) -> System:
        """The system as a person would state it."""
        energy: dict[str, object] = {"lagrangian": text(self.lagrangian)}
        if self.split is not None:
            energy = {"kinetic": text(self.split[0]), "potential": text(self.split[1])}
        return System(
            name="random",
            coordinates=list(self.coordinates),
            **energy,
            dissipation=text(self.dissipation),
            forces={q: text(force) for q, force in self.forces.items()},
            parameters=PARAMETERS,
            constraint=[{"name": f"c{k}", "equation": f"{text(c)} = 0"} for k, (_, c) in enumerate(self.constraints)],
            initial=dict(self.state),
            run={"momenta": [self.coordinates[0]]},
        )

    def _jet(self, tree: Tree, state: Mapping[str, float] | None = None) -> Jet:
        values = {**PARAMETERS, **(self.state if state is None else state), "t": self.time}
        return jet(tree, (*self.coordinates, *self.speeds, "t"), values)

    def solution(self) -> tuple[Array, Array, float]:
        """(accelerations, multipliers, condition number of the scaled augmented matrix) at the state."""
        n = len(self.coordinates)
        v = np.array([self.state[name] for name in self.speeds])
        L = self._jet(self.lagrangian)
        mass = L.bend[n : 2 * n, n : 2 * n]
        bias = (
            L.bend[n : 2 * n, :n] @ v
            + L.bend[n : 2 * n, -1]
            - L.slope[:n]
            + self._jet(self.dissipation).slope[n : 2 * n]
        )
        bias -= np.array([self._jet(self.forces.get(q, 0.0)).value for q in self.coordinates])
        rows, rests = [], []
        for kind, tree in self.constraints:
            c = self._jet(tree)
            if kind == "position":
                rows.append(c.slope[:n])
                rests.append(v @ c.bend[:n, :n] @ v + 2 * c.bend[:n, -1] @ v + c.bend[-1, -1])
            else:
                rows.append(c.slope[n : 2 * n])
                rests.append(c.slope[:n] @ v + c.slope[-1])
        G = np.array(rows).reshape(-1, n)
        m = len(G)
        matrix = np.block([[mass, -G.T], [G, np.zeros((m, m))]])
        found = np.linalg.solve(matrix, np.concatenate([-bias, -np.array(rests)]))
        return found[:n], found[n:], float(np.linalg.cond(matrix))

    def moved(self, random: Random) -> dict[str, float] | None:
        """A state on the constraints near a random one: positions first, then velocities."""
        state = {name: random.uniform(-0.8, 0.8) for name in (*self.coordinates, *self.speeds)}
        n = len(self.coordinates)
        for first, names in ((0, self.coordinates), (n, self.speeds)):
            columns = slice(first, first + n)
            for _ in range(40):
                values, rows = self._deviations(state, velocities=first > 0)
                if not len(values) or np.abs(values).max() < 1e-14:
                    break
                step = np.linalg.lstsq(rows[:, columns], values, rcond=None)[0]
                for name, d in zip(names, step, strict=True):
                    state[name] -= float(d)
            else:
                if np.abs(values).max() > 1e-11:
                    return None
        return state if max(map(abs, state.values())) < 3 else None

    def _deviations(self, state: Mapping[str, float], velocities: bool) -> tuple[Array, Array]:
        """h, or ḣ and f, with their slopes."""
        n = len(self.coordinates)
        v = np.array([state[name] for name in self.speeds])
        values, rows = [], []
        for kind, tree in self.constraints:
            c = self._jet(tree, state)
            if kind == "position" and velocities:
                values.append(c.slope[:n] @ v + c.slope[-1])
                rows.append(np.concatenate([np.zeros(n), c.slope[:n], [0.0]]))
            elif kind == "position" or velocities:
                values.append(c.value)
                rows.append(c.slope)
        return np.array(values), np.array(rows).reshape(-1, 2 * n + 1)


def random_system(seed: int) -> RandomSystem:
    """One to four coordinates; energies with gyroscopic terms, some not quadratic in the velocities; forces; constraints."""
    random = Random(seed)
    while True:
        found = _drawn(random)
        state = found.moved(random)
        if state is None:
            continue
        found = RandomSystem(**{**found.__dict__, "state": state})
        try:
            condition = found.solution()[2]
        except (np.linalg.LinAlgError, ValueError, OverflowError):
            continue
        if condition < WORST:
            return found


def _drawn(random: Random) -> RandomSystem:
    q = NAMES[: random.choice((1, 2, 2, 2, 2, 3, 3, 4))]
    v = [f"{name}'" for name in q]
    count = random.randrange(min(len(q), 3)) if len(q) > 1 else 0
    moving = random.random() < 0.4

    def number(low: float = -1.0, high: float = 1.0) -> float:
        return round(random.uniform(low, high), 3)

    def argument() -> Tree:
        """Something of order one."""
        a, b = random.choice(q), random.choice(q)
        terms: list[Tree] = [a, ("*", number(), b)] + ([("*", number(), "t")] if moving else [])
        return ("+", *terms)

    def function() -> Tree:
        inner = argument()
        kind = random.choice(("sin", "cos", "product", "exp", "atan", "sqrt", "log", "tanh", "parameter"))
        if kind == "product":
            return ("*", number(), random.choice(q), random.choice(q))
        if kind == "parameter":
            return ("*", random.choice(list(PARAMETERS)), ("sin", inner))
        if kind in ("sqrt", "log"):
            return ("*", number(), (kind, ("+", 2.0, ("^", inner, 2.0))))
        return ("*", number(), (kind, ("*", 0.5, inner) if kind == "exp" else inner))

    squares: list[Tree] = [("*", ("+", 1.0, "m", ("*", 0.4, ("cos", argument()))), ("^", s, 2.0), 0.5) for s in v]
    mixed: list[Tree] = [
        ("*", number(-0.3, 0.3), ("sin", argument()), v[i], v[j])
        for i in range(len(v))
        for j in range(i)
        if random.random() < 0.7
    ]
    linear: list[Tree] = [("*", function(), s) for s in v if random.random() < 0.3]
    kinetic: Tree = ("+", *squares, *mixed, *linear)
    if random.random() < 0.2:
        kinetic = ("+", kinetic, ("sqrt", ("+", 1.0, *(("^", s, 2.0) for s in v))))
    potential: Tree = (
        "+",
        ("*", "k", 0.5, ("+", *(("^", name, 2.0) for name in q))),
        function(),
        ("*", "g", function()),
    )
    dissipation: Tree = ("+", *(("*", number(0.0, 0.5), ("^", s, random.choice((2.0, 2.0, 4.0)))) for s in v))
    forces = {name: ("+", ("*", number(), random.choice(v)), function()) for name in q if random.random() < 0.3}
    constraints: list[tuple[str, Tree]] = []
    for _ in range(count):
        if random.random() < 0.5:
            constraints.append(
                ("position", ("+", *(("*", number(), name) for name in q), function(), number(-0.2, 0.2)))
            )
        else:
            terms = [("*", ("+", number(), function()) if random.random() < 0.4 else number(), s) for s in v]
            constraints.append(("velocity", ("+", *terms, *([function()] if moving else []))))
    return RandomSystem(
        coordinates=q,
        lagrangian=("+", kinetic, ("*", -1.0, potential)),
        split=(kinetic, potential) if random.random() < 0.8 else None,
        dissipation=dissipation,
        forces=forces,
        constraints=tuple(constraints),
        time=number(0.1, 1.0) if moving else 0.0,
        state={},
    )
