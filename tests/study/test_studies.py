"""Studies as folders: read by others while they run, killed and resumed, grown by values and measures, merged."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import svyaz
from svyaz.expr import ModelError
from svyaz.study import merge, sweep
from svyaz.study.layout import MEMBERS, chunks_for, grown, layout_of

xarray = pytest.importorskip("xarray")
pytest.importorskip("zarr")

RUN: dict[str, Any] = {"method": "rk4", "step": 0.01, "until": 0.05, "workers": 1}
VARY = {"L1": np.linspace(1.0, 2.0, 60), "initial.u1": np.linspace(0.1, 1.0, 100)}
MEASURES = ["final", "drift"]


@pytest.fixture(scope="module")
def pendulum() -> svyaz.System:
    return svyaz.load("pendulum:1")


@pytest.fixture(scope="module")
def whole(pendulum, tmp_path_factory) -> Path:
    """A study of 6 000 members in two chunks, done without interruption."""
    folder = tmp_path_factory.mktemp("whole") / "study.zarr"
    sweep(pendulum, VARY, MEASURES, keep=folder, **RUN)
    return folder


def read(folder: Path) -> Any:
    """A study as xarray reads it, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return xarray.open_zarr(folder).load()


def same(one: Any, other: Any) -> bool:
    """All numbers to the last bit, not-a-numbers too."""
    return set(one.variables) == set(other.variables) and all(
        one[name].values.tobytes() == other[name].values.tobytes() for name in one.variables if name != "reason"
    )


def test_L7_xarray_reads_a_study_whose_columns_are_those_of_the_result(pendulum, whole) -> None:
    found, here = read(whole), sweep(pendulum, VARY, MEASURES, **RUN)
    assert found["final.u1"].dims == ("L1", "initial.u1")
    for name, values in VARY.items():
        assert found[name].values.tobytes() == values.tobytes()
    for name in here.measures:
        assert found[name].values.tobytes() == here.grid(name).tobytes()
    meanings = found["status"].attrs["flag_meanings"].split()
    assert {meanings[k] for k in np.unique(found["status"])} == {"finished"}
    alone = pendulum.with_settings({"L1": VARY["L1"][7], "initial.u1": VARY["initial.u1"][42]})
    motion = svyaz.simulate(alone, method="rk4", step=0.01, until=0.05)
    assert found["final.u1"].values[7, 42] == motion.states[-1, 0]


def test_L7_a_study_can_be_read_while_it_runs(pendulum, tmp_path) -> None:
    """What is not done yet is not a number, and its status says so."""
    folder, seen = tmp_path / "study.zarr", []

    def look(done: int, total: int) -> None:
        if 4000 < done < total and not seen:
            seen.append(read(folder))

    sweep(pendulum, VARY, MEASURES, keep=folder, progress=look, **RUN)
    (found,) = seen
    done = found["status"].values > 0
    assert 0 < done.sum() < done.size
    assert np.isfinite(found["final.u1"].values[done]).all()
    assert np.isnan(found["final.u1"].values[~done]).all()


def test_L7_values_and_measures_are_added(pendulum, tmp_path, whole) -> None:
    """Only what is missing is run; values come in the order in which they were asked for."""
    folder, told = tmp_path / "study.zarr", []
    few = {"L1": VARY["L1"][::2], "initial.u1": VARY["initial.u1"][30:]}
    sweep(pendulum, few, ["final.u1"], keep=folder, **RUN)
    grows = {"keep": folder, "resume": True, "progress": lambda done, total: told.append((done, total))}
    found = sweep(pendulum, VARY, ["final.u1"], **grows, **RUN)
    assert told[0] == (30 * 70, 6000)
    assert found.grid("final.u1").tobytes() == read(whole)["final.u1"].values.tobytes()
    kept = read(folder)
    assert kept["L1"].values.tolist() == [*VARY["L1"][::2], *VARY["L1"][1::2]]
    assert same(kept[["final.u1"]].sortby(["L1", "initial.u1"]), read(whole)[["final.u1"]])
    sweep(pendulum, VARY, MEASURES, **grows, **RUN)
    assert same(read(folder).sortby(["L1", "initial.u1"]), read(whole))
    told.clear()
    part = sweep(pendulum, {**VARY, "L1": VARY["L1"][5:7]}, ["final.u1"], **grows, **RUN)  # a view of a part
    assert told == [(200, 200)]
    assert part.grid("final.u1").tobytes() == read(whole)["final.u1"].values[5:7].tobytes()
    assert read(folder).sizes["L1"] == 60


def test_L7_a_measure_that_was_being_added_is_not_taken_for_done(pendulum, tmp_path, whole) -> None:
    """Stopped while a measure is added: what lacks it is missing, and done again."""
    folder = tmp_path / "study.zarr"
    sweep(pendulum, VARY, ["final.u1"], keep=folder, **RUN)

    def stop(done: int, total: int) -> None:
        if done > 300:
            raise KeyboardInterrupt

    stopped = sweep(pendulum, VARY, MEASURES, keep=folder, resume=True, progress=stop, **RUN)
    assert stopped.status == "stopped"
    begun = read(folder).isel(L1=slice(0, 40))  # the first chunk; the other was not come to
    done = begun["status"].values == 1
    assert 300 < done.sum() < done.size
    assert np.isfinite(begun["drift.energy"].values[done]).all()
    sweep(pendulum, VARY, MEASURES, keep=folder, resume=True, **RUN)
    assert same(read(folder), read(whole))


CODE = """
import sys, numpy as np, svyaz
sys.path.insert(0, sys.argv[2])
from test_studies import MEASURES, RUN, VARY
svyaz.sweep(svyaz.load("pendulum:1"), VARY, MEASURES, keep=sys.argv[1], resume=True, **RUN)
"""


def test_L7_killed_three_times_and_resumed_is_as_if_nothing_had_happened(root, tmp_path, whole) -> None:
    folder, chance = tmp_path / "study.zarr", random.Random(7)
    command = [sys.executable, "-c", CODE, str(folder), str(Path(__file__).parent)]
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    for _ in range(3):
        process = subprocess.Popen(command, env=environment)
        status = folder / "status" / "c"
        deadline = time.monotonic() + 100
        while not status.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(0.05 * chance.random())
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run(command, env=environment, check=True)
    assert same(read(folder), read(whole))


def test_L7_studies_are_merged_and_what_none_has_is_run_then(pendulum, tmp_path, whole) -> None:
    parts = [{**VARY, "L1": VARY["L1"][:25]}, {"L1": VARY["L1"][20:], "initial.u1": VARY["initial.u1"][50:]}]
    folders = [tmp_path / name for name in ("one", "other")]
    for folder, vary in zip(folders, parts, strict=True):
        sweep(pendulum, vary, MEASURES, keep=folder, **RUN)
    done, total = merge(tmp_path / "all", *folders)
    assert (done, total) == (25 * 100 + 35 * 50, 6000)
    told: list[int] = []
    found = sweep(
        pendulum, VARY, MEASURES, keep=tmp_path / "all", resume=True, progress=lambda k, _: told.append(k), **RUN
    )
    assert told[0] == done
    assert same(read(tmp_path / "all").sortby(["L1", "initial.u1"]), read(whole))
    assert found.grid("drift.energy").tobytes() == read(whole)["drift.energy"].values.tobytes()
    for folder in (folders[0], tmp_path / "all"):  # neither over itself nor over another
        with pytest.raises(ModelError, match="is there already"):
            merge(folder, *folders)
    sweep(pendulum, {"L1": [1.0]}, MEASURES, keep=tmp_path / "third", **RUN)
    with pytest.raises(ModelError, match="which quantities are varied differs"):
        merge(tmp_path / "new", folders[0], tmp_path / "third")
    assert not (tmp_path / "new").exists()


def test_a_value_that_is_asked_for_twice_is_run_once(pendulum, tmp_path) -> None:
    for keep in (None, tmp_path / "study.zarr"):
        found = sweep(pendulum, {"L1": [1.0, 2.0, 1.0]}, ["final.u1"], keep=keep, **RUN)
        first, _, third = found.column("final.u1")
        assert found.finished
        assert first == third


def test_a_parameter_called_as_a_measure_is_and_names_with_slashes(tmp_path) -> None:
    system = svyaz.System(
        name="m",
        coordinates=["x"],
        kinetic="x'^2/2",
        potential="period*x^2/2",
        parameters={"period": 1.0},
        initial={"x": 1.0},
        integral=[{"name": "a/b: ∂", "expression": "x'^2/2 + period*x^2/2"}],
    )
    vary = {"period": [1.0, 2.0]}
    found = sweep(system, vary, ["final", "drift", "period"], keep=tmp_path / "s", until=0.1, workers=1)
    there = read(tmp_path / "s")
    assert there["final.x"].sel({"parameters.period": 2.0}) == found.column("final.x")[1]
    assert "period" in there.data_vars
    assert sum(array.attrs.get("long_name") == "drift.a/b: ∂" for array in there.data_vars.values()) == 1
    assert found.to_xarray()["final.x"].sel({"parameters.period": 2.0}) == found.column("final.x")[1]


def test_chunks_hold_every_asked_member_once() -> None:
    """Whatever the shape, the growth and the order: the numbers of all chunks are those of all members."""
    chance = np.random.default_rng(3)
    for _ in range(60):
        first = [chance.permutation(int(n)).astype(float) for n in chance.integers(1, [90, 60, 40])]
        asked = [chance.permutation(int(n)).astype(float) for n in chance.integers(1, [90, 60, 40])]
        held = [grown(a, b) for a, b in zip(first, asked, strict=True)]
        layout = layout_of(held, asked, chunks_for([len(a) for a in first]))
        assert layout.size <= MEMBERS
        found, points = [], np.stack(np.meshgrid(*asked, indexing="ij"), axis=-1).reshape(-1, 3)
        for place in layout.places():
            numbers, offsets = layout.inside(place)
            rows, within = layout.where(numbers)
            assert (rows == place).all()
            assert (within == offsets).all()
            indices = np.array(place) * layout.chunks + np.stack(np.unravel_index(offsets, layout.chunks), axis=-1)
            values = np.stack([own[indices[:, k]] for k, own in enumerate(held)], axis=-1)
            assert (values == points[numbers]).all()
            found += numbers.tolist()
        assert sorted(found) == list(range(layout.total))
