"""``python -m svyaz`` is ``svyaz``."""

import sys

from svyaz.cli import main

if __name__ == "__main__":
    sys.exit(main())
