"""Derivation and native code, without anything kept on disk: against LagrangesMethod and lambdify(cse=True).

The clock starts at the loaded system, libraries imported and nothing compiled, and stops when the address of the
right-hand side is there; the pivoted solver and the start of LLVM are in it.
"""

from __future__ import annotations

import os
import resource
import tempfile

from bench.spine import native, pendulum, sympy_peer
from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, faster, within

MODULE = "bench.spine.native_code"
LARGEST_MEMORY = 1000.0
SIZES = (10, 20, 40)


def ours(links: int, quick: bool) -> Job:
    return Job(MODULE, ("svyaz", str(links)), 2 if quick else 5, 1.5 + 0.1 * links)


def jobs(quick: bool) -> list[Job]:
    return [*(ours(links, quick) for links in SIZES), sympy_peer.whole_job(10, quick)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    peer = sympy_peer.whole_job(10, quick)
    derive, code = series(samples, peer, "derive"), series(samples, peer, "code")
    total = {links: series(samples, ours(links, quick), "total") for links in SIZES}
    memory = series(samples, ours(40, quick), "megabytes")
    both = [a + b for a, b in zip(derive, code, strict=True)]
    return [
        faster("derivation and native code, N = 10", total[10], both, "LagrangesMethod + lambdify", 50),
        faster("derivation and native code, N = 40", total[40], derive, "LagrangesMethod, N = 10", 3),
        within("memory at its peak, N = 40", memory, [LARGEST_MEMORY], "1 GB", 1, unit="MB"),
        within("growth from N = 20 to N = 40", total[40], total[20], "ours, N = 20", None),
    ]


def svyaz_job(links: str) -> Answer:
    import llvmlite.binding

    from svyaz import loads
    from svyaz.forms import derive
    from svyaz.program import compile_program

    assert llvmlite.binding
    system = loads(pendulum.our_text(int(links)), "pendulum")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SVYAZ_CACHE"] = folder
        begin = clock()
        equations = derive(system)
        derived = clock()
        program = native.program_of(equations)
        built = clock()
        compile_program(program)
        end = clock()
    return {
        "derive": derived - begin,
        "program": built - derived,
        "compile": end - built,
        "total": end - begin,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    answer({"svyaz": svyaz_job})
