"""Time to derive the three-link model in every form, from the model that was read to expressions."""

from __future__ import annotations

from bench.forms.operations import gallery_model
from bench.forms.plan import FORMS
from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, within

MODULE = "bench.forms.derivation"
LIMIT = 1.0
"""Seconds."""


def job(quick: bool) -> Job:
    return Job(MODULE, ("derive", "three-link"), 2 if quick else 5, 2.0)


def jobs(quick: bool) -> list[Job]:
    return [job(quick)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    return [
        within(f"three-link, derive {form}", series(samples, job(quick), form), [LIMIT], "a second", 1.0)
        for form in ("multipliers", *FORMS)
    ]


def derive_job(model: str) -> Answer:
    system = gallery_model(model)
    system.derive("multipliers")  # libraries are loaded
    found: Answer = {}
    for form in ("multipliers", *FORMS):
        begin = clock()
        system.derive(form)
        found[form] = clock() - begin
    return found


if __name__ == "__main__":
    answer({"derive": derive_job})
