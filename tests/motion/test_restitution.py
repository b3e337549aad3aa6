"""Impacts that give back a part of what they take: closed forms, sequences, accumulating impacts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipk

from svyaz import System, load
from svyaz.expr import ModelError
from svyaz.motion import simulate
from svyaz.show import as_json

G = 9.81


def ball(e: float | str, law: str = "newton", **words) -> System:
    """A ball that is dropped from the height 1 while it drifts along the floor."""
    given = {
        "coordinates": ["x", "y"],
        "kinetic": "m/2*(x'^2 + y'^2)",
        "potential": "m*g*y",
        "parameters": {"m": 2, "g": G, "e": 0.5},
        "constraint": [
            {"name": "floor", "equation": "y = 0", "on": "-y", "off": "-lambda_floor", "impact": law, "restitution": e}
        ],
        "initial": {"y": 1, "x'": 0.3},
    }
    return System(**{**given, **words})


@pytest.mark.parametrize(
    ("law", "e", "words"),
    [("newton", 0.5, {"rtol": 1e-10}), ("poisson", 0.7, {"method": "rk4", "step": 0.02})],
)
def test_K5_a_bouncing_ball_rests_where_the_series_of_its_impacts_ends(law, e, words) -> None:
    """t_k = t₀ (1 + 2 (e + … + e^k)), rest at t₀ (1 + e)/(1 - e); the energy falls by e² at each impact."""
    motion = simulate(ball(e, law), until=3.5, stabilize="projection", **words)
    assert motion.finished, motion.reason
    first, events = np.sqrt(2 / G), as_json(motion)["phases"][1:]
    times = [first * (1 + 2 * sum(e**j for j in range(1, k + 1))) for k in range(len(events) - 1)]
    assert [event["t"] for event in events[:-1]] == pytest.approx(times, abs=1e-11)
    assert events[-1]["t"] == pytest.approx(first * (1 + e) / (1 - e), abs=1e-11)
    assert all(event["impacts"] == ["floor"] for event in events[:-1])
    assert (events[-1]["on"], events[-1]["active"]) == (["floor"], ["floor"])
    fallen = [event["energy_after"] - 0.09 for event in events[:8]]
    assert fallen == pytest.approx([2 * G * e ** (2 * k + 2) for k in range(8)], rel=1e-8)
    assert motion.states[-1] == pytest.approx([1.05, 0, 0.3, 0], abs=1e-9)
    assert motion.column("y").min() > -1e-12
    assert "accumulate" in " ".join(motion.notes)
    balance = motion.balance
    assert balance.totals["impacts"] == pytest.approx(2 * G, rel=1e-9)
    assert abs(balance.remainder).max() < 1e-8


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"restitution": 1.2}, "lies between 0 and 1"),
        ({"restitution": "y"}, "y"),
        ({"impact": "inelastic"}, "belongs to impact"),
        ({"restitution": None}, "needs a 'restitution'"),
        ({"off": "abs(lambda_floor) - 3"}, "not one-sided"),
        ({"on": "-y'"}, "not one-sided"),
    ],
)
def test_K5_a_restitution_needs_a_one_sided_constraint_and_a_law(more, told) -> None:
    table = {"name": "floor", "equation": "y = 0", "on": "-y", "off": "-lambda_floor", "impact": "newton"}
    table = {k: v for k, v in {**table, "restitution": 0.5, **more}.items() if v is not None}
    with pytest.raises(ModelError) as refused:
        ball(0.5, constraint=[table])
    assert told in str(refused.value)


def cradle(e: float = 1.0, law: str = "newton", masses: tuple[float, ...] = (1, 1, 1, 1, 1), **speeds) -> System:
    """Balls of diameter d on a line that touch, and the first of which comes from the left."""
    rows = range(len(masses) - 1)
    pairs = [(f"b{k}", f"x{k + 1} - x{k} - d") for k in rows]
    return System(
        coordinates=[f"x{k}" for k in range(len(masses))],
        kinetic=" + ".join(f"{m}/2*x{k}'^2" for k, m in enumerate(masses)),
        parameters={"d": 0.1},
        constraint=[
            {"name": b, "equation": f"{gap} = 0", "on": f"-({gap})", "off": f"-lambda_{b}"}
            | {"impact": law, "restitution": e}
            for b, gap in pairs
        ],
        initial={f"x{k}": 0.1 * k for k in range(len(masses))} | {"x0": -0.3, "x0'": 1} | speeds,
    )


def in_turn(e: float, masses: tuple[float, ...], speeds: list[float]) -> list[float]:
    """Balls in a row, struck pair after pair until none approach."""
    v = list(speeds)
    while True:
        pairs = [k for k in range(len(v) - 1) if v[k] - v[k + 1] > 1e-12]
        if not pairs:
            return v
        k = pairs[0]
        a, b = masses[k], masses[k + 1]
        push = (1 + e) * a * b / (a + b) * (v[k] - v[k + 1])
        v[k], v[k + 1] = v[k] - push / a, v[k + 1] + push / b


@pytest.mark.parametrize(
    ("e", "masses", "law"),
    [
        (1.0, (1, 1, 1, 1, 1), "newton"),
        (1.0, (1, 1, 1, 1, 1), "poisson"),
        (0.9, (1, 1, 1, 1, 1), "newton"),
        (1.0, (1, 2, 3, 1, 1), "poisson"),
    ],
)
def test_K5_the_cradle_passes_the_speed_from_pair_to_pair(e, masses, law) -> None:
    """The last of five equal balls leaves with the speed of the first; one impact of all would throw the first back."""
    motion = simulate(cradle(e, law, masses), until=0.5, rtol=1e-10)
    assert motion.finished, motion.reason
    assert motion.states[-1, 5:] == pytest.approx(in_turn(e, masses, [1, 0, 0, 0, 0]), abs=1e-9)
    event = as_json(motion)["phases"][1]
    assert event["t"] == pytest.approx(0.3, abs=1e-12)
    assert event["sequence"][:4] == [["b0"], ["b1"], ["b2"], ["b3"]] or e < 1
    assert event["energy_after"] <= event["energy_before"] * (1 + 1e-12)
    together = next(note for note in motion.notes if "one after another" in note)
    if masses == (1, 1, 1, 1, 1) and e == 1.0:  # all contacts at once: v₀ = -0.6, the others 0.4
        assert "x0' = -0.6, x1' = 0.4, x2' = 0.4" in together


def test_K5_two_balls_of_the_cradle_send_two_on() -> None:
    motion = simulate(cradle(**{"x0": -0.3, "x1": -0.2, "x1'": 1}), until=0.5, rtol=1e-10)
    assert motion.states[-1, 5:] == pytest.approx([0, 0, 0, 1, 1], abs=1e-12)


@pytest.mark.parametrize("m", [0.05 * (1 + 0.0005 * k) for k in (6, 8, 49, 191)])
def test_K5_balls_that_hang_side_by_side_do_not_chatter_by_rounding(m) -> None:
    """Whatever their mass: the first and the last swing in turn, T = 4 √(l/g) K(sin²20°) a period, the others hang."""
    motion = simulate(load("newtons-cradle").with_(m=m))
    assert motion.finished, motion.reason
    quarter = (0.3 / 9.81) ** 0.5 * ellipk(np.sin(np.radians(20)) ** 2)
    times = [event.t for event in motion.phases if event.impacts]
    assert times == pytest.approx([quarter * k for k in (1, 3, 5, 7)], abs=1e-8)
    speeds = np.sort(np.abs(motion.states[:, 5:]), axis=1)
    assert speeds[:, :4].max() < 1e-12


def rocking(b: float, h: float, tilt: float) -> System:
    """A block of the breadth 2b and the height 2h with corners that grip the floor, tilted about the left one."""
    constraints = []
    for name, s in (("left", -1), ("right", 1)):
        along, height = (
            f"x + ({s * b})*cos(phi) + {h}*sin(phi)",
            f"y + ({s * b})*sin(phi) - {h}*cos(phi)",
        )
        switch = {"on": f"-({height})", "off": f"-lambda_{name}", "impact": "inelastic", "active": name == "left"}
        constraints += [
            {"name": name, "equation": f"{height} = 0", **switch},
            {"name": f"{name} grip", "equation": f"{along} = {name}_at", "anchor": {f"{name}_at": along}, **switch},
        ]
    return System(
        coordinates=["x", "y", "phi"],
        kinetic=f"(x'^2 + y'^2)/2 + {(b * b + h * h) / 6!r}*phi'^2",
        potential=f"{G}*y",
        constraint=constraints,
        initial={
            "x": b * np.cos(tilt) - h * np.sin(tilt),
            "y": b * np.sin(tilt) + h * np.cos(tilt),
            "phi": tilt,
        },
    )


def landings(b: float, h: float, tilt: float, count: int) -> list[float]:
    """Moments of the landings of G. W. Housner's block (1963), by quadrature: φ' is multiplied by 1 - 3/2 sin²α at each."""
    from scipy.integrate import quad
    from scipy.optimize import brentq

    radius, alpha = np.hypot(b, h), np.arctan2(b, h)
    k, kept = 1.5 * G / radius, 1 - 1.5 * np.sin(alpha) ** 2

    def fall(top: float) -> float:
        """From the angle ``top`` to 0: φ'² = 2k sin(α - (φ + top)/2) sin((top - φ)/2), with φ = top (1 - s²)."""

        def slowness(s: float) -> float:
            phi = top * (1 - s * s)
            square = 2 * k * np.sin(alpha - (phi + top) / 2) * np.sin((top - phi) / 2)
            return 2 * s * top / np.sqrt(square) if s > 1e-9 else 2 * np.sqrt(top / (k * np.sin(alpha - top)))

        return quad(slowness, 0, 1, epsabs=1e-15, epsrel=1e-13)[0]

    times, square = [fall(tilt)], 2 * k * np.sin(alpha - tilt / 2) * np.sin(tilt / 2)
    for _ in range(count):
        square *= kept**2
        high = square / (k * np.sin(alpha)) * 2
        tops = brentq(lambda p, w=square: 2 * k * np.sin(alpha - p / 2) * np.sin(p / 2) - w, 0, high, xtol=1e-300)
        times.append(times[-1] + 2 * fall(tops))
    return times


def test_K5_a_block_rocks_as_Housner_says_and_comes_to_rest() -> None:
    b, h, tilt = 0.3, 0.5, 0.2
    motion = simulate(rocking(b, h, tilt), until=2.0, stabilize="projection", rtol=1e-10)
    assert motion.finished, motion.reason
    expected = landings(b, h, tilt, 60)
    events = motion.phases[1:]
    assert [e.t for e in events[:8]] == pytest.approx(expected[:8], abs=1e-8)
    ratio = 1 - 1.5 * np.sin(np.arctan2(b, h)) ** 2
    assert [np.sqrt(e.kinetic_after / e.kinetic_before) for e in events[:8]] == pytest.approx([ratio] * 8, rel=1e-7)
    assert events[-1].t == pytest.approx(expected[-1], abs=1e-6)
    assert {"left", "right"} <= set(events[-1].active)
    assert motion.states[-1, 3:6] == pytest.approx(np.zeros(3), abs=1e-12)


def test_K5_a_dimer_bounces_on_a_plate_that_shakes() -> None:
    """Two balls on a rod without mass, no friction: flights are parabolas, each impact is that of one ball."""
    e, a, plate, w, k2 = 0.7, 0.01, 0.002, 2 * np.pi * 25, 0.01**2
    heights = {"left": "y - a*sin(phi) - A*sin(w*t)", "right": "y + a*sin(phi) - A*sin(w*t)"}
    switches = {
        n: {"on": f"-({x})", "off": f"-lambda_{n}", "impact": "poisson", "restitution": e} for n, x in heights.items()
    }
    system = System(
        coordinates=["y", "phi"],
        kinetic="(y'^2 + k2*phi'^2)/2",
        potential=f"{G}*y",
        parameters={"a": a, "A": plate, "w": w, "k2": k2},
        constraint=[{"name": n, "equation": f"{x} = 0", **switches[n]} for n, x in heights.items()],
        initial={"y": 0.02, "phi": 0.1, "phi'": 3.0},
    )
    motion = simulate(system, until=0.5, rtol=1e-11)
    times, t, y, p, vy, vp = [], 0.0, 0.02, 0.1, 0.0, 3.0
    while len(times) < 8:
        s = np.linspace(1e-9, 0.3, 300_001)  # a flight is followed in steps of a microsecond, then refined
        gaps = [
            y + vy * s - G * s * s / 2 + sign * a * np.sin(p + vp * s) - plate * np.sin(w * (t + s)) for sign in (-1, 1)
        ]
        hits = [np.flatnonzero((g[:-1] > 0) & (g[1:] <= 0)) for g in gaps]
        side = int(np.argmin([h[0] if len(h) else 1 << 30 for h in hits]))
        k, sign = hits[side][0], (-1, 1)[side]
        low, high = s[k], s[k + 1]
        for _ in range(60):
            m = (low + high) / 2
            gap = y + vy * m - G * m * m / 2 + sign * a * np.sin(p + vp * m) - plate * np.sin(w * (t + m))
            low, high = (m, high) if gap > 0 else (low, m)
        t, y, p, vy = t + high, y + vy * high - G * high * high / 2, p + vp * high, vy - G * high
        arm = sign * a * np.cos(p)
        rate = vy + arm * vp - plate * w * np.cos(w * t)
        push = -(1 + e) * rate / (1 + arm * arm / k2)
        vy, vp = vy + push, vp + push * arm / k2
        times.append(t)
    assert [event.t for event in motion.phases[1:9]] == pytest.approx(times, abs=1e-8)


def test_K5_hops_that_eulers_method_cannot_follow_end() -> None:
    """With steps of a millisecond hops of less than eight of them are over."""
    motion = simulate(ball(0.5), until=1.6, method="euler", step=1e-3)
    assert motion.finished, motion.reason
    assert motion.phases[-1].t == pytest.approx(3 * np.sqrt(2 / G), abs=0.03)  # some steps an impact
    assert motion.phases[-1].active == ("floor",)
