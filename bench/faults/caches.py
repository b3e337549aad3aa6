"""Kept machine code: flipped bits, files cut off, exchanged, or replaced by pickles; a full disk, nobody's home."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from itertools import permutations
from pathlib import Path

from bench.faults.watching import Unexpected, folder, row, survived
from bench.tools.jobs import Answer, Job, Samples, answer, environment
from bench.tools.rows import Row

from svyaz.arrays import Array
from svyaz.integrate.compiling import compiled

MODULE = "bench.faults.caches"
NAMES = {
    "flipped": "bits of kept code flipped: made anew",
    "cut": "kept code cut off: made anew",
    "exchanged": "kept code of another under this name: made anew",
    "pickle": "a pickle planted: not executed",
    "places": "no home, one that cannot be written, a full disk",
}
EXPECTED = "8.0 0.5\n"
MACHINE_CODE = b"\x7fELF"

# a loop and a program; in a process of its own, for wrong machine code may do anything
USER = """
from pathlib import Path
import numpy as np
from bench.faults.caches import tripled
from svyaz.program import Program, compile_program
a = np.array([2.0, 0.0])
tripled(a)
half = Program((), ("x",), (("input", 0), ("const", 0.5), ("mul", 0, 1)), (("y", 2),))
code = compile_program(half)
print(a[0] + 2.0, code.evaluate([1.0], code.constants([]))[0])
"""


@compiled
def tripled(a: Array) -> int:
    """Three times the first number."""
    a[0] = 3.0 * a[0]
    return 0


def jobs(quick: bool) -> list[Job]:
    return [Job(MODULE, (name, "4" if quick else "40"), 1, 20.0 if quick else 150.0) for name in NAMES]


def rows(samples: Samples, quick: bool) -> list[Row]:
    return [_row(NAMES[job.arguments[0]], samples.get(job.name, ())) for job in jobs(quick)]


def _row(name: str, answers: Sequence[Answer]) -> Row:
    return row(name, answers, "; ".join(f"seed {told['seed']:.0f}" for told in answers))


def used(cache: Path, place: Path, **more: object) -> None:
    """Use what is kept there; the numbers are right, and nothing else happened."""
    own = {"SVYAZ_CACHE": str(cache), "SVYAZ_INSTALLED": str(place / "nothing")}
    how = {"env": {**environment(), **own}, **more}
    done = subprocess.run(  # type: ignore[call-overload]
        [sys.executable, "-c", USER], cwd=place, capture_output=True, text=True, check=False, **how
    )
    if done.returncode or done.stdout != EXPECTED:
        raise Unexpected(f"code {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
    if (place / "executed").exists():
        raise Unexpected("what was planted was executed")


def damaged(place: Path, sound: Path, number: int, name: str, contents: bytes) -> None:
    """One file has other contents; it is made anew, and the file is sound again.

    The text of a loop is read where its machine code is missing, so then it stands alone.
    """
    cache = place / f"cache-{number}-{name[:8]}"
    shutil.copytree(sound, cache)
    if MACHINE_CODE not in (sound / name).read_bytes():
        for other in cache.glob("*.code"):
            other.unlink()
    (cache / name).write_bytes(contents)
    used(cache, place)
    if (cache / name).read_bytes() != (sound / name).read_bytes():
        raise Unexpected("it has not healed")
    shutil.rmtree(cache)


def cases(fault: str, count: int, place: Path, sound: Path, chance: random.Random) -> list[partial[None]]:
    kept = {file.name: file.read_bytes() for file in sorted(sound.glob("*.code"))}
    if fault == "exchanged":
        pairs = list(permutations(kept, 2))[:count]
        return [partial(damaged, place, sound, k, a, kept[b]) for k, (a, b) in enumerate(pairs)]
    found = []
    for number in range(count):
        name = chance.choice(sorted(kept))
        contents = bytearray(kept[name])
        if fault == "flipped":
            for _ in range(3):
                contents[chance.randrange(len(contents))] ^= 1 << chance.randrange(8)
        elif fault == "cut":
            contents = contents[: chance.randrange(len(contents))]
        else:
            contents = bytearray(b"cos\nsystem\n(S'touch executed'\ntR.")
        found.append(partial(damaged, place, sound, number, name, bytes(contents)))
    return found


def places(place: Path) -> list[partial[None]]:
    """Environments without a place for the cache: all go on without a word."""
    (place / "file").write_text("not a folder", encoding="utf-8")
    bare = {
        name: value for name, value in environment().items() if name not in ("HOME", "XDG_CACHE_HOME", "SVYAZ_CACHE")
    }
    temporary = {"TMPDIR": str(place)}

    def full() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    return [
        partial(used, place / "file" / "below", place),
        partial(used, place, place, env={**bare, **temporary, "HOME": str(place / "file")}),
        partial(used, place, place, env={**bare, **temporary, "HOME": "/proc"}),
        partial(used, place, place, env={**bare, **temporary}),
        partial(used, place / "full", place, preexec_fn=full),
    ]


def job(fault: str, count: str) -> Answer:
    seed = random.SystemRandom().randrange(10**6)
    with folder() as place:
        if fault == "places":
            return {**survived(places(place)), "seed": float(seed)}
        sound = place / "sound"
        used(sound, place)
        return {**survived(cases(fault, int(count), place, sound, random.Random(seed))), "seed": float(seed)}


if __name__ == "__main__":
    answer({name: partial(job, name) for name in NAMES})
