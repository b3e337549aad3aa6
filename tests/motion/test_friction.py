"""Forces that depend on reactions: Coulomb's friction, multipliers in forces, creep, Painlevé's paradox."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from svyaz import System
from svyaz.expr import ModelError
from svyaz.motion import simulate

G = 9.81


def shaken(mu_s: float, mu_d: float, incline: float, a: float, w: float, v0: float) -> System:
    """A block on an incline that is shaken along itself, s = a sin(wt)."""
    friction = {"static": "mus", "sliding": "mud", "along": "x' - a*w*cos(w*t)"}
    return System(
        coordinates=["x", "y"],
        kinetic="m/2*(x'^2 + y'^2)",
        potential="m*g*(y*cos(i) - x*sin(i))",
        parameters={"m": 2, "g": G, "i": incline, "a": a, "w": w, "mus": mu_s, "mud": mu_d},
        constraint=[{"name": "base", "equation": "y = 0", "off": "-lambda_base", "friction": friction}],
        initial={"x'": v0},
    )


def pieces(mu_s, mu_d, incline, a, w, v0, until) -> tuple[list[tuple[float, int]], float, float]:
    """[(moment, side that begins)], x, x', in closed form: u = x' - aw cos(wt), u' = g sin i ∓ μ g cos i + a w² sin(wt)."""
    pull, normal = G * np.sin(incline), G * np.cos(incline)
    t, x, u = 0.0, 0.0, v0 - a * w
    side, events = np.sign(u), []

    def force(s):
        return pull + a * w * w * np.sin(w * s)

    def slipped(s):
        return u + (pull - side * mu_d * normal) * (s - t) - a * w * (np.cos(w * s) - np.cos(w * t))

    def ends(s):
        """Rises through zero where the block begins to slip, or ceases to."""
        return np.abs(force(s)) - mu_s * normal if side == 0 else -side * slipped(s)

    def place(s):
        if side == 0:
            return x + a * (np.sin(w * s) - np.sin(w * t))
        return x + (u + a * w * np.cos(w * t)) * (s - t) + (pull - side * mu_d * normal) * (s - t) ** 2 / 2

    while True:
        grid = np.linspace(t + 1e-9, until, 100_001)
        found = np.flatnonzero((ends(grid[:-1]) < 0) & (ends(grid[1:]) >= 0))
        if not len(found):
            slip = 0.0 if side == 0 else slipped(until)
            return events, float(place(until)), float(slip + a * w * np.cos(w * until))
        moment = brentq(ends, grid[found[0]], grid[found[0] + 1], xtol=1e-15)
        x, t, u = float(place(moment)), moment, 0.0
        stays = side != 0 and abs(force(t)) <= mu_s * normal
        side = 0.0 if stays else np.sign(force(t))
        events.append((t, int(side)))


@pytest.mark.parametrize("given", [(0.4, 0.3, 0.1, 0.1, 8.0, 0.5), (0.5, 0.5, 0.2, 0.08, 9.0, 0.0)])
def test_K5_a_block_on_a_shaken_incline_slides_and_sticks(given) -> None:
    events, x, v = pieces(*given, 2.0)
    motion = simulate(shaken(*given), until=2.0, rtol=1e-10, stabilize="off")
    assert motion.finished, motion.reason
    assert [s.start for s in motion.slides] == pytest.approx([t for t, side in events if side == 0], abs=1e-8)
    assert motion.states[-1, [0, 2]] == pytest.approx([x, v], abs=1e-8)
    assert abs(motion.balance.remainder).max() < 1e-8
    assert np.diff(motion.balance.dissipated).min() >= -1e-10


def bead(speed: float, **words) -> System:
    given = {
        "coordinates": ["x", "y"],
        "kinetic": "m/2*(x'^2 + y'^2)",
        "potential": "m*g*y",
        "parameters": {"m": 1.5, "g": G, "R": 0.5, "mu": 0.2},
        "constraint": [{"name": "wire", "equation": "sqrt(x^2 + y^2) = R"}],
        "initial": {"y": -0.5, "x'": 0.5 * speed},
    }
    return System(**{**given, **words})


def test_K5_a_bead_on_a_ring_whose_reaction_changes_its_sign() -> None:
    """θ'' = -(g/R) sin θ - μ |θ'² + (g/R) cos θ| sign θ', by a friction and by a force with |λ|."""
    ratio = G / 0.5

    def rates(t, s, side):
        return [s[1], -ratio * np.sin(s[0]) - 0.2 * abs(s[1] ** 2 + ratio * np.cos(s[0])) * side]

    def stops(t, s, side):
        return s[1]

    stops.terminal = True
    t, s, side = 0.0, np.array([0.0, 9.0]), 1.0
    while t < 1.2:
        found = solve_ivp(rates, (t, 1.2), s, args=(side,), rtol=1e-12, atol=1e-13, events=stops, method="DOP853")
        t, s = found.t[-1], found.y[:, -1]
        if t < 1.2:  # it turns back: tan θ > μ there
            side = -np.sign(np.sin(s[0]))
            s = np.array([s[0], 1e-15 * side])
    slip = "sign(x*y' - y*x')"
    forces = {"x": f"mu*abs(lambda_wire)*y/R*{slip}", "y": f"-mu*abs(lambda_wire)*x/R*{slip}"}
    friction = {"sliding": "mu", "along": {"x": "-y/R", "y": "x/R"}}
    table = {"name": "wire", "equation": "sqrt(x^2 + y^2) = R", "friction": friction}
    for system in (bead(9.0, forces=forces), bead(9.0, constraint=[table])):
        motion = simulate(system, until=1.2, rtol=1e-11, stabilize="projection")
        assert motion.finished, motion.reason
        assert motion.states[-1, :2] == pytest.approx([0.5 * np.sin(s[0]), -0.5 * np.cos(s[0])], abs=1e-8)
        assert abs(motion.balance.remainder).max() < 1e-8
        reaction = motion.multipliers["wire"]
        assert reaction.min() < 0 < reaction.max()


def test_K5_a_wheel_that_creeps_comes_to_roll() -> None:
    """F = -μ N tanh(k s), s = x' - Rφ': linear in the reaction, smooth in the slip."""
    law = "mu*lambda_ground*tanh(k*(x' - R*phi'))"
    system = System(
        coordinates=["x", "y", "phi"],
        kinetic="m/2*(x'^2 + y'^2) + J/2*phi'^2",
        potential="m*g*y",
        parameters={"m": 2, "J": 0.3, "R": 0.4, "g": G, "mu": 0.3, "k": 5.0},
        forces={"x": f"-{law}", "phi": f"R*{law}"},
        constraint=[{"name": "ground", "equation": "y = R"}],
        initial={"y": 0.4, "x'": 3.0},
    )

    def rates(t, s):
        force = 0.3 * 2 * G * np.tanh(5 * (s[2] - 0.4 * s[3]))
        return [s[2], s[3], -force / 2, 0.4 * force / 0.3]

    motion = simulate(system, until=2, rtol=1e-11, stabilize="off")
    expected = solve_ivp(rates, (0, 2), [0, 0, 3, 0], rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]
    assert motion.states[-1, [0, 2, 3, 5]] == pytest.approx(expected, abs=1e-9)
    assert motion.balance.totals["dissipated"] == pytest.approx(-motion.balance.change[-1], rel=1e-9)


def rod(mu: float, angle: float, slip: float) -> System:
    """Painlevé's rod (1895): uniform, of the length 2, its lower end slips along the floor."""
    floor = {
        "name": "floor",
        "equation": "y = sin(a)",
        "on": "sin(a) - y",
        "off": "-lambda_floor",
        "active": True,
        "impact": "inelastic",
        "friction": {"sliding": "mu", "along": "x' + sin(a)*a'"},
    }
    return System(
        coordinates=["x", "y", "a"],
        kinetic="(x'^2 + y'^2)/2 + a'^2/6",
        potential=f"{G}*y",
        parameters={"mu": mu},
        constraint=[floor],
        initial={"y": np.sin(angle), "a": angle, "x'": slip},
    )


def test_K5_the_paradox_of_Painleve_is_recognised() -> None:
    """1 + 3 cos a (cos a - μ sin a) < 0 for a = 1, μ = 1.6 when the end slips to the left; to the right all is well."""
    jammed = simulate(rod(1.6, 1.0, -3.0), until=0.1)
    assert jammed.status == "infeasible"
    assert "Painlevé" in jammed.reason
    assert "'floor'" in jammed.reason
    motion = simulate(rod(1.6, 1.0, 3.0), until=0.05, rtol=1e-11, stabilize="projection")
    assert motion.finished, motion.reason

    def rates(t, s):
        """x, a of the rod that slips to the right: x'' = -μN, y'' = N - g, a'' = 3N (-cos a + … ) with y = sin a."""
        _, a, vx, w = s
        sin, cos = np.sin(a), np.cos(a)
        arm = cos + 1.6 * sin  # torque of N and of -μN about the centre, a'' = -3 N arm
        n = (G - w * w * sin) / (1 + 3 * cos * arm)
        return [vx, w, -1.6 * n, -3 * n * arm]

    expected = solve_ivp(rates, (0, 0.05), [0, 1.0, 3.0, 0], rtol=1e-12, atol=1e-13).y[:, -1]
    assert motion.states[-1, [0, 2, 3, 5]] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("friction", "told"),
    [
        ({"along": ["1", "0"]}, "needs 'sliding'"),
        ({"sliding": 0.3}, "needs 'along'"),
        ({"sliding": 0.3, "along": ["1"]}, "2 coordinates"),
        ({"sliding": 0.3, "along": ["0", "0"]}, "acts on no coordinate"),
        ({"sliding": -0.3, "along": ["1", "0"]}, "not negative"),
        ({"sliding": 0.4, "static": 0.3, "along": ["1", "0"]}, "smaller than the sliding one"),
        ({"sliding": 0.3, "along": "x'^2"}, "linear in the velocities"),
        ({"sliding": 0.3, "along": ["1", "0"], "viscous": 1}, "viscous"),
    ],
)
def test_K5_a_friction_is_refused_with_its_reason(friction, told) -> None:
    with pytest.raises(ModelError) as refused:
        bead(1.0, constraint=[{"name": "wire", "equation": "x^2 + y^2 = R^2", "friction": friction}])
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("force", "told"),
    [("-lambda_wire^2", "not linear"), ("-mu*lambda_wire*sign(x')", "abs(lambda_"), ("lambda_rod*x", "lambda_rod")],
)
def test_K5_forces_that_reactions_cannot_be_solved_with_are_refused(force, told) -> None:
    with pytest.raises(ModelError) as refused:
        bead(1.0, forces={"x": force})
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("law", "mu", "e", "speed", "spin"),
    [("newton", 0.2, 0.6, 2.0, 0.0), ("poisson", 0.9, 0.6, 2.0, 0.0), ("inelastic", 0.9, 0.0, -1.0, 20.0)],
)
def test_K5_a_disc_that_lands_slips_or_rolls(law, mu, e, speed, spin) -> None:
    """The impulse of friction is what rolling takes, s/(1/m + R²/J), or μ (1 + e) m |v|."""
    floor = {"name": "floor", "equation": "y = R", "on": "R - y", "off": "-lambda_floor", "impact": law}
    floor |= {"friction": {"sliding": mu, "along": ["1", "0", "R"]}} | ({"restitution": e} if e else {})
    system = System(
        coordinates=["x", "y", "phi"],
        kinetic="(x'^2 + y'^2) + J/2*phi'^2",
        potential=f"2*{G}*y",
        parameters={"R": 0.2, "J": 0.04},
        constraint=[floor],
        initial={"y": 1.2, "x'": speed, "phi'": spin},
    )
    motion = simulate(system, until=0.6, rtol=1e-10, stabilize="off")
    assert motion.finished, motion.reason
    fall = np.sqrt(2 * G)
    pull = np.clip((speed + 0.2 * spin) / (1 / 2 + 0.04 / 0.04), -mu * 2 * (1 + e) * fall, mu * 2 * (1 + e) * fall)
    after = motion.states[np.flatnonzero(motion.times == motion.phases[1].t)[-1], 3:]
    assert after == pytest.approx([speed - pull / 2, e * fall, spin - 0.2 * pull / 0.04], abs=1e-9)
    assert motion.phases[1].energy_after < motion.phases[1].energy_before


def test_K5_where_newtons_law_would_add_energy_poissons_is_used_and_told() -> None:
    """A uniform rod strikes the floor while its end slips; by Newton's law with friction the energy would rise by 13 %.

    Poisson's: the compression and the expansion, each with Coulomb's law for its impulses, solved here by hand.
    """
    mu, angle, e, vx, vy = 0.6, 0.9, 0.95, 0.5, -1.0
    motions = {}
    for law in ("newton", "poisson"):
        floor = {"name": "floor", "equation": "y = sin(a)", "on": "sin(a) - y", "off": "-lambda_floor"}
        floor |= {"impact": law, "restitution": e, "friction": {"sliding": mu, "along": "x' + sin(a)*a'"}}
        start = {"y": np.sin(angle) - 0.1 * vy, "a": angle, "x'": vx, "y'": vy}
        system = System(
            coordinates=["x", "y", "a"], kinetic="(x'^2 + y'^2)/2 + a'^2/6", constraint=[floor], initial=start
        )
        motions[law] = simulate(system, until=0.15, rtol=1e-10, stabilize="off")
        assert motions[law].finished, motions[law].reason
        assert motions[law].phases[1].energy_after <= motions[law].phases[1].energy_before
    normal, slip = np.array([0, 1, -np.cos(angle)]), np.array([1, 0, np.sin(angle)])
    inverse = np.diag([1, 1, 3.0])

    def part(v: np.ndarray, push: float | None) -> tuple[np.ndarray, float]:
        """Velocities after an impulse that ends the approach, or a given one, with what friction does meanwhile."""
        for side in (0.0, 1.0, -1.0):
            rows, sides = [], []
            columns = [inverse @ normal, -inverse @ slip]
            rows.append([normal @ columns[0], normal @ columns[1]] if push is None else [1.0, 0.0])
            sides.append(-normal @ v if push is None else push)
            rows.append([slip @ columns[0], slip @ columns[1]] if side == 0 else [-side * mu, 1.0])
            sides.append(-slip @ v if side == 0 else 0.0)
            load, pull = np.linalg.solve(rows, sides)
            after = v + load * columns[0] + pull * columns[1]
            if (abs(pull) <= mu * load * (1 + 1e-12)) if side == 0 else side * (slip @ after) >= 0:
                return after, load
        raise AssertionError

    squeezed, load = part(np.array([vx, vy, 0.0]), None)
    after, _ = part(squeezed, e * load)
    for motion in motions.values():
        row = np.flatnonzero(motion.times == motion.phases[1].t)[-1]
        assert motion.states[row, 3:] == pytest.approx(after, abs=1e-9)
    assert any("Newton's law would add energy" in note for note in motions["newton"].notes)
    assert not any("Newton's law" in note for note in motions["poisson"].notes)


def box(half: float, high: float, corners: dict[str, tuple[int, int]], incline: float, **words) -> System:
    """A box on corners with friction, on an incline along x."""
    constraints = []
    for name, (s, t) in corners.items():
        height = f"y + ({s * half})*sin(phi) + ({t * high})*cos(phi)"
        slip = f"x' - (({s * half})*sin(phi) + ({t * high})*cos(phi))*phi'"
        table = {"name": name, "equation": f"{height} = 0", "on": f"-({height})", "off": f"-lambda_{name}"}
        constraints.append({**table, "friction": {"sliding": 0.3, "along": slip}, **words["contact"]})
    return System(
        coordinates=["x", "y", "phi"],
        kinetic=f"(x'^2 + y'^2)/2 + {(half**2 + high**2) / 6!r}*phi'^2",
        potential=f"{G}*({float(np.cos(incline))!r}*y - {float(np.sin(incline))!r}*x)",
        constraint=constraints,
        initial=words["initial"],
    )


def test_K5_a_box_on_two_corners_stops_on_an_incline_though_neither_alone_could_hold_it() -> None:
    """x = v²/(2g (μ cos i - sin i)), and from then on it rests; tan i is more than half of μ."""
    incline = np.deg2rad(10)
    contact = {"active": True, "impact": "inelastic"}
    system = box(0.3, 0.2, {"c": (-1, -1), "d": (1, -1)}, incline, contact=contact, initial={"y": 0.2, "x'": 0.5})
    motion = simulate(system, until=0.8, rtol=1e-9, stabilize="projection")
    assert motion.finished, motion.reason
    way = 0.25 / (2 * G * (0.3 * np.cos(incline) - np.sin(incline)))
    assert motion.states[-1] == pytest.approx([way, 0.2, 0, 0, 0, 0], abs=1e-9)


def test_K5_a_box_that_tumbles_with_friction_and_restitution_comes_to_rest() -> None:
    corners = {"a": (1, 1), "b": (1, -1), "c": (-1, -1), "d": (-1, 1)}
    contact = {"impact": "poisson", "restitution": 0.4}
    start = {"y": 1.5, "phi": 0.4, "phi'": 2.0, "x'": 1.0}
    motion = simulate(
        box(0.3, 0.5, corners, 0.0, contact=contact, initial=start), until=1.5, rtol=1e-8, stabilize="projection"
    )
    assert motion.finished, motion.reason
    y, phi = motion.column("y"), motion.column("phi")
    assert min(float(np.min(y + 0.3 * s * np.sin(phi) + 0.5 * t * np.cos(phi))) for s, t in corners.values()) > -2e-6
    assert all(e.energy_after <= e.energy_before + 1e-9 for e in motion.phases[1:])
    assert motion.states[-1, 3:] == pytest.approx(np.zeros(3), abs=1e-9)
    assert motion.states[-1, 1] == pytest.approx(0.3, abs=1e-6)
    assert abs(motion.balance.remainder).max() < 1e-6
