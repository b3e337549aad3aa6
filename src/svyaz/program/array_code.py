"""Programs as modules of Python over arrays: what the texts for NumPy, JAX and CasADi have in common."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from svyaz.program.code import Code, tables
from svyaz.program.fixed_run import listed
from svyaz.program.formulas import ARITHMETIC_RULES, Notation, Solution, first_rate, functions, listing, reserved_words
from svyaz.program.tape import Program

_OWN = "solve constants step rates parameters inputs np ca jax"


@dataclass(frozen=True)
class ArrayText:
    """How a library is written: the lines that import it, its functions, how a list becomes an array, entries, what is
    returned (``nothing`` where there is nothing), the solver.
    """

    imports: str
    called: str
    named: Mapping[str, str]
    made: str
    entry: str
    returned: str
    nothing: str
    solver: str
    told: str

    def write(self, program: Program) -> str:
        """The text of the module."""
        written = listing(program, self._code.notation)
        body = ["", "def constants(parameters):", '    """What depends on the parameters alone."""']
        body += [*self._arrays("parameters"), *self._code.constants(written)]
        body += ["", "", "def step(inputs, constants):", f'    """{self.told}"""']
        body += [*self._arrays("inputs", "constants"), *self._code.step(written), ""]
        start = first_rate(program)
        text = "\n".join(body)
        if start is not None:
            text += self._rates(program, start)
        helper = self.solver if "solve(" in text else ""
        return "\n".join([self._head(program), helper, text])

    @property
    def _code(self) -> Code:
        notation = Notation(
            rules=ARITHMETIC_RULES | functions(self.called, **self.named),
            number=repr,
            reserved=reserved_words(*keyword.kwlist, *keyword.softkwlist, _OWN),
        )
        lists = ("parameters", "inputs", "constants", "outputs")
        return Code(notation, "    {0} = {1}", self._returned, _solve, entry=self.entry, lists=lists)

    def _arrays(self, *names: str) -> list[str]:
        return [f"    {name} = {self.made.format(name)}" for name in names if self.made != "{0}"]

    def _returned(self, _name: str, formulas: Sequence[str]) -> list[str]:
        if not formulas:
            return [f"    return {self.nothing}"]
        before, after = self.returned.split("…")
        return [f"    return {before}", *(f"        {formula}," for formula in formulas), f"    {after}"]

    def _head(self, program: Program) -> str:
        names = "".join(f"{title.upper()} = {entries!r}\n" for title, _, entries in tables(program))
        names += f"DEFAULTS = [{listed(program.defaults)}]\n" if program.defaults else ""
        told = "constants(parameters) once, then step(inputs, constants) gives the outputs, all in the order below."
        return f'"""{told}"""\n\n{self.imports}\n\n{names}'

    def _rates(self, program: Program, start: int) -> str:
        outputs = self.entry.format("step(inputs, constants)", f"{start}:")
        return f'''

def rates(inputs, constants):
    """The rates of the states, the last outputs; inputs are the time, then the states."""
    return {outputs}
'''


def _solve(step: Solution) -> list[str]:
    return [
        f"    solution{step.number} = solve({step.size}, [",
        *(f"        {', '.join(row)}," for row in step.rows),
        "    ], [",
        *(f"        {', '.join(side)}," for side in step.sides),
        "    ])",
    ]


STACKED = '''
def solve(size, matrix, sides):
    """The unknowns of matrix · unknowns = side for each side, one after another; entries may be arrays."""
    entries = np.broadcast_arrays(*matrix, *sides)
    shape = entries[0].shape
    left = np.stack(entries[: size * size], axis=-1).reshape(shape + (size, size))
    right = np.stack(entries[size * size :], axis=-1).reshape(shape + (-1, size))
    found = np.linalg.solve(left, np.swapaxes(right, -1, -2))
    return [found[..., i, k] for k in range(found.shape[-1]) for i in range(size)]
'''

NAMED = {
    "asin": "np.arcsin",
    "acos": "np.arccos",
    "atan": "np.arctan",
    "atan2": "np.arctan2",
    "min": "np.minimum",
    "max": "np.maximum",
    "pow": "np.power",
}
"""Functions that NumPy calls otherwise."""
