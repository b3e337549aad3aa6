"""What the studio serves of itself: a table of all its files, read once. What is not in the table is not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from svyaz.show import asset

KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json; charset=utf-8",
    "svg": "image/svg+xml",
}


def _small_page(body: str, head: str = "") -> bytes:
    style = "<style>:root{color-scheme:light dark}body{font:16px sans-serif;margin:3rem auto;max-width:40rem}</style>"
    meta = "<meta charset='utf-8'><meta name='viewport' content='width=device-width, initial-scale=1'>"
    title = "<title>svyaz studio: sign in</title>"
    heading = "<h1>svyaz studio</h1>"
    whole = f"<head>{meta}{title}{style}{head}</head><body><main>{heading}{body}</main></body>"
    return f"<!doctype html><html lang='en'>{whole}</html>\n".encode()


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""Of every answer: nothing is loaded from elsewhere, nothing written in a model becomes a script, nobody frames a page."""


SANDBOX = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src 'self' data:; font-src data:; base-uri 'none'; form-action 'none'"
)
"""Of reports that were written: their scripts run as those of a stranger, who may ask the studio for nothing."""

SMALL_PAGE = {
    "content-type": KINDS["html"],
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
}
"""Of the pages that are seen before the studio is open."""

SIGN_IN = _small_page(
    "<form><p><label>Token of this studio: <input name='token' type='password' autocomplete='off' required autofocus></label> "
    "<button>Open</button></p><p>The studio printed an address with its token when it was started.</p></form>"
)
"""Asks for the token."""

SIGNED_IN = _small_page("<p><a href='/'>Open the studio</a></p>", "<meta http-equiv='refresh' content='0; url=/'>")
"""Opens the studio from a page of its own: a browser that came from elsewhere withholds the cookie until then."""

WRITTEN = KINDS | {
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
    "pdf": "application/pdf",
    "ipynb": "application/x-ipynb+json",
}
"""Kinds of results that are handed out."""


@dataclass(frozen=True)
class Served:
    """A file with its kind and a mark that changes with its text."""

    kind: str
    data: bytes
    mark: str


@cache
def site_files() -> dict[str, Served]:
    """All files by their address."""
    found = {f"/{path}": _serve(path, entry.read_bytes()) for path, entry in _walk(files("svyaz.studio") / "assets")}
    found["/"] = found["/index.html"]
    found["/core/picture.js"] = _serve("picture.js", asset("living/picture.js").encode())  # that of living pages
    return found


def typesetting() -> Served:
    """The style sheet of formulas, with its fonts; empty where the browser sets them by itself."""
    from svyaz.show import stylesheet

    return _serve("formulas.css", stylesheet().encode())


def _serve(path: str, data: bytes) -> Served:
    return Served(KINDS[path.rpartition(".")[2]], data, sha256(data).hexdigest()[:20])


def _walk(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.rpartition(".")[2] in KINDS:
            yield f"{prefix}{entry.name}", entry
