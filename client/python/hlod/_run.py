"""hlod.run: a program on the daemon, arrays in and out."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from . import _hloctl


def run(program: Any, *args: Any, address: str | None = None) -> Any:
    """Runs a program on the daemon at `address`, else $HLOD_ADDRESS, else the user's running one, else a private one.

    program: what `jax.jit(f).lower(*args)` or `jax.export` gives, a jitted function, HLO or StableHLO text, the bytes of an
             HloModuleProto, or the path of a file with any of them.
    args:    the arguments of a JAX function, trees and all (the sizes of symbols are those of the arrays); of other programs
             an array for each parameter.

    Returns NumPy arrays: those of a JAX function in the tree that it returns, those of other programs in a list; of programs of
    several participants (num_replicas times num_partitions) a list of such lists.

    A JAX function with jax.shard_map or jax.pmap takes a daemon with as many --devices as its mesh has; each of them takes
    the whole arguments and gets the whole results.
    """
    import numpy as np

    if callable(program) and hasattr(program, "lower"):
        program = program.lower(*args)
    jax_function = hasattr(program, "out_tree")
    exported = jax_function and hasattr(program, "mlir_module_serialized")
    leaves = _exported_leaves(program, args) if exported else _leaves(program, args) if jax_function else list(args)
    with _hloctl.as_file(program) as module, tempfile.TemporaryDirectory(prefix="hlod-") as folder:
        arguments = ["run", module, "--output", os.path.join(folder, "results")]
        if address is not None:
            arguments += ["--address", address]
        for i, leaf in enumerate(leaves):
            path = os.path.join(folder, f"argument{i}.npy")
            np.save(path, _plain(np.asarray(leaf)), allow_pickle=False)
            arguments += ["--arg", f"{i}={path}"]
        results = _hloctl.call(*arguments)["results"]
        participants = {}
        for result in results:
            participants.setdefault(result.get("participant", 0), []).append(np.load(result["file"], allow_pickle=False))
    if not jax_function:
        return list(participants.values()) if len(participants) > 1 else participants.get(0, [])
    import jax

    arrays = participants.get(0, [])
    infos = program.out_avals if exported else jax.tree_util.tree_leaves(program.out_info)
    types = [np.dtype(info.dtype) for info in infos]
    return jax.tree_util.tree_unflatten(program.out_tree, [_typed(a, t) for a, t in zip(arrays, types)])


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
