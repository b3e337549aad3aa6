"""Systems from TOML and from Python: the same words, the same programs; values, settings, definitions."""

from __future__ import annotations

import math
import tomllib

import pytest
import symengine as se

from svyaz import ModelError, System, gallery, load, loads
from svyaz.forms.programs import rates_of, rates_program, terms_program
from svyaz.model import read_file
from svyaz.program import content_hash

PENDULUM = """\
name = "pendulum"
coordinates = ["u"]
kinetic = "m*l^2/2*u'^2"
potential = "-m*g*l*cos(u)"

[parameters]
m = 1
l = 2
g = 9.81

[initial]
u = "30*deg"
"""


def hashes(system: System) -> tuple[str, str]:
    equations = system.derive()
    return content_hash(terms_program(equations)), content_hash(rates_program(equations, rates_of(equations)))


@pytest.mark.parametrize(
    "name", ["pendulum:1", "pendulum:4", "pendulum-xy", "sling", "sling-hooked", "spring-double-pendulum", "sleigh"]
)
def test_S8_same_program_from_toml_and_from_python(name) -> None:
    text = gallery.find(name)
    from_toml = loads(text, name)
    from_python = System(**tomllib.loads(text))
    assert hashes(from_toml) == hashes(from_python)
    assert from_toml == from_python


def test_S8_same_program_from_words_written_by_hand() -> None:
    by_hand = System(
        name="pendulum",
        coordinates=["u"],
        kinetic="m*l^2/2*u'^2",
        potential="-m*g*l*cos(u)",
        parameters={"m": 1, "l": 2, "g": 9.81},
        initial={"u": "30*deg"},
    )
    assert hashes(by_hand) == hashes(loads(PENDULUM))
    assert by_hand.initial_state() == loads(PENDULUM).initial_state()


def test_S8_hash_depends_on_the_equations_and_not_on_the_values() -> None:
    base = hashes(loads(PENDULUM))
    assert hashes(loads(PENDULUM.replace("9.81", "1.62"))) == base
    assert hashes(loads(PENDULUM.replace('"pendulum"', '"clock"'))) == base
    assert hashes(loads(PENDULUM.replace("m*l^2/2", "l^2*m/2"))) == base
    assert hashes(loads(PENDULUM.replace("-m*g*l", "m*g*l"))) != base


def test_S8_hash_is_the_same_in_another_process(python) -> None:
    code = (
        "from svyaz import gallery, loads; from svyaz.program import content_hash\n"
        "from svyaz.forms.programs import rates_of, rates_program, terms_program\n"
        "for name in ('pendulum:4', 'sling-hooked'):\n"
        "    e = loads(gallery.find(name)).derive()\n"
        "    print(content_hash(terms_program(e)), content_hash(rates_program(e, rates_of(e))))\n"
    )
    outputs = [python("-c", code, env={"PYTHONHASHSEED": seed}) for seed in ("1", "2")]
    assert outputs[0].returncode == 0, outputs[0].stderr
    assert outputs[0].stdout == outputs[1].stdout
    here = [" ".join(hashes(loads(gallery.find(name)))) for name in ("pendulum:4", "sling-hooked")]
    assert outputs[0].stdout.splitlines() == here


def test_load_from_a_file(tmp_path) -> None:
    path = tmp_path / "pendulum.toml"
    path.write_text(PENDULUM, encoding="utf-8")
    system = load(path)
    assert (system.name, system.file) == ("pendulum", str(path))
    assert system.initial_state() == [math.pi / 6, 0.0]


def test_files_that_cannot_be_read(tmp_path) -> None:
    with pytest.raises(ModelError, match="there is no model file"):
        load(tmp_path / "none.toml")
    with pytest.raises(ModelError, match="is a folder; a model is a file"):
        load(tmp_path)
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(ModelError, match="cannot read the model file"):
            read_file(path)
    (tmp_path / "latin.toml").write_bytes('name = "Bahnübergang"'.encode("latin-1"))
    with pytest.raises(ModelError, match="is not UTF-8 text"):
        load(tmp_path / "latin.toml")


def test_parameters_may_be_given_by_each_other_in_any_order() -> None:
    text = PENDULUM.replace("m = 1", 'm = "rho*v"\nrho = "2*v"\nv = "l/4"')
    assert dict(loads(text).parameters) == {"m": 0.5, "rho": 1.0, "v": 0.5, "l": 2.0, "g": 9.81}


def test_what_is_left_out_of_the_initial_state_is_zero() -> None:
    system = System(coordinates=["x", "y"], kinetic="(x'^2 + y'^2)/2", initial={"y": 3, "x'": "1/4"})
    assert system.states == ("x", "y", "x'", "y'")
    assert system.initial_state() == [0.0, 3.0, 0.25, 0.0]


def test_definitions_and_their_time_derivatives() -> None:
    """s = x sin(w t): s' = x' sin(w t) + x w cos(w t)."""
    system = System(
        coordinates=["x"],
        kinetic="s'^2/2",
        definitions={"s": "x*sin(w*t)"},
        parameters={"w": 2},
    )
    x, v, w, t = se.Symbol("x"), se.Symbol("x'"), se.Symbol("w"), se.Symbol("t")
    assert se.expand(system.kinetic - (v * se.sin(w * t) + x * w * se.cos(w * t)) ** 2 / 2) == 0


def test_names_of_other_alphabets() -> None:
    system = System(coordinates=["φ"], kinetic="Θ/2*φ'^2", parameters={"Θ": 2}, initial={"φ'": 1})
    assert system.states == ("φ", "φ'")
    assert float(system.derive().mass_matrix[0][0].subs({"Θ": 2})) == 2.0


def test_inputs_have_values_and_limits() -> None:
    system = System(
        coordinates=["x"],
        kinetic="x'^2/2",
        forces={"x": "u + w"},
        inputs={"u": 1.5, "w": {"value": "pi", "low": -4, "high": 4}},
    )
    assert system.constants == {"u": 1.5, "w": math.pi}
    assert (system.inputs["w"].low, system.inputs["w"].high, system.inputs["u"].low) == (-4.0, 4.0, None)


def test_constraints_know_their_order_and_when_they_act() -> None:
    system = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        parameters={"T": 2},
        constraint=[
            {"name": "place", "equation": "x = y", "from": "T/2", "until": "T"},
            {"equation": "y*x' = 1"},
        ],
    )
    place, speed = system.constraints
    assert (place.name, place.order, place.start, place.end) == ("place", 0, 1.0, 2.0)
    assert (speed.name, speed.order, speed.start, speed.end) == ("constraint 2", 1, None, None)
    assert [place.acts_at(t) for t in (0.0, 1.0, 1.5, 2.0)] == [False, True, True, False]


def test_settings_change_parameters_initial_values_and_run() -> None:
    system = loads(PENDULUM)
    changed = system.with_settings({"m": "2*l", "initial.u'": "0.5", "run.step": "1e-3", "parameters.g": 1})
    assert (changed.parameters["m"], changed.parameters["g"]) == (4.0, 1.0)
    assert changed.initial_state() == [math.pi / 6, 0.5]
    assert changed.run["step"] == 1e-3
    assert dict(system.parameters) == {"m": 1.0, "l": 2.0, "g": 9.81}, "what was made does not change"


@pytest.mark.parametrize(
    ("settings", "message", "hint"),
    [
        ({"mm": 1}, "the model has no parameter 'mm'", "did you mean 'm'?"),
        ({"u": 1}, "the model has no parameter 'u'", "an initial value is set by initial.u"),
        ({"u'": 1}, "the model has no parameter 'u''", "an initial value is set by initial.u'"),
        ({"initail.u": 1}, "there is no 'initail' to set 'u' in", "did you mean 'initial'?"),
        ({"initial.w": 1}, "'w' is not among the variables", None),
        ({"run.stp": 1}, "there is no key 'stp'", "did you mean 'step'?"),
        ({"m": "q"}, "unknown name 'q'", None),
        ({"m": "1 +"}, "something is missing", None),
        ({"m": None}, "must be a number or an expression", None),
    ],
)
def test_settings_that_cannot_be_made(settings, message, hint) -> None:
    with pytest.raises(ModelError) as caught:
        loads(PENDULUM, "pendulum.toml").with_settings(settings)
    (problem,) = caught.value.problems
    assert message in problem.message
    assert hint is None or problem.hint == hint
    assert problem.place is None or problem.place.file != "pendulum.toml", "a setting stands in no line of the file"


def test_system_is_frozen() -> None:
    system = loads(PENDULUM)
    with pytest.raises(AttributeError):
        system.name = "other"


def test_systems_show_themselves_in_notebooks() -> None:
    assert loads(PENDULUM)._repr_latex_().startswith("$$L = ")
    plain = System(states=["x", "v"], rates={"x": "v", "v": "-x"})
    assert r"\dot{x} &= v" in plain._repr_latex_()
    canonical = System(coordinates=["q"], momenta=["p"], hamiltonian="p^2/2 + q^2/2")
    assert canonical._repr_latex_().startswith("$$H = ")
