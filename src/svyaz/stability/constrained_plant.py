"""What a regulator is designed for where velocities are constrained: the first approximation on the surface of the constraints.

    δx = T ξ,    ξ' = A ξ + B u

for the independent ξ among the coordinates, velocities (in axes that turn with the heading about a steady motion) and further
states x. About a position of rest all coordinates are in x, about a steady motion those that the equations need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import Expression, ModelError, Problem, evaluate, names_in
from svyaz.model import System
from svyaz.stability.ignorable import NOTHING_IGNORED, Ignorable
from svyaz.stability.linearisation import FirstApproximation
from svyaz.stability.moving import bent_reactions
from svyaz.stability.rolling import ConstraintSurface, RollingApproximation, completed_speeds, rolling_approximation
from svyaz.stability.starts import HALVINGS, Start

FAR = 1e3
"""A state that is so many times farther than the size of the steady motion is not looked for."""

TURNS = (0.7, -1.9)
"""By these angles headings are turned to see whether an expression changes."""


@dataclass(frozen=True, kw_only=True)
class RollingPlant(FirstApproximation):
    """A and B for ξ = ``further``, the redundant coordinates and velocities ``following`` from it.

    ``state`` has the velocities too; headings stand at zero. ``ignored`` are the coordinates that are not in x, ``values``
    those of parameters and inputs.
    """

    rolling: RollingApproximation
    values: Mapping[str, float]

    @property
    def following(self) -> dict[str, Array]:
        """Slopes by ξ of the other names of x."""
        rows = zip(self.rolling.names, self.rolling.tangent, strict=True)
        return {name: row for name, row in rows if name not in self.rolling.independent}

    @property
    def ignored(self) -> Ignorable:
        return self.rolling.ignorable

    @property
    def start_names(self) -> tuple[str, ...]:
        """Those of ξ: what is redundant follows from them."""
        return self.variables

    def own_states(self, states: Sequence[str]) -> tuple[str, ...]:
        """The names of x."""
        return self.rolling.names

    def conserved(self, rows: Array) -> Array:
        """All of them: steady motions form families."""
        return rows

    def complete(self, deviations: Mapping[str, float], surface: ConstraintSurface) -> Array | None:
        """x on the surface of the constraints with these deviations of ξ; None where Newton's method finds none."""
        names, independent = self.rolling.names, self.rolling.independent
        rest = np.array([self.state[name] for name in names])
        x = rest + self.rolling.tangent @ np.array([deviations.get(name, 0.0) for name in independent])
        loose = [k for k, name in enumerate(names) if name not in independent]
        try:
            found, ended = surface.reached(x, loose, 1e-13, FAR * (1 + float(np.abs(rest).max())))
        except ModelError:
            return None
        return found if ended else None

    def start(self, deviations: Mapping[str, float]) -> Start:
        """By Newton's method on the surface of the constraints, headings at zero."""
        surface, given = self.surface(), dict(deviations)
        for halvings in range(HALVINGS + 1):
            x = self.complete(given, surface)
            if x is not None:
                state = {**self.state, **dict(zip(self.rolling.names, map(float, x), strict=True))}
                return Start(state, {c.name: 0.0 for c in self.system.constraints}, True, halvings)
            given = {name: value / 2 for name, value in given.items()}
        asked = ", ".join(f"{name} by {value:g}" for name, value in deviations.items())
        raise ModelError([Problem(f"no state near the steady motion satisfies the constraints with {asked}")])

    def surface(self) -> ConstraintSurface:
        """The surface of the constraints, with x as it is here."""
        return ConstraintSurface(self.system, self.values, self.ignored)

    def linearised(self) -> RollingPlant:
        """The model that results when the constraints are linearised beforehand, in turned axes: reactions keep direction."""
        rolling, bent = self.rolling, self._bent()
        here = self.surface().at(np.array([self.state[name] for name in rolling.names]))
        lost = np.zeros((len(rolling.names), bent.shape[1]))
        k = len(rolling.names) - len(self.system.rates) - len(bent)
        lost[k : k + len(bent)] = here.lever @ bent
        free = [rolling.names.index(name) for name in rolling.independent]
        return replace(self, A=self.A - lost[free], second_order=np.zeros_like(self.second_order))

    def _bent(self) -> Array:
        """∂(Gᵀλ)/∂ξ, a row for each coordinate."""
        surface, rolling = self.surface(), self.rolling
        q = [self.state[name] if name in rolling.names else 0.0 for name in self.system.coordinates]
        v = [self.state[f"{name}'"] for name in self.system.coordinates]
        w = [self.state[name] for name in self.system.rates]
        found = bent_reactions(self.system)
        found = found.with_values({name: self.values[name] for name in found.values})
        full = found(np.array([*q, *v, *w, *rolling.multipliers.values()]))["bent"].reshape(len(q), -1)
        return np.asarray(full[:, surface.columns] @ rolling.tangent)

    def refuse_heading(self, text: str, e: Expression) -> None:
        """Raise where an expression tells the place or the heading of what moves steadily."""
        if names := sorted(names_in(e) & set(self.ignored.absent)):
            message = (
                f"'{text}' contains {names[0]}, which does not rest in a steady motion: velocities may be measured"
            )
            raise ModelError([Problem(message)])
        random = np.random.default_rng(3)
        for h in self.ignored.headings:
            state = {n: x + 0.1 * random.normal() for n, x in self.state.items()} | {h.name: 0.0}
            told = [
                evaluate(e, {**self.system.constants, **_turned(state, h.name, h.plane, h.drift, a)})
                for a in (0, *TURNS)
            ]
            if max(told) - min(told) > 1e-9 * (1 + max(map(abs, told))):
                a, b = h.plane or ("x", "y")
                message = f"'{text}' depends on the heading {h.name}, which turns in a steady motion"
                hint = f"{a}'*cos({h.name}) + {b}'*sin({h.name}) does not" if h.plane else None
                raise ModelError([Problem(message, hint=hint)])


def _turned(
    state: Mapping[str, float], psi: str, plane: tuple[str, str] | None, drift: tuple[float, float], angle: float
) -> dict[str, float]:
    moved = {**state, psi: angle}
    if plane is not None:
        c, s = np.cos(angle), np.sin(angle)
        u = [state[f"{q}'"] + d for q, d in zip(plane, drift, strict=True)]
        moved[f"{plane[0]}'"] = float(c * u[0] - s * u[1] - drift[0])
        moved[f"{plane[1]}'"] = float(s * u[0] + c * u[1] - drift[1])
    return moved


def rolling_plant(
    system: System,
    state: Mapping[str, float],
    inputs: Mapping[str, float],
    speeds: Sequence[str],
    parameters: Mapping[str, float] | None = None,
) -> RollingPlant:
    """About the motion with this state whose ``speeds`` are given, or about rest where there are none.

    ``parameters`` replace values of the model, so that many values cost no new derivation.
    """
    values = {**system.constants, **(parameters or {}), **inputs}
    surface = ConstraintSurface(system, values, None if speeds else NOTHING_IGNORED)
    moving = completed_speeds(system, state, values) if speeds else dict.fromkeys(system.velocities, 0.0)
    headings = {h.name: 0.0 for h in surface.ignorable.headings}
    whole = {**state, **moving, **headings}
    rolling = rolling_approximation(system, whole, values, tuple(speeds), surface.ignorable)
    count, names = len(rolling.independent), rolling.names
    redundant = tuple(q for q in system.coordinates if q in names and q not in rolling.independent)
    none = np.zeros((0, 0))
    found = RollingPlant(
        system=system,
        state={name: float(whole[name]) for name in system.states if name in whole},
        inputs=dict(inputs),
        independent=(),
        dependent=redundant,
        further=rolling.independent,
        A=rolling.A,
        B=rolling.B,
        Z=np.zeros((count, 0)),
        slope=none,
        inertia=none,
        stiffness=none,
        second_order=none,
        rolling=rolling,
        values=values,
    )
    lever = rolling.tangent[[names.index(f"{q}'") for q in system.coordinates]]
    return replace(found, second_order=lever.T @ found._bent())
