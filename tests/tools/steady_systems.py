"""Random systems with positional, redundant and cyclic coordinates and a steady motion at the origin, and their equations
linearised there directly.

T, Π, F and Q are polynomials of low degree. B = -(∂F/∂s)⁻¹ ∂F/∂α is cut after its first order about the steady motion, which
is exact: the linear terms of the equations contain no higher ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import symengine as se

from svyaz import System
from svyaz.expr import evaluate, velocity
from svyaz.forms import applied_forces, lagrangian


@dataclass(frozen=True)
class SteadySystem:
    """k positional, l cyclic, m redundant coordinates; ``state`` has the cyclic speeds, all else rests at zero."""

    system: System
    positional: tuple[str, ...]
    cyclic: tuple[str, ...]
    redundant: tuple[str, ...]
    state: Mapping[str, float]


def steady_system(
    seed: int,
    k: int,
    l: int,  # noqa: E741 (the letters of the source)
    m: int,
    *,
    friction: Sequence[int] = (),
    driven: Sequence[int] = (),
    pushed: str = "a1",
    bowl: float = 2.0,
    damping: float = 0.4,
) -> SteadySystem:
    """``friction``: the cyclic coordinates on which forces act, ``driven`` those with inputs, by number; ``pushed`` has the
    input u0."""
    rng = np.random.default_rng(seed)
    alpha = tuple(f"a{i + 1}" for i in range(k))
    beta = tuple(f"b{i + 1}" for i in range(l))
    redundant = tuple(f"s{i + 1}" for i in range(m))
    still, everything = (*alpha, *redundant), (*alpha, *redundant, *beta)
    speeds = {q: round(float(rng.uniform(0.5, 1.5) * rng.choice([-1, 1])), 3) for q in beta}

    def n(size: float = 1.0) -> str:
        return f"({size * rng.uniform(-1, 1):.3f})"

    def f(size: float = 1.0) -> str:
        x, y = rng.choice(still, 2)
        return f"({n(size)}*{x} + {n(size)}*{x}*{y})"

    kinetic = [f"({1.5 + 0.1 * i:.1f} + {f(0.5)})*{q}'^2/2" for i, q in enumerate(everything)]
    kinetic += [f"({n(0.25)} + {f(0.4)})*{x}'*{y}'" for i, x in enumerate(everything) for y in everything[:i]]
    kinetic += [f"{f(0.6)}*{q}'" for q in everything]
    potential = [f"{bowl}*{q}^2/2" for q in still] + [f(0.5) for _ in still]
    ties = []
    for i, s in enumerate(redundant):
        products = list(combinations_with_replacement(still, 2))
        chosen = [products[j] for j in rng.choice(len(products), min(3, len(products)), replace=False)]
        line = [f"{n(0.6)}*{q}" for q in alpha] + [f"{n(0.2)}*{q}" for q in redundant[:i]]
        ties.append(f"{s} = " + " + ".join([*line, *(f"{n()}*{x}*{y}" for x, y in chosen)]))
    forces = {q: f"{n(0.3)}*{rng.choice(still)} - {damping}*{q}' + {n(0.3)}*{rng.choice(beta)}'" for q in still}
    for i in friction:
        q, x = beta[i], rng.choice(still)
        forces[q] = f"-0.4*({q}' - ({speeds[q]})) + {n(0.5)}*{x} + {n(0.3)}*{rng.choice(still)}' - {n(0.2)}*{x}*{q}'"
    inputs = {"u0": 0.0}
    forces[pushed] += " + 1.5*u0"
    for i in driven:
        inputs[f"w{i + 1}"] = 0.0
        forces[beta[i]] = f"{forces.get(beta[i], '0')} + 0.8*w{i + 1}"
    words = {
        "name": f"random steady system {seed}",
        "coordinates": list(everything),
        "kinetic": " + ".join(kinetic),
        "potential": " + ".join(potential),
        "constraint": [{"name": f"tie {s}", "equation": tie} for s, tie in zip(redundant, ties, strict=True)],
        "inputs": inputs,
        "initial": {f"{q}'": c for q, c in speeds.items()},
        "box": {q: [-0.1, 0.1] for q in still},
    }
    loose = System(**words, forces=forces)
    point = _point(loose, speeds)
    pull = {q: evaluate(lagrangian(loose).diff(se.Symbol(q)), point) for q in still}
    push = {q: -evaluate(e, point) for q, e in zip(loose.coordinates, applied_forces(loose), strict=True)}
    constant = {s: float(rng.uniform(-1, 1)) for s in redundant}
    slope = _slope(loose, alpha, redundant)[0]
    held = np.array([pull[s] + push[s] + constant[s] for s in redundant])
    constant |= {q: -pull[q] - push[q] - float(slope[:, i] @ held) for i, q in enumerate(alpha)}
    balanced = {q: f"{text} + ({constant.get(q, 0.0)!r})" if q in constant else text for q, text in forces.items()}
    return SteadySystem(
        System(**words, forces=balanced), alpha, beta, redundant, {f"{q}'": c for q, c in speeds.items()}
    )


def _point(system: System, speeds: Mapping[str, float]) -> dict[str, float]:
    still = dict.fromkeys((*system.states, *system.inputs, "t"), 0.0)
    return {**still, **{f"{q}'": c for q, c in speeds.items()}}


def _slope(system: System, alpha: Sequence[str], redundant: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """B₀ (m, k) and ∂B/∂(α, s) (m, k, k + m) at the origin, by differentiating ∂F/∂α + ∂F/∂s B = 0."""
    names = (*alpha, *redundant)
    origin, k, n = dict.fromkeys(system.coordinates, 0.0), len(alpha), len(names)
    q = [se.Symbol(name) for name in names]
    first = [[c.expression.diff(x) for x in q] for c in system.constraints]
    rates = np.array([[evaluate(e, origin) for e in row] for row in first]).reshape(-1, n)
    bent = np.array([[[evaluate(e.diff(x), origin) for x in q] for e in row] for row in first]).reshape(-1, n, n)
    slope = -np.linalg.solve(rates[:, k:], rates[:, :k])
    along = bent[:, :k] + np.einsum("csj,sa->caj", bent[:, k:], slope)
    return slope, -np.einsum("pc,caj->paj", np.linalg.inv(rates[:, k:]), along)


@dataclass(frozen=True)
class Linearised:
    """Coefficients of 0 = mass (ẍ, ẇ) + by[…]; ``momenta`` has the slopes of ∂L*/∂β̇; names as in ``by``."""

    slope: np.ndarray
    mass: np.ndarray
    by: Mapping[str, np.ndarray]
    momenta: Mapping[str, np.ndarray]

    def lagrange(self) -> dict[str, np.ndarray]:
        """N, V, Z of ξ = (x, ẋ, w)."""
        k = self.by["a"].shape[1]
        lever, z = -np.linalg.inv(self.mass), self.by["s"]
        rows = lever @ np.hstack([self.by["a"] + z @ self.slope, self.by["a'"], self.by["b'"]])
        above = np.eye(k, rows.shape[1], k)
        return {
            "N": np.vstack([above, rows]),
            "V": np.vstack([np.zeros((k, self.by["u"].shape[1])), lever @ self.by["u"]]),
            "Z": np.vstack([np.zeros((k, z.shape[1])), lever @ z]),
        }

    def routh(self, ignored: Sequence[int]) -> dict[str, np.ndarray]:
        """N, V, Z, Y of ξ = (x, ẋ, w of the others) and the momenta of the cyclic coordinates ``ignored`` instead."""
        found, p = self.lagrange(), self.momenta
        order, k = len(found["N"]), self.by["a"].shape[1]
        gone = [2 * k + i for i in ignored]
        kept = [i for i in range(order) if i not in gone]
        # v = D ξ + D_z z: γ̇ is put in from it
        D = np.hstack([p["a"] + p["s"] @ self.slope, p["a'"], p["b'"]])[list(ignored)]
        solve = np.linalg.inv(D[:, gone])
        by_kept, by_z = -solve @ D[:, kept], -solve @ p["s"][list(ignored)]
        N = found["N"][kept]
        return {
            "N": N[:, kept] + N[:, gone] @ by_kept,
            "V": found["V"][kept],
            "Z": found["Z"][kept] + N[:, gone] @ by_z,
            "Y": N[:, gone] @ solve,
        }


def linearised(given: SteadySystem) -> Linearised:
    """d/dt ∂L*/∂α̇ - ∂L*/∂α - B'∂L*/∂s - Q_α* - B'Q_s* and d/dt ∂L*/∂β̇ - Q_β*, differentiated at the steady motion."""
    system, alpha, beta, redundant = given.system, given.positional, given.cyclic, given.redundant
    slope, bent = _slope(system, alpha, redundant)
    x = [se.Symbol(q) for q in (*alpha, *redundant)]
    B = [
        [slope[p, i] + sum(bent[p, i, j] * s for j, s in enumerate(x)) for i in range(len(alpha))]
        for p in range(len(redundant))
    ]
    put = {
        velocity(s): sum(b * velocity(q) for b, q in zip(row, alpha, strict=True))
        for s, row in zip(redundant, B, strict=True)
    }
    L = lagrangian(system).xreplace(put)
    Q = {q: -e.xreplace(put) for q, e in zip(system.coordinates, applied_forces(system), strict=True)}
    r = (*alpha, *beta)
    momenta = [L.diff(velocity(q)) for q in r]
    rates = {se.Symbol(q): velocity(q) for q in alpha} | {se.Symbol(s): put[velocity(s)] for s in redundant}
    rates |= {velocity(q): se.Symbol(f"{q}''") for q in r}
    rows = [sum(p.diff(name) * rate for name, rate in rates.items()) - Q[q] for q, p in zip(r, momenta, strict=True)]
    for i, q in enumerate(alpha):
        rows[i] -= L.diff(se.Symbol(q))
        rows[i] -= sum(B[p][i] * (L.diff(se.Symbol(s)) + Q[s]) for p, s in enumerate(redundant))
    point = {se.Symbol(name): value for name, value in _point(system, {}).items()}
    point |= {se.Symbol(name): value for name, value in given.state.items()}
    point |= {se.Symbol(f"{q}''"): 0.0 for q in r}

    def slopes(entries: Sequence[se.Basic], names: Sequence[str]) -> np.ndarray:
        columns = []
        for name in names:
            others = {symbol: value for symbol, value in point.items() if str(symbol) != name}
            at = {se.Symbol(name): point[se.Symbol(name)]}
            columns.append([float(se.sympify(e).xreplace(others).diff(se.Symbol(name)).xreplace(at)) for e in entries])
        return np.array(columns).reshape(len(names), len(entries)).T

    groups = {"a": alpha, "s": redundant, "a'": [f"{q}'" for q in alpha], "b'": [f"{q}'" for q in beta]}
    by = {key: slopes(rows, names) for key, names in {**groups, "u": tuple(system.inputs)}.items()}
    moved = {key: slopes(momenta[len(alpha) :], names) for key, names in groups.items()}
    return Linearised(slope, slopes(rows, [f"{q}''" for q in r]), by, moved)
