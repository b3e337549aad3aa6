"""The cache of object code: used when it is sound, ignored when it is not, never in the way."""

from __future__ import annotations

import gc
import os

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
    gc.collect()  # what nobody holds is forgotten, so that the folder is asked
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


@pytest.mark.parametrize("damage", ["flipped", "short", "empty", "writable by others", "link"])
def test_a_file_that_cannot_be_trusted_is_ignored(program, cache_folder, compilations, damage, tmp_path):
    _value(program)
    (file,) = cache_folder.glob("*.code")
    content = bytearray(file.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    elif damage == "short":
        file.write_bytes(content[:-20])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "writable by others":
        file.chmod(0o666)
    else:
        elsewhere = tmp_path / "elsewhere"
        file.rename(elsewhere)
        file.symlink_to(elsewhere)
    assert _value(program) == EXPECTED
    assert len(compilations) == 2


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


def test_the_oldest_files_go_first(cache_folder, monkeypatch):
    monkeypatch.setattr(cache, "LARGEST_FILE_COUNT", 4)
    for number in range(5):
        cache.write(f"{number}", b"content")
        os.utime(cache_folder / f"{number}.code", (number, number))
    cache.write("5", b"content")
    assert cache.read("0") is None
    assert cache.read("5") == b"content"
    assert not list(cache_folder.glob(".*.tmp"))
