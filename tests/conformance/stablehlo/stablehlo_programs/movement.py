"""Movement of data: slices, gathers, scatters, sorts."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from programs.harness import Program, Registry

from stablehlo_programs.elementwise import integers, unit

CASES = Registry()


def distinct(*shape, dtype=np.float32):
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


@CASES.case("reshapes", ("f32", "s8"))
def reshapes(rng, dtype):
    """reshape, transpose, broadcast_in_dim, iota, reverse, concatenate."""

    def f(x):
        return (
            x.reshape(6, 4),
            lax.transpose(x, (2, 0, 1)),
            lax.broadcast_in_dim(x, (5, 2, 3, 4), (1, 2, 3)),
            lax.broadcasted_iota(dtype, (2, 3), 1),
            lax.rev(x, (0, 2)),
            jnp.concatenate([x, x[:, :1], -x], 1),
            x[:, :0],
        )

    return Program(f, (distinct(2, 3, 4, dtype=dtype),), kind="exact")


@CASES.case("slices_and_pads")
def slices_and_pads(rng):
    """slice, pad with negative and interior amounts, dynamic slices and updates."""

    def f(x, y, i):
        return (
            lax.slice(x, (1, 0), (5, 6), (2, 3)),
            lax.pad(x, jnp.float32(-1), ((1, -2, 0), (0, 3, 2))),
            lax.dynamic_slice(x, (i, 2 * i), (2, 3)),
            lax.dynamic_update_slice(x, y, (i, jnp.int32(9))),
        )

    return Program(f, (distinct(6, 7), -distinct(2, 3), np.int32(1)), kind="exact")


@CASES.case("gathers")
def gathers(rng):
    """take, batched gathers, windows, each mode."""

    def f(x, i):
        n = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0, 1))
        return (
            x[i],
            x[:, i],
            x[i, i],
            jnp.take_along_axis(x, i[:, None], 1),
            jax.vmap(lambda row, k: row[k])(x, i),
            x.at[i].get(mode="fill", fill_value=7),
            lax.gather(x, jnp.stack([i, i], 1), n, (1, 3), mode="clip", indices_are_sorted=True, unique_indices=True),
        )

    return Program(f, (distinct(4, 5), np.array([3, 0, 2, 1], np.int32)), kind="exact")


@CASES.case("scatters")
def scatters(rng):
    """Scatters with each combiner, batched, of windows, and of a function."""

    def f(x, i, u):
        at = x.at[i]
        return (
            [at.set(u), at.add(u), at.multiply(u), at.min(u), at.max(u, mode="drop"), x.at[:, i].add(2)],
            jax.vmap(lambda row, k, v: row.at[k].set(v))(x, i, u[:, 0]),
            x.at[1].apply(jnp.exp),
            x.at[i].add(u, indices_are_sorted=True, unique_indices=True),
        )

    return Program(f, (distinct(4, 5) / 9, np.array([3, 0, 2, 1], np.int32), unit(rng, 4, 5)), kind="elementwise")


@CASES.case("sorts")
def sorts(rng):
    """One operand, several keys, along each axis, descending; argsort; top_k."""

    def f(x, n):
        pairs = lax.sort((n, x), dimension=1, num_keys=2, is_stable=False)
        return jnp.sort(x, 0), jnp.sort(x, descending=True), jnp.argsort(n), pairs, lax.top_k(x, 2), lax.approx_max_k(x, 1)

    return Program(f, (rng.permutation(12).reshape(3, 4).astype(np.float32), integers(rng, 3, 4)), kind="exact")


@CASES.case("searches")
def searches(rng):
    """searchsorted, median: loops and sorts of JAX's."""

    def f(x, v):
        return jnp.searchsorted(jnp.sort(x), v), jnp.median(x)

    return Program(f, (rng.permutation(7).astype(np.float32), unit(rng, 3)), kind="exact")


@CASES.case("empty_shapes")
def empty_shapes(rng):
    """Arrays without elements, and scalars."""

    def f(x, s):
        return x + s, jnp.sum(x), jnp.max(x, initial=-1.0), x.reshape(0), jnp.dot(x, x.T), s[None, None]

    return Program(f, (np.zeros((2, 0), np.float32), np.float32(3)), kind="exact")
