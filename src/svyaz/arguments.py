"""Arguments from Python: each is checked against the annotation of its parameter before anything is computed.

A number is real and finite, a table has names for keys, an array holds finite numbers. What does not fit is a
``ModelError`` that names the parameter. Conversions are those that lose nothing: lists to arrays, scalars of NumPy to
numbers of Python.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Mapping
from functools import cache, wraps
from math import inf, isfinite
from numbers import Integral, Real
from os import PathLike
from reprlib import Repr
from typing import ParamSpec, TypeAlias, TypeVar

import numpy as np

from svyaz.expr import ModelError, Problem

Words = ParamSpec("Words")
Result = TypeVar("Result")

Positive: TypeAlias = float
"""A parameter that must be above zero."""

NotNegative: TypeAlias = float
"""A parameter that must be zero or above."""

Duration: TypeAlias = float
"""A time limit in seconds, zero or above; infinite where there is none."""

Count: TypeAlias = int
"""A parameter that is a whole number, one or more."""

Natural: TypeAlias = int
"""A parameter that is a whole number, zero or more."""

Span: TypeAlias = tuple[float, float]
"""Two different numbers, the smaller first."""


class Misfit(Exception):
    """A value is not what its annotation says; ``inside``: it is the right container of a wrong value."""

    def __init__(self, message: str, *, inside: bool = False) -> None:
        super().__init__(message)
        self.inside = inside


Check: TypeAlias = Callable[[object], object]
"""Gives the value as it is used, or raises ``Misfit`` with what was expected."""


def check_arguments(call: Callable[Words, Result]) -> Callable[Words, Result]:
    """The function with its arguments checked against its annotations.

    >>> @check_arguments
    ... def wait(seconds: "float | None" = None) -> None: ...
    >>> wait(seconds=float("nan"))
    Traceback (most recent call last):
    svyaz.expr.errors.ModelError: error: 'seconds' must be a finite number, not nan
    """
    signature = inspect.signature(show_options(call))

    @wraps(call)
    def call_fitting(*arguments: Words.args, **options: Words.kwargs) -> Result:
        try:
            given = signature.bind(*arguments, **options)
        except TypeError as mistake:
            raise TypeError(f"{call.__qualname__}() {mistake}") from None
        for name, value in given.arguments.items():
            parameter = signature.parameters[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                given.arguments[name] = tuple(fit_argument(name, each, str(parameter.annotation)) for each in value)
            elif parameter.kind is not parameter.VAR_KEYWORD and parameter.annotation is not parameter.empty:
                given.arguments[name] = fit_argument(name, value, str(parameter.annotation))
        return call(*given.args, **given.kwargs)

    return call_fitting


def show_options(call: Callable[Words, Result]) -> Callable[Words, Result]:
    """The function with each option of ``**options: Unpack[Options]`` in its signature; ``DEFAULTS`` stands beside Options."""
    signature = inspect.signature(call)
    *others, last = signature.parameters.values()
    if last.kind is last.VAR_KEYWORD and str(last.annotation).startswith("Unpack["):
        options = call.__globals__[last.annotation[7:-1]]
        values, keyword = vars(sys.modules[options.__module__])["DEFAULTS"], last.KEYWORD_ONLY
        for name, kind in options.__annotations__.items():
            others.append(inspect.Parameter(name, keyword, default=values.get(name), annotation=kind.__forward_arg__))
        vars(call)["__signature__"] = signature.replace(parameters=others)
    return call


def fit_argument(name: str, value: object, annotation: str) -> object:
    """The value of a parameter as it is used; a ModelError that names the parameter where it does not fit."""
    try:
        return checker(annotation)(value)
    except Misfit as misfit:
        text = f"'{name}'{misfit}" if misfit.inside else f"'{name}' must be {misfit}, not {short_text(value)}"
        raise ModelError([Problem(text)]) from None


_REPR = Repr()
_REPR.maxstring = _REPR.maxother = 50


def short_text(value: object) -> str:
    """A value in a message, not longer than a line."""
    try:
        return _REPR.repr(value)
    except Exception:
        return f"a {type(value).__name__}"


@cache
def checker(annotation: str) -> Check:
    """The check of an annotation; names that it does not know are classes, found among the bases of a value."""
    kinds = _divide(annotation, "|")
    if len(kinds) > 1:
        return _any_of(tuple(checker(kind) for kind in kinds))
    kind, _, rest = annotation.partition("[")
    inner = _divide(rest.removesuffix("]"), ",")
    match kind:
        case "Mapping" | "dict":
            return _table(checker(inner[1]))
        case "Sequence" | "list":
            return _list(checker(inner[0]), None)
        case "tuple":
            return _list(checker(inner[0]), None if inner[-1] == "..." else len(inner))
    return _KINDS.get(kind) or _instance(kind)


def _divide(text: str, mark: str) -> list[str]:
    """The parts of an annotation at the marks outside its brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == mark and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _any_of(checks: tuple[Check, ...]) -> Check:
    def check(value: object) -> object:
        expected: list[str] = []
        for each in checks:
            try:
                return each(value)
            except Misfit as misfit:
                if misfit.inside:
                    raise
                expected.append(str(misfit))
        expected = [text for text in dict.fromkeys(expected) if text != "None"] or ["None"]
        raise Misfit(" or ".join(expected))

    return check


def _number(value: object) -> object:
    plain: object = value.item() if isinstance(value, np.generic | np.ndarray) and value.ndim == 0 else value
    if isinstance(plain, bool) or not isinstance(plain, Real | int | float):
        raise Misfit("a number")
    try:
        found: float = plain if isinstance(plain, int | float) else float(plain)
        finite = isfinite(found)
    except OverflowError:
        finite = False
    if not finite:
        raise Misfit("a finite number")
    return found


def _whole(value: object) -> object:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool) or not isinstance(plain, Integral):
        raise Misfit("a whole number")
    return int(plain)


def _at_least(each: Check, least: float, expected: str) -> Check:
    def check(value: object) -> object:
        try:
            found = each(value)
        except Misfit:
            raise Misfit(expected) from None
        if not found >= least:  # type: ignore[operator]
            raise Misfit(expected)
        return found

    return check


def _duration(value: object) -> object:
    return value if isinstance(value, float) and value == inf else _KINDS["NotNegative"](value)


def _span(value: object) -> object:
    pair: tuple[float, float] = _list(_number, 2)(value)  # type: ignore[assignment]
    if not pair[0] < pair[1]:
        raise Misfit("a pair of numbers, the smaller first")
    return pair


def _law(value: object) -> object:
    """A law for an input: its table, text or function is read by those who run it."""
    if isinstance(value, str | list | tuple | np.ndarray) or callable(value) or hasattr(value, "free_symbols"):
        return value
    try:
        return _number(value)
    except Misfit as misfit:
        raise Misfit(f"a text, {misfit}, an expression, a table or a function") from None


def _with_attributes(names: tuple[str, ...], expected: str) -> Check:
    def check(value: object) -> object:
        if isinstance(value, type) or not all(hasattr(value, name) for name in names):
            raise Misfit(expected)
        return value

    return check


def _anything(value: object) -> object:
    """What is checked where it is read."""
    return value


def _flag(value: object) -> object:
    if not isinstance(value, bool | np.bool_):
        raise Misfit("True or False")
    return bool(value)


def _array(value: object) -> object:
    """An array of finite numbers; a list of anything else is the right container of a wrong value."""
    listed = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping | set)
    if not listed and not hasattr(value, "__array__"):
        return _number(value)
    try:
        found = np.asarray(value)
        if found.dtype.kind == "O":  # numbers of other libraries
            found = np.array([_number(each) for each in found.flat], dtype=float).reshape(found.shape)
    except (ValueError, TypeError, Misfit):
        raise Misfit(f" must hold finite numbers, not {short_text(value)}", inside=True) from None
    if found.size and (found.dtype.kind not in "iuf" or not np.isfinite(found).all()):
        raise Misfit(f" must hold finite numbers, not {short_text(value)}", inside=True)
    return found.astype(float)


def _table(each: Check) -> Check:
    def check(value: object) -> object:
        if not isinstance(value, Mapping):
            raise Misfit("a table of values by name")
        return {_key(key): _inner(each, entry, f", the value of {key!r},") for key, entry in value.items()}

    return check


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise Misfit(f" must have names as keys, not {short_text(key)}", inside=True)
    return key


def _list(each: Check, length: int | None) -> Check:
    expected = "a list" if length is None else {2: "a pair"}.get(length, f"{length} values")

    def check(value: object) -> object:
        if not isinstance(value, Collection | np.ndarray) or isinstance(value, str | bytes | Mapping):
            raise Misfit(expected)
        if (isinstance(value, np.ndarray) and value.ndim != 1) or (length is not None and len(value) != length):
            raise Misfit(expected)
        return tuple(_inner(each, entry, f", entry {k},") for k, entry in enumerate(value))

    return check


def _inner(each: Check, value: object, where: str) -> object:
    try:
        return each(value)
    except Misfit as misfit:
        text = (
            f"{where.removesuffix(',')}{misfit}"
            if misfit.inside
            else f"{where} must be {misfit}, not {short_text(value)}"
        )
        raise Misfit(text, inside=True) from None


def _instance(name: str) -> Check:
    """A value of a class of this name; its module is not loaded for it."""
    short = name.rpartition(".")[2]

    def check(value: object) -> object:
        if not any(base.__name__ in (short, f"Working{short}") for base in type(value).__mro__):
            raise Misfit(f"an object of the class {short}")
        return value

    return check


def _exactly(kind: type | tuple[type, ...], expected: str) -> Check:
    def check(value: object) -> object:
        if not isinstance(value, kind):
            raise Misfit(expected)
        return value

    return check


def _callable(value: object) -> object:
    if not callable(value):
        raise Misfit("a function")
    return value


_PATH = _exactly((str, PathLike), "a path")
_KINDS: dict[str, Check] = {
    "float": _number,
    "int": _whole,
    "bool": _flag,
    "str": _exactly(str, "a text"),
    "None": _exactly(type(None), "None"),
    "Array": _array,
    "ArrayLike": _array,
    "Path": _PATH,
    "PathLike": _PATH,
    "os.PathLike": _PATH,
    "TextIO": _with_attributes(("write",), "an open file"),
    "LinearSpace": _with_attributes(tuple("ABCD"), "a linear system with matrices A, B, C, D"),
    "Positive": _at_least(_number, 5e-324, "a positive number"),
    "NotNegative": _at_least(_number, 0.0, "a number that is not negative"),
    "Duration": _duration,
    "Count": _at_least(_whole, 1, "a positive whole number"),
    "Natural": _at_least(_whole, 0, "a whole number that is not negative"),
    "Span": _span,
    "Law": _law,
    "Laws": _table(_law),
    "Table": _table(_anything),
    "Callable": _callable,
    "Progress": _callable,
    **dict.fromkeys(("Self", "object", "Stabilize", "Tolerance", "Json", "Values"), _anything),
}
