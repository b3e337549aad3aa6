"""Where results go: folders below ``out`` in the folder of the studio, named after the model; records in them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from svyaz.expr import ModelError, Problem
from svyaz.files import write_text
from svyaz.json_types import Record, finite
from svyaz.studio.questions.asked import Table, table


def out_folder(question: Table, kind: str = "", *, make: bool = True) -> Path:
    """``out/NAME`` or ``out/NAME-kind``; never outside of the folder of the studio."""
    name = str(table(question, "model").get("name") or "model").removesuffix(".toml").removesuffix(".urdf")
    plain = re.sub(r"[^\w-]+", "-", name)[:60].strip("-") or "model"
    folder = Path("out") / (f"{plain}-{kind}" if kind else plain)
    here = Path.cwd().resolve()
    if here not in folder.resolve().parents:
        raise ModelError([Problem("the folder 'out' leads out of the folder of the studio")])
    if make:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_record(record: Record, path: Path) -> None:
    """The file of a record, as the commands write it."""
    write_text(path, json.dumps(finite(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
