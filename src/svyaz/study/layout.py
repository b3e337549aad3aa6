"""Where the members that are asked for lie among those that a study holds.

A study holds the product of the values of its axes, in the order in which they were asked for first: values that are asked
for later follow, so that nothing moves when a study grows. The product is cut into chunks, boxes of about equal size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.study.chunk_files import Place

MEMBERS = 4096
"""Of a chunk, at most."""
Numbers = NDArray[np.int64]


def chunks_for(shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of chunks of about ``MEMBERS`` members, which are long in the last axes, and may grow in the first."""
    room, found = MEMBERS, []
    for count in reversed(shape[1:]):
        found.append(min(count, room))
        room //= found[-1]
    return (room, *reversed(found))


def grown(held: Array, asked: Array) -> Array:
    """The values that are held, and those of the asked ones that are not among them, in their order."""
    known = set(held.tolist())
    new = [value for value in dict.fromkeys(asked.tolist()) if value not in known]
    return np.concatenate([held, new])


@dataclass(frozen=True)
class MemberLayout:
    """``asked``: for each axis, the places of the asked values among those that are held; ``chunks``: the shape of chunks."""

    asked: tuple[Numbers, ...]
    chunks: tuple[int, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many values of each axis are asked for."""
        return tuple(map(len, self.asked))

    @property
    def total(self) -> int:
        """How many members are asked for."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """Members of a chunk."""
        return prod(self.chunks)

    def places(self) -> Iterator[Place]:
        """The chunks in which members that are asked for lie."""
        return product(*(np.unique(held // size).tolist() for held, size in zip(self.asked, self.chunks, strict=True)))

    def inside(self, place: Place) -> tuple[Numbers, Numbers]:
        """The numbers of the asked members in a chunk, and where in it they are."""
        chosen = [self._chosen[axis][index] for axis, index in enumerate(place)]
        offsets = [
            held[own] - size * k for held, own, size, k in zip(self.asked, chosen, self.chunks, place, strict=True)
        ]
        return _flat(chosen, self.shape), _flat(offsets, self.chunks)

    @cached_property
    def _chosen(self) -> list[dict[int, Numbers]]:
        """For each axis, the asked values in each row of chunks."""
        found = []
        for held, size in zip(self.asked, self.chunks, strict=True):
            row = held // size
            order = np.argsort(row, kind="stable")
            rows, begins = np.unique(row[order], return_index=True)
            found.append(dict(zip(rows.tolist(), np.split(order, begins[1:]), strict=True)))
        return found

    def where(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The chunks (k, axes) of asked members, and where in them they are (k,)."""
        places = np.unravel_index(numbers, self.shape)
        held = np.stack([own[k] for own, k in zip(self.asked, places, strict=True)], axis=-1)
        rows, offsets = np.divmod(held, self.chunks)
        return rows, np.asarray(np.ravel_multi_index(tuple(offsets.T), self.chunks), dtype=np.int64)


def layout_of(held: Sequence[Array], asked: Sequence[Array], chunks: tuple[int, ...]) -> MemberLayout:
    """Where asked values lie among those that are held, all of which there are."""
    found = []
    for own, wanted in zip(held, asked, strict=True):
        order = np.argsort(own, kind="stable")
        found.append(order[np.searchsorted(own[order], wanted)].astype(np.int64))
    return MemberLayout(tuple(found), chunks)


def _flat(indices: Sequence[Numbers], shape: Sequence[int]) -> Numbers:
    """Numbers in a box of this shape of the product of indices along its axes."""
    found = np.zeros(1, dtype=np.int64)
    for index, count in zip(indices, shape, strict=True):
        found = (found[:, None] * count + index).ravel()
    return found
