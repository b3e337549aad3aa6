"""What people do in the studio, in a real browser. Each story leaves a picture behind, to be looked at."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser, Tab
from studio_client import RunningStudio

IDLE = "document.documentElement.dataset.shown && document.documentElement.dataset.working !== 'yes'"


@pytest.fixture
def tab(chromium: Browser, studio: RunningStudio) -> Iterator[Tab]:
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


def test_V4_without_the_token_there_is_a_page_that_asks_for_it(
    chromium: Browser, studio: RunningStudio, tmp_path: Path
) -> None:
    """A wrong token changes nothing; with the right one, typed or in a file that the studio opens, its pages are shown."""
    page = chromium.open()
    token = studio.address.partition("token=")[2]
    page.ask("Network.clearBrowserCookies", {})
    page.go(f"{studio.origin}/")
    assert "Token of this studio" in page.run("document.body.textContent")
    assert page.run("document.scripts.length + document.images.length") == 0
    asked_again = "location.search === '?token=wrong' && document.querySelector('input[type=password]')"
    for given, then in (("wrong", asked_again), (token, f"document.documentElement && {IDLE}")):
        page.run(f"document.querySelector('input').value = '{given}'; document.querySelector('form button').click()")
        page.wait(then)
    assert page.run("location.href.includes('token')") is False
    page.picture(tmp_path / "signed-in.png")
    page.ask("Network.clearBrowserCookies", {})
    (tmp_path / "open.html").write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={studio.address}">')
    page.go((tmp_path / "open.html").as_uri())
    page.wait(f"location.origin === '{studio.origin}' && location.search === '' && document.documentElement && {IDLE}")
    page.close()


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


STAND = "model=ball-and-beam&with.control=voltage&with.motor=numbers&with.equilibrium=nonzero"
RAN = "window.studio.answer?.record?.runs"


def outcome(tab: Tab, run: str) -> dict[str, object]:
    return tab.run(f"window.studio.answer.record.runs[{json.dumps(run)}]")


@pytest.mark.parametrize("dependent", ["alpha", "theta"])
def test_U1_ball_and_beam_designed_from_both_models(
    tab: Tab, studio: RunningStudio, tmp_path: Path, dependent: str
) -> None:
    """At d = 0.0935 and x1(0) = 0.03 the linearised design leaves the beam, or creeps back, as the specification says."""
    address = f'#control?{STAND}&set.d=0.0935&control.design=both&control.until=60&control.start=~{{"r":0.23}}'
    shown(tab, studio, f"{address}&control.dependent={dependent}", RAN)
    right, wrong = outcome(tab, "regulator"), outcome(tab, "linearised constraints")
    assert (right["status"], right["returned"]) == ("finished", True)
    if dependent == "alpha":
        assert wrong["status"] == "left"
        assert wrong["limits"]["r"]["left"] == pytest.approx(11.79, abs=0.01)
        assert "leaves" in text_of(tab, ".outcome")
    else:
        assert (wrong["status"], wrong["answer"]) == ("finished", "is still returning")
    assert tab.run("document.querySelectorAll('.chain li.yes').length") >= 6
    tab.picture(tmp_path / f"{dependent}.png", whole=True)


def test_U1_figures_4_1_and_4_2_by_a_link_each(tab: Tab, studio: RunningStudio, tmp_path: Path) -> None:
    shown(tab, studio, "#control?model=pendulum:1")
    links = tab.run("[...document.querySelectorAll('.page a')].slice(0, 2).map(a => a.getAttribute('href'))")
    for name, address, run in zip(("4.1", "4.2"), links, ("regulator", "linearised constraints"), strict=True):
        shown(tab, studio, address, RAN)
        assert tab.run("window.studio.answer.record.observable") is True
        assert outcome(tab, run)["returned"] is (name == "4.1")
        tab.picture(tmp_path / f"{name}.png")
    assert tab.run("[...document.querySelectorAll('.key')].some(k => k.textContent.includes('nonlinear'))")


def test_U1_the_sling_released(tab: Tab, studio: RunningStudio, tmp_path: Path) -> None:
    shown(tab, studio, "#motion?model=sling", "window.studio.answer?.runs")
    before = tab.run("document.querySelector('canvas.mechanism').toDataURL()")
    tab.run("document.querySelector('canvas.mechanism').focus()")
    tab.press(" ")
    tab.wait("document.querySelector('.controls output').textContent !== 't = 0'")
    tab.wait("document.querySelector('.controls button').textContent === '▶'", 40)
    assert tab.run("document.querySelector('canvas.mechanism').toDataURL()") != before
    assert tab.run("window.studio.answer.runs[0].record.status") == "finished"
    tab.picture(tmp_path / "sling.png")


def moved(tab: Tab, name: str, keys: list[str]) -> float:
    """A slider moved by the keyboard, and the value that it then has."""
    tab.run(f"document.querySelector('.slider[data-name=\"{name}\"] input[type=range]').focus()")
    tab.press(*keys)
    return float(tab.run(f"document.querySelector('.slider[data-name=\"{name}\"] input[type=range]').value"))


def test_U1_puma_turned_by_sliders(tab: Tab, studio: RunningStudio, tmp_path: Path) -> None:
    shown(tab, studio, "#motion?model=puma-560&motion.until=0.5", "window.studio.answer?.runs")
    value = moved(tab, "q2", ["End"])
    tab.wait(f"Math.abs(window.studio.answer.runs[0].record.initial.q2 - {value}) < 1e-3", 60)
    assert "set.initial.q2" in tab.wait("location.hash.includes('set.initial.q2') && location.hash")
    tab.picture(tmp_path / "puma.png")


def test_U1_a_steady_motion_followed_along_its_branch(tab: Tab, studio: RunningStudio, tmp_path: Path) -> None:
    """The bead on a hoop leaves the lowest point at the speed sqrt(g/l)."""
    address = "#stability?model=hoop&stability.follow=~true&stability.from=2&stability.to=8"
    shown(tab, studio, address, "window.studio.answer?.record?.branch")
    points = tab.run("window.studio.answer.record.branch.filter(m => m.kind === 'branching').map(m => m.value)")
    assert points[0] == pytest.approx((9.81 / 0.5) ** 0.5, abs=1e-6)
    tab.run("document.querySelector('.positions button:last-child').click()")
    assert tab.run("document.querySelectorAll('.plot path.curve').length") >= 4
    tab.wait("document.querySelectorAll('.positions canvas').length === 4")  # at the top, at the bottom, on both sides
    tab.picture(tmp_path / "branch.png")


def test_U1_a_sweep_cancelled_half_way_and_resumed(tab: Tab, studio: RunningStudio, tmp_path: Path) -> None:
    axes = (
        '~[{"name":"L1","from":"0.5","to":"2","count":"16"},{"name":"initial.u1","from":"0.2","to":"2","count":"15"}]'
    )
    shown(tab, studio, f"#study?model=pendulum:4&study.until=1500&study.axes={axes}")
    tab.click(".begin")
    tab.wait("window.studio.told?.[0] > 10", 90)
    time.sleep(1.0)  # what is done is written twice a second
    tab.run("document.querySelector('footer button').click()")
    tab.wait("window.studio.keptRows > 0")
    kept = tab.run("window.studio.keptRows")
    assert 10 < kept < 240
    tab.picture(tmp_path / "cancelled.png")
    tab.run("window.studio.told = null; document.querySelector('.resume').click()")
    first = tab.wait("window.studio.told?.[0] || document.querySelector('.wrong-text')?.textContent", 60)
    assert isinstance(first, int | float), first
    assert first >= kept
    tab.wait("window.studio.answer?.record?.status === 'finished'", 120)
    assert tab.run("window.studio.answer.record.done") == 240
    assert tab.run("document.querySelector('canvas.heat') !== null")
    tab.picture(tmp_path / "resumed.png")


def test_U1_a_link_opened_in_a_second_tab(tab: Tab, chromium: Browser, studio: RunningStudio, tmp_path: Path) -> None:
    """What was typed, set and chosen is in the address."""
    shown(tab, studio, "#model?model=pendulum:1", "document.querySelector('.fine')")
    tab.click(".area")
    tab.press("Control+Home")
    tab.write("# a word of mine\n")
    tab.wait("location.hash.includes('text=') && document.querySelector('.fine')")
    tab.run("[...document.querySelectorAll('nav a')].find(a => a.textContent === 'Motion').click()")
    tab.wait(f"({IDLE}) && window.studio.answer?.runs")
    moved(tab, "L1", ["ArrowRight"] * 5)
    tab.wait("location.hash.includes('set.L1')")
    tab.wait("window.studio.answer.runs[0].record.parameters.L1 === Number(window.studio.state.settings.L1)")
    final, address = tab.run("[window.studio.answer.runs[0].record.final.u1, location.href]")
    other = chromium.open(address)
    other.wait(f"({IDLE}) && window.studio.answer?.runs", 60)
    assert other.run("window.studio.answer.runs[0].record.final.u1") == final
    assert other.run("window.studio.read.text").startswith("# a word of mine")
    other.picture(tmp_path / "second.png")
    other.close()


def test_U1_three_languages(tab: Tab, studio: RunningStudio, tmp_path: Path) -> None:
    for code, word in {"ru": "Движение", "uk": "Рух", "en": "Motion"}.items():
        shown(tab, studio, "#motion?model=sling", "window.studio.answer?.runs")
        tab.run(
            f"(() => {{const s = document.querySelector('header select'); s.value = '{code}';"
            "s.dispatchEvent(new Event('change'))})()"
        )
        tab.wait(f"document.querySelector('[aria-current]').textContent === {json.dumps(word)}")
        assert tab.run("document.documentElement.lang") == code
        tab.wait(f"({IDLE})")
        tab.picture(tmp_path / f"{code}.png")
    missing = tab.run("import('/core/words.js').then(w => w.keys().filter(([k, n, full]) => n !== 3 || !full))")
    assert missing == []


def test_gains_are_taken_from_the_plane(tab: Tab, studio: RunningStudio, tmp_path: Path) -> None:
    """A click in the picture of (alpha, beta) is a run with these gains; beyond the region of stability it is refused."""
    shown(
        tab,
        studio,
        "#motion?model=pendulum-xy&motion.method=rk4&motion.step=0.01&motion.until=1",
        "window.studio.answer",
    )
    tab.run("[...document.querySelectorAll('aside button')].find(b => b.textContent.includes('α')).click()")
    tab.wait("document.querySelector('canvas.heat')")
    tab.run("window.studio.answer = null; document.querySelector('canvas.heat').scrollIntoView({block: 'center'})")
    box = tab.run("(b => [b.x, b.y, b.width, b.height])(document.querySelector('canvas.heat').getBoundingClientRect())")
    tab.drag([(box[0] + 0.3 * box[2], box[1] + 0.75 * box[3])])
    tab.wait("window.studio.answer?.runs")
    gains = tab.run("window.studio.state.options.motion")
    assert gains["stabilize"] == "pair"
    assert 0 < float(gains["alpha"]) < 4 * 2.785 / 0.01
    assert tab.run("window.studio.answer.runs[0].record.gains.verdict") == "stable"
    tab.picture(tmp_path / "plane.png", whole=True)


def test_a_state_is_kept_in_a_file_and_loaded(tab: Tab, studio: RunningStudio) -> None:
    shown(tab, studio, "#motion?model=pendulum:1&set.L1=1.5&motion.until=3", "window.studio.answer?.runs")
    kept = tab.run("JSON.stringify({studio: 1, ...window.studio.state})")
    shown(tab, studio, "#model?model=sling")
    tab.run(f"window.studio.loadState({{files: [new File([{json.dumps(kept)}], 'kept.studio.json')]}})")
    tab.wait("window.studio.state.page === 'motion' && window.studio.answer?.runs?.[0].record.t === 3")
    assert tab.run("window.studio.answer.runs[0].record.parameters.L1") == 1.5
    tab.run("window.studio.loadState({files: [new File(['[1]'], 'bad.json')]})")
    tab.wait("document.querySelector('.status.wrong')")


def test_U1_the_preset_finds_everything_of_the_stand(tab: Tab, studio: RunningStudio, tmp_path: Path) -> None:
    """Both equilibria by their pictures, pole placement, the critical radius, a second run over the first."""
    shown(tab, studio, "#control?model=pendulum:1")
    tab.run("document.querySelector('.page button.primary').click()")
    tab.wait(f"window.studio.state.model.name === 'ball-and-beam' && ({IDLE}) && {RAN}", 60)
    tab.run("[...document.querySelectorAll('button')].find(b => b.textContent === 'Choose from pictures').click()")
    tab.wait("document.querySelectorAll('.positions button').length === 2", 60)
    tab.run("document.querySelectorAll('.positions button')[1].click()")
    tab.wait("Math.abs(window.studio.answer.record.state.theta - 2.2142974) < 1e-6", 60)
    tab.run("[...document.querySelectorAll('button')].find(b => b.textContent === 'Keep this run to compare').click()")
    tab.run(
        "Object.assign(window.studio.state.options.control, {design: 'both', critical: 'd', criticalFrom: '0.05',"
        "criticalTo: '0.11'}); window.studio.showPage()"
    )
    tab.wait(f"({IDLE}) && window.studio.answer?.record?.against", 60)
    tab.run(
        "[...document.querySelectorAll('.card')].find(c => c.textContent.startsWith('Critical'))"
        ".querySelector('button').click()"
    )
    value = tab.wait("window.studio.criticalValue", 60)
    assert value == pytest.approx(0.09379, abs=2e-5), "case 003-A30 of the specification"
    tab.run(
        "Object.assign(window.studio.state.options.control, {solver: 'poles', poles: '-1,-2,-3,-150,-1600'});"
        "window.studio.showPage()"
    )
    tab.wait("window.studio.answer.record.method !== 'schur' && window.studio.answer.record.closed_roots", 60)
    placed = sorted(root[0] for root in tab.run("window.studio.answer.record.closed_roots"))
    assert placed == pytest.approx([-1600, -150, -3, -2, -1], rel=1e-4)
    titles = tab.run("[...document.querySelectorAll('details summary')].map((s) => s.textContent)")
    assert {"Controllability [B, AB, …]", "A", "B", "Z", "K"} <= set(titles)
    tab.picture(tmp_path / "preset.png", whole=True)


def test_U1_the_basin_has_a_picture(tab: Tab, studio: RunningStudio, tmp_path: Path) -> None:
    address = "#control?model=inverted-pendulum-xy&control.until=5&control.count=12&control.fix=X = 0"
    shown(tab, studio, address, RAN)
    tab.run(
        "[...document.querySelectorAll('.card')].find(c => c.textContent.startsWith('Basin')).querySelector('button').click()"
    )
    found = tab.wait(
        "window.studio.basin && [window.studio.basin.record.returned, window.studio.basin.record.count]", 60
    )
    shown_words = "[...document.querySelectorAll('strong')].map((s) => s.textContent).join()"
    assert f"{found[0]} of {found[1]} starts return." in tab.wait(
        f"{shown_words}.includes('starts return') && {shown_words}"
    )
    tab.picture(tmp_path / "basin.png", whole=True)


def test_the_report_is_written_and_shut_off(tab: Tab, studio: RunningStudio, tmp_path: Path) -> None:
    shown(tab, studio, "#report?model=pendulum:1&motion.until=1")
    tab.run("document.querySelector('.page button').click()")
    files = tab.wait("window.studio.answer?.files", 90)
    names = {Path(name).name for name in files}
    assert {
        "report.html",
        "report.pdf",
        "living.html",
        "motion.pdf",
        "notebook.ipynb",
        "motion.csv",
        "result.json",
    } <= names
    status, headers, page = studio.request("GET", "/out/pendulum-1/report.html")
    assert (status, b"pendulum" in page) == (200, True)
    assert (studio.folder / "out" / "pendulum-1" / "report.pdf").read_bytes().startswith(b"%PDF")
    assert headers["content-security-policy"].startswith("sandbox allow-scripts")
    notebook = json.loads((studio.folder / "out" / "pendulum-1" / "notebook.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    known: dict[str, object] = {}
    for cell in cells[:-1]:
        exec(cell, known)
    assert known["motion"].times[-1] == 1.0
    tab.picture(tmp_path / "report.png")


def test_scripts_in_names_are_shown_and_not_run(tab: Tab, studio: RunningStudio) -> None:
    name = "<img src=x onerror='window.owned=1'><script>window.owned=1</script>"
    text = f'name = "{name}"\ncoordinates = ["x"]\nkinetic = "x\'^2/2"\npotential = "x^2"\nnotes = "{name}"\n'
    text += '[[constraint]]\nname = "<b onclick=alert(1)>"\nequation = "x = 0"\n[[draw]]\npoint = ["x", "0"]\n'
    shown(tab, studio, "#model?model=pendulum:1", "document.querySelector('.fine')")
    tab.run(f"window.studio.openModel({{name: {json.dumps(name)}, text: {json.dumps(text)}}})")
    for page in ("model", "equations", "motion", "stability", "control", "study", "report"):
        tab.run(f"window.studio.go('{page}')")
        tab.wait(IDLE)
    assert tab.run("window.owned") is None
    assert tab.run("document.querySelector('main img, main script') === null")
    assert name in tab.run("document.title + document.body.textContent")


PAGES = {
    "model": "#model?model=sleigh",
    "equations": "#equations?model=sleigh",
    "motion": "#motion?model=sleigh",
    "stability": "#stability?model=hoop",
    "control": "#control?model=ball-and-beam",
    "study": "#study?model=pendulum:1",
    "published": "#published?published.subject=sling",
    "report": "#report?model=pendulum:1",
}


def barriers(tab: Tab) -> list[str]:
    """Serious violations that axe-core finds."""
    import axe_core_python

    script = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    tab.run(f"{script}; true")
    found = tab.run("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)")
    serious = [v for v in found if v["impact"] in ("serious", "critical")]
    return [f"{v['id']}: {v['nodes'][0]['html'][:200]} {v['nodes'][0].get('failureSummary', '')}" for v in serious]


@pytest.mark.parametrize("page", PAGES)
def test_U5_no_barriers_in_light_and_dark(tab: Tab, studio: RunningStudio, page: str) -> None:
    done = "document.querySelector('main table')" if page == "published" else "true"
    shown(tab, studio, PAGES[page], done)
    tab.wait("[...document.querySelectorAll('.card')].length")
    assert barriers(tab) == []
    tab.run("document.querySelector('header button[title]').click()")
    tab.wait(f"({IDLE}) && ({done})")
    assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 31)"
    assert barriers(tab) == []
    tab.run("localStorage.removeItem('theme')")


def test_U5_by_keyboard_alone(tab: Tab, studio: RunningStudio) -> None:
    """From the top of the page to another page and to a slider, with Tab, Enter and arrows."""
    shown(tab, studio, "#model?model=pendulum:1")
    for _ in range(30):
        tab.press("Tab")
        if tab.run("document.activeElement.textContent") == "Motion":
            break
    assert tab.run("document.activeElement.matches(':focus-visible')")
    tab.press("Enter")
    tab.wait("window.studio.state.page === 'motion' && window.studio.answer?.runs")
    for _ in range(60):
        tab.press("Tab")
        if tab.run("document.activeElement.closest('.slider')?.dataset.name === 'L1'"):
            break
    before = tab.run("window.studio.answer.runs[0].record.parameters.L1")
    tab.press("ArrowRight", "ArrowRight")
    tab.wait(f"window.studio.answer.runs[0].record.parameters.L1 > {before}")


@pytest.mark.parametrize("page", PAGES)
def test_pages_fit_768_pixels(tab: Tab, studio: RunningStudio, page: str) -> None:
    tab.size(768, 1000)
    shown(tab, studio, PAGES[page])
    assert tab.run("document.documentElement.scrollWidth") <= 768
    used = tab.run("Math.max(...[...document.querySelectorAll('.card')].map(c => c.getBoundingClientRect().width))")
    assert used > 700, "one column takes the whole width"
