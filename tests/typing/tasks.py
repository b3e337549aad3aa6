"""What people who know other tools ask first, as they would write it: each in at most ten lines, typed strictly.

``mypy --strict`` reads this file, and ``tests/library/test_tasks.py`` runs it and asks the other tools the same.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.physics.mechanics import dynamicsymbols

import svyaz

Array = NDArray[np.float64]


def derive_and_lambdify() -> Callable[..., Array]:
    """SymPy mechanics: the mass matrix as a function of numbers."""
    found = svyaz.load("pendulum:2").derive().to_sympy()
    compiled: Callable[..., Array] = sp.lambdify([*found.coordinates, *found.parameters], found.mass_matrix)
    return compiled


def rates_into_solve_ivp() -> Array:
    """PyDy: the right-hand side for SciPy's integrator, the state at its end."""
    from scipy.integrate import solve_ivp

    f = svyaz.load("pendulum:2").derive().function()
    found = solve_ivp(f, (0.0, 2.0), f.initial, method="DOP853", rtol=1e-10, atol=1e-10)
    return np.asarray(found.y[:, -1])


def state_space_and_bode(cart: svyaz.System) -> tuple[Array, Array]:
    """python-control: magnitude and phase of the transfer from the force to the cart, about the hanging position."""
    import control

    plant = cart.to_control(outputs=["x"])
    magnitude, phase, _ = control.frequency_response(plant, [0.5, 1.0, 5.0])
    return np.asarray(magnitude), np.asarray(phase)


def response_to_a_signal(cart: svyaz.System, times: Array, force: Array) -> tuple[Array, Array]:
    """MATLAB's lsim: the linear model and the system itself under the same u(t)."""
    linear = cart.linearise(outputs=["x"]).forced_response(times, force)
    motion = cart.simulate(inputs={"F": (times, force)}, until=times[-1], every=times[1], rtol=1e-10)
    return linear[:, 0], motion["x"]


def lqr_and_closed_loop(cart: svyaz.System) -> tuple[Array, Array]:
    """MATLAB, Drake: gains about the upright position, and the closed loop from a push."""
    found = cart.regulate(fix={"x": 0.0, "F": 0.0}, near={"u": np.pi})
    return found.K, found.run(start={"u": np.pi + 0.1}, until=10.0)["regulator"].motion.states


def step_in_a_loop(cart: svyaz.System) -> list[float]:
    """MuJoCo, Drake: a loop of one's own with the control held through each step."""
    loop, seen = svyaz.Simulator(cart, dt=0.05), []
    while loop.t < 1.0:
        loop.step({"F": 4.0 * loop["u"] - loop["x"]})
        seen.append(loop["x"])
    return seen


def sweep_to_a_table() -> list[float]:
    """A parameter varied, the results as a DataFrame."""
    found = svyaz.load("pendulum:1").sweep({"L1": [0.5, 1.0, 2.0]}, ["final.u1"], until=1.0, workers=1)
    table = found.to_pandas().set_index("L1")
    return [float(value) for value in table["final.u1"]]


def animate_inline() -> str:
    """A mechanism that moves in a notebook: what the cell shows."""
    return svyaz.load("four-bar").simulate(until=1.0).animate()._repr_html_()


def numeric_mass_matrix_of_a_robot(urdf: Path, q: Array) -> Array:
    """Pinocchio, Drake: M(q) of a robot from its URDF, for one position or many at once."""
    return svyaz.load(urdf).derive().function().mass_matrix(q)


def expressions_of_sympy_in() -> svyaz.System:
    """A Lagrangian that was written in SymPy."""
    theta, t = dynamicsymbols("theta"), dynamicsymbols._t
    m, length, g = sp.symbols("m l g", positive=True)
    kinetic, potential = m * length**2 * theta.diff(t) ** 2 / 2, -m * g * length * sp.cos(theta)
    values = {m: 1, length: 2, g: 9.81}
    return svyaz.System(coordinates=[theta], kinetic=kinetic, potential=potential, parameters=values)


def symbolic_jacobian_out(cart: svyaz.System) -> sp.Matrix:
    """∂f/∂x of the solved equations as a matrix of SymPy."""
    return sp.Matrix(cart.derive().jacobian())


def linear_about_a_moving_state(cart: svyaz.System) -> tuple[Array, Array]:
    """A and B at a moment of a motion."""
    motion = cart.with_(initial={"u": 1.0, "x'": 0.3}).simulate(until=1.0)
    moving = cart.linearise(dict(zip(motion.state_names, motion.at(0.4), strict=True)))
    return moving.A, moving.B


def step_by_step(length: float) -> svyaz.Motion:
    """A rod of bodies, then a constraint of it."""
    spread = {"zz": length**2}
    end: list[str | float] = [length, 0, 0]
    rod = svyaz.Body(
        "rod", base="ground", joint="revolute", coordinate="u", axis=[0, 0, 1], mass=1, center=end, inertia=spread
    )
    system = svyaz.System(rod, svyaz.Point("tip", body="rod", at=[length, 0, 0]), gravity=[0, -9.81, 0])
    return system.with_parts(svyaz.Constraint("u' = 2", name="turntable"), initial={"u'": 2}).simulate(until=1)
