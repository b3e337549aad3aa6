"""How constraints and first integrals are kept: perturbation laws, verdicts, pilots, gains, projection, the watch."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
