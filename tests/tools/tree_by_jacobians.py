"""Inertia matrices of trees by Jacobians in ground axes: NumPy alone, nothing of the package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

MOMENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


@dataclass(frozen=True)
class Link:
    """A body by numbers: ``values`` are mass, first moment (3) and inertia (xx, yy, zz, xy, xz, yz) about its pole."""

    base: int
    joint: str
    axis: np.ndarray
    pole: np.ndarray
    values: np.ndarray


def turned(axis: np.ndarray, angle: float) -> np.ndarray:
    cross = _cross(axis)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def _cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def inertia_matrix(links: Sequence[Link], q: Sequence[float]) -> np.ndarray:
    """M from T = ½ m v² + v·(ω × h) + ½ ω·Iω summed over the bodies; fixed joints have no coordinate."""
    size = sum(link.joint != "fixed" for link in links)
    frames: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    matrix, number = np.zeros((size, size)), 0
    for link in links:
        R, p, Jv, Jw = frames[link.base] if link.base >= 0 else (np.eye(3), np.zeros(3), *np.zeros((2, 3, size)))
        axis = R @ link.axis
        way = R @ (link.pole + (q[number] * link.axis if link.joint == "prismatic" else 0))
        Jv, Jw, place = Jv - _cross(way) @ Jw, Jw.copy(), p + way
        if link.joint == "revolute":
            R = R @ turned(link.axis, q[number])
            Jw[:, number] += axis
        elif link.joint == "prismatic":
            Jv[:, number] += axis
        number += link.joint != "fixed"
        frames.append((R, place, Jv, Jw))
        m, h, (xx, yy, zz, xy, xz, yz) = link.values[0], R @ link.values[1:4], link.values[4:]
        inertia = R @ np.array([[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]]) @ R.T
        mixed = Jv.T @ _cross(h) @ Jw
        matrix += m * Jv.T @ Jv - mixed - mixed.T + Jw.T @ inertia @ Jw
    return matrix


def links_from(words: Mapping, value) -> list[Link]:
    """Links from the words of a model file (bodies after their bases); ``value`` makes numbers of texts."""
    names = ["ground", *(body["name"] for body in words["body"])]
    found = []
    for body in words["body"]:
        mass = value(body["mass"])
        given = body.get("inertia", {})
        center = [value(c) for c in body.get("center", [0, 0, 0])]
        values = [mass, *(mass * c for c in center), *(value(given.get(name, 0)) for name in MOMENTS)]
        axis = np.array([value(a) for a in body.get("axis", [0, 0, 0])], dtype=float)
        axis = axis / np.linalg.norm(axis) if axis.any() else axis
        pole = np.array([value(p) for p in body.get("pole", [0, 0, 0])], dtype=float)
        found.append(Link(names.index(body["base"]) - 1, body["joint"], axis, pole, np.array(values, dtype=float)))
    return found


def varying_rows(links: Sequence[Link], count: int, rng: np.random.Generator) -> np.ndarray:
    """Differences of all entries of M between random positions, as linear forms of the ten values of each body."""
    size = sum(link.joint != "fixed" for link in links)
    poses = rng.uniform(-2, 2, (count, size))
    columns = []
    for k in range(len(links)):
        for c in range(10):
            unit = [
                Link(link.base, link.joint, link.axis, link.pole, np.eye(10)[c] if j == k else np.zeros(10))
                for j, link in enumerate(links)
            ]
            matrices = np.array([inertia_matrix(unit, q) for q in poses])
            columns.append((matrices[1:] - matrices[0]).ravel())
    return np.array(columns).T
