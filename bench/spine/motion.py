"""Motion of ten links: native loops against the same rk4 in NumPy, and against solve_ivp around our own native code.

Methods are compared one by one at the same tolerances, rtol = atol = 1e-9; both sides store every step. The accuracy
reached is the distance from a solution with rtol = 1e-13 by SciPy at t = 1, before the chaotic motion has magnified it.
"""

from __future__ import annotations

import numpy as np
from bench.spine import native, pendulum, sympy_peer
from bench.spine.pendulum import Floats
from bench.tools.jobs import Answer, Job, Samples, answer, clock, median, series
from bench.tools.rows import Row, faster

MODULE = "bench.spine.motion"
RTOL = 1e-9
PASSES = 5
PAIRS = {"dopri5": "RK45", "dop853": "DOP853"}
EARLY = 1.0


def ours(quick: bool) -> Job:
    return Job(MODULE, ("rk4", "10", "1" if quick else "10"), 2 if quick else 5, 2.0)


def adaptive(method: str, quick: bool) -> Job:
    return Job(MODULE, ("adaptive", "10", method, "1" if quick else "10"), 1 if quick else 3, 4.0)


def jobs(quick: bool) -> list[Job]:
    return [ours(quick), sympy_peer.whole_job(10, quick), *(adaptive(method, quick) for method in PAIRS)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    until = 1 if quick else 10
    steps = round(until / sympy_peer.STEP)
    theirs = [steps * s for s in series(samples, sympy_peer.whole_job(10, quick), "rk4")]
    own = [steps * s for s in series(samples, ours(quick), "step")]
    found = [faster(f"{until} s by rk4, h = 1e-3, N = 10", own, theirs, "NumPy around lambdify", 100)]
    for method, peer in PAIRS.items():
        job = adaptive(method, quick)
        error, peer_error = (median(series(samples, job, key)) for key in ("error", "peer_error"))
        evaluations, peer_evaluations = (
            median(series(samples, job, key)) for key in ("evaluations", "peer_evaluations")
        )
        note = (
            f"error {error:.1e} against {peer_error:.1e} of the peer's, "
            f"{evaluations:.0f} evaluations against {peer_evaluations:.0f}"
        )
        found.append(
            faster(
                f"{until} s by {method}, rtol 1e-9, N = 10",
                series(samples, job, "seconds"),
                series(samples, job, "peer_seconds"),
                f"solve_ivp {peer}, native rates",
                5,
                note=note,
            )
        )
    return found


def rk4_job(links: str, until: str) -> Answer:
    from svyaz.integrate import Flow, solve

    code, constants = native.right_hand_side(int(links))
    flow = Flow(code.address, constants, 2 * int(links), code)
    start, end = pendulum.initial_state(int(links)), float(until)
    solve(flow, start, (0.0, 0.01), method="rk4", step=sympy_peer.STEP)
    times = []
    for _ in range(PASSES):
        begin = clock()
        path = solve(flow, start, (0.0, end), method="rk4", step=sympy_peer.STEP)
        times.append(clock() - begin)
    return {"step": median(times) / path.steps}


def adaptive_job(links: str, method: str, until: str) -> Answer:
    from scipy.integrate import solve_ivp

    from svyaz.integrate import Flow, solve

    code, constants = native.right_hand_side(int(links))
    flow = Flow(code.address, constants, 2 * int(links), code)
    rates = native.python_function(code, constants)
    start, peer = pendulum.initial_state(int(links)), PAIRS[method]

    def by_us(end: float) -> tuple[Floats, int]:
        path = solve(flow, start, (0.0, end), method=method, rtol=RTOL, atol=RTOL)
        return path.states[-1], path.evaluations

    def by_scipy(end: float) -> tuple[Floats, int]:
        found = solve_ivp(rates, (0.0, end), start, method=peer, rtol=RTOL, atol=RTOL)
        return found.y[:, -1], found.nfev

    exact = solve_ivp(rates, (0.0, EARLY), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    error = float(np.abs(by_us(EARLY)[0] - exact).max())
    peer_error = float(np.abs(by_scipy(EARLY)[0] - exact).max())
    times: dict[str, list[float]] = {"us": [], "scipy": []}
    counts = {}
    for _ in range(PASSES):
        for who, run in (("us", by_us), ("scipy", by_scipy)):
            begin = clock()
            counts[who] = run(float(until))[1]
            times[who].append(clock() - begin)
    return {
        "seconds": median(times["us"]),
        "peer_seconds": median(times["scipy"]),
        "error": error,
        "peer_error": peer_error,
        "evaluations": counts["us"],
        "peer_evaluations": counts["scipy"],
    }


if __name__ == "__main__":
    answer({"rk4": rk4_job, "adaptive": adaptive_job})
