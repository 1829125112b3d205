"""Keeps forked processes from using JAX's clients: a child has its parent's clients in memory, but not the threads that they need."""

from __future__ import annotations

import ctypes
import os

_inherited: dict[int, object] = {}  # Maps ids to the parent's clients.
_parent = 0


def register() -> None:
    """Has forked processes keep the clients of their parent untouched."""
    os.register_at_fork(after_in_child=_in_child)


def check(client) -> None:
    """Raises JaxRuntimeError when the client is that of a parent process: jaxlib would wait for its threads for ever."""
    if id(client) in _inherited:
        import jax

        raise jax.errors.JaxRuntimeError(
            f"FAILED_PRECONDITION: Process {os.getpid()} was forked from process {_parent}, which uses JAX, and a forked process cannot use its "
            'parent\'s client: start a new program (multiprocessing\'s start method "spawn"), or fork before JAX is used.'
        )


def _in_child() -> None:
    from jax._src import xla_bridge

    global _parent
    for client in xla_bridge._backends.values():
        if id(client) not in _inherited:
            _inherited[id(client)] = client
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(client))  # The destructor would wait for those threads, too.
    _parent = os.getppid()
