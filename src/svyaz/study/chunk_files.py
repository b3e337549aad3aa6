"""Arrays in folders, as Zarr 3 lays them down: a ``zarr.json`` that describes an array, a compressed file for each chunk.

Anything that reads Zarr reads them, xarray among others. A chunk appears whole or not at all: it is written beside its place
and then takes its name. The CRC-32 of gzip tells one that was torn or damaged.

Source: Zarr core specification, version 3.0, https://zarr-specs.readthedocs.io/en/latest/v3/core/v3.0.html
"""

from __future__ import annotations

import gzip
import json
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from svyaz.files import with_path
from svyaz.json_types import Json

ABOUT = "zarr.json"
LEVEL = 1
"""Of gzip: digits of measures hardly shrink, empty places do."""
LONGEST = 200
"""Bytes of the name of a folder."""
KINDS: dict[str, tuple[Json, list[Json]]] = {
    "float64": ("NaN", [{"name": "bytes", "configuration": {"endian": "little"}}]),
    "int8": (0, [{"name": "bytes"}]),
    "string": ("", [{"name": "vlen-utf8"}]),
}
"""Type of data → what stands where nothing was written, and how entries become bytes."""

Place = tuple[int, ...]
Scalar = TypeVar("Scalar", bound=np.generic)


def array_about(
    kind: str, shape: Sequence[int], chunks: Sequence[int], dimensions: Sequence[str], told: Mapping[str, Json]
) -> dict[str, Json]:
    """What the ``zarr.json`` of an array says; ``told`` are its attributes."""
    empty, codecs = KINDS[kind]
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": kind,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": empty,
        "codecs": [*codecs, {"name": "gzip", "configuration": {"level": LEVEL}}],
        "attributes": dict(told),
        "dimension_names": list(dimensions),
        "storage_transformers": [],
    }


def group_about(told: Mapping[str, Json], arrays: Mapping[str, Json]) -> dict[str, Json]:
    """What the ``zarr.json`` of a group of arrays says, those of its arrays with it (consolidated metadata)."""
    within: dict[str, Json] = {"kind": "inline", "must_understand": False, "metadata": dict(arrays)}
    return {"zarr_format": 3, "node_type": "group", "attributes": dict(told), "consolidated_metadata": within}


def folder_name(name: str) -> str:
    """The name of a quantity as that of a folder, which has no slash, does not begin with __ and has an end."""
    plain = "".join("∕" if c == "/" else "·" if c < " " else c for c in name)
    plain = f"·{plain}" if plain.startswith(("__", ".")) else plain
    if len(plain.encode()) <= LONGEST:
        return plain
    return f"{plain.encode()[: LONGEST - 20].decode(errors='ignore')}… {zlib.crc32(name.encode()):08x}"


def chunk_file(array: Path, place: Place) -> Path:
    """Where the chunk of this place in the grid of chunks is."""
    return array.joinpath("c", *map(str, place))


def about(folder: Path) -> dict[str, Any] | None:
    """What ``zarr.json`` in a folder says; None where there is none. ValueError where it cannot be read."""
    content = _content(folder / ABOUT)
    if content is None:
        return None
    found = json.loads(content)
    if not isinstance(found, dict):
        raise ValueError("no table")
    return found


def tell(folder: Path, words: Mapping[str, Json]) -> None:
    """Write ``zarr.json``, where it does not say so already."""
    content = json.dumps(words, indent=1, ensure_ascii=True).encode()
    if _content(folder / ABOUT) != content:
        _write(folder / ABOUT, content)


def write_numbers(array: Path, place: Place, values: NDArray[np.generic]) -> None:
    """Numbers of a chunk, in the order of C."""
    _write(
        chunk_file(array, place), gzip.compress(values.astype(values.dtype.newbyteorder("<")).tobytes(), LEVEL, mtime=0)
    )


def read_numbers(array: Path, place: Place, kind: type[Scalar], count: int) -> NDArray[Scalar] | None:
    """The numbers of a chunk, flat; None where it is not there, or is damaged."""
    content = _unpack(chunk_file(array, place))
    type_ = np.dtype(kind).newbyteorder("<")
    if content is None or len(content) != count * type_.itemsize:
        return None
    return np.frombuffer(content, dtype=type_).astype(kind)


def write_texts(array: Path, place: Place, texts: Mapping[int, str], count: int) -> None:
    """Texts of a chunk by their places in it: the length of each in four bytes, then the text; before all, their number."""
    parts = [b"\0\0\0\0"] * count
    for number, text in texts.items():
        content = text.encode(errors="replace")
        parts[number] = struct.pack("<I", len(content)) + content
    _write(chunk_file(array, place), gzip.compress(struct.pack("<I", count) + b"".join(parts), LEVEL, mtime=0))


def read_texts(array: Path, place: Place, count: int) -> dict[int, str] | None:
    """The texts of a chunk that are not empty, by their places in it; None where it is not there, or is damaged."""
    content = _unpack(chunk_file(array, place))
    if content is None or content[:4] != struct.pack("<I", count):
        return None
    if len(content) == 4 + 4 * count:
        return {}
    found, begin = {}, 4
    for number in range(count):
        (length,) = struct.unpack_from("<I", content, begin)
        if length:
            found[number] = content[begin + 4 : begin + 4 + length].decode()
        begin += 4 + length
    return found


def _unpack(file: Path) -> bytes | None:
    content = _content(file)
    try:
        return None if content is None else gzip.decompress(content)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        return None


def _content(file: Path) -> bytes | None:
    with with_path(file):
        try:
            return file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None


def _write(file: Path, content: bytes) -> None:
    """Write a file beside its place, under a name that the next trial takes too, and let it take its own."""
    beside = file.with_name(f"{file.name}.partial")
    with with_path(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_bytes(content)
            os.replace(beside, file)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
