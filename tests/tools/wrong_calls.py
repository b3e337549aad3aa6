"""Wrong calls from Python: every public verb with every parameter given a value that is wrong for it.

Parameters are found by their signatures; which values are wrong for a parameter is written here by its name (one without an
entry gets an odd object). Classes that are results (Motion, Equilibria …) are made by verbs: their methods are
called, their constructors are not.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

import svyaz

NAN, INF = float("nan"), float("inf")


class Odd:
    """An object that is nothing of what is asked for."""

    def __repr__(self) -> str:
        return "<odd>"


ODD = Odd()
NOT_NUMBERS = [
    NAN,
    INF,
    -INF,
    "x",
    "",
    1j,
    [1.0],
    [[1.0]],
    {},
    {"x": 1},
    True,
    ODD,
    np.array([1.0, 2.0]),
    b"1",
    10**400,
]
NOT_TEXTS = [1, 1.0, NAN, True, [1], {}, 1j, ODD, b"text", ("a", 1)]
NOT_FLAGS = [1, 0, 0.5, "yes", "", [], {}, NAN, ODD, (True,)]
NOT_WHOLE = [1.5, NAN, INF, "x", 1j, [1], {}, True, ODD, np.float64(2.0)]
NOT_PATHS = [1, 1.5, NAN, True, [1], {}, 1j, ODD]
NOT_FUNCTIONS = [1, "x", [1], {}, NAN, True, ODD]


def _tables(key: str, wrong: list[object]) -> list[object]:
    """Tables that are none, or have a wrong key or a wrong value."""
    not_tables: list[object] = [3, 1.5, NAN, "x", [1.0], [(key, 1.0)], {key}, ODD, True, np.zeros(2)]
    return [*not_tables, {1: 1.0}, {None: 1.0}, {"no such name": 1.0}, *({key: value} for value in [*wrong, None])]


NOT_PAIRS = [
    *(3, "ab", (1.0,), (1.0, 2.0, 3.0), (NAN, 1.0), (0.0, INF), (-INF, INF), ("a", "b"), (1j, 2.0), (None, 1.0), {}),
    *((True, False), ([0], [1]), ODD, (2.0, 1.0), np.zeros((2, 2))),
]
NOT_NAMES = [3, 1.5, NAN, True, {"u": 1}, [1], [None], ["no such name"], ODD, [["u"]], [b"u"]]
NOT_ARRAYS = [
    *("x", NAN, INF, [NAN], [0.0, INF], ["a"], [1j], [None], {}, {"u": 1}, ODD, [[1.0], [1.0, 2.0]], [True], [ODD]),
]


NOT_MATRICES = ["x", [[NAN]], [[INF]], [["a"]], [[1j]], ODD, {}, [[1.0], [1.0, 2.0]], [[None]]]


ALIASES = {("lqr", "q"): ("state weight",), ("lqr", "r"): ("input weight",), ("Motion.at", "time"): ("times",)}
"""What messages call a parameter whose name is a letter."""


@dataclass(frozen=True)
class Call:
    """One wrong call: of which verb, by which parameter."""

    verb: str
    parameter: str
    value: object
    make: Callable[[], object]

    def is_named(self, message: str) -> bool:
        """Does a message name the parameter, or the entry of it that is wrong?"""
        value = self.value
        if isinstance(value, dict):
            entries = [*value, *value.values()]
        else:
            entries = list(value) if isinstance(value, list | tuple | set) else [value]
        texts = [entry for entry in entries if isinstance(entry, str)]
        names = [
            *ALIASES.get((self.verb, self.parameter), ()),
            self.parameter,
            *(p for t in texts for p in t.split(".")),
        ]
        found = (rf"(?<!\w){re.escape(name.strip())}(?!\w)" for name in names if name.strip())
        return any(re.search(pattern, message, re.IGNORECASE) for pattern in found)

    def __str__(self) -> str:
        shown = repr(self.value)
        return f"{self.verb}({self.parameter}={shown if len(shown) < 60 else shown[:57] + '…'})"


POSITIVE = [*NOT_NUMBERS, 0.0, -1.0]
WRONG: dict[str, list[object]] = {
    "form": [*NOT_TEXTS, "no such form", ""],
    "method": [*NOT_TEXTS, "no such method"],
    "step": [*POSITIVE, 1e9],
    "rtol": [*POSITIVE, 2.0, 1e-300],
    "atol": [*POSITIVE, {"u": NAN}, {"u": -1.0}],
    "until": POSITIVE,
    "every": POSITIVE,
    "dt": POSITIVE,
    "seconds": [*(value for value in NOT_NUMBERS if not (isinstance(value, float) and value > 0)), -1.0],
    "initial_error": [*NOT_NUMBERS, -1.0],
    "t": NOT_NUMBERS,
    "stabilize": [
        *("no such word", NAN, INF, -INF, 1j, [1], [], ODD, True, {}, {"alpha": NAN}, {"zz": 1}, {"alpha": "x"}),
        *({"law": 3}, {"kappa": [1]}, {"A": NAN}, {"mass": ODD}, {"A": [[1, None]]}, {"B": [1, 2]}),
    ],
    "stabilize of constraints": [{"law": "1 +"}, {"A": "zz"}, {"law": {"zz": "-y"}}, {"A": [[1, 2]]}],
    "tolerance": [
        *(value for value in POSITIVE if not isinstance(value, dict)),
        {"no such name": 1.0},
        {"blade": NAN},
        {"blade": "x"},
    ],
    "hold": [*NOT_TEXTS, "firmly"],
    "charts": [*NOT_TEXTS, "all"],
    **dict.fromkeys(("project", "halve", "force", "beyond", "foresee", "resume", "complete", "reactions"), NOT_FLAGS),
    **dict.fromkeys(("against_linearised", "functions", "degrees", "free_base", "damping", "jacobian"), NOT_FLAGS),
    "on_failure": [*NOT_TEXTS, "give up", None],
    "keep": [*NOT_NAMES, "no such name"],
    "kept": [*NOT_NAMES, "no such name"],
    "start": _tables("u", NOT_NUMBERS),
    "near": _tables("u", NOT_NUMBERS),
    "at": _tables("u", NOT_NUMBERS),
    "fix": _tables("F", NOT_NUMBERS),
    "box": _tables("u", NOT_PAIRS),
    "ranges": _tables("u", NOT_PAIRS),
    "about": _tables("u", NOT_NUMBERS),
    "span": NOT_PAIRS,
    "inputs": _tables(
        "F", [NAN, INF, -INF, 1j, ODD, True, {}, [[1.0]], [NAN], "1 +", "zz", ([0, 1], [0]), ([0, NAN], [0, 1]), b"1"]
    ),
    "rows": [*NOT_ARRAYS, [[0.0, 0.1]], [-1.0], [1e9], 3],
    "max_steps": [*NOT_WHOLE, 0, -1],
    "seed": [*NOT_WHOLE, -1],
    "count": [*NOT_WHOLE, 0, -1],
    "workers": [*NOT_WHOLE, 0, -1],
    "scheduler": NOT_TEXTS,
    "progress": NOT_FUNCTIONS,
    "dependent": NOT_NAMES,
    "measure": [3, NAN, True, {"u": 1}, [1], [None], ["zz"], ["1 +"], ODD, "zz"],
    "outputs": [3, NAN, True, {"u": 1}, [1], [None], ["zz"], ["1 +"], ODD],
    "weights": [
        *(3, NAN, "no such file", [1], ODD, True, {"zz": 1}, {"state": {"u": NAN}}, {"state": {"zz": 1}}, {"state": 3}),
        *({"Q": [[NAN]]}, {"R": "x"}, {"Q": [1.0]}, {"input": {"F": -1.0}}, {"input": {"F": 0}}, {"state": {"u": 1j}}),
    ],
    "variables": [*NOT_TEXTS, "euler"],
    "vary": [
        *_tables("l", [NAN, INF, "x", 1j, {}, ODD, True, [], [NAN], ["a"], [[1.0], [2.0]], [1j], [None], [True]]),
        *({}, {"no such name": [1.0]}, {"run.step": [-1.0]}, {"initial.zz": [1.0]}),
    ],
    "vary of explore": [value for value in _tables("l", NOT_PAIRS) if not isinstance(value, set)],
    "show": [3, NAN, True, {"u": 1}, [1], [None], "zz", ["1 +"], ODD],
    "language": [*NOT_TEXTS, "cobol"],
    "along": [*NOT_TEXTS, "no such name"],
    "aim": [*NOT_TEXTS, "beauty"],
    "name": [*NOT_TEXTS, "no such name"],
    "names": [1, NAN, True, None, [1], {}, ODD, "no such name"],
    "by": [3, NAN, True, {"u": 1}, [1], [None], ODD, "u"],
    "against": _tables("b", [3, "x", NAN, ODD, [1], {}, True]),
    "size": [3, NAN, "x", (1,), (NAN, 1), (0, 1), (-1, 2), (INF, 1), [1, 2, 3], {}, ODD, True, "axb"],
    "style": [3, NAN, True, [1], ODD, "no such style", {"no such setting": 1}],
    "file": NOT_PATHS,
    "folder": NOT_PATHS,
    "within": NOT_PATHS,
    "file of save": NOT_PATHS,
    "time": [*NOT_ARRAYS, -1.0, 1e9, [1e9]],
    "times": [*NOT_ARRAYS, [-1.0], [1e9]],
    "u": [
        "x",
        [1.0, 2.0],
        [NAN],
        INF,
        [1j],
        [None],
        {"F": NAN},
        {"F": "x"},
        {"F": None},
        {"zz": 1.0},
        ODD,
        {"F": [1.0, 2.0]},
    ],
    "system": [3, NAN, "pendulum:1", [1], {}, ODD, True, None, {"coordinates": ["x"]}],
    "laws": _tables("F", [NAN, INF, 1j, ODD, True, {}, [[1.0]], [NAN], "1 +", "zz", ([0, 1], [0]), ([0, NAN], [0, 1])]),
    "state": _tables("u", NOT_NUMBERS),
    "parameters": _tables("l", NOT_NUMBERS),
    "controller": [3, NAN, "x", [1], {}, ODD, True, None],
    "text": [*NOT_TEXTS, "x = ", "no model"],
    "file of loads": NOT_TEXTS,
    "name of load": [1, NAN, True, [1], {}, ODD, "no such model", None, b"x", ""],
    **{key: [*NOT_MATRICES, np.zeros((3, 2))] for key in "abqr"},
    "motion": [3, NAN, "x", [1], {}, ODD, True, None],
    "moments": [*NOT_ARRAYS, [1e9], [-1.0]],
    "formulas": [3, NAN, True, {"u": 1}, [1], [None], ODD],
    "omega": NOT_ARRAYS,
    "program": [3, NAN, "x", [1], {}, ODD, True, None],
    "design": [3, NAN, "x", [1], {}, ODD, True, None],
    "x": ["x", [1.0], [NAN] * 7, ["a"] * 4, [1j] * 4, [None] * 4, ODD, {}, {"u": 1}, np.zeros((2, 3))],
    "p": ["x", [1.0, 2.0, 3.0], {"zz": 1.0}, {"l": "x"}, {"l": None}, {"l": 1j}, ODD, {"l": [1.0, 2.0]}],
    "words": [3, NAN, "x", [1], ODD, True, None],
}

SYSTEM = {
    "name": "pendulum",
    "coordinates": ["u"],
    "kinetic": "m*l^2/2*u'^2",
    "potential": "-m*9.81*l*cos(u)",
    "parameters": {"m": 1.0, "l": 1.0},
    "inputs": {"F": 0.0},
    "forces": {"u": "F"},
    "initial": {"u": 0.3},
    "run": {"method": "rk4", "step": 0.05, "until": 0.2},
}
TURNING = {
    **SYSTEM,
    "coordinates": ["u", "psi"],
    "kinetic": "m*l^2/2*(u'^2 + sin(u)^2*psi'^2) + psi'^2/2",
    "initial": {"u": 0.3, "psi'": 1.0},
}


def verbs() -> Iterator[tuple[str, Callable[..., object], dict[str, object]]]:
    """Every verb by its name, with arguments with which it is right."""
    pendulum, sleigh = svyaz.System(**SYSTEM), svyaz.load("sleigh")
    motion, arm = pendulum.simulate(), svyaz.load("chain:2")
    found = pendulum.regulate(near={"u": 0.0}, measure=["u"])
    linear, f = pendulum.linearise(), pendulum.derive().function()
    result = pendulum.sweep({"l": [1.0, 2.0]})
    one = svyaz.LinearModel(*(np.eye(1) for _ in range(4)), ("z",), ("e",), ("c",))
    short = {"until": 0.1}
    turning = svyaz.System(**TURNING)
    field = svyaz.System(coordinates=["x"], field={"x": "1 - x"}, rayleigh=[[1.0]], initial={"x": 0.5})
    given: dict[str, tuple[object, dict[str, object]]] = {
        "System.derive": (pendulum.derive, {}),
        "System.derive of constraints": (sleigh.derive, {}),
        "System.export": (pendulum.export, {"language": "c"}),
        "System.check": (sleigh.check, {}),
        "System.simulate": (pendulum.simulate, {}),
        "System.simulate of constraints": (sleigh.simulate, {**short, "step": 0.01}),
        "System.equilibria": (pendulum.equilibria, {}),
        "System.steady": (turning.steady, {}),
        "System.steady_branches": (turning.steady_branches, {"along": "psi'", "span": (1.0, 2.0)}),
        "System.regulate": (pendulum.regulate, {}),
        "System.linearise": (pendulum.linearise, {}),
        "System.to_control": (pendulum.to_control, {}),
        "System.with_controller": (pendulum.with_controller, {"controller": one, "measure": ["u"]}),
        "System.invert": (field.invert, {}),
        "System.sweep": (pendulum.sweep, {"vary": {"l": [1.0, 2.0]}}),
        "System.explore": (pendulum.explore, {}),
        "System.inertia": (arm.inertia, {}),
        "Motion.plot": (motion.plot, {}),
        "Motion.animate": (motion.animate, {}),
        "Motion.page": (motion.page, {}),
        "Motion.save": (motion.save, {}),
        "Motion.to_csv": (motion.to_csv, {}),
        "Motion.at": (motion.at, {}),
        "Motion.resampled": (motion.resampled, {}),
        "Motion.column": (motion.column, {}),
        "Sweep.column": (result.column, {}),
        "Sweep.grid": (result.grid, {}),
        "Sweep.to_csv": (result.to_csv, {}),
        "Equations.code": (pendulum.derive().code, {}),
        "Equations.jacobian": (pendulum.derive().jacobian, {}),
        "Equations.to_sympy": (pendulum.derive().to_sympy, {}),
        "NumericEquations": (f.__call__, {"t": 0.0, "x": [0.1, 0.2]}),
        "NumericEquations.mass_matrix": (f.mass_matrix, {"x": [0.1]}),
        "NumericEquations.jacobian": (f.jacobian, {"t": 0.0, "x": [0.1, 0.2]}),
        "Simulator": (svyaz.Simulator, {"system": pendulum, "dt": 0.1}),
        "Simulator.step": (svyaz.Simulator(pendulum, 0.1).step, {}),
        "Simulator.reset": (svyaz.Simulator(pendulum, 0.1).reset, {}),
        "Regulation.run": (found.run, {}),
        "Regulation.basin": (found.basin, {"count": 10}),
        "Regulation.margin": (found.margin, {"name": "l", "span": (0.5, 2.0)}),
        "ClosedLoop.run": (found.loop().run, {"state": {"u": 0.1}, "until": 0.1}),
        "LinearModel.step_response": (linear.step_response, {}),
        "LinearModel.frequency_response": (linear.frequency_response, {}),
        "simulate": (svyaz.simulate, {"system": pendulum}),
        "check": (svyaz.check, {"system": sleigh}),
        "derive": (svyaz.derive, {"system": pendulum}),
        "equilibria": (svyaz.equilibria, {"system": pendulum}),
        "first_approximation": (svyaz.first_approximation, {"system": pendulum, "state": {"u": 0.0}}),
        "regulate": (svyaz.regulate, {"system": pendulum}),
        "sweep": (svyaz.sweep, {"system": pendulum, "vary": {"l": [1.0, 2.0]}}),
        "with_inputs": (svyaz.with_inputs, {"system": pendulum, "laws": {"F": "0"}}),
        "lqr": (svyaz.lqr, {"a": [[0.0, 1.0], [0.0, 0.0]], "b": [[0.0], [1.0]]}),
        "load": (svyaz.load, {"name": "pendulum:1"}),
        "loads": (svyaz.loads, {"text": svyaz.to_toml(pendulum.words)}),
        "load_motion": (svyaz.load_motion, {}),
        "plot_motion": (svyaz.plot_motion, {"motion": motion, "file": "picture.png"}),
        "animate": (svyaz.animate, {"motion": motion, "file": "film.html"}),
        "write_report": (svyaz.write_report, {"motion": motion, "folder": "report"}),
        "export": (svyaz.export, {"program": svyaz.build([], inputs=(), parameters=()), "language": "c"}),
    }
    for name, (verb, right) in given.items():
        yield name, verb, right  # type: ignore[misc]


NUMERIC = ("NumericEquations", "NumericEquations.mass_matrix", "NumericEquations.jacobian")
NOT_INPUTS = ["x", [1.0, 2.0], [1j], [None], {"F": "x"}, {"F": None}, {"zz": 1.0}, ODD]  # NaN leads to NaN
OWN = {
    ("System.regulate", "inputs"): NOT_NAMES,
    ("regulate", "inputs"): NOT_NAMES,
    ("System.with_controller", "inputs"): NOT_NAMES,
    ("first_approximation", "inputs"): _tables("F", NOT_NUMBERS),
    ("System.explore", "vary"): WRONG["vary of explore"],
    ("load", "name"): WRONG["name of load"],
    ("loads", "file"): WRONG["file of loads"],
    ("export", "file"): WRONG["file of loads"],
    ("sweep", "keep"): NOT_PATHS,
    ("System.sweep", "keep"): NOT_PATHS,
    ("ClosedLoop.run", "rtol"): POSITIVE,
    ("ClosedLoop.run", "rows"): [*NOT_WHOLE, 0, -1],
    ("plot_motion", "looks"): [3, "x", ODD, [1], {}],
    **{(verb, "u"): NOT_INPUTS for verb in NUMERIC},
    **{(verb, "t"): ["x", [1.0, 2.0, 3.0], ODD, 1j, {}, None] for verb in NUMERIC},
    ("NumericEquations.mass_matrix", "x"): ["x", [1.0, 2.0, 3.0], ["a"], [1j], [None], ODD, {}, np.zeros((2, 3))],
    ("LinearModel.step_response", "times"): [*NOT_ARRAYS, [-1.0]],
}


def calls() -> Iterator[Call]:
    """All wrong calls."""
    for verb, function, right in verbs():
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD or (verb, parameter.name) == (
                "System.steady_branches",
                "dependent",
            ):
                continue
            wrong = OWN.get((verb, parameter.name)) or WRONG.get(parameter.name, [ODD])
            more = (
                WRONG["stabilize of constraints"] if parameter.name == "stabilize" and "of constraints" in verb else []
            )
            if verb == "first_approximation":  # it passes over names that the system does not have
                wrong = [value for value in wrong if not (isinstance(value, dict) and "no such name" in value)]
            for value in (*wrong, *more):
                if parameter.kind is parameter.VAR_POSITIONAL:
                    make = partial(function, value, **right)
                else:
                    make = partial(function, **{**right, parameter.name: value})
                yield Call(verb, parameter.name, value, make)
        yield Call(verb, "no_such_option", 1, partial(function, **right, no_such_option=1))
    yield from _words()


def _words() -> Iterator[Call]:
    """Words of a model with values that no word takes, values with_ other ones, and parts."""
    pendulum = svyaz.System(**SYSTEM)
    for word in svyaz.ModelWords.__annotations__:
        for value in (ODD, 1j, {1: 2.0}, b"x", {"zz": ODD}, [ODD], {"a", "b"}, NAN, INF):
            yield Call("System", word, value, partial(svyaz.System, **{**SYSTEM, word: value}))
    for value in (*NOT_NUMBERS, None):
        if not isinstance(value, str):  # a text is an expression here
            yield Call(
                "System", "parameters", value, partial(svyaz.System, **{**SYSTEM, "parameters": {"m": 1.0, "l": value}})
            )
            yield Call("System", "initial", value, partial(svyaz.System, **{**SYSTEM, "initial": {"u": value}}))
            yield Call("with_", "l", value, partial(pendulum.with_, l=value))
            yield Call("with_", "initial", value, partial(pendulum.with_, initial={"u": value}))
            if not isinstance(value, dict):  # an input may be a table
                yield Call("with_", "F", value, partial(pendulum.with_, F=value))
            yield Call("with_settings", "l", value, partial(pendulum.with_settings, {"l": value}))
            yield Call("with_settings", "initial.u", value, partial(pendulum.with_settings, {"initial.u": value}))
    for value in (3, NAN, "x", None, ODD, [1], {"zz": 1}, {1: 2}):
        yield Call("with_settings", "settings", value, partial(pendulum.with_settings, value))
        yield Call("with_", "zz", value, partial(pendulum.with_, zz=value))
        yield Call("with_parts", "parts", value, partial(pendulum.with_parts, value))
        yield Call("System", "parts", value, partial(svyaz.System, value, **SYSTEM))
        for part, word in ((svyaz.Constraint, "equation"), (svyaz.Integral, "expression")):
            if value == 3 and word == "expression":
                continue
            yield Call(part.__name__, word, value, partial(_with_part, pendulum, part, value))


def _with_part(system: svyaz.System, part: Callable[[object], object], value: object) -> object:
    return system.with_parts(part(value))


if __name__ == "__main__":
    found = 0
    for call in calls():
        found += 1
        try:
            call.make()
        except (svyaz.ModelError, TypeError, ValueError) as refusal:
            if not call.is_named(str(refusal)):
                print(f"{call}: the argument is not named: {refusal}")
        except Exception as crash:
            print(f"{call}: {type(crash).__name__}: {crash}")
        else:
            print(f"{call}: accepted")
    print(f"{found} wrong calls")
