"""A basin of attraction of the ball and beam: 20 s of the closed loop from each start, rtol 1e-6, against solve_ivp.

Both sides take starts within |r - r0| <= 0.03, |alpha| <= 0.02. The peer is solve_ivp as it is called by most, with its
default method; the roots of the loop are -1701 and about -1, hence stiff methods are reported as well: Radau, which is
ours too, and LSODA, whose loop is compiled. Times are those of the wall, ours on all cores; they are also reported for
one core, as seconds of work.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, faster, within

MODULE = "bench.regulators.basin"
UNTIL, RTOL = 20.0, 1e-6
RANGES = {"r": (-0.03, 0.03), "alpha": (-0.02, 0.02)}
METHODS: dict[str, float | None] = {"RK45": 100.0, "Radau": None, "LSODA": None}
"""Methods of the peer, and how many times faster we are to be."""

WHOLE = 10_000
MINUTE = 60.0


def _ours(quick: bool) -> Job:
    return Job(MODULE, ("svyaz", "500" if quick else str(WHOLE)), 1 if quick else 3, 10.0)


def _peer(method: str, quick: bool) -> Job:
    return Job(MODULE, ("scipy", method, "2" if quick else "10"), 1 if quick else 3, 5.0)


def jobs(quick: bool) -> list[Job]:
    return [_ours(quick), *(_peer(method, quick) for method in METHODS)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    wall, work = (series(samples, _ours(quick), key) for key in ("seconds", "work"))
    found = [within(f"basin of {WHOLE} starts", [WHOLE * t for t in wall], [MINUTE], "a minute", 1)]
    for method, bar in METHODS.items():
        theirs = _peer(method, quick)
        name = f"solve_ivp {method}"
        found.append(faster("a run of the basin, all cores", wall, series(samples, theirs, "seconds"), name, bar))
        found.append(faster("a run of the basin, one core", work, series(samples, theirs, "work"), name, None))
    return found


def regulation() -> Any:
    """The regulator of the model with the printed energy, which is the one that is written out for the peer."""
    from svyaz import gallery, loads

    text = gallery.find("ball-and-beam", {"energy": "dissertation"})
    assert text is not None
    return loads(text, "ball-and-beam").regulate(dependent=["theta"])


def ours(count: str) -> Answer:
    from svyaz.control.basin import basin

    loop = regulation().loop()
    basin(loop, RANGES, 4, UNTIL, rtol=RTOL)  # code is compiled before
    begin, work = perf_counter(), clock()
    found = basin(loop, RANGES, int(count), UNTIL, rtol=RTOL)
    seconds, work = perf_counter() - begin, clock() - work
    assert found.fraction == 1.0, "the starts are chosen so that all return"
    return {"seconds": seconds / int(count), "work": work / int(count)}


def scipy(method: str, count: str) -> Answer:
    import numpy as np
    from bench.regulators.beam import closed_loop
    from scipy.integrate import solve_ivp

    from svyaz.control.basin import consistent_starts

    found = regulation()
    loop, plant = found.loop(), found.plant
    sides = np.array([RANGES[name] for name in ("r", "alpha")])
    deviations = np.random.default_rng(0).uniform(sides[:, 0], sides[:, 1], (int(count), 2))
    starts, _ = consistent_starts(loop, ("r", "alpha"), deviations)
    order = [loop.states.index(name) for name in ("r", "alpha", "theta", "r'", "alpha'")]
    gain = [float(k) for k in found.design.regulator.gain[0]]
    rates = closed_loop(found.system.parameters, gain, plant.state["r"], plant.inputs["nu"])
    begin, work = perf_counter(), clock()
    for start in starts[:, order]:
        run = solve_ivp(rates, (0.0, UNTIL), start, method=method, rtol=RTOL, atol=RTOL * 1e-3)
        assert abs(run.y[0, -1] - plant.state["r"]) < 1e-5
    return {"seconds": (perf_counter() - begin) / int(count), "work": (clock() - work) / int(count)}


if __name__ == "__main__":
    answer({"svyaz": ours, "scipy": scipy})
