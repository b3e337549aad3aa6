"""Programs with every operation and with awkward names, and their native numbers, for the tests of export languages."""

from __future__ import annotations

import numpy as np

from svyaz.program.native import compile_program
from svyaz.program.tape import BINARY, UNARY, LinearSystem, Program


def everything(tape) -> Program:
    """Every operation, two linear systems the second of which uses the first, outputs that end with rates."""
    t = tape()
    a, b = t("parameter", 0), t("parameter", 1)
    x, y = t("input", 1), t("input", 2)
    small = t("div", x, t("add", t("const", 4.0), t("mul", x, x)))
    positive = t("add", t("const", 1.5), t("mul", y, y))
    values = [t(op, positive if op in ("log", "sqrt") else small) for op in UNARY]
    values += [t(op, positive, t("mul", a, small)) for op in BINARY]
    values += [t("sub", a, t("sub", b, t("neg", t("add", x, y)))), t("div", a, t("div", b, positive))]
    values += [t("neg", t("mul", t("sub", a, x), t("const", -2.5e-7))), t("pow", positive, t("const", -2.0))]
    values += [t("mul", t("neg", t("mul", a, x)), y), t("pow", t("neg", positive), t("const", 3.0)), t("const", 1e300)]
    values += [t("sign", t("const", 0.0)), t("mul", t("const", 3.0), t("pow", t("pow", positive, small), y))]
    one = t("const", 1.0)
    first = LinearSystem(2, (positive, x, x, t("neg", positive)), ((a, b), (one, y)), True)
    unknowns = [t("unknown", 0, k) for k in range(4)]
    second = LinearSystem(
        2, (t("const", 0.0), one, t("add", positive, positive), unknowns[0]), ((unknowns[3], small),), False
    )
    values += [*unknowns, t("mul", t("unknown", 1, 1), a), a, t("mul", a, b)]
    outputs = [(f"out {k}", node) for k, node in enumerate(values)]
    outputs += [("rate[φ]", t("unknown", 1, 0)), ("rate[lambda']", small)]
    return Program(("lambda", "m"), ("t", "φ", "lambda'"), tuple(t.nodes), tuple(outputs), (first, second))


def sum_of_all(names: tuple[str, ...], tape) -> Program:
    """Parameters and inputs of awkward names: the sum of k² × the k-th."""
    t = tape()
    nodes = [t("parameter", k) for k in range(len(names))] + [t("input", k) for k in range(len(names))]
    total = t("sin", nodes[0])
    for k, node in enumerate(nodes):
        total = t("add", total, t("mul", t("const", float(k * k)), t("cos", node)))
    return Program(names, tuple(f"{name}'" for name in names), tuple(t.nodes), (("total", total),))


def states(program: Program, count: int = 10) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(11)
    return random.uniform(0.5, 2, len(program.parameters)), random.uniform(-2, 2, (count, len(program.inputs)))


def native(program: Program, parameters: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    made = compile_program(program)
    return made.evaluate(inputs, made.constants(parameters))


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
