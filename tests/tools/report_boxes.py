"""Looks over the boxes of reports in Chromium at the widths of telephones, tablets and screens.

The suite looks at a few reports; all of them, and models beyond the gallery, are looked at by

    python tests/tools/report_boxes.py [NAME …] [--pictures FOLDER]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from chromium import Browser, Tab, executable

import svyaz

SCRIPT = (Path(__file__).parent / "boxes.js").read_text(encoding="utf-8")
WIDTHS = {360: 740, 768: 1024, 1366: 768, 1920: 1080}
"""Height of the window, by its width."""

VARIANTS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("ball-and-beam", {"control": "voltage"}),
    ("ball-on-plane", {"coordinates": "angles"}),
    ("bicycle", {"control": "steer"}),
    ("heavy-symmetric-top", {"mounting": "gimbal"}),
    ("rolling-disc", {"control": "torques"}),
    ("spherical-pendulum", {"coordinates": "cartesian"}),
    ("three-link", {"potential": "full"}),
)
SIZES = {"chain": 60, "pendulum": 8, "random-tree": 40}
"""How many links or bodies the families of the gallery are given."""


def wrong_boxes(tab: Tab) -> list[str]:
    """What is wrong with the report that the tab shows: cut, overlapping, scrolled, or the player below the first view."""
    wrong = []
    for width, height in WIDTHS.items():
        tab.size(width, height)
        found = tab.run(SCRIPT)
        wrong += [f"{width}: {text}" for text in found["wrong"]]
        if width >= 768 and found["scrolled"]:
            wrong.append(f"{width}: formulas are wider than their places by {found['scrolled']} pixels")
        if (width, height) == (1366, 768) and found["controls"] is not None and found["controls"] > height:
            wrong.append(f"{width}: the player ends at {found['controls']:.0f}, below the first view")
    return wrong + tab.faults


def systems() -> Iterator[tuple[str, Callable[[], svyaz.System]]]:
    """The gallery, variants, a long chain of rods, and robots as far as they are installed: names, and what makes each."""
    for name in svyaz.gallery():
        family = name.partition(":")[0]
        full = f"{family}:{SIZES[family]}" if family in SIZES else name
        yield full, partial(svyaz.load, full)
    for name, choices in VARIANTS:
        yield f"{name} {' '.join(choices.values())}", partial(svyaz.load, name, **choices)
    yield "rods", rods
    yield from robots()


def rods(count: int = 60) -> svyaz.System:
    """Masses one below the other on rods, in x and y: as many constraints as masses."""
    names = [axis + str(k) for k in range(1, count + 1) for axis in "xy"]
    constraints = [{"name": "rod 1", "equation": "x1^2 + y1^2 = l^2"}]
    constraints += [
        {"name": f"rod {k}", "equation": f"(x{k} - x{k - 1})^2 + (y{k} - y{k - 1})^2 = l^2"}
        for k in range(2, count + 1)
    ]
    return svyaz.System(
        name=f"{count} masses on rods",
        coordinates=names,
        kinetic=" + ".join(f"m/2*{name}'^2" for name in names),
        potential=" + ".join(f"m*g*y{k}" for k in range(1, count + 1)),
        parameters={"m": 0.1, "l": 0.1, "g": 9.81},
        constraint=constraints,
        initial={f"x{k}": 0.1 * k for k in range(1, count + 1)},
        run={"until": 0.5, "stabilize": "projection"},
    )


def robots() -> Iterator[tuple[str, Callable[[], svyaz.System]]]:
    """Robots of the package example-robot-data, which stands beside Pinocchio."""
    folder = Path(sys.prefix) / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    for file in ("ur_description/urdf/ur5_robot.urdf", "solo_description/robots/solo.urdf"):
        for path in folder.glob(f"cmeel.prefix/share/example-robot-data/robots/{file}"):
            yield path.stem, partial(svyaz.load, path)


def take_pictures(tab: Tab, folder: Path, name: str) -> None:
    """PNGs of the whole report: light and dark on a screen, narrow, and as it is printed."""
    folder.mkdir(parents=True, exist_ok=True)
    looks = {"light": (1366, "", "light"), "dark": (1366, "", "dark"), "narrow": (360, "", "light")}
    for look, (width, media, scheme) in {**looks, "print": (794, "print", "light")}.items():
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        tab.ask("Emulation.setEmulatedMedia", {"media": media, "features": features})
        tab.size(width, 768)
        tab.picture(folder / f"{name}-{look}.png", whole=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*")
    parser.add_argument(
        "--pictures", type=Path, help="the folder for pictures of every report, light, dark and printed"
    )
    asked = parser.parse_args()
    if executable() is None:
        print("there is no Chromium on this machine", file=sys.stderr)
        return 1
    bad = 0
    with tempfile.TemporaryDirectory() as scratch, Browser(Path(scratch, "profile")) as browser:
        for number, (name, make) in enumerate(systems()):
            if asked.models and name not in asked.models:
                continue
            page = svyaz.write_report(make().simulate(), Path(scratch, str(number)))
            tab = browser.open(page.as_uri())
            wrong = wrong_boxes(tab)
            print(f"{name}:", *(wrong or ["nothing cut, nothing overlapping"]), sep="\n    ", flush=True)
            bad += bool(wrong)
            if asked.pictures:
                take_pictures(tab, asked.pictures, name.replace("/", "-").replace(" ", "-").replace(":", "-"))
            tab.close()
    return min(bad, 1)


if __name__ == "__main__":
    raise SystemExit(main())
