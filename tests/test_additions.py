"""A form, a language, a command, a model, a method or a joint is one new file, which is dropped into a copy of the package."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

NIELSEN = '''"""Nielsen's equations: ∂Ṫ/∂q̇ - 2 ∂T/∂q + ∂P/∂q + ∂D/∂q̇ = Q, linear in the accelerations of Ṫ (J. Nielsen 1935)."""

import symengine as se

from svyaz.expr import ONE, TIME, ZERO, acceleration, differentiate, gradient, substitute, total_derivative, velocity
from svyaz.forms import Form, applied_forces, free_equations, kinetic_and_potential, with_constraints


def nielsen(system):
    kinetic, potential = kinetic_and_potential(system)
    q = [se.Symbol(name) for name in system.coordinates]
    v, a = ([of(name) for name in system.coordinates] for of in (velocity, acceleration))
    rate = total_derivative(kinetic, {**dict(zip(q, v)), **dict(zip(v, a)), TIME: ONE})
    left = [
        differentiate(rate, s) - 2 * differentiate(kinetic, x) + differentiate(potential, x) + other
        for x, s, other in zip(q, v, applied_forces(system))
    ]
    still = dict.fromkeys(a, ZERO)
    free = free_equations(system, "nielsen", [gradient(e, a) for e in left], [substitute(e, still) for e in left])
    return with_constraints(free, system.constraints)


FORM = Form("nielsen", nielsen)
'''

AWK = '''"""A program as an AWK script that reads the parameters and the inputs, a line each, and prints the outputs."""

from svyaz.program.code import Code
from svyaz.program.formulas import ARITHMETIC_RULES, ATOM, POWER, Notation, Rule, functions, listing

NOTATION = Notation(ARITHMETIC_RULES | functions() | {"pow": Rule("{0}^{1}", POWER, (ATOM, ATOM))}, repr, first=1)


def _solve(system):
    raise NotImplementedError("linear systems are left to other languages")


CODE = Code(
    NOTATION,
    "    {0} = {1}",
    lambda name, formulas: [f"    {name}[{k}] = {formula}" for k, formula in enumerate(formulas, start=1)],
    _solve,
)


def write(program):
    written = listing(program, NOTATION)
    lines = ["NR == 1 { split($0, p)", *CODE.constants(written), "}", "NR > 1 { split($0, x)", *CODE.step(written)]
    shown = f"for (k = 1; k <= {len(program.outputs)}; k++) printf \\"%.17g\\\\n\\", out[k]"
    return "\\n".join([*lines, f"    {shown}", "}", ""])
'''

GREET = '''"""``svyaz greet``: says hello."""

import click

from svyaz.commands.common import examples

LISTED = ("Look", 49, "Say hello.")


@click.command(epilog=examples("svyaz greet"))
def command() -> None:
    """Say hello."""
    click.echo("hello")
'''

SPRING = """#: motion = free | damped
name = "a spring"
coordinates = ["x"]
kinetic = "m/2*x'^2"
potential = "k/2*x^2"
parameters = { m = 1, k = 4 }
initial = { x = 1 }
run = { form = "lagrange", until = 1 }
#: motion=damped: run = { form = "lagrange", until = 2 }
"""

HEUN = '''"""Heun's method of order 3.

K. Heun, Neue Methoden zur approximativen Integration der Differentialgleichungen, Z. Math. Phys. 45 (1900) 23.
"""

from svyaz.integrate.tableau import Tableau, printed

TABLEAU: Tableau = printed(name="heun3", order=3, a="0\\n1/3\\n0 2/3", b="1/4 0 3/4", c="0 1/3 2/3")
'''

CYLINDRICAL = '''"""A turn about an axis of the base and a way along it."""

from dataclasses import dataclass

from svyaz.model.joint import Joint
from svyaz.model.joints.prismatic import JOINT as PRISMATIC
from svyaz.model.joints.revolute import JOINT as REVOLUTE


@dataclass(frozen=True)
class _Cylindrical(Joint):
    def chain(self, axes):
        return ("sleeve", REVOLUTE, axes[0]), ("", PRISMATIC, axes[0])


JOINT = _Cylindrical("cylindrical", 7, ("a", "z"), "the angle about its axis and the way along it", axes=1)
'''

NUT = """
name = "a nut on a rod"
gravity = [0, 0, -9.81]
[[body]]
name = "nut"
base = "ground"
joint = "cylindrical"
coordinates = ["a", "z"]
axis = [0, 0, 1]
mass = 2
center = [0.1, 0, 0]
central_inertia = { xx = 0.01, yy = 0.01, zz = 0.02 }
[initial]
"a'" = 3
"z'" = 1
[run]
until = 1
"""


def test_a_form_is_used_from_the_command_line_and_from_a_model_file(copied_package, tmp_path: Path) -> None:
    copied_package.drop("forms/named/nielsen.py", NIELSEN)
    run = copied_package.svyaz
    assert "nielsen" in run("derive", "--help").stdout
    own = json.loads(run("derive", "pendulum:2", "--form", "nielsen", "--json", "-").stdout)
    assert own["form"] == "nielsen"
    text = run("gallery", "pendulum-xy").stdout.replace('form = "multipliers"', 'form = "nielsen"')
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    ends = {}
    for model in ("own.toml", "pendulum-xy"):
        done = run("simulate", model, "--until", "1", "--json", "-")
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        ends[result["form"]] = [*result["final"].values()]
    assert ends["nielsen"] == pytest.approx(ends["multipliers"], rel=1e-9)
    (tmp_path / "wrong.toml").write_text(text.replace("nielsen", "nilsen"), encoding="utf-8")
    assert "did you mean 'nielsen'?" in run("derive", "wrong.toml").stderr


def test_a_language_is_written_by_all_commands_that_write_code(copied_package, tmp_path: Path) -> None:
    copied_package.drop("program/exports/awk.py", AWK)
    run = copied_package.svyaz
    assert all("|awk|" in run(command, "--help").stdout for command in ("derive", "inertia", "invert"))
    assert run("derive", "inverse-cart", "--format", "awk").stdout.startswith("NR == 1 {")
    script = tmp_path / "arm.awk"
    assert run("inertia", "planar-2r", "--format", "awk", "--out", str(script)).returncode == 0
    told = json.loads(run("inertia", "planar-2r", "--at", "q1=0.3,q2=-0.7", "--json", "-").stdout)
    awk = shutil.which("awk")
    if awk is None:
        pytest.skip("no awk on this machine: its text cannot be run")
    numbers = " ".join(map(repr, told["parameters"].values()))
    done = subprocess.run(
        [awk, "-f", script], input=f"{numbers}\n0.3 -0.7\n", capture_output=True, text=True, check=True
    )
    expected = np.array(told["value"])[np.tril_indices(2)]
    assert [float(word) for word in done.stdout.split()] == pytest.approx(expected, rel=1e-14)


def test_a_command_is_listed_and_run(copied_package) -> None:
    copied_package.drop("commands/greet.py", GREET)
    assert "  greet       Say hello." in copied_package.svyaz("--help").stdout
    assert copied_package.svyaz("greet").stdout == "hello\n"


def test_a_model_of_the_gallery_is_found_with_its_variants(copied_package) -> None:
    copied_package.drop("gallery/models/spring.toml", SPRING)
    run = copied_package.svyaz
    listed = next(line for line in run("gallery", env={"COLUMNS": "200"}).stdout.splitlines() if "spring " in line)
    assert "motion" in listed
    assert "--with motion=free|damped" in run("gallery", "spring").stderr
    assert "until = 1 " in run("gallery", "spring").stdout
    assert "until = 2 " in run("gallery", "spring", "--with", "motion=damped").stdout
    assert "#:" not in run("gallery", "spring").stdout


def test_a_method_integrates_and_keeps_its_order(copied_package) -> None:
    copied_package.drop("integrate/methods/heun3.py", HEUN)
    run = copied_package.svyaz
    assert "heun3" in run("simulate", "--help").stdout

    def final(*options: str) -> np.ndarray:
        done = run("simulate", "pendulum:2", "--until", "1", *options, "--json", "-")
        assert done.returncode == 0, done.stderr
        return np.array([*json.loads(done.stdout)["final"].values()])

    exact = final("--method", "dop853", "--rtol", "1e-12")
    errors = [np.abs(final("--method", "heun3", "--step", step) - exact).max() for step in ("0.01", "0.005")]
    assert errors[0] / errors[1] == pytest.approx(8, rel=0.1)


def test_a_joint_is_read_and_moves(copied_package, tmp_path: Path) -> None:
    """The nut falls along the rod and turns evenly about it; its equations say the same, by recursions too."""
    copied_package.drop("model/joints/cylindrical.py", CYLINDRICAL)
    run = copied_package.svyaz
    (tmp_path / "nut.toml").write_text(NUT, encoding="utf-8")
    for form in ("lagrange", "articulated"):
        done = run("simulate", "nut.toml", "--form", form, "--json", "-")
        assert done.returncode == 0, done.stderr
        fallen = json.loads(done.stdout)["final"]
        assert [fallen[name] for name in ("a", "z", "a'", "z'")] == pytest.approx([3, 1 - 9.81 / 2, 3, 1 - 9.81])
    (tmp_path / "wrong.toml").write_text(NUT.replace('"cylindrical"', '"cylindric"'), encoding="utf-8")
    assert "did you mean 'cylindrical'?" in run("derive", "wrong.toml").stderr
