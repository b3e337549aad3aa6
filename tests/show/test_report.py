"""The report says what happened, needs nothing from outside, and works in a browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from svyaz.show.follows import formulas_html
from svyaz.show.formulas import LONGEST_FORMULA, MOST_FORMULAS
from svyaz.show.report import gains_table, report_page, write_report
from svyaz.show.tables import number

EQUATIONS = [
    r"m \ddot{x} = 2 x \lambda_{\mathrm{rod}}",
    r"m \ddot{y} = 2 y \lambda_{\mathrm{rod}} - m g",
    " + ".join(rf"\frac{{m_{{{k}}}}}{{2}} \dot{{u}}_{{{k}}}^{{2}}" for k in range(60)) + " = 0",
]
WATCH = """<script>window.faults = [];
window.addEventListener("error", (e) => faults.push(e.message || "resource"), true);
document.addEventListener("securitypolicyviolation", (e) => faults.push("refused " + e.blockedURI));
console.error = (...words) => faults.push(words.join(" "));</script>"""
ASK = """<script>window.addEventListener("load", () => setTimeout(() => {
  const canvas = document.querySelector("canvas");
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let drawn = 0;
  for (let k = 3; k < pixels.length; k += 4) drawn += pixels[k] > 0;
  const first = document.querySelector("output").textContent;
  const player = document.querySelector(".player");
  const press = (key) => player.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  press("End");
  const last = document.querySelector("output").textContent;
  press(" ");
  const label = document.querySelector("button").getAttribute("aria-label");
  const fonts = [...document.fonts].filter((f) => f.status === "loaded").map((f) => f.family);
  const images = [...document.images].every((i) => i.complete && i.naturalWidth > 0);
  const wide = document.documentElement.scrollWidth > window.innerWidth;
  const found = {drawn, first, last, label, fonts, images, wide, faults: window.faults};
  document.body.innerHTML = "";
  document.title = "found " + JSON.stringify(found);
}, 300));</script>"""


@pytest.fixture(scope="module")
def report(constrained, tmp_path_factory) -> Path:
    return write_report(constrained, tmp_path_factory.mktemp("report") / "out" / "pendulum", formulas=EQUATIONS)


class Balance(HTMLParser):
    """Open tags are closed in order, every picture has words, and no element refers to anything outside the page."""

    EMPTY = frozenset(["meta", "img", "input", "br", "path"])

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.pictures = 0
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag not in self.EMPTY:
            self.open.append(tag)
        if tag == "img":
            self.pictures += 1
            assert found["alt"]
        self.outside += [v for k, v in attrs if k in ("src", "href") and v and not v.startswith("data:")]

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


def test_page_is_well_formed_and_self_contained(report: Path) -> None:
    text = report.read_text()
    page = Balance()
    page.feed(text)
    assert not page.open
    assert page.pictures == 8
    assert not page.outside
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", text))
    assert addresses <= {"http://www.w3.org/1998/Math/MathML", "http://www.w3.org/2000/svg"}  # names, not places
    assert not re.search(r"@import|url\((?!data:)", text)
    assert "default-src 'none'" in text


def test_page_says_what_happened(report: Path) -> None:
    text = report.read_text()
    for words in (
        "The motion was computed to its end, t = 4.",
        "Method: <code>rk4</code> with the step 0.01",
        "<code>multipliers</code>",
        "Residuals of the constraints",
        "First integrals",
        "momentum",
    ):
        assert words in text
    assert text.count('class="katex-display"') == len(EQUATIONS)
    assert number(0.479426) in text  # x at the start: sin 0.5


def test_pictures_stand_beside_the_page(report: Path) -> None:
    names = {"coordinates", "velocities", "phase", "energy", "residuals", "multipliers", "path", "traces"}
    assert {p.name for p in report.parent.iterdir()} == {"report.html", *(f"{name}.png" for name in names)}


@pytest.mark.parametrize(
    ("status", "words"), [("diverged", "beyond all bounds"), ("singular", "accelerations"), ("stopped", "interrupted")]
)
def test_bad_endings_are_told(constrained, status: str, words: str) -> None:
    states = constrained.states.copy()
    states[250:] = np.nan
    motion = replace(constrained, status=status, reason="at the folded position <A>", states=states)
    text = report_page(motion, "", [])
    assert words in text
    assert "at the folded position &lt;A&gt;" in text
    assert 'class="badge bad"' in text


@pytest.mark.parametrize("value", [1.0, np.nan])
def test_a_motion_that_ended_at_once(constrained, tmp_path: Path, value: float) -> None:
    one = {name: values[:1] for name, values in constrained.residuals.items()}
    motion = replace(
        constrained,
        times=constrained.times[:1],
        states=value * constrained.states[:1],
        residuals=one,
        multipliers={"rod": np.array([np.nan])},
        integrals={"energy": np.array([-1.0])},
        kinetic=np.array([0.0]),
        potential=np.array([-1.0]),
        status="infeasible",
    )
    text = write_report(motion, tmp_path, formulas=[]).read_text()
    assert ("<canvas" in text) == np.isfinite(value)
    assert not (tmp_path / "traces.png").exists()


def test_big_systems_give_reasonable_pages(long_chain, tmp_path: Path) -> None:
    equations = [EQUATIONS[0]] * 58 + ["x" * (LONGEST_FORMULA + 1)] * 2
    page = write_report(long_chain, tmp_path, formulas=equations)
    text = page.read_text()
    assert text.count('class="katex-display"') == MOST_FORMULAS
    assert f"{MOST_FORMULAS} of 60 equations are shown" in text
    assert len(text) < 3_000_000


def test_a_formula_katex_refuses_does_not_lose_the_report(constrained) -> None:
    text = report_page(constrained, formulas_html([r"\nosuchcommand{<x>}"]), [])
    assert r"<code>\nosuchcommand{&lt;x&gt;}</code>" in text


def test_numbers_for_people() -> None:
    assert number(-1.5e-9, 2) == "−1.5 × 10⁻⁹"
    assert number(-0.0) == "0"
    assert number(0.25) == "0.25"
    assert number(None) == number(float("nan")) == "–"
    assert number(float("inf")) == "∞"


def look_into(page: Path, browser, tmp_path: Path, *arguments: str) -> dict:
    text = page.read_text().replace("<head>", f"<head>{WATCH}", 1).replace("</body>", f"{ASK}</body>", 1)
    watched = tmp_path / "watched.html"
    watched.write_text(text)
    shown = browser(watched, "--dump-dom", "--virtual-time-budget=3000", *arguments)
    return json.loads(re.search(r"<title>found (.*?)</title>", shown)[1].replace("&amp;", "&"))


def test_report_in_a_browser(report: Path, browser, tmp_path: Path) -> None:
    found = look_into(report, browser, tmp_path, "--window-size=1100,900")
    assert found["faults"] == []
    assert found["drawn"] > 2000
    assert found["first"].startswith("t = ")
    assert found["last"] == "t = 4.00"
    assert found["label"] == "Pause"
    assert {"KaTeX_Main", "KaTeX_Math"} <= set(found["fonts"])
    assert found["images"]


def test_report_fits_a_narrow_window(report: Path, browser, tmp_path: Path) -> None:
    assert not look_into(report, browser, tmp_path, "--window-size=500,900")["wide"]


def test_spatial_player_in_a_browser(spatial, browser, tmp_path: Path) -> None:
    found = look_into(write_report(spatial, tmp_path / "out", formulas=[]), browser, tmp_path)
    assert found["faults"] == []
    assert found["drawn"] > 500
    assert found["last"] == "t = 3.00"


def test_gain_matrices_and_their_roots_are_shown() -> None:
    values = {"A": [[-100.0, 0.0], [0.0, -100.0]], "B": [[-20.0, 1.0], [0.0, -20.0]], "E": [[-5.0]]}
    text = re.sub("<[^>]+>", " ", gains_table(values, [complex(-10.0), -1 + 2j]))
    assert "Gains: ḧ = A h + B ḣ + C f, ḟ = D ḣ + E f" in text
    shown = re.sub(r"\s+", " ", text.replace("\u2212", "-"))
    assert "A -100 · 1 (2 × 2)" in shown
    assert "B -20 1; 0 -20" in shown
    assert "E -5" in shown
    assert "roots -10, -1 + 2 i" in shown
    assert gains_table({}, []) == ""
