"""A program as self-contained C99: ``constants`` and ``step``, compiled with -lm."""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.program.code import Code, helpers, tables
from svyaz.program.fixed_run import FixedRun, escaped, filled, heading, words_of, written_outputs
from svyaz.program.formulas import (
    ARITHMETIC_RULES,
    ELEMENTARY,
    Listing,
    Notation,
    Solution,
    first_rate,
    functions,
    listing,
    printable,
    reserved_words,
)
from svyaz.program.tape import Program

_MATH_HEADER = (
    "acosh asinh atanh cbrt ceil copysign erf erfc exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb "
    "ldexp lgamma llrint llround log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow "
    "remainder remquo rint round scalbln scalbn signbit tgamma trunc signgam isnan isinf isfinite fpclassify isnormal "
    "isgreater isless isunordered float_t double_t j0 j1 jn y0 y1 yn gamma drem finite significand atan2"
)
"""Names of math.h that a local variable would hide or that are macros."""
_KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof "
    "alignas alignof bool constexpr false nullptr static_assert thread_local true typeof_unqual I linux unix main NULL"
)
_OWN = "p c x out constants step rates compute defaults sign_of smaller larger solve_system scale INFINITY NAN HUGE_VAL"

NOTATION = Notation(
    rules=ARITHMETIC_RULES | functions(abs="fabs", sign="sign_of", min="smaller", max="larger"),
    number=repr,
    reserved=reserved_words(_KEYWORDS, _MATH_HEADER, *ELEMENTARY, _OWN),
)

_SOLVE = """
/* a: n x n by rows, b: m sides of n numbers, which become the unknowns; both are overwritten.
   scale: room for n numbers. Rows and columns are scaled by powers of two, rows exchanged. 1 when singular. */
static int solve_system(int n, int m, double *a, double *b, int *scale)
{
    for (int i = 0; i < n; i++) {
        int e;
        double sum = 0.0;
        for (int j = 0; j < n; j++) sum += fabs(a[i*n + j]);
        if (sum == 0.0) return 1;
        (void)frexp(sum, &e);
        for (int j = 0; j < n; j++) a[i*n + j] = ldexp(a[i*n + j], -e);
        for (int k = 0; k < m; k++) b[k*n + i] = ldexp(b[k*n + i], -e);
    }
    for (int j = 0; j < n; j++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += fabs(a[i*n + j]);
        (void)frexp(sum, &scale[j]);
        for (int i = 0; i < n; i++) a[i*n + j] = ldexp(a[i*n + j], -scale[j]);
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i*n + k]) > fabs(a[best*n + k])) best = i;
        if (fabs(a[best*n + k]) <= n*1.7763568394002505e-15) return 1;
        if (best != k) {
            double t;
            for (int j = 0; j < n; j++) { t = a[k*n + j]; a[k*n + j] = a[best*n + j]; a[best*n + j] = t; }
            for (int s = 0; s < m; s++) { t = b[s*n + k]; b[s*n + k] = b[s*n + best]; b[s*n + best] = t; }
        }
        for (int i = k + 1; i < n; i++) {
            double factor = a[i*n + k]/a[k*n + k];
            for (int j = k + 1; j < n; j++) a[i*n + j] -= factor*a[k*n + j];
            for (int s = 0; s < m; s++) b[s*n + i] -= factor*b[s*n + k];
        }
    }
    for (int s = 0; s < m; s++) {
        for (int i = n - 1; i >= 0; i--) {
            for (int j = i + 1; j < n; j++) b[s*n + i] -= a[i*n + j]*b[s*n + j];
            b[s*n + i] /= a[i*n + i];
        }
        for (int i = 0; i < n; i++) b[s*n + i] = ldexp(b[s*n + i], -scale[i]);
    }
    return 0;
}
"""

_HELPERS = {
    "sign_of(": "static double sign_of(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; }\n",
    "smaller(": "static double smaller(double a, double b) { return a < b ? a : b <= a ? b : a + b; }\n",
    "larger(": "static double larger(double a, double b) { return a > b ? a : b >= a ? b : a + b; }\n",
    "solve_system(": _SOLVE,
}

# Neither function calls the other: in a shared library such a call may end in another function of that name (libc has a step).
_RATES = """
int step(const double *x, const double *c, double *out)
{{
    return compute(x, c, out);
}}

/* rates of the {count} states at the time t; the value is that of step */
int rates(double t, const double *state, const double *c, double *rate)
{{
    double x[{size}], out[{outputs}];
    x[0] = t;
    for (int k = 0; k < {count}; k++) x[k + 1] = state[k];
    const int fault = compute(x, c, out);
    if (fault) return fault;
    for (int k = 0; k < {count}; k++) rate[k] = out[{start} + k];
    return 0;
}}
"""


_RUN = """
#include <stdio.h>

enum { PARAMETERS = <parameters>, CONSTANTS = <constants>, STATES = <states>, OUTPUTS = <outputs>, WRITTEN = <count>,
       STAGES = <stages>, STEPS = <steps>, EVERY = <every> };

static const double nodes[STAGES] = {<nodes>};
static const double weights[STAGES] = {<weights>};
static const double shares[STAGES][STAGES] = {
<shares>
};
static const int written[WRITTEN + 1] = {<places>};

/* one step of <method>: 0, or what rates says */
static int advance(double t, double h, const double *c, double *state)
{
    double slopes[STAGES][STATES], moved[STATES];
    for (int s = 0; s < STAGES; s++) {
        for (int i = 0; i < STATES; i++) {
            double sum = 0.0;
            for (int r = 0; r < s; r++) sum += shares[s][r]*slopes[r][i];
            moved[i] = state[i] + h*sum;
        }
        const int fault = rates(t + nodes[s]*h, moved, c, slopes[s]);
        if (fault) return fault;
    }
    for (int i = 0; i < STATES; i++) {
        double sum = 0.0;
        for (int s = 0; s < STAGES; s++) sum += weights[s]*slopes[s][i];
        state[i] += h*sum;
    }
    return 0;
}

/* one row: the time, the states, multipliers and residuals */
static int record(double t, const double *c, const double *state)
{
    double x[STATES + 1], out[OUTPUTS];
    x[0] = t;
    for (int i = 0; i < STATES; i++) x[i + 1] = state[i];
    const int fault = compute(x, c, out);
    if (fault) return fault;
    printf("%.17g", t);
    for (int i = 0; i < STATES; i++) printf(",%.17g", state[i]);
    for (int i = 0; i < WRITTEN; i++) printf(",%.17g", out[written[i]]);
    printf("\\n");
    return 0;
}

int main(void)
{
    const double step_size = <step>, until = <until>;
    double p[PARAMETERS + 1], c[CONSTANTS], state[STATES] = {<start>};
    <defaults>;
    constants(p, c);
    puts(<heading>);
    for (int k = 0; k <= STEPS; k++) {
        const double t = k == STEPS ? until : k*step_size, rest = until - t;
        int fault = k % EVERY == 0 || k == STEPS ? record(t, c, state) : 0;
        if (!fault && k < STEPS) fault = advance(t, rest < step_size ? rest : step_size, c, state);
        if (fault) {
            fprintf(stderr, "the linear system %d is singular at t = %g\\n", fault - 1, t);
            return 1;
        }
        for (int i = 0; i < STATES; i++)
            if (!isfinite(state[i])) {
                fprintf(stderr, "the motion diverged: after t = %.9g the state is no longer finite\\n", t);
                return 1;
            }
    }
    return 0;
}
"""


def complete(program: Program, run: FixedRun, _file: str = "") -> str:
    """The source file with a run: ``cc -std=c99 FILE -lm``."""
    places = written_outputs(program)
    own: dict[str, object] = {
        "constants": max(1, len(listing(program, NOTATION).stored)),
        "count": len(places),
        "places": ", ".join(map(str, [*places, 0])),
        "heading": escaped(heading(program), "?"),
        "defaults": "defaults(p)" if program.parameters else "p[0] = 0.0",
    }
    return write(program) + filled(_RUN, **words_of(program, run, repr, "    {{{0}}},"), **own)


def write(program: Program) -> str:
    """The text of the source file."""
    written = listing(program, NOTATION)
    start, count = first_rate(program), len(program.inputs) - 1
    body = _constants(written) + "\n" + _step(written, "int step" if start is None else "static int compute")
    if start is not None:
        body += _RATES.format(start=start, count=count, size=count + 1, outputs=len(program.outputs))
    return "\n".join([_head(program, written), "#include <math.h>\n", *helpers(_HELPERS, body), body]) + _defaults(
        program
    )


def _head(program: Program, written: Listing) -> str:
    lines = [
        "/* void constants(const double *p, double *c)   once, from the parameters",
        "   int step(const double *x, const double *c, double *out)   0, or 1 + the number of a singular linear system",
        f"   c has room for {max(1, len(written.stored))} numbers",
    ]
    for title, letter, names in tables(program):
        lines += [f"   {title}:"] + [f"     {letter}[{place}] = {_comment(name)}" for place, name in enumerate(names)]
    return "\n".join([*lines, "*/", ""])


def _comment(name: str) -> str:
    """A name inside a comment, which it must not end."""
    return printable(name).replace("*/", "* /")


def _defaults(program: Program) -> str:
    if not program.defaults:
        return ""
    lines = [f"    p[{place}] = {value!r};" for place, value in enumerate(program.defaults)]
    return "\n".join(
        ["", "/* the values of the parameters in the model */", "void defaults(double *p)", "{", *lines, "}", ""]
    )


def _constants(written: Listing) -> str:
    lines = ["", "void constants(const double *p, double *c)", "{", "    (void)p; (void)c;"]
    return "\n".join([*lines, *CODE.constants(written), "}", ""])


def _step(written: Listing, head: str) -> str:
    lines = ["", f"{head}(const double *x, const double *c, double *out)", "{", "    (void)x; (void)c; (void)out;"]
    sizes = [step.size for step in written.steps if isinstance(step, Solution)]
    scale = [f"    int scale[{max(sizes)}];"] if sizes else []
    return "\n".join([*lines, *CODE.begun(written), *scale, *CODE.computed(written), "    return 0;", "}", ""])


def _solve(step: Solution) -> list[str]:
    k, n, m = step.number, step.size, len(step.sides)
    return [
        f"    double matrix{k}[{n * n}] = {{",
        *(f"        {', '.join(row)}," for row in step.rows),
        "    };",
        f"    double solution{k}[{m * n}] = {{",
        *(f"        {', '.join(side)}," for side in step.sides),
        "    };",
        f"    if (solve_system({n}, {m}, matrix{k}, solution{k}, scale)) return {k + 1};",
    ]


def _returned(name: str, formulas: Sequence[str]) -> list[str]:
    return [f"    {name}[{place}] = {formula};" for place, formula in enumerate(formulas)]


CODE = Code(NOTATION, "    const double {0} = {1};", _returned, _solve)
