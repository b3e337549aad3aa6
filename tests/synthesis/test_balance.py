"""Conditions for a constant inertia matrix: against the paper, against Jacobians, and proved both ways."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from tree_by_jacobians import inertia_matrix, links_from, varying_rows

from svyaz import System, loads
from svyaz.expr import ModelError
from svyaz.forms.tree.recursions.algebra import FLOATS, expressions
from svyaz.forms.tree.recursions.places import welded
from svyaz.gallery.collection import find
from svyaz.gallery.random_mechanisms import random_tree
from svyaz.model.files import to_toml
from svyaz.model.tree import numbers
from svyaz.show import as_json
from svyaz.show.katex import render
from svyaz.show.records.synthesis import balance_latex, balance_text
from svyaz.synthesis.balancing.balanced import balance_tree
from svyaz.synthesis.balancing.balanced_model import BalancedMasses, Infeasible
from svyaz.synthesis.balancing.constant_inertia import balance
from svyaz.synthesis.balancing.proof import prove
from svyaz.synthesis.balancing.sampled import sample_balance

MIXED = """
name = "crane"
gravity = [0, 0, "-g"]
[[body]]
name = "column"
base = "ground"
joint = "revolute"
coordinate = "a"
axis = [0, 0, 1]
mass = "m1"
center = ["x1", "y1", "z1"]
inertia = { xx = "xx1", yy = "yy1", zz = "zz1", xy = "xy1", xz = "xz1", yz = "yz1" }
[[body]]
name = "lift"
base = "column"
joint = "prismatic"
coordinate = "s"
axis = [0, 0, 1]
pole = ["L", 0, 0]
mass = "m2"
center = ["x2", "y2", "z2"]
inertia = { xx = "xx2", yy = "yy2", zz = "zz2", xy = "xy2", xz = "xz2", yz = "yz2" }
[[body]]
name = "hand"
base = "lift"
joint = "revolute"
coordinate = "b"
axis = [0, 1, 0]
pole = [0, "L3", "L4"]
mass = "m3"
center = ["x3", "y3", "z3"]
inertia = { xx = "xx3", yy = "yy3", zz = "zz3", xy = "xy3", xz = "xz3", yz = "yz3" }
[parameters]
g = 9.81
L = 0.4
L3 = 0.2
L4 = 0.1
"""
MIXED += "".join(
    f"m{k} = {3 - 0.5 * k}\nx{k} = 0.1\ny{k} = 0.05\nz{k} = -0.1\nxx{k} = 0.4\nyy{k} = 0.5\nzz{k} = 0.45\n"
    f"xy{k} = 0.01\nxz{k} = 0.02\nyz{k} = -0.02\n"
    for k in (1, 2, 3)
)


def text_of(name: str) -> str:
    return MIXED if name == "crane" else find(name)


def linear_span(formulas: list[sp.Expr]) -> tuple[sp.Matrix, list[sp.Expr]]:
    """Formulas as rows over their monomials."""
    expanded = [sp.expand(f) for f in formulas]
    monomials = sorted(
        {m for f in expanded for m in (t.as_coeff_Mul()[1] for t in sp.Add.make_args(f))}, key=sp.default_sort_key
    )
    rows = [[sum(t.as_coeff_Mul()[0] for t in sp.Add.make_args(f) if t.as_coeff_Mul()[1] == m) for m in monomials]
            for f in expanded]  # fmt: skip
    return sp.Matrix(rows), monomials


def paper_conditions() -> list[sp.Expr]:
    """(17)–(22) with the twin for body 6, in the parameters of the gallery's model."""
    found = []
    for a, b, c in ((2, 3, 4), (5, 6, 7)):

        def p(name: str, k: int) -> sp.Symbol:
            return sp.Symbol(f"{name}{k}")

        L, m = p("L", c), p("m", c)
        d = {
            (axis, k): p("m", k) * p(axis, k) + (m * L if (axis, k) == ("y", b) else 0)
            for axis in "xyz"
            for k in (a, b, c)
        }
        found += [d["x", c], d["y", c]]  # (17)
        found += [p("yy", b) - p("xx", b) - m * L**2, p("yy", c) - p("xx", c), p("xy", b), p("xy", c)]  # (18)
        found += [d["z", a] + d["z", b] + d["z", c], d["x", a], d["x", b], d["y", b]]  # (20)
        found += [p("xz", c), p("yz", c)]  # (21)
        found += [p("yz", b) + L * d["z", c], p("xz", b)]  # (22)
    return found


def test_T3_the_robot_of_seven_degrees_has_the_conditions_of_the_paper() -> None:
    result = as_json(balance_tree(loads(find("two-armed-spatial"), "robot")))
    found = [sp.sympify(formula.replace("^", "**")) for formula in result["conditions"]]
    wanted = paper_conditions()
    assert len(found) == len(wanted) == 28
    both, _ = linear_span(found + wanted)
    assert both.rank() == linear_span(found)[0].rank() == linear_span(wanted)[0].rank() == 28


def test_T3_the_matrix_is_that_of_the_paper() -> None:
    """H44 = I4z, H33 = I3z + m4 L4² + I4z, H22 = I2y + I3y + I4y, H21 = H22, H51 = H55, H42 = H32 = H41 = H31 = 0."""
    result = as_json(balance_tree(loads(find("two-armed-spatial"), "robot")))
    H = [[sp.sympify(entry.replace("^", "**")) for entry in row] for row in result["matrix"]]
    conditions = paper_conditions()

    def same(entry: sp.Expr, text: str) -> bool:
        difference = sp.expand(entry - sp.sympify(text))
        return linear_span([*conditions, difference])[0].rank() == 28 if difference != 0 else True

    for row, column, text in (
        (3, 3, "zz4"),
        (2, 2, "zz3 + m4*L4**2 + zz4"),
        (3, 2, "zz4"),
        (1, 1, "yy2 + yy3 + yy4"),
        (1, 0, "yy2 + yy3 + yy4"),
        (4, 4, "yy5 + yy6 + yy7"),
        (4, 0, "yy5 + yy6 + yy7"),
        (0, 0, "yy1 + L2**2*(m2+m3+m4+m5+m6+m7) + yy2 + yy3 + yy4 + yy5 + yy6 + yy7"),
    ):
        assert same(H[row][column], text), (row, column, H[row][column])
    assert all(H[i][j] == 0 for i, j in ((3, 1), (2, 1), (3, 0), (2, 0), (6, 4), (5, 4), (6, 0), (5, 0), (4, 1)))


def numbers_for(conditions: list[sp.Expr], parameters: dict[str, float], wanted: np.ndarray) -> list[dict[str, float]]:
    """For each row of ``wanted`` centres and inertias near to the given ones at which the conditions have these values.

    For given masses and lengths the conditions are linear in centres and inertias.
    """
    free = sorted(n for n in {str(s) for c in conditions for s in c.free_symbols} if n[0] in "xyzI" and n in parameters)
    known = {sp.Symbol(n): v for n, v in parameters.items() if n not in free}
    rows = [sp.expand(c.subs(known)) for c in conditions]
    symbols = sp.symbols(free)
    slopes = np.array([[float(r.coeff(s)) for s in symbols] for r in rows])
    now = np.array([float(r.subs({s: parameters[str(s)] for s in symbols})) for r in rows])
    steps = np.linalg.lstsq(slopes, (wanted - now).T, rcond=None)[0].T
    assert np.abs(steps @ slopes.T - (wanted - now)).max() < 1e-12
    return [{**parameters, **{n: parameters[n] + float(x) for n, x in zip(free, step, strict=True)}} for step in steps]


def spread_of(text: str, parameters: dict[str, float]) -> float:
    """How much the matrix differs between random positions, as a part of its largest entry."""
    links = links_from(tomllib.loads(text), lambda word: float(eval(str(word).replace("^", "**"), {}, parameters)))
    poses = np.random.default_rng(3).uniform(-2, 2, (8, sum(link.joint != "fixed" for link in links)))
    matrices = np.array([inertia_matrix(links, q) for q in poses])
    return float(np.ptp(matrices, axis=0).max() / np.abs(matrices).max())


@pytest.mark.parametrize("name", ["two-armed-spatial", "three-link-arm", "planar-3r", "scara", "crane"])
def test_T3_conditions_are_sufficient_and_each_is_necessary(name) -> None:
    """By Jacobians, from the formulas in the JSON alone."""
    system = loads(text_of(name), name)
    conditions = [sp.sympify(c.replace("^", "**")) for c in as_json(balance_tree(system))["conditions"]]
    parameters = dict(system.parameters)
    assert spread_of(text_of(name), parameters) > 1e-3
    wanted = np.vstack([np.zeros(len(conditions)), 0.1 * np.eye(len(conditions))])
    satisfied, *broken = numbers_for(conditions, parameters, wanted)
    assert spread_of(text_of(name), satisfied) < 1e-12
    for condition, values in zip(conditions, broken, strict=True):
        assert spread_of(text_of(name), values) > 1e-4, condition


def rows_on_own_values(found, parents, poles) -> np.ndarray:
    """Our conditions as rows over mass, first moment and inertia of each body."""
    count = len(parents)
    rows = np.zeros((len(found.conditions.rows), 10 * count))
    for number, row in enumerate(found.conditions.rows.values()):
        for place, c in row.items():
            k, kind = divmod(place, 10)
            if kind >= 4:
                rows[number, place] += float(c)
                continue
            for j in range(count):  # M_k = Σ masses of j that k carries, d_k = h_k + Σ M_j p_j over its children
                ancestors = [j]
                while parents[ancestors[-1]] >= 0:
                    ancestors.append(parents[ancestors[-1]])
                if kind == 0 and k in ancestors:
                    rows[number, 10 * j] += float(c)
                if kind > 0 and k in ancestors[1:]:
                    child = ancestors[ancestors.index(k) - 1]
                    rows[number, 10 * j] += float(c) * poles[child][kind - 1]
            if kind > 0:
                rows[number, place] += float(c)
    return rows


CASES = [
    (size, seed, joints, axes)
    for axes in ("any", "coordinate", "parallel")
    for seed, (size, joints) in enumerate(
        [(3, ("revolute",)), (4, ("revolute", "prismatic")), (6, ("revolute", "revolute", "prismatic", "fixed"))]
    )
]


@pytest.mark.parametrize(("size", "seed", "joints", "axes"), CASES)
def test_conditions_span_all_that_varies_in_random_trees(size, seed, joints, axes) -> None:
    """The row space of the conditions is that of the differences of the matrix between random positions."""
    words = random_tree(size, seed + 20, joints=joints, axes=axes)
    system = System(**words)
    whole = welded(numbers(system.tree, {}), FLOATS)
    links = links_from(
        {
            "body": [
                {
                    "name": str(k),
                    "base": "ground" if b.base < 0 else str(b.base),
                    "joint": b.joint,
                    "axis": b.axis,
                    "pole": b.pole,
                    "mass": 1,
                }
                for k, b in enumerate(whole.bodies)
            ]
        },
        float,
    )
    varying = varying_rows(links, 40, np.random.default_rng(1))
    found = balance(welded(system.tree, expressions()))
    ours = rows_on_own_values(found, whole.parents, [b.pole for b in whole.bodies])
    rank = np.linalg.matrix_rank(varying, tol=1e-9)
    assert len(ours) == rank
    if rank:
        together = np.vstack([ours, varying / np.abs(varying).max()])
        assert np.linalg.matrix_rank(ours, tol=1e-9) == rank
        assert np.linalg.matrix_rank(together, tol=1e-9) == rank


@pytest.mark.parametrize("name", ["puma-560", "stanford", "chain:5", "two-armed-planar", "planar-6r"])
def test_the_command_s_own_proof_holds_for_other_trees(name) -> None:
    found = balance_tree(loads(find(name), name))
    assert found.proof.holds
    assert found.proof.with_all < 1e-13
    assert found.proof.without_one > 1e-3


def test_free_joints_are_balanced_in_their_own_velocities() -> None:
    system = System(**random_tree(3, 2, branching=1.0, joints=("free",)) | {"body": _free_base()})
    found = balance_tree(system)
    assert found.proof.holds
    assert len(found.rows) > 0
    assert any("gyroscopic" in note for note in found.notes)
    assert "m_arm" in str(found.gravity_lines) or "M_trunk" in str(found.gravity_lines)


def _free_base() -> list[dict]:
    inertia = {"xx": 1.0, "yy": 1.1, "zz": 0.9, "xy": 0.02, "xz": 0.0, "yz": 0.01}
    return [
        {
            "name": "trunk", "base": "ground", "joint": "free", "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"],
            "mass": 5.0, "center": [0.1, 0.0, 0.05], "inertia": inertia,
        },
        {
            "name": "arm", "base": "trunk", "joint": "revolute", "coordinate": "q", "axis": [0, 0, 1],
            "pole": [0.3, 0.1, 0.0], "mass": 2.0, "center": [0.2, 0.1, 0.0], "inertia": inertia,
        },
    ]  # fmt: skip


def test_a_proof_fails_when_a_condition_is_missing() -> None:
    system = loads(find("three-link-arm"), "arm")
    tree = welded(numbers(system.tree, system.parameters), FLOATS)
    found = balance(system.tree)
    del found.conditions.rows[next(iter(found.conditions.rows))]
    assert not prove(tree, found.conditions, system.parameters).holds


@pytest.mark.parametrize("name", ["two-armed-spatial", "three-link-arm", "planar-6r", "scara", "two-armed-planar"])
def test_balanced_models_are_bodies_that_can_be_made(name, tmp_path: Path) -> None:
    """The file is read without a complaint (masses, triangle inequalities), and Jacobians find its matrix constant."""
    found = balance_tree(loads(text_of(name), name))
    assert isinstance(found.masses, BalancedMasses)
    text = to_toml(found.balanced_words())
    again = loads(text, "balanced.toml")
    assert not again.warnings
    assert spread_of(text, dict(again.parameters)) < 1e-13
    before = loads(text_of(name), name)
    assert [b.name for b in again.tree.bodies] == [b.name for b in before.tree.bodies]
    ours = numbers(again.tree, again.parameters).bodies
    theirs = numbers(before.tree, before.parameters).bodies
    assert [b.mass for b in ours] == pytest.approx([b.mass for b in theirs])


@pytest.mark.parametrize(
    ("name", "words"), [("stanford", "no mass to '3'"), ("puma-560", "no inertia against q4, q5, q6")]
)
def test_infeasible_conditions_are_told(name, words) -> None:
    found = balance_tree(loads(find(name), name))
    assert isinstance(found.masses, Infeasible)
    assert words in found.masses.reason


def test_symbols_numbers_and_zeros_give_the_same_conditions() -> None:
    """As many conditions whether the lengths are names or numbers; a length that is zero asks for nothing."""
    text = find("two-armed-spatial")
    system = loads(text, "robot")
    plain = tomllib.loads(text)
    values = {sp.Symbol(k): v for k, v in system.parameters.items()}
    for body in plain["body"]:
        for key in ("pole", "center"):
            body[key] = [float(sp.sympify(str(e)).subs(values)) for e in body[key]]
        body["mass"] = system.parameters[body["mass"]]
        body["inertia"] = {k: system.parameters[v] for k, v in body["inertia"].items()}
    plain["parameters"] = {"g": 9.81}
    del plain["source"]
    result = as_json(balance_tree(System(**plain)))
    named = [entry["condition"] for entry in result["named"]]
    assert len(result["conditions"]) == len(named) == 28
    assert "Iyy3 - Ixx3 - 0.16*m4" in named
    assert result["conditions"][0] == "dx2"
    zero = balance_tree(system.with_settings({"L2": "0"}))
    assert zero.notes == ("taken as zero, as the model says: L2",)
    assert zero.proof.holds
    assert len(zero.rows) == 20


def test_special_lengths_are_noticed() -> None:
    """A pole at (A - B, 0, 0) with A = B: the second axis meets the first, and asks for less than any lengths would."""
    words = tomllib.loads(find("planar-2r"))
    words["parameters"] |= {"A": 0.5, "B": 0.5}
    words["body"][1]["pole"] = ["A - B", 0, 0]
    found = balance_tree(System(**words))
    assert found.rows == []
    assert found.proof.holds
    assert "special" in found.notes[0]
    assert len(balance_tree(System(**words | {"parameters": words["parameters"] | {"A": 0.7}})).rows) == 2


@pytest.mark.parametrize("name", ["two-armed-spatial", "stanford", "crane"])
def test_numbers_alone_find_the_same_conditions(name) -> None:
    """From differences between random positions: as many rows, the same span, the same for gravity."""
    system = loads(text_of(name), name)
    numeric = numbers(system.tree, system.parameters)
    exact, sampled = balance(system.tree), sample_balance(system.tree, numeric)
    assert list(sampled.conditions.rows) == list(exact.conditions.rows)
    assert list(sampled.gravity.rows) == list(exact.gravity.rows)
    assert prove(numeric, sampled.conditions, system.parameters).holds


def test_nearly_parallel_axes_are_left_to_the_numbers() -> None:
    """Axes that differ by 2e-4 from coordinate axes, turned with rounding: no conditions that are none."""
    from math import cos, sin

    words = random_tree(7, 3, branching=1.0, axes="coordinate")
    words["body"][0]["axis"] = [0, 0, 1]
    tilt = np.array([[1, -2e-4, 0], [2e-4, 1, 0], [0, 0, 1]]) @ np.array(
        [[cos(1e-4), 0, sin(1e-4)], [0, 1, 0], [-sin(1e-4), 0, cos(1e-4)]]
    )
    tilt, _ = np.linalg.qr(tilt)
    for body in words["body"][2:]:
        body["axis"] = (tilt @ np.array(body["axis"])).tolist()
    found = balance_tree(System(**words))
    assert found.proof.holds


def test_angles_of_few_digits_are_right_angles() -> None:
    """Axes along z but for 4e-6: parallel, with a note."""
    words = tomllib.loads(find("planar-2r"))
    words["body"][1]["axis"] = [0, 3.67e-6, 1]
    found = balance_tree(System(**words))
    assert len(found.rows) == 2
    assert "below 1e-05" in found.notes[0]
    assert spread_of(to_toml(found.balanced_words()), dict(System(**words).parameters)) < 1e-13


def test_gravity_is_told_apart() -> None:
    arm = balance_tree(loads(find("three-link-arm"), "arm"))
    assert arm.gravity_lines == ["dx1", "dy1"]
    assert "gravity stays, unless also dx1 = 0, dy1 = 0" in balance_text(arm)
    assert "gravity stays: it lifts or lowers M3 itself" in balance_text(balance_tree(loads(find("scara"), "scara")))
    assert "gravity drops out" in balance_text(balance_tree(loads(find("two-armed-spatial"), "robot")))


def test_names_of_the_model_are_not_taken() -> None:
    words = tomllib.loads(find("planar-2r"))
    words["parameters"]["dx2"] = 1.0
    words["gravity"] = [0, "-g*dx2", 0]
    names = [q.name for q in balance_tree(System(**words)).used_quantities]
    assert "dx2_2" in names
    assert "dx2" not in names


def test_latex_renders() -> None:
    assert 'class="katex' in render(balance_latex(balance_tree(loads(find("two-armed-spatial"), "robot"))))


def test_a_massless_body_between_two_joints_is_lent_a_mass() -> None:
    """A universal joint: the piece between its axes has no mass, and must carry a counterweight."""
    inertia = {"xx": 0.2, "yy": 0.2, "zz": 0.2}
    system = System(
        name="gimbal",
        body=[
            _turning("1", "ground", "a", [0, 0, 0]) | {"mass": 3, "inertia": inertia},
            _turning("2", "1", "b", [0.3, 0, 0]) | {"mass": 0},
            _turning("3", "2", "c", [0.4, 0, 0]) | {"mass": 1, "center": [0.1, 0, 0], "inertia": inertia},
        ],
    )
    found = balance_tree(system)
    assert isinstance(found.masses, BalancedMasses)
    assert found.masses.lent == ("2",)
    again = loads(to_toml(found.balanced_words()), "gimbal.toml")
    assert spread_of(to_toml(found.balanced_words()), dict(again.parameters)) < 1e-13


def _turning(name: str, base: str, coordinate: str, pole: list[float]) -> dict:
    return {
        "name": name,
        "base": base,
        "joint": "revolute",
        "coordinate": coordinate,
        "axis": [0, 0, 1],
        "pole": pole,
    }


def test_bad_input_is_told() -> None:
    with pytest.raises(ModelError, match="not a tree"):
        balance_tree(loads(find("sling"), "sling"))
    with pytest.raises(ModelError, match="at most 150"):
        balance_tree(loads(find("chain:200"), "chain"))


def test_the_command(svyaz, tmp_path: Path) -> None:
    out = tmp_path / "balanced.toml"
    done = svyaz("balance", "three-link-arm", "--out", str(out), "--json", "-")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["conditions"] == ["m2*x2 + m3*A", "m2*y2 + m3*B", "m3*x3"]
    assert result["feasible"] is True
    assert len(result["matrix"]) == 3
    assert {"svyaz", "parameters", "initial", "proof", "gravity", "named", "quantities"} <= result.keys()
    assert loads(out.read_text(), "balanced").name == "three-link arm, balanced"


def test_the_command_answers_no(svyaz, tmp_path: Path) -> None:
    out, told = tmp_path / "never.toml", tmp_path / "told.json"
    done = svyaz("balance", "stanford", "--out", str(out), "--json", str(told))
    assert done.returncode == 1
    assert "no mass to '3'" in done.stderr
    assert "no mass to '3'" in json.loads(told.read_text())["reason"]
    assert not out.exists()
    assert svyaz("balance", "sling").returncode == 2


def test_present_values_stand_beside_conditions_however_long_others_are() -> None:
    """A tree with oblique axes has conditions of hundreds of characters; those of a few are still read on one line."""
    text = balance_text(balance_tree(System(**random_tree(6, 3, joints=("revolute",), axes="any"))))
    lines = [line for line in text.splitlines() if "    now " in line]
    assert max(map(len, lines)) > 150
    for line in lines:
        condition, _, _ = line.rpartition("    now ")
        assert len(condition) - len(condition.rstrip()) < 48
