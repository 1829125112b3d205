"""Divides operations whose writer states how they are divided (jax.experimental.custom_partitioning).

When XLA knows the shardings of such an operation's operands, it asks for the function that each device runs. Here the operation's
custom call becomes a call of `jax.shard_map` over that function, which the daemon runs like any other.
"""

from __future__ import annotations

TARGET = "CustomSPMDPartitioning"


def divide(module, call, operand_shardings, result_shardings) -> None:
    """Replaces a custom call of the module by the function that its partition function gives for XLA's shardings of its operands
    and results. A call whose function was garbage collected stays as it is."""
    from jax._src import custom_partitioning
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func

    info = custom_partitioning._sharding_callbacks.get(call.attributes["backend_config"].value.encode())
    if info is None:
        return
    operands, results = [v.type for v in call.operands], [v.type for v in call.results]
    source = _lowered(info, _shaped(info, operands, operand_shardings), _shaped(info, results, result_shardings))
    name = mlir.merge_mlir_modules(module, "custom_partitioning", source)
    with ir.InsertionPoint(call), call.location:
        made = func.CallOp(results, ir.FlatSymbolRefAttr.get(name), list(call.operands))
    for old, new in zip(call.results, made.operation.results):
        old.replace_all_uses_with(new)
    call.erase()


def _shaped(info, types, shardings) -> list:
    """Returns the shapes of values, with their shardings, as arguments of the partition function."""
    import jax
    from jax._src.dtypes import _jax_types
    from jax._src.interpreters import mlir

    elements = {str(mlir.dtype_to_ir_type(element)): element for element in map(jax.numpy.dtype, _jax_types)}
    return [
        jax.ShapeDtypeStruct(t.shape, elements[str(t.element_type)], sharding=info.to_mesh_pspec_sharding(s, t.rank))
        for t, s in zip(types, shardings)
    ]


def _lowered(info, operands: list, results: list):
    """Returns the module of a function over whole arrays that calls the function of `info.partition` on their parts."""
    import jax
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    mesh, function, of_results, of_arguments = info.partition(
        *info.static_args, info.mesh, info.in_tree.unflatten(operands), info.out_tree.unflatten(results)
    )
    specs = lambda tree, shardings, shapes: [_spec(s, mesh, shape.ndim) for s, shape in zip(tree.flatten_up_to(shardings), shapes)]
    whole = jax.shard_map(
        lambda *leaves: function(*info.in_tree.unflatten(leaves)),
        mesh=mesh,
        in_specs=tuple(specs(info.in_tree, of_arguments, operands)),
        out_specs=info.out_tree.unflatten(specs(info.out_tree, of_results, results)),
        check_vma=False,
    )
    plain = [jax.ShapeDtypeStruct(shape.shape, shape.dtype) for shape in operands]
    lowered = jax.jit(whole, keep_unused=True).lower(*plain)
    return ir.Module.parse(mlir.module_to_bytecode(lowered.compiler_ir("stablehlo")))


def _spec(sharding, mesh, rank: int):
    """Returns the mesh axes by which a sharding divides each dimension."""
    from jax._src.sharding_impls import parse_flatten_op_sharding
    from jax.sharding import NamedSharding, Sharding

    if not isinstance(sharding, Sharding):
        raise ValueError("Custom Partitioning rules must return Sharding.")
    if isinstance(sharding, NamedSharding):
        return sharding.spec
    return parse_flatten_op_sharding(sharding._to_xla_hlo_sharding(rank), mesh)[0]
