"""Studies: sweeps of parameters, initial values, gains and steps. Names are loaded when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {"Sweep": "result", "sweep": "sweeping", "spaced": "vary"}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
