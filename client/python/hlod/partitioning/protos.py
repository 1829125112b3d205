"""Reads a few fields of XLA's messages without protobuf's library (proto/xla/hlo.proto has all fields)."""

from __future__ import annotations

import dataclasses


def fields(message: bytes):
    """Yields the fields of a message as (number, value): bytes, or an int for a varint."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(message, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = message[at : at + size], at + size
        elif kind == 2:
            size, at = _varint(message, at)
            if at + size > len(message):
                raise ValueError("a truncated message")
            value, at = message[at : at + size], at + size
        else:
            raise ValueError("not a message")
        yield tag >> 3, value


def module_of(message: bytes) -> bytes:
    """Returns the HloModuleProto in an HloProto (field 1), or the message itself when it is an HloModuleProto, whose field 1 is its name."""
    if message[:1] != b"\x0a":
        return message
    size, at = _varint(message, 1)
    inner = message[at : at + size]
    return inner if len(inner) == size and inner[:1] == b"\x0a" and size > len(message) // 2 else message


def is_whole_dump(message: bytes) -> bool:
    """Returns True when a dumped HloProto, which has one field, is complete."""
    try:
        size, at = _varint(message, 1)
    except (IndexError, ValueError):
        return False
    return message[:1] == b"\x0a" and at + size == len(message)


@dataclasses.dataclass
class Donations:
    """The parameters whose memory results may use: a given result, or any result that the compiler chooses."""

    aliases: dict  # Maps parameters to results.
    donors: set


def donations(module: bytes) -> Donations:
    """Returns the donations of whole parameters of an HloModuleProto."""
    found = Donations({}, set())
    for number, value in fields(module):
        if number not in (8, 18):
            continue
        for _, entry in fields(value):
            numbers = {}
            for field, part in fields(entry):
                numbers[field] = [part] if isinstance(part, int) else list(_packed(part))
            if number == 8:
                found.aliases[numbers.get(2, [0])[0]] = numbers.get(1, [0])[0]
            else:
                found.donors.add(numbers.get(1, [0])[0])
    return found


def with_partitions(module: bytes, partitions: int) -> bytes:
    """Returns an HloModuleProto whose device assignment (field 15) gives each partition a device; a dump of compile.py has one device."""
    devices = b"".join(_field(3, _field(1, _packed_varint(device))) for device in range(partitions))
    return _without(module, 15) + _field(15, b"\x08\x01\x10" + _packed_varint(partitions) + devices)


def _without(message: bytes, number: int) -> bytes:
    """Returns a message without a field that has a length."""
    kept, at = [], 0
    while at < len(message):
        begin = at
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == 2:
            size, at = _varint(message, at)
            at += size
        elif kind == 0:
            _, at = _varint(message, at)
        else:
            at += 8 if kind == 1 else 4
        if tag >> 3 != number:
            kept.append(message[begin:at])
    return b"".join(kept)


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _packed_varint(len(content)) + content


def _packed_varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def partition_shardings(module: bytes) -> tuple[list[bytes], bytes | None]:
    """Returns the OpShardings of the parameters and of the result that the partitioner left in an HloModuleProto."""
    parameters, result = [], None
    for number, value in fields(module):
        if number == 14:
            parameters.append(value)
        elif number == 12:
            result = value
    return parameters, result


def _packed(message: bytes):
    at = 0
    while at < len(message):
        value, at = _varint(message, at)
        yield value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError("not a message")
