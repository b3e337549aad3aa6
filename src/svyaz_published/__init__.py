"""What was published about the models of the gallery, with the checks that compute it again for ``svyaz reproduce``."""

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
