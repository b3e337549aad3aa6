"""What a bench leaves behind: a table on the terminal, and JSON, Markdown and a plot in a folder."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench.tools.growth import Curve, draw
from bench.tools.jobs import Samples
from bench.tools.rows import Row

HEAD = ("measurement", "ours", "peer", "peer is", "ratio", "bar", "")
MILLI, MICRO, NANO = 1e3, 1e6, 1e9


def three_digits(value: float) -> str:
    """Three digits, without a power of ten up to a million."""
    return f"{float(f'{value:.3g}'):g}"


def quantity(value: float, unit: str) -> str:
    """A number with its unit, times in the unit that suits them."""
    if unit != "s":
        return f"{three_digits(value)} {unit}"
    for limit, factor, name in ((1.0, 1.0, "s"), (1e-3, MILLI, "ms"), (1e-6, MICRO, "µs")):
        if value >= limit:
            return f"{value * factor:.3g} {name}"
    return f"{value * NANO:.3g} ns"


def times(ratio: float) -> str:
    """A ratio."""
    return f"{three_digits(ratio)}×"


def notes(rows: Sequence[Row]) -> list[str]:
    """What is to be said about single rows."""
    return [f"{row.name}: {row.note}" for row in rows if row.note]


def cells(row: Row) -> tuple[str, ...]:
    """A row as the table shows it, spreads in percent behind the medians."""
    if not row.measured:
        return row.name, "–", "–", row.peer_name, "–", row.bar_text, row.verdict

    def told(value: float, spread: float) -> str:
        return quantity(value, row.unit) + (f" ±{50 * spread:.0f}%" if spread >= 0.01 else "")

    ours, peer = told(row.ours, row.spread), told(row.peer, row.peer_spread)
    return row.name, ours, peer, row.peer_name, times(row.ratio), row.bar_text, row.verdict


def coloured(rows: Sequence[Row]) -> list[tuple[str | tuple[str, str], ...]]:
    """The rows for the terminal, the verdict with its colour."""
    colours = {"met": "green", "not met": "red", "not measured": "red"}
    return [(*cells(row)[:-1], (row.verdict, colours.get(row.verdict, ""))) for row in rows]


def machine() -> dict[str, str]:
    """Where it was measured, and with which versions."""
    from importlib.metadata import version

    names = ("svyaz", "sympy", "symengine", "numpy", "scipy", "numba", "llvmlite")
    versions = {name: version(name) for name in names}
    return {"processor": _processor(), "cores": str(os.cpu_count()), "python": platform.python_version(), **versions}


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def markdown(title: str, rows: Sequence[Row], about: dict[str, str]) -> str:
    """The table for a page."""
    lines = ["| " + " | ".join(name or "verdict" for name in HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    told = ", ".join(f"{name} {value}" if name != "processor" else value for name, value in about.items())
    lines += ["", *(f"- {note}" for note in notes(rows))]
    return f"# {title}\n\n{told}. Medians, ± half the spread.\n\n" + "\n".join(lines) + "\n"


def plot(title: str, rows: Sequence[Row], path: Path) -> None:
    """How far every bar is passed, on a logarithmic axis; 1 is the bar."""
    from matplotlib.figure import Figure

    barred = [row for row in rows if row.bar is not None and row.measured][::-1]
    figure = Figure(figsize=(9, 0.9 + 0.42 * len(barred)), layout="constrained")
    axes = figure.subplots()
    colours = ["tab:green" if row.met else "tab:red" for row in barred]
    bars = axes.barh([row.name for row in barred], [row.margin - 1.0 for row in barred], left=1.0, color=colours)
    axes.bar_label(bars, [f"{times(row.ratio)} ({row.bar_text})" for row in barred], padding=4, fontsize=8)
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlim(right=axes.get_xlim()[1] * 4)
    axes.set_xlabel("better than the bar by this factor")
    axes.set_title(title, loc="left")
    figure.savefig(path, dpi=130)


def _record(row: Row) -> dict[str, object]:
    numbers = {key: None if value != value else value for key, value in asdict(row).items()}  # JSON has no NaN
    return {**numbers, "verdict": row.verdict}


def write(
    name: str, title: str, rows: Sequence[Row], samples: Samples, folder: Path, curves: Sequence[Curve] = ()
) -> list[Path]:
    """NAME.json, NAME.md and NAME.png in the folder; NAME-growth.png where there are curves."""
    folder.mkdir(parents=True, exist_ok=True)
    about = machine()
    record = {
        "bench": name,
        "machine": about,
        "rows": [_record(row) for row in rows],
        "samples": samples,
    }
    data, page, picture = (folder / f"{name}.{ending}" for ending in ("json", "md", "png"))
    data.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    page.write_text(markdown(title, rows, about), encoding="utf-8")
    plot(title, rows, picture)
    if not curves:
        return [data, page, picture]
    growth = folder / f"{name}-growth.png"
    draw(title, curves, growth)
    return [data, page, picture, growth]
