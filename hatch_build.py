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

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CALLBACKS = (
    ("svyaz.integrate.guard", "_after_step"),
    ("svyaz.integrate.implicit", "_step"),
    ("svyaz.integrate.radau", "_step"),
    ("svyaz.dynamics.recursions.tree_loop", "_step"),
    ("svyaz.dynamics.recursions.sliding_loop", "_sliding_step"),
    ("svyaz.dynamics.recursions.sliding_loop", "_sliding_watch"),
    ("svyaz.dynamics.recursions.closure_loop", "_closed_step"),
    ("svyaz.dynamics.recursions.closure_loop", "_closed_projection"),
    ("svyaz.dynamics.recursions.closure_loop", "_thorough_projection"),
    ("svyaz.dynamics.recursions.closure_loop", "_closed_look"),
    ("svyaz.dynamics.recursions.closure_loop", "_closed_reach"),
    ("svyaz.dynamics.recursions.closure_loop", "_watched_reactions"),
    ("svyaz.dynamics.recursions.closure_loop", "_watched_places"),
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

    from svyaz.integrate import Group, Ode, control_of, method, method_names, solve
    from svyaz.integrate.groups import LANES, constants_writer, prepare_free_group, prepare_group
    from svyaz.integrate.radau_desk import StiffRuns
    from svyaz.integrate.radau_lanes import run_in_lanes
    from svyaz.integrate.solving import natives

    falling = Ode(lambda t, y: -y, lambda t, y: -np.eye(1))
    for name in method_names():
        solve(falling, [1.0], (0.0, 1.0), method=name, step=0.25)
        if method(name).embedded:
            solve(falling, [1.0], (0.0, 1.0), method=name, rtol=1e-6, output=[0.0, 0.5, 1.0])
    whole, rows = np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2))
    nobody = Group(rows, rows, rows, rows, rows, rows, whole, whole, np.zeros((0, 0, 5)))
    none, stopped = np.zeros(0, dtype=np.int64), np.ones(1, dtype=np.int64)
    control = control_of(method("dopri5"), (0.0, 1.0), 1e-6, None, 1)
    for width in (1, LANES):
        prepare_group(method("rk4"), (0, 0, 0), width, nobody, none, 0, stopped)
        prepare_free_group(method("dopri5"), (0, 0, 0), width, control, nobody, none, 0, stopped)
    constants_writer(0, rows, rows)
    absent = StiffRuns(rows, rows, rows, np.zeros((0, 0, 2)), np.zeros(0), none, none)
    control = control_of(method("radau"), (0.0, 1.0), 1e-6, None, 1)
    run_in_lanes(0, 0, natives(falling, method("radau"), 1), control, absent, 0)
