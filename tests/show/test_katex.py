"""Formulas become HTML by the real KaTeX, without network, with mistakes reported."""

from __future__ import annotations

import re
import threading
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

import pytest

from svyaz.show import katex

FORMULAS = (
    r"M \ddot q + b = G^{\mathsf T} \lambda",
    r"\frac{d}{dt}\frac{\partial L}{\partial \dot\theta_{1}} - \frac{\partial L}{\partial \theta_{1}} = 0",
    r"\begin{aligned} \dot x &= v \cos\varphi \\ \dot y &= v \sin\varphi \end{aligned}",
    r"\begin{pmatrix} m_1 + m_2 & L_1 \cos\left(u_1 - u_2\right) \\ 0 & \sqrt{x^{2} + y^{2}} \end{pmatrix}",
    r"\lambda_{\text{blade}} = -\frac{T}{2\,l}, \qquad \operatorname{atan2}\left(y, x\right)",
)


@pytest.mark.parametrize("latex", FORMULAS)
@pytest.mark.parametrize("display", [True, False])
def test_S9_formulas_render(latex: str, display: bool) -> None:
    html = katex.render(latex, display)
    assert 'class="katex-html"' in html
    assert 'class="base"' in html  # which style sheets of pages name
    assert ("katex-display" in html) is display
    ElementTree.fromstring(html.replace("&nbsp;", " "))  # well formed


def test_the_mathml_inside_says_what_was_written() -> None:
    root = ElementTree.fromstring(katex.render(r"\frac{g}{l}"))
    fraction = root.find(".//{http://www.w3.org/1998/Math/MathML}mfrac")
    assert fraction is not None
    assert [part.text for part in fraction] == ["g", "l"]


@pytest.mark.parametrize("latex", [r"\frac{1}{", r"\nosuchcommand", r"x^^2", "{" * 20000, r"\def\a{\a\a}\a"])
def test_mistakes_are_reported(latex: str) -> None:
    with pytest.raises(katex.LatexError):
        katex.render(latex)
    assert "katex" in katex.render("x")  # and the engine is alive afterwards


def test_text_of_a_formula_cannot_become_markup() -> None:
    html = katex.render(r"\text{<script>alert(1)</script>} \href{javascript:alert(1)}{x}")
    assert "<script" not in html
    assert 'href="javascript' not in html


def test_threads_have_engines_of_their_own() -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda k=k: found.append(katex.render(f"x_{{{k}}}"))) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3


def test_styles_carry_their_fonts_and_are_of_the_same_version() -> None:
    css = katex.stylesheet()
    families = set(re.findall(r"@font-face\{[^}]*font-family:(\w+)", css))
    assert {"KaTeX_Main", "KaTeX_Math", "KaTeX_AMS", "KaTeX_Size1", "KaTeX_Size4"} <= families
    addresses = re.findall(r"url\(([^)]{0,30})", css)
    assert addresses
    assert all(address.startswith("data:font/woff2;base64,") for address in addresses)
    assert f'"{katex.version()}"' in css
    assert css.count("{") == css.count("}")


def test_what_is_carried_of_katex_is_its_release_unchanged(root: Path) -> None:
    """Checksums of all files, and of no others; the version stated there is that of the script; the licence is there."""
    folder = root / "src" / "svyaz" / "show" / "assets" / "katex"
    head, *lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    stated = {name: digest for digest, name in (line.split("  ") for line in lines)}
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "SHA256SUMS"]
    assert {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files} == stated
    assert re.fullmatch(rf"# katex {re.escape(katex.version())} of the npm registry, sha512-[\w+/]{{86}}==", head)
    assert "MIT License" in (folder / "LICENSE").read_text(encoding="utf-8")


def test_P6_without_katex_browsers_set_the_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    """MathML of a formula: the fraction has numerator and denominator, a mistake is a LatexError, no styles are needed."""
    monkeypatch.setattr(katex, "is_installed", lambda: False)
    katex.render.cache_clear()
    shown = katex.render(r"\ddot{u} = \frac{g}{l} \sin u")
    katex.render.cache_clear()
    assert "<mfrac><mrow><mi>g</mi></mrow><mrow><mi>l</mi></mrow></mfrac>" in shown
    assert shown.startswith("<math")
    assert "MathML" in katex.setter()
    with pytest.raises(katex.LatexError):
        katex.render(r"\left( g")
    katex.render.cache_clear()
