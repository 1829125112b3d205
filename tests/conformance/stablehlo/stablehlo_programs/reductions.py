"""Reductions, windows, cumulative operations."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from programs.harness import Program, Registry

from stablehlo_programs.elementwise import unit
from stablehlo_programs.movement import distinct

CASES = Registry()


@CASES.case("reduce_simple", ("f32", "s32"))
def reduce_simple(rng, dtype):
    """Reductions by one operation."""

    def f(x):
        return jnp.sum(x, 0), jnp.prod(x), jnp.max(x, (0, 2)), jnp.min(x, 1), jnp.any(x > 3), jnp.all(x > 3, 1)

    return Program(f, ((distinct(2, 3, 2) / 4 + 1).astype(dtype),))


@CASES.case("reduce_custom")
def reduce_custom(rng):
    """Reductions by a region: of one operand, and of two of different types."""

    def f(x, n):
        one = lax.reduce(x, jnp.float32(0), lambda a, b: a + b + jnp.sin(a) * jnp.sin(b), (1,))
        two = lax.reduce((x, n), (jnp.float32(1), jnp.int32(0)), lambda a, b: (a[0] * b[0], a[1] ^ b[1]), (0,))
        return one, two, jnp.argmax(x, 1), jnp.argmin(n, 0), lax.reduce_xor(n, (0,))

    return Program(f, (unit(rng, 3, 1), distinct(3, 1, dtype=np.int32)))


@CASES.case("windows")
def windows(rng):
    """reduce_window with strides, padding and dilation; its gradients: select_and_scatter."""

    def f(x):
        pool = lambda v: lax.reduce_window(v, -jnp.inf, lax.max, (1, 2, 2), (1, 2, 2), "SAME")
        mean = lax.reduce_window(x, 0.0, lax.add, (1, 3, 2), (1, 1, 2), ((0, 0), (1, 1), (0, 1)), (1, 2, 1), (1, 1, 2))
        odd = lax.reduce_window(x, 1.0, lambda a, b: a * b + 1e-3, (1, 2, 1), (1, 1, 1), "VALID")
        return pool(x), mean, odd, jax.grad(lambda v: (pool(v) ** 2).sum())(x)

    return Program(f, (rng.permutation(40).reshape(2, 4, 5).astype(np.float32) / 40,))


@CASES.case("cumulative")
def cumulative(rng):
    """cumsum, cumprod, cummax, cumlogsumexp, also reversed."""

    def f(x, n):
        return lax.cumsum(x, 0), lax.cumprod(x, 1), lax.cummax(x, 0, reverse=True), lax.cumlogsumexp(x, 1), jnp.cumsum(n)

    return Program(f, (unit(rng, 3, 4), distinct(9, dtype=np.int32)))
