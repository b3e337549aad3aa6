"""What was stated: systems, read from TOML or made in Python with the same words, and checked."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
