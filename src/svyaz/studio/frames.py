"""Messages between browser, server and processes: a table of JSON whose arrays of numbers follow as plain bytes.

A frame (see ``svyaz.worker_process``) has the JSON and the bytes. An array stands in the JSON as
``{"array": where, "shape": [...]}``, ``where`` the place of its first byte among the bytes, which are 64-bit floats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, TypeGuard

from svyaz.json_types import Json
from svyaz.worker_process import HEAD

if TYPE_CHECKING:
    import numpy as np


def encode(message: Mapping[str, object]) -> bytes:
    """A frame of the message; numbers that are not finite are null in the JSON and themselves in arrays."""
    arrays: list[bytes] = []
    text = json.dumps(_plain(message, arrays), ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    text += b" " * (-(len(text) + HEAD.size) % 8)
    return HEAD.pack(len(text), sum(map(len, arrays))) + text + b"".join(arrays)


def _plain(value: object, arrays: list[bytes]) -> Json:
    if isinstance(value, Mapping):
        return {str(name): _plain(part, arrays) for name, part in value.items()}
    if _is_array(value):
        where = sum(map(len, arrays))
        arrays.append(value.astype("<f8", order="C").tobytes())
        return {"array": where, "shape": list(value.shape)}
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):  # those of NumPy too
        return float(value) if isfinite(value) else None
    assert isinstance(value, Sequence | set | frozenset), f"{type(value)} is not sent"
    return [_plain(part, arrays) for part in value]


def _is_array(value: object) -> TypeGuard[np.ndarray]:
    """Is it an array of NumPy? The server does not load NumPy, and sends none."""
    return hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, float)
