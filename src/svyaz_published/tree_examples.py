"""The worked examples of the paper on inertia matrices of trees (002): printed sequences, conditions for a constant matrix."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import evaluate
from svyaz_published.numbers import gallery_model, generator
from svyaz_published.trees import Link, Posed, links_of, random_links, stated


def general_formulas() -> tuple[float]:
    """Formulas (2)–(6) less the direct sum, on a spatial tree of seven bodies."""
    links = random_links([-1, 0, 1, 1, 0, 4, 4])
    tree = Posed(links, generator().uniform(-2, 2, len(links)))
    H = tree.matrix()
    return (max(abs(H[j, i] - tree.by_the_paper(j, i)) for j in tree.count for i in tree.path(j)),)


ARM = """H33 = I3
Ic3 = La*c3 + Lb*s3
H22 = I + 2*Ic3
Is = Ls*s23
Ic2 = Ld*s2 + Lc*c2 + Is
H11 = I1d + H22 + 2*Ic2
H32 = H33 + Ic3
H31 = H32 + Is
H21 = H22 + Ic2"""
"""The sequence of the first example, as printed."""


def _followed(lines: str, values: Mapping[str, float]) -> dict[str, float]:
    """The values that a sequence of assignments gives."""
    import symengine as se

    from svyaz.expr import Scope, parse, start_of

    known = dict(values)
    for line in lines.splitlines():
        name, text = line.split(" = ")
        scope = Scope(symbols={word: se.Symbol(word) for word in known})
        known[name] = evaluate(parse(text, scope, start_of(text)), known)
    return known


def _counts(lines: str) -> tuple[float, float]:
    """Additions and multiplications of a sequence."""
    return float(len(re.findall(r"[+-]", lines))), float(lines.count("*"))


def arm_by_the_printed_sequence() -> tuple[float]:
    """The nine printed lines less the direct sum, at a random position."""
    angles = generator().uniform(-2, 2, 3)
    _, n = stated("three-link-arm")
    L3 = float(np.hypot(n["A"], n["B"]))
    d3, d2 = n["m3"] * n["x3"], (n["m2"] * n["x2"] + n["m3"] * n["A"], n["m2"] * n["y2"] + n["m3"] * n["B"])
    values = {
        "I3": n["I3"],
        "I": n["I2"] + n["m3"] * L3**2 + n["I3"],
        "I1d": n["I1"] + (n["m2"] + n["m3"]) * n["L2"] ** 2,
    }
    values |= {"La": d3 * n["A"], "Lb": d3 * n["B"], "Lc": n["L2"] * d2[1], "Ld": n["L2"] * d2[0], "Ls": n["L2"] * d3}
    values |= {"c3": np.cos(angles[2]), "s3": np.sin(angles[2]), "c2": np.cos(angles[1]), "s2": np.sin(angles[1])}
    values |= {"s23": np.sin(angles[1] + angles[2])}
    found = _followed(ARM, {name: float(value) for name, value in values.items()})
    H = Posed(links_of("three-link-arm"), angles).matrix()
    return (max(abs(found[f"H{j}{i}"] - H[j - 1, i - 1]) for j in (1, 2, 3) for i in range(1, j + 1)),)


def arm_operations() -> tuple[float, ...]:
    """Additions and multiplications of the printed sequence, and with 2x as x + x."""
    return *_counts(ARM), *_counts(re.sub(r"2\*(\w+)", r"\1 + \1", ARM))


def shortest_sequence(model: str) -> tuple[float, float]:
    """Additions and multiplications of the sequence that svyaz finds."""
    from svyaz.forms import write_inertia
    from svyaz.program import operations

    tree, parameters = stated(model)
    count = operations(write_inertia(tree, tuple(parameters)).program)
    return float(count["add"]), float(count["mul"])


def planar_quantities(angles: Array) -> tuple[dict[str, float], Array]:
    """m^e of the second example by its formulas for single terms, with L4 = L2 and L5 = L3, and the direct matrix."""
    _, n = stated("two-armed-planar")
    L2 = float(np.hypot(n["A"], n["B"]))
    a, b = n["A"] / L2, n["B"] / L2
    d = {2: n["m2"] * n["x2"] + n["m3"] * n["L3"], 3: n["m3"] * n["x3"]}
    d |= {4: n["m4"] * n["x4"] + n["m5"] * n["L3"], 5: n["m5"] * n["x5"]}
    q2, q3, q4, q5 = angles[1:]
    m32 = d[3] * (a * np.cos(q2 + q3) - b * np.sin(q2 + q3))
    m54 = d[5] * (a * np.cos(q4 + q5) + b * np.sin(q4 + q5))
    found = {"m33": d[3] * np.cos(q3), "m32": m32, "m22": d[2] * (a * np.cos(q2) - b * np.sin(q2)) + m32}
    found |= {"m55": d[5] * np.cos(q5), "m54": m54, "m44": d[4] * (a * np.cos(q4) + b * np.sin(q4)) + m54}
    found |= {
        "L2": L2,
        "a": a,
        "b": b,
        "d3": d[3],
        "d5": d[5],
        **{k: n[k] for k in ("L3", "I1", "I2", "I3", "I4", "I5")},
    }
    found |= {"m2": n["m2"] + n["m3"], "m3": n["m3"], "m4": n["m4"] + n["m5"], "m5": n["m5"]}
    return {name: float(value) for name, value in found.items()}, Posed(links_of("two-armed-planar"), angles).matrix()


PLANAR = """H33 = I3
H22 = I2 + m3*L3^2 + H33 + 2*L3*m33
H32 = H33 + L3*m33
H31 = H32 + L2*m32
H21 = H22 + L2*m22
H55 = I5
H44 = I4 + m5*L3^2 + H55 + 2*L3*m55
H54 = H55 + L3*m55
H51 = H54 + L2*m54
H41 = H44 + L2*m44
H11 = I1 + (m2 + m4)*L2^2 + H22 + H44 + 2*L2*(m22 + m44)"""
"""The elements of the second example by (10) and (11)."""


def planar_by_the_formulas() -> tuple[float]:
    """The second example by (10)–(12) less the direct sum."""
    values, H = planar_quantities(generator().uniform(-2, 2, 5))
    found = _followed(PLANAR, values)
    pairs = [(j, i) for j in range(1, 6) for i in range(1, j + 1) if f"H{j}{i}" in found]
    return (max(abs(found[f"H{j}{i}"] - H[j - 1, i - 1]) for j, i in pairs),)


Arm = tuple[int, int, int]

ARMS: tuple[Arm, Arm] = ((2, 3, 4), (5, 6, 7))
CONDITIONS = {
    17: ("x{c}", "y{c}"),
    18: ("yy{b}", "yy{c}", "xy{b}", "xy{c}"),
    20: ("z{a}", "x{a}", "x{b}", "y{b}"),
    21: ("xz{c}", "yz{c}"),
    22: ("yz{b}", "xz{b}"),
}
"""The numbers of an arm (a, b, c) that the conditions determine; (19) is (17) and (18) for the second arm."""


def condition_names(*left_out: str) -> list[str]:
    """All numbers of both arms that conditions determine, without some."""
    texts = [text for texts in CONDITIONS.values() for text in texts]
    names = [text.format(a=a, b=b, c=c) for a, b, c in ARMS for text in texts]
    return [name for name in names if name not in left_out]


def balanced_links(names: Sequence[str]) -> list[Link]:
    """The third example with random numbers, those named chosen as the conditions (17)–(22) ask, and the twin of (22)."""
    random = generator()
    n = {key: float(value) for key, value in stated("two-armed-spatial")[1].items()}
    n |= {key: float(random.uniform(0.2, 0.9)) for key in n if re.fullmatch(r"[xyz]{1,2}\d", key)}
    n["L7"] = n["L4"]
    for a, b, c in ARMS:
        m, L = n[f"m{c}"], n[f"L{c}"]
        wanted = dict.fromkeys(
            (f"x{c}", f"y{c}", f"xy{b}", f"xy{c}", f"x{a}", f"x{b}", f"xz{c}", f"yz{c}", f"xz{b}"), 0.0
        )
        wanted |= {f"y{b}": -m * L / n[f"m{b}"], f"yy{b}": n[f"xx{b}"] + m * L**2, f"yy{c}": n[f"xx{c}"]}
        wanted |= {f"yz{b}": -L * m * n[f"z{c}"]}
        wanted |= {f"z{a}": -(n[f"m{b}"] * n[f"z{b}"] + m * n[f"z{c}"]) / n[f"m{a}"]}
        n |= {name: value for name, value in wanted.items() if name in names}
    return links_of("two-armed-spatial", n)


def matrices(links: Sequence[Link]) -> Array:
    """Inertia matrices at some random positions (k, n, n)."""
    poses = generator().uniform(-2, 2, (5, len(links)))
    return np.array([Posed(links, pose).matrix() for pose in poses])


def spread(links: Sequence[Link]) -> float:
    """By how much the inertia matrix differs between positions."""
    return float(np.ptp(matrices(links), axis=0).max())


def constant_matrix() -> tuple[float, float, float]:
    """Number of conditions; spread of H with all of them; the least spread with one of them left out."""
    names = condition_names()
    return (
        float(len(names)),
        spread(balanced_links(names)),
        min(spread(balanced_links(condition_names(name))) for name in names),
    )


def conditions_found() -> tuple[float]:
    """The number of independent conditions that svyaz finds."""
    from svyaz.synthesis import balance_tree

    return (float(len(balance_tree(gallery_model("two-armed-spatial")).formulas)),)


def constant_entries() -> tuple[float]:
    """The entries under the conditions: H44 = I4z, H33 = I3z + m4 L4² + I4z, H22 = I2y + I3y + I4y, H43 = H44, H21 = H22,
    H51 = H55, H11 = I1d + H22 + H55, and H42 = H32 = H41 = H31 = 0, less the direct sum."""
    links = balanced_links(condition_names())
    H = matrices(links)[0]
    y, z = [link.inertia[1, 1] for link in links], [link.inertia[2, 2] for link in links]
    first = [z[3], z[2] + links[3].mass * float(links[3].pole @ links[3].pole) + z[3], y[1] + y[2] + y[3]]
    far = float(links[1].pole @ links[1].pole) * sum(link.mass for link in links[1:])
    wanted = {(3, 3): first[0], (2, 2): first[1], (1, 1): first[2], (3, 2): first[0], (1, 0): first[2]}
    wanted |= {(4, 0): H[4, 4], (0, 0): y[0] + far + H[1, 1] + H[4, 4]}
    wanted |= dict.fromkeys([(3, 1), (2, 1), (3, 0), (2, 0)], 0.0)
    return (max(abs(H[place] - value) for place, value in wanted.items()),)
