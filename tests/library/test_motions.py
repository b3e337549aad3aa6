"""Motions from Python: columns, any moment of time, tables, files, pictures."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import svyaz


@pytest.fixture(scope="module")
def motion() -> svyaz.Motion:
    return svyaz.load("pendulum:1").simulate(until=3.0, every=0.5, rtol=1e-10)


def test_P1_columns_and_any_moment(motion) -> None:
    u, v = motion.states[0]
    exact = solve_ivp(
        lambda _, x: [x[1], -9.81 * np.sin(x[0])], (0, 3), [u, v], "DOP853", rtol=1e-12, atol=1e-13, dense_output=True
    ).sol
    assert (motion["u1"] == motion.states[:, 0]).all()
    moments = np.array([0.11, 2.9, 1.234])
    assert np.abs(motion.at(moments) - exact(moments).T).max() < 1e-8
    assert motion.at(1.5).shape == (2,)
    assert np.abs(motion.at(1.5) - exact(1.5)).max() < 1e-8
    finer = motion.resampled(np.linspace(0, 3, 31))
    assert isinstance(finer, svyaz.Motion)
    assert finer.energy is not None
    assert np.ptp(finer.energy) < 1e-8
    with pytest.raises(ValueError, match="lasts from t = 0 to t = 3"):
        motion.at(3.1)
    with pytest.raises(KeyError, match="no column 'z'"):
        motion["z"]


def test_a_moment_of_an_event_is_the_state_after_it() -> None:
    motion = svyaz.load("biped").simulate()
    event = next(e for e in motion.phases if any(e.velocity_jump.values()))
    _, after = np.flatnonzero(motion.times == event.t)
    assert np.abs(motion.at(event.t) - motion.states[after]).max() < 1e-9


def test_P1_tables_and_files(motion, tmp_path) -> None:
    table = motion.to_pandas()
    assert table.index.name == "t"
    assert (table["u1'"].to_numpy() == motion["u1'"]).all()
    kept = svyaz.load_motion(motion.save(tmp_path / "motion.npz"))
    assert isinstance(kept, svyaz.Motion)
    assert (kept.states == motion.states).all()
    assert kept.system == motion.system
    assert kept.status == motion.status
    assert {name: values.tolist() for name, values in kept.integrals.items()} == {
        name: values.tolist() for name, values in motion.integrals.items()
    }
    with pytest.raises(ValueError, match="cannot be run once more"):
        kept.at(0.3)


def test_a_motion_with_phases_is_kept(tmp_path) -> None:
    motion = svyaz.load("sling").simulate()
    kept = svyaz.load_motion(motion.save(tmp_path / "sling.npz"))
    assert kept.phases == motion.phases
    assert np.array_equal(kept.states, motion.states)


def test_pictures_show_themselves(motion, tmp_path) -> None:
    picture = motion.plot("u1", "u1'", file=tmp_path / "u.svg")
    assert (tmp_path / "u.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert picture._repr_png_().startswith(b"\x89PNG")
    player = motion.animate()
    assert "<iframe srcdoc=" in player._repr_html_()
    assert repr(motion) == "<Motion of 'pendulum of 1 link' by dop853: finished, t = 0 … 3, 7 rows>"
    with pytest.raises(KeyError, match="no column 'nothing'"):
        motion.plot("nothing")


def test_P1_a_sweep_as_a_table() -> None:
    found = svyaz.load("pendulum:1").sweep({"L1": [0.5, 1.0]}, ["final.u1"], until=0.5, workers=1)
    table = found.to_pandas()
    assert table["L1"].tolist() == [0.5, 1.0]
    assert table["status"].tolist() == ["finished"] * 2
    assert (table["final.u1"].to_numpy() == found.column("final.u1")).all()
