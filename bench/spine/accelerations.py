"""Accelerations of ten links: native code in a native loop against lambdify(cse=True) and numpy.linalg.solve.

Beside it, what the processor can do at best: independent scalar fused multiply-adds, two operations each.
"""

from __future__ import annotations

import ctypes

from bench.spine import native, pendulum, sympy_peer
from bench.tools.jobs import Answer, Job, Samples, answer, clock, median, series
from bench.tools.rows import Row, faster, within

MODULE = "bench.spine.accelerations"
COUNT = 20_000
PASSES = 15
CHAINS = 16
ROUNDS = 4_000_000


def ours(links: int, quick: bool) -> Job:
    return Job(MODULE, ("svyaz", str(links)), 2 if quick else 5, 2.5)


def jobs(quick: bool) -> list[Job]:
    return [ours(10, quick), sympy_peer.whole_job(10, quick)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    own = ours(10, quick)
    seconds, count = series(samples, own, "evaluation"), series(samples, own, "operations")
    rate = [n / (1e9 * s) for n, s in zip(count, seconds, strict=True)]
    theirs = series(samples, sympy_peer.whole_job(10, quick), "evaluation")
    note = f"{median(count):.0f} operations and {median(series(samples, own, 'sines')):.0f} sines and cosines"
    return [
        faster("accelerations, N = 10", seconds, theirs, "lambdify + solve", 60),
        within("arithmetic, N = 10", rate, series(samples, own, "peak"), "scalar peak", None, unit="/ns", note=note),
    ]


def svyaz_job(links: str) -> Answer:
    from svyaz.program.counts import operations

    code, constants = native.right_hand_side(int(links))
    states = pendulum.random_states(int(links), COUNT)
    code.evaluate(states, constants)
    best = min(_seconds(lambda: code.evaluate(states, constants)) for _ in range(PASSES))
    counts = operations(code.program)
    return {
        "evaluation": best / COUNT,
        "operations": counts["add"] + counts["mul"] + counts["div"] + counts["angle_sum"],
        "sines": counts["trig"],
        "peak": scalar_peak(),
    }


def _seconds(work: object) -> float:
    assert callable(work)
    begin = clock()
    work()
    return clock() - begin


def scalar_peak() -> float:
    """Operations per nanosecond of a loop of independent fused multiply-adds of single doubles."""
    from svyaz.program import engine

    loaded = engine.load_code(engine.object_code(peak_text(CHAINS)))
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(loaded.get_function_address("chains"))
    function(ROUNDS // 10)
    best = min(_seconds(lambda: function(ROUNDS)) for _ in range(5))
    return 2 * CHAINS * ROUNDS / best / 1e9


def peak_text(chains: int) -> str:
    """LLVM text: x_k ← x_k · a + b, a, b near 1 and 0, for each k in turn, so that none waits for another."""
    names = range(chains)
    heads = [f"  %x{k} = phi double [ {1 + k}.0, %entry ], [ %y{k}, %loop ]" for k in names]
    steps = [f"  %y{k} = call double @llvm.fma.f64(double %x{k}, double %a, double %b)" for k in names]
    sums = [f"  %s{k} = fadd double {f'%s{k - 1}' if k else '0.0'}, %y{k}" for k in names]
    return "\n".join(
        [
            "declare double @llvm.fma.f64(double, double, double)",
            "define double @chains(i64 %n) nounwind {",
            "entry:",
            "  %a = uitofp i64 1 to double",
            "  %b = uitofp i64 0 to double",
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]",
            *heads,
            *steps,
            "  %i.next = add i64 %i, 1",
            "  %more = icmp slt i64 %i.next, %n",
            "  br i1 %more, label %loop, label %done",
            "done:",
            *sums,
            f"  ret double %s{chains - 1}",
            "}",
            "",
        ]
    )


if __name__ == "__main__":
    answer({"svyaz": svyaz_job})
