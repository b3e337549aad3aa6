"""A steady motion in numbers: a_aa … b_g with their derivatives by (α, s), slopes of forces along the constraints, and the
normal form that they give.

See ``steady_blocks`` for the letters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem
from svyaz.forms import redundant_at
from svyaz.model import System
from svyaz.stability import check_redundant
from svyaz_published.jets import Jet
from svyaz_published.steady_numbers import steady_numbers

BALANCED = 1e-6
"""Forces and constraints may be off by this part of their sizes."""


@dataclass(frozen=True)
class RightSide:
    """The coefficients of x, ẋ, w, z, v on the right side of the equations of α."""

    x: Array
    speed: Array
    w: Array
    z: Array
    v: Array


@dataclass(frozen=True)
class Curvature:
    """Second derivatives of a scalar by (α, α), (s, α), (s, s), and its slope by s on the second-order part of B."""

    C1: Array
    C2: Array
    C3: Array
    bent: Array


@dataclass(frozen=True)
class ForceSlopes:
    """Slopes of the forces with ṡ and γ̇ put in, along the constraints; ``below`` are those of the rows of β."""

    damping: Array
    by_kept: Array
    by_momenta: Array
    by_further: Array
    by_inputs: Mapping[str, Array]
    FaaB: Array
    FasB: Array
    below: Mapping[str, Array]


class SteadyPoint:
    """A steady motion: the blocks of the kinetic energy with their derivatives by (α, s), and the slopes of the forces."""

    def __init__(
        self,
        system: System,
        state: Mapping[str, float],
        inputs: Mapping[str, float] | None,
        dependent: Sequence[str] | None,
        parameters: Mapping[str, float] | None,
        momenta: tuple[str, ...],
    ) -> None:
        self.system, self.gamma = system, momenta
        self.inputs = {name: float((inputs or {}).get(name, given.value)) for name, given in system.inputs.items()}
        here = {name: float(state.get(name, 0.0)) for name in system.states}
        values = {**system.constants, **(parameters or {}), **here, **self.inputs, "t": 0.0}
        numbers = self.numbers = steady_numbers(system, values)
        check_redundant(system, dependent)
        self.dependent = tuple(dependent) if dependent else redundant_at(system, values)
        place = {q: k for k, q in enumerate(numbers.still_coordinates)}
        self.positional = tuple(q for q in numbers.still_coordinates if q not in self.dependent)
        self.kept = tuple(q for q in numbers.cyclic if q not in momenta)
        self.alpha, self.s = [place[q] for q in self.positional], [place[q] for q in self.dependent]
        rates = numbers.jacobian
        self.bend = (
            (rates.part(range(len(self.s)), self.s).inverse() @ rates.part(range(len(self.s)), self.alpha))
            .times(-1.0)
            .cut()
        )
        self.B = self.bend.value
        self.speeds = np.array([here[f"{q}'"] for q in self.kept])
        self.a = self._inertia()
        self.b, self.R0, self.p = self._ignored(np.array([here[f"{q}'"] for q in momenta]))
        self.forces = self._forces()
        self._refuse_motion()

    @property
    def still(self) -> Jet:
        """T₀ - Π = -W."""
        return self.numbers.still

    def along(self, slopes: Array) -> Array:
        """∂/∂α + ∂/∂s B₀ of slopes whose last axis is (α, s)."""
        return slopes[..., self.alpha] + slopes[..., self.s] @ self.B

    def hill(self, scalar: Jet) -> Curvature:
        """The second derivatives of a scalar, and (B')^q (E ⊗ ∂/∂s)."""
        curve, alpha, s = scalar.second[0, 0], self.alpha, self.s
        bent = np.einsum("paj,p->aj", self.bend.first, scalar.first[0, 0, s])
        return Curvature(curve[np.ix_(alpha, alpha)], curve[np.ix_(s, alpha)], curve[np.ix_(s, s)], bent)

    def _inertia(self) -> dict[str, Jet]:
        """a_aa, a_ba, a_bb, a_ga, a_gb, a_gg, a_a, a_b, a_g."""
        n, B = self.numbers, self.bend
        still = len(n.still_coordinates)
        rows = {"a": self.alpha, "s": self.s}
        rows |= {
            name: [still + n.cyclic.index(q) for q in group] for name, group in (("b", self.kept), ("g", self.gamma))
        }

        def A(first: str, second: str) -> Jet:
            return n.inertia.part(rows[first], rows[second])

        def A1(name: str) -> Jet:
            return n.linear.part(rows[name], [0])

        found = {"aa": A("a", "a") + B.T @ A("s", "a") + A("a", "s") @ B + B.T @ A("s", "s") @ B}
        found |= {f"{x}a": A(x, "a") + A(x, "s") @ B for x in ("b", "g")}
        found |= {"bb": A("b", "b"), "gb": A("g", "b"), "gg": A("g", "g")}
        return found | {"a": A1("a") + B.T @ A1("s"), "b": A1("b"), "g": A1("g")}

    def _ignored(self, speeds: Array) -> tuple[dict[str, Jet], Jet, Array]:
        """b_aa … b_g, R0 and the momenta p₀ of γ."""
        a = self.a
        gg = a["gg"].inverse()
        ga, gb, g = gg @ a["ga"], gg @ a["gb"], gg @ a["g"]
        b = {"gg": gg, "ga": ga, "gb": gb, "g": g}
        b |= {"aa": a["aa"] - a["ga"].T @ ga, "ba": a["ba"] - a["gb"].T @ ga, "bb": a["bb"] - a["gb"].T @ gb}
        b |= {"a": a["a"] - ga.T @ a["g"], "b": a["b"] - gb.T @ a["g"]}
        p = a["gg"].value @ speeds + a["gb"].value @ self.speeds + a["g"].value[:, 0]
        return b, self.still - (a["g"].T @ g).times(0.5), p

    def _forces(self) -> ForceSlopes:
        """The slopes of Q and of the rates of further states, with γ̇ = b_gg p - b_ga α̇ - b_gb β̇ - b_g put in."""
        n, b, B = self.numbers, self.b, self.B
        still, force = len(n.still_coordinates), n.force[:, 0]
        kept, ignored = ([still + n.cyclic.index(q) for q in group] for group in (self.kept, self.gamma))
        turning = np.einsum("g,hgj->hj", self.p, b["gg"].first) - np.einsum("b,gbj->gj", self.speeds, b["gb"].first)
        turning -= b["g"].first[:, 0]
        by_g = n.slopes["v"][:, ignored]
        by_place = n.slopes["q"] + by_g @ turning
        by_speed = n.slopes["v"][:, self.alpha] + n.slopes["v"][:, self.s] @ B - by_g @ b["ga"].value
        by_kept = n.slopes["v"][:, kept] - by_g @ b["gb"].value
        by_momenta = by_g @ b["gg"].value
        slopes = {"speed": by_speed, "w": by_kept, "v": by_momenta, "further": n.slopes["w"], "u": n.slopes["u"]}

        def projected(full: Array) -> Array:
            return full[self.alpha] + B.T @ full[self.s]

        bent = np.einsum("paj,p->aj", self.bend.first, force[self.s])
        currents = list(range(still + len(n.cyclic), len(force)))
        rest = {"x": self.along(by_place), "z": by_place[:, self.s], **slopes}
        below = {name: full[kept] for name, full in rest.items()}
        below |= {f"further {name}": full[currents] for name, full in rest.items()}
        pushed = projected(by_place)
        return ForceSlopes(
            damping=projected(by_speed),
            by_kept=projected(by_kept),
            by_momenta=projected(by_momenta),
            by_further=projected(n.slopes["w"]),
            by_inputs={"a": n.slopes["u"][self.alpha], "s": B.T @ n.slopes["u"][self.s], "b": n.slopes["u"][kept]},
            FaaB=pushed[:, self.alpha] + bent[:, self.alpha],
            FasB=pushed[:, self.s] + bent[:, self.s],
            below=below,
        )

    def normal_form(self, rows: RightSide, Gam: Array, aa: Jet, ba: Jet, bb: Jet) -> dict[str, Array]:
        """N, V, V_a, V_s, V_b, Z, Y from the rows of α and those of β, in which ``Gam`` stands before ẋ."""
        f, k, low = self.forces, len(self.positional), self.forces.below
        lever = np.linalg.inv(np.block([[aa.value, ba.value.T], [ba.value, bb.value]]))

        def moved(above: Array, below: Array, currents: Array) -> Array:
            """The rows of ẋ, ẍ, ẇ, ẋ₃ in one column of ξ̇ = N ξ + …"""
            return np.vstack([np.zeros((k, above.shape[1])), lever @ np.vstack([above, below]), currents])

        columns = [
            moved(rows.x, low["x"], low["further x"]),
            moved(rows.speed, low["speed"] - Gam, low["further speed"]),
            moved(rows.w, low["w"], low["further w"]),
            moved(f.by_further, low["further"], low["further further"]),
        ]
        N = np.hstack(columns)
        N[:k, k : 2 * k] = np.eye(k)
        count, u, by = len(self.kept), len(self.inputs), f.by_inputs
        none, still = np.zeros((len(low["further x"]), u)), np.zeros((count, u))
        return {
            "G_ba": low["speed"],
            "G_bb": low["w"],
            "F_b": low["x"],
            "f_bs": low["z"],
            "B": self.B,
            "N": N,
            "V": moved(by["a"] + by["s"], by["b"], low["further u"]),
            "V_a": moved(by["a"], still, none),
            "V_s": moved(by["s"], still, none),
            "V_b": moved(np.zeros((k, count)), np.eye(count), np.zeros((len(none), count))),
            "Z": moved(rows.z, low["z"], low["further z"]),
            "Y": moved(rows.v, low["v"], low["further v"]),
        }

    def _refuse_motion(self) -> None:
        """Raise unless the positional coordinates stay, the constraints hold and the cyclic ones keep their speeds."""
        n = self.numbers
        push = n.force[:, 0].copy()
        slope = n.turning.first[0, 0]
        push[: len(slope)] += slope
        net = np.concatenate([push[self.alpha] + self.B.T @ push[self.s], push[len(slope) :]])
        size = float(np.linalg.norm(slope) + np.linalg.norm(n.force)) + np.linalg.norm(n.turning.second) * 1e-3
        if np.linalg.norm(net) > BALANCED * size or np.linalg.norm(n.constraint) > BALANCED * (
            1 + np.abs(n.jacobian.value).sum()
        ):
            told = f"the forces are off by {np.linalg.norm(net):.3g}, the constraints by {np.linalg.norm(n.constraint):.3g}"
            raise ModelError([Problem(f"this is no steady motion: {told}")])
