"""Reports at the widths of telephones, tablets and screens: nothing cut, nothing overlapping, the player in the first view."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import Browser, executable

import svyaz

SCRIPT = (Path(__file__).parents[1] / "tools" / "boxes.js").read_text(encoding="utf-8")
WIDTHS = {360: 740, 768: 1024, 1366: 768, 1920: 1080}
MODELS = ("sleigh", "puma-560", "furuta-linkage", "lawden")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if executable() is None:
        pytest.skip("no Chromium on this machine: a page cannot be looked at")
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.mark.parametrize("model", MODELS)
def test_P5_boxes_of_a_report(model, browser, tmp_path) -> None:
    motion = svyaz.load(model).simulate()
    page = svyaz.write_report(motion, tmp_path)
    tab = browser.open(page.as_uri())
    for width, height in WIDTHS.items():
        tab.size(width, height)
        found = tab.run(SCRIPT)
        assert found["wrong"] == [], width
        if width >= 768:
            assert found["scrolled"] == [], width
        if (width, height) == (1366, 768) and found["controls"] is not None:
            assert found["controls"] <= height, "the player is in the first view"
    assert tab.faults == []
    tab.close()
