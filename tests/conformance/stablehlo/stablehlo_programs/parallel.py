"""Shardings and collectives, over four devices."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from programs.harness import Program, Registry

from stablehlo_programs.elementwise import unit

CASES = Registry()


def mesh():
    return jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)


@CASES.case("sharding_constraints")
def sharding_constraints(rng):
    """Arguments, values and results with shardings."""

    def f(x):
        y = lax.with_sharding_constraint(x @ x.T, NamedSharding(mesh(), P("x", None)))
        return lax.with_sharding_constraint(jnp.sin(y), NamedSharding(mesh(), P(("x", "y")))), y.sum()

    x = jax.device_put(unit(rng, 4, 4), NamedSharding(mesh(), P("x", "y")))
    return Program(f, (x,))


@CASES.case("manual_computation")
def manual_computation(rng):
    """shard_map with each collective."""

    def body(x):
        total = lax.psum(x, "x")
        return (
            total,
            lax.pmax(x, ("x", "y")),
            lax.all_gather(x, "y", axis=1, tiled=True),
            lax.psum_scatter(total, "y", scatter_dimension=0, tiled=True),
            lax.all_to_all(x, "x", 0, 1, tiled=True),
            lax.ppermute(x, "y", [(0, 1), (1, 0)]),
            x + lax.axis_index("x"),
        )

    specs = P("x", "y")
    f = jax.shard_map(body, mesh=mesh(), in_specs=specs, out_specs=(specs,) * 7, check_vma=False)
    return Program(f, (unit(rng, 4, 4),))
