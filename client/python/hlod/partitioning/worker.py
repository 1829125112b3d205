"""The worker: requests on stdin, answers on stdout, until stdin or the parent process ends.

It begins with {"ready": 1, "jaxlib": version} or {"ready": 0, "error": a sentence}. A request is {"mesh", "devices", "partitioner",
"explain", "shard", "strategy", "seconds"} with the program as body; its answer has "ok", and either an "error" with its "kind" (compile.Failed) or what
compile.partition returns, with "jaxlib" and "cached".
"""

from __future__ import annotations

import os
import select
import sys

from . import cache, frames

INSTALL = "Partitioning needs jaxlib 0.6 or later, which {python} does not have: `{python} -m pip install 'jaxlib>=0.6'`."


def main(arguments: list[str]) -> int:
    """Answers requests until stdin or the parent process ends. Returns the exit code."""
    out = os.dup(1)
    os.dup2(2, 1)  # Text that libraries print goes to stderr, not between the frames.
    parent = _watch_parent()
    jaxlib, error = _prepare()
    if not _write(out, frames.pack({"ready": 0, "error": error} if error else {"ready": 1, "jaxlib": jaxlib})) or error:
        return 1
    from . import compile

    watched = tuple(descriptor for descriptor in (0, parent) if descriptor is not None)
    while True:
        try:
            frame = frames.read(lambda size: _read(size, parent))
        except frames.Malformed as malformed:
            _write(out, frames.pack({"ok": False, "error": f"The worker was sent {malformed}."}))
            return 1
        if frame is None:
            return 0
        request, program = frame
        name = cache.key(jaxlib, request, program)
        found = cache.load(name)
        try:
            header, body = found or compile.partition(program, request, watched)
        except compile.Gone:
            return 0
        except compile.Failed as failed:
            header, body = {"ok": False, "error": str(failed), "kind": failed.kind, "jaxlib": jaxlib}, b""
        except OSError as failure:
            header, body = {"ok": False, "error": f"The program could not be partitioned: {failure}.", "kind": "failed", "jaxlib": jaxlib}, b""
        else:
            if found is None:
                cache.store(name, header, body)
            header = {**header, "ok": True, "jaxlib": jaxlib, "cached": found is not None}
        if not _write(out, frames.pack(header, body)):
            return 0


def _watch_parent() -> int | None:
    """Returns a descriptor that becomes readable when the parent process ends; None where the system has none."""
    try:
        return os.pidfd_open(os.getppid())
    except (AttributeError, OSError):
        return None


def _prepare() -> tuple[str, str]:
    """Loads jaxlib before processes are forked from this one. Returns its version, or an error."""
    if wrong := cache.wrong_limit():
        return "", wrong
    for variable in ("XLA_FLAGS", "TF_XLA_FLAGS"):  # The caller's flags, such as dumps, are not meant for this compiler.
        os.environ.pop(variable, None)
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", TF_CPP_MIN_LOG_LEVEL="2")
    import warnings

    warnings.filterwarnings("ignore", message=".*fork.*")
    try:
        import jaxlib.version

        version = jaxlib.version.__version__
        if tuple(int(part) for part in version.split(".")[:2]) < (0, 6):
            return "", f"Partitioning needs jaxlib 0.6 or later; {sys.executable} has {version}."
        import numpy  # noqa: F401
        from jaxlib import xla_client
    except ImportError as error:
        if "jaxlib" in str(error):
            return "", INSTALL.format(python=sys.executable)
        return "", f"jaxlib cannot be loaded by {sys.executable}: {error}."
    except Exception as error:  # A broken installation may raise anything.
        return "", f"jaxlib cannot be loaded by {sys.executable}: {error}."
    _register_batched_calls(xla_client)
    return version, ""


def _register_batched_calls(xla_client) -> None:
    """Tells the partitioner which calls of LAPACK may be divided along their batches, as JAX does."""
    try:
        from jaxlib import lapack

        for target in lapack.batch_partitionable_targets():
            xla_client.register_custom_call_as_batch_partitionable(target)
    except (ImportError, AttributeError, TypeError):
        pass


def _read(size: int, parent: int | None) -> bytes | None:
    parts, left = [], size
    while left > 0:
        if parent is not None:
            ready, _, _ = select.select([0, parent], [], [])
            if parent in ready and 0 not in ready:
                return None
        part = os.read(0, min(left, 1 << 20))
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _write(out: int, data: bytes) -> bool:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(out, view) :]
    except OSError:
        return False
    return True
