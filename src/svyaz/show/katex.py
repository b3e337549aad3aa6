"""LaTeX to HTML by KaTeX, at build time and without any network; where KaTeX is not installed, to MathML.

The script, the style sheet and the fonts are those in the wheel of trame-markdown, whose two files are bundles of
several libraries; the part that is KaTeX is cut out of each, and the script runs in QuickJS, an embedded JavaScript
engine. Both come with the extra ``report``. Without it formulas become MathML, which browsers set by themselves.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import re
import threading
from collections.abc import Callable
from pathlib import Path

_CARRIER = "trame-markdown"
_SCRIPT_FILE = "trame_markdown/module/serve/trame-markdown.umd.js"
_STYLE_FILE = "trame_markdown/module/serve/style.css"

# KaTeX's first class (SourceLocation), and the frozen namespace that the bundler writes right after its last statement.
_SCRIPT_START = re.compile(r"class \w+\{constructor\(\w+,\w+,\w+\)\{this\.lexer=void 0")
_SCRIPT_END = re.compile(r"const \w+=Object\.freeze\(Object\.defineProperty\(\{__proto__:null,ParseError:")
_EXPORTED = re.compile(r"([\w$]+)=\{version:[\w$]+,render:")

_STYLE_START = "@font-face{font-family:KaTeX_"
_STYLE_END = "body{counter-reset:katexEqnNo"
_HEAVY_FONTS = re.compile(r',url\(data:[^)]*\) format\("(?:woff|truetype)"\)')

# Errors come back as text with a mark in front: an exception would lose KaTeX's own message on its way to Python.
# `join` makes one flat string of the pieces; the engine's lazy concatenations cannot cross into Python.
_CALL = """
(latex, display) => {
  try { return ["+", KATEX.renderToString(latex, {displayMode: display, strict: false, maxExpand: 10000})].join(""); }
  catch (error) { return ["-", error && error.message ? error.message : String(error)].join(""); }
}
"""

_engines = threading.local()


class LatexError(ValueError):
    """KaTeX does not accept a formula; the message is KaTeX's, with the place marked."""


def _carried(path: str) -> str:
    return Path(str(importlib.metadata.distribution(_CARRIER).locate_file(path))).read_text(encoding="utf-8")


@functools.cache
def _script() -> tuple[str, str]:
    """KaTeX's script, and the name in it of the object that carries `renderToString`."""
    bundle = _carried(_SCRIPT_FILE)
    start = _SCRIPT_START.search(bundle)
    end = _SCRIPT_END.search(bundle, start.start()) if start else None
    name = _EXPORTED.search(bundle, start.start(), end.start()) if start and end else None
    if not (start and end and name):
        raise RuntimeError(f"the installed {_CARRIER} does not carry KaTeX in the form known here; install version 3.1")
    return bundle[start.start() : end.start()], name.group(1)


def _engine() -> Callable[[str, bool], str]:
    """The rendering function of this thread: an engine may only be entered from the thread that made it."""
    if not hasattr(_engines, "call"):
        import quickjs

        script, name = _script()
        context = quickjs.Context()
        context.set_memory_limit(512 * 2**20)
        context.eval(f"{script}; globalThis.KATEX = {name}; undefined")
        _engines.version = context.eval("KATEX.version")
        _engines.call = context.eval(_CALL)
        _engines.context = context
    call: Callable[[str, bool], str] = _engines.call
    return call


@functools.cache
def installed() -> bool:
    """Is KaTeX here, with what runs it?"""
    return importlib.util.find_spec("quickjs") is not None and importlib.util.find_spec("trame_markdown") is not None


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
    if not installed():
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
    return f"KaTeX {version()}" if installed() else "the browser (MathML)"


@functools.cache
def stylesheet() -> str:
    """KaTeX's style sheet with its fonts inside as data: addresses (woff2), so that a page needs nothing else."""
    if not installed():
        return ""
    bundle = _carried(_STYLE_FILE)
    start = bundle.find(_STYLE_START)
    end = bundle.find(_STYLE_END, start)
    if start < 0 or end < 0:
        raise RuntimeError(
            f"the installed {_CARRIER} does not carry KaTeX's styles in the form known here; install version 3.1"
        )
    return _HEAVY_FONTS.sub("", bundle[start:end])
