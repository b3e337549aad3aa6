"""Where a motion was held because its rates jump, as a result tells it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from svyaz.motion.facts import Slide
from svyaz.motion.phases import Chapter, reached

MOST_NOTES = 3


def slides_of(chapters: Sequence[Chapter]) -> tuple[Slide, ...]:
    """The stretches in which surfaces were slid along, one after another; those that follow each other are joined."""
    found: list[Slide] = []
    for chapter in chapters:
        ends = [*(after.start for _, after in pairwise(chapter.modes)), chapter.end]
        for mode, end in zip(chapter.modes, ends, strict=False):
            for name in mode.sliding:
                before = next(
                    (k for k, s in enumerate(found) if s.surface == name and reached(s.end, mode.start)), None
                )
                begin = mode.start if before is None else found.pop(before).start
                found.append(Slide(name, begin, end))
    return tuple(sorted(found, key=lambda slide: slide.start))


def told_slides(slides: Sequence[Slide]) -> list[str]:
    """Notes on the first few of them."""
    notes = [
        f"{s.surface} = 0 is held from t = {s.start:.9g} to t = {s.end:.9g}: the rates jump there, and lead to it from both "
        "sides"
        for s in slides[:MOST_NOTES]
    ]
    more = len(slides) - MOST_NOTES
    return [*notes, f"… and so are surfaces {more} further times"] if more > 0 else notes
