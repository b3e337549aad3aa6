"""What was published beside what is computed, and reports of one's own."""

from __future__ import annotations

import base64
import resource
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from svyaz.json_types import Json
from svyaz.library import NegativeAnswer
from svyaz.motion import run_words
from svyaz.studio.questions import Tell
from svyaz.studio.questions.asked import Table, model_text, read_question, run_options, table, text
from svyaz.studio.questions.folders import out_folder

MOST_FIGURES = 40


def subjects(question: Table, tell: Tell) -> Mapping[str, object]:
    """The models about which something was published."""
    from svyaz_published import drawable
    from svyaz_published import subjects as known

    return {"subjects": list(known()), "drawable": list(drawable())}


def publish(question: Table, tell: Tell) -> Mapping[str, object]:
    """The rows of one subject, each computed and judged."""
    from svyaz_published import published as rows_of
    from svyaz_published import reproduce

    subject = _subject(question)
    rows = rows_of([subject])
    found: list[Json] = []
    for k, row in enumerate(rows):
        tell(k, len(rows))
        found.append(reproduce(row).as_json())
    return {"rows": found}


def figures(question: Table, tell: Tell) -> Mapping[str, object]:
    """The figures of one subject, drawn anew."""
    from svyaz_published import draw_figures, drawable

    subject = _subject(question)
    if subject not in drawable():
        raise NegativeAnswer(f"no figures were published of '{subject[:60]}'")
    with tempfile.TemporaryDirectory() as folder:
        done = 0

        def tell_name(name: str) -> None:
            nonlocal done
            done += 1
            tell(done, MOST_FIGURES)

        paths = [path for path in draw_figures([subject], Path(folder), tell_name) if path.suffix == ".png"]
        pictures: list[Json] = [
            {"name": path.stem, "png": base64.b64encode(path.read_bytes()).decode("ascii")}
            for path in paths[:MOST_FIGURES]
        ]
    return {"figures": pictures}


def _subject(question: Table) -> str:
    from svyaz_published import subjects as known

    subject = text(table(question, "options"), "subject") or ""
    if subject not in known():
        raise NegativeAnswer(f"nothing was published about '{subject[:60]}'")
    return subject


def report(question: Table, tell: Tell) -> Mapping[str, object]:
    """Write the report of a motion into the folder: page, pictures, table, numbers, a living page and a notebook."""
    from svyaz.files import write_text
    from svyaz.forms import derive
    from svyaz.motion import simulate
    from svyaz.show import as_json, latex_lines, living_page, plot_motion, write_report
    from svyaz.stabilise import options_for
    from svyaz.studio.questions.folders import write_record
    from svyaz.studio.questions.notebook import notebook_text

    given = read_question(question)
    how = run_options(given.options, given.system)
    folder = out_folder(question)
    until = options_for(given.system, run_words(how)).until
    motion = simulate(given.system, inputs=dict(given.laws) or None, progress=lambda t: tell(t, until), **how)
    motion.to_csv(folder / "motion.csv")
    write_record(as_json(motion), folder / "result.json")
    lines = latex_lines(derive(given.system, how["form"]))
    page = write_report(motion, folder)
    plot_motion(motion, folder / "motion.pdf")
    notes = _print(page)
    if len(motion.times) > 1:
        write_text(folder / "living.html", living_page(motion, lines))
    settings = {name: value for name, value in table(question, "settings").items() if name not in given.laws}
    write_text(folder / "notebook.ipynb", notebook_text(model_text(question)[0], settings, given, how))
    files: list[Json] = [str(path) for path in sorted(folder.iterdir()) if path.is_file()]
    return {"page": str(page), "files": files, "status": motion.status, "notes": notes}


def _print(page: Path) -> list[Json]:
    """Print the report as PDF beside it; the reason where no browser does it."""
    from svyaz.show import NoBrowser, write_pdf

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))  # a browser reserves far more than it takes
        write_pdf(page, page.with_suffix(".pdf"))
    except (NoBrowser, subprocess.TimeoutExpired) as reason:
        return [str(reason)]
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return []


ANSWERS = {"subjects": subjects, "published": publish, "figures": figures, "report": report}
