"""Public names of a package, each loaded when it is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from os.path import join


def attach(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package: the names that its ``__init__.pyi`` imports.

    So a name is written once, ``from module import name as name``, for type checkers and for the program. The loader of the
    package reads the stub, from a folder or from an archive.
    """
    module = sys.modules[package]
    stub = vars(module)["__loader__"].get_data(join(module.__path__[0], "__init__.pyi")).decode()
    lines = [line.split() for line in stub.splitlines() if line.startswith("from ")]
    homes: dict[str, str] = {line[3]: line[1] for line in lines}

    def load_name(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(homes[name])
        value = home if home.__name__ == f"{package}.{name}" else getattr(home, name)  # a package may be called itself
        setattr(module, name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*vars(module), *homes})

    return load_name, list_names, sorted(homes)
