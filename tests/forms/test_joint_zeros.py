"""The zero of a joint's angle is a person's choice: formulas do not become longer by it."""

from __future__ import annotations

from math import cos, pi, sin
from random import Random
from time import process_time

import numpy as np
import pytest

from svyaz import System, loads
from svyaz.forms import matrix_at, write_inertia
from svyaz.forms.tree.numeric import NumericTree
from svyaz.gallery.collection import find


def robot(seed: int, offsets: str) -> tuple[System, dict[str, float]]:
    """A table of Denavit and Hartenberg at random, with offsets of its revolute joints: none, or mixed; and their values."""
    random, numbers = Random(seed), {"g": 9.81}

    def parameter(name: str, value: float | None = None) -> str:
        numbers[name] = round(random.uniform(0.2, 1.5), 3) if value is None else value
        return name

    def often(name: str, share: float = 0.5) -> str | int:
        return parameter(name) if random.random() < share else 0

    links = []
    for k in range(1, random.choice((3, 4, 4, 5)) + 1):
        inertia = {axis: parameter(f"J{k}{axis}", value) for axis, value in (("xx", 1.0), ("yy", 1.2), ("zz", 0.9))}
        if random.random() < 0.3:
            inertia["xy"] = parameter(f"J{k}xy", 0.05)
        links.append(
            {
                "coordinate": f"q{k}",
                "joint": "prismatic" if random.random() < 0.15 else "revolute",
                "alpha": random.choice(("90*deg", "-90*deg", "0")),
                "a": often(f"a{k}"),
                "d": often(f"d{k}"),
                "mass": parameter(f"m{k}"),
                "center": [often(f"c{k}{axis}") for axis in "xyz"],
                "central_inertia": inertia,
            }
        )
    shifts, other = {}, Random(1000 + seed)
    for k, link in enumerate(links, 1):
        kind = other.choice(("number", "symbol"))
        if offsets == "none" or link["joint"] != "revolute":
            continue
        shifts[f"q{k}"] = round(other.uniform(-3, 3), 3)
        link["theta"] = shifts[f"q{k}"] if kind == "number" else parameter(f"z{k}", shifts[f"q{k}"])
    convention = ("standard", "modified")[seed % 2]
    return System(gravity=[0, 0, "-g"], parameters=numbers, dh={"convention": convention, "link": links}), shifts


@pytest.mark.parametrize("seed", range(20))
def test_L5_offsets_of_tables_cost_an_angle_sum_each_at_most(seed) -> None:
    plain, _ = robot(seed, "none")
    shifted, shifts = robot(seed, "mixed")
    short, same = (write_inertia(s.tree, tuple(s.parameters)) for s in (plain, shifted))
    for kind in ("mul", "add", "div", "trig"):
        assert same.operations[kind] == short.operations[kind]
    assert same.operations["angle_sum"] <= short.operations["angle_sum"] + len(shifts)
    random = Random(seed)
    q = {name: random.uniform(-1, 1) for name in plain.coordinates}
    at = {name: value + shifts.get(name, 0.0) for name, value in q.items()}
    matrix = np.array(matrix_at(same, shifted.parameters, q))
    np.testing.assert_allclose(matrix, matrix_at(short, plain.parameters, at), rtol=0, atol=1e-12)
    by_recursion = NumericTree(shifted.tree, shifted.parameters).mass_matrix(np.array(list(q.values())))
    np.testing.assert_allclose(matrix, by_recursion, rtol=0, atol=1e-12)


def turned_arm(angles: list[float | str]) -> System:
    """Five bodies on axes z, y, y, x, y, with the frames after joint k turned about its axis by the angle k more."""
    names = {a: 0.3 + 0.2 * k for k, a in enumerate(angles) if isinstance(a, str)}
    axes = [(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0)]
    poles = [(0, 0, 0), (0, 0, 0.4), (0.5, 0, 0), (0.3, 0, 0.1), (0.2, 0, 0)]
    frame, bodies = np.eye(3).astype(object), []
    for k, (axis, pole) in enumerate(zip(axes, poles, strict=True)):
        base = frame
        n = np.argmax(axis)
        angle = angles[k]
        c, s = (cos(angle), sin(angle)) if not isinstance(angle, str) else (f"cos({angle})", f"sin({angle})")
        frame = _times(base, _about(n, c, s))
        centre = _times(frame, np.array([[0.1], [0.02], [0.05]], dtype=object))[:, 0]
        tensor = _times(_times(frame, np.diag([0.4, 0.5, 0.6]).astype(object)), frame.T)
        bodies.append(
            {
                "name": f"b{k}",
                "base": "ground" if k == 0 else f"b{k - 1}",
                "joint": "revolute",
                "coordinate": f"q{k + 1}",
                "axis": [_text(e) for e in _times(base, np.array([axis], dtype=object).T)[:, 0]],
                "pole": [_text(e) for e in _times(base, np.array([pole], dtype=object).T)[:, 0]],
                "mass": 1.5,
                "center": [_text(e) for e in centre],
                "inertia": {
                    "xx": _text(tensor[0, 0]),
                    "yy": _text(tensor[1, 1]),
                    "zz": _text(tensor[2, 2]),
                    "xy": f"-({_text(tensor[0, 1])})",
                    "xz": f"-({_text(tensor[0, 2])})",
                    "yz": f"-({_text(tensor[1, 2])})",
                },
            }
        )
    return System(gravity=[0, 0, -9.81], parameters=names, body=bodies)


def _about(n: int, c: object, s: object) -> np.ndarray:
    a, b = (n + 1) % 3, (n + 2) % 3
    found = np.eye(3).astype(object)
    found[a, a] = found[b, b] = c
    found[a, b], found[b, a] = (-s, s) if not isinstance(s, str) else (f"(-{s})", s)
    return found


def _times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A product of matrices of numbers and texts."""

    def term(x: object, y: object) -> object:
        if x in (0, 0.0) or y in (0, 0.0):
            return 0
        return f"({x})*({y})" if isinstance(x, str) or isinstance(y, str) else x * y

    def total(terms: list[object]) -> object:
        terms = [t for t in terms if t != 0]
        if any(isinstance(t, str) for t in terms):
            return " + ".join(f"({t})" for t in terms)
        return sum(terms) if terms else 0

    rows = [[total([term(x, y) for x, y in zip(row, column, strict=True)]) for column in b.T] for row in a]
    return np.array(rows, dtype=object)


def _text(entry: object) -> object:
    return float(entry) if not isinstance(entry, str) else entry


@pytest.mark.parametrize("angles", [[0.3, -0.7, 0.4, 1.1, 0.9], [0.3, "b", -0.4, 0.0, "c"]], ids=["numbers", "symbols"])
def test_L5_offsets_hidden_in_axes_and_poles_are_found(angles) -> None:
    """Where nothing but turned axes and poles tells of an offset, frames are found in which they are plain again."""
    plain, turned = turned_arm([0.0] * 5), turned_arm(angles)
    short, same = (write_inertia(s.tree, tuple(s.parameters)).operations for s in (plain, turned))
    assert same["mul"] + same["add"] <= short["mul"] + short["add"] + 4  # quarter turns of frames may cost a little
    assert same["angle_sum"] <= short["angle_sum"] + 5
    q = np.array([0.2, -0.4, 0.6, 0.1, -0.3])
    shift = np.array([turned.parameters[a] if isinstance(a, str) else a for a in angles])
    ours = matrix_at(write_inertia(turned.tree, tuple(turned.parameters)), turned.parameters, named(q))
    theirs = NumericTree(plain.tree, plain.parameters).mass_matrix(q + shift)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def named(q: np.ndarray) -> dict[str, float]:
    return {f"q{k + 1}": float(value) for k, value in enumerate(q)}


def test_L5_quarter_turns_need_no_offset() -> None:
    plain, turned = turned_arm([0.0] * 5), turned_arm([pi / 2, 0.0, -pi / 2, pi, 0.0])
    short, same = (write_inertia(s.tree, tuple(s.parameters)).operations for s in (plain, turned))
    assert same["angle_sum"] <= short["angle_sum"]


def test_L5_matrices_of_forty_bodies_are_written_in_ten_seconds() -> None:
    system = loads(find("random-tree:40"), "random-tree:40")
    begin = process_time()
    inertia = write_inertia(system.tree, tuple(system.parameters))
    q = np.linspace(-1.0, 1.0, 40)
    matrix = system.robot().mass(q)
    assert process_time() - begin < 10.0
    expected = NumericTree(system.tree, system.parameters).mass_matrix(q)
    scale = np.abs(expected).max()
    assert np.abs(matrix - expected).max() < 1e-12 * scale
    assert np.abs(np.array(matrix_at(inertia, system.parameters, named(q))) - expected).max() < 1e-12 * scale
