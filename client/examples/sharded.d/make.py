"""Writes mlp.mlir: the gradient of a small MLP, divided over a mesh of 2 x 2 devices by annotations.

    python3 make.py mlp.mlir
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def loss(up, down, x):
    return jnp.mean(jnp.square(jnp.tanh(x @ up) @ down))


shapes = [((8, 16), P(None, "model")), ((16, 8), P("model", None)), ((4, 8), P("data", None))]
arguments = [jax.ShapeDtypeStruct(dims, jnp.float32, sharding=NamedSharding(mesh, spec)) for dims, spec in shapes]
lowered = jax.jit(jax.value_and_grad(loss, argnums=(0, 1))).lower(*arguments)
with open(sys.argv[1], "w") as file:
    file.write(lowered.as_text())
