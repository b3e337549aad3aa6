"""The names of a model while it is read, and what may be named where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import symengine as se

from svyaz.expr import Expression, Later, Scope, names_in, velocity
from svyaz.model.tree import BodyPoint, Tree

if TYPE_CHECKING:
    from svyaz.model.system import Input

DECLARE = "declare it in [parameters]"

NO_TIME = "a value does not change with time"


@dataclass
class Names:
    """The names of a model while it is being read.

    ``rates`` are the derivatives of the coordinates of a mechanical model, in terms of its ``velocities``.
    """

    known: dict[str, str] = field(default_factory=dict)
    coordinates: tuple[str, ...] = ()
    momenta: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    further: tuple[str, ...] = ()
    currents: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    rates: dict[str, Expression] = field(default_factory=dict)
    velocities: tuple[str, ...] = ()
    bodies: dict[int, dict[str, object]] = field(default_factory=dict)
    tree: Tree | None = None
    parameters: dict[str, float] = field(default_factory=dict)
    inputs: dict[str, Input] = field(default_factory=dict)
    definitions: dict[str, Expression] = field(default_factory=dict)
    definition_rates: dict[str, Expression | Later] = field(default_factory=dict)
    points: dict[str, BodyPoint] = field(default_factory=dict)
    _scopes: dict[tuple[bool, bool, str, int], Scope] = field(default_factory=dict, repr=False)

    def with_points(self, scope: Scope) -> Scope:
        """The same with the coordinates of points, NAME_x …, and their rates left as they are named."""
        own = [f"{name}_{axis}" for name in self.points for axis in "xyz"]
        symbols = {**scope.symbols, **{name: se.Symbol(name) for name in own}}
        derivatives = {**scope.derivatives, **{name: velocity(name) for name in own}}
        return replace(scope, symbols=symbols, derivatives=derivatives)

    def scope(self, *, velocities: bool, inputs: bool = True, why: str = "only positions count") -> Scope:
        """What may be named in an expression: everything that moves, parameters, definitions and time."""
        # while a model is read names are added, never changed
        count = len(self.known) + len(self.inputs) + len(self.definitions) + len(self.rates | self.definition_rates)
        key = (velocities, inputs, why, count)
        if key not in self._scopes:
            self._scopes[key] = self._scope(velocities, inputs, why)
        return self._scopes[key]

    def _scope(self, velocities: bool, inputs: bool, why: str) -> Scope:
        symbols: dict[str, Expression] = dict(_symbols(tuple(self._plain(inputs))))
        symbols.update(self.definitions)
        symbols["t"] = se.Symbol("t")
        derivatives: dict[str, Expression | Later] = {}
        forbidden: dict[str, str] = {}
        if self.rates:
            rates = self.rates | self.definition_rates
            own = [name for name, what in self.known.items() if what == "velocity"]
            if velocities:
                derivatives = rates
                symbols.update({name: se.Symbol(name) for name in own})
            else:
                forbidden.update({f"{q}'": why for q in rates} | dict.fromkeys(own, why))
        if not inputs:
            forbidden.update(dict.fromkeys(self.inputs, "an input may appear in forces and rates only"))
        return Scope(symbols=symbols, derivatives=derivatives, forbidden=forbidden, undeclared=DECLARE)

    def constant_scope(self) -> Scope:
        """What may be named in a value: parameters only."""
        forbidden = {
            name: f"a value may be an expression of parameters; '{name}' is a {what}"
            for name, what in self.known.items()
            if what != "parameter"
        } | {"t": NO_TIME}
        symbols = {name: se.Symbol(name) for name in self.parameters}
        return Scope(symbols=symbols, derivatives={}, forbidden=forbidden, undeclared=DECLARE)

    def mass_scope(self) -> Scope:
        """What may be named in a mass: parameters, the time, states with rates of their own."""
        symbols: dict[str, Expression] = {name: se.Symbol(name) for name in ("t", *self.parameters, *self.further)}
        symbols |= {name: e for name, e in self.definitions.items() if names_in(e) <= symbols.keys()}
        forbidden = {
            name: f"a mass may change with time or with states of [rates]; '{name}' is a {what}"
            for name, what in self.known.items()
            if name not in symbols
        }
        return Scope(symbols=symbols, derivatives={}, forbidden=forbidden, undeclared=DECLARE)

    def _plain(self, inputs: bool) -> Iterable[str]:
        what = {"coordinate", "momentum", "state", "anchor", "parameter"} | ({"input"} if inputs else set())
        return (name for name, kind in self.known.items() if kind in what)


@lru_cache(maxsize=8)
def _symbols(names: tuple[str, ...]) -> Mapping[str, Expression]:
    """Symbols of these names; definitions are read one after the other among the same ones."""
    return {name: se.Symbol(name) for name in names}
