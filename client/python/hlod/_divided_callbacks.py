"""Divides callbacks of jax.debug with `partitioned=True` in programs that are divided automatically: each device calls with its part.

Such a callback is lowered to a custom call. Once Shardy has decided how its operands are divided, the custom call becomes a call of
`jax.shard_map` over the callback. The channels of its sends and receives are reserved when the program is lowered.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
import weakref
from collections.abc import Callable

TARGET = "hlod.PartitionedCallback"
_callbacks: weakref.WeakValueDictionary = weakref.WeakValueDictionary()  # Maps the text in a custom call to its callback.
_numbers = itertools.count()
_reserved = threading.local()


class Callback:
    """A function of an operand's parts, with its own channels. It stays in the list of the program's host callbacks until the program
    is divided, so that JAX does not keep the program in its persistent cache."""

    def __init__(self, function: Callable, channels: list[int]) -> None:
        self.function, self.channels = function, channels


def emit(context, function: Callable, operands: list) -> None:
    """Lowers a callback without results."""
    import numpy as np
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir.dialects import hlo
    from jaxlib.mlir import ir

    if not operands:  # Without operands each device still calls.
        without, operands = function, [mlir.ir_constant(np.zeros(1, np.float32))]
        function = lambda _: without()
    module = context.module_context
    # One channel per operand, and one for the answer.
    callback = Callback(function, [module.new_channel() for _ in range(len(operands) + 1)])
    key = f"{TARGET} {next(_numbers)}"
    _callbacks[key] = callback
    module.add_host_callback(callback)
    hlo.CustomCallOp([], operands, TARGET, has_side_effect=ir.BoolAttr.get(True), backend_config=ir.StringAttr.get(key))


def with_channels(module_context):
    """Yields a lowering's context that takes the channels of the callback that this thread divides."""
    channels = getattr(_reserved, "channels", None)
    return module_context if channels is None else module_context.replace(channel_iterator=channels)


def divide(module, call, mesh: list, shardings: list) -> list:
    """Replaces a custom call of the module, whose operands have these shardings over a mesh of names and sizes. Returns the host
    callbacks that this adds to the program."""
    import jax
    from jax._src.dtypes import _jax_types
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func

    callback = _callbacks[call.attributes["backend_config"].value]
    elements = {str(mlir.dtype_to_ir_type(element)): element for element in map(jax.numpy.dtype, _jax_types)}
    types = [operand.type for operand in call.operands]
    shapes = [jax.ShapeDtypeStruct(t.shape, elements[str(t.element_type)]) for t in types]
    lowered = _lowered(callback, shapes, mesh, shardings)
    source = ir.Module.parse(mlir.module_to_bytecode(lowered.compiler_ir("stablehlo")))
    name = mlir.merge_mlir_modules(module, "partitioned_callback", source)
    with ir.InsertionPoint(call), call.location:
        func.CallOp([], ir.FlatSymbolRefAttr.get(name), list(call.operands))
    call.erase()
    return list(lowered._lowering.compile_args["host_callbacks"])


def _lowered(callback: Callback, shapes: list, mesh: list, shardings: list):
    """Lowers the calls of all devices with their parts."""
    import jax
    import numpy as np
    from jax._src.sharding_impls import parse_flatten_op_sharding

    from .jax import NAME

    names, sizes = zip(*mesh)
    devices = np.array(jax.devices(NAME)[: math.prod(sizes)]).reshape(sizes)
    grid = jax.sharding.Mesh(devices, names)
    specs = tuple(parse_flatten_op_sharding(sharding, grid)[0] for sharding in shardings)

    def parts(*operands):
        jax.debug.callback(lambda *values: callback.function(*values), *operands)
        return ()

    whole = jax.shard_map(parts, mesh=grid, in_specs=specs, out_specs=(), check_vma=False)
    with _channels(callback.channels):
        return jax.jit(whole, keep_unused=True).lower(*shapes)


@contextlib.contextmanager
def _channels(channels: list[int]):
    _reserved.channels = iter(channels)
    try:
        yield
    finally:
        _reserved.channels = None
