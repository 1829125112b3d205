"""reduce, variadic reduce, reduce-window, select-and-scatter, cumulative sums."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import inputs
from programs.harness import Program, Registry

CASES = Registry()


@CASES.case("reduce_zoo", ("f32", "bf16"))
def reduce_zoo(rng, dtype):
    """sum, mean, max, min and prod over each kind of dimension set, norms, log-sum-exp, softmax."""
    x = inputs.varied(rng, (7, 12, 9), dtype, -2, 2)

    def f(x):
        near_one = 1 + x / 64
        return (
            x.sum(),
            x.sum(0),
            x.sum(1),
            x.sum(2),
            x.sum((0, 2)),
            x.sum((1, 2)),
            x.max((0, 1)),
            x.min(2),
            x.max(),
            x.mean(1),
            near_one.prod(1),
            near_one.prod((0, 2)),
            jnp.linalg.norm(x, axis=-1),
            jax.nn.logsumexp(x, axis=1),
            jax.nn.softmax(x, axis=0),
            x.var(axis=2),
        )

    return Program(f, (x,))


@CASES.case("reduce_zoo_f64")
def reduce_zoo_f64(rng):
    """sum, max, prod and variance in f64."""
    x = rng.standard_normal((6, 40)) * 100
    return Program(
        lambda x: (x.sum(1), x.max(0), (x / 64).prod(1), x.var(1)), (x,), x64=True, check_f64=False
    )


@CASES.case("reduce_exact", ("s32", "u8", "s8"))
def reduce_exact(rng, dtype):
    """Integer reductions with wrap-around, bitwise reductions, and any/all."""
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, (5, 11, 6), dtype=dtype, endpoint=True)

    def f(x):
        zero = jnp.zeros((), x.dtype)
        fold = lambda op, init, dims: lax.reduce(x, init, op, dims)
        return (
            fold(lax.add, zero, (1,)),
            fold(lax.mul, zero + 1, (0,)),
            x.max((1, 2)),
            x.min(0),
            fold(lax.bitwise_and, ~zero, (1,)),
            fold(lax.bitwise_or, zero, (0, 2)),
            fold(lax.bitwise_xor, zero, (1, 2)),
            (x > 3).any(1),
            (x > -100).all((0, 2)),
        )

    return Program(f, (x,), kind="exact", check_f64=False)


@CASES.case("reduce_nan")
def reduce_nan(rng):
    """max, min and argmax over rows with NaN and infinities; nan-ignoring reductions."""
    x = inputs.varied(rng, (8, 10), np.float32)
    x[1, 3] = np.nan
    x[2, :] = -np.inf
    x[3, 2], x[3, 7] = np.inf, -np.inf
    x[4, :] = np.nan
    f = lambda x: (
        x.max(1),
        x.min(1),
        jnp.argmax(x, 1),
        jnp.argmin(x, 1),
        jnp.nanmax(x[:4], 1),
        jnp.isnan(x).sum(0),
    )
    return Program(f, (x,), kind="exact", check_f64=False)


@CASES.case("argmax_variadic", ("f32", "bf16", "s32"))
def argmax_variadic(rng, dtype):
    """argmax and argmin (variadic reduce) with ties, along each axis; a variadic reduce of two sums."""
    x = inputs.integers(rng, -6, 6, (9, 13, 4)).astype(dtype)

    def f(x):
        both = lax.reduce(
            (x, x + x),
            (jnp.zeros((), x.dtype), jnp.ones((), x.dtype)),
            lambda a, b: (lax.max(a[0], b[0]), lax.min(a[1], b[1])),
            (1,),
        )
        return (
            tuple(g(x, axis=i) for g in (jnp.argmax, jnp.argmin) for i in range(3))
            + tuple(both)
            + (jnp.argmax(x),)
        )

    return Program(f, (x,), kind="exact")


@CASES.case("reduce_window_zoo", ("f32", "bf16"))
def reduce_window_zoo(rng, dtype):
    """Max, min, sum and product windows: strides, padding, base and window dilation, average pooling by
    counts."""
    x = inputs.varied(rng, (2, 9, 10, 3), dtype, -1, 1)

    def f(x):
        zero, low = jnp.zeros((), x.dtype), jnp.asarray(-np.inf, x.dtype)
        window = lambda op, init, *rest, **options: lax.reduce_window(x, init, op, *rest, **options)
        sums = window(lax.add, zero, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        counts = lax.reduce_window(jnp.ones_like(x), zero, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        return (
            sums / counts,
            window(lax.max, low, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
            window(
                lax.max,
                low,
                (1, 3, 2, 1),
                (1, 1, 2, 1),
                ((0, 0), (1, 1), (0, 1), (0, 0)),
                window_dilation=(1, 2, 3, 1),
            ),
            window(lax.min, -low, (2, 3, 3, 2), (1, 1, 1, 1), "VALID"),
            window(
                lax.add,
                zero,
                (1, 3, 3, 1),
                (1, 1, 1, 1),
                ((0, 0), (2, 1), (0, 3), (0, 0)),
                base_dilation=(1, 2, 3, 1),
            ),
            window(lax.mul, zero + 1, (1, 2, 1, 1), (1, 3, 1, 1), "VALID"),
            lax.reduce_window(x, zero + 2, lax.add, (1, 4, 4, 1), (1, 4, 4, 1), "VALID"),
        )

    return Program(f, (x,))


@CASES.case("select_and_scatter", ("f32", "bf16"))
def select_and_scatter(rng, dtype):
    """Gradients of max pooling: overlapping windows, padding, strides, and of min pooling."""
    x = rng.permutation(2 * 9 * 8 * 3).reshape(2, 9, 8, 3).astype(np.float32)
    x = (x / (1 if dtype == np.float32 else 4)).astype(dtype)

    def pooled(op, init, size, strides, padding):
        return lambda x: lax.reduce_window(x, init, op, size, strides, padding)

    def f(x):
        pools = (
            pooled(lax.max, -np.inf, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
            pooled(lax.max, -np.inf, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
            pooled(lax.max, -np.inf, (1, 3, 2, 1), (1, 1, 1, 1), "SAME"),
            pooled(lax.min, np.inf, (1, 2, 3, 1), (1, 2, 1, 1), "VALID"),
        )

        def grad(pool):
            value, pull = jax.vjp(pool, x)
            return pull(
                jnp.cos(jnp.arange(value.size, dtype=jnp.float32)).reshape(value.shape).astype(x.dtype)
            )[0]

        return tuple(grad(pool) for pool in pools)

    return Program(f, (x,), check_f64=dtype == np.float32)


@CASES.case("cumulative", ("f32", "bf16"))
def cumulative(rng, dtype):
    """cumsum, cumprod, cummax, cummin and cumlogsumexp, also reversed, as the CPU lowering writes them."""
    x = inputs.varied(rng, (5, 30), dtype, -1, 1)
    f = lambda x: (
        lax.cumsum(x, 1),
        lax.cumsum(x, 0, reverse=True),
        lax.cumprod(1 + x / 64, 1),
        lax.cummax(x, 1),
        lax.cummin(x, 0),
        lax.cummax(x, 1, reverse=True),
        lax.cumlogsumexp(x, 1),
    )
    return Program(f, (x,))


@CASES.case("cumulative_integers")
def cumulative_integers(rng):
    """cumsum and cummax of integers, exact, long enough to matter; and as the default lowering writes
    them."""
    x = inputs.integers(rng, -1000, 1000, (3, 200))
    return Program(
        lambda x: (lax.cumsum(x, 1), lax.cummax(x, 1), lax.cumsum(x, 1, reverse=True)),
        (x,),
        kind="exact",
        platform="tpu",
    )


@CASES.case("associative_scan")
def associative_scan(rng):
    """lax.associative_scan of a linear recurrence: strided slices, interior pads, concatenations."""
    a, b = rng.uniform(0.5, 1.0, (37, 4)).astype(np.float32), inputs.varied(rng, (37, 4), np.float32, -1, 1)

    def f(a, b):
        combine = lambda left, right: (left[0] * right[0], left[1] * right[0] + right[1])
        return lax.associative_scan(combine, (a, b))

    return Program(f, (a, b))
