"""M and bias as expressions, ready to print: derive(system) against LagrangesMethod, both from given energies.

Libraries are loaded and both derivations have been run on two links before the clock starts. The time with reading
and checking the model file is reported beside.
"""

from __future__ import annotations

from bench.spine import pendulum, sympy_peer
from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, faster

MODULE = "bench.spine.derivation"


def ours(links: int, quick: bool) -> Job:
    return Job(MODULE, ("svyaz", str(links)), 3 if quick else 9, 1.2)


def jobs(quick: bool) -> list[Job]:
    wanted = [ours(10, quick), sympy_peer.whole_job(10, quick)]
    return wanted if quick else [*wanted, ours(15, quick), sympy_peer.derivation_job(15, quick)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = _pair(samples, ours(10, quick), sympy_peer.whole_job(10, quick), "N = 10", 300)
    if not quick:
        found += _pair(samples, ours(15, quick), sympy_peer.derivation_job(15, quick), "N = 15", 700)
    return found


def _pair(samples: Samples, own: Job, peer: Job, size: str, bar: float) -> list[Row]:
    load, derive = series(samples, own, "load"), series(samples, own, "derive")
    theirs = series(samples, peer, "derive")
    both = [a + b for a, b in zip(load, derive, strict=True)]
    return [
        faster(f"derivation, {size}", derive, theirs, "LagrangesMethod", bar),
        faster(f"the same from the text, {size}", both, theirs, "LagrangesMethod", None),
    ]


def svyaz_job(links: str) -> Answer:
    from svyaz import loads
    from svyaz.forms import derive

    derive(loads(pendulum.our_text(2), "warm"))
    text = pendulum.our_text(int(links))
    begin = clock()
    system = loads(text, "pendulum")
    loaded = clock()
    derive(system)
    return {"load": loaded - begin, "derive": clock() - loaded}


if __name__ == "__main__":
    answer({"svyaz": svyaz_job})
