"""General stabilising laws: runs against an integration of its own, refusals with the reason, regions that are proved."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz import System, loads
from svyaz.expr import ModelError
from svyaz.show import as_json

ACCURATE = {"method": "dop853", "rtol": 1e-11}


def pendulum(law: str, **initial: float) -> System:
    """A point of unit mass on a circle of radius 1, in x and y, with a law for the circle."""
    return System(
        name="pendulum",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        parameters={"c": 3.0},
        constraint=[{"name": "rod", "equation": "x^2 + y^2 = 1", "law": law}],
        initial={"x": 1.02, "x'": 0.1, "y'": -0.2, **initial},
    )


def swung(law, start, times):
    """The pendulum by hand: q̈ = -g e_y + 2q λ with ḧ = 2q·q̈ + 2v² = F(x, y, x', y', t, h, ḣ)."""

    def rates(t, s):
        q, v = s[:2], s[2:]
        h, rate = q @ q - 1, 2 * q @ v
        force = np.array([0.0, -9.81])
        multiplier = (law(q[0], q[1], v[0], v[1], t, h, rate) - 2 * v @ v - 2 * q @ force) / (4 * q @ q)
        return np.concatenate([v, force + 2 * q * multiplier])

    return solve_ivp(rates, (0, times[-1]), start, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times).y.T


def random_law(rng):
    """A stable law, as a text and as a function: ḧ = -a(1 + b w) ḣ - k(1 + e u) h - n h³ - m ḣ³, w and u of the state."""
    a, k, n, m = rng.uniform(2, 12), rng.uniform(4, 60), rng.uniform(0, 20), rng.uniform(0, 3)
    b, e = rng.uniform(0, 0.9, 2)
    w = [("sin(x)", lambda x, y, u, v, t: np.sin(x)), ("x^2", lambda x, y, u, v, t: x * x)][rng.integers(2)]
    z = [("cos(t)", lambda x, y, u, v, t: np.cos(t)), ("tanh(y')", lambda x, y, u, v, t: np.tanh(v))][rng.integers(2)]
    text = f"-{a!r}*(1 + {b!r}*{w[0]})*deviation' - {k!r}*(1 + {e!r}*{z[0]})*deviation - {n!r}*deviation^3 - {m!r}*deviation'^3"

    def law(x, y, u, v, t, h, rate):
        at = (x, y, u, v, t)
        return -a * (1 + b * w[1](*at)) * rate - k * (1 + e * z[1](*at)) * h - n * h**3 - m * rate**3

    return text.replace("np.float64", ""), law


def test_K2_a_law_in_a_file_goes_from_the_check_to_the_result() -> None:
    text = """
        name = "pendulum"
        coordinates = ["x", "y"]
        kinetic = "(x'^2 + y'^2)/2"
        potential = "9.81*y"
        [[constraint]]
        name = "rod"
        equation = "x^2 + y^2 = 1"
        law = "-20*deviation' - 100*deviation*(1 + x^2)"
        [initial]
        x = 1.02
        "y'" = -0.2
    """
    system = loads(text)
    motion = system.simulate(**ACCURATE, until=1.5, every=0.1)
    expected = swung(lambda x, y, u, v, t, h, r: -20 * r - 100 * h * (1 + x * x), [1.02, 0, 0, -0.2], motion.times)
    np.testing.assert_allclose(motion.states, expected, atol=1e-8)
    gains = as_json(motion)["gains"]
    assert gains["verdict"] == "stable"
    (region,) = gains["lyapunov"]
    assert region["proved"]
    assert region["level"] is None
    assert set(region["where"]) == {"x"}
    low, high = region["where"]["x"]
    p = np.array(region["matrix"])
    for x in np.linspace(low, high, 50):  # P W + Wᵀ P < 0 wherever x lies in the interval
        w = np.array([[0, 1], [-100 * (1 + x * x), -20]])
        assert np.linalg.eigvalsh(p @ w + w.T @ p).max() < 0


def test_K2_random_laws_of_a_position_constraint() -> None:
    rng = np.random.default_rng(7)
    for _ in range(6):
        text, law = random_law(rng)
        motion = pendulum(text).simulate(**ACCURATE, until=1.0, every=0.1)
        assert motion.finished, motion.reason
        np.testing.assert_allclose(motion.states, swung(law, [1.02, 0, 0.1, -0.2], motion.times), atol=1e-8)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ("-deviation + 0.1", "must vanish when the constraint is satisfied: with deviations of zero it is 0.1"),
        ("-20*deviation' - 100*(x^2 + y^2 - 1)", "must vanish"),
        ("-deviation' - sign(deviation)", "jumps with a deviation"),
        ("-deviation' - sqrt(abs(deviation))", "no linear part"),
        ("-deviation' - deviation - abs(deviation)", "no linear part"),
        ("-deviation' - devation", "unknown name 'devation'"),
        ("-c*deviation''", "second derivatives"),
    ],
)
def test_K2_laws_that_are_none_are_refused_at_their_place(law, message) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        pendulum(law)
    assert any("constraint.0.law" in str(p.message) or p.place is not None for p in caught.value.problems)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ("deviation' - 9*deviation", "not asymptotically stable"),
        ("-2*deviation' - 9*deviation*(1 - 2*(1 - x)^2)", r"at t = \S+: not asymptotically stable"),
        ("-deviation'^3 - deviation", "not asymptotically stable"),
    ],
)
def test_K2_unstable_laws_are_refused_with_the_reason(law, message) -> None:
    motion = pendulum(law).simulate(**ACCURATE, until=2.0)
    assert motion.status == "infeasible"
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(motion.reason)


def test_K2_what_vanishes_only_by_an_identity_is_accepted() -> None:
    law = "-6*deviation' - 9*deviation + (sin(x)^2 + cos(x)^2 - 1)*t + (exp(x)*exp(-x) - 1)*y"
    assert pendulum(law).simulate(**ACCURATE, until=0.2).finished
