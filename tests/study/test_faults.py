"""What befalls a study: workers that die, clusters that fall apart, files that are torn, a user who stops it.

Nothing that was written is lost, nothing wrong is taken for a row, and what is missing is told.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.expr import ModelError
from svyaz.motion import simulate
from svyaz.study import cluster, crew, sweep
from svyaz.study.answers import STATUSES, Answer, Answers, answers_as_text, in_columns
from svyaz.study.crew import TRIALS, Shares
from svyaz.study.folder import Head, head_of, open_members, progress_of
from svyaz.study.tasks import WholeData, WholeTask, Work
from svyaz.study.vary import Axis, Member
from svyaz.study.worker import answers

# a worker that answers at once; it dies at the members of the first list, at each so often as the second says
WORKER = """
import array, base64, json, os, struct, sys
letters = lambda kind, numbers: base64.b64encode(array.array(kind, numbers).tobytes()).decode()
notes, deadly = sys.argv[1], json.loads(sys.argv[2])
def receive():
    head = sys.stdin.buffer.read(8)
    return sys.stdin.buffer.read(struct.unpack("<II", head)[0]) if head else None

receive()
while (given := receive()) is not None:
    members = [member["settings"]["x"] for member in json.loads(given)]
    for x in members:
        deaths = os.path.join(notes, str(x))
        died = os.path.getsize(deaths) if os.path.exists(deaths) else 0
        if died < deadly.get(str(x), 0):
            with open(deaths, "a") as file:
                file.write("x")
            os.kill(os.getpid(), 9)
    codes = {"status": letters("b", [1] * len(members)), "stable": letters("b", [0] * len(members))}
    measures = {"final.x": letters("d", [2 * x for x in members])}
    answer = json.dumps({**codes, "reasons": {}, "measures": measures}).encode()
    sys.stdout.buffer.write(struct.pack("<II", len(answer), 0) + answer)
    sys.stdout.buffer.flush()
"""


def with_workers(monkeypatch: pytest.MonkeyPatch, folder: Path, deadly: dict[float, int]) -> None:
    """Processes that die at certain members, so often."""
    told = json.dumps({str(x): often for x, often in deadly.items()})

    monkeypatch.setattr(crew, "COMMAND", (sys.executable, "-S", "-c", WORKER, str(folder), told))


WORK = Work(WholeTask({}, {}), lambda numbers: WholeData([Member({"x": float(k)}, {}) for k in numbers]))


def each(share: Sequence[int], given: Answers) -> dict[int, SimpleNamespace]:
    """What came of members, one by one."""
    return {
        number: SimpleNamespace(
            status=STATUSES[given.status[k]],
            reason=given.reasons.get(k, ""),
            measures={name: float(column[k]) for name, column in given.measures.items()},
        )
        for k, number in enumerate(share)
    }


def done(count: int, workers: int) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for share, given in crew.done_by_processes(WORK, range(count), workers):
        assert not found.keys() & set(share), "each member is answered once"
        found |= each(share, given)
    return found


@pytest.mark.parametrize("workers", [1, 2])
def test_N1_2_3_a_worker_that_dies_is_replaced_and_its_members_are_done(monkeypatch, tmp_path, workers) -> None:
    """Dead now and then: nothing is missing. Deadly members: they alone are lost, after three trials."""
    with_workers(monkeypatch, tmp_path, {3.0: 1, 7.0: TRIALS - 1, 11.0: 99, 12.0: 99})
    found = done(30, workers)
    assert sorted(found) == list(range(30))
    assert {k for k, answer in found.items() if answer.status == "lost"} == {11, 12}
    assert all(answer.measures == {"final.x": 2.0 * k} for k, answer in found.items() if answer.status == "finished")
    assert "ended with the code -9" in found[11].reason
    assert (tmp_path / "11.0").stat().st_size == TRIALS


def test_N1_2_3_workers_that_never_answer_do_not_go_on_for_ever(monkeypatch, tmp_path) -> None:
    with_workers(monkeypatch, tmp_path, {float(k): 99 for k in range(200)})
    assert {answer.status for answer in done(200, 2).values()} == {"lost"}
    assert len(list(tmp_path.iterdir())) < 20


def test_shares_hand_out_every_member_once_and_grow_with_the_time_they_take() -> None:
    shares, seen, sizes = Shares(range(5000)), [], []
    while share := shares.take():
        seen += share
        sizes.append(len(share))
        shares.answered(share, 0.001 * len(share))
    assert seen == list(range(5000))
    assert sizes[:4] == [1, 2, 4, 8]
    assert max(sizes) == 200  # a fifth of a second


def test_what_svyaz_fails_at_is_lost_alone() -> None:
    task = WholeTask({"name": "m", "states": ["x"], "rates": {"x": "-x"}}, {"until": 0.1})
    members = WholeData([Member({}, {}), Member({}, {"no such option": 1}), Member({}, {})])
    found = each(range(3), answers(task, members))
    assert [answer.status for answer in found.values()] == ["finished", "lost", "finished"]
    assert "internal error: TypeError" in found[1].reason


class Cluster:
    """A client that does the work of every share after some looks at it; events happen at a number of submissions."""

    def __init__(self, events: dict[int, str]) -> None:
        self.status, self.events, self.submitted = "running", events, 0

    def nthreads(self) -> dict[str, int]:
        return {"one": 2}

    def submit(self, function: Any, task: str, text: str, pure: bool) -> Any:
        self.submitted += 1
        event = self.events.get(self.submitted, "")
        if event == "scheduler":
            self.status = "connecting"
        status = {"worker": "error", "scheduler": "cancelled", "gathering": "finished"}.get(event, "finished")
        if self.status != "running":
            status = "cancelled"

        def result(timeout: float) -> str:
            if event == "gathering":
                raise TimeoutError
            return answers_as_text(in_columns([_half(x) for x in json.loads(text)], ["x"]))

        return Future(status, result)


class Future:
    """What a client gives for a share."""

    def __init__(self, status: str, result: Any) -> None:
        self.status, self.result = status, result


def _half(member: dict[str, Any]) -> Any:
    return Answer("finished", "", {"x": member["settings"]["x"] / 2})


@pytest.mark.parametrize(
    ("events", "missing"),
    [
        ({}, 0),
        ({2: "worker", 4: "gathering"}, 0),
        (dict.fromkeys(range(1, 99), "worker"), 60),
        ({3: "scheduler"}, None),
    ],
)
def test_N1_2_3_clusters_that_fall_apart(monkeypatch, events, missing) -> None:
    """A lost worker costs nothing but time; without a scheduler what came is kept, and the reason is told."""
    fake = Cluster(events)

    @contextmanager
    def client(address: str) -> Iterator[Cluster]:
        yield fake

    monkeypatch.setattr(cluster, "_client", client)
    found: dict[int, Any] = {}
    ends = (
        pytest.raises(cluster.ClusterLost, match="scheduler at tcp://there:1 is gone")
        if missing is None
        else nullcontext()
    )
    with ends:
        for share, given in cluster.done_by_cluster(WORK, range(60), "tcp://there:1"):
            found |= each(share, given)
    assert 0 < len(found) < 60 if missing is None else sorted(found) == list(range(60))
    assert all(found[k].measures == {"x": k / 2} for k in found if found[k].status == "finished")
    if missing is not None:
        assert sum(answer.status == "lost" for answer in found.values()) == missing


AXES = [Axis("a", "value", "a", np.array([0.1 * k for k in range(12)])), Axis("b", "value", "b", np.array([2.0]))]
HEAD = head_of({"name": "m"}, {"until": 1}, "program", {})
VALUES = np.array([1 / 3, np.nan, np.inf, -0.0] * 3)


def some(numbers: Sequence[int]) -> Answers:
    """Answers of every kind: each status and mark, reasons of several lines and letters, all kinds of numbers."""
    codes = [np.array([1 + k % n for k in numbers], dtype=np.int8) for n in (7, 2)]
    reasons = {place: "Grund: ∂\n" * (k % 3) for place, k in enumerate(numbers) if k % 3}
    return Answers(*codes, reasons, {"x": VALUES[list(numbers)]})


def written(path: Path) -> None:
    with open_members(path, HEAD, AXES, ["x"], False) as members:
        assert list(members.missing()) == list(range(12))
        members.put([0, 1, 2, 3, 4], some(range(5)))
        members.put([8, 7, 6, 5], some([8, 7, 6, 5]))


def kept(path: Path, head: Head = HEAD, axes: Sequence[Axis] = tuple(AXES)) -> dict[str, Any]:
    with open_members(path, head, axes, ["x"], True) as members:
        return {
            "missing": list(members.missing()),
            "x": members.column("x"),
            "codes": (members.codes("status").tolist(), members.codes("stable").tolist()),
            "reasons": members.reasons(),
        }


def files_of(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file())


def test_N1_2_3_members_come_back_to_the_last_bit(tmp_path) -> None:
    written(tmp_path / "study")
    found, whole = kept(tmp_path / "study"), some(range(9))
    assert found["missing"] == [9, 10, 11]
    assert found["x"][:9].tobytes() == VALUES[:9].tobytes()
    assert found["codes"] == ([*whole.status.tolist(), 0, 0, 0], [*whole.stable.tolist(), 0, 0, 0])
    assert found["reasons"] == whole.reasons


def test_N1_2_3_damaged_files_are_seen_and_their_members_done_again(tmp_path) -> None:
    """Each file cut off anywhere or with a flipped bit: members are whole, or missing; a damaged description is told."""
    path, chance = tmp_path / "study", random.Random(4)
    written(path)
    sound = kept(path)
    tried = sound_or_missing = 0
    for file in files_of(path):
        content = file.read_bytes()
        for trial in range(12):
            damaged = bytearray(content)
            damaged[chance.randrange(10, len(content))] ^= 1 << chance.randrange(8)
            file.write_bytes(damaged if trial % 2 else content[: chance.randrange(len(content))])
            with suppress(ModelError):
                found = kept(path)
                sound_or_missing += 1
                assert found["missing"] in ([9, 10, 11], list(range(12)))
                there = slice(0, 9 if found["missing"] == [9, 10, 11] else 0)
                assert found["x"][there].tobytes() == sound["x"][there].tobytes()
                assert [codes[there] for codes in found["codes"]] == [codes[there] for codes in sound["codes"]]
            tried += 1
            file.write_bytes(content)
    assert 0 < sound_or_missing < tried
    assert repr(kept(path)) == repr(sound)


@pytest.mark.parametrize(
    ("head", "axes", "words"),
    [
        (head_of({"name": "n"}, {"until": 1}, "program", {}), AXES, "the model differs"),
        (head_of({"name": "m"}, {"until": 1}, "another", {}), AXES, "the program of the equations differs"),
        (head_of({"name": "m"}, {"until": 2}, "program", {}), AXES, "what is asked of the runs differs"),
        (HEAD, AXES[::-1], "which quantities are varied differs"),
        (HEAD, AXES[:1], "which quantities are varied differs"),
        (replace(HEAD, same={**HEAD.same, "svyaz": "9.9"}), AXES, "svyaz differs"),
    ],
)
def test_N1_2_3_another_study_is_refused_and_left_as_it_is(tmp_path, head, axes, words) -> None:
    written(tmp_path / "study")
    before = {file: file.read_bytes() for file in files_of(tmp_path)}
    with pytest.raises(ModelError, match=words):
        kept(tmp_path / "study", head, axes)
    assert {file: file.read_bytes() for file in files_of(tmp_path)} == before


def test_N1_2_3_two_programs_do_not_write_one_study(tmp_path) -> None:
    with (
        open_members(tmp_path / "study", HEAD, AXES, ["x"], False),
        pytest.raises(ModelError, match="another program"),
    ):
        kept(tmp_path / "study")


def sleigh() -> System:
    return loads(gallery.find("sleigh", {}), file="sleigh")


OPTIONS: dict[str, Any] = {"method": "euler", "step": 1e-3, "until": 0.2}
VARY = {"stabilize": np.linspace(1, 100, 96)}


def test_N1_2_3_a_study_that_was_stopped_goes_on_with_its_rows(tmp_path) -> None:
    """Its rows equal those of one that was not; the members that were there are not computed again."""
    told: list[int] = []

    def stop(done: int, total: int) -> None:
        told.append(done)
        if done >= total / 2:
            raise KeyboardInterrupt

    first = sweep(sleigh(), VARY, workers=2, progress=stop, keep=tmp_path / "study", **OPTIONS)
    assert first.status == "stopped"
    assert 48 <= first.answered == len(first.rows) == told[-1] < 96
    assert len(first.missing) == 96 - first.answered
    with pytest.raises(ModelError, match="not finished"):
        sweep(sleigh(), VARY, keep=tmp_path / "study", **OPTIONS)
    told.clear()
    then = sweep(
        sleigh(),
        VARY,
        workers=2,
        progress=lambda done, _: told.append(done),
        keep=tmp_path / "study",
        resume=True,
        **OPTIONS,
    )
    assert then.status == "finished"
    assert told[0] == first.answered
    assert told == sorted(told)
    assert told[-1] == 96
    whole = sweep(sleigh(), VARY, workers=1, **OPTIONS)
    assert [repr(row) for row in then.rows] == [repr(row) for row in whole.rows]


def test_N1_2_3_rows_are_checked_against_the_model_and_what_is_asked(tmp_path) -> None:
    """The same program with another value of a parameter is another study, and so is another method."""
    vary = {"stabilize": [1.0, 2.0]}
    sweep(sleigh(), vary, keep=tmp_path / "study", **OPTIONS)
    with pytest.raises(ModelError, match="holds a whole study"):
        sweep(sleigh(), vary, keep=tmp_path / "study", **OPTIONS)
    assert sweep(sleigh(), vary, keep=tmp_path / "study", resume=True, **OPTIONS).status == "finished"
    other = sleigh().with_settings({"J": 1.5})
    with pytest.raises(ModelError, match="another study: the model"):
        sweep(other, vary, keep=tmp_path / "study", resume=True, **OPTIONS)
    with pytest.raises(ModelError, match="which quantities are varied"):
        sweep(sleigh(), {"J": [1.0, 3.0]}, keep=tmp_path / "study", resume=True, **{**OPTIONS, "stabilize": "off"})
    with pytest.raises(ModelError, match="what is asked"):
        sweep(sleigh(), vary, keep=tmp_path / "study", resume=True, **{**OPTIONS, "method": "rk2"})


def test_a_lost_member_is_told_and_tried_again_when_the_study_goes_on(tmp_path, monkeypatch) -> None:
    system = loads(gallery.find("sling-hooked", {}), file="sling-hooked")  # a whole simulation for each member
    vary, options = {"g": [9.7, 9.8, 9.9]}, {"until": 0.6, "stabilize": "off", "workers": 2}
    with_workers(monkeypatch, tmp_path, {})  # which know nothing of g
    found = sweep(system, vary, ["final"], keep=tmp_path / "study", **options)
    assert found.status == "incomplete"
    assert found.missing == (0, 1, 2)
    assert found.outcomes() == {"lost": 3}
    monkeypatch.undo()
    again = sweep(system, vary, ["final"], keep=tmp_path / "study", resume=True, **{**options, "workers": 1})
    assert again.status == "finished"
    assert not again.missing


def test_sweeps_take_laws_of_inputs() -> None:
    """As ``simulate`` does, in native loops and in whole simulations; a function of Python cannot be sent."""
    words = {
        "coordinates": ["x"],
        "kinetic": "m/2*x'^2",
        "potential": "x^2/2",
        "forces": {"x": "u"},
        "inputs": {"u": 0},
    }
    run = {"method": "rk4", "step": 0.01, "until": 0.5}
    system = System(name="driven", parameters={"m": 1.0}, initial={"x": 1.0}, run=run, **words)
    laws = {"u": "-2*x' + sin(t)/m"}
    for options in ({}, {"project": True}):
        found = sweep(system, {"m": [1.0, 2.0]}, ["final"], inputs=laws, workers=1, **options)
        for line in found.rows:
            alone = simulate(system.with_settings({"m": line.point[0]}), inputs=laws)
            assert line.measures["final.x"] == alone.states[-1, 0]
    with pytest.raises(ModelError, match="function of Python"):
        sweep(system, {"m": [1.0, 2.0]}, inputs={"u": lambda t, x: 0.0})


@pytest.fixture
def started(root, tmp_path):
    """``started("sweep", …)`` starts the program."""
    processes = []

    def start(*arguments: str, **more: Any) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "svyaz", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(root / "src")},
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **more,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def until_kept(process: subprocess.Popen[str], folder: Path, files: int) -> None:
    """Wait until so many files are in a folder."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and len(files_of(folder)) < files:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.02)


STUDY = ("sweep", "sleigh", "--method", "euler", "--vary", "stabilize=1:100:400", "--step", "1e-3", "--out", "s")

# the program, which writes after every answer, and is killed when the file of a chunk with this number would appear
KILLED = """
import os, signal, sys
from svyaz.cli import main
from svyaz.study import kept

kept.OFTEN, rename, left = 0.0, os.replace, [int(sys.argv.pop(1))]

def replace(source, target):
    left[0] -= f"{os.sep}c{os.sep}" in os.fspath(target)
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    rename(source, target)

os.replace = replace
main(sys.argv[1:])
"""


@pytest.mark.parametrize(("file", "least"), [(4, 0), (75, 1)], ids=["in its first chunk", "later"])
def test_N1_2_3_kill_and_resume(python, svyaz, tmp_path, file, least) -> None:
    """Killed at any moment, refused without --resume, and then as if nothing had happened."""
    study = tmp_path / "s" / "study.zarr"
    assert python("-c", KILLED, str(file), *STUDY).returncode == -signal.SIGKILL
    assert least <= progress_of(study)[0] < 400
    before = {file: file.read_bytes() for file in files_of(study)}
    refused = svyaz(*STUDY)
    assert refused.returncode == 2
    assert "holds a study that is not finished" in refused.stderr
    assert "--resume" in refused.stderr
    assert {file: file.read_bytes() for file in files_of(study)} == before
    done = svyaz(*STUDY, "--resume")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "s" / "sweep.json").read_text())
    whole = sweep(sleigh(), {"stabilize": np.linspace(1, 100, 400)}, workers=1, method="euler", step=1e-3)
    assert [row["final.x"] for row in found["rows"]] == [row.measures["final.x"] for row in whole.rows]
    assert found["done"] == 400
    assert found["missing"] == []


def test_N1_2_7_ctrl_c_is_answered_in_the_middle_of_a_long_run(started, tmp_path) -> None:
    """Members that take long: the native loops are left, the exit code is 130, --resume is named."""
    long = ("sweep", "sleigh", "--method", "rk4", "--step", "1e-8", "--vary", "stabilize=1:9:4", "--out", "s")
    process = started(*long)
    until_kept(process, tmp_path / "s" / "study.zarr" / "status", 1)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "stopped by the user: 0 of 4 members are done; --resume" in errors
    assert "Traceback" not in errors


def test_N1_2_5_a_full_disk_names_the_file_and_keeps_the_rows(started, svyaz, tmp_path) -> None:
    import resource

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000))

    process = started(*STUDY, preexec_fn=small_disk)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2, errors
    assert "File too large" in errors
    assert "s/study.zarr/" in errors
    assert "Traceback" not in errors
    assert all(file.stat().st_size <= 3_000 for file in files_of(tmp_path / "s"))
    done = svyaz(*STUDY, "--resume")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "s" / "sweep.json").read_text())["done"] == 400
