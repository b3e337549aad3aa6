"""Sliders over a system: what may be moved, what follows a move, what the page is told, and the bar of long runs."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
from chromium import Browser, executable
from scipy.integrate import solve_ivp

import svyaz
from svyaz.library import bars
from svyaz.library.exploring import FRAMES, exploration

pytest.importorskip("anywidget")


@pytest.fixture(scope="module")
def pendulum() -> svyaz.System:
    return svyaz.System(
        name="pendulum",
        coordinates=["u"],
        kinetic="m*l^2/2*u'^2",
        potential="-m*g*l*cos(u)",
        parameters={"m": 1, "l": 2, "g": 9.81, "half": "l/2"},
        inputs={"F": {"value": 0, "low": -5, "high": 5}, "M": 0.0},
        forces={"u": "F*l + M"},
        initial={"u": 0.5, "u'": 0.25},
        draw=[{"link": [["0", "0"], ["l*sin(u)", "-l*cos(u)"]], "trace": True}],
        run={"until": 2, "method": "dop853", "rtol": 1e-10},
    )


@pytest.fixture(scope="module")
def rod() -> svyaz.System:
    return svyaz.load("pendulum-xy").with_(initial={"x": 0.6, "y": -0.8})


def test_P3_sliders_over_parameters_inputs_and_initial_values(pendulum) -> None:
    sliders = {s.name: s for s in exploration(pendulum, None, "", {}).sliders}
    assert list(sliders) == ["m", "l", "g", "F", "M", "initial.u"]  # 'half' follows from l
    assert (sliders["F"].low, sliders["F"].high) == (-5, 5)
    assert sliders["initial.u"].low == pytest.approx(-np.pi)
    assert all(s.low <= s.value <= s.high for s in sliders.values())
    assert sliders["m"].low > 0
    asked = exploration(pendulum, {"l": (1, 3), "initial.u'": (-2, 2)}, "u, u' over u", {"until": 1})
    assert [(s.name, s.low, s.high, s.value) for s in asked.sliders] == [("l", 1, 3, 2), ("initial.u'", -2, 2, 0.25)]


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        (["u"], "'u' is neither a parameter nor an input nor an initial value"),
        (["length"], "'length' is neither"),
        ({"l": (3, 1)}, "'l' cannot be moved between 3 and 1"),
        ({"l": (1, float("nan"))}, "'vary', the value of 'l', entry 1, must be a finite number"),
    ],
)
def test_P3_what_cannot_be_moved_is_told(pendulum, vary, said) -> None:
    with pytest.raises(svyaz.ModelError, match=said):
        pendulum.explore(vary)


def test_P3_a_moved_slider_gives_the_motion_of_the_new_values(pendulum) -> None:
    explorer = pendulum.explore({"l": (0.5, 3), "initial.u": (-3, 3)})
    explorer.move(**{"l": 0.75, "initial.u": 2.0})
    assert explorer.system.parameters["half"] == 0.375
    found = solve_ivp(lambda _, x: [x[1], -9.81 / 0.75 * np.sin(x[0])], (0, 2), [2.0, 0.25], rtol=1e-10, atol=1e-10)
    assert explorer.motion["u"][-1] == pytest.approx(found.y[0, -1], abs=1e-7)
    assert explorer.motion["u"][0] == 2.0


def test_P3_the_page_asks_and_is_answered(pendulum, monkeypatch) -> None:
    explorer = pendulum.explore({"l": (0.5, 3), "m": (1, 2)}, "u")
    sent: list[dict] = []
    monkeypatch.setattr(explorer, "send", sent.append)
    explorer._hear(explorer, {"values": {"l": 1.0, "foreign": 7.0}, "moved": "l"}, [])
    (message,) = sent
    assert message["values"] == {"l": 1.0, "m": 1.0}
    answer = json.loads(json.dumps(message["answer"], allow_nan=False))
    assert answer["trouble"] == ""
    (link,) = answer["scene"]["items"]
    packed = np.frombuffer(base64.b64decode(link["points"]), "<i2").reshape(FRAMES, 2, 2)
    ends = np.array(answer["scene"]["centre"]) + answer["scene"]["half"] * packed[:, 1] / 32767
    u = explorer.motion["u"]
    assert np.allclose(ends, np.column_stack([np.sin(u), -np.cos(u)]), atol=1e-3)
    assert np.allclose(answer["curves"][0]["lines"]["u"]["up"], u, atol=1e-4)
    explorer._hear(explorer, {"values": {"l": 1e9}, "moved": "l"}, [])
    assert explorer.system.parameters["l"] == 3.0  # the end of the slider
    explorer._hear(explorer, {"kind": "nonsense"}, [])
    assert len(sent) == 2


def test_P3_what_is_dragged_stays_and_the_rest_moves_onto_the_constraints(rod) -> None:
    explorer = rod.explore({"l": (0.5, 2), "initial.x": (-2, 2)}, until=0.5)
    explorer.move(**{"initial.x": 0.5})
    start = dict(zip(explorer.motion.state_names, explorer.motion.states[0], strict=True))
    length = explorer.system.parameters["l"]
    assert start["x"] == 0.5
    assert np.hypot(start["x"], start["y"]) == pytest.approx(length, abs=1e-9)
    explorer.move(**{"initial.x": 2.0})
    assert explorer.motion.status == "infeasible"
    assert "no position near the given one" in explorer._asked.record(explorer._found)["trouble"]


def test_P3_values_that_make_no_model_are_told_and_nothing_breaks() -> None:
    ball = svyaz.load("bouncing-ball")
    asked = exploration(ball, {"e": (0, 2)}, "", {"until": 0.2})
    found = asked.at({"e": 1.5})
    assert found.motion is None
    assert "restitution lies between 0 and 1" in asked.record(found)["trouble"]


def test_P3_where_nothing_runs_the_sliders_are_a_table_beside_a_player(pendulum) -> None:
    bundle, _ = pendulum.explore(["l"])._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "<td>l</td>" in bundle["text/html"].replace(' style="text-align:left"', "")
    assert "<iframe srcdoc=" in bundle["text/html"]


def test_P3_a_bar_appears_in_notebooks_where_a_run_takes_long(pendulum, monkeypatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(bars, "in_notebook", lambda: True)
    monkeypatch.setattr(bars, "PATIENCE", -1.0)
    monkeypatch.setattr(bars, "PAUSE", 0.0)
    monkeypatch.setattr(bars.Bar, "_draw", lambda self, html: (setattr(self, "_handle", 1), shown.append(html)))
    pendulum.simulate(until=3)
    assert shown[-1] == ""
    assert all('max="3"' in html for html in shown[:-1])
    assert shown[:-1]
    shown.clear()
    pendulum.sweep({"l": [1.0, 2.0]}, ["final.u"], workers=1, until=0.1)
    assert "motions: 2 of 2" in shown[-2]
    shown.clear()
    told: list[float] = []
    pendulum.simulate(until=3, progress=told.append)
    assert told
    assert not shown


def test_P3_no_bar_outside_of_notebooks() -> None:
    assert not bars.in_notebook()


BESIDE = """<!DOCTYPE html><meta charset="utf-8"><div id="here" style="width:900px"></div>
<script type="application/json" id="state">{state}</script>
<script type="module">
const state = JSON.parse(document.getElementById("state").textContent);
window.sent = [];
const hearers = [];
const model = {{
  get: (name) => state[name],
  set: (name, value) => {{ state[name] = value; }},
  send: (message) => window.sent.push(message),
  on: (name, hear) => hearers.push(hear),
  off: () => {{}},
}};
window.reply = (answer) => hearers.forEach((hear) => hear({{ kind: "answer", values: window.sent.at(-1).values, answer }}));
const widget = await import(URL.createObjectURL(new Blob([state._esm], {{ type: "text/javascript" }})));
widget.default.render({{ model, el: document.getElementById("here") }});
window.ready = true;
</script>"""


@pytest.mark.skipif(executable() is None, reason="no Chromium on this machine: the sliders cannot be looked at")
def test_P3_the_page_draws_answers_and_sends_only_the_newest_move(pendulum, tmp_path) -> None:
    explorer = pendulum.explore({"l": (0.5, 3), "initial.u": (-3, 3)}, "u, u' over u", until=1)
    state = {name: getattr(explorer, name) for name in ("sliders", "given", "player", "answer", "_esm")}
    page = tmp_path / "page.html"
    page.write_text(BESIDE.format(state=json.dumps(state).replace("<", "\\u003c")), encoding="utf-8")
    shaded = (
        "((c) => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v, k) => k % 4 === 3 && v > 0))"
    )
    moved = "((i) => { i.value = %s; i.dispatchEvent(new Event('input')); })(document.querySelector('[aria-label=l]'))"
    with Browser(tmp_path / "profile") as browser:
        tab = browser.open(page.as_uri())
        tab.wait("window.ready")
        for panel in (".player canvas", ".curves", ".curves ~ .curves"):
            assert tab.run(f"{shaded}(document.querySelector('{panel}'))"), panel
        for value in (1.0, 1.5, 2.0, 2.5):
            tab.run(moved % value)
        assert tab.run("window.sent.map((m) => [m.values.l, m.moved])") == [[1.0, "l"]]
        before = tab.run("document.querySelector('.curves').toDataURL()")
        tab.run(f"window.reply({json.dumps(explorer._asked.record(explorer._asked.at({'l': 1.0})))})")
        assert tab.run("window.sent.map((m) => m.values.l)") == [1.0, 2.5]
        assert tab.run("document.querySelector('.curves').toDataURL()") != before
        tab.run("window.reply({ trouble: 'no such thing <b>', seconds: 0 })")
        assert tab.run("document.querySelector('.trouble').textContent") == "no such thing <b>"
        assert tab.run("document.querySelector('.svyaz-explore').dataset.answers") == "2"
