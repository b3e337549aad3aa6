"""Figures of the sources are data; each is drawn from runs that say the same as the source's captions and texts."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz.motion import along
from svyaz_published.measures import SLEIGH_HEADING
from svyaz_published.numbers import gallery_model
from svyaz_published.pictures import draw, lines_over, motion_of, pictures_of
from svyaz_published.rows import _entries, subjects
from svyaz_published.schemes import placed

PICTURES = {picture.name: picture for picture in pictures_of(_entries("figure"))}


def runs(name: str) -> list:
    return [motion_of(PICTURES[name], run) for run in PICTURES[name].runs]


def test_K7_every_figure_that_was_asked_for_is_stated() -> None:
    asked = {f"000-{k}" for k in (1, 2, 3, 4, 6, 7, 9, 10, 11, 12, 13, 14, 16, 17, 18)}
    schemes = {"003-3.1", "003-3.1-OC", "003-3.3"}
    assert asked | schemes | {"004-3", "004-3-hooked"} <= PICTURES.keys()
    assert {picture.model for picture in PICTURES.values()} <= set(subjects())


def test_K7_the_sleigh_settles_at_one_heading_in_both_forms() -> None:
    multipliers, chaplygin = runs("000-2")
    assert [multipliers.form, chaplygin.form] == ["multipliers", "chaplygin"]
    for motion in (multipliers, chaplygin):
        heading = motion.column("phi")[motion.times >= 6]
        assert np.ptp(heading) < 1e-3
        assert heading[0] == pytest.approx(SLEIGH_HEADING, abs=2e-2)


def test_K7_the_cart_keeps_to_its_path_only_when_stabilised() -> None:
    free, held = (np.abs(along(motion, "y - (h + delta)*sin(k*x)")) for motion in runs("000-6"))
    assert free.max() > 0.5 > 4 * held.max()


def test_K7_the_inverse_construction_runs_on_its_circle() -> None:
    (motion,) = runs("000-11")
    for name, exact in (("x", np.sin), ("y", lambda t: -np.cos(t)), ("phi", lambda t: t)):
        assert motion.column(name) == pytest.approx(exact(motion.times), abs=2.5e-2)


def test_K7_deviations_from_the_first_integrals_tend_to_zero() -> None:
    (text,) = PICTURES["000-18"].show
    *held, free = (along(motion, text) for motion in runs("000-18"))
    for size in held:
        assert size[-1] == pytest.approx(size[0] * np.exp(-5), rel=0.05)  # the slow mode, k1 = 1
    assert free[-1] == pytest.approx(0.150, abs=5e-4)


def test_K7_the_deviation_of_the_heading_over_the_gain() -> None:
    """By an independent recomputation: errors of the heading, the least of them near k = -2, and loss towards k = 2."""
    picture = PICTURES["000-4"]
    lines = lines_over(picture, picture.over, dict(zip(("chaplygin", "accurate"), runs("000-4"), strict=True)))
    k, error = lines["accurate"]
    for gain, expected in ((0, 5.58e-3), (-10, 4.7e-4), (-46, 4.27e-4), (-1000, 3.8e-4)):
        assert np.interp(-gain, -k, error) == pytest.approx(expected, rel=0.02)
    assert -3 < k[np.nanargmin(error)] < -2
    assert np.isfinite(error[k < 1.8]).all()
    assert error[k > 1.7].max() > 1
    against = lines["chaplygin"][1]
    assert against[np.abs(k + 46) < 5] == pytest.approx(9.5e-3, rel=0.02)


def test_K7_the_largest_deviation_falls_with_the_gain_until_it_settles() -> None:
    picture = PICTURES["000-7"]
    ((k1, deviation),) = lines_over(picture, picture.over, {}).values()
    assert np.isfinite(deviation).all()
    for k, expected, tolerance in (
        (-1, 9.6e-2, 0.05),
        (-10, 2.5e-2, 0.05),
        (-100, 1.1e-2, 0.02),
        (-1990, 1.1e-2, 0.04),
    ):
        found = np.interp(np.log(-k), np.log(-k1), deviation)
        assert found == pytest.approx(expected, rel=tolerance)


def test_K7_the_sling_is_followed_by_fehlberg_s_method() -> None:
    """Released and hooked, against the closed form of the equations by SciPy."""
    L, m = np.array([1, 1, 3, 1, 1.0]), np.array([1, 10, 10, 1, 1.0])
    carried = np.array([[m[max(i, j) :].sum() * L[i] * L[j] for j in range(5)] for i in range(5)])

    def rates(_, x):
        u, w = x[:5], x[5:]
        difference = u[:, None] - u
        bias = (carried * np.sin(difference)) @ w**2 + 9.81 * np.array([m[i:].sum() for i in range(5)]) * L * np.sin(u)
        return np.concatenate([w, -np.linalg.solve(carried * np.cos(difference), bias)])

    (released,), (hooked,) = runs("004-3"), runs("004-3-hooked")
    assert released.method == hooked.method == "rkf45"
    exact = solve_ivp(
        rates, (0, 1), released.states[0], method="DOP853", rtol=1e-10, atol=1e-10, t_eval=[0.25, 0.5, 0.75, 1]
    )
    rows = np.searchsorted(released.times, exact.t - 1e-9)
    assert released.states[rows] == pytest.approx(exact.y.T, abs=2e-4)
    assert max(np.abs(hooked.column(f"residual hook {axis}")).max() for axis in "xy") < 1e-4
    # the pull of the hook holds half of the weight of the load, and moves with the loop
    assert np.mean(hooked.multipliers["hook y"]) == pytest.approx(9.81 * 23 / 2, rel=0.1)


def test_K7_schemes_show_the_stand_where_the_rod_can_be() -> None:
    """(3.1.1) at the positions of 3.1 and 3.3; at the largest inclination the rod lies along the radius (alpha_max printed)."""
    for name in ("003-3.1", "003-3.1-OC", "003-3.3"):
        picture = PICTURES[name]
        position, marks = placed(gallery_model(picture.model, picture.choices), picture.scheme)
        alpha, theta = position.state["alpha"], position.state["theta"]
        L, rod_length, d = 0.425, 0.12, 0.06
        rod = (L * (np.cos(alpha) - 1) + d * (1 - np.cos(theta))) ** 2 + (
            L * np.sin(alpha) + rod_length - d * np.sin(theta)
        ) ** 2
        assert rod == pytest.approx(rod_length**2, abs=1e-12)
        assert all(np.isfinite(point.at).all() for point in marks.points)
    assert alpha == pytest.approx(0.119698, abs=1e-6)
    A, B, centre = np.array([L * np.cos(alpha), L * np.sin(alpha)]), marks.points[2].at, np.array([L - d, -rod_length])
    assert np.linalg.norm(A - centre) == pytest.approx(rod_length + d, abs=1e-12)
    assert np.linalg.norm(B - centre) == pytest.approx(d, abs=1e-12)


def test_K7_the_distance_to_the_centre_gives_the_same_motion() -> None:
    contact, centre = runs("003-OC")
    assert centre.system.coordinates[0] == "s"
    r = np.sqrt(centre.column("s") ** 2 - 0.0254**2)
    assert r == pytest.approx(contact.column("r"), abs=1e-8)
    assert centre.multipliers["rod"] == pytest.approx(contact.multipliers["rod"], rel=1e-5)


def test_a_figure_has_its_numbers_beside_it(tmp_path) -> None:
    picture, numbers = draw(PICTURES["000-sleigh-held"], tmp_path)
    assert picture.read_bytes().startswith(b"\x89PNG")
    with numbers.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["run"] for row in rows} == {"k = 0", "k = -46", "k = -1000"}
    largest = max(abs(float(row["residual blade"])) for row in rows if row["run"] == "k = -46")
    assert largest == pytest.approx(1.980143e-3, rel=1e-6)
    assert all(np.isfinite(float(row["multiplier blade"])) for row in rows)


def test_figures_are_listed_in_the_json(svyaz, tmp_path) -> None:
    done = svyaz("reproduce", "rocket-path", "--out", str(tmp_path), "--json", "-")
    assert done.returncode == 0, done.stderr
    written = {path.split("/")[-1] for path in json.loads(done.stdout)["figures"]}
    assert written == {"001-rocket.png", "001-rocket.csv"}
