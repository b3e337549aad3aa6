"""Models of the literature, each as the text of a model file that says what was published about it.

The room itself is called to list them, ``svyaz.gallery()``; see :func:`svyaz.gallery.gallery`.
"""

import sys
from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.gallery.collection import SUFFIXES as SUFFIXES
    from svyaz.gallery.collection import Variants as Variants
    from svyaz.gallery.collection import find as find
    from svyaz.gallery.collection import gallery as gallery
    from svyaz.gallery.collection import is_path as is_path
    from svyaz.gallery.collection import names as names
    from svyaz.gallery.collection import not_found as not_found
    from svyaz.gallery.collection import open_choices_of as open_choices_of
    from svyaz.gallery.collection import sequence as sequence
    from svyaz.gallery.collection import template as template
    from svyaz.gallery.collection import variants_of as variants_of
    from svyaz.gallery.random_mechanisms import random_mechanism as random_mechanism
else:
    open_door(__name__)

    class _Called(type(sys.modules[__name__])):
        """The room, called by its name: ``svyaz.gallery()`` lists the models."""

        def __call__(self) -> dict[str, str]:
            return self.gallery()

    sys.modules[__name__].__class__ = _Called
