"""What a GGUF file says about itself, read without loading it.

An agent is built before its model is first used, and its summarisation needs the context window
then. The header has it in the first few kilobytes, and tells a model file from a web page that
was saved as one.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from deepnb.errors import UnknownModelError

if TYPE_CHECKING:
    from collections.abc import Iterator

_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}


def trained_context(path: str) -> int | None:
    """How many tokens the model in this file was trained to see, if the file says.

    Args:
        path: A GGUF file.

    Returns:
        The `ARCHITECTURE.context_length` of its header.

    Raises:
        UnknownModelError: There is no such file, or it is not a readable GGUF file.
    """
    try:
        with Path(path).expanduser().open("rb") as file:
            if file.read(4) != b"GGUF":
                raise UnknownModelError(
                    f"{path} is not a GGUF file. Give the path of a llama.cpp model, whose name "
                    "usually ends in .gguf; a download that stopped early must be repeated."
                )
            for key, value in _metadata(file):
                # A truth value is an integer to Python.
                if key.endswith(".context_length") and type(value) is int and value > 0:
                    return value
    except (struct.error, KeyError, UnicodeDecodeError) as error:
        raise UnknownModelError(
            f"The header of {path} is damaged. Download the file again."
        ) from error
    except (OSError, ValueError, RuntimeError) as error:
        # The latter two are Python's for a path with a null byte, and for an unknown `~user`.
        reason = getattr(error, "strerror", None) or error
        raise UnknownModelError(
            f"The model file {path} could not be read ({reason}). "
            "Check the path; download the file first if it is not on this machine."
        ) from error
    return None


def _metadata(file: BinaryIO) -> Iterator[tuple[str, object]]:
    _version, _tensors, entries = _unpack(file, "IQQ")
    for _ in range(entries):
        key = _string(file).decode()
        yield key, _value(file, _unpack(file, "I")[0])


def _value(file: BinaryIO, kind: int) -> object:
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY:
        _skip_array(file)
        return None
    return _unpack(file, _SCALARS[kind])[0]


def _skip_array(file: BinaryIO) -> None:
    of, length = _unpack(file, "IQ")
    if of in _SCALARS:
        size = length * struct.calcsize(_SCALARS[of])
        _check_length(size)
        file.seek(size, 1)
    elif of == _STRING:
        for _ in range(length):
            _string(file)
    else:
        # The format knows arrays of arrays; no model has any.
        raise struct.error(f"an array of type {of}")


def _string(file: BinaryIO) -> bytes:
    (length,) = _unpack(file, "Q")
    return _exactly(file, length)


def _unpack(file: BinaryIO, layout: str) -> tuple[int, ...]:
    return struct.unpack("<" + layout, _exactly(file, struct.calcsize("<" + layout)))


def _exactly(file: BinaryIO, length: int) -> bytes:
    _check_length(length)
    return file.read(length)


def _check_length(length: int) -> None:
    # A damaged length would otherwise ask for exabytes of memory.
    if length > 1 << 30:
        raise struct.error(f"a length of {length} bytes")
