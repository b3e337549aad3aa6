"""The grammar of expressions: what is read, and what is said about mistakes."""

from __future__ import annotations

import math

import pytest
import symengine as se

from svyaz.expr import RESERVED, ModelError, Place, Scope, is_name, parse, parse_equation

NAMES = ("x", "y", "phi", "m", "l", "g")
MOVING = ("x", "y", "phi")
SCOPE = Scope(
    symbols={name: se.Symbol(name) for name in NAMES},
    derivatives={name: se.Symbol(name + "'") for name in MOVING},
)
x, y, phi, m, length, g = (SCOPE.symbols[name] for name in NAMES)
xd, phid = se.Symbol("x'"), se.Symbol("phi'")
half = se.Rational(1, 2)


def problems(text: str, scope: Scope = SCOPE, place: Place | None = None) -> list[tuple[int, str, str]]:
    with pytest.raises(ModelError) as caught:
        parse(text, scope, place)
    return [(p.place.column, p.message, p.hint or "") for p in caught.value.problems]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-x^2", -(x**2)),
        ("2^-3", se.Rational(1, 8)),
        ("2^3^2", se.Integer(512)),
        ("2^-x^2", 2 ** (-(x**2))),
        ("x**2", x**2),
        ("-x**-2", -(x**-2)),
        ("x - y - m", x - y - m),
        ("x - (y - (m - x))", m - y),
        ("-(x - y)", -(x - y)),
        ("x/y/m", x / (y * m)),
        ("x/y*m", x * m / y),
        ("x*-y", -x * y),
        ("--x", x),
        ("+x", x),
        ("2 - -3", se.Integer(5)),
        ("1/3*x", x / 3),
        ("1.5", se.RealDouble(1.5)),
        (".5*x", se.RealDouble(0.5) * x),
        ("2.*x", se.RealDouble(2.0) * x),
        ("1e-3", se.RealDouble(1e-3)),
        ("2.5E+4", se.RealDouble(2.5e4)),
        ("x^2.0", x**2),
        ("x^0.5", se.sqrt(x)),
        ("sqrt(x)", x**half),
        ("30*deg", se.pi / 6),
        ("pi", se.pi),
        ("t*x", se.Symbol("t") * x),
        ("x'^2 + phi'", xd**2 + phid),
        ("m/2*x'^2", m * xd**2 / 2),
        ("(x + y)*(x - y)", (x + y) * (x - y)),
        ("atan2(y, x)", se.atan2(y, x)),
        ("min(x, y, 3)", se.Min(x, y, 3)),
        ("max(x, y)", se.Max(x, y)),
        ("abs(x)*sign(y)", se.Abs(x) * se.sign(y)),
        ("tan(x + pi/2)", -se.cos(x) / se.sin(x)),
        (" x\n + y ", x + y),
        ("0^0", se.Integer(1)),
    ],
)
def test_expressions_are_read(text: str, expected: se.Basic) -> None:
    assert parse(text, SCOPE) == expected


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log"])
def test_functions_are_those_of_symengine(name: str) -> None:
    assert parse(f"{name}(x)", SCOPE) == getattr(se, name)(x)


@pytest.mark.parametrize("value", [1.7, -0.6])
@pytest.mark.parametrize("slope", ["1", "-1", "2.5", "-sqrt(3)", "1/3"])
def test_the_angle_of_proportional_arguments(value: float, slope: str) -> None:
    number = float(parse(slope, SCOPE).n(53, real=True))
    expression = parse(f"atan2({slope}*x, x)", SCOPE).xreplace({x: se.RealDouble(value)})
    assert float(expression.n(53, real=True)) == pytest.approx(math.atan2(number * value, value), abs=1e-15)


@pytest.mark.parametrize(
    ("text", "value"),
    [("sign(sqrt(-x))", 1.0), ("sign(-3*(-x)^0.3)", -1.0), ("sign((-x)^m)", 1.0), ("sign(-2*sign(x))", 1.0)],
)
def test_signs_of_powers_of_negated_bases(text: str, value: float) -> None:
    expression = parse(text, SCOPE).xreplace({x: se.RealDouble(-0.7), m: se.RealDouble(1.3)})
    assert float(expression.n(53, real=True)) == value


def test_names_of_any_script_are_read() -> None:
    scope = Scope({"θ": se.Symbol("θ"), "скорость": se.Symbol("скорость"), "_a1": se.Symbol("_a1")})
    assert parse("θ + скорость*_a1", scope) == se.Symbol("θ") + se.Symbol("скорость") * se.Symbol("_a1")


def test_equations_have_two_sides() -> None:
    assert parse_equation("x^2 + y^2 = l^2", SCOPE) == (x**2 + y**2, length**2)


def test_second_derivatives_only_where_they_are_allowed() -> None:
    scope = Scope(SCOPE.symbols, SCOPE.derivatives, {"x": se.Symbol("x''")})
    assert parse_equation("m*x'' + g = 0", scope) == (m * se.Symbol("x''") + g, 0)
    assert problems("x''", Scope(SCOPE.symbols, SCOPE.derivatives, what="the potential")) == [
        (1, "second derivatives such as \"x''\" are not allowed in the potential", "")
    ]


@pytest.mark.parametrize(
    ("text", "column", "message", "hint"),
    [
        ("2x", 2, "an operator is missing between '2' and 'x'", "write 2*x"),
        ("2 sin(x)", 3, "missing between '2' and 'sin'", "write 2*sin(...)"),
        ("(x+1)(x-1)", 6, "missing between ')' and '('", "write (...)*(...)"),
        ("l(x)", 2, "missing between 'l' and '('", "write l*(...)"),
        ("x y", 3, "missing between 'x' and 'y'", "write x*y"),
        ("1.2.3", 4, "missing", "one decimal point"),
        ("1 000", 3, "missing", "write one number"),
        ("0,01", 2, "a decimal comma", "write 0.01"),
        ("sin(0,5)", 1, "'sin' takes one argument, but 2 were given", "0.5"),
        ("x, y", 2, "unexpected ','", "arguments of a function"),
        ("max(x)", 1, "'max' takes at least two arguments, but one was given", ""),
        ("atan2(x)", 1, "'atan2' takes two arguments, but one was given", ""),
        ("sin x", 1, "the function 'sin' needs its argument in parentheses", "write sin(x)"),
        ("sin + 1", 1, "the function 'sin' needs its argument in parentheses", "write sin(...)"),
        ("sin()", 5, "'sin' needs an argument", ""),
        ("()", 2, "nothing stands in the parentheses", ""),
        ("", 1, "the expression is empty", ""),
        ("x +", 4, "something is missing after '+'", ""),
        ("x + * y", 5, "a number, a name or '(' is expected after '+', but '*' was found", ""),
        ("(x", 1, "'(' is never closed", ""),
        ("x)", 2, "')' without '('", ""),
        ("x = y", 3, "unexpected '='", "not an equation"),
        ("x·y", 2, "unexpected character '·'", "write *"),
        ("x−y", 2, "unexpected character '−'", "write -"),
        ("x²", 2, "unexpected character '²'", "write ^2"),
        ("x³", 2, "unexpected character '³'", "write ^3"),
        ("30°", 3, "unexpected character '°'", "30*deg"),
        ("x\u0307", 2, "a combining mark, U+0307", "x'"),
        ("x’", 2, "unexpected character '’'", "apostrophe"),
        ("u₁", 2, "unexpected character '₁'", "digits 0 to 9"),
        ("(x + y)'", 8, "unexpected character", "directly after the name of a coordinate"),
        ("[x]", 1, "unexpected character '['", "round parentheses"),
        ("|x|", 1, "unexpected character '|'", "abs(...)"),
        ("x\u00a0+ y", 2, "a special space, U+00A0", "ordinary space"),
    ],
)
def test_mistakes_of_grammar(text: str, column: int, message: str, hint: str) -> None:
    ((at, said, hinted),) = problems(text)
    assert at == column
    assert message in said
    assert hint in hinted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1/0", "division by zero"),
        ("x/(2 - 2)", "division by zero"),
        ("0^-1", "division by zero"),
        ("0.0^-1", "division by zero"),
        ("1/(x - x)", "division by zero"),
        ("x/0.0", "division by zero"),
        ("0/0", "division by zero"),
        ("sqrt(-1)", "must be zero or positive"),
        ("sqrt(-pi)", "must be zero or positive"),
        ("log(0)", "must be positive"),
        ("log(-1.5)", "must be positive"),
        ("asin(2)", "must be between -1 and 1"),
        ("acos(1.5)", "must be between -1 and 1"),
        ("atan2(0, 0)", "must be not both zero"),
        ("(-8)^(1/3)", "a power of the negative number -8"),
        ("tan(pi/2)", "not finite"),
        ("log(x*log(1/2)/x)", "must be positive"),
        ("exp(1000)", "too large"),
        ("1e400", "too large"),
        ("1e308", "too large"),
        ("1e-400", "too small"),
        ("1e200*1e200*x", "too large"),
        ("(1e10*x)^100", "too large"),
        ("9^9^9^9", "the exponent is too large"),
        ("2^(2^(2^100))", "the exponent is too large"),
        ("(x + 1)^100000", "the exponent is too large"),
        ("x^-1001", "the exponent is too large"),
        ("((x^1000)^1000)^1000", "the exponent is too large"),
        ("(x^1000*y)^2", "the exponent is too large"),
        ("10^999", "too large"),
        ("(10^250*x)^1000", "too large"),
        ("((1 + 10^-200)^20)^1000", "too large"),
        ("0^x", "a power of zero"),
        ("(-2)^x", "a power of a negative number"),
    ],
)
def test_what_has_no_finite_real_value_is_refused(text: str, message: str) -> None:
    ((_, said, _),) = problems(text)
    assert message in said


def test_all_unknown_names_are_reported_together() -> None:
    found = problems("x*psi + ph' + M*psi + foo(y)", Scope(SCOPE.symbols, SCOPE.derivatives, what="the potential"))
    assert found == [
        (3, "unknown name 'psi' in the potential", "did you mean 'pi' or 'phi'?"),
        (9, 'unknown name "ph\'" in the potential', "did you mean \"phi'\" or 'phi'?"),
        (15, "unknown name 'M' in the potential", "did you mean 'm'?"),
        (23, "unknown function 'foo'", ""),
    ]


def test_unknown_names_are_reported_before_the_mistake_that_ends_the_reading() -> None:
    assert [column for column, _, _ in problems("q + z*2w")] == [1, 5, 8]


def test_a_thousand_unknown_names_are_summed_up() -> None:
    found = problems(" + ".join(f"a{k}" for k in range(1000)))
    assert len(found) == 21
    assert found[-1][1] == "and 980 more unknown names"
    found = problems(" + ".join(f"a{k}" for k in range(5000)))
    assert (len(found), found[-1][1]) == (21, "and at least 981 more unknown names")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("m'", "'m' has no time derivative", "only coordinates have time derivatives"),
        ("t'", "'t' has no time derivative", "only coordinates"),
        ("x'''", "at most two apostrophes", ""),
        ("ln(x)", "unknown function 'ln'", "write log(...)"),
        ("arctg(x)", "unknown function 'arctg'", "write atan(...)"),
        ("Sin(x)", "unknown function 'Sin'", "did you mean 'sin'?"),
        ("π", "unknown name 'π'", "write pi"),
        ("e^x", "unknown name 'e'", "write exp(1)"),
        ("х", "unknown name 'х'", "U+0445"),  # Cyrillic
    ],
)
def test_hints_for_names(text: str, message: str, hint: str) -> None:
    ((_, said, hinted),) = problems(text)
    assert message in said
    assert hint in hinted


def test_forbidden_names_give_the_reason() -> None:
    reasons = {"x'": "the potential depends on positions alone", "t": "it must not change in time"}
    scope = Scope(SCOPE.symbols, forbidden=reasons, what="the potential")
    assert problems("x' + t", scope) == [
        (1, '"x\'" may not be used in the potential: the potential depends on positions alone', ""),
        (6, "'t' may not be used in the potential: it must not change in time", ""),
    ]
    assert problems("y'", scope)[0][1] == 'time derivatives such as "y\'" are not allowed in the potential'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "an equation needs '='"),
        ("x = ", "nothing stands to the right of '='"),
        ("= x", "nothing stands to the left of '='"),
        ("x == y", "a second '='"),
        ("x = y = m", "a second '='"),
        ("(x = y)", "'(' is never closed"),
    ],
)
def test_mistakes_in_equations(text: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_equation(text, SCOPE)
    assert caught.value.problems[0].message == message


def test_unknown_names_of_both_sides_are_reported() -> None:
    with pytest.raises(ModelError) as caught:
        parse_equation("q + x = w", SCOPE, Place("f", 2, 10, 'equation="q + x = w"'))
    assert [p.place.column for p in caught.value.problems if p.place] == [10, 18]


def test_places_are_counted_from_where_the_text_starts() -> None:
    with pytest.raises(ModelError) as caught:
        parse("x + q", SCOPE, Place("model.toml", 4, 14, 'potential = "x + q"'))
    assert str(caught.value).split("\n")[:3] == [
        "model.toml:4:18: unknown name 'q'",
        '    potential = "x + q"',
        "                     ^",
    ]


def test_places_in_text_of_several_lines() -> None:
    with pytest.raises(ModelError) as caught:
        parse("x +\n  q", SCOPE, Place("model.toml", 4, 1, "x +"))
    place = caught.value.problems[0].place
    assert place == Place("model.toml", 5, 3, "  q")


@pytest.mark.parametrize(
    ("name", "good"),
    [("x", True), ("u_1", True), ("θ2", True), ("2u", False), ("x'", False), ("", False), ("a b", False), ("a²", False),
     ("u₁", False), (" x", False), ("x" * 101, False), ("a-b", False), ("_", True)],
)  # fmt: skip
def test_what_may_be_a_name(name: str, good: bool) -> None:
    assert is_name(name) is good


def test_reserved_names() -> None:
    assert {"pi", "deg", "t", "sin", "atan2", "max"} <= RESERVED
    assert len(RESERVED) == 20


def test_names_may_stand_for_numbers() -> None:
    scope = Scope({"n": se.Integer(5000), "z": se.Integer(0), "x": x})
    assert "too large" in problems("x^n", scope)[0][1]
    assert problems("1/z", scope)[0][1] == "division by zero"
