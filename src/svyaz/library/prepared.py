"""Runs prepared once: equations and native code are made in advance, values and starts are given with each call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from svyaz import motion, study
from svyaz.arguments import fit_argument
from svyaz.integrate import Status
from svyaz.library.motions import OnFailure, WorkingMotion, check_on_failure, simulate

if TYPE_CHECKING:
    from svyaz.integrate import Path
    from svyaz.library.stated import StatedSystem
    from svyaz.motion import PreparedOptions

MOST_VARIANTS = 8
"""So many systems with other values are kept for runs that need their equations."""


class _Later:
    """A field of a motion that is computed when it is first asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, found: PreparedMotion, owner: type) -> object:
        found.complete()
        return vars(found)[self.name]


class PreparedMotion(WorkingMotion):
    """A motion whose times and states are known; all else is computed when it is first asked for, and it is a motion then."""

    @classmethod
    def along(cls, path: Path, known: Mapping[str, object], whole: Callable[[], WorkingMotion]) -> PreparedMotion:
        """The motion with the rows of a path; ``whole`` gives all that it is."""
        found = object.__new__(cls)
        vars(found).update(known, times=path.times, states=path.states, status=path.status, reason=path.reason)
        vars(found).update(steps=path.steps, rejected=path.rejected, evaluations=path.evaluations, seconds=path.seconds)
        vars(found)["whole"] = whole
        return found

    def complete(self) -> None:
        """Compute what is missing."""
        own = vars(self)
        own.update({**vars(own["whole"]()), **own})
        del own["whole"]
        object.__setattr__(self, "__class__", WorkingMotion)

    def __getstate__(self) -> dict[str, object]:
        self.complete()
        return self.__getstate__()

    def __reduce_ex__(self, protocol: object) -> str | tuple[object, ...]:
        self.complete()
        return self.__reduce_ex__(protocol)


for _field in fields(WorkingMotion):
    _later = _Later()
    _later.__set_name__(PreparedMotion, _field.name)
    setattr(PreparedMotion, _field.name, _later)


class PreparedRun:
    """Motions of a system for other values of its parameters and other starts; see :meth:`System.prepare`.

    ``run(parameters={…}, start={…})`` gives the motion that ``simulate`` gives with these values, and raises
    :class:`svyaz.RunFailed` as it does. A system without constraints, limits and jumps is integrated by one native call, and
    its energies, notes … are computed when they are asked for; some of its runs (the 1st, 2nd, 4th, 8th …) are made by
    ``simulate`` and checked. Others are made by ``simulate``, which keeps what it prepared for the same values.
    """

    def __init__(self, system: StatedSystem, on_failure: OnFailure, options: PreparedOptions) -> None:
        check_on_failure(on_failure)
        self.system = system
        self._failure: OnFailure = on_failure
        self._options = options
        self._direct = motion.prepare(system, **options)
        self._initial = np.array(system.initial_state())
        self._places = {name: place for place, name in enumerate(system.states)}
        self._runs = 0
        self._recipes: dict[tuple[str, ...], study.Recipe | None] = {(): study.recipe(system, ())}
        self._variants: dict[tuple[tuple[str, float], ...], StatedSystem] = {(): system}

    def __call__(
        self, parameters: Mapping[str, float] | None = None, start: Mapping[str, float] | None = None
    ) -> WorkingMotion:
        """The motion with these values of parameters (and inputs) from this start; what is left out is the model's."""
        values = _numbers("parameters", parameters)
        begin = _numbers("start", start)
        self._runs += 1
        if self._direct is not None and self._runs & (self._runs - 1):
            found = self._directly(self._direct, values, begin)
            if found is not None:
                return found
        return self._whole(values, begin, self._failure)

    def _directly(
        self, direct: motion.DirectRun, values: Mapping[str, float], begin: Mapping[str, float]
    ) -> WorkingMotion | None:
        """The motion by one native call; None where it is for ``simulate`` to say what it is."""
        key = tuple(values)
        if key not in self._recipes:
            self._recipes[key] = self._recipe(key)
        recipe = self._recipes[key]
        if recipe is None or not begin.keys() <= self._places.keys():
            return None
        known: Mapping[str, float] = {}
        state = self._initial.copy()
        if values:
            known, initial = recipe.values(values)
            state[:] = initial
        for name, value in begin.items():
            state[self._places[name]] = value
        known_values = known or self.system.parameters
        if not np.isfinite(state).all() or any(known_values[name] < 0 for name in self.system.parameters):
            return None
        path = direct.path(state, known)
        if path.status is not Status.FINISHED:
            return None
        told: dict[str, object] = {"form": direct.form, "method": direct.options.method, "step": direct.options.step}
        told |= {"rtol": direct.options.rtol, "state_names": self.system.states}
        told |= {} if values else {"system": self.system}
        return PreparedMotion.along(path, told, lambda: self._whole(values, begin, "return"))

    def _recipe(self, names: tuple[str, ...]) -> study.Recipe | None:
        """What follows from values of these names; None where there is no such name, or times of the run depend on them."""
        if not set(names) <= self.system.constants.keys():
            return None
        found = study.recipe(self.system, names)
        return None if study.structure_depends(self.system, found.changing) else found

    def _whole(self, values: Mapping[str, float], begin: Mapping[str, float], on_failure: OnFailure) -> WorkingMotion:
        key = tuple(values.items())
        if key not in self._variants:
            while len(self._variants) > MOST_VARIANTS:
                self._variants.pop(next(name for name in self._variants if name))
            self._variants[key] = self.system.with_settings(dict(values))
        return simulate(self._variants[key], start=begin or None, on_failure=on_failure, **self._options)


def _numbers(name: str, given: Mapping[str, float] | None) -> Mapping[str, float]:
    """The numbers of an argument, checked and apart from what the caller may change."""
    return {} if given is None else dict(fit_argument(name, given, "Mapping[str, float]"))  # type: ignore[call-overload]
