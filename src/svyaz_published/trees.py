"""Inertia matrices of trees (002, Telegin 2025): the formulas of the paper beside a direct sum over the bodies.

Bodies turn about axes; L_i e_i leads from the pole of the base to that of body i. Products of inertia are +∫xy dm, moments are
about the poles. H_ji = ∂²T/∂q̇_j∂q̇_i.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import Expression, evaluate
from svyaz.model import Tree
from svyaz_published.numbers import gallery_model, generator


@dataclass(frozen=True)
class Link:
    """A body: who carries it (-1 the ground), axis, pole in the frame of the base, mass, centre, and the tensor I with the
    products of inertia as they are, not with a minus."""

    base: int
    axis: Array
    pole: Array
    mass: float
    centre: Array
    inertia: Array


class Posed:
    """A tree in a position: all that the formulas of the paper are made of."""

    def __init__(self, links: Sequence[Link], angles: Array) -> None:
        self.links = links
        self.count = range(len(links))
        self.turn: list[Array] = []
        self.place: list[Array] = []
        for link, angle in zip(links, angles, strict=True):
            on = (self.turn[link.base], self.place[link.base]) if link.base >= 0 else (np.eye(3), np.zeros(3))
            self.place.append(on[1] + on[0] @ link.pole)
            self.turn.append(on[0] @ _turn(link.axis, angle))
        self.axis = [turn @ link.axis for turn, link in zip(self.turn, links, strict=True)]
        self.length = [float(np.linalg.norm(link.pole)) for link in links]
        starts = [self.place[link.base] if link.base >= 0 else np.zeros(3) for link in links]
        self.ort = [(p - s) / (n or 1.0) for p, s, n in zip(self.place, starts, self.length, strict=True)]
        self.carried = [[k for k in self.count if i in self.path(k)] for i in self.count]
        self.mass = [sum(links[k].mass for k in self.carried[i]) for i in self.count]
        centres = [p + r @ k.centre for p, r, k in zip(self.place, self.turn, links, strict=True)]
        self.centre = centres
        self.moment = [sum(links[k].mass * (centres[k] - self.place[i]) for k in self.carried[i]) for i in self.count]

    def path(self, k: int) -> list[int]:
        """The bodies from k down to the ground."""
        found = [k]
        while self.links[found[-1]].base >= 0:
            found.append(self.links[found[-1]].base)
        return found

    def children(self, i: int) -> list[int]:
        """S_i: the bodies whose base is i."""
        return [k for k in self.count if self.links[k].base == i]

    def matrix(self) -> Array:
        """H by the velocities of the centres and the angular velocities that the unit rates give."""
        H = np.zeros((len(self.links), len(self.links)))
        for k, link in enumerate(self.links):
            c, R = link.centre, self.turn[k]
            about_pole = np.diag(np.diag(link.inertia)) * 2 - link.inertia
            about_centre = R @ (about_pole - link.mass * (c @ c * np.eye(3) - np.outer(c, c))) @ R.T
            speeds = {i: np.cross(self.axis[i], self.centre[k] - self.place[i]) for i in self.path(k)}
            for j, v in speeds.items():
                for i, w in speeds.items():
                    H[j, i] += link.mass * v @ w + self.axis[j] @ about_centre @ self.axis[i]
        return H

    def own(self, k: int, j: int, i: int) -> float:
        """J_kji, the moment of body k about the axes of j and i through its pole."""
        a, b = self.turn[k].T @ self.axis[j], self.turn[k].T @ self.axis[i]
        return float(a @ (np.diag(np.diag(self.links[k].inertia)) * 2 - self.links[k].inertia) @ b)

    def sums(self, j: int, i: int) -> float:
        """J^s_ji, the sum of J_kji over all that j carries."""
        return sum(self.own(k, j, i) for k in self.carried[j])

    def by_the_paper(self, j: int, i: int) -> float:
        """H_ji by formulas (2)–(6), i below j or j itself."""
        q, e, m, L = self.axis, self.ort, self.moment, self.length
        below = [k for k in self.path(j) if k not in self.path(i)]
        terms = [self.sums(j, i) + self._far(j) * (q[j] @ q[i])]
        terms += [L[k] * ((q[j] @ q[i]) * (m[j] @ e[k]) - (m[j] @ q[i]) * (q[j] @ e[k])) for k in below]
        for k in self.carried[j][1:]:
            inner = self.mass[k] * L[k] * (e[k] @ q[i]) + m[k] @ q[i]
            terms.append(-L[k] * ((e[k] @ q[j]) * inner + (e[k] @ q[i]) * (m[k] @ q[j])))
        return float(sum(terms))

    def _far(self, i: int) -> float:
        """J^o_i by the recursion (3)."""
        L, m, e = self.length, self.moment, self.ort
        return sum(self.mass[j] * L[j] ** 2 + 2 * L[j] * float(m[j] @ e[j]) + self._far(j) for j in self.children(i))


def _turn(axis: Array, angle: float) -> Array:
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


def links_of(model: str, values: Mapping[str, float] | None = None) -> list[Link]:
    """The bodies of a gallery model, with some of its parameters changed."""
    tree, own = stated(model)
    known = {**own, **(values or {})}

    def numbers(entries: Sequence[Expression]) -> Array:
        return np.array([evaluate(entry, known) for entry in entries])

    found = []
    for body in tree.bodies:
        xx, yy, zz, xy, xz, yz = numbers(body.inertia)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        mass = float(evaluate(body.mass, known))
        found.append(Link(body.base, numbers(body.axis), numbers(body.pole), mass, numbers(body.center), tensor))
    return found


@cache
def stated(model: str) -> tuple[Tree, Mapping[str, float]]:
    """The tree of a gallery model and its parameters."""
    system = gallery_model(model)
    assert system.tree is not None
    return system.tree, system.parameters


def random_links(bases: Sequence[int], parallel: bool = False) -> list[Link]:
    """Bodies with random axes (or one axis for all), poles and masses; the numbers need not belong to real bodies."""
    random = generator()
    links = []
    for base in bases:
        axis = np.array([0.0, 0.0, 1.0]) if parallel else random.normal(size=3)
        half = random.normal(size=(3, 3))
        pole, centre = random.normal(size=(2, 3))
        tensor = half + half.T + 8 * np.eye(3)
        links.append(Link(base, axis / np.linalg.norm(axis), pole, random.uniform(1, 2), centre, tensor))
    return links


def chain() -> Posed:
    """Three bodies with parallel axes, at a random position: the case of statements 2 and 3."""
    links = random_links([-1, 0, 1], parallel=True)
    return Posed([replace(links[0], pole=np.array([0.4, -0.3, 0.2])), *links[1:]], generator().uniform(-2, 2, 3))
