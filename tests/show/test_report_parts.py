"""A report says what was given before what follows, in forms that can be read; also as a notebook and as a PDF."""

from __future__ import annotations

import json
import re
import shutil
from datetime import datetime

import pytest
import symengine as se

import svyaz
from svyaz.expr import to_latex
from svyaz.show import NoBrowser, write_notebook, write_pdf
from svyaz.show.follows import equations_part
from svyaz.show.formulas import LONG_PART, breakable, in_parts
from svyaz.show.report_forms import BROWSERS


@pytest.fixture(scope="module")
def motion():
    words = {**svyaz.load("sleigh").words, "units": {"m": "kg", "a": "m", "g": "m/s^2", "x": "m", "y": "m"}}
    return svyaz.System(**words).simulate(until=0.2)


@pytest.fixture(scope="module")
def page(motion, tmp_path_factory):
    return svyaz.write_report(motion, tmp_path_factory.mktemp("report"))


def test_what_was_given_comes_before_what_follows(page) -> None:
    text = page.read_text(encoding="utf-8")
    heads = re.findall(r"<h2>(.*?)</h2>", text)
    assert heads[-5:] == ["What was given", "Equations", "How it was computed", "The motion", "How far to trust it"]
    given = text[text.index("<h2>What was given") : text.index("<h2>Equations")]
    for words in (
        "A body on a blade and two smooth supports",  # notes
        "blade: on velocities",
        "Kaspirovich: candidate dissertation",
        "<td>published</td>",
        "<td>kg</td>",
        f"by svyaz {svyaz.__version__}",
        datetime.now().astimezone().strftime("%Y-%m-%d"),
    ):
        assert words in given
    assert text.index("<canvas") < text.index("<h2>What was given")


def test_every_number_at_the_top_is_explained(page) -> None:
    cards = re.findall(r'<div class="card"( title="[^"]+")?><dt>', page.read_text(encoding="utf-8"))
    assert len(cards) == 5
    assert all(cards)


def test_a_tree_is_shown_in_matrix_form_with_counts() -> None:
    short = equations_part(svyaz.load("planar-2r").simulate(until=0.1))
    assert "M is 2 × 2" in short
    assert short.count('class="formula"') > 4, "entries of M and b"
    assert re.search(r"Operations of the step part: \d+ add, \d+ mul", short)
    long = equations_part(svyaz.load("puma-560").simulate(until=0.01))
    assert "M is 6 × 6" in long
    assert "<details><summary>The sequence</summary>" in long


def test_long_parts_get_names_and_nothing_is_lost() -> None:
    x, y, z = se.symbols("x y z")
    inner = sum(k * x**k * y for k in range(1, 9))
    line = (x / inner**2 + se.sin(inner), z)
    written = in_parts([line], {"s1"})
    assert [str(name) for name, _ in written.parts] == ["s2"], "s1 is taken"
    back = dict(written.parts)
    assert written.lines[0][0].xreplace(back) == line[0]
    nested = (x / (inner + z * sum(y**k for k in range(1, 12))) ** 2, z)
    written = in_parts([nested], ())
    whole = written.lines[0][0]
    for name, e in reversed(written.parts):
        whole = whole.xreplace({name: e})
    assert whole == nested[0]
    assert LONG_PART >= 10


def test_lines_may_end_between_factors() -> None:
    assert breakable(r"a \, b") == r"a \,\allowbreak  b"
    assert breakable(r"\left(a \, b\right) c") == r"\left(a \, b\right)\allowbreak  c"
    assert breakable(r"\frac{a \, b}{c}") == r"\frac{a \, b}{c}"


def test_names_of_several_letters_keep_apart() -> None:
    mass, length = se.symbols("mr Lr")
    assert to_latex(mass * length) in (r"L_{r} \, \mathrm{mr}", r"\mathrm{mr} \, L_{r}", r"\mathrm{Lr} \, \mathrm{mr}")


def test_a_model_without_drawings_says_why_nothing_moves(tmp_path) -> None:
    motion = svyaz.System(states=["x"], rates={"x": "-x"}, initial={"x": 1}).simulate(until=1)
    assert "nothing of what it looks like" in svyaz.write_report(motion, tmp_path).read_text(encoding="utf-8")


def test_the_notebook_contains_its_model_and_runs(motion, tmp_path) -> None:
    file = write_notebook(motion, tmp_path / "report.ipynb", {"until": 0.2, "method": None})
    book = json.loads(file.read_text(encoding="utf-8"))
    assert (book["nbformat"], len(book["cells"])) == (4, 6)
    source = "\n".join("".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code")
    names: dict[str, object] = {}
    exec(source, names)
    assert (names["motion"].states == motion.states).all()
    shown = ["".join(out["data"]["text/html"]) for cell in book["cells"] for out in cell.get("outputs", ())]
    assert any("<math" in html for html in shown)


def test_the_pdf_is_printed_by_a_browser(page, tmp_path) -> None:
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("no browser on this machine")
    printed = write_pdf(page, tmp_path / "report.pdf").read_bytes()
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 2


def test_without_a_browser_a_word_is_said(page, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoBrowser, match=r"none is installed: open .*report\.html and print it"):
        write_pdf(page, tmp_path / "report.pdf")
