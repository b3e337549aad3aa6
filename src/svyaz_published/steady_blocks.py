"""The matrices of the first approximation of a steady motion as the work on redundant coordinates names them.

    r = (α, β, γ),   ṡ = B α̇,   a_αα = A_αα + BᵀA_sα + A_αs B + BᵀA_ss B,   a_βα = A_βα + A_βs B,   a_ββ = A_ββ

α are positional, β and γ cyclic: β kept with their velocities, w = β̇ - c; γ described by their momenta, v = p - p₀. After
z = y - B₀x, with ξ = (x, ẋ, w, x₃), x₃ the deviations of currents and other further states,

    ξ̇ = N ξ + V u + Z z + Y v + …,     ż = 0 + …,     v̇ = 0

(A. N. Ilyina 2019, 2.2 in Lagrange's variables, γ empty; 2.7 in Routh's; with the corrections on the page of errata.) Forces
and friction on β, which the source does not have, add G_ba, G_bb, F_b, f_bs to the rows of β. These formulas know nothing of
``first_approximation``, which goes by the system with Routh's function for its Lagrangian.

A derivative of a matrix by a vector, as (E ⊗ c') a_ba^{α'} of the source, is an array with the vector along its last axis;
``along`` takes it along the constraints: ∂/∂α + ∂/∂s B₀.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem
from svyaz.forms import pseudo_cyclic
from svyaz.model import System, nearest
from svyaz_published.jets import Jet
from svyaz_published.steady_point import RightSide, SteadyPoint


@dataclass(frozen=True)
class SteadyBlocks:
    """``matrices`` by the names of the source; ``variables`` names ξ, ``momenta`` the coordinates γ."""

    positional: tuple[str, ...]
    kept: tuple[str, ...]
    momenta: tuple[str, ...]
    dependent: tuple[str, ...]
    further: tuple[str, ...]
    inputs: tuple[str, ...]
    matrices: Mapping[str, Array]

    def __getitem__(self, name: str) -> Array:
        return self.matrices[name]

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of ξ."""
        velocities = (f"{q}'" for q in (*self.positional, *self.kept))
        return (*self.positional, *velocities, *self.further)


def lagrange_blocks(
    system: System,
    state: Mapping[str, float],
    inputs: Mapping[str, float] | None = None,
    dependent: Sequence[str] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> SteadyBlocks:
    """A1 … Z of 2.2 (all cyclic velocities kept) at the steady motion with these coordinates, cyclic speeds and inputs."""
    point = SteadyPoint(system, state, inputs, dependent, parameters, ())
    a, c = point.a, point.speeds
    by_alpha = point.along(np.einsum("b,baj->aj", c, a["ba"].first))
    by_beta = point.along(np.einsum("b,bcj->cj", c, a["bb"].first))
    own = point.along(a["a"].first[:, 0])
    potential = _scalar(c, a["bb"]).times(0.5) + _linear(c, a["b"]) + point.still
    hill = point.hill(potential)
    forces = point.forces
    blocks = {
        "A1": a["aa"].value,
        "A2": a["ba"].value.T,
        "A3": a["ba"].value,
        "A4": a["bb"].value,
        "Aaa": by_alpha - by_alpha.T,
        "Aab": by_beta.T,
        "Aba": by_beta,
        "Kaa": own - own.T,
        "Kab": point.along(a["b"].first[:, 0]).T,
        "Gaa": forces.damping,
        "Gab": forces.by_kept,
        "C1": hill.C1,
        "C2": hill.C2,
        "C3": hill.C3,
        "Caa": hill.C1 + point.B.T @ hill.C2,
        "Cas": hill.C2.T + point.B.T @ hill.C3,
        "CaaB": hill.bent[:, point.alpha],
        "CasB": hill.bent[:, point.s],
        "FaaB": forces.FaaB,
        "FasB": forces.FasB,
    }
    blocks["Phi"] = blocks["Caa"] + blocks["Cas"] @ point.B + blocks["CaaB"] + blocks["CasB"] @ point.B
    blocks["Phi"] += forces.FaaB + forces.FasB @ point.B
    blocks["Psi"] = blocks["Aaa"] + blocks["Kaa"] - blocks["Gaa"]
    blocks["Ups"] = blocks["Aab"] + blocks["Kab"] + blocks["Gab"]
    blocks["Gam"] = blocks["Aba"] + blocks["Kab"].T
    blocks["S"] = blocks["Cas"] + blocks["CasB"] + blocks["FasB"]
    rows = RightSide(blocks["Phi"], -blocks["Psi"], blocks["Ups"], blocks["S"], np.zeros((len(blocks["A1"]), 0)))
    found = {**blocks, **point.normal_form(rows, blocks["Gam"], a["aa"], a["ba"], a["bb"])}
    return _named(point, {name: matrix for name, matrix in found.items() if name != "Y"})


def routh_blocks(
    system: System,
    state: Mapping[str, float],
    inputs: Mapping[str, float] | None = None,
    dependent: Sequence[str] | None = None,
    parameters: Mapping[str, float] | None = None,
    momenta: Sequence[str] | None = None,
) -> SteadyBlocks:
    """b_aa … Y of 2.7 at the steady motion with these coordinates, cyclic speeds and inputs.

    ``momenta`` names γ, cyclic coordinates on which no force acts: all of them unless given.
    """
    free = [x.name for x in pseudo_cyclic(system) if x.conserved]
    chosen = tuple(free if momenta is None else momenta)
    for name in chosen:
        if name not in free:
            message = (
                f"the momentum of '{name}' is not conserved: the formulas in Routh's variables leave it to its velocity"
            )
            raise ModelError([Problem(message, hint=nearest(name, free))])
    point = SteadyPoint(system, state, inputs, dependent, parameters, chosen)
    b, c, p = point.b, point.speeds, point.p
    turned = np.einsum("b,baj->aj", c, b["ba"].first) + np.einsum("g,gaj->aj", p, b["ga"].first)
    by_alpha = point.along(turned + b["a"].first[:, 0])
    by_beta = np.einsum("b,bcj->cj", c, b["bb"].first) + np.einsum("g,gcj->cj", p, b["gb"].first)
    by_momentum = np.einsum("h,hgj->gj", p, b["gg"].first) - np.einsum("b,gbj->gj", c, b["gb"].first)
    potential = _scalar(p, b["gg"]).times(0.5) - _scalar(c, b["bb"]).times(0.5) - point.R0
    coupling = Jet(*(np.einsum("b,gb...->g...", c, part)[:, None] for part in _parts_of(b["gb"])))
    potential = potential - _linear(p, coupling) - _linear(c, b["b"]) - _linear(p, b["g"])
    hill, forces = point.hill(potential), point.forces
    K2 = point.along(by_beta + b["b"].first[:, 0])
    blocks = {f"b_{name}": b[name].value for name in ("aa", "bb", "ga", "gb", "gg", "a", "b", "g")}
    blocks |= {"b_ab": b["ba"].value.T, "R0": point.R0.value, "p0": p[:, None]}
    blocks |= {"A1": b["aa"].value, "A2": b["ba"].value.T, "A3": b["ba"].value, "A4": b["bb"].value}
    blocks |= {
        "K1": by_alpha - by_alpha.T,
        "K2": K2,
        "G": forces.damping,
        "H": point.along(by_momentum - b["g"].first[:, 0]).T - forces.by_momenta,
        "P": -K2.T - forces.by_kept,
        "C1": hill.C1,
        "C2": hill.C2,
        "C3": hill.C3,
        "CaaB": hill.bent[:, point.alpha],
        "CasB": hill.bent[:, point.s],
        "FaaB": forces.FaaB,
        "FasB": forces.FasB,
        "C": hill.C1 + point.B.T @ hill.C2 + hill.C2.T @ point.B + point.B.T @ hill.C3 @ point.B,
    }
    blocks["CB"] = blocks["CaaB"] + blocks["CasB"] @ point.B - (forces.FaaB + forces.FasB @ point.B)
    blocks["S"] = hill.C2.T + point.B.T @ hill.C3 + blocks["CasB"] - blocks["FasB"]
    stiffness, damping = blocks["C"] + blocks["CB"], blocks["K1"] - blocks["G"]
    rows = RightSide(-stiffness, -damping, -blocks["P"], -blocks["S"], -blocks["H"])
    return _named(point, {**blocks, **point.normal_form(rows, K2, b["aa"], b["ba"], b["bb"])})


def _named(point: SteadyPoint, matrices: Mapping[str, Array]) -> SteadyBlocks:
    """The matrices with the names of what they are of."""
    further, inputs = tuple(point.system.rates), tuple(point.inputs)
    return SteadyBlocks(point.positional, point.kept, point.gamma, point.dependent, further, inputs, matrices)


def _parts_of(jet: Jet) -> tuple[Array, Array, Array]:
    return jet.value, jet.first, jet.second


def _scalar(c: Array, matrix: Jet) -> Jet:
    """c' matrix c."""
    return Jet(*(np.einsum("b,bd...,d->...", c, part, c)[None, None] for part in _parts_of(matrix)))


def _linear(c: Array, column: Jet) -> Jet:
    """c' column."""
    return Jet(*(np.einsum("b,bd...->d...", c, part)[None] for part in _parts_of(column)))
