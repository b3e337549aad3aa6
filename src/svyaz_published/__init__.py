"""What was published about the models of the gallery, with the checks that compute it again for ``svyaz reproduce``."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz_published.rows import CORRECTED as CORRECTED
    from svyaz_published.rows import DIFFERS as DIFFERS
    from svyaz_published.rows import IMPOSSIBLE as IMPOSSIBLE
    from svyaz_published.rows import REPRODUCED as REPRODUCED
    from svyaz_published.rows import Outcome as Outcome
    from svyaz_published.rows import Row as Row
    from svyaz_published.rows import draw_figures as draw_figures
    from svyaz_published.rows import drawable as drawable
    from svyaz_published.rows import published as published
    from svyaz_published.rows import reproduce as reproduce
    from svyaz_published.rows import subjects as subjects
else:
    open_door(__name__)
