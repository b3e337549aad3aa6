"""A studio and a browser for the measurements: those of the tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tests" / "tools"))
from chromium import Browser, Tab, executable
from studio_client import RunningStudio

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}

__all__ = ["ENVIRONMENT", "Browser", "RunningStudio", "Tab", "executable"]
