"""Programs for NumPy, JAX and CasADi: the native numbers, for one state and for many, and exact derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from sample_programs import everything

import svyaz
from svyaz.program.exports import export
from svyaz.program.native import compile_program


def module(program, language: str) -> dict:
    space: dict = {}
    exec(compile(export(program, language), language, "exec"), space)
    return space


def test_numpy_gives_the_native_numbers_for_many_states(tape) -> None:
    program = everything(tape)
    random = np.random.default_rng(11)
    p, x = random.uniform(0.5, 2, len(program.parameters)), random.uniform(-2, 2, (20, len(program.inputs)))
    space = module(program, "numpy")
    found = space["step"](x, space["constants"](p))
    native = compile_program(program)
    wanted = native.evaluate(x, native.constants(dict(zip(program.parameters, p, strict=True))))
    assert np.allclose(found, wanted, rtol=1e-12, atol=1e-12)
    alone = space["step"](x[3], space["constants"](list(p)))
    assert np.allclose(alone, wanted[3], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("model", ["pendulum:2", "sleigh", "planar-2r", "lawden"])
def test_rates_of_models_for_numpy(model) -> None:
    equations = svyaz.load(model).derive()
    space: dict = {}
    exec(equations.code("numpy"), space)
    f = equations.function()
    x = f.initial + 0.1 * np.random.default_rng(2).normal(size=(5, len(f.states)))
    rows = np.column_stack([np.zeros(5), x])
    found = space["rates"](
        rows, space["constants"](space.get("DEFAULTS", list(f.equations.system.parameters.values())))
    )
    assert np.allclose(found, f(0.0, x), rtol=1e-10, atol=1e-12)


def test_jax_differentiates_exactly() -> None:
    jax = pytest.importorskip("jax")
    equations = svyaz.load("pendulum:2").derive()
    space: dict = {}
    exec(equations.code("jax"), space)
    f = equations.function()
    x = f.initial + 0.1
    constants = space["constants"](space["DEFAULTS"])
    row = np.array([0.0, *x])
    assert np.allclose(jax.jit(space["rates"])(row, constants), f(0.0, x), atol=1e-12)
    assert np.allclose(jax.jacobian(space["rates"])(row, constants)[:, 1:], f.jacobian(0.0, x), atol=1e-11)


def test_casadi_differentiates_exactly() -> None:
    ca = pytest.importorskip("casadi")
    equations = svyaz.load("sleigh").derive()
    space: dict = {}
    exec(equations.code("casadi"), space)
    f = equations.function()
    x = f.initial + 0.1
    row = ca.SX.sym("x", len(f.states) + 1)
    rates = space["rates"](row, space["constants"](space["DEFAULTS"]))
    both = ca.Function("both", [row], [rates, ca.jacobian(rates, row)])
    value, slopes = both([0.0, *x])
    assert np.allclose(np.array(value).ravel(), f(0.0, x), atol=1e-12)
    assert np.allclose(np.array(slopes)[:, 1:], f.jacobian(0.0, x), atol=1e-10)
