from svyaz.study.folder import discard as discard
from svyaz.study.folder import progress_of as progress_of
from svyaz.study.merging import merge as merge
from svyaz.study.result import Row as Row
from svyaz.study.result import Sweep as Sweep
from svyaz.study.sweeping import sweep as sweep
from svyaz.study.vary import spaced as spaced
