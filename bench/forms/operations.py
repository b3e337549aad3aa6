"""Operations of one evaluation of the rates, linear solve included, in every form that applies; same optimiser for all."""

from __future__ import annotations

from bench.forms.plan import FORMS, MODELS
from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row, within

MODULE = "bench.forms.operations"


def job(model: str) -> Job:
    return Job(MODULE, ("count", model), 1, 2.0)


def jobs(quick: bool) -> list[Job]:
    return [job(model) for model in MODELS]


def rows(samples: Samples, quick: bool) -> list[Row]:
    return [row for model in MODELS for row in _rows_of(samples, model)]


def _rows_of(samples: Samples, model: str) -> list[Row]:
    """All forms reported; the cheapest of those without multipliers must not cost more than the multiplier form."""
    full = series(samples, job(model), "multipliers")
    found = {form: counts for form in FORMS if (counts := [c for c in series(samples, job(model), form) if c > 0])}
    told = [
        within(f"{model}, {form}", counts, full, "multipliers", None, unit="operations")
        for form, counts in found.items()
    ]
    if found:
        best = min(found, key=lambda form: found[form][0])
        told.append(
            within(f"{model}, cheapest", found[best], full, "multipliers", 1.0, unit="operations", note=f"form {best}")
        )
    return told


def gallery_model(name: str):  # type: ignore[no-untyped-def]
    """The system called NAME or NAME:CHOICE."""
    from svyaz import gallery, loads

    stem, _, choice = name.partition(":")
    variants = gallery.variants_of(stem)
    choices = {what: choice for what, known in variants.items() if choice in known} if choice else {}
    text = gallery.find(stem, choices)
    assert text is not None
    return loads(text, name)


def count_job(model: str) -> Answer:
    """Operations by form; 0 for a form that does not apply."""
    from svyaz.expr import ModelError
    from svyaz.forms.programs import rates_of, rates_program
    from svyaz.program.counts import operations

    system = gallery_model(model)
    found: Answer = {}
    for form in ("multipliers", *FORMS):
        try:
            equations = system.derive(form)
        except ModelError:
            found[form] = 0
            continue
        found[form] = sum(operations(rates_program(equations, rates_of(equations))).values())
    return found


if __name__ == "__main__":
    answer({"count": count_job})
