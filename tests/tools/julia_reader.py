"""The Julia that exported programs use, computed from the syntax tree of an independent grammar (tree-sitter)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tree_sitter
import tree_sitter_julia

_ELEMENTWISE = {
    "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "exp": np.exp, "log": np.log, "abs": np.abs, "sign": np.sign,
    "exp2": np.exp2, "log2": np.log2, "round": np.round,
}  # fmt: skip


def _sum(a: Any, dims: int) -> Any:
    return np.sum(a, axis=dims - 1, keepdims=True)


def _error(message: str) -> None:
    raise ArithmeticError(message)


BASE: dict[str, Any] = {
    **_ELEMENTWISE,
    "atan": lambda *a: math.atan2(*a) if len(a) == 2 else math.atan(a[0]),
    "min": min,
    "max": max,
    "sum": _sum,
    "transpose": np.transpose,
    "vec": lambda a: np.ravel(a, order="F"),
    "reshape": lambda a, n, m: np.reshape(a, (n, m), order="F"),
    "all": lambda test, a: bool(np.all(test(a))),
    "isfinite": np.isfinite,
    "error": _error,
    "String": "String",
    "Float64": "Float64",
}

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: math.pow(a, b),
    ".*": lambda a, b: a * b,
    "\\": np.linalg.solve,
}


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


def julia_module(text: str) -> dict[str, Any]:
    """The names of the one module in the text, functions as Python functions."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_julia.language()))
    root = parser.parse(text.encode()).root_node
    assert not root.has_error, "not Julia"
    (module,) = [child for child in root.named_children if child.type == "module_definition"]
    names = dict(BASE)
    for child in module.named_children[1:]:
        if child.type == "const_statement":
            _run(child.named_children[0], names)
        elif child.type == "function_definition":
            _define(child, names)
        else:
            assert child.type == "string_literal", child.type
    return names


def _define(node: tree_sitter.Node, names: dict[str, Any]) -> None:
    signature, *body = node.named_children
    name, arguments = signature.named_children[0].named_children
    letters = [_text(argument) for argument in arguments.named_children]

    def function(*values: Any) -> Any:
        local = {**names, **dict(zip(letters, values, strict=True))}
        try:
            for statement in body:
                _run(statement, local)
        except _Return as done:
            return done.value
        return None

    names[_text(name)] = function


def _text(node: tree_sitter.Node) -> str:
    return node.text.decode()


def _run(node: tree_sitter.Node, names: dict[str, Any]) -> None:
    if node.type == "assignment":
        target, _, value = node.named_children
        names[_text(target)] = _value(value, names)
    elif node.type == "return_statement":
        raise _Return(_value(node.named_children[0], names))
    else:
        _value(node, names)


def _value(node: tree_sitter.Node, names: dict[str, Any]) -> Any:
    kind, parts = node.type, node.named_children
    if kind == "identifier":
        return names[_text(node)]
    if kind == "integer_literal":
        return int(_text(node))
    if kind == "float_literal":
        return float(_text(node))
    if kind == "string_literal":
        return "".join(_text(part)[part.type == "escape_sequence" :] for part in parts)
    if kind == "parenthesized_expression":
        return _value(parts[0], names)
    if kind == "unary_expression":
        assert _text(parts[0]) == "-"
        return -_value(parts[1], names)
    if kind == "binary_expression":
        return _binary(parts, names)
    if kind == "vector_expression":
        return [_value(part, names) for part in parts]
    if kind == "matrix_expression":
        return np.concatenate([np.atleast_1d(_value(row.named_children[0], names)) for row in parts])
    if kind in ("call_expression", "broadcast_call_expression"):
        return _call(parts, names)
    assert kind == "index_expression", kind
    return _indexed(parts, names)


def _binary(parts: list[tree_sitter.Node], names: dict[str, Any]) -> Any:
    left, operator, right = parts
    word = _text(operator)
    first = _value(left, names)
    if word in ("&&", "||"):
        return _value(right, names) if first == (word == "&&") else first
    return BINARY[word](first, _value(right, names))


def _call(parts: list[tree_sitter.Node], names: dict[str, Any]) -> Any:
    function, arguments = parts
    plain = [_value(a, names) for a in arguments.named_children if a.type != "named_argument"]
    named = {
        _text(a.named_children[0]): _value(a.named_children[2], names)
        for a in arguments.named_children
        if a.type == "named_argument"
    }
    if function.type == "operator":  # -(a + b)
        (only,) = plain
        assert _text(function) == "-"
        return -only
    return _value(function, names)(*plain, **named)


def _indexed(parts: list[tree_sitter.Node], names: dict[str, Any]) -> Any:
    what = _value(parts[0], names)
    if isinstance(what, str):  # String["a", "b"] and Float64[]
        return [_value(part, names) for part in parts[1].named_children]
    (place,) = parts[1].named_children
    if place.type == "range_expression":
        first, last = place.named_children
        assert _text(last) == "end"
        return what[_value(first, names) - 1 :]
    index = _value(place, names)
    assert index >= 1
    return what[index - 1]
