"""The cache of object code: used when it is sound, ignored when it is not, never in the way."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

from svyaz.program import cache, engine, native
from svyaz.program.tape import Program


@pytest.fixture(autouse=True, scope="module")
def _shared_functions(_own_cache) -> None:
    """What all programs share is compiled before anything is counted."""
    native.compile_program(Program((), ("x",), (("input", 0),), (("y", 0),)))


@pytest.fixture
def program(tape) -> Program:
    t = tape()
    product = t("mul", t("parameter", 0), t("sin", t("input", 0)))
    return Program(("m",), ("x",), tuple(t.nodes), (("y", product),))


@pytest.fixture
def compilations(monkeypatch) -> list[str]:
    """Texts that were really compiled."""
    seen: list[str] = []
    compile_text = engine.object_code
    monkeypatch.setattr(engine, "object_code", lambda text: seen.append(text) or compile_text(text))
    return seen


def _value(program: Program) -> float:
    native._COMPILED.clear()  # so that the folder is asked
    compiled = native.compile_program(program)
    return float(compiled.evaluate([0.5], compiled.constants([2.0]))[0])


EXPECTED = 2.0 * np.sin(0.5)


def test_the_second_compilation_is_a_load(program, cache_folder, compilations):
    assert _value(program) == EXPECTED
    assert len(list(cache_folder.glob("*.code"))) == 1
    assert _value(program) == EXPECTED
    assert len(compilations) == 1


def test_what_is_alive_is_not_compiled_again(program, cache_folder):
    assert native.compile_program(program) is native.compile_program(program)


def _damaged(file: Path, damage: str, elsewhere: Path) -> None:
    """Do to a kept file what a disk, a program or somebody else might do."""
    content = bytearray(file.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    elif damage == "in its digest":
        content[3] ^= 128
        file.write_bytes(content)
    elif damage == "short":
        file.write_bytes(content[:-20])
    elif damage == "without the digest":
        file.write_bytes(content[32:])
    elif damage == "longer":
        file.write_bytes(bytes(content) * 2)
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "pickle":
        file.write_bytes(PICKLE)
    elif damage == "writable by others":
        file.chmod(0o666)
    elif damage == "folder writable by others":
        file.parent.chmod(0o777)
    elif damage == "link":
        file.rename(elsewhere)
        file.symlink_to(elsewhere)
    elif damage == "pipe":
        file.unlink()
        os.mkfifo(file)


PICKLE = b"cos\nsystem\n(S'touch executed'\ntR."
DAMAGES = [
    *("flipped", "in its digest", "short", "without the digest", "longer", "empty", "pickle"),
    *("writable by others", "folder writable by others", "link", "pipe"),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_N1_2_4_a_file_that_cannot_be_trusted_is_made_anew(
    program, cache_folder, compilations, damage, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    _value(program)
    (file,) = cache_folder.glob("*.code")
    _damaged(file, damage, tmp_path / "elsewhere")
    assert _value(program) == EXPECTED
    assert len(compilations) == 2
    assert _value(program) == EXPECTED  # it has healed
    assert len(compilations) == 2
    assert cache_folder.stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / "executed").exists()


def test_N1_2_4_code_kept_for_another_program_is_not_run_for_this_one(program, cache_folder, compilations):
    """Its digest is right, its name is not."""
    other = Program(("m",), ("x",), (("parameter", 0), ("input", 0)), (("y", 1),))
    assert _value(other) == 0.5
    (kept,) = cache_folder.glob("*.code")
    _value(program)
    (file,) = set(cache_folder.glob("*.code")) - {kept}
    file.write_bytes(kept.read_bytes())
    assert _value(program) == EXPECTED
    assert len(compilations) == 3


def test_a_folder_that_cannot_be_written_is_no_obstacle(program, tmp_path, monkeypatch, compilations):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("SVYAZ_CACHE", str(tmp_path / "file" / "below"))
    assert _value(program) == EXPECTED
    assert _value(program) == EXPECTED
    assert len(compilations) == 2


def test_the_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("SVYAZ_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.cache_folder() == tmp_path / "svyaz"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.cache_folder() == tmp_path / ".cache" / "svyaz"


@pytest.mark.parametrize("home", ["none", "a file", "somebody else's"])
def test_N1_2_4_without_a_home_code_is_kept_among_temporary_files(home, tmp_path, monkeypatch):
    """In a folder of this user alone; where somebody else has made it, nothing is kept."""
    for name in ("SVYAZ_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("HOME", str(tmp_path / "file") if home == "a file" else str(tmp_path))
    if home == "none":
        monkeypatch.setattr(Path, "expanduser", _nowhere)
    real = os.geteuid()
    if home == "somebody else's":
        (tmp_path / ".cache" / "svyaz").mkdir(parents=True)
        (tmp_path / f"svyaz-{real + 1}").mkdir()
        monkeypatch.setattr(os, "geteuid", lambda: real + 1)
    cache.write("key", b"content")
    assert cache.read("key") == (None if home == "somebody else's" else b"content")
    assert len(list(tmp_path.rglob("*.code"))) == (0 if home == "somebody else's" else 1)
    if home != "somebody else's":
        assert (tmp_path / f"svyaz-{real}").stat().st_mode & 0o777 == 0o700


def _nowhere(path: Path) -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_N1_2_5_a_full_disk_leaves_nothing_behind(cache_folder):
    import resource

    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))
    try:
        cache.write("key", bytes(1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert cache.read("key") is None
    assert list(cache_folder.iterdir()) == []


def test_the_oldest_files_go_first(cache_folder, monkeypatch):
    monkeypatch.setattr(cache, "LARGEST_FILE_COUNT", 4)
    for number in range(5):
        cache.write(f"{number}", b"content")
        os.utime(cache_folder / f"{number}.code", (number, number))
    cache.write("5", b"content")
    assert cache.read("0") is None
    assert cache.read("5") == b"content"
    assert not list(cache_folder.glob(".*.tmp"))


def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of an environment into which code is written that it brings along."""
    folder = tmp_path / "installed"
    for name in ("SVYAZ_INSTALLED", "SVYAZ_CACHE"):
        monkeypatch.setenv(name, str(folder))
    return folder


def test_code_that_the_environment_brings_along_is_read_and_never_written(
    program, cache_folder, compilations, tmp_path, monkeypatch
):
    """What was compiled when an environment was set up serves all its users; only theirs is written."""
    installed = _environment(tmp_path, monkeypatch)
    assert _value(program) == EXPECTED
    (file,) = installed.glob("*.code")
    monkeypatch.setenv("SVYAZ_CACHE", str(cache_folder))
    kept, compilations[:] = file.read_bytes(), []
    assert _value(program) == EXPECTED
    assert compilations == []
    assert not cache_folder.exists()
    file.write_bytes(kept[:-1])
    assert _value(program) == EXPECTED
    assert len(compilations) == 1
    assert file.read_bytes() == kept[:-1]
    assert len(list(cache_folder.glob("*.code"))) == 1


def test_N1_2_4_code_that_others_may_write_into_the_environment_is_not_run(
    program, cache_folder, compilations, tmp_path, monkeypatch
):
    installed = _environment(tmp_path, monkeypatch)
    assert _value(program) == EXPECTED
    installed.chmod(0o777)
    monkeypatch.setenv("SVYAZ_CACHE", str(cache_folder))
    compilations.clear()
    assert _value(program) == EXPECTED
    assert len(compilations) == 1


def test_what_is_used_stays_however_long_ago_it_was_made(cache_folder, monkeypatch):
    """Loops are made once and read every day; programs of models that come and go do not drive them out."""
    monkeypatch.setattr(cache, "LARGEST_FILE_COUNT", 4)
    for number in range(4):
        cache.write(f"{number}", b"content")
        os.utime(cache_folder / f"{number}.code", (number, number))
    assert cache.read("0") == b"content"
    cache.write("4", b"content")
    assert [cache.read(f"{number}") for number in range(5)] == [b"content", None, None, b"content", b"content"]


def test_N1_1_work_that_is_kept_does_not_count_against_a_budget(monkeypatch, tmp_path) -> None:
    """What is decided within counted work is decided alike with a cold cache and a warm one."""
    from svyaz import System
    from svyaz.integrate import clock

    monkeypatch.setenv("SVYAZ_CACHE", str(tmp_path))
    spent = []
    for _ in range(2):
        begin = clock()
        System(coordinates=["x"], kinetic="x'^2/2", potential="cos(x + 0.123)").simulate(
            until=1.0, method="rk4", step=0.01
        )
        spent.append(clock() - begin)
    assert spent[0] == pytest.approx(spent[1])
    assert spent[0] > 0
