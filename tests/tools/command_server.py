"""Runs many command lines of svyaz from one process that has loaded the package and its libraries once.

Each line of the standard input is a request as JSON: arguments, environment, folder, and the files that take what the
command prints (which may be one). For each a child is forked, which has its own working folder, variables and memory as
a program of its own would have; its exit code is answered. Run as a program with the package on its path.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages

LIBRARIES = (
    *("click", "llvmlite.binding", "numba", "scipy.linalg", "symengine"),
    *("matplotlib.backends.backend_agg", "matplotlib.style", "PIL.features", "rich.console", "rich.table"),
)


def load() -> None:
    """What commands import: the libraries, and every module of the package, which take longer than most commands.

    What is not installed is left to the commands that ask for it.
    """
    packages = map(import_module, ("svyaz", "svyaz_published"))
    modules = [found.name for p in packages for found in walk_packages(p.__path__, f"{p.__name__}.")]
    for name in (*LIBRARIES, *modules):
        if not name.endswith("__main__"):
            with suppress(ImportError):
                import_module(name)
    gc.collect()
    gc.freeze()  # children share what is never touched


def run(request: dict) -> int:
    """The exit code of one command line, in a process of its own."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
    code = 70
    try:
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, file in ((1, request["stdout"]), (2, request["stderr"])):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND), number)
        sys.argv = ["svyaz", *request["arguments"]]
        from svyaz.cli import main

        code = main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    load()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for line in sys.stdin:
        print(run(json.loads(line)), file=answers, flush=True)
