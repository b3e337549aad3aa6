"""A program as plain JavaScript: ``constants(p)`` and ``step(x, c, out)``, for browsers and for Node, without a library.

Linear systems with a chosen order of elimination are written out, as in native code, and solved by pivoting where that was
not good; the others are always pivoted.
"""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.program.code import Code, helpers, tables
from svyaz.program.fixed_run import FixedRun, escaped, filled, heading, listed, words_of, written_outputs
from svyaz.program.formulas import (
    ARITHMETIC_RULES,
    Notation,
    Solution,
    first_rate,
    functions,
    listing,
    printable,
    reserved_words,
    shown_number,
)
from svyaz.program.tape import Program
from svyaz.program.unrolled import Unrolled

_KEYWORDS = (
    "await break case catch class const continue debugger default delete do else enum export extends false finally for "
    "function if implements import in instanceof interface let new null package private protected public return static "
    "super switch this throw true try typeof var void while with yield async of arguments eval undefined NaN Infinity"
)
_OWN = (
    "p c x out constants step rates compute defaults names solveSystem Math Float64Array module require window console"
)


def _number(value: float) -> str:
    return shown_number(value, "NaN", "Infinity")


NOTATION = Notation(
    rules=ARITHMETIC_RULES | functions("Math.{0}"),
    number=_number,
    unknown="solution{0}_{1}",
    reserved=reserved_words(_KEYWORDS, _OWN),
)

_SOLVE = """
// a: n x n by rows, b: m sides of n numbers, which become the unknowns; both are overwritten. Rows and columns are scaled by
// powers of two (read off the bits of a sum), rows exchanged. 1 when singular.
const $view = new Float64Array(1), $bits = new Uint32Array($view.buffer);
function $power(sum) {
  $view[0] = sum;
  const e = ($bits[1] >>> 20) & 2047;
  if (e === 0 || e > 2044) return e === 0 ? 2 ** 1000 : e === 2047 ? 1 : 2 ** -1000;
  $bits[0] = 0;
  $bits[1] = (2045 - e) << 20;
  return $view[0];
}
function solveSystem(n, m, a, b) {
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let j = 0; j < n; j++) sum += Math.abs(a[i*n + j]);
    if (sum === 0) return 1;
    const factor = $power(sum);
    for (let j = 0; j < n; j++) a[i*n + j] *= factor;
    for (let k = 0; k < m; k++) b[k*n + i] *= factor;
  }
  const scale = new Float64Array(n);
  for (let j = 0; j < n; j++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += Math.abs(a[i*n + j]);
    const factor = scale[j] = sum === 0 ? 1 : $power(sum);
    for (let i = 0; i < n; i++) a[i*n + j] *= factor;
  }
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(a[i*n + k]) > Math.abs(a[best*n + k])) best = i;
    if (Math.abs(a[best*n + k]) <= n*1.7763568394002505e-15) return 1;
    if (best !== k) {
      for (let j = 0; j < n; j++) { const t = a[k*n + j]; a[k*n + j] = a[best*n + j]; a[best*n + j] = t; }
      for (let s = 0; s < m; s++) { const t = b[s*n + k]; b[s*n + k] = b[s*n + best]; b[s*n + best] = t; }
    }
    for (let i = k + 1; i < n; i++) {
      const factor = a[i*n + k]/a[k*n + k];
      if (factor === 0) continue;
      for (let j = k + 1; j < n; j++) a[i*n + j] -= factor*a[k*n + j];
      for (let s = 0; s < m; s++) b[s*n + i] -= factor*b[s*n + k];
    }
  }
  for (let s = 0; s < m; s++) {
    for (let i = n - 1; i >= 0; i--) {
      let sum = b[s*n + i];
      for (let j = i + 1; j < n; j++) sum -= a[i*n + j]*b[s*n + j];
      b[s*n + i] = sum/a[i*n + i];
    }
    for (let i = 0; i < n; i++) b[s*n + i] *= scale[i];
  }
  return 0;
}
"""

_HELPERS = {"solveSystem(": _SOLVE}

_RATES = """
// the rates of the {count} states at the time t; throws where a linear system is singular
function rates(t, state, c) {{
  const out = new Float64Array({outputs}), fault = step([t, ...state], c, out);
  if (fault) throw new Error(`the linear system ${{fault - 1}} is singular at t = ${{t}}`);
  return Array.from(out.subarray({start}));
}}
"""

_RUN = """
// ---- one run, written as CSV
const START = [<start>];
const STEP = <step>, UNTIL = <until>, STEPS = <steps>, EVERY = <every>;
const NODES = [<nodes>];
const SHARES = [
<shares>
];
const WEIGHTS = [<weights>];

// one step of <method>
function advance(t, state, h, c) {
  const slopes = [];
  const sum = (weights, i) => slopes.reduce((total, slope, r) => total + weights[r]*slope[i], 0);
  for (let s = 0; s < NODES.length; s++) {
    const moved = state.map((value, i) => value + h*sum(SHARES[s], i));
    slopes.push(rates(t + NODES[s]*h, moved, c));
  }
  return state.map((value, i) => value + h*sum(WEIGHTS, i));
}

function main() {
  const c = constants(<defaults>), out = new Float64Array(<outputs>), places = [<places>], lines = [<heading>];
  let state = START;
  for (let k = 0; k <= STEPS; k++) {
    const t = k === STEPS ? UNTIL : k*STEP;
    if (k % EVERY === 0 || k === STEPS) {
      const fault = step([t, ...state], c, out);
      if (fault) throw new Error(`the linear system ${fault - 1} is singular at t = ${t}`);
      lines.push([t, ...state, ...places.map((place) => out[place])].join(","));
    }
    if (k < STEPS) state = advance(t, state, Math.min(STEP, UNTIL - t), c);
    if (!state.every(Number.isFinite)) {
      console.error(`the motion diverged: after t = ${t} the state is no longer finite`);
      process.exitCode = 1;
      break;
    }
  }
  console.log(lines.join("\\n"));
}

if (typeof require !== "undefined" && require.main === module) main();
"""


def write(program: Program) -> str:
    """The text of a script: its functions stand by their names in a page, and are what ``require`` gives in Node."""
    body = _body(program)
    offered = ["constants", "step", "names"]
    start = first_rate(program)
    if start is not None:
        count = len(program.inputs) - 1
        body += _RATES.format(start=start, count=count, outputs=len(program.outputs))
        offered.append("rates")
    if program.defaults:
        values = listed(program.defaults, _number)
        body += f"\n// the values of the parameters in the model\nconst defaults = [{values}];\n"
        offered.append("defaults")
    named = ",\n".join(f"  {title}: [{_texts(entries)}]" for title, _, entries in tables(program))
    lines = [
        '"use strict";',
        "// constants(p): numbers from the parameters, once; step(x, c, out): outputs from the inputs and those numbers,",
        "// 0, or 1 + the number of a singular linear system. All in the order of these names:",
        f"const names = {{\n{named},\n}};",
    ]
    ending = f'\nif (typeof module !== "undefined") module.exports = {{ {", ".join(offered)} }};\n'
    return "\n".join([*lines, *helpers(_HELPERS, body), body + ending])


def complete(program: Program, run: FixedRun, _file: str = "") -> str:
    """The script with a run: ``node FILE``."""
    own = {"heading": escaped(heading(program)), "places": ", ".join(map(str, written_outputs(program)))}
    own["defaults"] = "defaults" if program.parameters else "[]"
    return write(program) + filled(_RUN, **words_of(program, run, _number, "  [{0}],"), **own)


def as_value(program: Program) -> str:
    """An expression whose value is ``{constants, step}``; where it stands, ``solveSystem`` (``SOLVER``) must be known."""
    return f"(() => {{{_body(program)}return {{ constants, step }};\n}})()"


SOLVER = _SOLVE
"""The solver that ``as_value`` counts on."""


def _body(program: Program) -> str:
    written = listing(program, NOTATION)
    rooms = [line for step in written.steps if isinstance(step, Solution) for line in _room(step)]
    return "\n".join(
        [
            "",
            *rooms,
            "function constants(p) {",
            *CODE.constants(written),
            "}",
            "",
            "function step(x, c, out) {",
            *CODE.step(written),
            "  return 0;",
            "}",
            "",
        ]
    )


def _texts(names: Sequence[str]) -> str:
    return ", ".join(escaped(printable(name)) for name in names)


class _Script:
    """Operations of an elimination as statements; ``$`` stands in no name of a model."""

    def __init__(self, number: int) -> None:
        self.prefix = f"${number}_"
        self.lines: list[str] = []

    def _value(self, formula: str) -> str:
        name = f"{self.prefix}{len(self.lines)}"
        self.lines.append(f"  const {name} = {formula};")
        return name

    def number(self, value: float) -> str:
        """A number."""
        return _number(value)

    def add(self, a: str, b: str) -> str:
        """a + b."""
        return self._value(f"{a} + {b}")

    def sub(self, a: str, b: str) -> str:
        """a - b."""
        return self._value(f"{a} - {b}")

    def mul(self, a: str, b: str) -> str:
        """a · b."""
        return self._value(f"{a}*{b}")

    def div(self, a: str, b: str) -> str:
        """a / b."""
        return self._value(f"{a}/{b}")

    def negated(self, a: str) -> str:
        """-a."""
        return self._value(f"-({a})")

    def magnitude(self, a: str) -> str:
        """|a|."""
        return self._value(f"Math.abs({a})")

    def smaller(self, a: str, b: str) -> str:
        """The smaller of two."""
        return self._value(f"Math.min({a}, {b})")

    def is_positive(self, a: str) -> str:
        """a > 0."""
        return f"{a} > 0"

    def is_not_negative(self, a: str) -> str:
        """a ≥ 0."""
        return f"{a} >= 0"

    def both(self, a: str, b: str) -> str:
        """Do both hold?"""
        return f"{a} && {b}"


def _room(step: Solution) -> list[str]:
    k, n, m = step.number, step.size, len(step.sides)
    return [f"const $matrix{k} = new Float64Array({n * n}), $sides{k} = new Float64Array({m * n});"]


def _solve(step: Solution) -> list[str]:
    names = [NOTATION.unknown_name(step.number, place) for place in range(step.size * len(step.sides))]
    pivoted = _pivoted(step)
    if step.order is None:
        values = ", ".join(f"{name} = $sides{step.number}[{place}]" for place, name in enumerate(names))
        return [*pivoted, f"  const {values};"]
    script = _Script(step.number)
    elimination = Unrolled(script, step.rows, step.sides, step.order, symmetric=step.symmetric)
    found = elimination.unknowns()
    good = elimination.accepted(found)
    fast = " ".join(f"{name} = {value};" for name, value in zip(names, found, strict=True))
    slow = " ".join(f"{name} = $sides{step.number}[{place}];" for place, name in enumerate(names))
    return [
        *script.lines,
        f"  let {', '.join(names)};",
        f"  if ({good}) {{ {fast} }} else {{",
        *(f"  {line}" for line in pivoted),
        f"    {slow}",
        "  }",
    ]


def _pivoted(step: Solution) -> list[str]:
    """Store the entries, which the solver overwrites, and solve."""
    k, n, m = step.number, step.size, len(step.sides)
    sides = [entry for side in step.sides for entry in side]
    return [
        *(f"  $matrix{k}[{place}] = {entry};" for place, entry in enumerate(step.matrix)),
        *(f"  $sides{k}[{place}] = {entry};" for place, entry in enumerate(sides)),
        f"  if (solveSystem({n}, {m}, $matrix{k}, $sides{k})) return {k + 1};",
    ]


def _returned(name: str, formulas: Sequence[str]) -> list[str]:
    if name == "out":
        return [f"  out[{place}] = {formula};" for place, formula in enumerate(formulas)]
    return [f"  return [{', '.join(formulas)}];"]


CODE = Code(NOTATION, "  const {0} = {1};", _returned, _solve)
