"""What is handed out works by itself: wheel and sdist, in an environment that holds nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

TOOL = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
EXTRAS = ("numba", "pandas", "quickjs", "sympy", "xarray")
LEAST, NEWEST = "3.11", "3.13"

FIRST_STEPS = f"""
import importlib.util, sys
assert not [name for name in {EXTRAS} if importlib.util.find_spec(name)], "extras are not installed"
import svyaz
motion = svyaz.load("sling").simulate()
print(motion.status)
svyaz.load("pendulum:2").simulate(method="radau", rtol=1e-6, until=0.5)
svyaz.load("pendulum:2").simulate(method="rk4", step=0.01, until=0.5)
svyaz.load("pendulum:20").simulate(method="rk4", step=0.01, until=0.1)
lengths = [0.5 + k / 32 for k in range(20)]
svyaz.load("pendulum:2").sweep(dict(L1=lengths), method="rk4", step=0.01, until=0.1, workers=1)
for many in (None, 20):
    svyaz.Simulator(svyaz.load("pendulum:2"), 0.01, count=many).step()
    svyaz.Simulator(svyaz.load("pendulum:2"), 0.01, count=many, method="dopri5", rtol=1e-6).step()
for asked in (motion.to_pandas, motion.to_xarray, svyaz.load("sling").derive().to_sympy):
    try:
        asked()
    except ModuleNotFoundError as missing:
        print(missing)
"""


def uv(*arguments: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(TOOL), *arguments], capture_output=True, text=True, check=False, env=env)


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with wheel and sdist; loops that this machine has compiled are not compiled again."""
    if TOOL is None:
        pytest.skip("there is no uv to build the wheel with")
    folder, root = tmp_path_factory.mktemp("dist"), Path(__file__).parents[1]
    done = uv("build", "--quiet", "--out-dir", folder, root)
    if done.returncode != 0 and any(word in done.stderr for word in ("Failed to fetch", "connect", "No solution")):
        pytest.skip("the packages that build the wheel cannot be had: no network, or no index")
    assert done.returncode == 0, done.stderr
    return folder


def newer() -> Path | None:
    """The newest interpreter that stands beside this one."""
    beside = Path(sys.base_prefix).parent.glob("3.*.*/bin/python")
    found = {
        tuple(map(int, path.parts[-3].split("."))): path
        for path in beside
        if path.parts[-3][2:].replace(".", "").isdigit()
    }
    newest = max(found, default=(0,))
    return found[newest] if newest[:2] > sys.version_info[:2] else None


def installed(wheel: Path, interpreter: Path, folder: Path) -> tuple[Path, dict[str, str]]:
    """The interpreter of a fresh environment with the wheel alone, and the surroundings in which it runs."""
    python = folder / "venv" / "bin" / "python"
    assert uv("venv", "--quiet", "--python", interpreter, folder / "venv").returncode == 0
    done = uv("pip", "install", "--quiet", "--python", python, wheel)
    if done.returncode != 0:
        pytest.skip(f"the libraries cannot be had: {done.stderr.strip()[:200]}")
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return python, {**kept, "SVYAZ_CACHE": str(folder / "cache")}


@pytest.mark.parametrize("which", ["this", "newest"])
def test_P6_the_wheel_alone_simulates(handed_out: Path, tmp_path: Path, which: str) -> None:
    """`svyaz simulate pendulum:2` and `svyaz.load("sling").simulate()`; numba is not there, and extras tell their names."""
    interpreter = Path(sys.executable) if which == "this" else newer()
    if interpreter is None:
        pytest.skip("no newer Python stands beside this one")
    python, env = installed(next(handed_out.glob("*.whl")), interpreter, tmp_path)
    command = [str(python.parent / "svyaz"), "simulate", "pendulum:2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "finished at t = 10" in done.stdout
    if which == "newest":
        return
    done = subprocess.run(
        [python, "-c", FIRST_STEPS], capture_output=True, text=True, check=False, env=env, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    first, *missing = done.stdout.splitlines()
    assert first == "finished"
    assert [line.rpartition(": ")[2] for line in missing] == [
        'pip install "svyaz[data]"',
        'pip install "svyaz[data]"',
        'pip install "svyaz[sympy]"',
    ]


def test_P6_the_sdist_has_what_builds_the_wheel(handed_out: Path, root: Path) -> None:
    with tarfile.open(next(handed_out.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src/svyaz/__init__.py", "run", "test"} <= names
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (
        names <= {*listed.stdout.splitlines(), "PKG-INFO"} or listed.returncode != 0
    )  # nothing but files of the project
    with zipfile.ZipFile(next(handed_out.glob("*.whl"))) as wheel:
        licences = {name.partition("/licenses/")[2] for name in wheel.namelist() if "/licenses/" in name}
        texts = [Path(name).stem for name in wheel.namelist() if name.startswith("svyaz/integrate/texts/")]
    assert licences == {"LICENSE", "src/svyaz/show/assets/katex/LICENSE"}
    loops = [
        "adaptive",
        "adaptive",
        "constants",
        "first_step",
        "fixed",
        "fixed",
        "free",
        "free",
    ]  # of one lane and of eight
    maps = ["after_step", "closed_look", "closed_projection", "closed_reach", "closed_step"]
    maps += ["sliding_step", "sliding_watch", "step", "step", "step", "thorough_projection"]
    maps += ["watched_places", "watched_reactions"]
    assert sorted(text.partition("-")[0] for text in texts) == sorted([*loops, *maps])


def test_P6_the_sdist_takes_nothing_of_a_foreign_environment(root: Path, tmp_path: Path) -> None:
    """Folders of other projects and tools, called as ours are, lie about: none of their files is taken."""
    from hatchling.builders.sdist import SdistBuilder

    for name in ("pyproject.toml", "README.md", "LICENSE", "run", "test", "hatch_build.py", "src/svyaz/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
    ours = ("tests/test_a.py", "docs/index.md", "bench/a/b.py", ".ci/run", "src/svyaz/show/assets/katex/LICENSE")
    foreign = [f"{env}/lib/python3.11/site-packages/{path}" for env in ("env", ".venv2", "my-venv") for path in ours]
    foreign += [f"node_modules/x/{path}" for path in (*ours, "run", "test")] + ["other/hatch_build.py", "other/test"]
    foreign += ["src/svyaz/__pycache__/a.pyc", "src/svyaz.egg-info/PKG-INFO", "tests/.venv/lib/x.py", "docs/test.nbi"]
    foreign += ["tests/.pytest_cache/x", "tests/.hypothesis/x", "bench/.mypy_cache/x.json", "notes.txt"]
    for name in (*ours, *foreign):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    taken = {file.relative_path for file in SdistBuilder(str(tmp_path)).recurse_included_files()}
    assert not taken & set(foreign)
    assert set(ours) <= taken
    assert taken <= {
        *ours,
        "README.md",
        "LICENSE",
        "run",
        "test",
        "hatch_build.py",
        "src/svyaz/__init__.py",
        "pyproject.toml",
    }


@pytest.mark.parametrize("version", [LEAST, NEWEST])
def test_P6_every_library_has_a_wheel_for_the_least_and_the_newest_python(root: Path, version: str) -> None:
    if TOOL is None:
        pytest.skip("there is no uv to ask")
    done = uv(
        "pip", "compile", "--quiet", "--python-version", version, "--only-binary", ":all:", root / "pyproject.toml"
    )
    if done.returncode != 0 and "No solution" not in done.stderr:
        pytest.skip("no index can be asked")
    assert done.returncode == 0, done.stderr
    assert "llvmlite==" in done.stdout
