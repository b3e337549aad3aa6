"""Operations counted by hand."""

from __future__ import annotations

from svyaz.program.counts import elimination_operations, operations, operations_by_output
from svyaz.program.tape import LinearSystem, Program


def test_kinds(tape):
    t = tape()
    a, b = t("parameter", 0), t("parameter", 1)
    x, y = t("input", 0), t("input", 1)
    difference = t("sub", x, y)  # only feeds cosines: an angle sum
    shifted = t("add", difference, a)  # the same
    total = t("add", x, y)  # feeds a sine and a product: an addition
    first = t("mul", t("mul", a, b), t("add", t("cos", shifted), t("cos", difference)))  # a·b is a constant
    second = t("neg", t("div", t("mul", total, t("sin", total)), t("sqrt", x)))
    t("exp", x)  # nobody needs it
    program = Program(("a", "b"), ("x", "y"), tuple(t.nodes), (("f", first), ("g", second)))
    assert operations(program) == {"add": 2, "mul": 2, "div": 1, "trig": 3, "angle_sum": 2, "other": 1}
    by_output = operations_by_output(program)
    assert by_output["f"] == {"add": 1, "mul": 1, "div": 0, "trig": 2, "angle_sum": 2, "other": 0}
    assert by_output["g"] == {"add": 1, "mul": 1, "div": 1, "trig": 1, "angle_sum": 0, "other": 1}


def test_elimination_of_two_and_three_equations():
    # general, n = 2: one factor, one product in the matrix; forward 1, back 1 products and 2 by the inverse pivots
    general = elimination_operations(LinearSystem(2, (0,) * 4, ((0, 0),), False))
    assert general == {"add": 1 + 2, "mul": 1 + 1 + 4, "div": 2}
    # symmetric, n = 3: factors 2 + 1, products 3 + 1, additions 3 + 1; a side takes 9 products and 6 additions
    symmetric = elimination_operations(LinearSystem(3, (0,) * 9, ((0, 0, 0),), True))
    assert symmetric == {"add": 4 + 6, "mul": 7 + 9, "div": 3}
