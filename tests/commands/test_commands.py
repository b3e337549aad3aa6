"""The commands as a person calls them: exit codes, outputs, settings, help."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from svyaz.commands.group import run

MODEL = """\
name = "spring"
coordinates = ["x"]
kinetic = "m/2*x'^2"
potential = "k/2*x^2"

[parameters]
m = 1
k = 4

[initial]
x = 1

[run]
until = 2
"""


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """``call("derive", "sling")`` runs the program in an empty folder, without a process of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run_here(*arguments: str) -> Done:
        capsys.readouterr()
        return Done(run(arguments), *capsys.readouterr())

    return run_here


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "spring.toml"
    path.write_text(MODEL, encoding="utf-8")
    return path


def test_json_on_standard_output_is_all_there_is(svyaz, model) -> None:
    done = svyaz("simulate", "spring.toml", "--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert (result["model"], result["status"], result["t"]) == ("spring", "finished", 2.0)
    derived = svyaz("derive", "spring.toml", "--json", "-")
    assert json.loads(derived.stdout)["mass_matrix"] == [["m"]]


def test_csv_on_standard_output(call, model) -> None:
    done = call("simulate", "spring.toml", "--csv", "-", "--every", "0.5")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n")[:-1]
    assert lines[0] == "t,x,x'"
    assert [float(line.split(",")[0]) for line in lines[1:]] == [0.0, 0.5, 1.0, 1.5, 2.0]
    both = call("simulate", "spring.toml", "--csv", "-", "--json", "-")
    assert both.returncode == 2
    assert "cannot both go to standard output" in both.stderr


def test_table_on_the_terminal(call, model) -> None:
    done = call("simulate", "spring.toml")
    assert done.returncode == 0, done.stderr
    assert "spring: finished at t = 2" in done.stdout
    assert "energy" in done.stdout


def test_settings(call, model) -> None:
    arguments = ("--set", "k=9*m", "--set", "initial.x=0", "--set", "initial.x'=3", "--set", "run.until=pi/6")
    result = json.loads(call("simulate", "spring.toml", *arguments, "--json", "-").stdout)
    assert result["parameters"] == {"m": 1.0, "k": 9.0}
    assert result["initial"] == {"x": 0.0, "x'": 3.0}
    assert result["final"]["x"] == pytest.approx(1.0, abs=1e-8)
    assert result["t"] == pytest.approx(0.5235987755982988)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "kk=1"), "the model has no parameter 'kk'\n    hint: did you mean 'k'?"),
        (("--set", "x=1"), "hint: an initial value is set by initial.x"),
        (("--set", "k=1+"), "parameters.k:1:3: something is missing after '+'"),
        (("--set", "run.method=rk5"), "'method' cannot be 'rk5'"),
        (("--set", "nonsense"), "is not of the form NAME=VALUE"),
        (("--with", "size=large"), "a file has none"),
        (("--method", "rk5"), "no method is called 'rk5'"),
        (("--method", "rk4"), "it needs a step"),
        (("--step", "0.1", "--rtol", "1e-6"), "either 'step'"),
        (("--until", "-1"), "'until' must be a positive number"),
        (("--rtol", "1e-30"), "'rtol' must lie between"),
        (("--step", "1e-15", "--method", "rk4"), "'step'"),
        (("--step", "abc"), "abc"),
        (("--form", "lagrang"), "there is no form 'lagrang'"),
        (("--stabilize", "ful"), "ful"),
        (("--plot", "x.docx"), ".docx"),
        (("--animate", "x.mpeg"), ".mpeg"),
        (("--until",), "--until"),
    ],
)
def test_bad_input_exits_with_2(call, model, tmp_path, arguments, message) -> None:
    done = call("simulate", "spring.toml", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["spring.toml"]


def test_mistake_in_a_file_is_shown_with_its_place(call, tmp_path) -> None:
    (tmp_path / "spring.toml").write_text(MODEL.replace("k/2*x^2", "k/2*xx^2"), encoding="utf-8")
    done = call("derive", "spring.toml")
    assert done.returncode == 2
    assert done.stderr == (
        "spring.toml:4:18: unknown name 'xx'\n"
        "    potential = \"k/2*xx^2\"\n"
        "                     ^\n"
        "    hint: did you mean 'x'?\n"
    )  # fmt: skip


def test_unused_parameter_is_a_warning_and_no_mistake(call, tmp_path) -> None:
    (tmp_path / "spring.toml").write_text(MODEL.replace("k = 4", "k = 4\nc = 0"), encoding="utf-8")
    done = call("derive", "spring.toml")
    assert done.returncode == 0
    assert "warning: spring.toml:9:1: the parameter 'c' is not used" in done.stderr


def test_negative_answer_exits_with_1_and_says_why(call, tmp_path) -> None:
    text = 'name = "blow-up"\nstates = ["x"]\n[rates]\nx = "x^2"\n[initial]\nx = 1\n'
    (tmp_path / "model.toml").write_text(text, encoding="utf-8")
    done = call("simulate", "model.toml", "--until", "2", "--json", "result.json", "--csv", "motion.csv")
    assert done.returncode == 1
    assert "diverged at t = 1" in done.stderr
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["status"] == "diverged"
    assert result["reason"] in done.stderr
    assert (tmp_path / "motion.csv").read_text().splitlines()[0] == "t,x"


def test_derive_in_every_format(call, model) -> None:
    assert "m*x'' + k*x = 0" in call("derive", "spring.toml").stdout
    assert r"\ddot{x}" in call("derive", "spring.toml", "--format", "latex").stdout
    assert json.loads(call("derive", "spring.toml", "--format", "json").stdout)["bias"] == ["k*x"]
    code = call("derive", "spring.toml", "--format", "python").stdout
    compile(code, "spring.py", "exec")
    assert "double" in call("derive", "spring.toml", "--format", "c").stdout


def test_derive_writes_to_a_file(call, model, tmp_path) -> None:
    done = call("derive", "spring.toml", "--out", "pages/spring.txt")
    assert (done.returncode, done.stdout) == (0, "")
    assert "m*x'' + k*x = 0" in (tmp_path / "pages" / "spring.txt").read_text(encoding="utf-8")


def test_gallery_lists_and_prints_models(call, tmp_path) -> None:
    listing = call("gallery")
    assert listing.returncode == 0, listing.stderr
    for name in ("pendulum:N", "sling", "sling-hooked", "pendulum-xy", "spring-double-pendulum"):
        assert name in listing.stdout
    printed = call("gallery", "sling")
    assert printed.stdout.startswith('name = "sling"')
    assert call("gallery", "pendulum:3", "--out", "chain.toml").returncode == 0
    assert "u3" in call("derive", "chain.toml").stdout
    missing = call("gallery", "slinq")
    assert missing.returncode == 2
    assert "Did you mean 'sling'?" in missing.stderr


def test_variants_are_chosen_by_name(call) -> None:
    from svyaz import gallery

    name = "ball-and-beam"
    what, choices = next(iter(gallery.variants_of(name).items()))
    other = call("derive", name, "--with", f"{what}={choices[-1]}", "--json", "-")
    assert other.returncode == 0, other.stderr
    assert json.loads(other.stdout) != json.loads(call("derive", name, "--json", "-").stdout)
    assert call("derive", name, "--with", f"{what}=nonsense").returncode == 2
    assert call("derive", "sling", "--with", "a=b").returncode == 2


@pytest.mark.parametrize("command", ["derive", "check", "simulate", "report", "gallery"])
def test_help_teaches_by_examples(call, command) -> None:
    done = call(command, "--help")
    assert done.returncode == 0
    assert "Examples:" in done.stdout
    assert f"svyaz {command}" in done.stdout


def test_help_loads_no_library(python) -> None:
    code = (
        "import sys; from svyaz.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy', 'symengine', 'llvmlite', 'numba', 'scipy', 'sympy') if m in sys.modules])\n"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_N1_1_check_says_what_auto_has_chosen_also_where_that_is_nothing(call, model) -> None:
    """A constraint that is linear in the coordinates is held without gains; -0 is 0."""
    text = MODEL.replace('["x"]', '["x", "y"]').replace("x'^2", "(x'^2 + y'^2)")
    model.write_text(text + '[[constraint]]\nname = "line"\nequation = "-y = 0"\n', encoding="utf-8")
    done = call("check", "spring.toml")
    assert done.returncode == 0
    assert "κ = 0 (damping ratio 1) chosen from" in " ".join(done.stdout.split())
    assert "-0 " not in done.stdout


RING = """name = "ring"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
[[constraint]]
name = "rod"
equation = "x^2 + y^2 = 1"
[initial]
x = 1
"y'" = 1
"""
LEFT_OUT = "note: [run] stabilize is not part of these equations; add --stabilize 20 to write its terms\n"


@pytest.mark.parametrize("language", ["text", "latex", "json", "python", "c"])
def test_V1_derive_says_that_gains_of_the_run_are_left_out(call, tmp_path, language) -> None:
    """On standard error (JSON has it among its notes); the equations themselves are those of a model without gains."""
    (tmp_path / "plain.toml").write_text(RING)
    (tmp_path / "held.toml").write_text(f"{RING}[run]\nstabilize = 20\n")
    plain, held = (call("derive", f"{name}.toml", "--format", language) for name in ("plain", "held"))
    assert (plain.returncode, plain.stderr) == (0, "")
    assert (held.returncode, held.stderr) == (0, LEFT_OUT)
    if language == "json":
        records = [json.loads(done.stdout) for done in (plain, held)]
        assert [len(record.pop("notes")) for record in records] == [0, 1]
        assert records[0] == records[1]
    else:
        assert plain.stdout == held.stdout


@pytest.mark.parametrize(
    ("word", "arguments", "told"),
    [
        ('"auto"', (), "add --stabilize auto"),
        ('"projection"', (), "it moves the state after each step"),
        ("{ alpha = 20, beta = 100 }", (), "add --stabilize GAINS"),
        ('"off"', (), ""),
        ("20", ("--stabilize", "off"), ""),
        ("20", ("--stabilize", "10"), ""),
        ("20", ("--form", "shulgin"), ""),
        ("20", ("--format", "c", "--program", "--method", "rk4", "--step", "0.1", "--until", "1"), ""),
    ],
)
def test_V1_derive_tells_of_gains_where_they_are_left_out_alone(call, tmp_path, word, arguments, told) -> None:
    (tmp_path / "ring.toml").write_text(f"{RING}[run]\nstabilize = {word}\n")
    done = call("derive", "ring.toml", *arguments)
    assert done.returncode == 0, done.stderr
    assert told in done.stderr
    assert bool(told) == bool(done.stderr)


def test_V1_regulate_prints_which_limit_a_run_passed(call, tmp_path) -> None:
    """x = exp(-t) - exp(-2t) passes 1/5 at t = 0.3235 and goes as far as 1/4."""
    cart = """name = "cart"
coordinates = ["x"]
kinetic = "x'^2/2"
inputs = { u = 0 }
forces = { x = "u" }
limits = { x = [-3, 0.2] }
"""
    (tmp_path / "cart.toml").write_text(cart)
    asked = ("regulate", "cart.toml", "--poles=-1,-2", "--run", "--start", "x'=1", "--until", "1")
    told = " ".join(call(*asked, "--beyond").stdout.split())
    assert "regulator: beyond its limits -3 ≤ x ≤ 0.2 from t = 0.323507, as far as 0.25" in told
