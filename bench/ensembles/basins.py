"""Runs of a basin on one core: stiff closed loops by Radau's method, in lanes and one by one.

The ball on a beam passes limits from some starts and returns from others, its roots lie between -2 and -2000; the rotary
pendulum falls from some starts, and runs that are lost take many steps. Verdicts and states at 41 times are the same bits.
"""

from __future__ import annotations

from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, faster

MODULE = "bench.ensembles.basins"
BASINS = {"ball-and-beam": ({"r": 0.2}, 4_000), "furuta-linkage": ({}, 500)}
BAR = 2.5


def _job(name: str, quick: bool) -> Job:
    return Job(MODULE, ("svyaz", name), 1 if quick else 3, 10.0)


def jobs(quick: bool) -> list[Job]:
    return [_job(name, quick) for name in BASINS]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for name in BASINS:
        lanes, alone = (series(samples, _job(name, quick), key) for key in ("lanes", "alone"))
        bar = BAR if name == "ball-and-beam" else None
        found.append(faster(f"a run of the basin of {name}", lanes, alone, "one by one", bar, note="the same bits"))
    return found


def ours(name: str) -> Answer:
    import svyaz
    from svyaz.control.basin import basin, usual_ranges
    from svyaz.integrate import radau_lanes

    fixed, count = BASINS[name]
    found = svyaz.load(name).regulate(fix=fixed)
    loop, ranges = found.loop(), usual_ranges(found.design.model)
    ways = {"lanes": radau_lanes.radau_in_lanes, "alone": lambda *_: None}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    verdicts = set()
    for _ in range(4):
        for way, run in ways.items():
            radau_lanes.radau_in_lanes = run
            begin = clock()
            answered = basin(loop, ranges, count, workers=1)
            seconds[way].append((clock() - begin) / count)
            verdicts.add(answered.returned.tobytes() + answered.left.tobytes())
    assert len(verdicts) == 1, "the lanes give the verdicts of one alone"
    return {way: min(times) for way, times in seconds.items()}


if __name__ == "__main__":
    answer({"svyaz": ours})
