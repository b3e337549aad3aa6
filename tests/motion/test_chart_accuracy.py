"""V1: forms that change charts are as accurate as multipliers at the same tolerance, and cost in proportion to the time."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from svyaz import System
from svyaz.motion import Motion, simulate

RTOL = 1e-9


def rods(name: str, coordinates: str, kinetic: str, potential: str, equations: list[str], **initial: float) -> System:
    return System(
        name=name,
        coordinates=coordinates.split(),
        kinetic=kinetic,
        potential=potential,
        constraint=[{"name": f"c{k}", "equation": e} for k, e in enumerate(equations)],
        initial={key.replace("_dot", "'"): value for key, value in initial.items()},
    )


def cart(seed: int) -> System:
    """A cart with a pendulum whose bob is at X + x, y; X is cyclic."""
    a, w, v = np.random.default_rng(seed).uniform([-2.5, -6, -1], [2.5, 6, 1])
    start = {"x": np.sin(a), "y": -np.cos(a), "x_dot": w * np.cos(a), "y_dot": w * np.sin(a), "X_dot": v}
    kinetic = "X'^2 + ((X' + x')^2 + y'^2)/2"
    return rods("cart", "X x y", kinetic, "9.81*y", ["x^2 + y^2 = 1"], **{k: float(s) for k, s in start.items()})


MODELS = {
    "round": rods("round", "x y", "(x'^2 + y'^2)/2", "9.81*y", ["x^2 + y^2 = 1"], y=-1.0, x_dot=7.0),
    "sphere": rods(
        "sphere", "x y z", "(x'^2 + y'^2 + z'^2)/2", "9.81*z", ["x^2 + y^2 + z^2 = 1"], x=0.8, z=-0.6, y_dot=2.0
    ),
    "double": rods(
        "double",
        "x y u v",
        "(x'^2 + y'^2 + u'^2 + v'^2)/2",
        "9.81*(y + v)",
        ["x^2 + y^2 = 1", "(u - x)^2 + (v - y)^2 = 1"],
        x=1.0,
        u=2.0,
    ),
    "four-bar": rods(
        "four-bar",
        "a b c",
        "(a'^2 + b'^2 + c'^2)/2 + 0.3*cos(a - b)*a'*b'",
        "2*sin(a) + sin(b)",
        ["cos(a) + 2*cos(b) - 1.8*cos(c) = 2", "sin(a) + 2*sin(b) - 1.8*sin(c) = 0"],
        a=1.0,
        b=0.3,
        c=1.3,
        a_dot=6.0,
    ),
    "skate": rods("skate", "x y f", "(x'^2 + y'^2 + f'^2)/2", "-3*x", ["x'*sin(f) = y'*cos(f)"], x_dot=1.0, f_dot=2.0),
    "cart 1": cart(1),
    "cart 2": cart(2),
}
FORMS = {"skate": ["voronets", "chaplygin"], "cart 1": ["shulgin", "routh"]}


def run(name: str, form: str, rtol: float, **how: float) -> Motion:
    motion = simulate(MODELS[name], form=form, rtol=rtol, until=2.0, stabilize="off", project=True, **how)
    assert motion.finished, motion.reason
    return motion


@cache
def with_multipliers(name: str) -> tuple[np.ndarray, float]:
    """The last state with a tight tolerance, and the error with the usual one."""
    exact = run(name, "multipliers", 1e-13).states[-1]
    return exact, float(np.abs(run(name, "multipliers", RTOL).states[-1] - exact).max())


@pytest.mark.parametrize(
    ("name", "form", "every"),
    [
        *((name, form, None) for name in MODELS for form in FORMS.get(name, ["shulgin"])),
        ("cart 1", "routh", 0.1),
        ("cart 2", "shulgin", 0.1),
        ("skate", "voronets", 0.1),
    ],
)
def test_V1_charts_are_as_accurate_as_multipliers(name: str, form: str, every: float | None) -> None:
    """Both without stabilisation and with the same rtol, the error at the end is at most 20 times as large."""
    exact, usual = with_multipliers(name)
    found = run(name, form, RTOL, **({} if every is None else {"every": every}))
    assert np.abs(found.states[-1] - exact).max() <= 20 * max(usual, 2 * RTOL)
    assert all(np.abs(values).max() < 20 * RTOL for values in found.residuals.values())


@pytest.mark.parametrize("how", [{"rtol": 1e-9}, {"method": "rk4", "step": 2e-3}])
def test_V1_the_work_of_charts_grows_with_the_time_alone(how: dict) -> None:
    """Four times the time takes four times the evaluations (before, with equal steps, sixteen times)."""
    counts = []
    for until in (3.0, 12.0):
        motion = simulate(MODELS["round"], form="shulgin", until=until, stabilize="off", **how)
        assert motion.finished, motion.reason
        counts.append(motion.evaluations)
    assert counts[1] < 6 * counts[0]
