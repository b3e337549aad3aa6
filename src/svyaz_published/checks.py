"""Numbers of the inverse problem and of nonholonomic systems that are not read off a single run."""

from __future__ import annotations

import numpy as np

from svyaz import System
from svyaz.motion import Motion, simulate
from svyaz_published.numbers import gallery_model


def _accurately(system: System, form: str | None = None) -> Motion:
    return simulate(system, form=form, method="dop853", rtol=1e-12, stabilize="off")


def cart_gains() -> tuple[float, ...]:
    """Extreme real parts of the roots of K, decay rate and largest step of the knife-edge cart."""
    from svyaz.synthesis import invert

    found = invert(gallery_model("inverse-cart", {"given": "field"}, {}))
    return float(found.roots.real.min()), float(found.roots.real.max()), found.decay_rate, found.step_limit


def cart_of_the_text() -> tuple[float]:
    """√(max h₁² + max h₂² + max h₃²) at the old nodes, as the listing joins them, with the step and end of the text."""
    motion = simulate(gallery_model("inverse-cart", {"given": "field", "data": "text"}, {}))
    h = [motion.residuals[f"{q}' of the field"][:-1].max() for q in ("x", "y", "phi")]
    return (float(np.linalg.norm(h)),)


def cart_conditions() -> tuple[float]:
    """How many of the seven conditions fail."""
    from svyaz.synthesis import helmholtz

    return (float(len(helmholtz(gallery_model("inverse-cart", {"given": "field"}, {})).failing)),)


def voronets_against_multipliers() -> tuple[float, float]:
    """Largest difference of the final states, and the drift of the energy in Voronets' form."""
    system = gallery_model("voronets-only", {}, {})
    own = _accurately(system, "voronets")
    other = _accurately(system, "multipliers")
    drift = own.drifts()["energy"].drift
    return float(np.abs(own.states[-1] - other.states[-1]).max()), float(drift)


def suslov_s_equations() -> tuple[float]:
    """I₁ω̇₁ = -(Eω₁ + Dω₂)ω₂, I₂ω̇₂ = (Eω₁ + Dω₂)ω₁ against the motion in Euler's angles."""
    from scipy.integrate import solve_ivp

    system = gallery_model("suslov", {}, {})
    motion = _accurately(system)
    p = system.parameters
    psi, theta = motion.column("psi'"), motion.column("theta'")
    s, phi = np.sin(motion.column("theta")), motion.column("phi")
    omega = np.array([psi * s * np.sin(phi) + theta * np.cos(phi), psi * s * np.cos(phi) - theta * np.sin(phi)])

    def rates(_time: float, w: np.ndarray) -> list[float]:
        turn = p["E"] * w[0] + p["D"] * w[1]
        return [-turn * w[1] / p["I1"], turn * w[0] / p["I2"]]

    end = float(motion.times[-1])
    expected = solve_ivp(rates, (0.0, end), omega[:, 0], method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    return (float(np.abs(omega[:, -1] - expected).max()),)


def ball_momentum() -> tuple[float, float]:
    """Largest change of the vertical part and of the square of the momentum about the contact."""
    motion = _accurately(gallery_model("chaplygin-ball", {}, {}))
    return tuple(  # type: ignore[return-value]
        float(np.abs(motion.integrals[name] - motion.integrals[name][0]).max())
        for name in ("vertical momentum", "square of the momentum")
    )
