"""The figures that the plugin keeps of this process, and the line of the program that it records."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import json
import os
import sys
import threading
import time
import types
from collections.abc import Callable
from typing import Any

from . import _files, _hloctl, _html, _placeholders


_FUNCTIONS = ("hlod_set_line", "hlod_set_compile_line", "hlod_metrics_report", "hlod_ledger", "hlod_note_wait", "hlod_end_preflight",
              "hlod_leave_groups", "hlod_free")


def check(path: str) -> None:
    """Raises hlod.Error unless the file is a library with this package's functions."""
    source = "$HLOD_PJRT_LIBRARY" if os.environ.get("HLOD_PJRT_LIBRARY") == path else "hlod's plugin"
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise _hloctl.Error(f"{source} ({path}) cannot be loaded: {str(error).removeprefix(f'{path}: ')}") from None
    missing = next((name for name in _FUNCTIONS if not hasattr(library, name)), None)
    if missing is not None:
        raise _hloctl.Error(f"{source} ({path}) is not hlod's plugin, or of another version: it lacks the function {missing}")


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    path = _files.plugin()
    if path is None:
        raise _hloctl.Error("libpjrt_hlod.so is neither at $HLOD_PJRT_LIBRARY nor in this package: install hlod's wheel")
    check(path)
    library = ctypes.CDLL(path)
    for name in ("hlod_metrics_report", "hlod_ledger"):
        getattr(library, name).restype = ctypes.c_void_p
    library.hlod_free.argtypes = [ctypes.c_void_p]
    library.hlod_set_line.argtypes = [ctypes.c_char_p]
    library.hlod_set_compile_line.argtypes = [ctypes.c_char_p]
    return library


def _text(function: Callable[[], int]) -> str:
    pointer = function()
    if not pointer:
        raise MemoryError
    try:
        return ctypes.string_at(pointer).decode(errors="replace")
    finally:
        _library().hlod_free(pointer)


def register_foreign_function(name: str, stages: list[int | None], is_own: bool) -> None:
    """Registers the addresses of a foreign function's handlers: instantiate, prepare, initialize, execute. `is_own` is True for a
    function that was registered for hlod and not for the CPU. Raises ValueError with the reason when the plugin refuses it."""
    register = _library().hlod_register_foreign_function
    register.argtypes = [ctypes.c_char_p, *[ctypes.c_void_p] * 4, ctypes.c_bool]
    _refused(register, name.encode(), *stages, is_own)


def register_untyped_function(name: str, function: int, is_own: bool) -> None:
    """Registers the address of a foreign function of the older interface, which has no types. Raises ValueError as above."""
    register = _library().hlod_register_untyped_function
    register.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_bool]
    _refused(register, name.encode(), function, is_own)


def register_foreign_type(name: str, number: int, info: int | None) -> None:
    """Registers a type of foreign functions by the addresses of its number, which is set, and of its description."""
    register = _library().hlod_register_foreign_type
    register.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]
    _refused(register, name.encode(), number, info)


def _refused(function: Any, *arguments: object) -> None:
    """Calls a function of the plugin that returns the text of an error, or null. Raises ValueError with that text."""
    function.restype = ctypes.c_void_p
    pointer = function(*arguments)
    if pointer:
        raise ValueError(_text(lambda: pointer))


class Metrics(str):
    """The text of the metrics, which a notebook shows with its line breaks."""

    def _repr_html_(self) -> str:
        """The text as a notebook shows it."""
        return _html.text(self)


def metrics() -> Metrics:
    """Returns the metrics and counters of this process, and of the daemon's work for it, as text in the layout of PyTorch/XLA's
    `torch_xla.debug.metrics.metrics_report`. Waits for the commands sent before."""
    return Metrics(_text(_library().hlod_metrics_report))


class Ledger(dict):
    """The daemon's account of this process: its transfers by cause, line of the program, step and device. Keys: `host_to_device`,
    `device_to_host` and `device_to_device` (`bytes` and `calls`), `rows` (`cause`, `file`, `line`, `bytes`, `calls`, `step`, `device`),
    `address`, `session`."""

    def __str__(self) -> str:
        lines = [f"{'bytes':>14} {'calls':>8}  cause     line"]
        for row in sorted(self["rows"], key=lambda row: -row["bytes"]):
            lines.append(f"{row['bytes']:>14} {row['calls']:>8}  {row['cause']:<9} {_place(row)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The table as a notebook shows it."""
        rows = sorted(self["rows"], key=lambda row: -row["bytes"])
        cells = [(row["bytes"], row["calls"], row["cause"], _place(row), row["step"], row["device"]) for row in rows]
        return _html.table(("bytes", "calls", "cause", "line", "step", "device"), cells)


def _place(row: dict) -> str:
    return f"{row['file']}:{row['line']}" if row["file"] else "an unknown line"


def ledger() -> Ledger:
    """Returns the daemon's account of this process's JAX arrays. Waits for the commands sent before.

    Raises hlod.Error when no JAX program of this process uses hlod, or when the daemon is lost.
    """
    account = json.loads(_text(_library().hlod_ledger))
    if "error" in account:
        raise _hloctl.Error(account["error"])
    return Ledger(account)


def end_preflight() -> None:
    """Ends the preflight logs of this process's abstract clients. `ledger` does not return their account after this."""
    _library().hlod_end_preflight()


def name_lines_of_transfers() -> None:
    """Has the plugin note the line of the user's program for transfers and compilations, which JAX does not pass on."""
    from jax._src import array, compiler
    from jax._src.lib import xla_client

    xla_client.batched_device_put = _noting(xla_client.batched_device_put)
    if hasattr(compiler, "compile_or_get_cached"):
        compiler.compile_or_get_cached = _noting_compile(_noting(compiler.compile_or_get_cached))
    value = array.ArrayImpl._value
    try:
        array.ArrayImpl._value = property(_noting(_reading(value.fget)))
    except (AttributeError, TypeError):
        pass  # If the class cannot be changed, downloads are counted without lines.


def note_waits() -> None:
    """Has the plugin note the program's waits, with their lines, for the profile. JAX waits without the plugin."""
    import jax
    from jax._src import array

    jax.block_until_ready = _waiting(jax.block_until_ready)
    with contextlib.suppress(AttributeError, TypeError):
        array.ArrayImpl.block_until_ready = _waiting(array.ArrayImpl.block_until_ready)


def _waiting(function: Callable) -> Callable:
    """Wraps a function that waits: notes its time at the line of the nearest caller outside JAX."""
    note = _library().hlod_note_wait
    note.argtypes = [ctypes.c_char_p, ctypes.c_double]

    @functools.wraps(function)
    def waiting(*arguments, **parameters):
        if getattr(_noted, "wait", False):  # An outer call waits.
            return function(*arguments, **parameters)
        _noted.wait = True
        begin = time.perf_counter()
        try:
            return function(*arguments, **parameters)
        finally:
            _noted.wait = False
            line = _line()
            if line is not None:  # JAX itself waits, too.
                note(line, 1e6 * (time.perf_counter() - begin))

    return waiting


def _noting_compile(function: Callable) -> Callable:
    """Wraps a function: notes the line of the nearest caller outside JAX for the program that the function compiles on another thread."""
    set_line = _library().hlod_set_compile_line

    @functools.wraps(function)
    def noting(*arguments, **parameters):
        set_line(_line())
        return function(*arguments, **parameters)

    return noting


_noted = threading.local()


def _noting(function: Callable) -> Callable:
    """Wraps a function: notes the line of the nearest caller outside JAX while the function runs."""
    set_line = _library().hlod_set_line

    @functools.wraps(function)
    def noting(*arguments, **parameters):
        if getattr(_noted, "line", False):  # The line is noted already by an outer call.
            return function(*arguments, **parameters)
        try:  # An interrupt may come at any line.
            _noted.line = True
            set_line(_line())
            return function(*arguments, **parameters)
        except RuntimeError as error:
            if "is a placeholder: it has no value for" not in str(error):
                raise
            refused = _placeholders.PlaceholderRead(str(error).removeprefix("FAILED_PRECONDITION: "))
            raise refused from None
        finally:
            set_line(None)
            _noted.line = False

    return noting


def _reading(value: Callable) -> Callable:
    """Wraps the read of an array: where the array has an error and no value, raises that, and not the lack of memory for a value."""

    @functools.wraps(value)
    def reading(array):
        try:
            return value(array)
        except MemoryError:  # JAX makes room for the value before it asks for it.
            array.block_until_ready()
            raise

    return reading


def leave_groups_at_exit() -> None:
    """Has this process leave those with which it runs programs together when it ends: they would wait for its part of a program that
    it has left out, for as long as JAX has it wait for them at its end (shutdown_timeout_seconds). After an exception it leaves at once;
    otherwise the others still need what it has launched, which ends first."""

    def leave() -> None:
        _library().hlod_leave_groups(0 if getattr(sys, "last_value", None) is not None else 300)

    atexit.register(leave)  # It runs before what was registered earlier, such as JAX's own.


def find_lines() -> None:
    """Has the plugin ask for the line of the user's program at each transfer and compilation. PyTorch/XLA begins these in too many
    places to note it around them."""
    library = _library()
    find = ctypes.CFUNCTYPE(None)(lambda: library.hlod_set_line(_line()))
    library.hlod_find_lines(ctypes.pythonapi.PyGILState_GetThisThreadState, find)
    # A Python function cannot be called while the interpreter ends. atexit keeps `find` alive until then.
    atexit.register(lambda found: library.hlod_find_lines(None, None), find)


def _line() -> bytes | None:
    """Returns "FILE:LINE" of the nearest frame that is neither a framework's nor this package's; None when there is none."""
    frame: types.FrameType | None = sys._getframe(1)  # It may be the only frame, in a thread that a framework started.
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_skipped()):
            return f"{name}:{frame.f_lineno}".encode()
        frame = frame.f_back
    return None


@functools.lru_cache(maxsize=None)
def frameworks() -> tuple[str, ...]:
    """Returns the folders of JAX, PyTorch/XLA and the libraries on top of them. Lines in these are not lines of the user's program."""
    import importlib.util

    folders = []
    for name in ("jax", "torch", "torch_xla", "torchax", "flax", "optax", "equinox", "orbax", "numpyro", "chex", "haiku", "diffrax"):
        spec = importlib.util.find_spec(name)
        folders += [folder + os.sep for folder in (spec.submodule_search_locations if spec else None) or ()]
    return tuple(folders)


@functools.lru_cache(maxsize=None)
def _skipped() -> tuple[str, ...]:
    import contextlib

    own = os.path.dirname(os.path.abspath(__file__)) + os.sep
    return (*frameworks(), own, contextlib.__file__, functools.__file__, "<")
