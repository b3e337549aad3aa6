"""A program as a module of Python over CasADi: symbols in, expressions out, for its optimal control and derivatives."""

from __future__ import annotations

from svyaz.program.array_code import ArrayText

_SOLVE = '''
def solve(size, matrix, sides):
    """The unknowns of matrix · unknowns = side for each side, one after another."""
    left = ca.vertcat(*(ca.horzcat(*matrix[i * size : (i + 1) * size]) for i in range(size)))
    found = [ca.solve(left, ca.vertcat(*sides[k : k + size])) for k in range(0, len(sides), size)]
    return [column[i] for column in found for i in range(size)]
'''

write = ArrayText(
    imports="import casadi as ca",
    called="ca.{0}",
    named={"abs": "ca.fabs", "min": "ca.fmin", "max": "ca.fmax", "pow": "ca.power"},
    made="{0}",
    entry="{0}[{1}]",
    returned="ca.vertcat(…)",
    nothing="ca.DM(0, 1)",
    solver=_SOLVE,
    told="The outputs as a column; ca.Function('step', [x, c], [step(x, c)]) makes a function of it.",
).write
