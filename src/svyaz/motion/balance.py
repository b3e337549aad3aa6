"""Where the energy of a motion went."""

from __future__ import annotations

from dataclasses import dataclass

from svyaz.arrays import Array


@dataclass(frozen=True)
class EnergyBalance:
    """Where the energy E went, up to each row: E - E₀ = work - dissipated - impacts + remainder.

    ``work`` is that of forces, inputs, moving constraints and of what depends on time, ``dissipated`` what resistance took
    away, ``impacts`` what was lost in them. The ``remainder`` is the error of the motion; ``scale`` is max(|E₀|, max T).
    """

    energy: Array
    work: Array
    dissipated: Array
    impacts: Array
    scale: float

    @property
    def change(self) -> Array:
        """E - E₀."""
        return self.energy - self.energy[0]

    @property
    def remainder(self) -> Array:
        """What is left of the change of the energy."""
        return self.change - self.work + self.dissipated + self.impacts

    @property
    def totals(self) -> dict[str, float]:
        """The terms at the end, with the energy at both ends."""
        last = {name: getattr(self, name)[-1] for name in ("work", "dissipated", "impacts", "remainder")}
        ends = {"initial": self.energy[0], "final": self.energy[-1]}
        return {name: float(value) for name, value in (ends | last).items()}
