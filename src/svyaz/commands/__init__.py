"""The commands, one module each: ``svyaz NAME`` runs the click command called ``command`` in ``svyaz.commands.NAME``."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.commands.contents import COMMANDS as COMMANDS
    from svyaz.commands.contents import overview as overview
    from svyaz.commands.group import run as run
else:
    open_door(__name__)
