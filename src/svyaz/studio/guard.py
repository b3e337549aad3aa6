"""Who may ask: requests of this studio's own pages only, with the token where there is one.

A page of another site can make a browser send requests here. It cannot choose the Host that the browser names (so a name
that was bound to 127.0.0.1 afterwards is seen), nor hide its Origin, nor send JSON without asking first, which is never
allowed.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

COOKIE = "svyaz-studio"


@dataclass(frozen=True)
class RefusedRequest(Exception):
    """Why a request is not answered, with its status of HTTP."""

    status: int
    reason: str


@dataclass(frozen=True)
class RequestGuard:
    """``hosts`` are the names under which the studio is reached, with the port; ``token`` may be empty."""

    hosts: frozenset[str]
    token: str = ""

    def check(self, method: str, target: str, headers: Mapping[str, str]) -> None:
        """Refuse what does not come from a page of the studio, or has not its token."""
        if headers.get("host", "").lower() not in self.hosts:
            raise RefusedRequest(421, "this studio does not answer under that name")
        origin = headers.get("origin")
        if origin is not None and not self._own(origin):
            raise RefusedRequest(403, "a page of another site asks")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise RefusedRequest(403, "a page of another site asks")
        if method == "POST":
            if origin is None:
                raise RefusedRequest(403, "only pages of the studio ask, and they say so")
            if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                raise RefusedRequest(415, "questions are asked in JSON")
        if self.token and not self.knows_token(target, headers):
            raise RefusedRequest(401, "open the address with its token that the studio printed when it was started")

    def _own(self, origin: str) -> bool:
        scheme, _, host = origin.partition("://")
        return scheme == "http" and host.lower() in self.hosts

    def knows_token(self, target: str, headers: Mapping[str, str]) -> bool:
        """Is the token in the cookie, or in the address?"""
        return any(self._fits(given) for given in (*_cookies(headers), *self.in_address(target)))

    def in_address(self, target: str) -> Sequence[str]:
        """The tokens that an address carries."""
        try:
            return parse_qs(urlsplit(target).query).get("token", ())
        except ValueError:
            return ()

    def _fits(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


def _cookies(headers: Mapping[str, str]) -> list[str]:
    try:
        jar = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return []
    return [jar[COOKIE].value] if COOKIE in jar else []
