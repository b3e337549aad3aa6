"""Shared pairs and opened products: fewer operations, the same values."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import pytest
import symengine as se

from svyaz.program.building import build
from svyaz.program.counts import operations
from svyaz.program.graph import Graph
from svyaz.program.optimise import open_products, reachable
from svyaz.program.sharing import share_pairs

NAMES = ("x", "y", "z", "w")


def graph_of(*texts: str) -> tuple[Graph, list[int]]:
    graph = Graph(("a", "b"), NAMES)
    return graph, [graph.read(se.sympify(text)) for text in texts]


def value(graph: Graph, number: int, inputs: Sequence[float]) -> float:
    """The value of a node of sums, products and inputs."""
    node = graph.nodes[number]
    if node[0] == "input":
        return inputs[node[1]]
    if node[0] == "sum":
        return sum(c * value(graph, n, inputs) for c, n in node[1])
    assert node[0] == "product"
    return prod(value(graph, n, inputs) ** p for n, p in node[1])


def test_the_most_frequent_pair_is_shared() -> None:
    graph, roots = graph_of("x*y*z", "x*y*w", "x*y*z*w")
    shared = share_pairs(graph, roots, "product")
    pair = graph.product([(graph.symbols[se.Symbol(name)], 1) for name in ("x", "y")])
    assert all(pair in reachable(graph, [root]) for root in shared)
    assert [value(graph, root, (2, 3, 5, 7)) for root in shared] == [30, 42, 210]


def test_sums_of_opposite_sign_are_shared() -> None:
    graph, roots = graph_of("x - y + z", "y - x + w")
    first, second = ({n: c for c, n in graph.nodes[root][1]} for root in share_pairs(graph, roots, "sum"))
    (joint,) = set(first) & set(second)
    assert first[joint] == -second[joint]


def test_a_sum_that_holds_a_pair_beside_its_terms_keeps_its_value() -> None:
    graph, (joint, other) = graph_of("x + y", "x + y + z")
    x, y = (graph.symbols[se.Symbol(name)] for name in ("x", "y"))
    twice = graph.sum([(1.0, x), (1.0, y), (1.0, joint)])
    shared = share_pairs(graph, [joint, other, twice], "sum")
    assert [value(graph, root, (2, 3, 5, 7)) for root in shared] == [5, 10, 10]


def test_products_are_opened_over_a_single_bracket_of_two_terms() -> None:
    graph, roots = graph_of("a*w*(x + y)", "w*(x + y)*(y + z)", "w*(x + y + z)")
    opened = open_products(graph, roots)
    assert graph.nodes[opened[0]][0] == "sum"
    assert [graph.nodes[root][0] for root in opened[1:]] == ["product", "product"]


@pytest.mark.parametrize("n", [8, 16])
def test_forces_of_a_chain_take_operations_in_proportion_to_its_links(n) -> None:
    """Σ_j c_max(i,j) sin(u_i - u_j) w_j for all i: prefix and suffix sums are found, n² products are not needed."""
    u, w, c = (se.symbols(f"{name}0:{n}") for name in "uwc")
    outputs = [
        (f"f{i}", se.Add(*[c[max(i, j)] * se.sin(u[i] - u[j]) * w[j] for j in range(n) if j != i])) for i in range(n)
    ]
    inputs = [str(s) for s in (*u, *w)]
    program = build(outputs, inputs=inputs, parameters=[str(s) for s in c])
    counts = operations(program)
    assert counts["trig"] <= 2 * n
    assert counts["mul"] <= 10 * n
    assert counts["add"] <= 10 * n
