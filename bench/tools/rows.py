"""Rows of the table of a bench: ours against a peer, and whether a bar is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan

from bench.tools.jobs import median


@dataclass(frozen=True)
class Row:
    """One line. ``ratio`` is how many times ours is better (peer / ours), or, for a limit, ours / peer.

    A row without a bar only reports. ``spread`` is (largest - smallest)/median of our own samples.
    """

    name: str
    ours: float
    peer: float
    ratio: float
    unit: str
    peer_name: str
    bar: float | None = None
    limit: bool = False
    spread: float = 0.0
    peer_spread: float = 0.0
    note: str = ""

    @property
    def measured(self) -> bool:
        return not isnan(self.ratio)

    @property
    def margin(self) -> float:
        """1 where the bar is just met, more where it is met with room."""
        if self.bar is None:
            return 1.0
        if self.limit:
            return self.bar / self.ratio if self.ratio else inf
        return self.ratio / self.bar

    @property
    def met(self) -> bool:
        return self.measured and (self.bar is None or self.margin >= 1.0)

    @property
    def verdict(self) -> str:
        if not self.measured:
            return "not measured"
        if self.bar is None:
            return "reported"
        return "met" if self.met else "not met"

    @property
    def bar_text(self) -> str:
        if self.bar is None:
            return ""
        return f"{'≤' if self.limit else '≥'} {self.bar:g}×"


def spread(values: Sequence[float]) -> float:
    """(largest - smallest)/median; 0 where all that was measured is 0."""
    wide = max(values, default=0.0) - min(values, default=0.0)
    return wide / median(values) if wide else 0.0


def faster(
    name: str,
    ours: Sequence[float],
    peer: Sequence[float],
    peer_name: str,
    bar: float | None,
    unit: str = "s",
    note: str = "",
) -> Row:
    """How many times faster ours is, by medians; at least ``bar`` is asked for."""
    return Row(
        name=name,
        ours=median(ours),
        peer=median(peer),
        ratio=median(peer) / median(ours),
        unit=unit,
        peer_name=peer_name,
        bar=bar,
        spread=spread(ours),
        peer_spread=spread(peer),
        note=note,
    )


def within(
    name: str,
    ours: Sequence[float],
    peer: Sequence[float],
    peer_name: str,
    bar: float | None,
    unit: str = "s",
    note: str = "",
) -> Row:
    """Ours over the peer's, by medians; at most ``bar`` is asked for."""
    return Row(
        name=name,
        ours=median(ours),
        peer=median(peer),
        ratio=median(ours) / median(peer),
        unit=unit,
        peer_name=peer_name,
        bar=bar,
        limit=True,
        spread=spread(ours),
        peer_spread=spread(peer),
        note=note,
    )
