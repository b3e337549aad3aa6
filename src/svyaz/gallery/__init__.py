"""Models of the literature, each as the text of a model file that says what was published about it."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.gallery.collection import find as find
    from svyaz.gallery.collection import names as names
    from svyaz.gallery.collection import open_choices_of as open_choices_of
    from svyaz.gallery.collection import sequence as sequence
    from svyaz.gallery.collection import template as template
    from svyaz.gallery.collection import variants_of as variants_of
    from svyaz.gallery.random_mechanisms import random_mechanism as random_mechanism
else:
    open_door(__name__)
