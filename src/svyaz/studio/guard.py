"""Who may ask: requests of this studio's own pages only, with its token.

Everybody with an account on this machine can connect to 127.0.0.1 and write any header. Only the token, which the studio
prints when it starts and the browser keeps in a cookie, tells its owner from them; without it nothing at all is served.

A page of another site can make a browser send requests here. It cannot choose the Host that the browser names (so a name
that was bound to 127.0.0.1 afterwards is seen), nor hide its Origin, nor send JSON without asking first, which is never
allowed.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

UNAUTHORISED = 401


def random_token() -> str:
    """A token that nobody guesses: 24 random bytes."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class RefusedRequest(Exception):
    """Why a request is not answered, with its status of HTTP."""

    status: int
    reason: str


@dataclass(frozen=True)
class RequestGuard:
    """``hosts`` are the names under which the studio is reached, with the port; an empty ``token`` lets everybody in.

    Browsers send a cookie to every port of a host, so each studio names its own by its port.
    """

    hosts: frozenset[str]
    token: str
    port: int = 0

    @property
    def cookie(self) -> str:
        """The name of the cookie that keeps the token."""
        return f"svyaz-studio-{self.port}"

    def check(self, method: str, target: str, headers: Mapping[str, str]) -> None:
        """Refuse what does not come from a page of the studio, or has not its token."""
        if headers.get("host", "").lower() not in self.hosts:
            raise RefusedRequest(421, "this studio does not answer under that name")
        origin = headers.get("origin")
        if origin is not None and not self._own(origin):
            raise RefusedRequest(403, "a page of another site asks")
        if from_other_site(headers) and not self.is_sign_in(method, target):
            raise RefusedRequest(403, "a page of another site asks")
        if method == "POST":
            if origin is None:
                raise RefusedRequest(403, "only pages of the studio ask, and they say so")
            if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                raise RefusedRequest(415, "questions are asked in JSON")
        if self.token and not self.knows_token(target, headers):
            reason = "open the address with its token that the studio printed when it was started"
            raise RefusedRequest(UNAUTHORISED, reason)

    def _own(self, origin: str) -> bool:
        scheme, _, host = origin.partition("://")
        return scheme == "http" and host.lower() in self.hosts

    def knows_token(self, target: str, headers: Mapping[str, str]) -> bool:
        """Is the token in the cookie, or in the address?"""
        return any(self._fits(given) for given in (*self._cookies(headers), *_tokens(target)))

    def is_sign_in(self, method: str, target: str) -> bool:
        """Does somebody who knows the token open the address that carries it, from wherever the link stands?"""
        return bool(self.token) and method != "POST" and any(self._fits(given) for given in _tokens(target))

    def _cookies(self, headers: Mapping[str, str]) -> list[str]:
        """What the cookie says; those of other servers on this host, however odd, do not matter."""
        pairs = [part.strip().partition("=") for part in headers.get("cookie", "").split(";")]
        return [value for name, _, value in pairs if name == self.cookie]

    def _fits(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


def from_other_site(headers: Mapping[str, str]) -> bool:
    """Does the browser say that a page of another site sent it?"""
    return headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")


def _tokens(target: str) -> Sequence[str]:
    """The tokens that an address carries."""
    try:
        return parse_qs(urlsplit(target).query).get("token", ())
    except ValueError:
        return ()
