"""Pinocchio in a loop of C++, built once against the headers and the library inside the ``pin`` wheel.

Needs g++ and the headers of Eigen; without them the rows are reported as not measured.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from pathlib import Path
from shutil import which

from bench.tools.jobs import Answer, missing

SOURCE = Path(__file__).with_name("loops.cpp")
EIGEN = ("/usr/include/eigen3", "/usr/local/include/eigen3")
FLAGS = (
    "-O3",
    "-march=native",
    "-DNDEBUG",
    "-w",
    "-std=c++17",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
)


def program() -> Path:
    """The compiled loops; building takes about 80 seconds the first time."""
    import pinocchio

    prefix = next(p for p in Path(pinocchio.__file__).parents if p.name == "cmeel.prefix")
    eigen = next((folder for folder in EIGEN if Path(folder).is_dir()), None)
    if eigen is None or which("g++") is None:
        raise missing("g++ and the headers of Eigen (on Debian: apt-get install g++ libeigen3-dev)")
    key = hashlib.sha256(SOURCE.read_bytes() + pinocchio.__version__.encode()).hexdigest()[:16]
    built = Path(tempfile.gettempdir()) / f"svyaz-bench-pinocchio-{key}"
    if not built.exists():
        partial = built.with_suffix(".part")
        include = [f"-I{prefix / 'include'}", f"-I{eigen}"]
        libraries = [f"-L{prefix / 'lib'}", f"-Wl,-rpath,{prefix / 'lib'}", "-lpinocchio_default"]
        subprocess.run(["g++", *FLAGS, *include, str(SOURCE), "-o", str(partial), *libraries], check=True)
        partial.rename(built)
    return built


def times(name: str, count: int) -> Answer:
    """Seconds of crba and aba for a model of the gallery."""
    from bench.trees.robots import central, numeric_tree

    lines = []
    for body in numeric_tree(name).bodies:
        kind = next((k for k in range(3) if list(body.axis) == [float(i == k) for i in range(3)]), None)
        slides = body.joint == "prismatic"
        code = (6 + slides) if kind is None else kind + 3 * slides
        mass, center, inertia = central(body)
        entries = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        numbers = [body.base, code, *body.axis, *body.pole, mass, *center, *entries]
        lines.append(" ".join(repr(float(value)) for value in numbers))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(lines))
        file.flush()
        done = subprocess.run([program(), file.name, str(count)], check=True, capture_output=True, text=True)
    answer: Answer = json.loads(done.stdout)
    return answer
