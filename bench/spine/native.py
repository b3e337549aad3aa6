"""Our right-hand side of the pendulum as native code, compiled as ``simulate`` compiles it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from bench.spine import pendulum
from bench.spine.pendulum import Floats

if TYPE_CHECKING:
    from svyaz.forms import Equations
    from svyaz.program import Native, Program


def right_hand_side(links: int) -> tuple[Native, Floats]:
    """Native code and its constants."""
    from svyaz import loads
    from svyaz.forms import derive
    from svyaz.program import compile_program

    system = loads(pendulum.our_text(links), "pendulum")
    code = compile_program(program_of(derive(system)))
    return code, code.constants(system.constants)


def program_of(equations: Equations) -> Program:
    """The program of the rates, with the order of elimination chosen at the initial state."""
    from svyaz.forms.programs import rates_of, rates_program
    from svyaz.program import choose_orders

    system = equations.system
    sample = {"t": 0.0, **dict(zip(system.states, system.initial_state(), strict=True))}
    return choose_orders(rates_program(equations, rates_of(equations)), system.constants, sample)


def python_function(code: Native, constants: Floats) -> Callable[[float, Floats], Floats]:
    """f(t, y) as solve_ivp wants it: one call of the address on buffers made once, and a copy of the result."""
    import ctypes

    pointer = ctypes.c_void_p
    step = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, pointer, pointer)(code.address)
    x, out = np.empty(len(code.program.inputs)), np.empty(len(code.program.outputs))
    state = x[1:]
    x_at, constants_at, out_at = pointer(x.ctypes.data), pointer(constants.ctypes.data), pointer(out.ctypes.data)

    def rates(t: float, y: Floats) -> Floats:
        x[0] = t
        state[:] = y
        step(x_at, constants_at, out_at)
        return out.copy()

    return rates
