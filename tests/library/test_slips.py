"""Slips of the first hour from Python: each is answered in words that help."""

from __future__ import annotations

import pytest

import svyaz


@pytest.fixture(scope="module")
def pendulum() -> svyaz.System:
    return svyaz.load("pendulum:1")


def test_P2_a_state_that_is_too_short_is_refused_where_rates_are_asked(pendulum) -> None:
    f = pendulum.derive().function()
    with pytest.raises(svyaz.ModelError, match=r"x has 2 entries \(u1, u1'\)"):
        f(0.0, [0.1])
    assert f.mass_matrix([0.1]).shape == (1, 1)  # coordinates are enough for it


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        (lambda p: p.with_(l1=2), "did you mean 'L1'"),
        (lambda p: p.explore({"L": (1, 2)}), "did you mean 'L1'"),
        (lambda p: p.simulate(until=0.1)["u"], "did you mean 'u1'"),
        (lambda p: p.simulate(until=0.1)["zeta"], "there are t, u1, u1'"),
    ],
)
def test_P2_slips_in_names_are_told_with_what_was_meant(pendulum, slip, said) -> None:
    with pytest.raises((svyaz.ModelError, KeyError), match=said):
        slip(pendulum)


def test_P2_a_closed_loop_shows_itself_in_a_line() -> None:
    loop = svyaz.load("inverted-pendulum-xy").regulate().loop()
    assert repr(loop) == "<ClosedLoop of 'inverted pendulum in Cartesian coordinates' under u: 5 states>"
    assert "<td>y</td>" in loop._repr_html_()
