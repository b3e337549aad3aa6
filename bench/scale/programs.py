"""Programs of N operations to native code at a first start, N up to 100 000: how the time grows, and memory.

The operations are sums, differences and products of earlier values, most of them recent; a twentieth of them are outputs.
Optimised code is for programs of runs while they are short (see ``svyaz.program.llvm_text``), code without optimisation for
the rest.
"""

from __future__ import annotations

import os
import random
import resource
import tempfile
from typing import TYPE_CHECKING

from bench.scale.points import growth
from bench.tools.jobs import Answer, Job, Samples, answer, clock, median, series
from bench.tools.rows import Row, within

if TYPE_CHECKING:
    from svyaz.program import Program

MODULE = "bench.scale.programs"
SIZES = {"optimised": (500, 1000, 2000, 4000), "quick": (1000, 3000, 10_000, 30_000, 100_000)}
GROWTH = 1.1
"""The largest exponent."""
INPUTS, FAR, NEAR, OUTPUTS = 40, 0.2, 30.0, 20
"""Inputs; how many operands are taken from anywhere, how far back others stand on average; operations for one output."""


def job(how: str, count: int, quick: bool) -> Job:
    return Job(MODULE, (how, str(count)), 1 if quick else 3, 1 + 2e-5 * count)


def jobs(quick: bool) -> list[Job]:
    return [job(how, n, quick) for how, sizes in SIZES.items() for n in sizes]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = [
        growth(
            f"operations to {how} code, exponent", samples, {n: job(how, n, quick) for n in sizes}, "seconds", GROWTH
        )
        for how, sizes in SIZES.items()
    ]
    largest = job("quick", SIZES["quick"][-1], quick)
    bytes_each = [1e6 * megabytes / SIZES["quick"][-1] for megabytes in series(samples, largest, "megabytes")]
    note = f"{median(series(samples, largest, 'megabytes')):.0f} MB in all"
    found.append(
        within("memory for an operation of 100 000", bytes_each, [10_000.0], "10 kB", None, unit="B", note=note)
    )
    return found


def program(count: int) -> Program:
    """Operations in the order of evaluation, always the same ones."""
    from svyaz.program import Program

    chosen = random.Random(count)
    nodes: list[tuple] = [("input", k) for k in range(INPUTS)]
    for _ in range(count):
        last = len(nodes) - 1
        places = [
            chosen.randrange(last + 1) if chosen.random() < FAR else max(0, last - int(chosen.expovariate(1.0 / NEAR)))
            for _ in range(2)
        ]
        nodes.append((chosen.choice(("add", "sub", "mul", "mul")), *places))
    outputs = tuple((f"y{k}", len(nodes) - 1 - k) for k in range(0, count, OUTPUTS))
    return Program((), tuple(f"x{k}" for k in range(INPUTS)), tuple(nodes), outputs)


def compiled(how: str, count: str) -> Answer:
    from svyaz.program import compile_program

    with tempfile.TemporaryDirectory() as folder:
        os.environ["SVYAZ_CACHE"] = folder
        compile_program(program(INPUTS))
        asked, before = program(int(count)), _megabytes()
        begin = clock()
        compile_program(asked, longest=len(asked.nodes), seldom=how == "quick")
        return {"seconds": clock() - begin, "megabytes": _megabytes() - before}


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    answer({how: lambda count, how=how: compiled(how, count) for how in SIZES})
