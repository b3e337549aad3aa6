"""Models of the literature, each as the text of a model file that says what was published about it.

The package itself is called to list them, ``svyaz.gallery()``; see :func:`svyaz.gallery.gallery`.
"""

import sys
from types import ModuleType

from svyaz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)


class _CallableModule(ModuleType):
    """A module that is called: ``svyaz.gallery()`` lists the models."""

    def __call__(self) -> dict[str, str]:
        return self.gallery()


sys.modules[__name__].__class__ = _CallableModule
