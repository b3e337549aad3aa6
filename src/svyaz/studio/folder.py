"""The files of the folder in which the studio was started: models and kept states are read and written there, nowhere else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from svyaz.files import write_text
from svyaz.json_types import Json
from svyaz.studio.guard import RefusedRequest
from svyaz.studio.limits import Limits

ENDINGS = (".toml", ".urdf", ".studio.json")
NAME = re.compile(r"[^\W_][\w .+()-]{0,120}")
RESULT = re.compile(r"/out/(\w[\w-]*)/(\w[\w-]*\.[a-z]+)", re.ASCII)
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


@dataclass(frozen=True)
class Folder:
    """Files directly in one folder, by plain names with the endings of models and kept states."""

    path: Path
    limits: Limits

    def listed(self) -> list[Json]:
        """Names and sizes of the files that can be opened."""
        found = [p for p in sorted(self.path.iterdir()) if p.name.endswith(ENDINGS) and NAME.fullmatch(p.name)]
        kept = [p for p in found if p.is_file() and not p.is_symlink()]
        return [{"name": p.name, "size": p.stat().st_size} for p in kept[: self.limits.files]]

    def place(self, name: object) -> Path:
        """The path of a file by its plain name; anything else is refused."""
        if not isinstance(name, str) or not NAME.fullmatch(name) or RESERVED.fullmatch(name):
            raise RefusedRequest(400, "a file is called by a plain name: letters, digits, spaces, dots")
        if not name.endswith(ENDINGS):
            raise RefusedRequest(400, f"the studio opens and writes files that end in {', '.join(ENDINGS)}")
        path = self.path / name
        if path.is_symlink() or path.resolve().parent != self.path.resolve():
            raise RefusedRequest(400, "the file lies outside of the folder of the studio")
        return path

    def result(self, path: str) -> Path | None:
        """The path of a result, ``/out/NAME/FILE`` by plain names; None where it is none."""
        found = RESULT.fullmatch(path)
        if found is None:
            return None
        inside = self.path / "out" / found[1] / found[2]
        fits = inside.is_file() and inside.resolve() == self.path.resolve() / "out" / found[1] / found[2]
        return inside if fits else None

    def read(self, name: object) -> str:
        """The text of a file."""
        path = self.place(name)
        if not path.is_file():
            raise RefusedRequest(404, "there is no such file in the folder")
        if path.stat().st_size > self.limits.file_size:
            raise RefusedRequest(413, f"the file is larger than {self.limits.file_size} bytes")
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RefusedRequest(400, f"the file cannot be read: {error}") from error

    def write(self, name: object, text: object, *, over: bool) -> None:
        """Write a file whole; one that is there is replaced only when that is said."""
        path = self.place(name)
        if not isinstance(text, str) or len(text.encode("utf-8", "replace")) > self.limits.file_size:
            raise RefusedRequest(413, f"a file has at most {self.limits.file_size} bytes of text")
        if path.exists() and (not over or not path.is_file()):
            raise RefusedRequest(409, "there is a file of this name already")
        if not path.exists() and len(self.listed()) >= self.limits.files:
            raise RefusedRequest(507, f"the folder has {self.limits.files} such files already")
        try:
            write_text(path, text)
        except (OSError, UnicodeError) as error:
            raise RefusedRequest(507, f"the file cannot be written: {error}") from error
