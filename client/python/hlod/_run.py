"""hlod.run: a program on the daemon, arrays in and out."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import Any

from . import _hloctl


def run(
    program: Any, *args: Any, address: str | None = None, partition: bool | None = None, kwargs: Mapping[str, Any] | None = None
) -> Any:
    """Runs a program on the daemon at `address`, else $HLOD_ADDRESS, else the user's running one, else a private one.

    program: the result of `jax.jit(f).lower(*args)` or `jax.export`, a jitted function, HLO or StableHLO text, the bytes of an
             HloModuleProto, or the path of a file with any of them.
    args:    the arguments of a JAX function, which may be trees (the arrays determine the sizes of symbols); for other programs,
             one array per parameter.
    kwargs:  the keyword arguments of a JAX function.

    Returns NumPy arrays: in the tree that a JAX function returns, or in a list for other programs. For a program of several
    participants (num_replicas times num_partitions) it returns a list of such lists.

    A JAX function with jax.shard_map or jax.pmap needs a daemon with as many --devices as its mesh has; arguments and results
    are whole on each of them.

    A program whose arrays have shardings over several devices is divided by XLA's partitioner (hlod.partition) when the daemon has
    as many devices: arguments are cut, and results are assembled. If it has fewer, or if jaxlib is missing, one device computes
    all; partition=True makes this an error. With partition=False no program is divided.

    Each run is a process of hloctl. With HLOD_PROFILE=FILE each one writes its profile to FILE.N, with a new N.
    """
    import numpy as np

    if callable(program) and hasattr(program, "lower"):
        program = program.lower(*args, **(kwargs or {}))
    jax_function, lowered = hasattr(program, "out_tree"), program
    exported = jax_function and hasattr(program, "mlir_module_serialized")
    if kwargs and not jax_function:
        raise TypeError(f"the program is no JAX function, and has no arguments with names: {', '.join(kwargs)}")
    leaves = list(args)
    if jax_function:
        leaves = (_exported_leaves if exported else _leaves)(program, (args, dict(kwargs or {})))
    leaves = [_plain(np.asarray(leaf)) for leaf in leaves]
    results = _call(_with_shardings(program), leaves, address, partition)
    if not jax_function:
        return list(results.values()) if len(results) > 1 else results.get(0, [])
    import jax

    infos = lowered.out_avals if exported else jax.tree_util.tree_leaves(lowered.out_info)
    return jax.tree_util.tree_unflatten(lowered.out_tree, [_typed(a, info.dtype) for a, info in zip(results.get(0, []), infos)])


def _with_shardings(program):
    """Returns a lowered function for several partitions as StableHLO, which has the shardings that the partitioner reads. Returns other
    programs as they are."""
    if not hasattr(program, "compiler_ir"):
        return program
    operation = program.compiler_ir("stablehlo").operation
    attributes = operation.attributes
    several = "mhlo.num_partitions" in attributes and attributes["mhlo.num_partitions"].value > 1
    return operation.get_asm(enable_debug_info=True) if several else program


def _call(program, leaves, address, partition):
    """Runs the program by hloctl. Returns the results per participant; the whole results of a divided program count as participant 0's."""
    import numpy as np

    with _hloctl.as_file(program) as module, tempfile.TemporaryDirectory(prefix="hlod-") as folder:
        command = ["run", module, "--output", os.path.join(folder, "results")]
        if address is not None:
            command += ["--address", address]
        if partition is not None:
            command += ["--mesh", "own" if partition else "none"]
        for i, array in enumerate(leaves):
            path = os.path.join(folder, f"argument{i}.npy")
            np.save(path, array, allow_pickle=False)
            command += ["--arg", f"{i}={path}"]
        participants = {}
        for result in _hloctl.call(*command)["results"]:
            participants.setdefault(result.get("participant", 0), []).append(np.load(result["file"], allow_pickle=False))
    return participants


def _is_key(dtype):
    """Returns true for the type of JAX's keys of random numbers, whose arrays hold bits of another shape."""
    import jax

    return jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


def _dtype(leaf):
    import jax

    dtype = jax.numpy.result_type(leaf)
    return dtype if _is_key(dtype) else jax.dtypes.canonicalize_dtype(dtype)


def _array(leaf):
    import jax

    return jax.random.key_data(leaf) if _is_key(jax.numpy.result_type(leaf)) else jax.numpy.asarray(leaf)


def _leaves(lowered, arguments):
    """Returns the arguments of the lowered module's parameters, in the order of the parameters."""
    import jax

    leaves, tree = jax.tree_util.tree_flatten(arguments)
    if tree != lowered.in_tree:
        raise TypeError(f"the function was lowered for arguments {lowered.in_tree}, not {tree}")
    for i, (leaf, info) in enumerate(zip(leaves, jax.tree_util.tree_leaves(lowered.args_info))):
        shape, dtype = jax.numpy.shape(leaf), _dtype(leaf)
        if shape != tuple(info.shape) or dtype != info.dtype:
            raise TypeError(f"argument {i} is {dtype}{list(shape)}; the function was lowered for {info.dtype}{list(info.shape)}")
    leaves = [_array(leaf) for leaf in leaves]
    # JAX leaves out arguments that the function does not use.
    kept = getattr(getattr(lowered, "_lowering", None), "compile_args", {}).get("kept_var_idx")
    kept = [leaf for i, leaf in enumerate(leaves) if kept is None or i in kept]
    wanted = len(lowered.compiler_ir("hlo").program_shape().parameter_shapes())
    if len(kept) != wanted:
        raise TypeError(f"the module has {wanted} parameters for {len(kept)} arguments: lower with jax.jit(f, keep_unused=True)")
    return kept


def _exported_leaves(exported, arguments):
    """Returns the arguments of an Exported's module: the number of the platform, if the module has several, then the arguments that
    the function uses."""
    import jax
    import numpy as np

    leaves, tree = jax.tree_util.tree_flatten(arguments)
    if tree != exported.in_tree:
        raise TypeError(f"the function was exported for arguments {exported.in_tree}, not {tree}")
    for i, (leaf, aval) in enumerate(zip(leaves, exported.in_avals)):
        shape, dtype = jax.numpy.shape(leaf), _dtype(leaf)
        fits = len(shape) == len(aval.shape) and all(not isinstance(d, int) or d == s for s, d in zip(shape, aval.shape))
        if not fits or dtype != aval.dtype:
            raise TypeError(f"argument {i} is {dtype}{list(shape)}; the function was exported for {aval.str_short()}")
    kept = [_array(leaves[i]) for i in exported.module_kept_var_idx]
    if len(exported.platforms) == 1:
        return kept
    # The daemon runs what JAX lowers for any platform, as far as it knows the custom calls.
    platform = exported.platforms.index("cpu") if "cpu" in exported.platforms else 0
    return [np.int32(platform), *kept]


def _plain(array):
    """Returns an array in a type that .npy can store: bits for types that NumPy does not have, int8 and uint8 for narrow integers."""
    import numpy as np

    if array.dtype.name in ("int2", "int4", "uint2", "uint4"):
        return array.astype(np.uint8 if array.dtype.name.startswith("u") else np.int8)
    if array.dtype.kind == "V" or array.dtype.name.startswith(("bfloat", "float8")):
        return array.view({1: np.uint8, 2: np.uint16}[array.dtype.itemsize])
    return array


def _typed(array, dtype):
    import jax
    import numpy as np

    if _is_key(dtype):
        return jax.random.wrap_key_data(array, impl=str(dtype._impl.name))
    dtype = np.dtype(dtype)
    if array.dtype == dtype:
        return array
    return array.astype(dtype) if "int" in dtype.name else array.view(dtype)
