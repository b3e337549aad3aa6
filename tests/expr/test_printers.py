"""Text, Unicode and LaTeX of expressions: the order and the signs of the books."""

from __future__ import annotations

import itertools

import pytest
import symengine as se

from svyaz.expr import Scope, parse, to_latex, to_text, to_unicode

NAMES = "m1 m2 L1 L2 g u1 u2 x y phi m l k a J x2 x10 theta1 t".split()  # noqa: SIM905
SCOPE = Scope(
    symbols={name: se.Symbol(name) for name in NAMES},
    derivatives={name: se.Symbol(name + "'") for name in NAMES},
    second={name: se.Symbol(name + "''") for name in NAMES},
)
ORDER = ["m1", "m2", "g", "L1", "L2", "u1", "u2"]

DOUBLE_PENDULUM = (
    "(m1 + m2)*L1^2*u1'' + m2*L1*L2*cos(u1 - u2)*u2'' + m2*L1*L2*sin(u1 - u2)*u2'^2 + (m1 + m2)*g*L1*sin(u1)"
)
DOUBLE_PENDULUM_LATEX = (
    r"\left(m_{1} + m_{2}\right) L_{1}^{2} \ddot{u}_{1}"
    r" + m_{2} L_{1} L_{2} \cos\left(u_{1} - u_{2}\right) \ddot{u}_{2}"
    r" + m_{2} L_{1} L_{2} \sin\left(u_{1} - u_{2}\right) \dot{u}_{2}^{2}"
    r" + \left(m_{1} + m_{2}\right) g L_{1} \sin u_{1}"
)


def read(text: str) -> se.Basic:
    return parse(text, SCOPE)


@pytest.mark.parametrize("order", [None, ORDER])
def test_the_double_pendulum_is_printed_as_in_the_book(order: list[str] | None) -> None:
    expression = read(DOUBLE_PENDULUM)
    assert to_text(expression, order) == DOUBLE_PENDULUM
    assert to_latex(expression, order) == DOUBLE_PENDULUM_LATEX


@pytest.mark.parametrize(
    "text",
    [
        "m*l^2*u1'' + m*g*l*sin(u1)",
        "1 - cos(u1)",
        "m*g*l*(1 - cos(u1))",
        "x^2 + x + 1",
        "x - 1",
        "a/(2*l)",
        "3*m/(4*k^2*l)",
        "1/sqrt(x)",
        "x^(3/2)",
        "x^(1/3)",
        "x^1.4",
        "-1/x^2",
        "-(x - y)",
        "a - 2*(x - y)",
        "2^x",
        "(2/3)^x",
        "x^(-y)",
        "x^(2*y)",
        "exp(-x^2)",
        "exp(1)",
        "x2 + x10",
        "2.5*x + 1e-05*y",
        "pi*x/6",
        "max(x, -x, y)",
        "atan2(y, -x)",
        "sin(u1)*cos(u1)*sin(u2)*cos(u2)",
        "m*k*x*sin(u1)*x'",
        "-1/2",
        "x/3 - 1/2",
        "k*(x - y)^2/2",
    ],
)
def test_text_is_written_as_people_write_it(text: str) -> None:
    assert to_text(read(text)) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cos(u2 - u1)", "cos(u1 - u2)"),
        ("sin(u2 - u1)", "-sin(u1 - u2)"),
        ("sin(u2 - u1)^2", "sin(u1 - u2)^2"),
        ("sin(u2 - u1)^3", "-sin(u1 - u2)^3"),
        ("1/sin(u2 - u1)", "-1/sin(u1 - u2)"),
        ("m*sin(u2 - u1)*u2'", "-m*sin(u1 - u2)*u2'"),
        ("1 - sin(u2 - u1)", "sin(u1 - u2) + 1"),
        ("tan(u2 - u1)", "-tan(u1 - u2)"),
        ("cosh(u2 - u1) + sinh(u2 - u1)", "cosh(u1 - u2) - sinh(u1 - u2)"),
        ("abs(u2 - u1)", "abs(u1 - u2)"),
        ("sqrt(sin(u2 - u1))", "sqrt(-sin(u1 - u2))"),
    ],
)
def test_the_leading_coordinate_is_positive_under_even_and_odd_functions(text: str, shown: str) -> None:
    assert to_text(read(text), ORDER) == shown
    assert read(shown) == read(text)


def test_the_order_of_names_can_be_given() -> None:
    expression = read("g*m*l + a*k")
    assert to_text(expression, ["l", "m", "g", "k", "a"]) == "l*m*g + k*a"
    assert to_text(expression, ["a", "g", "k", "l", "m"]) == "a*k + g*l*m"
    assert to_text(expression, ["g"]) == "g*m*l + a*k"


def test_the_order_does_not_depend_on_how_the_sum_arose() -> None:
    terms = [read(term) for term in ("m*x''", "k*x", "(x + y)*(x - y)*(x + 2*y)", "x'^2", "x'*y'", "-1.5")]
    texts = {to_text(se.Add(*some)) for some in itertools.permutations(terms)}
    assert len(texts) == 1
    factors = [read(factor) for factor in ("x + y", "x - y", "x + 2*y", "sin(x)", "cos(x)", "x'")]
    assert len({to_text(se.Mul(*some)) for some in itertools.permutations(factors)}) == 1


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("m*(x + y)/2", r"\frac{m \left(x + y\right)}{2}"),
        ("(x + y)/2", r"\frac{x + y}{2}"),
        ("-x/3", r"-\frac{x}{3}"),
        ("2*3^x", r"2 \cdot 3^{x}"),
        ("x^(3/2)/sqrt(y)", r"\frac{x^{3/2}}{\sqrt{y}}"),
        ("exp(-x^2)", r"e^{-x^{2}}"),
        ("sin(u1)^2", r"\sin^{2} u_{1}"),
        ("sin(u1 - u2)^2", r"\sin^{2}\left(u_{1} - u_{2}\right)"),
        ("sin(x)*cos(y)*x'", r"\sin x \, \cos y \, \dot{x}"),
        ("sin(x)^y", r"\left(\sin x\right)^{y}"),
        ("abs(theta1')", r"\left|\dot{\theta}_{1}\right|"),
        ("log(x)*asin(y)", r"\ln\left(x\right) \arcsin\left(y\right)"),
        ("1.5e-7*x", r"1.5 \cdot 10^{-7} x"),
        ("2.0*x", r"2 x"),
        ("x - 2*(y - 1)", r"x - 2 \left(y - 1\right)"),
        ("-(x - y)", r"-\left(x - y\right)"),
        ("(1/2)^x", r"\left(\frac{1}{2}\right)^{x}"),
        ("(x^y)^0.3", r"\left(x^{y}\right)^{0.3}"),
        ("30*deg", r"\frac{\pi}{6}"),
        ("-J*phi''", r"-J \ddot{\varphi}"),
    ],
)
def test_latex(text: str, latex: str) -> None:
    assert to_latex(read(text)) == latex


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("m*l^2*u1'' - m*g*l*sin(u1)", "m·l²·ü₁ − m·g·l·sin(u₁)"),
        ("theta1'^12", "θ̇₁¹²"),
        ("sqrt(x) + sqrt(x + 1)", "√x + √(x + 1)"),
        ("x^(1/3)", "x^(1/3)"),
        ("1e-7*x", "1·10⁻⁷·x"),
        ("pi/6", "π/6"),
    ],
)
def test_unicode(text: str, shown: str) -> None:
    assert to_unicode(read(text)) == shown


def test_large_and_deep_expressions_are_printed_without_recursion() -> None:
    x, y = se.symbols("x y")
    deep = x
    for _ in range(1200):
        deep = se.sin(deep) + y
    assert to_text(deep).count("sin(") == 1200
    assert to_latex(deep).count(r"\sin") == 1200
    shared = x
    for _ in range(12):
        shared = se.sin(shared) * se.cos(shared) + y
    assert to_text(shared).count("x") == 2**12
    wide = se.Add(*[se.Symbol(f"q{k}") for k in range(3000)])
    assert to_text(wide) == " + ".join(f"q{k}" for k in range(3000))
