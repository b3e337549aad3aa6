"""Answers that commands and pages give alike."""

from __future__ import annotations

from collections.abc import Mapping


class NegativeAnswer(Exception):
    """The question was understood and the answer is no: diverged, singular, infeasible.

    ``facts`` are what is known all the same.
    """

    def __init__(self, reason: str, facts: Mapping[str, object] | None = None) -> None:
        super().__init__(reason)
        self.reason, self.facts = reason, dict(facts or {})
