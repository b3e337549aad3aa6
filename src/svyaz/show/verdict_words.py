"""Roots and hypotheses in words."""

from __future__ import annotations

from collections.abc import Iterable

from svyaz.stability import Equilibrium, SteadyMotion

HELD = {True: "yes", False: "NO", None: "not shown"}
"""What is known of a hypothesis: that it holds, that it does not, or neither."""


def root_text(root: complex, digits: int = 6) -> str:
    """A root in short: on an axis it has one part, and no part is a negative zero."""
    real, imaginary = root.real + 0.0, root.imag + 0.0
    if abs(imaginary) <= 1e-12 * abs(root):
        return f"{real:.{digits}g}"
    size = f"{abs(imaginary):.{digits}g}i"
    if real == 0:
        return size if imaginary > 0 else f"-{size}"
    return f"{real:.{digits}g}{'+' if imaginary > 0 else '-'}{size}"


def drift_lines(found: Equilibrium | SteadyMotion) -> list[str]:
    """What the verdict does not speak of: cyclic coordinates that drift, and perturbed momenta."""
    lines, names = [], ", ".join(found.drift)
    if names:
        text = "drift when their momenta are" if len(found.drift) > 1 else "drifts when its momentum is"
        lines.append(f"{names} {text} perturbed: the verdict speaks of the other coordinates, at fixed momenta")
    if isinstance(found, SteadyMotion) and found.verdict is not None and found.perturbed != found.verdict.word:
        lines.append(f"at perturbed momenta: {found.perturbed}")
    return lines


def roots_text(roots: Iterable[complex], digits: int = 6) -> str:
    """Roots, separated by commas."""
    return ", ".join(root_text(z, digits) for z in roots)
