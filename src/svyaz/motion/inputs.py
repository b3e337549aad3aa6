"""Laws for the inputs of a system: u(t, x) as an expression, as a table of the time, or as a function of Python.

A law takes the place of its input in the system itself, so that every form, chart and event sees it, and is cut off at the
limits of the input. In energies an input counts as given, not as a function of the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias
from weakref import finalize

import numpy as np
import symengine as se
from numpy.typing import ArrayLike

from svyaz.arguments import check_arguments
from svyaz.arrays import Array
from svyaz.expr import (
    TIME,
    ZERO,
    Expression,
    ModelError,
    Problem,
    Scope,
    add_up,
    differentiate,
    gradient,
    names_in,
    outside,
    parse,
    start_of,
    substitute,
    velocity,
    with_corners,
)
from svyaz.forms import lagrangian
from svyaz.model import Constraint, Drawing, Energies, System, nearest
from svyaz.model import Law as LawOfMotion
from svyaz.program import Outside, function

Law: TypeAlias = str | float | Expression | Callable[[float, Array], float] | Sequence[ArrayLike] | Array
"""A text, a number, an expression, a function u(t, x) of the time and the states in the order of ``system.states``, or a
table: a pair (times, values), or an array with a row for each time, straight lines between them, the ends held."""

Laws: TypeAlias = Mapping[str, Law]


@dataclass(frozen=True)
class Controlled:
    """A system with laws in place of inputs, the laws by name, and the functions of Python among them."""

    system: System
    laws: Mapping[str, Expression]
    functions: tuple[Outside, ...]

    def raise_failure(self) -> None:
        """Raise what a function of Python raised in the course of a run."""
        for called in self.functions:
            if called.failure is not None:
                raise called.failure


@check_arguments
def with_inputs(system: System, laws: Laws) -> System:
    """The system with laws u(t, x) in place of some of its inputs, cut off at their limits.

    An expression may contain the time, the states and the parameters; a function is called with the time and the states in
    the order of ``system.states`` and gives one number.

    >>> import svyaz
    >>> pushed = svyaz.with_inputs(svyaz.load("ball-and-beam"), {"nu": "0.1*sin(2*t)"})
    >>> pushed.inputs
    {}
    """
    return controlled(system, laws).system


def controlled(system: System, laws: Laws) -> Controlled:
    """As ``with_inputs``, with what was made of the laws."""
    for c in (c for c in system.constraints if c.control in laws):
        message = f"the input '{c.control}' keeps the constraint '{c.name}': it is found, and follows no other law"
        raise ModelError([Problem(message, c.place)])
    for name in laws:
        if name not in system.inputs:
            known = f"there are {', '.join(system.inputs)}" if system.inputs else "the model has no [inputs]"
            raise ModelError([Problem(f"there is no input '{name}'; {known}", hint=nearest(name, system.inputs))])
    if not laws:
        return Controlled(system.plain(), {}, ())
    values: dict[str, float] = {}
    functions: list[Outside] = []
    found: dict[str, Expression] = {}
    for name, given in laws.items():
        law = _along_table(name, given) if isinstance(given, np.ndarray | list | tuple) else given
        if callable(law) and not isinstance(law, se.Basic):
            functions.append(_checked(system, name, law))
            values[f"law of {name}"] = float(functions[-1].number)
            states = [se.Symbol(s) for s in system.states]
            found[name] = outside(se.Symbol(f"law of {name}"), [TIME, *states])
        else:
            found[name] = _read(system, name, law)
    found = {name: limited(system, name, law, values) for name, law in found.items()}
    made = under_laws(system, found, values)
    finalize(made, tuple, functions)  # the functions live as long as the system that calls them
    return Controlled(made, found, tuple(functions))


def along(system: System, laws: Mapping[str, Expression], times: Array, states: Array) -> dict[str, Array]:
    """The values of laws along rows of states."""
    return function(laws, ("t", *system.states), system.constants)(np.column_stack([times, states]))


def limited(system: System, name: str, law: Expression, values: dict[str, float]) -> Expression:
    """A law cut off at the limits of its input, which are put among the values."""
    given = system.inputs[name]
    if given.high is not None:
        values[f"most {name}"] = float(given.high)
        law = with_corners(se.Min)(law, se.Symbol(f"most {name}"))
    if given.low is not None:
        values[f"least {name}"] = float(given.low)
        law = with_corners(se.Max)(law, se.Symbol(f"least {name}"))
    return law


def under_laws(system: System, laws: Mapping[str, Expression], values: Mapping[str, float]) -> System:
    """The system with expressions in place of inputs; ``values`` are those of further parameters in them."""
    put = {se.Symbol(name): law for name, law in laws.items()}
    held = {f"held {name}": system.inputs[name].value for name in laws} if _in_energies(system, put) else {}
    return replace(
        system.plain(),
        law=_law_at_rest(system, {u: se.Symbol(f"held {u}") for u in put}),
        parameters={**system.parameters, **held, **values},
        inputs={name: given for name, given in system.inputs.items() if name not in laws},
        forces=_forces(system, put),
        rates={name: substitute(rate, put) for name, rate in system.rates.items()},
        constraints=tuple(_switched(c, put) for c in system.constraints),
        drawings=tuple(_drawn(drawing, put) for drawing in system.drawings),
        outputs={name: substitute(e, put) for name, e in system.outputs.items()},
    )


def _read(system: System, name: str, law: str | float | Expression) -> Expression:
    """A law as an expression of the time, the states and the parameters."""
    if isinstance(law, int | float | np.number) and not isinstance(law, bool):
        return se.RealDouble(float(law))
    rates = {q: velocity(q) for q in system.coordinates if str(velocity(q)) in system.velocities}
    names = ("t", *(s for s in system.states if not s.endswith("'")), *system.parameters)
    if isinstance(law, str):
        scope = Scope(symbols={n: se.Symbol(n) for n in names}, derivatives=rates, forbidden={})
        return parse(law, scope, start_of(law, f"inputs.{name}"))
    if not isinstance(law, se.Basic):
        message = (
            f"the law of the input '{name}' is a text, a number, an expression, a table or a function, not {law!r}"
        )
        raise ModelError([Problem(message)])
    strange = sorted(names_in(law) - {"t", *system.states, *system.parameters})
    if strange:
        message = f"the law of the input '{name}' contains '{strange[0]}', which is neither a state nor a parameter"
        raise ModelError([Problem(message, hint=nearest(strange[0], (*system.states, *system.parameters)))])
    return law


def is_law(system: System, name: str, text: str) -> bool:
    """Is a text for this name a law for an input: an expression in which the time or a state stands?"""
    if name not in system.inputs:
        return False
    try:
        return bool(names_in(_read(system, name, text)) & {"t", *system.states})
    except ModelError:
        return False  # what is wrong with it is told where values are read


def _along_table(name: str, given: Sequence[ArrayLike] | Array) -> Callable[[float, Array], float]:
    """A law of the time alone: straight lines between the rows of a table."""
    try:
        table = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError([Problem(f"the table of the input '{name}' holds what are not numbers: {error}")]) from error
    rows = table.T if isinstance(given, list | tuple) and len(given) == 2 else table
    if rows.ndim != 2 or rows.shape[1] != 2 or len(rows) < 2:
        shape = " by ".join(map(str, rows.shape))
        message = f"the table of the input '{name}' has two columns, times and values, two rows or more; it is {shape}"
        raise ModelError([Problem(message)])
    times, values = rows.T
    if not np.isfinite(rows).all() or not (np.diff(times) > 0).all():
        message = f"the table of the input '{name}' wants finite numbers and times that rise from row to row"
        raise ModelError([Problem(message)])
    return lambda t, _: float(np.interp(t, times, values))


def _checked(system: System, name: str, law: Callable[[float, Array], float]) -> Outside:
    """A function that gives one number at the initial state."""
    value = np.asarray(law(0.0, np.array(system.initial_state())))
    if value.shape != () or value.dtype.kind not in "fiu":
        what = f"an array of the shape {value.shape}" if value.shape else repr(value.item())
        raise ModelError([Problem(f"the law of the input '{name}' gives {what} at the initial state, not one number")])
    return Outside(law)


def _forces(system: System, laws: Mapping[se.Symbol, Expression]) -> dict[str, Expression]:
    """Forces under laws. What inputs in energies do beyond their values at rest is a force too:

    Q = ∂Δ/∂q - Σ ∂²Δ/∂q̇∂q_j q̇_j - ∂²Δ/∂q̇∂t - ∂ΔD/∂q̇,   Δ = L(u) - L(u₀),
    where u counts as given and not as a function of the state.
    """
    forces = {q: substitute(force, laws) for q, force in system.forces.items()}
    if not _in_energies(system, laws):
        return forces
    rest = {u: se.Symbol(f"held {u}") for u in laws}
    whole = lagrangian(system)
    more = whole - substitute(whole, rest)
    lost = system.dissipation - substitute(system.dissipation, rest)
    q, v = [se.Symbol(name) for name in system.coordinates], [velocity(name) for name in system.coordinates]
    for name, x, speed in zip(system.coordinates, q, v, strict=True):
        momentum = differentiate(more, speed)
        carried = add_up(slope * v_j for slope, v_j in zip(gradient(momentum, q), v, strict=True))
        force = differentiate(more, x) - carried - differentiate(momentum, TIME) - differentiate(lost, speed)
        if force != ZERO:
            forces[name] = forces.get(name, ZERO) + substitute(force, laws)
    return forces


def _in_energies(system: System, laws: Mapping[se.Symbol, Expression]) -> bool:
    """Do energies contain these inputs? Those of a tree contain none."""
    if not isinstance(system.law, Energies):
        return False
    return bool({str(u) for u in laws} & (names_in(system.law.lagrangian) | names_in(system.law.dissipation)))


def _law_at_rest(system: System, rest: Mapping[se.Symbol, Expression]) -> LawOfMotion:
    """The law of the system, with inputs that its energies contain held at their values at rest."""
    law = system.law
    if not isinstance(law, Energies) or not _in_energies(system, rest):
        return law
    return replace(
        law,
        lagrangian=substitute(law.lagrangian, rest),
        dissipation=substitute(law.dissipation, rest),
        kinetic=None if law.kinetic is None else substitute(law.kinetic, rest),
        potential=None if law.potential is None else substitute(law.potential, rest),
    )


def _switched(constraint: Constraint, laws: Mapping[se.Symbol, Expression]) -> Constraint:
    """A constraint with the laws in its conditions, anchors and direction."""
    on, off = (None if e is None else substitute(e, laws) for e in (constraint.on, constraint.off))
    anchors = tuple((name, substitute(e, laws)) for name, e in constraint.anchors)
    direction = tuple(substitute(e, laws) for e in constraint.direction)
    return replace(constraint, on=on, off=off, anchors=anchors, direction=direction)


def _drawn(drawing: Drawing, laws: Mapping[se.Symbol, Expression]) -> Drawing:
    points = tuple(tuple(substitute(e, laws) for e in point) for point in drawing.points)
    radius = None if drawing.radius is None else substitute(drawing.radius, laws)
    return replace(drawing, points=points, radius=radius)
