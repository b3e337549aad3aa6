"""[units]: read as people write them, checked where all are given, shown at axes and in tables."""

from __future__ import annotations

import pytest

from svyaz import ModelError, System, loads
from svyaz.expr import UnitError, read_unit

PENDULUM = {
    "name": "p",
    "coordinates": ["u"],
    "kinetic": "m*l^2/2*u'^2",
    "potential": "-m*g*l*cos(u)",
    "parameters": {"m": 1, "l": 1, "g": 9.81, "b": 0.1},
    "forces": {"u": "-b*u'"},
    "outputs": {"height": "-l*cos(u)", "speed": "l*u'", "clear": "l*sin(u) - 0.1"},
    "initial": {"u": 1},
}
UNITS = {"u": "rad", "m": "kg", "l": "m", "g": "m/s^2", "b": "N*m*s"}


@pytest.mark.parametrize(
    ("text", "shown", "same"),
    [
        ("kg m^2 / s^2", "kg·m²/s²", "J"),
        ("N*m/(rad s)", "N·m/(rad·s)", "W"),
        ("m/s²", "m/s²", "N/kg"),
        ("s^-1", "1/s", "Hz"),
        ("1", "", "rad"),
        ("mN", "mN", "g*m/s^2"),
        ("V*s/A", "V·s/A", "H"),
    ],
)
def test_units_are_read_as_people_write_them(text, shown, same) -> None:
    assert str(read_unit(text)) == shown
    assert read_unit(text).fits(read_unit(same))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Nm", "a product is written N*m"),
        ("furlong", "unknown unit"),
        ("5 m", "'5' is no unit"),
        ("m^x", "a power is a whole number"),
        ("(m", "never closed"),
        ("m)", "never opened"),
        ("m_2", "'_' has no place"),
        ("mkg", "unknown unit"),
    ],
)
def test_what_is_no_unit_is_told(text, told) -> None:
    with pytest.raises(UnitError, match=told.replace("*", r"\*")):
        read_unit(text)


def test_units_of_rates_outputs_and_energies_follow() -> None:
    units = {name: str(unit) for name, unit in System(**PENDULUM, units=UNITS).units.items()}
    assert units["u'"] == "rad/s"
    assert (units["height"], units["speed"], units["clear"]) == ("m", "m/s", "m")
    assert units["energy"] == "J"
    assert units["t"] == "s"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"g": "m/s"}, "potential: units do not agree: the kinetic energy is in kg·m²/s², this is in kg·m²/s"),
        ({"l": "mm"}, "potential: units do not agree"),
        ({"u": "deg"}, "u (deg) stands in cos(…), where a number is wanted, or an angle in rad"),
        ({"b": "N"}, "forces.u: units do not agree: a force on 'u'"),
        ({"height": "kg"}, "outputs.height: units do not agree: the output 'height' is in kg, this is in m"),
        ({"w": "m"}, "a unit is given for 'w', which the model does not have"),
        ({"t": "ms"}, "units do not agree"),
    ],
)
def test_what_does_not_agree_is_refused(changed, told) -> None:
    with pytest.raises(ModelError) as caught:
        System(**PENDULUM, units={**UNITS, **changed})
    assert told in str(caught.value)


def test_only_what_has_all_its_units_is_judged() -> None:
    given = {name: unit for name, unit in UNITS.items() if name != "m"} | {"g": "kg"}
    assert str(System(**PENDULUM, units=given).units["u'"]) == "rad/s"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"states": ["x"], "rates": {"x": "-k*x"}, "units": {"x": "m", "k": "m"}}, "the rate of 'x' is in m/s"),
        ({"coordinates": ["x"], "accelerations": {"x": "-k*x"}, "units": {"x": "m", "k": "1/s"}}, "are added"),
        ({"coordinates": ["x"], "equations": {"x": "x'' + k*x = 0"}, "units": {"x": "m", "k": "1/s"}}, "are added"),
    ],
)
def test_other_laws_are_judged_too(words, told) -> None:
    with pytest.raises(ModelError, match=told):
        System(parameters={"k": 1}, **words)


def test_a_mistake_is_shown_in_the_file() -> None:
    text = 'states = ["x"]\nrates = { x = "-x" }\n[units]\nx = "metres"\n'
    with pytest.raises(ModelError) as caught:
        loads(text, "m.toml")
    (problem,) = caught.value.problems
    assert (problem.place.line, problem.hint.startswith("units are written like")) == (4, True)


def test_masses_lengths_and_moments_of_a_tree() -> None:
    body = {
        "name": "1",
        "base": "ground",
        "joint": "revolute",
        "coordinate": "q",
        "axis": [0, 0, 1],
        "mass": "m",
        "center": ["c", 0, 0],
    }
    tree = {
        "gravity": [0, "-g", 0],
        "body": [{**body, "inertia": {"zz": "J", "xx": 0, "yy": "J"}}],
        "parameters": {"m": 1, "c": 0.5, "J": 1, "g": 9.81},
    }
    units = {"m": "kg", "c": "m", "J": "kg*m^2", "g": "m/s^2", "q": "rad"}
    assert str(System(**tree, units=units).units["energy"]) == "J"
    with pytest.raises(ModelError, match="a moment of inertia is in kg·m²"):
        System(**tree, units={**units, "J": "kg*m"})


def test_axes_and_tables_tell_units() -> None:
    motion = System(**PENDULUM, units=UNITS).simulate(until=1, every=0.5)
    data = motion.to_xarray()
    assert data["u'"].attrs["units"] == "rad/s"
    assert data["t"].attrs["units"] == "s"
    (axes,) = motion.plot("speed").figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("$t$, s", "m/s")
    (axes,) = motion.plot("u'", degrees=True).figure.axes
    assert axes.get_ylabel() == "°/s"
    (axes,) = motion.plot(show="speed").figure.axes
    assert axes.get_ylabel().endswith(", m/s")
