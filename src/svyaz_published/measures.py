"""Numbers read off runs of gallery models, and those that need several runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from svyaz.arrays import Array
from svyaz.json_types import Json
from svyaz.motion import Motion, simulate
from svyaz_published.numbers import gallery_model, generator

SLEIGH_HEADING = 5.635748
"""The heading of the sleigh at t = 6, from an independent high-order integration in quasi-velocities."""


def measured(
    model: str,
    choices: Mapping[str, str],
    settings: Mapping[str, float | str],
    run: Mapping[str, Json],
    measure: Sequence[str],
) -> tuple[float | str, ...]:
    """What each measure says of the run: ``status``, ``final x``, ``largest NAME``, ``last NAME``, ``period`` (of the last
    phase that ended) …
    """
    motion = run_of(model, json.dumps([dict(choices), dict(settings), dict(run)]))
    return tuple(_read(motion, *word.split(" ", 1)) for word in measure)


@cache
def run_of(model: str, how: str) -> Motion:
    choices, settings, run = json.loads(how)
    return simulate(gallery_model(model, choices, settings), force=True, **{"stabilize": "off", **run})


def _read(motion: Motion, what: str, name: str = "") -> float | str:
    if what == "status":
        return motion.status
    if not motion.finished:
        return float("nan")
    if what == "period":
        return motion.phases[-1].t - motion.phases[-2].t
    if what == "final":
        return float(motion.column(name)[-1])
    if what == "largest":
        return float(np.abs(motion.residuals[name]).max())
    if what == "last":
        return float(abs(motion.residuals[name][-1]))
    if what == "middle":
        return float(np.abs(motion.residuals[name][motion.times >= motion.times[-1] / 2]).max())
    assert what in ("least", "most"), f"there is no measure '{what}'"
    return float(motion.column(name).min() if what == "least" else motion.column(name).max())


def _sleigh(gain: float, step: float) -> Motion:
    return run_of("sleigh", json.dumps([{}, {}, {"method": "euler", "step": step, "until": 6, "stabilize": -gain}]))


def _limit(stable: float, unstable: float, step: float) -> float:
    """The gain k of ḟ = k f between a run that ends and one that does not, by halving to a part in 200."""
    while abs(unstable - stable) > abs(stable) / 200:
        middle = (stable + unstable) / 2
        stable, unstable = (middle, unstable) if _sleigh(middle, step).finished else (stable, middle)
    return (stable + unstable) / 2


def sleigh_upper_limit() -> tuple[float]:
    """The smallest k > 0 with which Euler's method with the step 0.001 does not come through six seconds."""
    return (_limit(1.0, 3.0, 0.001),)


def sleigh_lower_limit() -> tuple[float]:
    """The largest k < 0 with which it does not, with the step 2/1300."""
    return (_limit(-1000.0, -1600.0, 2 / 1300),)


def sleigh_limit_times_step() -> tuple[float]:
    """The same limit times the step, for the step 0.001: -2 by the linear theory of Euler's method."""
    return (_limit(-1500.0, -2500.0, 0.001) * 0.001,)


def sleigh_best_gain() -> tuple[float]:
    """The gain with the least error of the heading at t = 6, with the step 0.001."""
    gains = [0, -1, -2, -3, -5, -8, -12, -20, -30, -46, -60, -100, -300, -1000]
    errors = [abs(_sleigh(k, 0.001).column("phi")[-1] - SLEIGH_HEADING) for k in gains]
    return (float(gains[int(np.argmin(errors))]),)


def sleigh_heading_errors() -> tuple[float, ...]:
    """Heading at t = 6 less the accurate one, for k = 0, -10, -46, -1000 and the step 0.001."""
    return tuple(float(_sleigh(k, 0.001).column("phi")[-1] - SLEIGH_HEADING) for k in (0, -10, -46, -1000))


def sleigh_deviations_after_one_second() -> tuple[float, ...]:
    """|f(1)| from f(0) = 0.1 for k = 0, -10, -46 by Euler's method with the step 0.001."""
    start = {"initial.x'": "-0.1*sin(pi/3)", "initial.y'": "0.1*cos(pi/3)"}
    run = {"method": "euler", "step": 0.001, "until": 1}
    runs = [json.dumps([{}, start, {**run, "stabilize": gain}]) for gain in ("off", 10, 46)]
    return tuple(float(abs(run_of("sleigh", how).residuals["blade"][-1])) for how in runs)


def _cart(gain: float, step: float, until: float) -> Motion:
    return run_of("inverse-cart", json.dumps([{}, {"gain": gain}, {"step": step, "until": until}]))


def _field_deviations(motion: Motion) -> Array:
    """h = q̇ - v(q) at the nodes from which a step is made, as the listing gathers them."""
    phi = motion.column("phi")
    h = [motion.column("vx") - np.cos(phi), motion.column("vy") - np.sin(phi), motion.column("vphi") - 1]
    return np.array(h)[:, :-1]


def _cart_numbers(gain: float, step: float, until: float) -> tuple[float, ...]:
    """√(max(h1)² + max(h2)² + max(h3)²) as the listing prints it, the largest and the last √(h1² + h2² + h3²)."""
    h = _field_deviations(_cart(gain, step, until))
    sizes = np.sqrt((h**2).sum(axis=0))
    return float(np.sqrt((h.max(axis=1) ** 2).sum())), float(sizes.max()), float(sizes[-1])


def cart_by_the_listing() -> tuple[float, ...]:
    """With the values of the listing: step 0.001, T = 15."""
    return _cart_numbers(1.0, 0.001, 15.0)


def cart_by_the_listing_without_gains() -> tuple[float, ...]:
    """The same with all gains zero."""
    return _cart_numbers(0.0, 0.001, 15.0)


def cart_by_the_text() -> tuple[float, ...]:
    """With the values of the text: step 0.01, T = 10."""
    return _cart_numbers(1.0, 0.01, 10.0)


def cart_by_the_text_without_gains() -> tuple[float, ...]:
    """The same with all gains zero."""
    return _cart_numbers(0.0, 0.01, 10.0)


def cart_on_its_circle() -> tuple[float]:
    """Largest distance of (x, y, φ) from (sin t, -cos t, t) with the values of the listing."""
    motion = _cart(1.0, 0.001, 15.0)
    t = motion.times
    exact = np.array([np.sin(t), -np.cos(t), t])
    found = np.array([motion.column(name) for name in ("x", "y", "phi")])
    return (float(np.abs(found - exact).max()),)


def cart_with_strong_gains() -> tuple[float, ...]:
    """Largest deviation in ten seconds with the gains times 95 and times 100, step 0.001: the linear limit is 97.5."""
    return tuple(_cart_numbers(scale, 0.001, 10.0)[1] for scale in (95.0, 100.0))


def ball_rate() -> tuple[float]:
    """The rate with which the velocity of the centre turns, over the whole run."""
    motion = run_of("ball-on-plane", json.dumps([{}, {}, {"method": "dop853", "rtol": 1e-11}]))
    angle = np.unwrap(np.arctan2(motion.column("y'"), motion.column("x'")))
    return (float((angle[-1] - angle[0]) / motion.times[-1]),)


def lawden_free() -> tuple[float, ...]:
    """√(g̃1² + g̃2²) at t = 0, 1, 3, 5 without stabilisation, and the constants C1, C2."""
    system = gallery_model("lawden")
    motion = simulate(system, method="dop853", rtol=1e-11, until=5, every=1, stabilize="off")
    n = system.constants
    size = np.hypot(motion.integrals["g1"] - n["C1"], motion.integrals["g2"] - n["C2"])
    return (*(float(size[k]) for k in (0, 1, 3, 5)), n["C1"], n["C2"])


def _held_deviations(eps: float, times: Sequence[int]) -> list[float]:
    """√(g̃1² + g̃2²) of Lawden's problem at whole seconds, integrals held by brackets with k1 = 1, k2 = 1000."""
    run = {"method": "rk4", "step": 1e-4, "until": 5, "every": 1, "hold": "bracket", "stabilize": "auto"}
    motion = run_of("lawden", json.dumps([{}, {"eps": eps}, run]))
    n = motion.system.constants
    size = np.hypot(motion.integrals["g1"] - n["C1"], motion.integrals["g2"] - n["C2"])
    return [float(size[k]) for k in times]


def lawden_held() -> tuple[float, ...]:
    """At t = 0, 1, 3, 5 for eps = 0.01."""
    return tuple(_held_deviations(0.01, (0, 1, 3, 5)))


def lawden_held_for_several_starts() -> tuple[float, ...]:
    """The deviation at t = 5 as a part of that at t = 0 for eps = 0.001, 0.01, 0.1; e^{-5} = 6.7e-3 in the slow mode."""
    ends = [_held_deviations(eps, (0, 5)) for eps in (0.001, 0.01, 0.1)]
    return tuple(last / first for first, last in ends)


def pendulum_kinetic_energy() -> tuple[float]:
    """Formula (2) of the paper, K(n), less the kinetic energy of the model for five links, at a random state."""
    from svyaz.expr import evaluate

    system = gallery_model("sling")
    u, w = generator().uniform(-1, 1, (2, 5))
    lengths, masses = np.array([1, 1, 3, 1, 1.0]), np.array([1, 10, 10, 1, 1.0])
    printed = sum(
        masses[k] / 2 * ((lengths * np.cos(u) * w)[: k + 1].sum() ** 2 + (lengths * np.sin(u) * w)[: k + 1].sum() ** 2)
        for k in range(5)
    )
    state = {f"u{k + 1}": u[k] for k in range(5)} | {f"u{k + 1}'": w[k] for k in range(5)}
    return (float(evaluate(system.kinetic, {**system.constants, **state}) - printed),)
