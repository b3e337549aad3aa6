"""The studio: the same work in a browser. A server on this machine, pages of its own, questions answered in processes."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.studio.guard import random_token as random_token
    from svyaz.studio.limits import Limits as Limits
    from svyaz.studio.running import StudioSettings as StudioSettings
    from svyaz.studio.running import is_loopback as is_loopback
    from svyaz.studio.running import run_studio as run_studio
else:
    open_door(__name__)
