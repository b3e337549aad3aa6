"""What a motion does not depend on: coordinates that no equation contains, and headings of axes that turn."""

from __future__ import annotations

from dataclasses import dataclass

import symengine as se

from svyaz.expr import Expression, velocity


@dataclass(frozen=True)
class Heading:
    """An angle by which the axes of the coordinates ``plane`` turn; None for one that is in no equation as it is.

    ``drift`` is d, the velocity of the axes from which the plane is described.
    """

    name: str
    plane: tuple[str, str] | None = None
    drift: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Ignorable:
    """The coordinates ``absent`` from all equations, and the headings."""

    absent: tuple[str, ...]
    headings: tuple[Heading, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.absent, *(h.name for h in self.headings))

    @property
    def turned(self) -> tuple[str, ...]:
        """Coordinates whose velocities are told in turned axes."""
        return tuple(q for h in self.headings for q in h.plane or ())

    @property
    def velocities(self) -> dict[str, Expression]:
        """Velocities in axes that turn with a heading: R(-ψ)((ẋ, ẏ) + d) - d."""
        found: dict[str, Expression] = {}
        for h in self.headings:
            if h.plane is not None:
                (a, b), (da, db) = h.plane, h.drift
                va, vb, psi = velocity(a) + da, velocity(b) + db, se.Symbol(h.name)
                found[f"{a}'"] = se.cos(psi) * va + se.sin(psi) * vb - da
                found[f"{b}'"] = se.cos(psi) * vb - se.sin(psi) * va - db
        return found


NOTHING_IGNORED = Ignorable((), ())
