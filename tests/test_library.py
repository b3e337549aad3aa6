"""The library put together: systems with verbs, from files, from the gallery, stated in Python."""

from __future__ import annotations

import doctest
import pickle
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path

import pytest

import svyaz
from svyaz import ModelError, System, gallery, load, loads, model, stability, synthesis
from svyaz.model.laws import all_laws

PENDULUM = """\
name = "pendulum"
coordinates = ["u"]
kinetic = "m*l^2/2*u'^2"
potential = "-m*g*l*cos(u)"

[parameters]
m = 1
l = 2
g = 9.81

[run]
{run}
"""


def test_a_name_is_a_model_of_the_gallery_and_a_path_is_a_file(tmp_path, monkeypatch) -> None:
    assert load("sleigh") == loads(gallery.find("sleigh"))
    chosen = load("ball-and-beam", control="voltage")
    assert chosen == loads(gallery.find("ball-and-beam", {"control": "voltage"}))
    file = tmp_path / "sleigh"
    file.write_text(PENDULUM.format(run=""), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert load("sleigh").name != "pendulum", "a file of that name does not hide the model"
    assert load("./sleigh").name == load(Path("sleigh")).name == "pendulum"
    with pytest.raises(ModelError, match="neither a model of the gallery nor a file called 'nowhere'"):
        load("nowhere")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("slegh", "did you mean 'sleigh'?"),
        ("pendulm:4", "did you mean 'pendulum:4'?"),
        ("chain", "did you mean 'chain:2'?"),
        ("model.toml", "there is no model file 'model.toml'"),
        ("folder", "'folder' is a folder; a model is a file, such as folder/mine.toml"),
    ],
)
def test_a_model_that_is_not_there_is_told(name, told, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.toml").touch()
    with pytest.raises(ModelError) as caught:
        load(name)
    assert told in str(caught.value)


def test_the_gallery_is_a_list_and_a_room() -> None:
    listed = svyaz.gallery()
    assert listed["sling"] == "sling"
    assert listed["pendulum:N"] == "pendulum of N links"
    assert list(listed) == list(gallery.names())
    assert svyaz.gallery is gallery


@pytest.mark.parametrize(
    ("run", "column", "message"),
    [
        ('form = "ruth"', 9, "'form' cannot be 'ruth'; there are appell, articulated, chaplygin"),
        ('method = "rk5"', 11, "'method' cannot be 'rk5'; there are dop853, "),
        ('stabilize = "ato"', 14, "'stabilize' cannot be 'ato'"),
    ],
)
def test_wrong_words_of_a_run_are_shown_at_their_place(run, column, message) -> None:
    with pytest.raises(ModelError) as caught:
        loads(PENDULUM.format(run=run), "p.toml")
    (problem,) = caught.value.problems
    assert problem.message.startswith(message)
    assert (problem.place.file, problem.place.line, problem.place.column) == ("p.toml", 12, column)


def test_a_room_judges_the_words_of_a_run_itself_when_nobody_did_before() -> None:
    system = model.read_text(PENDULUM.format(run='form = "ruth"'), "p.toml")
    with pytest.raises(ModelError, match="there is no form 'ruth'") as caught:
        svyaz.derive(system)
    place = caught.value.problems[0].place
    assert place is not None
    assert (place.line, place.column) == (12, 9)
    with pytest.raises(ModelError) as asked:
        svyaz.derive(system, "ruth")
    assert asked.value.problems[0].place is None, "what a caller asks for stands in no file"


def test_a_system_is_a_statement_and_its_verbs() -> None:
    system = load("sleigh")
    stated = system.plain()
    assert type(stated) is model.System
    assert all(getattr(stated, f.name) == getattr(system, f.name) for f in fields(model.System) if f.compare)
    assert System.of(stated) == system
    assert repr(system).startswith("<System 'Chaplygin sleigh")
    assert pickle.loads(pickle.dumps(System.of(replace(stated, places=None)))) == system  # noqa: S301
    lighter = system.with_settings({"initial.x": 0.25})
    assert isinstance(lighter, System)
    assert lighter.initial["x"] == 0.25
    with pytest.raises(AttributeError):
        system.name = "another"


@pytest.mark.parametrize("run", ['method = "rk5"', 'stabilize = "ato"', 'hold = "firmly"', 'charts = "all"'])
def test_runs_show_a_wrong_word_of_a_model_at_its_place(run) -> None:
    with pytest.raises(ModelError) as caught:
        svyaz.simulate(model.read_text(PENDULUM.format(run=run), "p.toml"))
    place = caught.value.problems[0].place
    assert place is not None
    assert (place.file, place.line, place.column) == ("p.toml", 12, run.index('"') + 2)


@pytest.mark.parametrize(
    ("verb", "does"),
    [
        ("derive", svyaz.derive),
        ("check", svyaz.check),
        ("simulate", svyaz.simulate),
        ("equilibria", svyaz.equilibria),
        ("regulate", svyaz.regulate),
        ("sweep", svyaz.sweep),
        ("invert", synthesis.invert),
        ("helmholtz", synthesis.helmholtz),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_verb_takes_what_the_function_of_its_package_takes(verb, does) -> None:
    def taken(function) -> dict[str, tuple[object, object]]:
        return {p.name: (p.kind, p.default) for p in list(signature(function).parameters.values())[1:]}

    assert taken(getattr(System, verb)) == taken(does)


def test_trees_have_verbs_of_their_own() -> None:
    arm = load("chain:2")
    assert arm.tree is not None
    assert arm.inertia().program.outputs
    for verb in (load("sleigh").inertia, load("sleigh").balance):
        with pytest.raises(ModelError, match="is not a tree of bodies"):
            verb()


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ({"coordinates": ["u"], "kinetic": "u'^2/2"}, "$$L = "),
        ({"coordinates": ["q"], "momenta": ["p"], "hamiltonian": "p^2/2"}, "$$H = "),
        ({"states": ["x"], "rates": {"x": "-x"}}, r"\dot{x} &= -x"),
        ({"coordinates": ["x"], "equations": {"x": "x'' + x = 0"}}, "&= 0"),
        ({"coordinates": ["x"], "accelerations": {"x": "-x"}}, "&= 0"),
        ({"coordinates": ["x"], "field": {"x": "-x"}}, "$$L = "),
        ({"coordinates": ["x", "y"], "constraint": [{"equation": "x' = y"}], "free": {"mu1": "x"}}, r"$$\dot q = v(q)"),
    ],
    ids=["energies", "canonical", "rates", "equations", "accelerations", "field", "wanted field"],
)
def test_notebooks_show_a_system_by_its_law(words, shown) -> None:
    assert shown in System(**words)._repr_latex_()


def test_results_show_themselves_in_notebooks() -> None:
    found = System(coordinates=["x"], kinetic="x'^2/2", potential="x^2*(x^2 - 2)/4", box={"x": [-2, 2]}).equilibria()
    assert "<table" in found._repr_html_()


def test_every_law_is_a_file_that_declares_itself() -> None:
    files = {path.stem for path in (Path(model.__file__).parent / "laws").glob("*.py")} - {"__init__"}
    assert len(all_laws()) == len(files)
    assert [law.rank for law in all_laws()] == sorted({law.rank for law in all_laws()}), "no two ask at the same time"
    assert all_laws()[-1].known_by(set()), "the last takes every model"


def test_a_field_does_not_go_with_other_laws() -> None:
    with pytest.raises(ModelError, match=r"'field' does not go with a model that is given by \[equations\]"):
        System(coordinates=["x"], equations={"x": "x'' + x = 0"}, field={"x": "-x"})


def test_the_verbs_search_as_long_as_the_functions() -> None:
    for verb in (System.equilibria, System.steady, System.steady_branches, System.regulate):
        assert signature(verb).parameters["seconds"].default == stability.SECONDS


@pytest.mark.parametrize("part", ["equations", "motions", "systems"])
def test_P2_examples_in_the_docstrings_of_the_library_run(part) -> None:
    from importlib import import_module

    found = doctest.testmod(import_module(f"svyaz.library.{part}"))
    assert found.attempted > 0
    assert found.failed == 0


def test_P2_the_example_of_numeric_equations_runs() -> None:
    from svyaz.forms import evaluation

    assert doctest.testmod(evaluation).failed == 0
