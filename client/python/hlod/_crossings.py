"""The transfers between host and device that every call of a jitted function makes: NumPy arguments and host callbacks."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any


@dataclasses.dataclass(frozen=True)
class Transfer:
    """Bytes that each call of a function sends one way."""

    direction: str  # "host_to_device" or "device_to_host".
    cause: str  # "argument x['w'] is a NumPy array", "pure_callback".
    source: str  # "model.py:41" for a callback, empty for an argument.
    bytes: int
    calls: int  # A callback in a loop counts for each iteration of jax.lax.scan, and once in a loop of unknown length.


def of_call(traced: Any, arguments: tuple, keywords: dict) -> list[Transfer]:
    """Returns the transfers of a call of `jax.jit(f).trace(*arguments, **keywords)` with these arguments. Arrays of JAX and
    ShapeDtypeStructs stand for arrays on the device."""
    return _of_arguments(traced, arguments, keywords) + _of_callbacks(traced.jaxpr.jaxpr, 1)


def _of_arguments(traced: Any, arguments: tuple, keywords: dict) -> list[Transfer]:
    import jax
    import numpy as np

    infos, keyword_infos = traced.args_info
    leaves, leaf_infos = jax.tree_util.tree_leaves, jax.tree_util.tree_leaves((infos, keyword_infos))
    traced_keywords = {name: keywords[name] for name in keyword_infos}
    given = [leaf for _, argument in _aligned(list(infos), list(arguments)) for leaf in leaves(argument)] + leaves(traced_keywords)
    names = getattr(getattr(traced.jaxpr.jaxpr, "debug_info", None), "arg_names", None) or ()
    if len(names) != len(leaf_infos):
        names = [str(i) for i in range(len(leaf_infos))]
    found = []
    for name, leaf, info in zip(names, given, leaf_infos):
        if isinstance(leaf, (np.ndarray, np.generic, bool, int, float, complex)):
            kind = "a NumPy array" if isinstance(leaf, (np.ndarray, np.generic)) else "a Python number"
            found.append(Transfer("host_to_device", f"argument {name} is {kind}", "", _bytes(info), 1))
    return found


def _aligned(infos: list, arguments: list) -> list[tuple[Any, Any]]:
    """Pairs the traced arguments with the given ones. Static arguments are given but not traced."""
    import jax

    shapes = lambda tree: [tuple(getattr(leaf, "shape", ())) for leaf in jax.tree_util.tree_leaves(tree)]
    pairs, static = [], len(arguments) - len(infos)
    for argument in arguments:
        if static > 0 and (not infos or shapes(infos[0]) != shapes(argument)):
            static -= 1
        elif infos:
            pairs.append((infos.pop(0), argument))
    return pairs


def _of_callbacks(jaxpr: Any, times: int) -> list[Transfer]:
    found = []
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name in ("pure_callback", "io_callback", "debug_callback", "debug_print"):
            source = _source(equation)
            for direction, values in (("device_to_host", equation.invars), ("host_to_device", equation.outvars)):
                size = sum(_bytes(value.aval) for value in values)
                if values:
                    found.append(Transfer(direction, name, source, size * times, len(values) * times))
        inner = times * int(equation.params["length"]) if name == "scan" else times
        for nested in _nested(equation.params):
            found += _of_callbacks(nested, inner)
    return found


def _nested(parameters: dict) -> Iterator[Any]:
    try:
        from jax.extend.core import jaxprs_in_params
    except ImportError:  # JAX before 0.7.
        from jax.core import jaxprs_in_params
    return jaxprs_in_params(parameters)


def _bytes(array: Any) -> int:
    return math.prod(getattr(array, "shape", ())) * getattr(getattr(array, "dtype", None), "itemsize", 0)


def _source(equation: Any) -> str:
    from jax._src import source_info_util

    frame = source_info_util.user_frame(equation.source_info.traceback)
    return f"{frame.file_name}:{frame.start_line}" if frame is not None else ""
