"""The plane of the gains: its stable region against conditions derived by hand, and what stands in the picture."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import gallery, loads
from svyaz.integrate import method
from svyaz.motion import check
from svyaz.show.gain_plane import draw_gain_plane, gain_plane, gains_shown, growth
from svyaz.stabilise.verdicts import Discretisation


def scheme(name: str, step: float) -> Discretisation:
    tableau = method(name)
    return Discretisation(name, tableau.order, *tableau.stability_fraction(), step)


def test_region_of_euler_is_the_triangle_of_the_jury_conditions() -> None:
    """z² - (2 - ατ) z + (1 - ατ + βτ²) has its roots inside the circle iff βτ < α and 4 - 2ατ + βτ² > 0, β > 0."""
    tau, random = 0.01, np.random.default_rng(3)
    alpha, beta = random.uniform(0, 500, 4000), random.uniform(0, 5e4, 4000)
    inside = (beta * tau < alpha) & (4 - 2 * alpha * tau + beta * tau**2 > 0)
    assert np.array_equal(growth(scheme("euler", tau), alpha, beta) < 1, inside)


@pytest.mark.parametrize("name", ["euler", "rk2", "rk4", "dopri5"])
def test_on_the_parabola_the_factor_is_that_of_one_root(name) -> None:
    kappa = np.array([0.5, 10.0, 90.0])
    polynomial = scheme(name, 0.01)
    expected = np.abs(np.polynomial.polynomial.polyval(-0.01 * kappa, polynomial.numerator))
    assert growth(polynomial, 2 * kappa, kappa**2) == pytest.approx(expected, rel=1e-12)


def test_present_gains_come_from_values_or_from_roots() -> None:
    assert gains_shown({"A": [[-100.0]], "B": [[-20.0]]}) == ((20.0, 100.0), None)
    assert gains_shown({"E": [[-7.0]]}) == (None, 7.0)
    assert gains_shown({}, [-3 + 4j, -3 - 4j]) == ((6.0, 25.0), None)
    assert gains_shown({}, [complex(-5.0)]) == (None, 5.0)
    assert gains_shown({}) == (None, None)


@pytest.mark.parametrize("name", ["euler", "rk4", "radau"])
def test_plane_shows_the_present_gains_and_their_verdict(name) -> None:
    figure = gain_plane(scheme(name, 0.01), {"A": [[-100.0]], "B": [[-20.0]]})
    axes = figure.axes[0]
    star = next(line for line in axes.get_lines() if line.get_marker() == "*")
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (20.0, 100.0)
    assert "stable" in star.get_label()
    assert "un" not in star.get_label()
    low, high = axes.get_xlim()
    assert low < 0 < 20 < high


def test_unstable_gains_are_drawn_within_the_plane() -> None:
    figure = gain_plane(scheme("euler", 0.01), {"A": [[-4e5]], "B": [[-900.0]]})
    axes = figure.axes[0]
    assert axes.get_ylim()[1] > 4e5
    assert any("unstable" in str(line.get_label()) for line in axes.get_lines())


def test_first_order_gains_have_a_line() -> None:
    figure = gain_plane(scheme("euler", 0.001), {"E": [[-2100.0]]})
    axes = figure.axes[0]
    assert len(figure.axes) == 1
    star = next(line for line in axes.get_lines() if line.get_marker() == "*")
    assert star.get_ydata()[0] == pytest.approx(1.1)
    assert "2000" in "".join(text.get_text() for text in axes.get_legend().get_texts())


def test_file_must_be_a_picture(tmp_path) -> None:
    system = loads(gallery.find("sleigh", {}))
    gains = check(system, method="rk4", step=0.01, stabilize=7.0).gains
    with pytest.raises(ValueError, match=r"\.png"):
        draw_gain_plane(scheme("rk4", 0.01), gains, tmp_path / "plane.docx")
    assert draw_gain_plane(scheme("rk4", 0.01), gains, tmp_path / "plane.svg").stat().st_size > 1000
