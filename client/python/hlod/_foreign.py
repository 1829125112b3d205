"""Runs the user's foreign functions (jax.ffi) in this process, while the program that calls them waits in the daemon."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Mapping
from typing import Any

from . import _plugin

NAME = "hlod"
_STAGES = ("instantiate", "prepare", "initialize", "execute")
# The daemon has functions of its own in place of these, and those of a GPU cannot run on a host.
_OF_JAXLIB = ("lapack_", "blas_", "cpu_", "xla_ffi_", "xla_python_", "cu", "hip")


def register() -> None:
    """Has JAX hand over the functions and types that are registered for "hlod", and those for "cpu", which run on this host, too."""
    from jax._src.lib import xla_client

    xla_client.register_custom_call_handler(NAME, _take_function)
    has_types = hasattr(xla_client, "register_custom_type_handler")  # Older versions of jaxlib have no types of foreign functions.
    if has_types:
        xla_client.register_custom_type_handler(NAME, _take_type)

    def take_function_of_cpu(name, function, platform, api_version, traits) -> None:
        xla_client._xla.register_custom_call_target(name, function, platform, api_version, traits)
        if not _text(name).startswith(_OF_JAXLIB):
            with contextlib.suppress(ValueError):  # A function that hlod refuses can still be registered for the CPU.
                _take_function(name, function, platform, api_version, traits)

    def take_type_of_cpu(name, registration) -> None:
        xla_client._xla.register_custom_type(name, registration)
        _take_type(name, registration)

    # These calls have no effect if the CPU's client exists already: then functions for the CPU are not registered for hlod.
    xla_client.register_custom_call_handler("cpu", take_function_of_cpu)
    if has_types:
        xla_client.register_custom_type_handler("cpu", take_type_of_cpu)


def _take_function(name: Any, function: Any, platform: str, api_version: int, traits: Any) -> None:
    """Registers a function, a capsule or a dict of capsules by stage, with the plugin."""
    if api_version == 0:
        _plugin.register_untyped_function(_text(name), _pointer(function), platform == NAME)
        return
    if api_version != 1:
        raise NotImplementedError(f"hlod calls foreign functions of api_version 0 and 1; {_text(name)} has api_version={api_version}")
    stages = function if isinstance(function, Mapping) else {"execute": function}
    pointers = [_pointer(stages[stage]) if stage in stages else None for stage in _STAGES]
    _plugin.register_foreign_function(_text(name), pointers, platform == NAME)


def _take_type(name: Any, registration: Any) -> None:
    """Registers a type of states or of user data: a dict of capsules, or the capsule of its number."""
    fields = registration if isinstance(registration, Mapping) else {"type_id": registration}
    info = fields.get("type_info")
    _plugin.register_foreign_type(_text(name), _pointer(fields["type_id"]), None if info is None else _pointer(info))


def _pointer(capsule: Any) -> int:
    """Returns the address in a PyCapsule."""
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.argtypes, name_of.restype = [ctypes.py_object], ctypes.c_char_p
    pointer_of.argtypes, pointer_of.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    return pointer_of(capsule, name_of(capsule))


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)
