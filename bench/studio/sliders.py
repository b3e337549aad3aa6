"""From a slider to the new motion on the screen, and from a parameter to the new K with both transients: medians."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from bench.studio.work import ENVIRONMENT, Browser, RunningStudio, Tab, executable
from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row

MODULE = "bench.studio.sliders"
PAGES = {
    "pendulum:5": ("#motion?model=pendulum:5", "L1", 0.150),
    "ball-and-beam": ("#motion?model=ball-and-beam", "d", 0.150),
    "K and transients, d": ("#control?model=ball-and-beam&control.design=both", "d", 0.500),
    "K and transients, r0": ("#control?model=ball-and-beam&control.design=both", "r0", 0.500),
}
"""Address, what is moved, and the seconds that it may take."""

MOVES = 21


def job(name: str) -> Job:
    return Job(MODULE, ("slider", name), 1, 20.0)


def jobs(quick: bool) -> list[Job]:
    return [job(name) for name in PAGES] if executable() else []


def rows(samples: Samples, quick: bool) -> list[Row]:
    if not executable():
        return []
    found = []
    for name, (_, _, bar) in PAGES.items():
        taken = series(samples, job(name), "seconds")[0]
        found.append(Row(name, taken, bar, taken / bar, "s", "bar", 1.0, limit=True))
    return found


def slider_job(name: str) -> Answer:
    address, moved, _ = PAGES[name]
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as profile,
        RunningStudio(Path(folder), ENVIRONMENT) as studio,
        Browser(Path(profile)) as browser,
    ):
        tab = browser.open(f"{studio.origin}/{address}")
        tab.wait("window.studio?.answer", 120)
        return {"seconds": median(_moves(tab, moved)[1:])}


def _moves(tab: Tab, name: str) -> list[float]:
    """Seconds from each move of a slider until what it moves is drawn."""
    box = f"document.querySelector('.slider[data-name=\"{name}\"] input[type=range]')"
    value = float(tab.run(f"{box}.value"))
    taken = []
    for k in range(MOVES):
        moved = f"{box}.value = {value * (1 + 0.002 * (k + 1))}; {box}.dispatchEvent(new Event('input'))"
        tab.run(f"window.studio.shownIn = null; {moved}")
        taken.append(tab.wait("window.studio.shownIn") / 1000)
    return taken


if __name__ == "__main__":
    answer({"slider": slider_job})
