"""Numbers of the ball and beam (003 = Ilyina, candidate dissertation, MAI, Moscow 2019): matrices, roots, gains, iterations.

Each function takes the variant of the model by name. ``model="lagrange"`` linearises the rod beforehand. Where the author's
program had a slip, a function repeats it, to show that the printed numbers come from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from svyaz import System
from svyaz.arrays import Array
from svyaz.control import controllability, kalman_matrix, lqr, observability
from svyaz.expr import Expression, evaluate
from svyaz.forms import derive, redundancy
from svyaz.stability import (
    ConsistentStart,
    FirstApproximation,
    Refinement,
    Residual,
    consistent_start,
    dogleg,
    equilibria,
    first_approximation,
    levenberg_marquardt,
    with_linearised_constraints,
)
from svyaz_published.numbers import gallery_model

Numbers = tuple[float, ...]

VOLTAGE = {"control": "voltage", "motor": "numbers"}


@cache
def stand(**choices: str) -> System:
    """The model in a variant."""
    return gallery_model("ball-and-beam", choices)


def at_rest(system: System) -> dict[str, float]:
    """The position to be held."""
    return {"alpha": 0.0, **system.initial, "r": system.parameters["r0"], "r'": 0.0}


@cache
def linear(model: str = "shulgin", **choices: str) -> FirstApproximation:
    """The first approximation, true or with the rod linearised beforehand."""
    make = first_approximation if model == "shulgin" else with_linearised_constraints
    system = stand(**choices)
    return make(system, at_rest(system))


def matrices(model: str = "shulgin", **choices: str) -> Numbers:
    """The rows of A below ẋ₁ = x₃, ẋ₂ = x₄, then the same rows of B."""
    found = linear(model, **choices)
    return (*map(float, found.A[2:].ravel()), *map(float, found.B[2:].ravel()))


def open_roots(model: str = "shulgin", **choices: str) -> Numbers:
    """Roots of A by increasing real part; of a pair the real and the positive imaginary part."""
    return told_roots(np.linalg.eigvals(linear(model, **choices).A))


def closed_roots(model: str = "shulgin", **choices: str) -> Numbers:
    """Roots of A - BK, told in the same way."""
    found = linear(model, **choices)
    return told_roots(lqr(found.A, found.B).roots)


def roots_by_the_distance_to_the_centre() -> Numbers:
    """Largest difference of the open roots when the ball is given by s = OC instead of r = OP, at both positions."""
    gaps = []
    for where in ("zero", "nonzero"):
        one, two = (np.array(open_roots(equilibrium=where, coordinate=name)) for name in ("OP", "OC"))
        gaps.append(float(np.abs(one - two).max()))
    return tuple(gaps)


def told_roots(roots: Iterable[complex]) -> Numbers:
    """Real parts in increasing order, each pair once and followed by its imaginary part."""
    told: list[float] = []
    for z in sorted(roots, key=lambda z: (round(float(z.real), 9), float(z.imag))):
        if abs(z.imag) <= 1e-9 * abs(z):
            told.append(float(z.real))
        elif z.imag > 0:
            told += [float(z.real), float(z.imag)]
    return tuple(told)


def control(model: str = "shulgin", **choices: str) -> Numbers:
    """The coefficients of u = -K x."""
    found = linear(model, **choices)
    return tuple(map(float, -lqr(found.A, found.B).gain[0]))


def controllability_matrix(model: str = "shulgin", **choices: str) -> Numbers:
    """[U NU N²U N³U] by rows."""
    found = linear(model, **choices)
    return tuple(map(float, kalman_matrix(found.A, found.B).ravel()))


def controllable(**choices: str) -> Numbers:
    """1 where the pair is controllable, and the rank of the plain Kalman matrix in double precision."""
    found = linear(**choices)
    report = controllability(found.A, found.B)
    return float(report.complete), float(report.naive_rank)


def observable(**choices: str) -> Numbers:
    """1 where the position of the ball suffices as a measurement."""
    return (float(observability(linear(**choices).A, [[1, 0, 0, 0, 0]]).complete),)


def slipped(where: str) -> Array:
    """H^I as the author's program had it: h₄₂ in the third column, and -m g r₀ (∂B/∂α)/B⁴ for k₃I₀ ∂B/∂α = m g r₀ (∂B/∂α)/B."""
    found = linear(**VOLTAGE, equilibrium=where)
    matrix, p = found.A.copy(), found.system.parameters
    ratio, bend = found.slope[0, 1], slope_of_slope("alpha", where)
    weight = p["m"] * p["g"] * p["r0"] * bend
    change = np.linalg.solve(found.inertia, [0.0, -weight / ratio**4 - weight / ratio])
    matrix[2:4, 1] += change
    matrix[3, 1], matrix[3, 2] = 0.0, matrix[3, 1]
    return np.asarray(matrix)


def slipped_rows(equilibrium: str) -> Numbers:
    """Rows 3 and 4 of this matrix."""
    return tuple(map(float, slipped(equilibrium)[2:4].ravel()))


def slipped_open_roots(equilibrium: str) -> Numbers:
    """Its roots."""
    return told_roots(np.linalg.eigvals(slipped(equilibrium)))


def slipped_control(equilibrium: str) -> Numbers:
    """The sizes of the coefficients of u = -K x for it."""
    return tuple(map(float, np.abs(lqr(slipped(equilibrium), linear(**VOLTAGE).B).gain[0])))


def slipped_observability(equilibrium: str) -> Numbers:
    """The observability matrix of the third chapter's model II with B put for 1/B, rows in the order x₁, x₃, x₂, x₄, x₅."""
    p = stand(**VOLTAGE).parameters
    true = float(linear(**VOLTAGE, equilibrium=equilibrium).slope[0, 1])
    ratio, bend = 1.0 / true, slope_of_slope("alpha", equilibrium) / true**3
    m, R, J, J0, g, r0 = (p[name] for name in ("m", "R", "J", "J0", "g", "r0"))
    rolling = m + J / R**2
    inertia = np.array(
        [
            [rolling + m * R**2 / (r0**2 + R**2), -R / ratio * rolling],
            [-R / ratio * rolling, (m * (r0**2 + R**2) + J) / ratio**2 + J0],
        ]
    )
    forces = np.array(
        [
            [0, -m * g / ratio, 0, 0, 0],
            [-m * g / ratio, m * g * (R / ratio**2 + r0 * bend), 0, -p["b0"], p["k3"]],
        ]
    )
    matrix = np.zeros((5, 5))
    matrix[0, 2] = matrix[1, 3] = 1.0
    matrix[2:4] = np.linalg.solve(inertia, forces)
    matrix[4, 3:] = -p["Ka"] / p["La"], -p["Ra"] / p["La"]
    columns = kalman_matrix(matrix.T, np.eye(5)[:, 0])
    return tuple(map(float, columns[[0, 2, 1, 3, 4]].ravel()))


@cache
def rod_slope() -> Expression:
    """B = dθ/dα as an expression."""
    split = redundancy(derive(stand(), "multipliers"), ["theta"])
    return split.matrix[0][split.independent.index("alpha")]


def slope_of_slope(by: str, equilibrium: str) -> float:
    """∂B/∂α or ∂B/∂θ at an equilibrium."""
    system = stand(equilibrium=equilibrium)
    return evaluate(rod_slope().diff(by), {**system.constants, **at_rest(system)})


def second_order_table() -> Numbers:
    """What the two columns of table 3.3 state, less what is computed; the entry with the slip is left out."""
    p = stand().parameters
    L, rod, d = p["L"], p["l"], p["d"]
    ratios = [float(linear(equilibrium=where).slope[0, 1]) for where in ("zero", "nonzero")]
    printed = (L / d, -(L / d) * (rod**2 - d**2) / (rod**2 + d**2))
    zeros = [slope_of_slope("alpha", "zero"), slope_of_slope("theta", "zero"), slope_of_slope("theta", "nonzero")]
    return (*(found - said for found, said in zip(ratios, printed, strict=True)), *zeros)


def positions_of_rest() -> Numbers:
    """How many there are for a given place of the ball, and α, θ of each, θ less (3.1.2)."""
    system = stand()
    found = equilibria(system, {"r": system.parameters["r0"]}, {"theta": (0.0, np.pi)})
    d, rod = system.parameters["d"], system.parameters["l"]
    angles = (0.0, 2 * float(np.arccos(d / np.hypot(rod, d))))
    gaps = [e.state["theta"] - angle for e, angle in zip(found.equilibria, angles, strict=True)]
    return (float(len(found.equilibria)), *(e.state["alpha"] for e in found.equilibria), *gaps)


def reach(sign: float) -> float:
    """The largest inclination of that sign for which the rod can be put in, by halving."""
    system = stand()
    within, beyond = 0.0, 0.3
    while beyond - within > 1e-10:
        middle = 0.5 * (within + beyond)
        start = consistent_start(system, at_rest(system), ["theta"], {"alpha": sign * middle})
        within, beyond = (within, middle) if start.halvings else (middle, beyond)
    return sign * within


def largest_inclination() -> Numbers:
    """The reach upwards, less the printed formula of α_max."""
    return (reach(1.0) - stand().parameters["alpha_max"],)


def what_holds() -> Numbers:
    """ν₀, I₀, e₀ of the search for equilibria at both positions, less (3.3.6) and (3.4.5), relative."""
    errors = []
    for choices in ({}, VOLTAGE):
        system = stand(**choices)
        p = system.parameters
        found = equilibria(system, {"r": p["r0"]}, {"theta": (0.0, np.pi)})
        for e, where in zip(found.equilibria, ("zero", "nonzero"), strict=True):
            torque = p["m"] * p["g"] * p["r0"] / float(linear(equilibrium=where).slope[0, 1])
            if not choices:
                errors.append(e.inputs["nu"] / torque - 1)
                continue
            current = torque / p["k3"]
            errors += [e.state["I"] / current - 1, e.inputs["e"] / (p["Ra"] * current / p["k2"]) - 1]
    return tuple(map(float, errors))


def models_compared() -> Numbers:
    """Largest difference of M_i and H^II_i at the zero position, and the two entries that differ at the other."""
    alpha = {**VOLTAGE, "dependent": "alpha"}
    zero = np.abs(linear("lagrange", **alpha).A - linear(**alpha).A).max()
    gap = linear("lagrange", **alpha, equilibrium="nonzero").A - linear(**alpha, equilibrium="nonzero").A
    places = [tuple(map(int, place)) for place in np.argwhere(np.abs(gap) > 1e-9)]
    return float(zero), float(places == [(2, 1), (3, 1)])


Refine = Callable[[Residual, Array, float], Refinement]


def _start(equilibrium: str, alpha: float, refine: Refine) -> ConsistentStart:
    system = stand(equilibrium=equilibrium)
    return consistent_start(system, at_rest(system), ["theta"], {"alpha": alpha}, refine=refine)


def _from_a_tenth(function: Residual, _: Array, enough: float) -> Refinement:
    """The dogleg from y = 0.1, whatever the slope says."""
    return dogleg(function, np.array([0.1]), enough)


def _squares(start: ConsistentStart, count: int) -> Numbers:
    return tuple(step.residual for step in start.refinement.steps[:count])


def plain_iteration(equilibrium: str) -> Numbers:
    """Tables 1 and 4: F² from y = 0.1, α = 0.1, and the radius after the first step."""
    found = _start(equilibrium, 0.1, _from_a_tenth)
    return (*_squares(found, 4), found.refinement.steps[1].parameter)


def iteration(equilibrium: str) -> Numbers:
    """Tables 2 and 5: F² of the algorithm from y = B(0) x*."""
    zero = equilibrium == "zero"
    return _squares(_start(equilibrium, 0.1 if zero else 0.05, dogleg), 3 if zero else 2)


def damped_iteration(equilibrium: str) -> Numbers:
    """Tables 3 and 6: F² and the lengths of the steps of Levenberg and Marquardt."""
    found = _start(equilibrium, 0.1 if equilibrium == "zero" else 0.05, levenberg_marquardt)
    return (*_squares(found, 6), *(float(step.length or 0.0) for step in found.refinement.steps[1:7]))


def solutions() -> Numbers:
    """y* for θ₁ with α = 0.1 and α = 0.05, and the first guesses."""
    found = [_start("nonzero", alpha, dogleg) for alpha in (0.1, 0.05)]
    return (*(s.deviations["theta"] for s in found), *(s.first_guess["theta"] for s in found))


def counts_of_iterations() -> Numbers:
    """Steps until F² < 1e-24: plain and by the algorithm at zero, by the algorithm at θ₁, damped at both."""
    runs = [_start("zero", 0.1, _from_a_tenth), _start("zero", 0.1, dogleg), _start("nonzero", 0.05, dogleg)]
    runs += [_start("zero", 0.1, levenberg_marquardt), _start("nonzero", 0.05, levenberg_marquardt)]
    return tuple(float(sum(step.residual >= 1e-24 for step in run.refinement.steps)) for run in runs)


def circuit() -> Numbers:
    """The entries of the fifth row at both positions, and the one of S."""
    both = [linear(**VOLTAGE, equilibrium=where) for where in ("zero", "nonzero")]
    rows = [float(x) for found in both for x in found.A[4, 3:]]
    return (*rows, float(both[0].B[4, 0]))


def slow_and_fast_roots() -> Numbers:
    """Of the open roots at the zero position the real part of the fast pair and the slow pair."""
    fast, _, slow, turn, _ = open_roots(**VOLTAGE)
    return fast, slow, turn


def slipped_closed_roots(equilibrium: str) -> Numbers:
    """Roots of the closed loop of the author's matrix."""
    return told_roots(lqr(slipped(equilibrium), linear(**VOLTAGE).B).roots)
