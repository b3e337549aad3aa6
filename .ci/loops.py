"""Compiles what the runs of all models share into the environment of this Python, so that no user waits for it.

Those are the loops over equal steps and over steps of their own, explicit and implicit, and the functions that programs
call. They go where `svyaz.program` looks for code that an environment brings along; what a model needs besides is compiled
when it is run.
"""

import os
import sys
from pathlib import Path

os.environ["SVYAZ_CACHE"] = str(Path(sys.prefix, "share", "svyaz"))

import numpy as np
import symengine

import svyaz
from svyaz.integrate import Ode, solve

falling = Ode(lambda t, y: -y, lambda t, y: -np.eye(1))
solve(falling, [1.0], (0.0, 1.0), method="rk4", step=0.25)
solve(falling, [1.0], (0.0, 1.0), method="dopri5", rtol=1e-6, output=[0.0, 0.5, 1.0])
solve(falling, [1.0], (0.0, 1.0), method="radau", rtol=1e-6)
svyaz.compile_program(svyaz.build([("y", symengine.Symbol("x"))], inputs=["x"], parameters=[]))
