"""Writes programs with collectives over a mesh of 128 devices, and what jax.experimental.roofline says of each.

    XLA_FLAGS=--xla_force_host_platform_device_count=128 python3 generate.py FOLDER

FOLDER gets NAME.hlo, the module of each device, and roofline.csv: the bytes through a ring's axis and the hops. Made
with jax 0.10.2 and absl-py 2.3.1.
"""

import csv
import os
import pathlib
import sys

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=128")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.roofline import roofline
from jax.sharding import Mesh, PartitionSpec as P

jax.config.update("jax_use_shardy_partitioner", False)

X, Y, Z = "x", "y", "z"
AXES = (X, Y, Z)
MESH = Mesh(np.array(jax.devices()).reshape(4, 4, 8), AXES)
ROWS, COLUMNS = 1024, 512  # 2 MiB of f32 per device.


def shift(axis, size, by):
    return lambda a: lax.ppermute(a, axis, [(i, (i + by) % size) for i in range(size)])


PROGRAMS = {
    "all_gather_z": lambda a: lax.all_gather(a, Z, tiled=True),
    "all_gather_x": lambda a: lax.all_gather(a, X, tiled=True),
    "all_gather_xy": lambda a: lax.all_gather(a, (X, Y), tiled=True),
    "reduce_scatter_z": lambda a: lax.psum_scatter(a, Z, tiled=True),
    "reduce_scatter_yz": lambda a: lax.psum_scatter(a, (Y, Z), tiled=True),
    "psum_x": lambda a: lax.psum(a, X),
    "psum_z": lambda a: lax.psum(a, Z),
    "psum_xyz": lambda a: lax.psum(a, AXES),
    "all_to_all_y": lambda a: lax.all_to_all(a, Y, 0, 1, tiled=True),
    "all_to_all_z": lambda a: lax.all_to_all(a, Z, 0, 1, tiled=True),
    "permute_z": shift(Z, 8, 1),
    "permute_far": shift(Z, 8, 3),
}


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "roofline.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["program", "bytes", "hops"])
        for name, program in PROGRAMS.items():
            whole = jax.ShapeDtypeStruct((ROWS * 128, COLUMNS), jnp.float32)
            spec = P(AXES, None)
            mapped = jax.shard_map(program, mesh=MESH, in_specs=spec, out_specs=spec, check_vma=False)
            _, result = roofline(program, mesh=MESH, in_specs=spec, out_specs=spec)(whole)
            rows.writerow([name, max(result.ici_bytes.values()), int(max(result.ici_latency.values()))])
            hlo = jax.jit(mapped).lower(whole).compiler_ir("hlo").as_hlo_module().to_string()
            hlo = hlo.replace(os.path.abspath(__file__), "generate.py").replace(", entry_", ", num_partitions=128, entry_", 1)
            (folder / f"{name}.hlo").write_text(hlo)


if __name__ == "__main__":
    main(sys.argv[1])
