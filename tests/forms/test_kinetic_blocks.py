"""Q1: the named blocks of Lagrange's and Routh's functions as expressions, against the functions themselves."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from steady_systems import steady_system

from svyaz import System
from svyaz.expr import evaluate
from svyaz.forms import derive, kinetic_blocks, lagrangian, shulgin_equations
from svyaz_published.steady_blocks import routh_blocks


def numbers(rows: tuple, values: dict[str, float]) -> np.ndarray:
    return np.array([[evaluate(e, values) for e in row] for row in rows])


@pytest.mark.parametrize("size", [(2, 2, 1), (1, 3, 2), (2, 1, 1)])
def test_Q1_routh_s_function_is_that_of_its_blocks(size: tuple[int, int, int]) -> None:
    """R* = L* - p'γ' at a state chosen at random; b1 is driven, and so β, the others γ."""
    k, l, m = size  # noqa: E741
    given = steady_system(7, k, l, m, driven=[0] if l > 1 else [])
    system = given.system
    found = kinetic_blocks(derive(system, "routh"))
    groups = found.groups
    assert (groups["b"], groups["g"]) == (
        given.cyclic[:1] if l > 1 else (),
        given.cyclic[1:] if l > 1 else given.cyclic,
    )
    rng = np.random.default_rng(3)
    values = {name: float(rng.uniform(-0.3, 0.3)) for name in (*system.states, *system.inputs, "t")}
    block = {name: numbers(rows, values) for name, rows in found.blocks.items()}
    speed = {key: np.array([[values[f"{q}'"]] for q in names]) for key, names in groups.items()}
    values |= {f"{q}'": float(x) for q, x in zip(groups["s"], (block["B"] @ speed["a"])[:, 0], strict=True)}
    whole = evaluate(lagrangian(system), values)

    def of(name: str) -> np.ndarray:
        shape = [len(groups[letter]) for letter in name[2:]]
        return block.get(name, np.zeros((*shape, 1)[:2]))

    def half(kind: str, keys: str) -> float:
        squares = sum((speed[x].T @ of(f"{kind}_{x}{x}") @ speed[x]).item() for x in keys) / 2
        pairs = pairwise(keys) if len(keys) < 3 else ("ab", "ag", "bg")
        return squares + sum((speed[x].T @ of(f"{kind}_{x}{y}") @ speed[y]).item() for x, y in pairs)

    linear = sum((of(f"a_{x}").T @ speed[x]).item() for x in "abg")
    assert half("a", "abg") + linear - block["W"].item() == pytest.approx(whole, abs=1e-12)
    p = sum(of(f"a_{x}g").T @ speed[x] for x in "ab") + of("a_gg") @ speed["g"] + of("a_g")
    turning = (of("b_ga") @ speed["a"] + of("b_gb") @ speed["b"] + of("b_g")).T @ p - p.T @ of("b_gg") @ p / 2
    linear = sum((of(f"b_{x}").T @ speed[x]).item() for x in "ab")
    routhian = half("b", "ab") + turning.item() + linear + block["R0"].item()
    assert routhian == pytest.approx(whole - (p.T @ speed["g"]).item(), abs=1e-12)


def test_Q1_expressions_and_numbers_of_the_blocks_agree() -> None:
    given = steady_system(7, 2, 2, 1, driven=[0])
    found = kinetic_blocks(derive(given.system, "routh"))
    point = {**dict.fromkeys((*given.system.states, *given.system.inputs, "t"), 0.0), **given.state}
    other = routh_blocks(given.system, given.state, dependent=found.groups["s"])
    for name, rows in found.blocks.items():
        if name in other.matrices:
            assert numbers(rows, point) == pytest.approx(other[name], abs=1e-13), name


def test_momenta_of_coordinates_that_are_not_cyclic_have_blocks() -> None:
    """The velocities of redundant coordinates contain those of γ then."""
    system = System(
        coordinates=["a", "g", "s"],
        kinetic="(a'^2 + 2*g'^2 + 3*s'^2)/2",
        potential="s + g^2",
        constraint=[{"equation": "s = a + 2*g", "dependent": "s"}],
        run={"momenta": ["g"]},
    )
    found = kinetic_blocks(derive(system, "routh"))
    told = {name: numbers(rows, {"a": 0.0, "g": 0.0, "s": 0.0}).tolist() for name, rows in found.blocks.items()}
    assert (told["B"], told["B_sg"]) == ([[1.0]], [[2.0]])
    assert (told["a_aa"], told["a_ag"], told["a_gg"]) == ([[4.0]], [[6.0]], [[14.0]])
    assert told["b_aa"][0][0] == pytest.approx(4 - 36 / 14)
    assert len(shulgin_equations(system).accelerated) == 2


def test_Q1_derive_shows_the_blocks(svyaz) -> None:
    text = svyaz("derive", "hoop", "--form", "routh").stdout
    assert "alpha = (x), gamma = (psi), s = (z):" in text
    assert "  a_gg = [[m*x^2 + J]]\n" in text
    assert "  b_gg = [[1/(m*x^2 + J)]]\n" in text
    assert "  R0 = -m*g*z\n" in text
    latex = svyaz("derive", "hoop", "--form", "routh", "--format", "latex").stdout
    assert r"b_{\gamma \gamma} &= \begin{pmatrix} \frac{1}{m x^{2} + J} \end{pmatrix}" in latex
    assert latex.count(r"\begin{aligned}") == 2
    record = json.loads(svyaz("derive", "hoop", "--form", "routh", "--json", "-").stdout)
    assert record["groups"] == {"alpha": ["x"], "beta": [], "gamma": ["psi"], "s": ["z"]}
    assert record["blocks"]["a_gg"] == [["m*x^2 + J"]]
    assert "blocks" not in json.loads(svyaz("derive", "hoop", "--form", "shulgin", "--json", "-").stdout)
