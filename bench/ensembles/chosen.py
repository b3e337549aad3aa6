"""Many double pendulums with steps that the method chooses, on one core: in lanes, one by one, heyoka and diffrax.

Every side has two point masses of 1 kg on rods of 1 m, 10 s, starts in a row, and a tolerance that leaves an energy error of
about 1e-9, which is told. svyaz: dop853 in a sweep that observes the energy after every step. heyoka: Taylor series in batches
of the vector registers, compiled before. diffrax: Dopri8 under vmap and jit, compiled before, in double numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, faster

MODULE = "bench.ensembles.chosen"
MEMBERS, UNTIL, G = 1024, 10.0, 9.81
RTOL = {"svyaz": 1e-9, "heyoka": 1e-7, "diffrax": 1e-9}
BAR = 2.5
STARTS = np.linspace(0.2, 1.2, MEMBERS)
PEERS = {"heyoka": "heyoka, batches", "diffrax": "diffrax, vmap"}


def _job(what: str, quick: bool) -> Job:
    return Job(MODULE, (what,), 1 if quick else 3, 20.0)


def jobs(quick: bool) -> list[Job]:
    return [_job(what, quick) for what in ("svyaz", *PEERS)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    lanes, alone = (series(samples, _job("svyaz", quick), key) for key in ("seconds", "alone"))
    own = max(series(samples, _job("svyaz", quick), "error"), default=float("nan"))
    found = [faster("a run with chosen steps", lanes, alone, "one by one", BAR, note="the same bits")]
    for peer, name in PEERS.items():
        theirs = series(samples, _job(peer, quick), "seconds")
        error = max(series(samples, _job(peer, quick), "error"), default=float("nan"))
        note = f"energy errors {own:.1e}, {error:.1e}"
        found.append(faster("a run with chosen steps", lanes, theirs, name, None, note=note))
    return found


def energy(state: np.ndarray) -> np.ndarray:
    """Of angles and speeds (4, k) from the vertical, by the textbook."""
    a, b, v, w = state
    kinetic = v**2 + 0.5 * w**2 + v * w * np.cos(a - b)
    return kinetic - 2 * G * np.cos(a) - G * np.cos(b)


def _error(first: np.ndarray, last: np.ndarray) -> float:
    return float(np.max(np.abs(energy(last) - energy(first)) / (3 * G)))


def _best(run: Any, times: int = 3) -> float:
    seconds = []
    for _ in range(times):
        begin = clock()
        run()
        seconds.append(clock() - begin)
    return min(seconds) / MEMBERS


def ours() -> Answer:
    import svyaz
    from svyaz.study import native_runs

    system = svyaz.load("pendulum:2").with_(parameters={"g": G}, initial={"u2": 0.5})
    found = {}

    def run(name: str) -> None:
        found[name] = system.sweep(
            {"initial.u1": STARTS}, ["final"], workers=1, method="dop853", rtol=RTOL["svyaz"], until=UNTIL
        )

    in_lanes = native_runs._freely
    run("lanes")
    begin = np.array([STARTS, *(np.full(MEMBERS, system.initial.get(n, 0.0)) for n in ("u2", "u1'", "u2'"))])
    last = np.array([found["lanes"].column(f"final.{name}") for name in ("u1", "u2", "u1'", "u2'")])
    seconds = _best(lambda: run("lanes"))
    native_runs._freely = lambda task, data, stop: None
    alone = _best(lambda: run("alone"))
    native_runs._freely = in_lanes
    same = found["lanes"].column("final.u1").tobytes() == found["alone"].column("final.u1").tobytes()
    assert same, "the lanes give the bits of one alone"
    return {"seconds": seconds, "alone": alone, "error": _error(begin, last)}


def rates(a: Any, b: Any, v: Any, w: Any, sin: Any, cos: Any) -> tuple[Any, Any]:
    """Accelerations of the double pendulum, solved by hand."""
    d = a - b
    below = 3.0 - cos(2.0 * d)
    first = (-3.0 * G * sin(a) - G * sin(a - 2.0 * b) - 2.0 * sin(d) * (w * w + v * v * cos(d))) / below
    second = 2.0 * sin(d) * (2.0 * v * v + 2.0 * G * cos(a) + w * w * cos(d)) / below
    return first, second


def heyoka() -> Answer:
    import heyoka as hy

    names = hy.make_vars("a", "b", "v", "w")
    accelerations = rates(*names, hy.sin, hy.cos)
    width = hy.recommended_simd_size()
    field = list(zip(names, [names[2], names[3], *accelerations], strict=True))
    first = np.zeros((4, MEMBERS))
    first[0], first[1] = STARTS, 0.5
    one = hy.taylor_adaptive_batch(field, np.ascontiguousarray(first[:, :width]), tol=RTOL["heyoka"])
    last = np.zeros_like(first)

    def run() -> None:
        for begin in range(0, MEMBERS, width):
            one.set_time(0.0)
            one.state[:] = first[:, begin : begin + width]
            one.propagate_until(UNTIL)
            last[:, begin : begin + width] = one.state

    seconds = _best(run)
    return {"seconds": seconds, "error": _error(first, last)}


def diffrax() -> Answer:
    import diffrax as dx
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def field(t: Any, y: Any, _: Any) -> Any:
        a, b, v, w = y
        return jnp.stack([v, w, *rates(a, b, v, w, jnp.sin, jnp.cos)])

    control = dx.PIDController(rtol=RTOL["diffrax"], atol=RTOL["diffrax"])

    def single(start: Any) -> Any:
        found = dx.diffeqsolve(
            dx.ODETerm(field), dx.Dopri8(), 0.0, UNTIL, 0.01, start, stepsize_controller=control, max_steps=100_000
        )
        return found.ys[-1]

    first = np.zeros((4, MEMBERS))
    first[0], first[1] = STARTS, 0.5
    together = jax.jit(jax.vmap(single))
    last = np.asarray(together(jnp.asarray(first.T)))
    seconds = _best(lambda: together(jnp.asarray(first.T)).block_until_ready())
    return {"seconds": seconds, "error": _error(first, last.T)}


if __name__ == "__main__":
    answer({"svyaz": ours, "heyoka": heyoka, "diffrax": diffrax})
