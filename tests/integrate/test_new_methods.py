"""A method is one file: dropped into a copy of the package it is chosen like any other, and no other file is touched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import svyaz

FILES = {
    "kutta3": '''"""Kutta's method of order 3.

W. Kutta, Beitrag zur näherungsweisen Integration totaler Differentialgleichungen, Z. Math. Phys. 46 (1901) 435.
"""

from svyaz.integrate.tableau import Tableau, printed

TABLEAU: Tableau = printed(
    name="kutta3",
    order=3,
    a="""
    0
    1/2
    -1  2
    """,
    b="1/6 2/3 1/6",
    c="0 1/2 1",
)
''',
    "midpoint": '''"""The implicit midpoint rule of order 2."""

from svyaz.integrate.tableau import Tableau, printed

TABLEAU: Tableau = printed(name="midpoint", order=2, a="1/2", b="1", c="1/2")
''',
}
MODEL = """
name = "pendulum"
coordinates = ["u"]
kinetic = "u'^2/2"
potential = "-cos(u)"
initial = { u = 1.0 }

[run]
method = "METHOD"
step = 0.01
until = 2
"""
TESTS = Path(__file__).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with a copy of the package, compiled loops included, into which the methods were dropped."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(Path(svyaz.__file__).parent, folder / "svyaz")
    for name, text in FILES.items():
        (folder / "svyaz" / "integrate" / "methods" / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python with the copy of the package."""
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def exact(time: float) -> float:
    """The pendulum that swings from u = 1 without speed: sin(u/2) = k sn(K - t), k = sin(1/2)."""
    from scipy.special import ellipj, ellipk

    k = np.sin(0.5)
    return float(2 * np.arcsin(k * ellipj(ellipk(k * k) - time, k * k)[0]))


@pytest.mark.parametrize("name", FILES)
def test_from_the_command_line(folder: Path, name: str) -> None:
    (folder / "pendulum.toml").write_text(MODEL.replace("METHOD", "rk4"), encoding="utf-8")
    done = run(folder, "svyaz", "simulate", "pendulum.toml", "--method", name, "--json", f"{name}.json")
    assert done.returncode == 0, done.stderr
    motion = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    assert (motion["method"], motion["status"], motion["steps"]) == (name, "finished", 200)
    assert 1e-10 < abs(motion["final"]["u"] - exact(2.0)) < 1e-4


@pytest.mark.parametrize("name", FILES)
def test_from_a_model_file(folder: Path, name: str) -> None:
    (folder / f"{name}.toml").write_text(MODEL.replace("METHOD", name), encoding="utf-8")
    done = run(folder, "svyaz", "simulate", f"{name}.toml")
    assert done.returncode == 0, done.stderr
    assert name in done.stdout
    (folder / f"{name}.toml").write_text(MODEL.replace("METHOD", name).replace("step", "rtol"), encoding="utf-8")
    done = run(folder, "svyaz", "simulate", f"{name}.toml")
    assert done.returncode != 0
    assert f"the method '{name}' has no error estimate: it needs a step" in done.stderr


def test_help_and_messages_name_it(folder: Path) -> None:
    assert all(name in run(folder, "svyaz", "simulate", "--help").stdout for name in FILES)
    done = run(folder, "svyaz", "simulate", "sleigh", "--method", "kuta3")
    assert "did you mean 'kutta3'?" in done.stderr


def test_in_the_test_of_orders(folder: Path) -> None:
    names = " or ".join(FILES)
    files = [str(TESTS / "test_integrate_orders.py"), str(TESTS / "test_methods.py")]
    done = run(
        folder, "pytest", "-q", "-rA", "-p", "no:cacheprovider", "-o", f"pythonpath={folder}", "-k", names, *files
    )
    assert done.returncode == 0, done.stdout
    for name in FILES:
        assert f"test_S4_observed_order[oscillator-{name}]" in done.stdout
        assert f"test_S4_order_conditions_hold_exactly[{name}]" in done.stdout
