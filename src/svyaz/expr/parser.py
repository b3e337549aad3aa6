"""The parser: from the text of an expression to SymEngine.

Grammar, loosest first::

    equation:  sum '=' sum
    sum:       product (('+' | '-') product)*
    product:   signed (('*' | '/') signed)*
    signed:    ('-' | '+') signed | power
    power:     operand (('^' | '**') signed)?            so -x^2 = -(x^2), 2^-3 = 1/8, 2^3^2 = 2^9
    operand:   number | name | name "'" | name "''" | '(' sum ')' | function '(' sum (',' sum)* ')'

The parser keeps its own stack of open groups instead of recursing, so no text can exhaust the stack of the
interpreter, and it hands whole sums and products to SymEngine, so a chain of n terms costs O(n). The text is never
evaluated by anything else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

import symengine
from symengine import Basic

from svyaz.expr import arithmetic
from svyaz.expr.arithmetic import FUNCTIONS, Refused, Value
from svyaz.expr.errors import ModelError, Place, Problem, quote, start_of
from svyaz.expr.lexer import Token, tokens
from svyaz.expr.scope import MAX_UNKNOWNS, Scope, Unknowns

UNITS = re.compile(r"[kcm]?g|[kcm]?m|m?s|t|min|h|k?N|Nm|J|k?W|k?Hz|rad|m?V|m?A|K|k?Pa|Ohm|H|lb|in|ft")
"""What is taken for a unit where it follows a number."""

MAX_NESTING = 200
MAX_WORK = 1_000_000
"""Bound on the sum of the depths of all tokens: building a nested sum costs its length at every level."""


def parse(text: str, scope: Scope, place: Place | None = None) -> Basic:
    """The expression written in ``text``, which starts at ``place`` of a file.

    Raises ModelError with all unknown names, or with the first mistake of grammar, each with its place.
    """
    start = place or start_of(text)
    found = tokens(text, start)
    equals = next((token for token in found if token.kind == "="), None)
    if equals is not None:
        hint = "an expression is expected here, not an equation"
        raise ModelError([Problem("unexpected '='", start.moved(text, equals.start), hint)])
    parser = _Parser(text, start, scope)
    result = parser.expression(found, len(text), "the expression is empty")
    parser.finish()
    return result


def parse_each(texts: Sequence[tuple[str, Place]], scope: Scope) -> list[Basic | ModelError]:
    """Expressions as ``parse`` reads each of them at its place, or what is wrong with it."""
    found: list[Basic | ModelError] = []
    for text, place in texts:
        try:
            found.append(parse(text, scope, place))
        except ModelError as error:
            found.append(error)
    return found


def parse_equation(text: str, scope: Scope, place: Place | None = None) -> tuple[Basic, Basic]:
    """The two sides of the equation ``left = right`` written in ``text``, which starts at ``place`` of a file."""
    start = place or start_of(text)
    found = tokens(text, start)
    equals = [number for number, token in enumerate(found) if token.kind == "="]
    if not equals:
        hint = "write left = right, for example x^2 + y^2 = l^2"
        raise ModelError([Problem("an equation needs '='", start, hint)])
    middle = equals[0]
    if len(equals) > 1:
        second = found[equals[1]]
        hint = "write a single =" if second.start == found[middle].start + 1 else "write one equation at a time"
        raise ModelError([Problem("a second '='", start.moved(text, second.start), hint)])
    parser = _Parser(text, start, scope)
    left = parser.expression(found[:middle], found[middle].start, "nothing stands to the left of '='")
    right = parser.expression(found[middle + 1 :], len(text), "nothing stands to the right of '='")
    parser.finish()
    return left, right


class _Waiting(NamedTuple):
    """A sign that waits for its operand (``base`` is None), or a base that waits for its exponent."""

    token: Token
    base: Value | None


class _Group:
    """What stands between two parentheses (or the whole text), as far as it has been read."""

    __slots__ = ("arguments", "begin", "call", "comma", "divide", "factors", "minus", "opener", "terms", "waiting")

    def __init__(self, opener: Token | None, call: Token | None, begin: int) -> None:
        self.opener = opener
        self.call = call
        self.begin = begin
        self.arguments: list[Value] = []
        self.terms: list[Value] = []
        self.factors: list[Value] = []
        self.waiting: list[_Waiting] = []
        self.minus = False
        self.divide: Token | None = None
        self.comma: str | None = None


class _Parser:
    """Reads one text: keeps the open groups, what they wait for, and the unknown names."""

    def __init__(self, text: str, place: Place, scope: Scope) -> None:
        self.text = text
        self.place = place
        self.unknowns = Unknowns(scope)
        self.work = 0
        self.depth = 0
        self.group = _Group(None, None, 0)
        self.outer: list[_Group] = []
        self.called: Token | None = None
        self.found: list[Token] = []

    def expression(self, found: list[Token], end: int, nothing: str) -> Basic:
        """Read all the tokens; ``end`` is where a missing operand is reported."""
        if not found:
            self.fail(nothing, end)
        self.found = found
        self.depth = 0
        self.group = _Group(None, None, found[0].start)
        self.outer = []
        value: Value | None = None
        for number, token in enumerate(found):
            value = self.operand(token, number) if value is None else self.operator(token, number, value)
            if len(self.unknowns.found) > MAX_UNKNOWNS:
                self.finish()
            self.work += self.depth
            if self.depth > MAX_NESTING:
                self.fail(f"the expression is nested too deeply: more than {MAX_NESTING} levels", token.start)
            if self.work > MAX_WORK:
                self.fail("the expression is too long for the depth of its nesting", token.start)
        last = found[-1]
        if value is None and last.kind != "(":
            self.fail(f"something is missing after {quote(last.text)}", last.start + len(last.text))
        if value is None or self.outer:
            opener = self.group.opener
            assert opener is not None
            self.fail("'(' is never closed", opener.start)
        return self.sum(value).expression

    # What may stand where an operand is expected.

    def operand(self, token: Token, number: int) -> Value | None:
        kind = token.kind
        if kind == "number":
            return self.checked(token.start, arithmetic.literal, token.text)
        if kind == "name":
            return self.name(token, number)
        if kind == "(":
            self.outer.append(self.group)
            self.group = _Group(token, self.called, token.start + 1)
            self.called = None
            self.depth += 1
        elif kind in "+-":
            self.group.waiting.append(_Waiting(token, None))
            self.depth += 1
        else:
            self.missing_operand(token, number)
        return None

    def name(self, token: Token, number: int) -> Value | None:
        following = self.found[number + 1] if number + 1 < len(self.found) else None
        called = following is not None and following.kind == "("
        if token.text in FUNCTIONS:
            if not called:
                argument = following.text if following is not None and following.kind in ("name", "number") else "..."
                self.fail(
                    f"the function {quote(token.text)} needs its argument in parentheses",
                    token.start,
                    f"write {token.text}({argument})",
                )
            self.called = token
            return None
        if called and self.unknowns.scope.meaning(token.text) is None:
            self.unknowns.note_call(token)
            self.called = token
            return None
        return self.unknowns.look_up(token)

    # What may stand after an operand.

    def operator(self, token: Token, number: int, value: Value) -> Value | None:
        kind = token.kind
        group = self.group
        if kind in "*/":
            self.factor(value)
            group.divide = token if kind == "/" else None
        elif kind in "+-":
            self.term(value)
            group.minus = kind == "-"
            group.begin = token.start
        elif kind == "^":
            group.waiting.append(_Waiting(token, value))
            self.depth += 1
        elif kind == ")" and self.outer:
            return self.close(value)
        elif kind == "," and group.call is not None:
            group.arguments.append(self.sum(value))
            group.begin = token.start + 1
            group.comma = self.decimal_comma(number) or group.comma
        else:
            self.missing_operator(token, number)
        return None

    def factor(self, value: Value) -> None:
        """A factor is complete: apply the powers and signs that wait for it, last first."""
        group = self.group
        while group.waiting:
            token, base = group.waiting.pop()
            self.depth -= 1
            if base is not None:
                value = self.checked(token.start, arithmetic.power, base, value)
            elif token.kind == "-":
                value = arithmetic.negative(value)
        if group.divide is not None:
            value = self.checked(group.divide.start, arithmetic.inverse, value)
            group.divide = None
        group.factors.append(value)

    def term(self, value: Value) -> None:
        self.factor(value)
        group = self.group
        value = self.checked(group.begin, arithmetic.product, group.factors)
        group.terms.append(arithmetic.negative(value) if group.minus else value)
        group.factors = []
        group.minus = False

    def sum(self, value: Value) -> Value:
        self.term(value)
        group = self.group
        result = self.checked(group.begin, arithmetic.total, group.terms)
        group.terms = []
        return result

    def close(self, value: Value) -> Value:
        """A group is complete: its value, or the value of the function of its arguments."""
        value = self.sum(value)
        group = self.group
        self.group = self.outer.pop()
        self.depth -= 1
        if group.call is None:
            return value
        name = group.call.text
        function = FUNCTIONS.get(name)
        if function is None:
            return Value(symengine.Symbol("?" + name), None)
        arguments = [*group.arguments, value]
        if len(arguments) < function.least or (function.most is not None and len(arguments) > function.most):
            least = {1: "one argument", 2: "two arguments"}[function.least]
            needed = least if function.most is not None else f"at least {least}"
            hint = None if group.comma is None else f"if {group.comma} is meant, write it with a decimal point"
            given = "one was" if len(arguments) == 1 else f"{len(arguments)} were"
            self.fail(f"{quote(name)} takes {needed}, but {given} given", group.call.start, hint)
        return self.checked(group.call.start, arithmetic.call, function, arguments)

    # Mistakes.

    def at(self, offset: int) -> Place:
        return self.place.moved(self.text, offset)

    def fail(self, message: str, offset: int, hint: str | None = None) -> NoReturn:
        """The mistake that ends the reading, after the unknown names met so far."""
        problems = self.unknowns.problems(self.at)
        raise ModelError([*problems, Problem(message, self.at(offset), hint)]) from None

    def finish(self) -> None:
        problems = self.unknowns.problems(self.at)
        if problems:
            raise ModelError(problems)

    def checked(self, offset: int, operation: Callable[..., Value], *operands: object) -> Value:
        """The operation, with its refusal reported at ``offset``."""
        try:
            return operation(*operands)
        except Refused as refusal:
            self.fail(str(refusal), offset)

    def missing_operand(self, token: Token, number: int) -> NoReturn:
        before = self.found[number - 1].text if number else ""
        if token.kind == ")" and before == "(":
            call = self.group.call
            what = "nothing stands in the parentheses" if call is None else f"{quote(call.text)} needs an argument"
            self.fail(what, token.start)
        after = f" after {quote(before)}" if before else ""
        self.fail(f"a number, a name or '(' is expected{after}, but {quote(token.text)} was found", token.start)

    def missing_operator(self, token: Token, number: int) -> NoReturn:
        before = self.found[number - 1]
        if token.kind == ")":
            self.fail("')' without '('", token.start)
        if token.kind == ",":
            number_meant = self.decimal_comma(number)
            if number_meant is not None:
                self.fail("a decimal comma", token.start, f"write {number_meant}, with a point")
            self.fail("unexpected ','", token.start, "a comma stands only between the arguments of a function")
        if before.kind == token.kind == "number":
            hint = "a number has one decimal point" if token.text[0] == "." else "write one number, or * for a product"
        elif before.kind == "number" and UNITS.fullmatch(token.text):
            hint = f"numbers stand without units: write {before.text}, in units that fit together, and the unit in a comment"
        else:
            left = "(...)" if before.kind == ")" else before.text
            right = "(...)" if token.kind == "(" else token.text + "(...)" * (token.text in FUNCTIONS)
            hint = f"write {left}*{right} for a product"
        message = f"an operator is missing between {quote(before.text)} and {quote(token.text)}"
        self.fail(message, token.start, hint)

    def decimal_comma(self, number: int) -> str | None:
        """What was meant by two whole numbers with nothing but a comma between them, such as 0,01."""
        if number + 1 >= len(self.found):
            return None
        before, comma, after = self.found[number - 1 : number + 2]
        touching = before.start + len(before.text) == comma.start == after.start - 1
        if touching and before.text.isdigit() and after.kind == "number" and after.text[0] != ".":
            return f"{before.text}.{after.text}"
        return None
