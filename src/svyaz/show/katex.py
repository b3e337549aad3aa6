"""LaTeX to HTML by KaTeX, at build time and without any network; without its engine, to MathML.

A release of KaTeX lies in ``assets/katex``, with its licence (``.ci/update_katex.py`` renews it). Its script runs in QuickJS,
an embedded JavaScript engine that comes with the extra ``report``. Without it formulas become MathML, which browsers set by
themselves.
"""

from __future__ import annotations

import base64
import functools
import importlib.util
import re
import threading
from collections.abc import Callable
from importlib.resources import files

from svyaz.show.files import asset

_FONT_FACE = re.compile(r"@font-face\{[^}]*?url\(fonts/([\w-]+\.woff2)\)[^}]*\}")
_SOURCES = re.compile(r"src:[^;}]*")

# Errors come back as text with a mark in front: an exception would lose KaTeX's own message on its way to Python.
# `join` makes one flat string of the pieces; the engine's lazy concatenations cannot cross into Python.
_CALL = """
(latex, display) => {
  try { return ["+", katex.renderToString(latex, {displayMode: display, strict: false, maxExpand: 10000})].join(""); }
  catch (error) { return ["-", error && error.message ? error.message : String(error)].join(""); }
}
"""

_engines = threading.local()


class LatexError(ValueError):
    """KaTeX does not accept a formula; the message is KaTeX's, with the place marked."""


def _engine() -> Callable[[str, bool], str]:
    """The rendering function of this thread: an engine may only be entered from the thread that made it."""
    if not hasattr(_engines, "call"):
        import quickjs

        context = quickjs.Context()
        context.set_memory_limit(512 * 2**20)
        context.eval(asset("katex/katex.min.js"))
        _engines.version = context.eval("katex.version")
        _engines.call = context.eval(_CALL)
        _engines.context = context
    call: Callable[[str, bool], str] = _engines.call
    return call


@functools.cache
def is_installed() -> bool:
    """Is the engine here that runs KaTeX?"""
    return importlib.util.find_spec("quickjs") is not None


def _mathml(latex: str, display: bool) -> str:
    """MathML of a LaTeX formula."""
    from latex2mathml import converter

    try:
        return str(converter.convert(latex, display="block" if display else "inline"))
    except Exception as error:  # it tells mistakes by many kinds of errors, of Python too
        raise LatexError(f"{type(error).__name__}: {error}") from error


@functools.lru_cache(maxsize=4096)
def render(latex: str, display: bool = True) -> str:
    """HTML of a LaTeX formula, the visible part and MathML for reading aids; LatexError where KaTeX finds a mistake."""
    if not is_installed():
        return _mathml(latex, display)
    result = _engine()(latex, display)
    if not result.startswith("+"):
        raise LatexError(result[1:])
    return result[1:]


def version() -> str:
    """KaTeX's own version number."""
    _engine()
    return str(_engines.version)


def setter() -> str:
    """Who sets the formulas: KaTeX, or the browser."""
    return f"KaTeX {version()}" if is_installed() else "the browser (MathML)"


@functools.cache
def stylesheet() -> str:
    """KaTeX's style sheet with its fonts inside as data: addresses (woff2), so that a page needs nothing else."""
    return _FONT_FACE.sub(_font_face, asset("katex/katex.min.css")) if is_installed() else ""


def _font_face(found: re.Match[str]) -> str:
    """The rule of a font with the font in it; nothing for a font that is not carried."""
    font = files("svyaz.show").joinpath("assets", "katex", "fonts", found[1])
    if not font.is_file():
        return ""
    data = base64.b64encode(font.read_bytes()).decode()
    return _SOURCES.sub(f'src:url(data:font/woff2;base64,{data}) format("woff2")', found[0])
