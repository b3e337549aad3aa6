"""Slips in the paper on inertia matrices of trees (002), as its text has them, each as (error as printed, as corrected)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svyaz.arrays import Array
from svyaz_published.numbers import generator
from svyaz_published.tree_examples import (
    ARMS,
    CONDITIONS,
    Arm,
    balanced_links,
    condition_names,
    matrices,
    planar_quantities,
    spread,
)
from svyaz_published.trees import Posed, chain

Pair = tuple[float, float]


def _of(*numbers: int, arms: Sequence[Arm] = ARMS) -> list[str]:
    """The numbers that the conditions with these printed numbers determine; (19) is (17) and (18) for the second arm."""
    texts = [text for number in numbers for text in CONDITIONS[number]]
    return [text.format(a=a, b=b, c=c) for a, b, c in arms for text in texts]


def e1_indices_of_the_diagonal() -> Pair:
    """(8), and so (10): H_ii with the terms of the adjacent body written with the indices ij, and with jj."""
    tree, i, j = chain(), 0, 1
    q, e, m, L = tree.axis, tree.ort, tree.moment, tree.length
    H = tree.matrix()

    def diagonal(entry: float, static: int, pole: int, far: float) -> float:
        own = tree.own(i, i, i) + tree.mass[j] * far**2 * (1 - float(e[pole] @ q[j]) ** 2)
        term = m[static] @ e[j] - (e[pole] @ q[j]) * (m[static] @ q[j])
        return float(own + entry + 2 * L[j] * term)

    return abs(diagonal(H[i, j], i, i, L[i]) - H[i, i]), abs(diagonal(H[j, j], j, j, L[j]) - H[i, i])


def e2_sums_over_parallel_axes() -> Pair:
    """In the proof of statement 2: J^s of j and the base of i is said to be zero; it is J^s_ji."""
    tree = chain()
    found = tree.sums(2, 0)
    return abs(found - 0.0), abs(found - tree.sums(2, 1))


def _planar() -> tuple[dict[str, float], Array, Array]:
    angles = generator().uniform(-2, 2, 5)
    values, H = planar_quantities(angles)
    return values, H, angles


def e3_moment_of_the_second_arm() -> Pair:
    """m54 in the text of the second example: d_x5 (a c2 - b s2), against (H51 - H54)/L4."""
    n, H, q = _planar()
    found = (H[4, 0] - H[4, 3]) / n["L2"]
    return abs(n["d5"] * (n["a"] * np.cos(q[1]) - n["b"] * np.sin(q[1])) - found), abs(n["m54"] - found)


def e4_moments_of_the_final_list() -> Pair:
    """m32 = d_x3 s23 and m54 = d_x5 s45 of the final list are those of the first example."""
    n, H, q = _planar()
    found = np.array([(H[2, 0] - H[2, 1]) / n["L2"], (H[4, 0] - H[4, 3]) / n["L2"]])
    printed = np.array([n["d3"] * np.sin(q[1] + q[2]), n["d5"] * np.sin(q[3] + q[4])])
    return float(np.abs(printed - found).max()), float(np.abs(np.array([n["m32"], n["m54"]]) - found).max())


def e5_last_body_of_the_final_list() -> Pair:
    """H55 = I3q in the final list; it is I5q."""
    n, H, _ = _planar()
    return abs(n["I3"] - H[4, 4]), abs(n["I5"] - H[4, 4])


def e6_twin_of_the_last_condition() -> Pair:
    """Spread of H over positions with the printed (17)–(22), and with the twin of (22) for body 6."""
    return spread(balanced_links(condition_names(*_of(22, arms=ARMS[1:])))), spread(balanced_links(condition_names()))


def e7_third_body_of_the_second_arm() -> Pair:
    """After (19): H55 = I5y + I6x + m7 L7² lacks I7x."""
    links = balanced_links(condition_names())
    far = links[6].mass * float(links[6].pole @ links[6].pole)
    printed = links[4].inertia[1, 1] + links[5].inertia[0, 0] + far
    found = matrices(links)[0, 4, 4]
    return abs(printed - found), abs(printed + links[6].inertia[0, 0] - found)


def e8_numbers_of_the_conditions() -> Pair:
    """Before (20): spread of H11 with (20) and "(7)–(9)", which hold for every tree, and with (17)–(19)."""
    spreads = []
    for numbers in ((20,), (17, 18, 20)):
        found = matrices(balanced_links(_of(*numbers)))
        spreads.append(float(np.ptp(found[:, 0, 0])))
    return spreads[0], spreads[1]


def e9_elements_of_the_seventh_body() -> Pair:
    """By analogy with H41 = H42 = 0, under (17)–(21): "H61 = H72 = 0" is H71 = H75 = 0."""
    numbers = (17, 18, 20, 21)
    H = np.abs(matrices(balanced_links(_of(*numbers))))
    return float(max(H[:, 5, 0].max(), H[:, 6, 1].max())), float(max(H[:, 6, 0].max(), H[:, 6, 4].max()))


def e10_lost_product_of_inertia() -> Pair:
    """In the expansion of J^s_32 the term with I3yz is lost."""
    links = balanced_links([])
    tree = Posed(links, generator().uniform(-2, 2, 7))
    whole = tree.sums(2, 1)
    a, b = (tree.turn[2].T @ tree.axis[k] for k in (2, 1))
    lost = -links[2].inertia[1, 2] * (a[1] * b[2] + a[2] * b[1])
    terms = [links[2].inertia[k, k] * a[k] * b[k] for k in range(3)]
    terms += [-links[2].inertia[0, k] * (a[0] * b[k] + a[k] * b[0]) for k in (1, 2)]
    printed = float(sum(terms)) + tree.own(3, 2, 1)
    return abs(printed - whole), abs(printed + lost - whole)
