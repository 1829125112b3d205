#!/usr/bin/env python3
"""Records what JAX computes for the functions of collectives_test.cc: over a batch, its gradients example by example, and its
derivative in a direction. Writes collectives.json here; needs jax."""
import json
import math
import pathlib

import jax
import jax.numpy as jnp
from jax import lax

jax.config.update("jax_enable_x64", True)
N, M = 4, 3  # Examples of the axes i and j.


def ramp(*dims, scale=0.37, start=0.3):
    """Numbers in (-0.8, 0.8), all different, the same in every run."""
    n = math.prod(dims)
    return jnp.array([0.8 * math.sin(start + scale * (i + 1) * 1.7) for i in range(n)]).reshape(dims)


def weighted(x):
    return jnp.sum(x * jnp.cos(jnp.arange(x.size, dtype=x.dtype)).reshape(x.shape))


def scanned(x):
    def step(c, row):
        c = jnp.sin(c + lax.pmean(row, "i")) * (1 + lax.axis_index("i"))
        return c, lax.ppermute(c, "i", [(0, 1), (1, 2), (2, 3), (3, 0)])

    c, ys = lax.scan(step, jnp.ones(3), x)
    return jnp.concatenate([c[None], ys])


def constant_in_scan(x):
    # The carry begins and goes on without an example of its own.
    c, _ = lax.scan(lambda c, y: (c + lax.psum(1.5, "i") + lax.axis_index("i"), None), jnp.float64(1), x[:, 0])
    return c * x


def branched(x):
    return lax.cond(lax.psum(x[0, 0], "i") > 0, lambda x: x - lax.pmean(x, "i"), lambda x: x * lax.axis_index("i"), x)


# One example's x is [4, 3]; the axis i has 4 examples.
FUNCTIONS = {
    "psum": lambda x: lax.psum(jnp.sin(x), "i") * x,
    "psum_of_a_constant": lambda x: lax.psum(jnp.full((3,), 0.25), "i") * x,
    "pmean": lambda x: x - lax.pmean(x, "i"),
    "normalized": lambda x: (x - lax.pmean(x, "i")) / jnp.sqrt(lax.pmean(jnp.square(x - lax.pmean(x, "i")), "i") + 1e-3),
    "axis_index": lambda x: x * lax.axis_index("i") + lax.axis_size("i"),
    "ppermute": lambda x: lax.ppermute(jnp.sin(x), "i", [(0, 2), (2, 1), (1, 3), (3, 0)]) * x,
    "pshuffle": lambda x: lax.pshuffle(jnp.sin(x), "i", [3, 0, 2, 1]) * x,
    "all_gather": lambda x: jnp.sin(lax.all_gather(x, "i")) * x,
    "all_gather_dim": lambda x: jnp.sin(lax.all_gather(x, "i", axis=1)) * x[:, None],
    "all_gather_tiled": lambda x: jnp.sin(lax.all_gather(x, "i", axis=1, tiled=True)) * jnp.tile(x, (1, 4)),
    "psum_scatter": lambda x: lax.psum_scatter(jnp.sin(x), "i") * x,
    "psum_scatter_tiled": lambda x: lax.psum_scatter(jnp.sin(jnp.tile(x, (2, 1))), "i", scatter_dimension=0, tiled=True) * x[:2],
    # lax.all_to_all(sin(x), "i", 0, 1) by an all_gather: JAX 0.10 refuses its own gradient.
    "all_to_all": lambda x: lax.all_gather(jnp.sin(x), "i")[:, lax.axis_index("i")].T * x.T,
    "all_to_all_tiled": lambda x: lax.all_to_all(jnp.sin(jnp.tile(x, (2, 1))), "i", 0, 1, tiled=True) * jnp.tile(x[:2], (1, 4)),
    "pswapaxes": lambda x: lax.pswapaxes(jnp.sin(x), "i", 0) * x,
    "scanned": scanned,
    "constant_in_scan": constant_in_scan,
    "branched": branched,
}
# JAX has no gradient of these.
WITHOUT_GRADIENT = {
    "pmax": lambda x: lax.pmax(x, "i") * x,
    "pmin": lambda x: lax.pmin(x, "i") * x,
}
# Functions of two axes: i of 4 examples around j of 3; one example's x is [4].
NESTED = {
    "both": lambda x: lax.psum(jnp.sin(x), ("i", "j")) * x,
    "outer": lambda x: lax.psum(jnp.sin(x), "i") * x,
    "outer_gather": lambda x: jnp.sin(lax.all_gather(x, "i")) * x,
    "outer_scatter": lambda x: lax.psum_scatter(jnp.sin(x), "i") * x,
    "outer_swap": lambda x: lax.all_to_all(jnp.sin(x), "i", 0, 0) * x,
    "outer_permute": lambda x: lax.ppermute(jnp.sin(x), "i", [(0, 1), (1, 3), (3, 2), (2, 0)]) * x,
    "inner": lambda x: lax.psum(jnp.sin(x), "j") * lax.pmean(x, "i"),
    "indices": lambda x: x * (lax.axis_index("i") * 10 + lax.axis_index("j")) + lax.axis_index(("i", "j")),
}


def listed(x):
    return {"dims": list(x.shape), "values": [float(v) for v in jnp.ravel(x)]}


def case(f, over, x, dx, gradient):
    made = {"value": listed(over(f)(x))}
    if gradient:
        made["gradient"] = listed(over(jax.grad(lambda x: weighted(f(x))))(x))
        made["gradient_around"] = listed(jax.grad(lambda x: weighted(over(f)(x)))(x))
        made["tangent"] = listed(jax.jvp(over(f), (x,), (dx,))[1])
        made["second"] = listed(over(jax.grad(lambda x: weighted(jnp.sin(jax.grad(lambda x: weighted(f(x)))(x)))))(x))
    return made


def main():
    one = lambda f: jax.vmap(f, axis_name="i")
    two = lambda f: jax.vmap(jax.vmap(f, axis_name="j"), axis_name="i")
    x, dx = ramp(N, 4, 3), ramp(N, 4, 3, scale=0.21)
    y, dy = ramp(N, M, 4), ramp(N, M, 4, scale=0.21)
    cases = {name: case(f, one, x, dx, True) for name, f in FUNCTIONS.items()}
    cases |= {name: case(f, one, x, dx, False) for name, f in WITHOUT_GRADIENT.items()}
    nested = {name: case(f, two, y, dy, True) for name, f in NESTED.items()}
    text = {"x": listed(x), "dx": listed(dx), "y": listed(y), "dy": listed(dy), "cases": cases, "nested": nested}
    (pathlib.Path(__file__).parent / "collectives.json").write_text(json.dumps(text, indent=None) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
