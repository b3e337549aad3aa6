"""Products that go into one sum become a fused multiply-add, as the text says it: nothing is left to the compiler's taste.

So the same operations give the same bits wherever they are compiled: for one state or for several at once.

    x + a·b = fma(a, b, x),    x - a·b = fma(-a, b, x),    a·b - x = fma(a, b, -x)

where the product is used nowhere else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_PRODUCT = re.compile(r"  (%\d+) = fmul contract (double|<\d+ x double>) (.+), (.+)")
_SUM = re.compile(r"  (%\d+) = f(add|sub) contract (double|<\d+ x double>) (.+), (.+)")
_VALUE = re.compile(r"%\d+")


def fused(lines: Sequence[str]) -> list[str]:
    """The lines of a function with fused operations; no other operation may be contracted."""
    used = Counter(name for line in lines for name in _VALUE.findall(line.partition("=")[2] or line))
    products: dict[str, tuple[str, str]] = {}
    found = []
    for line in lines:
        product = _PRODUCT.fullmatch(line)
        if product is not None and used[product[1]] == 1:
            products[product[1]] = product[3], product[4]
        total = _SUM.fullmatch(line)
        found += [line.replace(" contract ", " ", 1)] if total is None else _written(total, products)
    return found


def _written(total: re.Match[str], products: dict[str, tuple[str, str]]) -> list[str]:
    """A sum or difference, fused where one of its parts is such a product."""
    name, kind, a, b = total[1], total[3], total[4], total[5]
    less = total[2] == "sub"
    if b in products:
        (first, second), other = products[b], a
        turned = first if less else ""
    elif a in products:
        (first, second), other = products[a], b
        turned = other if less else ""
    else:
        return [f"  {name} = f{total[2]} {kind} {a}, {b}"]
    opposite = f"%minus.{name[1:]}"
    lines = [f"  {opposite} = fneg {kind} {turned}"] if turned else []
    if turned and b in products:
        first = opposite
    elif turned:
        other = opposite
    suffix = "f64" if kind == "double" else f"v{kind[1:].split()[0]}f64"
    return [*lines, f"  {name} = call {kind} @llvm.fma.{suffix}({kind} {first}, {kind} {second}, {kind} {other})"]
