from svyaz.studio.guard import random_token as random_token
from svyaz.studio.limits import Limits as Limits
from svyaz.studio.running import StudioSettings as StudioSettings
from svyaz.studio.running import is_loopback as is_loopback
from svyaz.studio.running import run_studio as run_studio
