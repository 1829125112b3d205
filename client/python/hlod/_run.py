"""hlod.run: a program on the daemon, arrays in and out."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from . import _hloctl
from ._partition import PartitionError
from ._partition import partition as partition_program
from .partitioning import shards


def run(program: Any, *args: Any, address: str | None = None, partition: bool | None = None) -> Any:
    """Runs a program on the daemon at `address`, else $HLOD_ADDRESS, else the user's running one, else a private one.

    program: what `jax.jit(f).lower(*args)` or `jax.export` gives, a jitted function, HLO or StableHLO text, the bytes of an
             HloModuleProto, or the path of a file with any of them.
    args:    the arguments of a JAX function, trees and all (the sizes of symbols are those of the arrays); of other programs
             an array for each parameter.

    Returns NumPy arrays: those of a JAX function in the tree that it returns, those of other programs in a list; of programs of
    several participants (num_replicas times num_partitions) a list of such lists.

    A JAX function with jax.shard_map or jax.pmap takes a daemon with as many --devices as its mesh has; each of them takes
    the whole arguments and gets the whole results.

    A lowered JAX function whose arrays have shardings over several devices is divided by XLA's partitioner (hlod.partition) when the
    daemon has as many devices: arguments are cut, results assembled. Where it has fewer, or jaxlib is missing, one device computes
    all. partition=True makes that an error, partition=False never divides.
    """
    import numpy as np

    if callable(program) and hasattr(program, "lower"):
        program = program.lower(*args)
    jax_function = hasattr(program, "out_tree")
    exported = jax_function and hasattr(program, "mlir_module_serialized")
    leaves = _exported_leaves(program, args) if exported else _leaves(program, args) if jax_function else list(args)
    divided = _divided(program, address, partition) if jax_function and not exported else None
    if divided is None and partition and (exported or not jax_function):
        raise TypeError("partition=True takes what jax.jit(f).lower(*args) gives")
    leaves = [_plain(np.asarray(leaf)) for leaf in leaves]
    if divided is None:
        results = _call(program, [(str(i), leaf) for i, leaf in enumerate(leaves)], address)
    else:
        results = _run_divided(divided, leaves, program, address)
    if not jax_function:
        return list(results.values()) if len(results) > 1 else results.get(0, [])
    import jax

    infos = program.out_avals if exported else jax.tree_util.tree_leaves(program.out_info)
    types = [np.dtype(info.dtype) for info in infos]
    return jax.tree_util.tree_unflatten(program.out_tree, [_typed(a, t) for a, t in zip(results.get(0, []), types)])


def _call(program, arguments, address):
    """Runs the program by hloctl. `arguments` are pairs of an array's place, as hloctl writes it, and the array. Returns the results of each
    participant."""
    import numpy as np

    with _hloctl.as_file(program) as module, tempfile.TemporaryDirectory(prefix="hlod-") as folder:
        command = ["run", module, "--output", os.path.join(folder, "results")]
        if address is not None:
            command += ["--address", address]
        paths = {}  # Devices that take the same part share its file.
        for place, array in arguments:
            if id(array) not in paths:
                paths[id(array)] = os.path.join(folder, f"argument{len(paths)}.npy")
                np.save(paths[id(array)], array, allow_pickle=False)
            command += ["--arg", f"{place}={paths[id(array)]}"]
        participants = {}
        for result in _hloctl.call(*command)["results"]:
            participants.setdefault(result.get("participant", 0), []).append(np.load(result["file"], allow_pickle=False))
    return participants


def _divided(lowered, address, wanted):
    """The program as each device runs it; None when one device is to compute all."""
    if wanted is False or not _has_shardings(lowered):
        return None
    try:
        divided = partition_program(lowered)
    except PartitionError:
        if wanted:
            raise
        return None
    have = _device_count(address)
    if have < divided.devices:
        if wanted:
            raise _hloctl.Error(f"the program is divided over {divided.devices} devices; the daemon has {have}")
        return None
    return divided if divided.devices > 1 else None


def _has_shardings(lowered) -> bool:
    module = lowered.compiler_ir("stablehlo")
    attributes = module.operation.attributes
    if "mhlo.num_partitions" not in attributes or attributes["mhlo.num_partitions"].value < 2:
        return False
    text = str(module)
    # A program that is divided by hand runs as it is.
    by_hand = "sdy.manual_computation" in text or "SPMDFullToShardShape" in text
    return not by_hand and ("sdy.sharding" in text or "mhlo.sharding" in text)


def _device_count(address) -> int:
    """The devices of the daemon that a run would use."""
    try:
        return len(_hloctl.call("devices", *(["--address", address] if address is not None else []))["devices"])
    except _hloctl.Error:  # A private one would be started.
        return int(os.environ.get("HLOD_DEVICES", 1))


def _run_divided(divided, leaves, lowered, address):
    import jax

    arguments = []
    for i, (leaf, sharding) in enumerate(zip(leaves, divided.parameter_shardings)):
        arguments += [(f"{device}:{i}", part) for device, part in enumerate(shards.cut(leaf, sharding, divided.devices))]
    results = _call(divided.module, arguments, address)
    shapes = [info.shape for info in jax.tree_util.tree_leaves(lowered.out_info)]
    return {
        0: [
            shards.join([results[device][i] for device in range(divided.devices)], sharding, shape)
            for i, (sharding, shape) in enumerate(zip(divided.result_shardings, shapes))
        ]
    }


def _leaves(lowered, args):
    """The arrays that the lowered module has parameters for, in their order."""
    import jax

    leaves, tree = jax.tree_util.tree_flatten((args, {}))
    if tree != lowered.in_tree:
        raise TypeError(f"the function was lowered for arguments {lowered.in_tree}, not {tree}")
    for i, (leaf, info) in enumerate(zip(leaves, jax.tree_util.tree_leaves(lowered.args_info))):
        shape, dtype = jax.numpy.shape(leaf), jax.dtypes.canonicalize_dtype(jax.numpy.result_type(leaf))
        if shape != tuple(info.shape) or dtype != info.dtype:
            raise TypeError(f"argument {i} is {dtype}{list(shape)}; the function was lowered for {info.dtype}{list(info.shape)}")
    leaves = [jax.numpy.asarray(leaf) for leaf in leaves]
    # JAX leaves out what the function does not use.
    kept = getattr(getattr(lowered, "_lowering", None), "compile_args", {}).get("kept_var_idx")
    kept = [leaf for i, leaf in enumerate(leaves) if kept is None or i in kept]
    wanted = len(lowered.compiler_ir("hlo").program_shape().parameter_shapes())
    if len(kept) != wanted:
        raise TypeError(f"the module has {wanted} parameters for {len(kept)} arguments: lower with jax.jit(f, keep_unused=True)")
    return kept


def _exported_leaves(exported, args):
    """The arrays that an Exported's module has parameters for: the number of the platform, if there are several, and what
    the function uses of its arguments."""
    import jax
    import numpy as np

    leaves, tree = jax.tree_util.tree_flatten((args, {}))
    if tree != exported.in_tree:
        raise TypeError(f"the function was exported for arguments {exported.in_tree}, not {tree}")
    for i, (leaf, aval) in enumerate(zip(leaves, exported.in_avals)):
        shape, dtype = jax.numpy.shape(leaf), jax.dtypes.canonicalize_dtype(jax.numpy.result_type(leaf))
        fits = len(shape) == len(aval.shape) and all(not isinstance(d, int) or d == s for s, d in zip(shape, aval.shape))
        if not fits or dtype != aval.dtype:
            raise TypeError(f"argument {i} is {dtype}{list(shape)}; the function was exported for {aval.str_short()}")
    kept = [jax.numpy.asarray(leaves[i]) for i in exported.module_kept_var_idx]
    if len(exported.platforms) == 1:
        return kept
    if "cpu" not in exported.platforms:
        raise TypeError(f"the function was exported for {', '.join(exported.platforms)}; hlod runs what is for cpu")
    return [np.int32(exported.platforms.index("cpu")), *kept]


def _plain(array):
    """As .npy holds it: types that NumPy does not have as their bits, narrow integers as int8 and uint8."""
    import numpy as np

    if array.dtype.name in ("int2", "int4", "uint2", "uint4"):
        return array.astype(np.uint8 if array.dtype.name.startswith("u") else np.int8)
    if array.dtype.kind == "V" or array.dtype.name.startswith(("bfloat", "float8")):
        return array.view({1: np.uint8, 2: np.uint16}[array.dtype.itemsize])
    return array


def _typed(array, dtype):
    if array.dtype == dtype:
        return array
    return array.astype(dtype) if "int" in dtype.name else array.view(dtype)
