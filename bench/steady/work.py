"""Branches of the governor with the stability of each motion, linearisations of the bicycle, and how the cost grows."""

from __future__ import annotations

from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, within

MODULE = "bench.steady.work"
SIZES = (5, 10, 20, 40)
CUBE = 8.0


def _branch(quick: bool) -> Job:
    return Job(MODULE, ("branch",), 1 if quick else 5, 5.0)


def _bicycle(quick: bool) -> Job:
    return Job(MODULE, ("bicycle",), 1 if quick else 5, 5.0)


def _chain(count: int, quick: bool) -> Job:
    return Job(MODULE, ("chain", str(count)), 1 if quick else 3, 20.0)


def jobs(quick: bool) -> list[Job]:
    return [_branch(quick), _bicycle(quick), *(_chain(n, quick) for n in SIZES)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    branch, once = series(samples, _branch(quick), "seconds"), series(samples, _bicycle(quick), "seconds")
    costs = {n: series(samples, _chain(n, quick), "seconds") for n in SIZES}
    return [
        within("500 steady motions of the governor with stability", branch, [5.0], "5 s", 1),
        within("a linearisation of the bicycle, derived before", once, [0.05], "50 ms", 1),
        *(
            within(f"linearisation, {2 * n} links on a turning shaft", costs[2 * n], costs[n], f"{n} links", CUBE)
            for n in SIZES[:-1]
        ),
    ]


def branch() -> Answer:
    """CPU seconds of 500 motions, at the cost of each of a branch along the speed."""
    from svyaz import load
    from svyaz.stability import steady_branches

    system = load("watt-governor")
    begin = clock()
    found = steady_branches(system, "theta'", (7.05, 40.0))
    return {"seconds": (clock() - begin) * 500 / len(found.members), "motions": len(found.members)}


def bicycle() -> Answer:
    from svyaz import load
    from svyaz.stability import nonholonomic_linearisation

    system = load("bicycle")
    state = {"th": system.constants["lam"]}
    nonholonomic_linearisation(system, state, system.constants)
    begin = clock()
    for k in range(10):
        nonholonomic_linearisation(system, state, {**system.constants, "v": 4 + 0.1 * k})
    return {"seconds": (clock() - begin) / 10}


def chain(count: str) -> Answer:
    """A pendulum of so many links hangs from a shaft that turns: its first approximation, derived and compiled before."""
    from svyaz import System
    from svyaz.forms import at_momenta, pseudo_cyclic
    from svyaz.stability import first_approximation

    n = int(count)
    places = [" + ".join(f"sin(q{j})" for j in range(k + 1)) for k in range(n)]
    heights = [" - ".join(["0", *(f"cos(q{j})" for j in range(k + 1))]) for k in range(n)]
    slides = [" + ".join(f"cos(q{j})*q{j}'" for j in range(k + 1)) for k in range(n)]
    falls = [" + ".join(f"sin(q{j})*q{j}'" for j in range(k + 1)) for k in range(n)]
    kinetic = " + ".join(
        f"m/2*(({s})^2 + ({f})^2 + ({x})^2*psi'^2)" for s, f, x in zip(slides, falls, places, strict=True)
    )
    system = System(
        coordinates=["psi", *(f"q{k}" for k in range(n))],
        kinetic=f"J/2*psi'^2 + {kinetic}",
        potential=f"m*g*({' + '.join(f'({h})' for h in heights)})",
        parameters={"m": 1.0, "g": 9.81, "J": 2.0},
    )
    routhian = at_momenta(system, pseudo_cyclic(system)).system
    state = dict.fromkeys(routhian.coordinates, 0.0)
    first_approximation(routhian, state, {}, None, {"p_psi": 1.0})
    begin = clock()
    for k in range(3):
        first_approximation(routhian, state, {}, None, {"p_psi": 1.0 + k})
    return {"seconds": (clock() - begin) / 3}


if __name__ == "__main__":
    answer({"branch": branch, "bicycle": bicycle, "chain": chain})
