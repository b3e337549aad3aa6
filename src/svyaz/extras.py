"""Libraries that svyaz uses where they are installed: each belongs to an extra, and a missing one says to which."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingLibrary(ModuleNotFoundError):
    """A library that only some questions need is not installed; the message says what installs it."""


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Imports of an extra: ``pip install "svyaz[name]"`` installs what is missing.

    >>> with extra("data"):
    ...     import a_library_that_nobody_has
    Traceback (most recent call last):
    svyaz.extras.MissingLibrary: this needs a_library_that_nobody_has, which is not installed: pip install "svyaz[data]"
    """
    try:
        yield
    except MissingLibrary:
        raise
    except ModuleNotFoundError as missing:
        wanted = (missing.name or str(missing)).partition(".")[0]
        message = f'this needs {wanted}, which is not installed: pip install "svyaz[{name}]"'
        raise MissingLibrary(message, name=missing.name) from missing
