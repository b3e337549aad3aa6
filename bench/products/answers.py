"""300 products of mechanisms, each in a process of its own with a budget of CPU: no run without an answer, none that is wrong.

``python -m bench.products.answers run FIRST COUNT`` does some of them, ``… show SEED`` prints one with its verdict.
"""

from __future__ import annotations

import os
import resource
import sys
from pprint import pprint

from bench.products.draws import product
from bench.products.judging import BUDGET, Verdict, judge
from bench.tools.jobs import Answer, Job, Samples, answer, finds, series
from bench.tools.rows import Row

from svyaz import load

MODULE = "bench.products.answers"
PRODUCTS, EACH = 300, 30


def jobs(quick: bool) -> list[Job]:
    count = 12 if quick else PRODUCTS
    each = min(EACH, count)
    return [Job(MODULE, ("run", str(first), str(each)), 1, 2.0 * each) for first in range(0, count, each)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    total = {key: sum(sum(series(samples, job, key)) for job in jobs(quick)) for key in ("answers", "refused", "right")}
    longest = max((x for job in jobs(quick) for x in series(samples, job, "longest")), default=float("nan"))
    wrong = [find for job in jobs(quick) for found in samples.get(job.name, ()) for find in finds(found)]
    count = float(sum(int(job.arguments[2]) for job in jobs(quick)))
    note = f"{total['refused']:.0f} refused as models, the longest took {longest:.1f} s of CPU"
    return [
        Row(
            "products with an answer", total["answers"], count, total["answers"] / count, "runs", "all", 1.0, note=note
        ),
        Row(
            "answers with nothing wrong",
            total["right"],
            count,
            total["right"] / count,
            "runs",
            "all",
            1.0,
            note="; ".join(wrong),
        ),
    ]


def run_job(first: str, count: str) -> Answer:
    """How many products had an answer, how many of them a right one, and what was wrong."""
    found: Answer = {"answers": 0.0, "refused": 0.0, "right": 0.0, "longest": 0.0}
    for method, how in {"rk4": {"step": 0.01}, "dop853": {"rtol": 1e-6}, "radau": {"rtol": 1e-6}}.items():
        load("pendulum:1").simulate(method=method, until=0.1, **how)  # native loops are made once, and not by a child
    for seed in range(int(first), int(first) + int(count)):
        verdict = in_a_child(seed)
        found["answers"] += verdict.outcome not in ("error", "no answer")
        found["refused"] += verdict.outcome == "refused"
        found["right"] += not verdict.wrong
        found["longest"] = max(found["longest"], verdict.seconds)
        found |= {f"seed {seed} ({', '.join(product(seed).pieces)}): {text}": 1.0 for text in verdict.wrong}
        print(seed, verdict.outcome, f"{verdict.seconds:.1f} s", *verdict.wrong, verdict.reason[:120], file=sys.stderr)
    return found


def in_a_child(seed: int) -> Verdict:
    """The verdict of a child that the system ends when its CPU is used up."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        limit = int(BUDGET) + 5
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        verdict = judge(seed)
        with os.fdopen(theirs, "w") as pipe:
            print(repr((verdict.outcome, verdict.wrong, verdict.seconds, verdict.reason)), file=pipe)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    if not text:
        return Verdict("no answer", (f"no answer within {BUDGET + 5:g} s of CPU",), BUDGET + 5)
    from ast import literal_eval

    return Verdict(*literal_eval(text))


def show(seed: str) -> Answer:
    """One product and its verdict."""
    drawn = product(int(seed))
    pprint((drawn.pieces, drawn.options, drawn.words), stream=sys.stderr)
    print(judge(int(seed)), file=sys.stderr)
    return {}


if __name__ == "__main__":
    answer({"run": run_job, "show": show})
