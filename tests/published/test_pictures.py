"""Figures of the sources are data; each is drawn from runs that say the same as the source's captions and texts."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from svyaz.motion import along
from svyaz_published.measures import SLEIGH_HEADING
from svyaz_published.pictures import draw, motion_of, pictures_of
from svyaz_published.rows import _entries, subjects

PICTURES = {picture.name: picture for picture in pictures_of(_entries("figure"))}


def runs(name: str) -> list:
    return [motion_of(PICTURES[name], run) for run in PICTURES[name].runs]


def test_K7_every_figure_that_was_asked_for_is_stated() -> None:
    asked = {f"000-{k}" for k in (1, 2, 3, 6, 9, 10, 11, 12, 13, 14, 16, 17, 18)}
    assert asked <= PICTURES.keys()
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
    done = svyaz("reproduce", "inverse-cart", "--out", str(tmp_path), "--json", "-")
    assert done.returncode == 0, done.stderr
    written = json.loads(done.stdout)["figures"]
    assert {f"000-{k}.{kind}" for k in (11, 12, 13, 14) for kind in ("png", "csv")} == {
        p.split("/")[-1] for p in written
    }
