"""Masses that change with time or as states: the law of momentum, streams, and their closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import svyaz
from svyaz.expr import ModelError

C, K, M0, G = 3.0, 0.4, 2.0, 9.81
RUN = {"method": "dop853", "rtol": 1e-11, "until": 3}
GIVEN = {"parameters": {"c": C, "k": K, "m0": M0}, "run": RUN}
OWN = {"states": ["m"], "rates": {"m": "-k"}, "initial": {"m": "m0"}}
SLIDER = {"name": "r", "base": "ground", "joint": "prismatic", "coordinate": "x", "axis": [1, 0, 0], "pole": [0, 0, 0]}
SLIDER |= {"center": [0, 0, 0], "inertia": {"xx": 0}}
FREE = {"name": "r", "base": "ground", "joint": "free", "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"]}
FREE |= {"center": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}, "mass": "m0 - k*t"}


def thrust(mass: str, *place: str) -> dict:
    return {"stream": [{"mass": mass, "at": list(place), "relative": ["-c", *["0"] * (len(place) - 1)]}]}


ROCKETS = {
    "state": {"coordinates": ["x"], "kinetic": "m/2*x'^2", **OWN, **thrust("m", "x")},
    "time": {"coordinates": ["x"], "kinetic": "m/2*x'^2", "definitions": {"m": "m0 - k*t"}, **thrust("m", "x")},
    "lagrangian": {"coordinates": ["x"], "lagrangian": "m/2*x'^2", **OWN, **thrust("m", "x")},
    "body": {"body": [SLIDER | {"mass": "m0 - k*t"}], **thrust("m0 - k*t", "x")},
    "body with a definition": {"body": [SLIDER | {"mass": "m"}], "definitions": {"m": "m0 - k*t"}, **thrust("m", "x")},
    "body with a state": {"body": [SLIDER | {"mass": "m"}], **OWN, **thrust("m", "x")},
    "free body": {"body": [FREE], "initial": {"e0": 1}, **thrust("m0 - k*t", "x", "y", "z")},
}


@pytest.mark.parametrize("name", ROCKETS)
def test_tsiolkovsky(name):
    """x' = c log(m0/m), however the mass is written."""
    motion = svyaz.System(**ROCKETS[name], **GIVEN).simulate()
    speed = motion.column("vx" if name == "free body" else "x'")
    assert np.abs(speed - C * np.log(M0 / (M0 - K * motion.times))).max() < 1e-9
    assert abs(motion.balance.totals["remainder"]) < 1e-9


@pytest.mark.parametrize(("key", "factor"), [("relative", 0.0), ("absolute", 1.0)])
def test_what_leaves_takes_its_momentum_along(key, factor):
    """m v' = m' (u - v): nothing happens with u = v, and m v is constant with u = 0, as without a stream."""
    rocket = ROCKETS["state"] | GIVEN | {"initial": {"m": "m0", "x'": 1}}
    stream = [{"mass": "m", "at": ["x"], key: ["0"]}]
    wanted = (M0 / (M0 - K * 3)) ** factor
    assert svyaz.System(**rocket | {"stream": stream}).simulate().states[-1][1] == pytest.approx(wanted, abs=1e-9)
    if factor:
        assert svyaz.System(**rocket | {"stream": []}).simulate().states[-1][1] == pytest.approx(wanted, abs=1e-9)


def test_raindrop_and_chain_of_cayley():
    """d(m v)/dt = m g, m' = λ v (mist, or a heap, at rest): (m v)² = 2 g (m³ - m0³)/(3 λ)."""
    drop = {"coordinates": ["z"], "kinetic": "m/2*z'^2", "potential": "-m*g*z", "states": ["m"]}
    drop |= {"rates": {"m": "lam*z'"}, "parameters": {"g": G, "lam": 0.5}, "initial": {"m": 0.3}}
    motion = svyaz.System(**drop, run=RUN | {"until": 1.5}).simulate()
    m = motion.column("m")
    assert np.abs((m * motion.column("z'")) ** 2 - 2 * G * (m**3 - 0.3**3) / 1.5).max() < 1e-7
    assert abs(motion.balance.totals["remainder"]) < 1e-8


@pytest.mark.parametrize("planar", [True, False])
def test_jet_damping(planar):
    """d(J φ')/dt = m' l² φ', J = J0 - k ρ² t: φ' = φ0' (J/J0)^(l²/ρ² - 1); a spatial tree goes by other recursions."""
    body = {"name": "b", "base": "ground", "joint": "revolute", "coordinate": "phi", "axis": [0, 0, 1]}
    body |= {"pole": [0, 0, 0], "mass": "m0 - k*t", "center": [0, 0, 0]}
    body |= {"inertia": dict.fromkeys(("xx", "yy", "zz"), "J0 - k*rho^2*t")}
    still = {"name": "s", "base": "b", "joint": "revolute", "coordinate": "psi", "axis": [1, 0, 0], "pole": [0, 0, 0]}
    still |= {"mass": 0, "center": [0, 0, 0], "inertia": {"xx": 1, "yy": 0.5, "zz": 0.5}}
    fixed = 0.0 if planar else 0.5
    values = {"m0": 5, "k": 0.4, "rho": 0.5, "J0": 1.0 - fixed, "l": 1.2}
    motion = svyaz.System(
        body=[body] if planar else [body, still],
        parameters=values,
        initial={"phi'": 2},
        stream=[{"mass": "m0 - k*t", "at": ["l*cos(phi)", "l*sin(phi)"], "relative": ["0", "0"]}],
        run=RUN,
    ).simulate()
    inertia_then = 1.0 - 0.4 * 0.25 * motion.times
    assert np.abs(motion.column("phi'") - 2 * inertia_then ** (1.2**2 / 0.25 - 1)).max() < 1e-9


@pytest.mark.parametrize("form", ["voronets", "maggi", "appell"])
def test_forms_agree_on_a_mass_that_is_a_state(form):
    sleigh = {
        "coordinates": ["x", "y", "phi"],
        "kinetic": "m/2*(x'^2 + y'^2 + 2*a*phi'*(y'*cos(phi) - x'*sin(phi))) + (J + m*a^2)/2*phi'^2",
        "states": ["m"],
        "rates": {"m": "-0.2*m*abs(phi')"},
        "parameters": {"a": 0.5, "J": 1},
        "constraint": [{"name": "blade", "equation": "y'*cos(phi) = x'*sin(phi)"}],
        "initial": {"phi": 0.3, "phi'": 1, "x'": "cos(0.3)", "y'": "sin(0.3)", "m": 1},
        "run": {"method": "dop853", "rtol": 1e-11, "until": 1, "stabilize": "off"},
    }
    a, b = (svyaz.System(**sleigh).simulate(form=f) for f in ("multipliers", form))
    assert np.abs(a.states[-1] - b.states[-1]).max() < 1e-8
    assert abs(a.balance.totals["remainder"]) < 1e-9


@pytest.mark.parametrize(
    ("stream", "told"),
    [
        ({"at": ["x"], "relative": ["0"]}, "there is no 'mass'"),
        ({"mass": "m", "at": ["x"]}, "'relative' to its place or 'absolute'"),
        ({"mass": "m", "at": ["x"], "relative": ["0", "0"]}, "the place has 1 entries, the velocity 2"),
        ({"mass": "m*x", "at": ["x"], "relative": ["0"]}, "'x' is a coordinate"),
        ({"mass": "c", "at": ["x"], "relative": ["0"]}, "this mass never changes"),
        ({"mass": "m", "at": ["m"], "relative": ["0"]}, "not in a place"),
        ({"mass": "m", "at": "x", "relative": ["0"]}, "'at' is a list"),
    ],
)
def test_streams_that_say_nothing_are_told(stream, told):
    with pytest.raises(ModelError, match=told):
        svyaz.System(**ROCKETS["state"] | GIVEN | {"stream": [stream]})


def test_streams_belong_to_mechanical_systems():
    canonical = {"coordinates": ["q"], "momenta": ["p"], "hamiltonian": "p^2/2"}
    with pytest.raises(ModelError, match="'stream' does not go with"):
        svyaz.System(**canonical, stream=[{"mass": "t", "at": ["q"], "relative": ["0"]}])


def test_what_knows_constant_masses_alone_refuses():
    rocket = svyaz.System(**ROCKETS["state"], **GIVEN)
    body = svyaz.System(**ROCKETS["body"], **GIVEN)
    for ask in (rocket.equilibria, lambda: rocket.derive("routh")):
        with pytest.raises(ModelError, match="energies without states of \\[rates\\], and these contain 'm'"):
            ask()
    for ask in (body.inertia, body.balance):
        with pytest.raises(ModelError, match="the mass distribution of 'r' changes"):
            ask()


def test_a_mass_does_not_become_negative():
    words = {"coordinates": ["x", "y"], "kinetic": "(1 + m)/2*(x'^2 + y'^2)", **OWN, **thrust("m", "x", "y")}
    motion = svyaz.System(**words, **GIVEN).simulate(until=9, on_failure="return")
    assert motion.status == "left"
    assert motion.times[-1] == pytest.approx(M0 / K)
    assert "mass of the stream" in motion.reason


@pytest.mark.parametrize("center", ["0.3", "0.3 + 0.1*t"])
def test_spatial_trees_keep_the_balance_of_energy_and_momentum(center):
    """Three bodies about different axes, masses of time and of a state: d(∂T/∂v)/dt by differences of ∂T/∂v."""
    axes = ([0, 0, 1], [1, 0, 0], [0, 1, 0])
    masses = ("m0 - k*t", "1", "w")
    body = [
        {"name": f"b{i}", "base": "ground" if i == 0 else f"b{i - 1}", "joint": "revolute", "coordinate": f"q{i}"}
        | {"axis": axes[i], "pole": [0.2 * i, 0.1, 0], "mass": masses[i], "center": [center, 0.1, 0]}
        | {"central_inertia": {"xx": f"0.1*({masses[i]})", "yy": 0.2, "zz": f"0.15*({masses[i]})"}}
        for i in range(3)
    ]
    system = svyaz.System(
        body=body,
        gravity=[0, 0, -9.81],
        states=["w"],
        rates={"w": "0.2*w*q0'"},
        parameters={"m0": 2, "k": 0.3},
        initial={"q0": 0.3, "q1": -0.2, "q0'": 1, "q1'": 0.5, "q2'": -0.7, "w": 0.5},
        run={"method": "dop853", "rtol": 1e-11, "until": 0.5},
    )
    motion = system.simulate()
    assert abs(motion.balance.totals["remainder"]) < 1e-9
    tail = system.simulate(rows=np.array([0.25 - 1e-4, 0.25, 0.25 + 1e-4]))
    numeric = system.derive().function()
    momentum = [numeric.mass_matrix(x, t) @ x[3:6] for t, x in zip(tail.times[1:4], tail.states[1:4], strict=True)]
    still = numeric.bias(np.concatenate([tail.states[2][:3], np.zeros(3), tail.states[2][6:]]), tail.times[2])
    slope = (momentum[2] - momentum[0]) / 2e-4
    # d/dt ∂T/∂v = ∂T/∂q - ∂P/∂q; the last coordinate is that of the last body
    x, t, h = tail.states[2], tail.times[2], 1e-5
    kinetic = [
        numeric.observed(x + s * h * np.eye(7)[k], t)["energies"]["kinetic"] for k in range(3) for s in (1.0, -1.0)
    ]
    pulls = (np.array(kinetic[::2]) - np.array(kinetic[1::2])) / (2 * h)
    assert np.abs(slope - (pulls - still)).max() < 1e-5
