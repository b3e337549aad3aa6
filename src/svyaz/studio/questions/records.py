"""Records as files of JSON."""

from __future__ import annotations

import json
from pathlib import Path

from svyaz.files import write_text
from svyaz.json_types import Record, finite


def write_record(record: Record, path: Path) -> None:
    """The file of a record, as the commands write it."""
    write_text(path, json.dumps(finite(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
