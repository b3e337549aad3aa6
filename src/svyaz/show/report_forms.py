"""A report in other forms than a page: a notebook that shows itself and can be run again, and a PDF printed by a browser."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from svyaz.files import whole, write_text
from svyaz.forms import derive
from svyaz.model import to_toml
from svyaz.show.results import html_of

if TYPE_CHECKING:
    from svyaz.motion import Motion

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "brave-browser")
LONGEST_PRINTING = 120  # seconds

Cell = Mapping[str, object]


class NoBrowser(RuntimeError):
    """No browser that prints pages is installed."""


def write_notebook(motion: Motion, file: str | Path, options: Mapping[str, object] | None = None) -> Path:
    """The report as a notebook (.ipynb): the model, its equations and its motion, with what each cell shows.

    ``options`` are those with which the motion was asked for; the notebook contains the model and runs by itself.
    """
    import_module("svyaz.show.notebooks")
    system = motion.system
    asked = ", ".join(f"{key}={value!r}" for key, value in (options or {}).items() if value not in (None, (), False))
    if not motion.finished:  # the notebook shows it as far as it came
        asked += ', on_failure="return"' if asked else 'on_failure="return"'
    equations = derive(system, motion.form)
    cells = [
        _words([f"# {system.name}", *([str(system.words["notes"])] if system.words.get("notes") else [])]),
        _code("import svyaz", []),
        _code(f'system = svyaz.loads("""\n{_literal(to_toml(system.words))}""")\nsystem', [html_of(system)]),
        _code(f"equations = system.derive({motion.form!r})\nequations", [html_of(equations)]),
        _code(f"motion = system.simulate({asked})\nmotion", [html_of(motion)]),
        _code("motion.plot()", []),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {
        "cells": [{"id": f"part-{k}", **cell} for k, cell in enumerate(cells)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return write_text(Path(file), json.dumps(book, ensure_ascii=False, indent=1) + "\n")


def _literal(text: str) -> str:
    """The text between triple quotes of Python."""
    return text.replace("\\", "\\\\").replace('"""', '\\"""')


def _words(paragraphs: Sequence[str]) -> Cell:
    return {"cell_type": "markdown", "metadata": {}, "source": _lines("\n\n".join(paragraphs))}


def _code(source: str, shown: Sequence[str]) -> Cell:
    outputs = [
        {"output_type": "display_data", "metadata": {}, "data": {"text/html": _lines(html), "text/plain": ["…"]}}
        for html in shown
    ]
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": outputs,
        "source": _lines(source),
    }


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def write_pdf(page: str | Path, file: str | Path) -> Path:
    """A page printed to PDF by the Chromium, Chrome or Edge of this computer; NoBrowser where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        message = f"a PDF is printed by Chromium, Chrome or Edge, and none is installed: open {page} and print it"
        raise NoBrowser(message)
    flags = [
        "--headless",
        "--disable-gpu",
        "--no-first-run",
        "--no-pdf-header-footer",
        "--disable-background-networking",
    ]
    flags += ["--disable-component-update", "--disable-sync"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("--no-sandbox")  # its sandbox does not start for the superuser
    target = Path(file)
    with tempfile.TemporaryDirectory() as profile, whole(target) as temporary:
        command = [
            found,
            *flags,
            f"--user-data-dir={profile}",
            f"--print-to-pdf={temporary}",
            Path(page).resolve().as_uri(),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_PRINTING, check=False)
        if done.returncode != 0 or not temporary.is_file() or not temporary.stat().st_size:
            raise NoBrowser(f"{Path(found).name} could not print {page}: {done.stderr.strip()[-200:]}")
    return target
