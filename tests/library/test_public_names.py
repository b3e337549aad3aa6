"""Every public name of the library says what it is, with shapes and an example that runs."""

from __future__ import annotations

import doctest
import inspect
import pydoc

import pytest

import svyaz

NAMES = tuple(sorted(svyaz.__all__))
ARRAYS = {
    "FirstApproximation": "(n, n)",
    "LinearModel": "(n, n)",
    "Motion": "(2,)",
    "Native": "(k, n)",
    "NumericEquations": "(k, n)",
    "Regulation": "(n, n)",
    "lqr": "(n, n)",
    "simulate": "(k, n)",
    "solve": "(",
}
"""What gives or takes arrays, and a shape that its text tells."""


def documented(name: str) -> object:
    """The object whose text is meant; the gallery is called by the name of its package."""
    return svyaz.gallery.gallery if name == "gallery" else getattr(svyaz, name)


@pytest.mark.parametrize("name", NAMES)
def test_P2_the_example_of_a_public_name_runs(name) -> None:
    found = inspect.unwrap(documented(name))
    module = inspect.getmodule(found)
    text = found.__doc__ or ""
    examples = doctest.DocTestParser().get_doctest(text, dict(vars(module)), name, module.__file__, 0)
    assert examples.examples, f"{name} has no example"
    assert ARRAYS.get(name, "") in text
    told: list[str] = []
    doctest.DocTestRunner(verbose=False).run(examples, out=told.append)
    assert "".join(told) == ""


@pytest.mark.parametrize("name", [name for name in NAMES if inspect.isclass(documented(name))])
def test_P2_whatever_a_public_class_offers_is_documented(name) -> None:
    kind = documented(name)
    bare = [
        attribute
        for attribute, value in vars(kind).items()
        if not attribute.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod))
        and not inspect.getdoc(getattr(kind, attribute))
    ]
    assert bare == []


def test_P2_help_lists_the_library() -> None:
    shown = pydoc.plain(pydoc.render_doc(svyaz))
    missing = [name for name in NAMES if name not in shown]
    assert missing == []
    assert "State a system by" in shown
