"""What people do in the studio, in a real browser. Each story leaves a picture behind, to be looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chromium import Browser, Tab
from studio_client import RunningStudio

IDLE = "document.documentElement.dataset.shown && document.documentElement.dataset.working !== 'yes'"


@pytest.fixture
def tab(chromium: Browser, studio: RunningStudio):
    page = chromium.open()
    yield page
    assert page.faults == []
    assert all(address.startswith((studio.origin, "blob:", "data:")) for address in page.requests)
    page.close()


def shown(tab: Tab, studio: RunningStudio, address: str, condition: str = "true") -> Tab:
    """Open an address of the studio and wait until it shows what is asked for."""
    tab.go("about:blank")
    tab.go(f"{studio.origin}/{address}")
    tab.wait(f"({IDLE}) && ({condition})", 90)
    return tab


def text_of(tab: Tab, selector: str) -> str:
    return tab.run(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")


def test_U1_a_typo_is_fixed_as_the_message_says(tab: Tab, studio: RunningStudio, tmp_path: Path) -> None:
    shown(tab, studio, "#model?model=sleigh", "document.querySelector('.fine')")
    tab.click(".area")
    tab.run(
        "(() => {const a = document.querySelector('.area'); const at = a.value.indexOf('cos(phi) = ');"
        "a.setSelectionRange(at + 4, at + 7)})()"
    )
    tab.write("phj")
    tab.wait("document.querySelector('.problems li')")
    assert "phj" in text_of(tab, ".problems li")
    assert not tab.run("document.querySelector('.bubble').hidden")
    top = tab.run("document.querySelector('.bubble').getBoundingClientRect().top")
    mark = tab.run("document.querySelector('.mark u').getBoundingClientRect().bottom")
    assert abs(top - mark) < 6, "the message stands right under its line"
    tab.picture(tmp_path / "typo.png")
    tab.run("[...document.querySelectorAll('.problems button')].at(-1).click()")
    tab.wait("document.querySelector('.fine')")
    assert "cos(phi) = " in tab.run("document.querySelector('.area').value")


def test_U1_the_sleigh_with_gains_on_and_off(tab: Tab, studio: RunningStudio, tmp_path: Path) -> None:
    address = "#motion?model=sleigh&motion.method=euler&motion.stabilize=kappa&motion.kappa=46&motion.compare=~true"
    shown(tab, studio, address, "window.studio.answer?.runs.length === 2")
    held, free = (tab.run(f"window.studio.answer.runs[{k}].record.residuals.blade.max") for k in (0, 1))
    assert 10 * held < free, "Euler's method drifts off the blade; a gain holds it"
    assert "blade" in text_of(tab, "table")
    tab.picture(tmp_path / "sleigh.png")
