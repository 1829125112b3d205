"""Writes cases/: programs over meshes of 2, 4 and 8 devices, with arguments, and results and memory by XLA on as many CPU devices.

    python generate.py [NAME...]

A case is packed (../pack.py): module.mlir, argumentN.npy, resultN.npy, and case.json with the mesh, the partitioner, the shardings of
the results, and the memory of a large one (large.mlir.gz, which is not run) by memory_analysis(), per device.
"""

import gzip
import json
import os
import pathlib
import shutil
import sys
import zlib

os.environ["XLA_FLAGS"] = " ".join(
    ["--xla_force_host_platform_device_count=8", "--xla_allow_excess_precision=false", "--xla_cpu_enable_fast_math=false"]
)
os.environ["JAX_PLATFORMS"] = "cpu"
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import AxisType, NamedSharding  # noqa: E402

import pack  # noqa: E402
import programs  # noqa: E402

SMALL, LARGE = 4, 64


def mesh_of(text):
    sizes = tuple(int(size) for size in text.split("x"))
    names = ("data", "model", "pipe")[: len(sizes)]
    return jax.make_mesh(sizes, names, axis_types=(AxisType.Auto,) * len(sizes), devices=jax.devices()[: int(np.prod(sizes))])


def argument(kind, shape, random):
    if kind == "f":
        return (random.standard_normal(shape) * 0.5).astype(np.float32)
    return random.integers(0, 16, shape).astype(np.int32 if kind == "i" else np.uint32)


def lowered(make, mesh, size):
    function, arguments, divisions, results = make(mesh, size)
    named = lambda tree: jax.tree.map(lambda spec: NamedSharding(mesh, spec), tree)
    options = {} if results is None else {"out_shardings": named(results)}
    if make.__name__.endswith("_step"):  # Steps donate their states, which come first and have results of their own.
        options["donate_argnums"] = tuple(range(len(results)))
    types = {"f": np.float32, "i": np.int32, "k": np.uint32}
    structs = [jax.ShapeDtypeStruct(shape, types[kind]) for kind, shape in arguments]
    return jax.jit(function, in_shardings=named(divisions), **options).lower(*structs), arguments, named(divisions)


def text_of(program):
    return program.as_text(debug_info=True).replace(str(HERE) + "/", "")


def memory_of(program):
    stats = program.compile().memory_analysis()
    return {
        "arguments": stats.argument_size_in_bytes,
        "results": stats.output_size_in_bytes,
        "temporaries": stats.temp_size_in_bytes,
        "aliased": stats.alias_size_in_bytes,
    }


def write(name, make, mesh, partitioner):
    folder = HERE / "cases" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program, arguments, divisions = lowered(make, mesh, SMALL)
    random = np.random.default_rng(zlib.crc32(name.encode()))
    values = [argument(kind, shape, random) for kind, shape in arguments]
    compiled = program.compile()
    results = jax.tree.leaves(compiled(*[jax.device_put(v, d) for v, d in zip(values, divisions)]))
    shardings = [str(s._to_xla_hlo_sharding(r.ndim)) for s, r in zip(jax.tree.leaves(compiled.output_shardings), results)]
    for i, value in enumerate(values):
        np.save(folder / f"argument{i}.npy", value)
    for i, result in enumerate(results):
        np.save(folder / f"result{i}.npy", np.asarray(result))
    (folder / "module.mlir").write_text(text_of(program))
    large = lowered(make, mesh, LARGE)[0]
    (folder / "large.mlir.gz").write_bytes(gzip.compress(text_of(large).encode(), 9, mtime=0))
    case = {
        "name": name,
        "mesh": {axis: size for axis, size in mesh.shape.items()},
        "devices": int(mesh.size),
        "partitioner": partitioner,
        "result_shardings": shardings,
        "large_memory": memory_of(large),
        "jaxlib": jax.lib.__version__ if hasattr(jax.lib, "__version__") else jax.__version__,
    }
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
    pack.pack(folder)


def main():
    wanted = sys.argv[1:]
    for program, (make, meshes) in programs.PROGRAMS.items():
        for text in meshes:
            for partitioner in ("shardy", "gspmd"):
                name = f"{program}_{text}_{partitioner}"
                if wanted and not any(part in name for part in wanted):
                    continue
                if partitioner == "gspmd" and ("shard_map" in program):
                    continue  # The lowering for GSPMD is in ../manual.
                jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
                jax.clear_caches()
                try:
                    write(name, make, mesh_of(text), partitioner)
                    print(name)
                except Exception as error:  # One that XLA refuses is left out, and named.
                    shutil.rmtree(HERE / "cases" / name, ignore_errors=True)
                    print("LEFT OUT", name, str(error)[:200], file=sys.stderr)


if __name__ == "__main__":
    main()
