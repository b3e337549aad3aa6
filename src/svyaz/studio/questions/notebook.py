"""A notebook that does by the library what the page did."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pprint import pformat

from svyaz.motion import ModelOptions
from svyaz.studio.questions.asked import Asked


def notebook_text(text: str, settings: Mapping[str, object], given: Asked, how: ModelOptions) -> str:
    """The text of a notebook (nbformat 4): the model, its equations, its motion and a picture of it."""
    asked = {name: value for name, value in how.items() if value is not None and name != "form"}
    wanted = "".join(f", {name}={value!r}" for name, value in asked.items())
    form = "" if how["form"] is None else repr(how["form"])
    laws = f", inputs={dict(given.laws)!r}" if given.laws else ""
    run = f"{'form=' + form if form else ''}{wanted}{laws}, on_failure='return'".lstrip(", ")
    cells = [
        ("markdown", [f"# {given.system.name}"]),
        ("code", ["import svyaz", f"text = {_lines(text)}", "system = svyaz.loads(text)"]),
        ("code", [f"system = system.with_settings({pformat(dict(settings))})" if settings else "system"]),
        ("code", [f"system.derive({form})"]),
        ("code", [f"motion = system.simulate({run})", "motion"]),
        ("code", ["motion.plot()"]),
    ]
    return json.dumps(_notebook(cells), indent=1, ensure_ascii=False) + "\n"


def _lines(text: str) -> str:
    """A text as a literal of Python, a line each."""
    pieces = text.splitlines(keepends=True) or [""]
    return "(\n" + "\n".join(f"    {piece!r}" for piece in pieces) + "\n)"


def _notebook(cells: Sequence[tuple[str, Sequence[str]]]) -> Mapping[str, object]:
    made = []
    for k, (kind, lines) in enumerate(cells):
        cell: dict[str, object] = {"cell_type": kind, "id": f"cell-{k}", "metadata": {}, "source": "\n".join(lines)}
        made.append(cell | ({"outputs": [], "execution_count": None} if kind == "code" else {}))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
