"""Held integrals: their deviations decay as asked, constraints stay untouched, and what cannot be held is refused."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.expr import ModelError
from svyaz.motion import check, simulate
from svyaz.stabilise.integrals import poisson_bracket

ACCURATE = {"method": "dop853", "rtol": 1e-12}


def kepler(hold: tuple[str, ...], start: dict[str, float] | None = None, **values: float) -> System:
    """A planet: energy, angular momentum, and the eccentricity vector (two of its three are independent)."""
    h = "(p^2 + s^2)/2 - 1/sqrt(x^2 + y^2)"
    expressions = {
        "energy of the planet": h,
        "area": "x*s - y*p",
        "eccentricity x": "s*(x*s - y*p) - x/sqrt(x^2 + y^2)",
        "eccentricity y": "-p*(x*s - y*p) - y/sqrt(x^2 + y^2)",
    }
    integrals = []
    for k, (name, text) in enumerate(expressions.items()):
        table: dict[str, object] = {"name": name, "expression": text, "hold": name in hold, "gain": 1.5 + k}
        if name in values:
            table["value"] = values[name]
        integrals.append(table)
    initial = start or {"x": 0.7, "y": 0.1, "p": 0.05, "s": 1.3}
    return System(
        name="planet", coordinates=["x", "y"], momenta=["p", "s"], hamiltonian=h, integral=integrals, initial=initial
    )


def deviation(motion, system: System, name: str) -> np.ndarray:
    value = next(i.value for i in system.integrals if i.name == name)
    return motion.integrals[name] - (motion.integrals[name][0] if value is None else value)


@pytest.mark.parametrize("hold", ["orthogonal", "bracket"])
def test_two_integrals_of_a_planet_are_brought_to_their_values(hold) -> None:
    values = {"eccentricity x": 0.1, "eccentricity y": -0.1}
    system = kepler(tuple(values), **values)
    motion = simulate(system, **ACCURATE, until=4, every=0.1, hold=hold)
    assert motion.finished, motion.reason
    for name, gain in (("eccentricity x", 3.5), ("eccentricity y", 4.5)):
        y = deviation(motion, system, name)
        assert abs(y[0]) > 0.05
        np.testing.assert_allclose(y, y[0] * np.exp(-gain * motion.times), atol=1e-9)


def test_one_number_gives_all_of_them_the_same_rate() -> None:
    values = {"area": 0.8}
    system = kepler(("area",), **values)
    motion = simulate(system, **ACCURATE, until=3, every=0.1, stabilize=2.5)
    y = deviation(motion, system, "area")
    np.testing.assert_allclose(y, y[0] * np.exp(-2.5 * motion.times), atol=1e-9)


def test_energy_of_a_planet_by_euler_stays() -> None:
    """Euler's method lets the orbit grow; with the integrals held the deviation is that of one step."""
    settings = {"method": "euler", "step": 0.002, "until": 12.0}
    free = simulate(kepler(()), **settings, stabilize="off")
    held = simulate(kepler(("energy of the planet", "area")), **settings, stabilize=400, hold="orthogonal")
    for name in ("energy of the planet", "area"):
        drift = [np.abs(m.integrals[name] - m.integrals[name][0]).max() for m in (free, held)]
        assert drift[1] < 0.01 * drift[0]


def pendulum(**settings: object) -> System:
    text = gallery.find("pendulum-xy")
    assert text is not None
    words = dict(loads(text, "pendulum-xy").words)
    energy = {"name": "total", "expression": "m/2*(x'^2 + y'^2) + m*g*y", "hold": True, "gain": 2.0, "value": 1.0}
    return System.from_words({**words, "integral": [energy]}).with_settings(settings)


def test_off_means_that_nothing_is_held() -> None:
    """The energy, asked to be 1, stays at 0 as the motion leaves it."""
    motion = simulate(pendulum(), **ACCURATE, until=3, every=0.1, stabilize="off")
    assert motion.integrals["total"] == pytest.approx(np.zeros(len(motion.times)), abs=1e-8)


def test_off_means_that_nothing_is_held_in_sweeps_either() -> None:
    from svyaz.study import sweep

    how = {"method": "rk4", "step": 0.01, "until": 1.0, "workers": 1}
    for stabilize, kept in (("off", True), ({"alpha": 8, "beta": 16}, False)):
        found = sweep(pendulum(), {"m": [1.0, 2.0]}, **how, stabilize=stabilize)
        ends = [simulate(pendulum(m=m), method="rk4", step=0.01, until=1.0, stabilize=stabilize) for m in (1.0, 2.0)]
        assert [row.measures["final.x"] for row in found.rows] == pytest.approx(
            [m.column("x")[-1] for m in ends], abs=1e-12
        )
        assert all(bool(abs(m.integrals["total"][-1]) < 1e-3) is kept for m in ends)


@pytest.mark.parametrize("stabilize", [{"alpha": 8, "beta": 16}, "projection"])
def test_constraints_are_untouched_by_a_held_integral(stabilize) -> None:
    system = pendulum()
    motion = simulate(system, **ACCURATE, until=3, every=0.1, stabilize=stabilize)
    assert motion.finished, motion.reason
    y = motion.integrals["total"] - 1.0
    assert y[0] == pytest.approx(-1.0)
    np.testing.assert_allclose(y, y[0] * np.exp(-2 * motion.times), atol=1e-8)
    assert np.abs(motion.residuals["rod"]).max() < 1e-9
    assert np.abs(motion.hidden["rod"]).max() < 1e-9


def test_disturbed_constraints_and_integrals_decay_independently() -> None:
    motion = simulate(
        pendulum(**{"initial.x": 1.01}), **ACCURATE, until=2, every=0.1, stabilize={"alpha": 8, "beta": 16}
    )
    h, t = motion.residuals["rod"], motion.times
    np.testing.assert_allclose(h, h[0] * (1 + 4 * t) * np.exp(-4 * t), atol=1e-9)
    y = motion.integrals["total"] - 1.0
    np.testing.assert_allclose(y, y[0] * np.exp(-2 * t), atol=1e-8)


def test_brackets_of_the_planet() -> None:
    """{L, e_x} = -e_y, {e_x, L} = e_y up to sign convention; {H, anything} = 0."""
    system = kepler(())
    g = {i.name: i.expression for i in system.integrals}
    at = {"x": 0.7, "y": 0.1, "p": 0.05, "s": 1.3}

    def value(expression) -> float:
        import symengine as se

        return float(expression.subs({se.Symbol(k): v for k, v in at.items()}).n(real=True))

    bracket = value(poisson_bracket(system, g["area"], g["eccentricity x"]))
    assert abs(bracket) == pytest.approx(abs(value(g["eccentricity y"])), abs=1e-12)
    assert value(poisson_bracket(system, g["energy of the planet"], g["area"])) == pytest.approx(0, abs=1e-12)


# refusals


def test_C5_an_odd_set_is_refused_by_the_bracket_method() -> None:
    with pytest.raises(ModelError, match=r"odd number of integrals \('area'\)"):
        simulate(kepler(("area",)), **ACCURATE, until=1, hold="bracket")


def test_integrals_in_involution_are_refused_by_the_bracket_method() -> None:
    with pytest.raises(ModelError, match="in involution"):
        simulate(kepler(("energy of the planet", "area")), **ACCURATE, until=1, hold="bracket")


def test_the_bracket_method_is_for_canonical_systems() -> None:
    with pytest.raises(ModelError, match="canonical systems"):
        simulate(pendulum(), **ACCURATE, until=1, hold="bracket")


def false_integral(hold: bool) -> System:
    words = dict(kepler(()).words)
    table = {"name": "distance", "expression": "x^2 + y^2", "hold": hold}
    return System.from_words({**words, "integral": [table]})


def test_C5_an_integral_that_is_none_is_named_by_check() -> None:
    for hold in (True, False):
        found = check(false_integral(hold), **ACCURATE, until=1)
        assert any("'distance' is not a first integral" in words for words in found.wrong)


def test_C5_an_integral_that_is_none_is_not_held_unless_forced() -> None:
    motion = simulate(false_integral(True), **ACCURATE, until=1)
    assert motion.status == "infeasible"
    assert "'distance' is not a first integral" in motion.reason
    assert len(motion.times) == 1
    forced = simulate(false_integral(True), **ACCURATE, until=1, force=True)
    assert forced.finished
    np.testing.assert_allclose(forced.integrals["distance"], forced.integrals["distance"][0], atol=1e-8)
    assert simulate(false_integral(False), **ACCURATE, until=1).finished


def test_an_integral_of_the_constrained_motion_alone_is_one() -> None:
    """The energy of the sleigh is constant only while the blade holds; off the constraint it is not."""
    text = gallery.find("sleigh")
    assert text is not None
    words = dict(loads(text, "sleigh").words)
    energy = {"name": "total", "expression": words["kinetic"] + " + " + words["potential"], "value": 0.5}
    system = System.from_words({**words, "integral": [energy]}).with_settings({"initial.x'": 0.2})
    assert not [w for w in check(system).wrong if "integral" in w]


def test_lawden_integrals_are_integrals_while_both_hold() -> None:
    text = gallery.find("lawden")
    assert text is not None
    assert check(loads(text, "lawden")).wrong == ()


def test_energy_at_an_equilibrium_at_rest_cannot_be_held() -> None:
    hanging = pendulum(**{"initial.x": 0, "initial.y": -1})
    for system, words in ((hanging, "'total' cannot be held: at t = 0 its gradient depends on that of 'rod'"),):
        motion = simulate(system, **ACCURATE, until=1)
        assert motion.status == "infeasible"
        assert words in motion.reason
        assert any(words in w for w in check(system, **ACCURATE, until=1).wrong)


def test_energy_at_the_minimum_of_a_free_system_cannot_be_held() -> None:
    system = System(
        name="spring",
        coordinates=["x"],
        kinetic="x'^2/2",
        potential="x^2/2",
        integral=[{"name": "total", "expression": "x'^2/2 + x^2/2", "hold": True, "value": 1}],
    )
    motion = simulate(system, **ACCURATE, until=1)
    assert motion.status == "infeasible"
    assert "'total' cannot be held: its gradient vanishes at t = 0" in motion.reason


def test_integrals_that_say_the_same_cannot_be_held_together() -> None:
    words = dict(kepler(()).words)
    tables = [
        {"name": "area", "expression": "x*s - y*p", "hold": True},
        {"name": "twice the area", "expression": "2*(x*s - y*p)", "hold": True},
    ]
    motion = simulate(System.from_words({**words, "integral": tables}), **ACCURATE, until=1, hold="orthogonal")
    assert motion.status == "infeasible"
    assert "'twice the area' cannot be held" in motion.reason
    assert "'area'" in motion.reason


def test_brackets_that_vanish_at_the_start_are_explained() -> None:
    """On a circle both eccentricities vanish, and {e_x, e_y} with {L, e} alone remain: {L, e_x} = e_y = 0."""
    system = kepler(("area", "eccentricity x"), {"x": 1.0, "y": 0.0, "p": 0.0, "s": 1.0})
    motion = simulate(system, **ACCURATE, until=1, hold="bracket")
    assert motion.status == "infeasible"
    assert "matrix of Poisson brackets is singular at t = 0" in motion.reason


def test_rates_beyond_the_method_are_refused_beside_constraints() -> None:
    motion = simulate(pendulum(), method="rk4", step=0.01, until=1, stabilize={"alpha": 8, "beta": 16, "kappa": 400})
    assert motion.status == "infeasible"
    assert "held integrals" in motion.reason
    assert "-400" in motion.reason


@pytest.mark.parametrize("form", ["chaplygin", "voronets", "voronets:carried", "maggi", "appell"])
def test_integrals_are_held_in_forms_without_multipliers(form) -> None:
    """The spin of a knife edge and its energy, whose velocities are not all states of these forms."""
    energy = {"name": "whole", "expression": "(x'^2 + y'^2 + phi'^2)/2", "hold": True, "gain": 2.0, "value": 1.2}
    spin = {"name": "spin", "expression": "phi'", "hold": True, "gain": 2.0, "value": 1.0}
    system = System(
        coordinates=["x", "y", "phi"],
        kinetic="(x'^2 + y'^2 + phi'^2)/2",
        constraint=[{"name": "edge", "equation": "x'*sin(phi) = y'*cos(phi)"}],
        integral=[energy, spin],
        initial={"x'": 1.0, "phi'": 1.1},
    )
    how = {"method": "dop853", "rtol": 1e-10, "until": 3.0, "every": 0.25, "stabilize": "auto"}
    found = simulate(system, form=form, **how)
    assert found.finished, found.reason
    for name, value in (("whole", 1.2), ("spin", 1.0)):
        deviation_of = found.integrals[name] - value
        np.testing.assert_allclose(deviation_of, deviation_of[0] * np.exp(-2 * found.times), atol=1e-7)
