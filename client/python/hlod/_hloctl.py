"""Finds hloctl, gives it a program as a file, and reads its JSON."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from . import _files


class Error(RuntimeError):
    """hloctl failed; the text is hloctl's own message."""


def find() -> str:
    """Returns the path of hloctl (see _files.program)."""
    found = _files.program("hloctl", "HLOD_HLOCTL")
    if found is None:
        raise Error("hloctl is neither at $HLOD_HLOCTL nor in this package nor on $PATH: install hlod, or name its hloctl")
    return found


def serialize(program: Any) -> bytes | None:
    """Returns a program as bytes; None when it is the path of a file.

    Accepts the results of `jax.jit(f).lower(...)`, `.trace(...)` and `jax.export.export(...)(...)`, an XlaComputation, HLO or
    StableHLO text, and the bytes of an HloModuleProto or of a StableHLO artifact.
    """
    if isinstance(program, (bytes, bytearray, memoryview)):
        return bytes(program)
    if isinstance(program, str) and ("\n" in program or program.lstrip().startswith("HloModule")):
        return program.encode()
    if isinstance(program, (str, os.PathLike)):
        return None
    if not hasattr(program, "compiler_ir") and hasattr(program, "lower"):
        try:
            program = program.lower()
        except TypeError:
            raise TypeError("a jitted function has no program before it has arguments: pass them, or jax.jit(f).lower(*args)") from None
    if hasattr(program, "mlir_module_serialized"):
        return program.mlir_module_serialized
    if hasattr(program, "compiler_ir"):
        program = program.compiler_ir("hlo")
    if hasattr(program, "as_serialized_hlo_module_proto"):
        return program.as_serialized_hlo_module_proto()
    raise TypeError(
        f"{type(program).__name__} is not a program: pass jax.jit(f).lower(*args), HLO or StableHLO text, the bytes of an "
        "HloModuleProto or of a StableHLO artifact, or the path of a file"
    )


@contextlib.contextmanager
def as_file(program: Any) -> Iterator[str]:
    """Yields the path of a file that holds the program. The file exists while the context lasts."""
    module = serialize(program)
    if module is None:
        yield os.fspath(program)
        return
    with tempfile.TemporaryDirectory(prefix="hlod-") as folder:
        path = os.path.join(folder, "module.hlo")
        with open(path, "wb") as file:
            file.write(module)
        yield path


_calls = itertools.count(1)


def _environment() -> dict[str, str]:
    """Returns the environment of the next hloctl. Its profile gets a name of its own: it must not overwrite this process's."""
    # hloctl starts the partitioner with this interpreter, and so with its packages.
    environment = {"HLOD_PYTHON": sys.executable, **os.environ}
    profile = environment.get("HLOD_PROFILE")
    if profile and "%p" not in profile:
        environment["HLOD_PROFILE"] = f"{profile}.{next(_calls)}"
    return environment


def call(*arguments: str, passes: tuple[int, ...] = (0,)) -> dict:
    """Returns the JSON that `hloctl --json ARGUMENTS` prints. Prints annotations for GitHub Actions."""
    try:
        done = subprocess.run([find(), "--json", *arguments], capture_output=True, text=True, check=False, env=_environment())
    except OSError as error:
        raise Error(f"hloctl cannot be started: {error}") from error
    annotations = [line for line in done.stderr.splitlines() if line.startswith("::")]
    if annotations:
        print("\n".join(annotations), file=sys.stdout, flush=True)
    try:
        result = json.loads(done.stdout)
    except ValueError:
        result = {}
    if done.returncode in passes and result:
        return result
    message = result.get("error", {}).get("message") or done.stderr.strip() or f"hloctl ended with {done.returncode}"
    raise Error(message)
