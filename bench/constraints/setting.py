"""Gallery models as the benches of constrained motion use them: compiled once, with gains put in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from svyaz import System
    from svyaz.stabilise.segment import Segment

Floats = NDArray[np.float64]


def system(name: str) -> System:
    """A model of the gallery."""
    from svyaz import gallery, loads

    text = gallery.find(name, {})
    assert text is not None, "the model is in the gallery"
    return loads(text, file=name)


def segment(name: str, stabilize: Any, **asked: Any) -> tuple[Segment, Floats]:
    """Native code of the motion, compiled as ``simulate`` compiles it, and the initial state."""
    from svyaz.motion import phases_of
    from svyaz.stabilise.options import options_for
    from svyaz.stabilise.perturbations import perturbation
    from svyaz.stabilise.request import stabilisation
    from svyaz.stabilise.segment import prepare

    model = system(name)
    options = options_for(model, {**asked, "stabilize": stabilize})
    equations = phases_of(model, "multipliers", options)[0].equations
    state = np.array(model.initial_state())
    return prepare(equations, perturbation(equations, stabilisation(stabilize)), (), options, 0.0, state), state
