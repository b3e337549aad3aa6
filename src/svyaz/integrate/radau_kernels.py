"""The arithmetic of steps of Radau IIA for several runs at once: kernels of the parts of `newton` and `collocation`.

Kernels of one number of states serve every model; they are written out, and so made for few states only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import NamedTuple, TypeVar, cast

from svyaz.integrate import collocation, newton
from svyaz.integrate.calls import Address
from svyaz.integrate.kernels import Kernel, Mask, RoomPart, declarations, in_lanes
from svyaz.integrate.newton import memory_size
from svyaz.program import kept_code, load_code, object_code

MOST_STATES = 12
"""Systems of more states are run one by one: factors that are written out grow with the cube."""


class StepPlaces(NamedTuple):
    """Where in the room numbers stand, in vectors: the memory of the iterations, with J, stages and their slopes in it; x, y
    and the arguments of the stages [t, y…], the slope at x, tolerances, the step, the one before, the lanes that are on, sums
    of squares.
    """

    memory: int
    jacobian: int
    z: int
    slopes: int
    x: int
    y: int
    arguments: int
    slope: int
    atol: int
    rtol: int
    h: int
    last: int
    on: int
    total: int
    size: int


class Kernels(NamedTuple):
    """Addresses. ``prepare`` factorises, and answers with a bit for each lane in which that fails; ``begin`` guesses the
    stages and ``accept`` changes those of the lanes that are on, and both give the arguments of the stages; ``correct``
    gives the change and its ``total``; ``estimate`` y and the ``total`` of its error, ``again`` that of the error filtered
    once more, for which ``filter`` gives the argument; ``take`` takes the step of the lanes that are on.
    """

    prepare: Address
    begin: Address
    correct: Address
    accept: Address
    estimate: Address
    filter: Address
    again: Address
    take: Address


def places(n: int) -> StepPlaces:
    """The room for n states."""
    lengths = (n + 1, n + 1, 3 * (n + 1), n, n, 1, 1, 1, 1, 1)
    found = [memory_size(n)]
    for length in lengths:
        found.append(found[-1] + length)
    parts = cast(tuple[RoomPart, ...], in_lanes(Kernel("", 1), newton.memory_in)(0, n))
    start = {name: part.start for name, part in zip(newton.Memory._fields, parts, strict=True)}
    return StepPlaces(0, start["jacobian"], start["z"], start["slopes"], *found)


Result = TypeVar("Result")

_MAKING = Lock()


def kernels(n: int, width: int) -> Kernels:
    """The kernels for n states; made once and never let go, for loops in any thread have their addresses."""
    with _MAKING:
        return _made(n, width)[0]


@cache
def _made(n: int, width: int) -> tuple[Kernels, object]:
    written = "\n".join([declarations(width), *(_text(name, n, width) for name in Kernels._fields)])
    engine = load_code(kept_code(("steps of lanes", written), lambda: object_code(written)))
    return Kernels(*(int(engine.get_function_address(name)) for name in Kernels._fields)), engine


def _text(name: str, n: int, width: int) -> str:
    kernel = Kernel(name, width)
    return kernel.text(_WRITERS[name](_Room(kernel, n)))


class _Room:
    """The numbers that a kernel works with, as vectors; ``part`` gives a part as a function of these."""

    def __init__(self, kernel: Kernel, n: int) -> None:
        at = places(n)
        self.kernel, self.n = kernel, n
        self.m = self.part(newton.memory_in)(8 * at.memory, n)
        self.x, self.y = RoomPart(kernel, at.x, (n + 1,)), RoomPart(kernel, at.y, (n + 1,))
        self.arguments = RoomPart(kernel, at.arguments, (3, n + 1))
        self.slope, self.atol = RoomPart(kernel, at.slope, (n,)), RoomPart(kernel, at.atol, (n,))
        self.total = RoomPart(kernel, at.total, (1,))
        self.rtol, self.h, self.last, self.on = (kernel.load(place) for place in (at.rtol, at.h, at.last, at.on))

    def part(self, part: Callable[..., Result]) -> Callable[..., Result]:
        return in_lanes(self.kernel, part)

    def argue(self) -> None:
        for i in range(3):
            self.part(newton.argue)(i, self.h, self.x, self.m, self.arguments.row(i))

    def estimate(self, slope: RoomPart) -> None:
        total = self.part(collocation.squares)(self.h, slope, self.x, self.y, self.m, self.atol, self.rtol)
        self.total[0] = total


def _prepare(room: _Room) -> Mask:
    good = cast(Mask, room.part(newton.prepare)(room.h, room.m))
    return good & cast(Mask, room.part(newton.follows_growth)(room.m))


def _begin(room: _Room) -> None:
    room.part(collocation.begin_step)(room.h, room.last, room.x, room.m, room.atol, room.rtol)
    room.argue()


def _correct(room: _Room) -> None:
    room.total[0] = room.part(newton.correct)(room.h, room.m)


def _accept(room: _Room) -> None:
    room.part(newton.accept)(room.m)
    room.kernel.only(room.on)
    room.argue()


def _estimate(room: _Room) -> None:
    room.part(collocation.end_step)(room.x, room.y, room.m)
    room.estimate(room.slope)


def _filter(room: _Room) -> None:
    room.part(collocation.filtered)(room.x, room.m, room.arguments.row(0))


def _again(room: _Room) -> None:
    room.estimate(RoomPart(room.kernel, places(room.n).slopes, (room.n,)))


def _take(room: _Room) -> None:
    for j in range(room.n + 1):
        room.x[j] = room.y[j]
    for i in range(3):
        for j in range(room.n):
            room.m.before[i, j] = room.m.z[i, j]
    room.kernel.only(room.on)


_WRITERS: dict[str, Callable[[_Room], Mask | None]] = dict(
    zip(Kernels._fields, (_prepare, _begin, _correct, _accept, _estimate, _filter, _again, _take), strict=True)
)
