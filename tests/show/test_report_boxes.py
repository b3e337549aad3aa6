"""Reports at the widths of telephones, tablets and screens: nothing cut, nothing overlapping, the player in the first view.

``python tests/tools/report_boxes.py`` looks at all models of the gallery, at variants, robots and long systems.
"""

from __future__ import annotations

import pytest
from chromium import Browser, executable
from report_boxes import wrong_boxes

import svyaz

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
    tab = browser.open(svyaz.write_report(motion, tmp_path).as_uri())
    assert wrong_boxes(tab) == []
    tab.close()


def test_P5_what_is_wrong_is_seen(browser, tmp_path) -> None:
    """A page that is too wide, with parts that overlap and one that is cut."""
    page = tmp_path / "wrong.html"
    page.write_text(
        "<!DOCTYPE html><main><section><p style='width: 3000px'>wide</p><div style='margin-bottom: -2rem'>one</div>"
        "<div>two</div><p style='overflow: hidden; width: 2rem; white-space: nowrap'>cut at its right end</p></section></main>",
        encoding="utf-8",
    )
    tab = browser.open(page.as_uri())
    wrong = " ".join(wrong_boxes(tab))
    assert all(word in wrong for word in ("the page is 30", "beyond the page", "overlapping", "cut: p"))
    tab.close()
