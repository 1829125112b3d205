"""Completes the shardings of programs for several devices, by Shardy, which is a part of jaxlib.

XLA runs Shardy while it compiles, and then tells JAX how arguments and results are divided. The plugin reads this from the program's
signature, so this module completes the signature before JAX gives the program to the plugin, but for results that XLA's partitioner
decides on.
"""

from __future__ import annotations

import itertools
import math
import string
import weakref

from . import _custom_partitioning, _divided_callbacks
from .jax import NAME

_INSPECTION = "InspectSharding"  # The custom call that jax.debug.inspect_array_sharding becomes.
_OPERAND = "hlod.operand"  # A custom call that stands for its operand while shardings are propagated.
# Maps the text in a custom call to the function that takes the sharding.
_inspectors: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
_numbers = itertools.count()


def inspect(rule, context, value, *, callback):
    """Lowers jax.debug.inspect_array_sharding by JAX's rule, and keeps the function for `completed` to call."""
    from jaxlib.mlir import ir

    kept = context.module_context.keepalives
    count = len(kept)
    results = rule(context, value, callback=callback)
    if len(kept) > count:
        key = f"{NAME} {next(_numbers)}"
        _inspectors[key] = kept[-1]
        call = next(op for op in reversed(list(ir.InsertionPoint.current.block)) if _calls(op, _INSPECTION))
        call.attributes["backend_config"] = ir.StringAttr.get(key)
    return results


def completed(module):
    """Returns the module, with the shardings that Shardy propagates to its arguments and results, and the host callbacks that are added
    to it. Calls the functions of jax.debug.inspect_array_sharding. Divides operations with custom_partitioning, and partitioned
    callbacks; the other operations stay as they are."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir, passmanager

    with module.context:
        if not _is_open(_main(module)) and not any(_is_custom(op) for op in _operations(module.operation)):
            return module, []
        callbacks = []
        whole, divided = (ir.Module.parse(mlir.module_to_bytecode(module)) for _ in range(2))
        for op in list(_operations(divided.operation)):
            rule = _rule_of(op)
            if rule is not None:
                op.attributes["sdy.sharding_rule"] = ir.Attribute.parse(rule)
            if _calls(op, _custom_partitioning.TARGET) or _calls(op, _divided_callbacks.TARGET):
                _mark_operands(op)
        passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(divided.operation)
        decided = [op for op in _operations(divided.operation) if _is_custom(op)]
        for op, call in zip(decided, [op for op in _operations(whole.operation) if _is_custom(op)], strict=True):
            if _calls(op, _INSPECTION):
                _tell(op, divided)
                call.erase()
                continue
            operands = [_shardings_of(value.owner, divided)[0] for value in op.operands]
            if _calls(op, _divided_callbacks.TARGET):
                callbacks += _divided_callbacks.divide(whole, call, _axes(whole), operands)
            else:
                _custom_partitioning.divide(whole, call, operands, _shardings_of(op, divided))
        # XLA's partitioner simplifies before it decides how open results are divided, so that its decision may be another one than
        # Shardy's here. Where it has no part in the program, or finds operations divided already, this one stands.
        _take_signature(whole, divided, ["arg_attrs", "res_attrs"] if decided or _is_divided_by_hand(_main(whole)) else ["arg_attrs"])
    return whole, callbacks


def _is_custom(op) -> bool:
    return any(_calls(op, target) for target in (_INSPECTION, _custom_partitioning.TARGET, _divided_callbacks.TARGET))


def _mark_operands(op) -> None:
    """Passes each operand through a custom call of its own, which then has the operand's sharding."""
    from jaxlib.mlir import ir

    for i, value in enumerate(list(op.operands)):
        marker = ir.Operation.create(
            "stablehlo.custom_call", [value.type], [value], {"call_target_name": ir.StringAttr.get(_OPERAND)},
            ip=ir.InsertionPoint(op), loc=op.location,
        )  # fmt: skip
        marker.attributes["sdy.sharding_rule"] = ir.Attribute.parse(_pointwise_rule(value.type.shape))
        op.operands[i] = marker.results[0]


def _operations(operation):
    """Yields the operations in an operation's regions, at any depth."""
    for block in itertools.chain.from_iterable(operation.regions):
        for inner in block:
            yield inner.operation
            yield from _operations(inner.operation)


def _calls(operation, target: str) -> bool:
    return operation.name == "stablehlo.custom_call" and operation.attributes["call_target_name"].value == target


def _main(module):
    """Returns the function that the program starts with."""
    return next(op for op in module.body if op.operation.name == "func.func" and op.attributes["sym_name"].value == "main")


def _is_open(main) -> bool:
    """Returns True when a sharding of the function's signature is missing or has dimensions that may be divided further."""
    lists = [main.attributes[name] for name in ("arg_attrs", "res_attrs") if name in main.attributes]
    stated = [attributes["sdy.sharding"] if "sdy.sharding" in attributes else None for attributes in itertools.chain(*lists)]
    values = len(main.type.inputs) + len(main.type.results)
    return len(stated) < values or any(sharding is None or "?" in str(sharding) for sharding in stated)


def _is_divided_by_hand(main) -> bool:
    """Returns True when all of a program is in shard_map."""
    return all(op.operation.name in ("sdy.manual_computation", "func.return") for op in main.entry_block)


def _take_signature(module, source, names) -> None:
    """Gives a module the named attributes of the signature of another, and the meshes that they name."""
    from jaxlib.mlir import ir

    known = _meshes(module)
    for name, mesh in _meshes(source).items():
        if name not in known:
            with ir.InsertionPoint.at_block_begin(module.body):
                mesh.operation.clone()
    for name in names:
        if name in _main(source).attributes:
            _main(module).attributes[name] = _main(source).attributes[name]


def _meshes(module) -> dict:
    return {op.attributes["sym_name"].value: op for op in module.body if op.operation.name == "sdy.mesh"}


def _axes(module) -> list[tuple[str, int]]:
    """Returns the names and sizes of the axes of the module's largest mesh."""
    from jaxlib.mlir.dialects import sdy

    meshes = [[sdy.MeshAxisAttr(axis) for axis in sdy.MeshAttr(op.attributes["mesh"]).axes] for op in _meshes(module).values()]
    return max(([(axis.name, axis.size) for axis in axes] for axes in meshes), key=lambda axes: math.prod(size for _, size in axes))


def _rule_of(op) -> str | None:
    """Returns a rule in Shardy's syntax for an operation that Shardy has no rule for, but that XLA propagates shardings through,
    because XLA has rewritten it by then; None for other operations."""
    if _calls(op, _INSPECTION):
        return _pointwise_rule(op.operands[0].type.shape)
    if op.name == "stablehlo.dynamic_slice" and all(_is_constant(start) for start in list(op.operands)[1:]):
        # XLA has rewritten it as a slice, whose dimensions stay divided.
        return _pointwise_rule(op.operands[0].type.shape, scalars=len(op.operands) - 1)
    if op.name == "chlo.top_k":
        *batch, whole = op.operands[0].type.shape
        factors, chosen = _factors(len(batch) + 2), op.results[0].type.shape[-1]
        operand, result = ", ".join(factors[:-1]), ", ".join([*factors[:-2], factors[-1]])
        sizes = _sizes(factors, [*batch, whole, chosen])
        return f"#sdy.op_sharding_rule<([{operand}])->([{result}], [{result}]) {{{sizes}}} need_replication={{{', '.join(factors[-2:])}}}, custom>"
    return None


def _pointwise_rule(sizes, scalars: int = 0) -> str:
    """Returns the rule of an operation whose result is divided like its first operand; the other operands are scalars."""
    factors = _factors(len(sizes))
    dimensions = f"[{', '.join(factors)}]"
    return f"#sdy.op_sharding_rule<({', '.join([dimensions] + ['[]'] * scalars)})->({dimensions}) {{{_sizes(factors, sizes)}}}, custom>"


def _is_constant(value) -> bool:
    return getattr(value.owner, "name", "") == "stablehlo.constant"  # The owner of an argument is a block.


def _factors(count: int) -> list[str]:
    """Returns the names of factors in Shardy's syntax: i, j, ..., z, z_1, z_2, ..."""
    names = itertools.chain(string.ascii_lowercase[8:], (f"z_{i}" for i in itertools.count(1)))
    return list(itertools.islice(names, count))


def _sizes(factors, sizes) -> str:
    return ", ".join(f"{factor}={size}" for factor, size in zip(factors, sizes))


def _tell(call, module) -> None:
    """Calls the function of an inspection with the sharding of its value."""
    inspector = _inspectors.get(call.attributes["backend_config"].value)
    if inspector is not None:
        inspector(_shardings_of(call, module)[0])


def _shardings_of(op, module) -> list:
    """Returns XLA's form of the shardings of an operation's results."""
    from jaxlib.mlir.dialects import sdy

    stated: list = [None] * len(op.results)
    if "sdy.sharding" in op.attributes:
        stated = [sdy.TensorShardingAttr(a) for a in sdy.TensorShardingPerValueAttr(op.attributes["sdy.sharding"]).shardings]
    return [_hlo_sharding(sharding, module, value.type.rank) for sharding, value in zip(stated, op.results)]


def _hlo_sharding(sharding, module, rank: int):
    """Returns XLA's form of one of Shardy's shardings."""
    from jax._src.sharding_impls import NamedSharding, PartitionSpec, replicated_hlo_sharding
    from jax.sharding import AbstractMesh
    from jaxlib.mlir.dialects import sdy

    if sharding is None or rank == 0:
        return replicated_hlo_sharding
    mesh = sharding.mesh_or_ref
    if not sdy.MeshAttr.isinstance(mesh):
        mesh = _meshes(module)[mesh.value].attributes["mesh"]
    mesh = sdy.MeshAttr(mesh)
    dimensions = [[_part(axis) for axis in sdy.DimensionShardingAttr(d).axes] for d in sharding.dimension_shardings]
    # Each part of an axis is an axis of its own here: the axis is cut wherever a part begins or ends.
    sizes: list = []
    names: dict = {}
    for axis in map(sdy.MeshAxisAttr, mesh.axes):
        cuts = {1, axis.size}
        for name, before, size in itertools.chain(*dimensions):
            if name == axis.name and size:
                cuts |= {before, before * size}
        ends = sorted(cuts) if axis.size > 1 else [1, 1]
        for low, high in zip(ends, ends[1:]):
            names.setdefault(axis.name, []).append((f"{axis.name}:{low}", low, high))
            sizes.append((f"{axis.name}:{low}", high // low))
    spec = []
    for parts in dimensions:
        within = lambda part, low, high: not part[2] or part[1] <= low and high <= part[1] * part[2]
        spec.append(tuple(n for part in parts for n, low, high in names[part[0]] if within(part, low, high)))
    abstract = AbstractMesh(tuple(size for _, size in sizes), tuple(name for name, _ in sizes))
    return NamedSharding(abstract, PartitionSpec(*spec))._to_xla_hlo_sharding(rank)


def _part(axis):
    """Returns a part of a mesh's axis: its name, the product of the parts before it, and its size (0 for the whole axis)."""
    from jaxlib.mlir.dialects import sdy

    axis = sdy.AxisRefAttr(axis)
    info = axis.sub_axis_info
    return (axis.name, info.pre_size, info.size) if info is not None else (axis.name, 1, 0)
