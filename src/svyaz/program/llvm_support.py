"""Functions that all native programs share, compiled once: solvers of linear systems, sines and cosines."""

from __future__ import annotations

from importlib.resources import files

from svyaz.program.llvm_solver import SOLVER_DECLARATIONS, SOLVERS

SINCOS = "svyaz_sincos"
SINCOS_RESULT = "{ <4 x double>, <4 x double> }"
SUPPORT = (*SOLVERS, SINCOS)
SUPPORT_DECLARATIONS = (
    f"{SOLVER_DECLARATIONS}declare {SINCOS_RESULT} @{SINCOS}(double, double, double, double) nounwind\n"
)


def support_text() -> str:
    """The module of the shared functions."""
    folder = files("svyaz.program")
    return "\n".join(folder.joinpath(name).read_text() for name in ("solver.ll", "sincos.ll"))
