"""Partitioned modules on disk, by the SHA-256 of everything that they depend on.

The files are in $XDG_CACHE_HOME/hlod/partition, or ~/.cache/hlod/partition. When they take more than their limit
($HLOD_PARTITION_CACHE_BYTES, 256 MiB by default; 0 turns the cache off), those that were used longest ago are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import zlib

_VERSION = 5  # Changes with the format of the files, and with the answers that the worker gives to a request.
_BYTES_MAX = 256 << 20


def key(jaxlib: str, request: dict, program: bytes) -> str:
    """Returns the name of the answer to a request."""
    asked = {name: request.get(name) for name in ("mesh", "devices", "partitioner", "explain", "shard", "strategy")}
    digest = hashlib.sha256(json.dumps([_VERSION, jaxlib, asked], sort_keys=True).encode())
    digest.update(program)
    return digest.hexdigest()


def load(name: str) -> tuple[dict, bytes] | None:
    """Returns the answer of that name; None when there is none. A damaged file is removed, and counts as none."""
    path = os.path.join(folder(), name)
    try:
        with open(path, "rb") as file:
            digest, packed = file.read(32), file.read()
        if hashlib.sha256(packed).digest() != digest:
            raise ValueError("damaged")
        os.utime(path)
        length = int.from_bytes(packed[:4], "little")
        return json.loads(packed[4 : 4 + length]), zlib.decompress(packed[4 + length :])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, zlib.error):
        with contextlib.suppress(OSError):
            os.unlink(path)
        return None


def store(name: str, header: dict, body: bytes) -> None:
    """Writes an answer. Errors are ignored: the answer is then computed again."""
    text = json.dumps(header).encode()
    packed = len(text).to_bytes(4, "little") + text + zlib.compress(body, 1)
    if len(packed) > _limit() // 4:
        return
    with contextlib.suppress(OSError):
        # Only the user may access our folders: the daemon keeps its programs in a folder beside this one, and requires it.
        os.makedirs(os.path.dirname(os.path.dirname(folder())), exist_ok=True)
        for path in (os.path.dirname(folder()), folder()):
            with contextlib.suppress(FileExistsError):
                os.mkdir(path, 0o700)
        handle, path = tempfile.mkstemp(dir=folder(), prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(packed).digest() + packed)
        os.replace(path, os.path.join(folder(), name))
        _shrink()


def folder() -> str:
    """Returns the path of the folder."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "hlod", "partition")


def wrong_limit() -> str:
    """Returns what is wrong with $HLOD_PARTITION_CACHE_BYTES, as a sentence; empty when nothing is."""
    text = os.environ.get("HLOD_PARTITION_CACHE_BYTES") or "0"
    return "" if text.isascii() and text.isdecimal() else f'$HLOD_PARTITION_CACHE_BYTES is "{text}"; it is a number of bytes from 0 on.'


def _limit() -> int:
    return int(os.environ.get("HLOD_PARTITION_CACHE_BYTES") or _BYTES_MAX)


def _shrink() -> None:
    files = []
    for entry in os.scandir(folder()):
        with contextlib.suppress(OSError):
            files.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= _limit():
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
