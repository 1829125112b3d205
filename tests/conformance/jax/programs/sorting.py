"""Sorts, top-k, searches and permutations."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import inputs
from programs.harness import Program, Registry

CASES = Registry()


@CASES.case("sort_values", ("f32", "bf16", "f16", "s32", "u8"))
def sort_values(rng, dtype):
    """Sort along each axis, ascending and descending; floats with NaN, infinities and zeros of both signs."""
    x = inputs.integers(rng, 0, 200, (6, 40)).astype(dtype)
    if dtype.kind not in "iu":
        x = inputs.varied(rng, (6, 40), dtype)
        x[1, [3, 8, 20, 21, 30]] = [np.nan, np.inf, -np.inf, 0.0, 0.5]
        x[2, :4] = [-0.0, np.nan, -np.nan, 1]
    return Program(
        lambda x: (jnp.sort(x, 1), jnp.sort(x, 0), jnp.sort(x, 1, descending=True)), (x,), kind="exact"
    )


@CASES.case("argsort", ("f32", "bf16", "s32"))
def argsort(rng, dtype):
    """Stable argsort with many equal keys, along both axes, and its inverse permutation."""
    x = inputs.integers(rng, -8, 8, (5, 50)).astype(dtype)

    def f(x):
        order = jnp.argsort(x, axis=1)
        return (
            order,
            jnp.argsort(order, axis=1),
            jnp.argsort(x, axis=0, descending=True),
            jnp.take_along_axis(x, order, axis=1),
        )

    return Program(f, (x,), kind="exact")


@CASES.case("sort_several")
def sort_several(rng):
    """One sort of several operands of different types, by one key and by two (lexicographic)."""
    first, second = inputs.integers(rng, 0, 4, (3, 40)), inputs.varied(rng, (3, 40), np.float32)
    payload = (np.arange(120).reshape(3, 40) % 128).astype(np.int8)

    def f(first, second, payload):
        by_one = lax.sort((first, second, payload), dimension=1, num_keys=1, is_stable=True)
        return (
            by_one,
            lax.sort((first, second, payload), dimension=1, num_keys=2),
            lax.sort((first[0], payload[0]), num_keys=1),
        )

    return Program(f, (first, second, payload), kind="exact")


@CASES.case("top_k", ("f32", "bf16", "s32"))
def top_k(rng, dtype):
    """top_k of rows with ties (the lowest index wins) and with k equal to the row."""
    x = inputs.integers(rng, -30, 30, (2, 4, 50)).astype(dtype)
    return Program(
        lambda x: (lax.top_k(x, 7), lax.top_k(-x[:, :, :5], 5), lax.top_k(x, 1)), (x,), kind="exact"
    )


@CASES.case("top_k_gradient")
def top_k_gradient(rng):
    """The gradient of the sum of the squares of the top three: top_k, then scatter."""
    x = rng.permutation(120).reshape(4, 30).astype(np.float32) / 7
    return Program(jax.grad(lambda x: jnp.sum(lax.top_k(x, 3)[0] ** 2)), (x,), kind="elementwise")


@CASES.case("median_quantile_search")
def median_quantile_search(rng):
    """median and quantiles, searchsorted both ways, unique with a stated size."""
    x, edges = inputs.varied(rng, (4, 25), np.float32), np.sort(rng.standard_normal(16)).astype(np.float32)

    def f(x, edges):
        counts = jnp.unique((x[0] * 2).astype(jnp.int32), size=10, fill_value=99)
        return (
            jnp.median(x, axis=1),
            jnp.quantile(x, jnp.asarray([0.1, 0.9]), axis=1),
            jnp.searchsorted(edges, x[0]),
            jnp.searchsorted(edges, x[1], side="right"),
            counts,
            jnp.partition(x, 5, axis=1)[:, 5],
        )

    return Program(f, (x, edges), kind="elementwise")


@CASES.case("approx_max_k")
def approx_max_k(rng):
    """approx_max_k, which JAX writes as a full sort of values and positions."""
    x = rng.permutation(300).reshape(3, 100).astype(np.float32)
    return Program(lambda x: lax.approx_max_k(x, 5), (x,), kind="exact")
