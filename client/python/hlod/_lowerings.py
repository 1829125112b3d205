"""Lowers JAX's primitives to StableHLO for hlod by the rules for the CPU, whose custom calls the daemon runs, with exceptions."""

from __future__ import annotations

import collections
import collections.abc
import dataclasses
import functools
import inspect

from . import _divided_callbacks, _shardings
from .jax import NAME


def register() -> None:
    """Enters hlod's lowerings, its donation and its host callbacks into JAX's tables."""
    from jax._src.interpreters import mlir

    tables = mlir._platform_specific_lowerings
    # The ChainMap also finds rules that JAX adds later, when a module is first imported.
    tables[NAME] = collections.ChainMap(_own_rules(), _RulesOfTheCpu(tables["cpu"]))
    if NAME not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(NAME)
    _call_back_by_send_and_recv()
    _choose_as_for_the_cpu()


class _RulesOfTheCpu(collections.abc.Mapping):
    """JAX's lowerings for the CPU, without those that emit a custom call that only jaxlib has. JAX's general rules serve these.

    Primitives are known by their names, because the modules that define them may never be imported.
    """

    ONLY_IN_JAXLIB = frozenset({"bcsr_dot_general"})  # cpu_csr_sparse_dense_ffi

    def __init__(self, rules):
        self._rules = rules

    def __getitem__(self, primitive):
        if primitive.name in self.ONLY_IN_JAXLIB:
            raise KeyError(primitive)
        return self._rules[primitive]

    def __iter__(self):
        return (primitive for primitive in self._rules if primitive.name not in self.ONLY_IN_JAXLIB)

    def __len__(self):
        return sum(1 for _ in self)


def _own_rules() -> dict:
    from jax._src import debugging, lax
    from jax._src.export import _export
    from jax._src.interpreters import mlir
    from jax._src.lax import special
    from jax._src.lax.control_flow import conditionals

    def dot_general(context, *operands, precision, **parameters):
        """Lowers dot_general by the CPU's rule, without its check of the algorithm: the daemon accepts more algorithms."""
        algorithm = isinstance(precision, (lax.lax.DotAlgorithm, lax.lax.DotAlgorithmPreset))
        table = mlir._lowerings if algorithm else mlir._platform_specific_lowerings["cpu"]
        return _rule(table[product])(context, *operands, precision=precision, **parameters)

    def erf(context, x, **parameters):
        """Lowers erf, of floats of 8 bits by way of 32: jaxlib cannot write it for a plugin otherwise."""
        if context.avals_in[0].dtype.itemsize > 1:
            return _rule(mlir._lowerings[error])(context, x, **parameters)
        convert = lax.lax.convert_element_type
        by_float32 = lambda value: convert(error.bind(convert(value, "float32"), **parameters), value.dtype)
        return mlir.lower_fun(by_float32, multiple_results=False)(context, x)

    def platform_index(context, *, platforms):
        return _rule(mlir._lowerings[index])(context, platforms=_as_for_the_cpu(platforms))

    def cond(context, *operands, branches_platforms=None, **parameters):
        if branches_platforms is not None:
            parameters["branches_platforms"] = _as_for_the_cpu(branches_platforms)
        return _rule(mlir._lowerings[choice])(context, *operands, **parameters)

    def call_exported(context, *operands, exported):
        """Lowers a call of an exported function. If it was not exported for hlod, uses the export for the CPU, whose custom calls the
        daemon has."""
        if NAME not in exported.platforms:
            platforms = tuple(NAME if platform == "cpu" else platform for platform in exported.platforms)
            exported = dataclasses.replace(exported, platforms=platforms)
        return _rule(mlir._lowerings[call])(context, *operands, exported=exported)

    def inspect_sharding(context, value, *, callback):
        return _shardings.inspect(_rule(mlir._lowerings[inspect]), context, value, callback=callback)

    product, index, inspect = lax.lax.dot_general_p, conditionals.platform_index_p, debugging.inspect_sharding_p
    choice, call, error = conditionals.cond_p, _export.call_exported_p, special.erf_p
    like = lambda rule, table, primitive: _entry_like(table.get(primitive), rule)
    return {
        product: like(dot_general, mlir._platform_specific_lowerings["cpu"], product),
        error: like(erf, mlir._lowerings, error),
        index: like(platform_index, mlir._lowerings, index),
        choice: like(cond, mlir._lowerings, choice),
        call: like(call_exported, mlir._lowerings, call),
        inspect: like(inspect_sharding, mlir._lowerings, inspect),
    }


def _as_for_the_cpu(platforms):
    """Returns the platforms of the branches of lax.platform_dependent, with hlod beside the CPU unless hlod has a branch of its own."""
    if any(NAME in (names or ()) for names in platforms):
        return platforms
    return tuple((*names, NAME) if names and "cpu" in names else names for names in platforms)


def _choose_as_for_the_cpu() -> None:
    """Lowers primitives that choose a rule by the platform within their own rule, as pallas_call does, by the one for the CPU."""
    from jax._src.interpreters import mlir

    original = mlir.lower_per_platform
    if getattr(original, "_for_hlod", False):
        return

    @functools.wraps(original)
    def lower(context, description, rules, default, *arguments, **parameters):
        if default is None and NAME not in rules and "cpu" in rules:
            rules = {**rules, NAME: rules["cpu"]}
        return original(context, description, rules, default, *arguments, **parameters)

    lower._for_hlod = True
    mlir.lower_per_platform = lower


def _rule(entry):
    """Returns the function of an entry of JAX's tables. An entry is a function, or a record that contains one."""
    return getattr(entry, "rule", entry)


def _entry_like(entry, rule):
    """Returns a copy of `entry`, an entry of JAX's tables, with another function."""
    return dataclasses.replace(entry, rule=rule) if dataclasses.is_dataclass(entry) else rule


class _SendsAndReceives:
    """A backend for JAX's rule of callbacks by send and recv, with the channels of the plugin's client."""

    platform = "tpu"

    def __init__(self, client):
        self.make_python_callback_from_host_send_and_recv = client.make_python_callback_from_host_send_and_recv


def _call_back_by_send_and_recv() -> None:
    """Lowers host callbacks for hlod to stablehlo.send and recv, as JAX does for TPUs: the daemon is another process."""
    from jax._src import callback
    from jax.interpreters import mlir

    original = callback.emit_python_callback
    if getattr(original, "_for_hlod", False):
        return

    signature = inspect.signature(original)

    @functools.wraps(original)
    def emit(context, *arguments, **parameters):
        module = context.module_context
        if tuple(module.platforms) != (NAME,):
            return original(context, *arguments, **parameters)
        if _has_parts_alone(module.axis_context):
            parameters.pop("partitioned", None)  # The callback gets its device's part in any case.
        elif parameters.get("partitioned") and _can_be_divided(signature.bind(context, *arguments, **parameters).arguments):
            function, _, operands = arguments[:3]
            _divided_callbacks.emit(context, function, operands)
            return [], None, None
        module = _divided_callbacks.with_channels(module)
        seen = module.replace(platforms=("tpu",), backend=_SendsAndReceives(module.get_backend()))
        return original(context.replace(module_context=seen), *arguments, **parameters)

    emit._for_hlod = True
    callback.emit_python_callback = emit
    if hasattr(mlir, "emit_python_callback"):
        mlir.emit_python_callback = emit


def _can_be_divided(call: dict) -> bool:
    """Returns True when Shardy divides the program, and the callback with these arguments is not ordered and has no results."""
    from jax._src import config
    from jax._src.sharding_impls import ShardingContext

    automatic = isinstance(call["ctx"].module_context.axis_context, ShardingContext)
    return automatic and config.use_shardy_partitioner.value and call["token"] is None and not call["result_avals"]


def _has_parts_alone(axis_context) -> bool:
    """Returns True when a value of the lowered program is one device's part: on one device, and in shard_map."""
    from jax._src.sharding_impls import ShardingContext, SPMDAxisContext

    if isinstance(axis_context, ShardingContext):
        return axis_context.num_devices == 1
    return isinstance(axis_context, SPMDAxisContext) and set(axis_context.manual_axes) == set(axis_context.mesh.axis_names)
