"""Frames on a pipe: the length of a JSON header (4 bytes, little-endian), the length of a body (8 bytes), the header, the body."""

from __future__ import annotations

import json
import struct

_LENGTHS = struct.Struct("<IQ")
HEADER_BYTES_MAX = 64 << 20
BODY_BYTES_MAX = 4 << 30


class Malformed(ValueError):
    """The bytes are not a frame."""


def pack(header: dict, body: bytes = b"") -> bytes:
    """Returns a frame."""
    text = json.dumps(header).encode()
    return _LENGTHS.pack(len(text), len(body)) + text + body


def read(read_exactly) -> tuple[dict, bytes] | None:
    """Reads a frame by `read_exactly(bytes)`, which returns None at the end of the stream; None when the stream ended."""
    lengths = read_exactly(_LENGTHS.size)
    if lengths is None:
        return None
    header_bytes, body_bytes = _LENGTHS.unpack(lengths)
    if header_bytes > HEADER_BYTES_MAX or body_bytes > BODY_BYTES_MAX:
        raise Malformed(f"a frame with a header of {header_bytes} and a body of {body_bytes} bytes; at most {HEADER_BYTES_MAX} and {BODY_BYTES_MAX}")
    text = read_exactly(header_bytes)
    body = read_exactly(body_bytes) if text is not None else None
    if body is None:
        return None
    try:
        header = json.loads(text)
    except ValueError as error:
        raise Malformed(f"the header of a frame is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise Malformed("the header of a frame is not a JSON object")
    return header, body
