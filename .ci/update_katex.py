#!/usr/bin/env python3
"""Takes a release of KaTeX from the npm registry into the package: its script, styles, some fonts, and its licence.

    .ci/update_katex.py [VERSION]        the last of the series 0.16 unless given: pages style its class "base"

The tarball is compared with the integrity that the registry states for it. SHA256SUMS keeps that, and the checksum of every
file; `tests/show/test_katex.py` compares them. Files are taken as they are. Then look at a report in a browser.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import tarfile
from hashlib import sha256, sha512
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

TARGET = Path(__file__).parents[1] / "src" / "svyaz" / "show" / "assets" / "katex"
FONTS = ("AMS-Regular", "Caligraphic-Regular", "Main-Regular", "Main-Italic", "Main-Bold", "Main-BoldItalic")
FONTS += ("Math-Italic", "Math-BoldItalic", "SansSerif-Regular", *(f"Size{size}-Regular" for size in (1, 2, 3, 4)))
"""Fonts of what is written here: letters, operators, \\mathsf, \\mathcal, \\mathbb; no Fraktur, script or typewriter."""
FILES = {
    "package/LICENSE": "LICENSE",
    "package/dist/katex.min.js": "katex.min.js",
    "package/dist/katex.min.css": "katex.min.css",
    **{f"package/dist/fonts/KaTeX_{name}.woff2": f"fonts/KaTeX_{name}.woff2" for name in FONTS},
}


def npm(*arguments: str, cwd: str) -> str:
    """What npm prints."""
    return subprocess.run(["npm", *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout


def main(wanted: str) -> None:
    """Fetch, verify, write."""
    with TemporaryDirectory() as folder:
        stated = json.loads(npm("view", f"katex@{wanted}", "version", "dist.integrity", "--json", cwd=folder))
        version, integrity = stated["version"], stated["dist.integrity"]
        npm("pack", f"katex@{version}", cwd=folder)
        tarball = Path(folder, f"katex-{version}.tgz")
        found = "sha512-" + base64.b64encode(sha512(tarball.read_bytes()).digest()).decode()
        if found != integrity:
            sys.exit(f"the tarball of katex {version} is not what the registry states: {found}, not {integrity}")
        with tarfile.open(tarball) as archive:
            data = {name: archive.extractfile(member).read() for member, name in FILES.items()}
    rmtree(TARGET, ignore_errors=True)
    for name, content in data.items():
        (TARGET / name).parent.mkdir(parents=True, exist_ok=True)
        (TARGET / name).write_bytes(content)
    sums = [f"{sha256(content).hexdigest()}  {name}\n" for name, content in sorted(data.items())]
    head = f"# katex {version} of the npm registry, {integrity}\n"
    (TARGET / "SHA256SUMS").write_text(head + "".join(sums), encoding="utf-8")
    print(f"katex {version}: {len(data)} files, {sum(map(len, data.values()))} bytes")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "0.16.47")
