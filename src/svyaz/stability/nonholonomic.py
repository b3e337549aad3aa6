"""The first approximation where velocities are constrained, or controls keep constraints: on the surface of the constraints.

    δx = T ξ,    ξ' = A ξ + B u

for the independent ξ among the coordinates, velocities (in axes that turn with the heading about a steady motion) and further
states x: the rates on the surface, differentiated along it. About a position of rest all coordinates are in x, about a steady
motion those that the equations need. No momenta are assumed: as a rule steady motions form a manifold, and each of its
dimensions gives a zero root (E. T. Whittaker; Yu. I. Neimark, N. A. Fufaev 1967; A. V. Karapetyan, V. V. Rumyantsev 1983).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.expr import Expression, ModelError, Problem, evaluate, names_in
from svyaz.model import System
from svyaz.stability.constraint_surface import ConstraintSurface, complete_speeds, independent_columns, manifold_at
from svyaz.stability.headings import NOTHING_IGNORED, Ignorable
from svyaz.stability.linearisation import FirstApproximation
from svyaz.stability.moving import InMotion, bent_reactions
from svyaz.stability.starts import HALVINGS, Start

STEADY = 1e-7
"""Rates of a steady motion may be off by this part of their sizes."""

FAR = 1e3
"""A state that is so many times farther than the size of the steady motion is not looked for."""

TURNS = (0.7, -1.9)
"""By these angles headings are turned to see whether an expression changes."""


@dataclass(frozen=True, kw_only=True)
class NonholonomicLinearisation(FirstApproximation):
    """A and B for ξ = ``further``, some of the ``names`` of x; the others follow by δx = ``tangent`` ξ.

    ``state`` has the velocities too; headings stand at zero. ``ignorable`` are the coordinates that are not in x, ``values``
    those of parameters and inputs, ``prescribed`` the speeds that were given. ``manifold`` is the dimension of the manifold of
    steady motions, ``geometric`` the number of constraints F.
    """

    names: tuple[str, ...]
    tangent: Array
    ignorable: Ignorable
    values: Mapping[str, float]
    prescribed: tuple[str, ...]
    multipliers: Mapping[str, float]
    manifold: int
    geometric: int

    @property
    def following(self) -> dict[str, Array]:
        """Slopes by ξ of the other names of x."""
        return {name: row for name, row in zip(self.names, self.tangent, strict=True) if name not in self.further}

    @property
    def ignored(self) -> Ignorable:
        return self.ignorable

    @property
    def start_names(self) -> tuple[str, ...]:
        """Those of ξ: what is redundant follows from them."""
        return self.variables

    def own_states(self, states: Sequence[str]) -> tuple[str, ...]:
        """The names of x."""
        return self.names

    def conserved(self, rows: Array) -> Array:
        """All of them: steady motions form families."""
        return rows

    def complete(self, deviations: Mapping[str, float], surface: ConstraintSurface) -> Array | None:
        """x on the surface of the constraints with these deviations of ξ; None where Newton's method finds none."""
        rest = np.array([self.state[name] for name in self.names])
        x = rest + self.tangent @ np.array([deviations.get(name, 0.0) for name in self.further])
        loose = [k for k, name in enumerate(self.names) if name not in self.further]
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
                state = {**self.state, **dict(zip(self.names, map(float, x), strict=True))}
                return Start(state, {c.name: 0.0 for c in self.system.constraints}, True, halvings)
            given = {name: value / 2 for name, value in given.items()}
        asked = ", ".join(f"{name} by {value:g}" for name, value in deviations.items())
        raise ModelError([Problem(f"no state near the steady motion satisfies the constraints with {asked}")])

    def surface(self) -> ConstraintSurface:
        """The surface of the constraints, with x as it is here."""
        return ConstraintSurface(self.system, self.values, self.ignored)

    def complete_each(
        self, names: Sequence[str], deviations: Array
    ) -> tuple[tuple[str, ...], Array, NDArray[np.bool_]]:
        """x on the surface of the constraints for each row of deviations, one by one."""
        surface = self.surface()
        found = [self.complete(dict(zip(names, row, strict=True)), surface) for row in deviations.tolist()]
        there = [x for x in found if x is not None]
        met = np.array([x is not None for x in found], dtype=bool)
        return self.names, np.array(there).reshape(len(there), len(self.names)), met

    def at(
        self, state: Mapping[str, float], inputs: Mapping[str, float], parameters: Mapping[str, float]
    ) -> tuple[NonholonomicLinearisation, NonholonomicLinearisation]:
        """The same at another motion with these speeds, and what linearised constraints make of it."""
        given = {name: self.state[name] for name in self.prescribed}
        known = {**dict.fromkeys(self.system.coordinates, 0.0), **given, **state}
        found = nonholonomic_plant(self.system, known, inputs, self.prescribed, parameters)
        return found, found.linearised()

    def linearised(self) -> NonholonomicLinearisation:
        """The model that results when the constraints are linearised beforehand, in turned axes: reactions keep direction."""
        bent, names = self._bent(), self.names
        here = self.surface().at(np.array([self.state[name] for name in names]))
        lost = np.zeros((len(names), bent.shape[1]))
        k = len(names) - len(self.system.rates) - len(bent)
        lost[k : k + len(bent)] = here.lever @ bent
        free = [names.index(name) for name in self.further]
        return replace(self, A=self.A - lost[free], second_order=np.zeros_like(self.second_order))

    def curved(self) -> NonholonomicLinearisation:
        """The same with ``second_order``, for which the reactions are differentiated: T' ∂(Gᵀλ)/∂ξ."""
        rows = [self.names.index(f"{q}'") for q in self.system.coordinates]
        return replace(self, second_order=self.tangent[rows].T @ self._bent())

    def _bent(self) -> Array:
        """∂(Gᵀλ)/∂ξ, a row for each coordinate."""
        q = [self.state[name] if name in self.names else 0.0 for name in self.system.coordinates]
        v = [self.state[f"{name}'"] for name in self.system.coordinates]
        w = [self.state[name] for name in self.system.rates]
        found = bent_reactions(self.system)
        found = found.with_values({name: self.values[name] for name in found.values})
        full = found(np.array([*q, *v, *w, *self.multipliers.values()]))["bent"].reshape(len(q), -1)
        return np.asarray(full[:, self.surface().columns] @ self.tangent)

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


def nonholonomic_linearisation(
    system: System,
    state: Mapping[str, float],
    values: Mapping[str, float],
    prescribed: Sequence[str] = (),
    ignored: Ignorable | None = None,
) -> NonholonomicLinearisation:
    """About the motion with these coordinates, velocities and further states; refused where it is not steady.

    ``prescribed`` velocities are taken as independent where they can be; ``values`` are those of inputs and parameters.
    Coordinates are ``ignored`` where no equation needs them, unless others are given.
    """
    surface = ConstraintSurface(system, values, ignored)
    x = surface.vector(state)
    here = surface.at(x)
    _refuse_change(surface, x, here)
    across = surface.tangent(here)
    dependent = _dependent(surface, across, len(here.positions), prescribed)
    free = [k for k in range(len(x)) if k not in dependent]
    tangent = np.zeros((len(x), len(free)))
    tangent[free, range(len(free))] = 1.0
    tangent[dependent] = -np.linalg.solve(across[:, dependent], across[:, free])
    by_state, by_input = surface.slopes(x, here)
    names, none = surface.names, np.zeros((0, 0))
    independent = tuple(names[k] for k in free)
    reactions = zip((c.name for c in system.constraints), map(float, here.multipliers), strict=True)
    return NonholonomicLinearisation(
        system=system,
        state={name: float(state[name]) for name in system.states if name in state},
        inputs={name: float(values.get(name, given.value)) for name, given in system.inputs.items()},
        independent=(),
        dependent=tuple(q for q in system.coordinates if q in names and q not in independent),
        further=independent,
        A=(by_state @ tangent)[free],
        B=by_input[free],
        Z=np.zeros((len(free), 0)),
        slope=none,
        inertia=none,
        stiffness=none,
        second_order=none,
        names=names,
        tangent=tangent,
        ignorable=surface.ignorable,
        values=values,
        prescribed=tuple(prescribed),
        multipliers=dict(reactions),
        manifold=manifold_at(surface, x),
        geometric=len(here.positions),
    )


def nonholonomic_plant(
    system: System,
    state: Mapping[str, float],
    inputs: Mapping[str, float],
    speeds: Sequence[str],
    parameters: Mapping[str, float] | None = None,
) -> NonholonomicLinearisation:
    """About the motion with this state whose ``speeds`` are given, or about rest where there are none: for a regulator.

    ``parameters`` replace values of the model, so that many values cost no new derivation.
    """
    values = {**system.constants, **(parameters or {}), **inputs}
    ignored = ConstraintSurface(system, values).ignorable if speeds else NOTHING_IGNORED
    moving = complete_speeds(system, state, values) if speeds else dict.fromkeys(system.velocities, 0.0)
    headings = {h.name: 0.0 for h in ignored.headings}
    return nonholonomic_linearisation(system, {**state, **moving, **headings}, values, tuple(speeds), ignored).curved()


def _refuse_change(surface: ConstraintSurface, x: Array, here: InMotion) -> None:
    rates, slope = surface.rates(x, here), surface.slopes(x, here)[0]
    size = 1 + np.abs(slope) @ (1 + np.abs(x))
    moving = [name for name, off in zip(surface.names, np.abs(rates) > STEADY * size, strict=True) if off]
    across = np.concatenate([here.positions, here.speeds])
    wide = np.abs(across) > STEADY * (1 + np.abs(surface.tangent(here)) @ (1 + np.abs(x)))
    if moving or wide.any():
        what = f"{', '.join(moving)} change" if moving else "the constraints do not hold"
        raise ModelError([Problem(f"this is no steady motion: {what}")])


def _dependent(surface: ConstraintSurface, across: Array, geometric: int, prescribed: Sequence[str]) -> list[int]:
    """Columns of the dependent variables: plane velocities first, prescribed ones and those of other coordinates last."""
    names, turned = surface.names, {f"{q}'" for q in surface.ignorable.turned}
    carried = {f"{q}'" for q in surface.ignorable.names}
    k = len(surface.left)
    first = independent_columns(across[:geometric, :k], [list(range(k))])
    if len(first) < geometric:
        raise ModelError([Problem("the geometric constraints depend on each other here")])
    speeds = range(k, k + surface.n)
    lots = [
        [i for i in speeds if names[i] in turned and names[i] not in prescribed],
        [i for i in speeds if names[i] in carried - turned and names[i] not in prescribed],
        [i for i in speeds if names[i] not in carried],
        list(speeds),
    ]
    second = independent_columns(across[geometric:], lots)
    if len(second) < len(across) - geometric:
        raise ModelError([Problem("the constraints depend on each other here: what each carries is not determined")])
    return [*first, *second]
