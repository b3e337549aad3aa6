"""Looks over the boxes of reports in Chromium at the widths of telephones, tablets and screens.

The suite looks at a few reports; all of them, and models beyond the gallery, are looked at by

    python tests/tools/report_boxes.py [MODEL …] [--pictures FOLDER]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
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


def systems(asked: list[str]) -> Iterator[tuple[str, svyaz.System]]:
    """The models that were asked for, or all: the gallery, variants, robots from URDF, as far as they are installed."""
    if asked:
        for name in asked:
            yield name, svyaz.load(name)
        return
    for name in svyaz.gallery():
        family = name.partition(":")[0]
        full = f"{family}:{SIZES[family]}" if family in SIZES else name
        yield full, svyaz.load(full)
    for name, choices in VARIANTS:
        yield f"{name} {' '.join(choices.values())}", svyaz.load(name, **choices)
    yield from robots()


def robots() -> Iterator[tuple[str, svyaz.System]]:
    """Robots of the package example-robot-data, which stands beside Pinocchio."""
    folder = Path(sys.prefix) / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    for file in ("ur_description/urdf/ur5_robot.urdf", "solo_description/robots/solo.urdf"):
        for path in folder.glob(f"cmeel.prefix/share/example-robot-data/robots/{file}"):
            yield path.stem, svyaz.load(path)


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
        for number, (name, system) in enumerate(systems(asked.models)):
            page = svyaz.write_report(system.simulate(), Path(scratch, str(number)))
            tab = browser.open(page.as_uri())
            wrong = wrong_boxes(tab)
            print(
                f"{name}: {'nothing cut, nothing overlapping' if not wrong else ''}", *wrong, sep="\n    ", flush=True
            )
            bad += bool(wrong)
            if asked.pictures:
                take_pictures(tab, asked.pictures, name.replace("/", "-").replace(" ", "-").replace(":", "-"))
            tab.close()
    return min(bad, 1)


if __name__ == "__main__":
    raise SystemExit(main())
