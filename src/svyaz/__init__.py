"""Mechanical systems from a written model to native motion: equations, constraints that hold, stability, control.

>>> import svyaz
>>> system = svyaz.load("pendulum:2")         # a name of svyaz.gallery(), or the path of a model file
>>> motion = system.simulate(until=5)
>>> motion["u1"].shape == motion.times.shape
True

State a system by ``load``, ``loads`` or ``System``; ask it by its verbs: ``derive``, ``check``, ``simulate``, ``equilibria``,
``steady``, ``regulate``, ``linearise``, ``sweep``, ``invert``, ``helmholtz``, ``inertia``, ``balance``. What they give has
verbs too: ``Equations.function``, ``Motion.plot``, ``Motion.animate``, ``Regulation.run``, ``LinearModel.to_control`` … .

Importing the package loads nothing else: each public name (see ``__init__.pyi``) is loaded when it is first used.
"""

from __future__ import annotations

# ruff: noqa: E402 (the first lines are for interrupts that come while the rest is loaded)
import _signal  # what `signal` is made of, and there at once
import os
import sys

_STARTED = sys.orig_argv[-len(getattr(sys, "argv", ())) :][:1] or [""]  # an embedded Python may have no words at all
_PROGRAM = os.path.basename(_STARTED[0]).removesuffix(".exe")
if _PROGRAM in ("svyaz", "-msvyaz"):  # this process is the command line
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        # Ctrl-C ends it without a traceback, until `svyaz.interrupts` does better.
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    # Matrices here are many and small: threads of BLAS would wait for each other longer than they work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from svyaz.lazy import attach

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach(__name__)
