"""The other end of the worker's pipe, for Python: one worker per process, started when it is first needed."""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import subprocess
import sys
import threading
import time

from . import frames

_START_SECONDS = 60
_MARGIN_SECONDS = 30  # The time for reading and writing modules, in addition to a request's own limit.


class PartitionError(RuntimeError):
    """The program could not be partitioned; the message is a sentence."""


class Worker:
    """A worker process, which answers one request at a time. An error of the pipe ends it, and the next request starts another one."""

    def __init__(self, python: str | None = None):
        self._python = python or sys.executable
        self._lock = threading.Lock()
        self._process = None
        self._owner = None

    def request(self, header: dict, program: bytes) -> tuple[dict, bytes]:
        """Returns the answer to a request: its header and its body. Raises PartitionError."""
        with self._lock:
            self._start()
            limit = float(header.get("seconds") or 300) + _MARGIN_SECONDS
            deadline = time.monotonic() + limit
            try:
                self._write(frames.pack(header, program), deadline)
                answer = frames.read(lambda size: self._read(size, deadline))
            except (OSError, frames.Malformed) as error:
                self.stop()
                raise PartitionError(f"The process that partitions programs failed: {error}.") from None
            if answer is None:
                late = time.monotonic() >= deadline
                self.stop()
                raise PartitionError(f"The program was not partitioned within {limit:g} s." if late else "The process that partitions programs ended.")
        if not answer[0].get("ok"):
            raise PartitionError(answer[0].get("error", "The process that partitions programs gave no reason."))
        return answer

    def stop(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        process.wait()

    def _start(self) -> None:
        if self._process is not None and self._owner == os.getpid() and self._process.poll() is None:
            return
        self.stop()
        path = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([path, *filter(None, [os.environ.get("PYTHONPATH")])]))
        try:
            self._process = subprocess.Popen(
                [self._python, "-m", "hlod.partition"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment
            )
        except OSError as error:
            raise PartitionError(f"{self._python} cannot be started: {error}.") from None
        self._owner = os.getpid()
        os.set_blocking(self._process.stdin.fileno(), False)
        ready = frames.read(lambda size: self._read(size, time.monotonic() + _START_SECONDS))
        if ready is None or not ready[0].get("ready"):
            self.stop()
            raise PartitionError(ready[0]["error"] if ready else "The process that partitions programs did not start.")

    def _read(self, size: int, deadline: float) -> bytes | None:
        parts, left = [], size
        while left > 0:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            part = os.read(self._process.stdout.fileno(), min(left, 1 << 20)) if ready else b""
            if not part:
                return None
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _write(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            _, ready, _ = select.select([], [self._process.stdin], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise OSError("it does not read")
            view = view[os.write(self._process.stdin.fileno(), view) :]


_shared = Worker()
atexit.register(_shared.stop)


def shared() -> Worker:
    """Returns this process's worker."""
    return _shared
