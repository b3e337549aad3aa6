"""What the program of the measure holds: the tables of a snapshot, and the parameters by which laws enter it."""

from __future__ import annotations

import symengine as se

from svyaz.dynamics.scales import magnitude, magnitudes
from svyaz.expr import ONE, ZERO, Expression, add_up
from svyaz.forms import Deviation, Equations
from svyaz.program import Table


def own_gains(equations: Equations) -> tuple[tuple[str, ...], list[Expression]]:
    """Gains of each constraint for itself, and what they add to the constraint rows: A h + B ḣ for positions, E f; and what
    other laws add.
    """
    gains: list[str] = []
    rows: list[Expression] = []
    for number, (place, d) in enumerate(numbered(equations)):
        terms = [("E", d.velocity)] if d.position is None else [("A", d.position), ("B", d.velocity)]
        named = {gain_name(block, place, place): value for block, value in terms} | {added_name(number): ONE}
        gains += named
        rows.append(add_up([se.Symbol(name) * value for name, value in named.items()]))
    return tuple(gains), rows


def numbered(equations: Equations) -> list[tuple[int, Deviation]]:
    """Each deviation with its number among those of its level."""
    counts = {True: 0, False: 0}
    found = []
    for d in equations.deviations:
        level = d.position is None
        found.append((counts[level], d))
        counts[level] += 1
    return found


def gain_name(block: str, row: int, column: int) -> str:
    """The parameter for one entry of a block (A … F) of the perturbation equation."""
    return f"gain {block} {row} {column}"


def added_name(number: int) -> str:
    """The parameter for all that a law adds to the row of a constraint."""
    return f"added {number}"


def snapshot_tables(equations: Equations) -> dict[str, Table]:
    places, speeds, entries = _term_sizes(equations)
    return {
        "mass": equations.mass_matrix,
        "bias": equations.bias,
        "jacobian": equations.constraint_jacobian,
        "jacobian_terms": entries,
        **({"reactions": equations.reactions} if not equations.ideal else {}),
        "constraint_bias": equations.constraint_bias,
        "position": [ZERO if d.position is None else d.position for d in equations.deviations],
        "velocity": [d.velocity for d in equations.deviations],
        "position_terms": places,
        "velocity_terms": speeds,
    }


def _term_sizes(equations: Equations) -> tuple[list[Expression], list[Expression], list[list[Expression]]]:
    """Sums of the magnitudes of terms, which may vanish at rest: of residuals in position and in velocity, of entries of G."""
    acting, rows = [d.constraint for d in equations.deviations], equations.constraint_jacobian
    if equations.system.bodies and equations.origin is None:
        from svyaz.forms import written_sizes

        known = written_sizes(equations.system, acting, magnitude)
        if known is not None:
            return [ZERO if p is None else p for p in known.positions], known.rates, known.jacobian
    entries = [entry for row in rows for entry in row if entry is not ZERO]
    places = [ZERO if d.position is None else d.position for d in equations.deviations]
    sizes = iter(magnitudes([*entries, *places, *(d.velocity for d in equations.deviations)]))
    found = [[ZERO if entry is ZERO else next(sizes) for entry in row] for row in rows]
    return [next(sizes) for _ in places], list(sizes), found
