from svyaz.commands.contents import COMMANDS as COMMANDS
from svyaz.commands.contents import overview as overview
from svyaz.commands.group import run as run
