"""How names are shown."""

from __future__ import annotations

import pytest

from svyaz.expr.names import NameParts, latex_name, natural_key, split_name, superscript, unicode_name


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("x", ("x", "", 0)),
        ("psi1''", ("psi", "1", 2)),
        ("u12'", ("u", "12", 1)),
        ("m_cart", ("m", "cart", 0)),
        ("theta_1_2", ("theta", "1,2", 0)),
        ("L1_x", ("L", "1,x", 0)),
        ("La", ("L", "a", 0)),
        ("Xi", ("Xi", "", 0)),
        ("incline", ("incline", "", 0)),
        ("_a", ("_a", "", 0)),
        ("m_", ("m", "", 0)),
    ],
)
def test_names_are_taken_apart(name: str, parts: tuple[str, str, int]) -> None:
    assert split_name(name) == NameParts(*parts)


@pytest.mark.parametrize(
    ("name", "latex", "shown"),
    [
        ("x", "x", "x"),
        ("u1", "u_{1}", "u₁"),
        ("u1'", r"\dot{u}_{1}", "u̇₁"),
        ("u10''", r"\ddot{u}_{10}", "ü₁₀"),
        ("theta", r"\theta", "θ"),
        ("psi2'", r"\dot{\psi}_{2}", "ψ̇₂"),
        ("Omega", r"\Omega", "Ω"),
        ("Alpha", r"\mathrm{A}", "Α"),
        ("θ1", r"\theta_{1}", "θ₁"),
        ("m_cart", r"m_{\mathrm{cart}}", "m_cart"),
        ("incline", r"\mathrm{incline}", "incline"),
        ("incline'", r"\dot{\mathrm{incline}}", "incline′"),
        ("theta_1_2", r"\theta_{1,2}", "θ₁,₂"),
        ("La", "L_{a}", "Lₐ"),
        ("k_alpha", r"k_{\alpha}", "k_alpha"),
        ("_a", r"\mathrm{\_a}", "_a"),
        ("скорость", r"\text{скорость}", "скорость"),
    ],
)
def test_names_in_latex_and_unicode(name: str, latex: str, shown: str) -> None:
    assert latex_name(name) == latex
    assert unicode_name(name) == shown


def test_numbers_in_names_are_ordered_as_numbers() -> None:
    names = ["u10", "u2", "B1", "a", "u1", "U1"]
    assert sorted(names, key=natural_key) == ["a", "B1", "U1", "u1", "u2", "u10"]
    assert superscript(-12) == "⁻¹²"
