"""Models of the literature, each as the text of a model file that says what was published about it."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.gallery.collection import OPEN_CHOICES as OPEN_CHOICES
    from svyaz.gallery.collection import VARIANTS as VARIANTS
    from svyaz.gallery.collection import find as find
    from svyaz.gallery.collection import names as names
    from svyaz.gallery.collection import sequence as sequence
    from svyaz.gallery.random_mechanisms import random_mechanism as random_mechanism
else:
    open_door(__name__)
