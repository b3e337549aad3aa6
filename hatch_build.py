"""Puts the LLVM text of the native loops into the wheel, so that whoever installs it needs no numba and does not wait for it.

Every loop is run once on a small problem, which tells for which types it is compiled; its text does not depend on the
processor. `svyaz.integrate.compiling` reads the texts. Text of LLVM is read by later versions of LLVM and not by earlier ones,
so the numba that builds has the LLVM of the oldest llvmlite that the package allows (`.ci/wheels.py` tries both ends).
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from types import FunctionType
from typing import Any
from unittest.mock import patch

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CALLBACKS = (
    ("svyaz.integrate.guard", "_after_step"),
    ("svyaz.integrate.implicit", "_step"),
    ("svyaz.integrate.radau", "_step"),
    ("svyaz.stabilise.held_loop", "_held_step"),
    ("svyaz.dynamics.recursions.long_tree_code", "_step"),
    ("svyaz.dynamics.recursions.sliding_loop", "_sliding_step"),
    ("svyaz.dynamics.recursions.sliding_loop", "_sliding_watch"),
    ("svyaz.dynamics.recursions.closing_code", "_closed_step"),
    ("svyaz.dynamics.recursions.closing_code", "_closed_projection"),
    ("svyaz.dynamics.recursions.closing_code", "_closed_look"),
    ("svyaz.dynamics.recursions.closing_code", "_closed_reach"),
    ("svyaz.dynamics.recursions.closing_code", "_watched_reactions"),
    ("svyaz.dynamics.recursions.closing_code", "_watched_places"),
)


class Texts(BuildHookInterface[Any]):
    """Texts are made for wheels; a source tree in place compiles its loops itself, for they may change."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version != "standard":
            return
        sys.path.insert(0, str(Path(self.root, "src")))
        folder = Path(mkdtemp(prefix="svyaz-texts-"))
        for name, text in texts().items():
            (folder / name).write_bytes(text)
        build_data["force_include"][str(folder)] = "svyaz/integrate/texts"


def texts() -> dict[str, bytes]:
    """The texts by the names under which they are looked for."""
    from svyaz.integrate.compiling import Loop, loop_text, text_name

    _run_every_loop()
    wanted: list[tuple[FunctionType, Any]] = [(getattr(import_module(m), f), None) for m, f in CALLBACKS]
    for module in [module for name, module in sys.modules.items() if name.startswith("svyaz.integrate.")]:
        loops = [
            loop
            for loop in vars(module).values()
            if isinstance(loop, Loop) and loop.function.__module__ == module.__name__
        ]
        assert all(loop.patterns for loop in loops), f"every loop of {module.__name__} is run"
        wanted += [(loop.function, pattern) for loop in loops for pattern in loop.patterns]
    found = {text_name(function, pattern): loop_text(function, pattern, []) for function, pattern in wanted}
    assert all(found.values()), "every loop stands by itself"
    return {name: text for name, text in found.items() if text is not None}


def _run_every_loop() -> None:
    """Every method with a fixed step and with one of its own, and members of a group in one call: alone and in lanes, which
    are compiled here for processors that have none as well.
    """
    import numpy as np

    from svyaz.integrate import (
        WIDTH,
        Flow,
        Group,
        Ode,
        StepSolver,
        constants_writer,
        control_of,
        method,
        method_names,
        prepare_ensemble,
        prepare_free_ensemble,
        prepare_steps,
        solve,
    )
    from svyaz.integrate.radau_desk import StiffRuns
    from svyaz.integrate.radau_lanes import run_in_lanes
    from svyaz.integrate.solving import natives
    from svyaz.program import compile_program, engine
    from svyaz.program.tape import Program

    falling = Ode(lambda t, y: -y, lambda t, y: -np.eye(1))
    for name in method_names():
        solve(falling, [1.0], (0.0, 1.0), method=name, step=0.25)
        if method(name).embedded:
            solve(falling, [1.0], (0.0, 1.0), method=name, rtol=1e-6, output=[0.0, 0.5, 1.0])
    native = compile_program(Program((), ("t", "y"), (("input", 1), ("neg", 0)), (("rate[y]", 1),)))
    flow = Ode(Flow(native.address, native.constants({}), 1, native))
    for step, rtol in ((0.25, None), (None, 1e-6)):
        StepSolver(flow, 1, "dopri5", step, rtol, None).over(1.0)(0.0, 1.0)
    constants_writer(native.constants_address, np.zeros((1, 0)), np.zeros((1, 0)))(1)
    none, stopped = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for width in (1, 8):
        with patch.object(engine, "vector_width", lambda width=width: width):
            group = Group(
                *(np.zeros((16, columns)) for columns in (1, 1, 1, 2, 2)),
                np.full((16, 2), 0.5),
                np.tile([2, 1], (16, 1)),
                np.zeros((16, 2), dtype=np.int64),
                np.zeros((16, 0, WIDTH)),
            )
            prepare_ensemble(method("rk4"), (native, None, None), group, none, 0, stopped)(0.0, 1.0)
            prepare_steps(method("rk4"), (native, None), group, 0.5)(0.0, 1.0, 1.0)
            control = control_of(method("dopri5"), (0.0, 1.0), 1e-6, None, 1)
            prepare_free_ensemble(method("dopri5"), (native, None), control, group, none, 0, stopped)
    rows = np.zeros((0, 2))
    absent = StiffRuns(rows, rows, rows, np.zeros((0, 0, 2)), np.zeros(0), none, none)
    control = control_of(method("radau"), (0.0, 1.0), 1e-6, None, 1)
    run_in_lanes(0, 0, natives(falling, method("radau"), 1), control, absent, 0)
