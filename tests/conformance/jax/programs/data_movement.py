"""Gather, scatter, slices, padding and other movements. Values are mostly distinct, so that a wrong index
shows."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import inputs
from programs.harness import Program, Registry

CASES = Registry()


def distinct(shape, dtype=np.float32) -> np.ndarray:
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


@CASES.case("dynamic_slices", ("f32", "bf16", "s8"))
def dynamic_slices(rng, dtype):
    """dynamic_slice and dynamic_update_slice, with starts out of range on both sides (they clamp)."""
    x, update = (
        inputs.integers(rng, -100, 100, (7, 9, 5)).astype(dtype),
        inputs.integers(rng, -9, 9, (3, 2, 5)).astype(dtype),
    )

    def f(x, update, starts):
        slices = [lax.dynamic_slice(x, tuple(s), (3, 4, 2)) for s in starts]
        updates = [lax.dynamic_update_slice(x, update, tuple(s)) for s in starts]
        row = lax.dynamic_index_in_dim(x, starts[0, 0], axis=1)
        return slices, updates, row, lax.dynamic_update_index_in_dim(x, x[1] + 1, starts[0, 1], axis=0)

    starts = np.array([[1, 2, 3], [-5, 100, 0], [6, 8, 4], [2, -1, 2147483647]], np.int32)
    return Program(f, (x, update, starts), kind="exact")


@CASES.case("static_slices_pad_reverse", ("f32", "bf16"))
def static_slices_pad_reverse(rng, dtype):
    """slice with strides, pad (negative, interior), reverse, concatenate, transpose, broadcast, squeeze,
    iota."""
    x = inputs.varied(rng, (6, 5, 7), dtype)

    def f(x, value):
        pads = [
            lax.pad(x, value, config)
            for config in (
                ((1, 2, 0), (0, 0, 3), (2, 0, 1)),
                ((-1, -2, 0), (3, -1, 0), (0, -4, 0)),
                ((-2, 3, 2), (1, -3, 1), (-1, -1, 4)),
            )
        ]
        slices = [lax.slice(x, (1, 0, 2), (6, 5, 7), (2, 3, 1)), x[::-2, 1:4, -1], x[:, None, 2:2]]
        moves = [
            lax.rev(x, (0, 2)),
            lax.transpose(x, (2, 0, 1)),
            lax.transpose(x, (1, 0, 2)),
            x.reshape(15, 14),
            jnp.concatenate([x, x[:, :2], -x[:, 4:]], axis=1),
            jnp.roll(x, 3, axis=2),
            jnp.broadcast_to(x[:, :1], (2, 6, 5, 7)),
            jnp.stack([x[0], x[1]], axis=-1),
            jnp.tile(x[0, 0], 3),
        ]
        iotas = [
            lax.broadcasted_iota(jnp.int32, (3, 4, 2), 1),
            lax.iota(x.dtype, 11),
            jnp.eye(4, dtype=x.dtype),
            jnp.tri(3, 5, 1, dtype=x.dtype),
        ]
        return pads, slices, moves, iotas

    return Program(f, (x, dtype.type(-7)), kind="exact")


@CASES.case("gather_zoo", ("f32", "bf16"))
def gather_zoo(rng, dtype):
    """take along each axis and in each mode, fancy indexing, batched gather, windows, out-of-range
    indices."""
    x = inputs.varied(rng, (8, 6, 5), dtype)
    i = inputs.integers(rng, -8, 8, (4, 3))
    wild = np.array([0, 7, -1, 8, 100, -100, 3], np.int32)
    along = inputs.integers(rng, 0, 5, (8, 6, 3))

    def f(x, i, wild, along):
        windows = lax.gather(
            x,
            i[:, :2],
            lax.GatherDimensionNumbers(
                offset_dims=(1, 2, 3), collapsed_slice_dims=(), start_index_map=(1, 0)
            ),
            slice_sizes=(3, 2, 5),
            mode="clip",
        )
        inner = lax.gather(
            x,
            i[:, :, None],
            lax.GatherDimensionNumbers(offset_dims=(0, 2), collapsed_slice_dims=(1,), start_index_map=(1,)),
            slice_sizes=(8, 1, 4),
            mode="fill",
        )
        by_row = jax.vmap(lambda row, k: lax.dynamic_slice(row, (k, 1), (2, 3)))(x, jnp.arange(8) - 2)
        return (
            x[i],
            jnp.take(x, i, axis=1, mode="wrap"),
            jnp.take(x, wild, axis=0, mode="clip"),
            jnp.take(x, wild, axis=0, mode="fill"),
            jnp.take(x, wild, axis=2, mode="fill", fill_value=-1),
            jnp.take_along_axis(x, along, axis=2),
            x[i[:, 0], :, i[:, 1] % 5],
            x[wild[:2], wild[:2]],
            windows,
            inner,
            by_row,
            jnp.diagonal(x, axis1=0, axis2=1),
        )

    return Program(f, (x, i, wild, along), kind="exact")


def scatter_program(rng, dtype, kind, ops):
    x = inputs.varied(rng, (9, 6), dtype, -1, 1)
    i = np.array([3, 0, 8, 3, -1, 9, 100, 3, 5], np.int32)
    unique = rng.permutation(9)[:5].astype(np.int32)
    rows, more = inputs.varied(rng, (9, 6), dtype, -1, 1), inputs.varied(rng, (5, 6), dtype, -1, 1)
    points = np.stack([rng.permutation(9)[:7], rng.integers(0, 6, 7)], axis=1).astype(np.int32)
    values = inputs.varied(rng, (7,), dtype, -1, 1)
    return Program(ops, (x, i, unique, rows, more, points, values), kind=kind)


@CASES.case("scatter_set", ("f32", "bf16"))
def scatter_set(rng, dtype):
    """Scatter that overwrites: unique rows, points, windows, out-of-range updates (dropped or clipped)."""

    def ops(x, i, unique, rows, more, points, values):
        wild = jnp.where(unique == unique[0], 100, unique)
        window = lax.scatter(
            x,
            points[:1] - 1,
            more[:1, :3].reshape(1, 1, 3),
            lax.ScatterDimensionNumbers(
                update_window_dims=(1, 2), inserted_window_dims=(), scatter_dims_to_operand_dims=(0, 1)
            ),
            mode="clip",
        )
        return (
            x.at[unique].set(more),
            x.at[unique].set(more, unique_indices=True, mode="drop"),
            x.at[points[:, 0], points[:, 1]].set(values),
            x.at[wild].set(more, mode="drop"),
            x.at[:, 2:4].set(rows[:, :2]),
            x.at[::2, 1].set(values[:5]),
            window,
            i,
            rows[0],
        )

    return scatter_program(rng, dtype, "exact", ops)


@CASES.case("scatter_add", ("f32", "bf16"))
def scatter_add(rng, dtype):
    """Scatter that adds and multiplies at repeated indices, some out of range."""

    def ops(x, i, unique, rows, more, points, values):
        return (
            x.at[i].add(rows, mode="drop"),
            x.at[i].add(rows),
            x.at[unique].subtract(more),
            x.at[i].multiply(rows),
            x.at[points[:, 0], points[:, 1]].add(values),
            jax.ops.segment_sum(rows, jnp.clip(i, 0, 3), 4),
        )

    return scatter_program(rng, dtype, "contraction", ops)


@CASES.case("scatter_min_max", ("f32", "bf16", "s32"))
def scatter_min_max(rng, dtype):
    """Scatter with min and max combiners at repeated indices."""

    def ops(x, i, unique, rows, more, points, values):
        return (
            x.at[i].min(rows),
            x.at[i].max(rows),
            x.at[unique].max(more),
            jax.ops.segment_max(rows, i % 4, 4),
            x.at[points[:, 0], points[:, 1]].min(values),
        )

    return scatter_program(rng, dtype, "exact", ops)


@CASES.case("scatter_batched_histogram")
def scatter_batched_histogram(rng):
    """Batched scatter (vmap of at-add), a histogram by scatter into s32, and scatter_apply of a function."""
    x, i = distinct((4, 10)), inputs.integers(rng, 0, 10, (4, 6))
    updates = inputs.integers(rng, -9, 9, (4, 6)).astype(np.float32)

    def f(x, i, updates):
        batched = jax.vmap(lambda row, k, u: row.at[k].add(u))(x, i, updates)
        histogram = jnp.zeros(10, jnp.int32).at[i.ravel()].add(1)
        return batched, histogram, jnp.bincount(i.ravel(), length=12), x.at[1, 2:5].apply(lambda v: v * 2 + 1)

    return Program(f, (x, i, updates), kind="exact")


@CASES.case("scatter_pair_f32")
def scatter_pair_f32(rng):
    """One scatter of a row of indices through a nested batch, with the gradient of a gather of windows."""
    x, out = inputs.normal(rng, (12, 7), np.float32), inputs.normal(rng, (5, 3, 4), np.float32)
    starts = np.array([[0, 0], [9, 3], [4, 1], [4, 2], [20, -3]], np.int32)

    def windows(x, starts):
        return lax.gather(
            x,
            starts,
            lax.GatherDimensionNumbers(offset_dims=(1, 2), collapsed_slice_dims=(), start_index_map=(0, 1)),
            slice_sizes=(3, 4),
            mode="clip",
        )

    def f(x, starts, out):
        value, pull = jax.vjp(lambda x: windows(x, starts), x)
        return value, pull(out)[0]

    return Program(f, (x, starts, out))


@CASES.case("narrow_types_movement")
def narrow_types_movement(rng):
    """Movement of f8, f16, u16, pred and c64 arrays: slices, transpose, concatenate, gather, pad, select."""
    raw = rng.integers(0, 256, (6, 8), dtype=np.uint8)
    import ml_dtypes

    f8 = (raw & 0x77).view(ml_dtypes.float8_e4m3fn)
    arrays = {
        "f8": f8,
        "f16": inputs.varied(rng, (6, 8), np.float16),
        "u16": raw.astype(np.uint16) * 255,
        "pred": raw > 128,
        "c64": (inputs.normal(rng, (6, 8), np.float32) + 1j * raw).astype(np.complex64),
    }

    def move(x, i):
        return (
            x.T,
            jnp.concatenate([x[:, 3:], x[:, :2]], axis=1),
            jnp.take(x, i, axis=0, mode="clip"),
            lax.rev(x, (1,)),
            lax.pad(x, x[0, 0], ((1, 0, 1), (0, -2, 0))),
            jnp.where(i[:6, None] > 2, x, x[0]),
            lax.dynamic_slice(x, (i[0], i[1]), (2, 3)),
        )

    return Program(
        lambda arrays, i: {k: move(x, i) for k, x in arrays.items()},
        (arrays, np.array([3, 0, 5, 5, 1, 9, -1], np.int32)),
        kind="exact",
        check_f64=False,
    )


@CASES.case("empty_and_scalar_shapes")
def empty_and_scalar_shapes(rng):
    """Arrays without elements and rank-0 arrays through the common operations."""
    x, empty, scalar = distinct((3, 4)), np.zeros((0, 4), np.float32), np.float32(2.5)

    def f(x, empty, scalar):
        return (
            jnp.concatenate([empty, x]),
            empty @ x.T,
            empty.T @ empty,
            empty.sum(axis=0),
            x[:0].max(initial=-1.0, axis=0),
            scalar * x,
            jnp.broadcast_to(scalar, (2, 0, 3)),
            scalar.reshape(1, 1),
            x.sum(),
            empty.sum(),
            lax.pad(empty, scalar, ((1, 1, 2), (0, 0, 0))),
            jnp.sort(empty, axis=0),
        )

    return Program(f, (x, empty, scalar), kind="contraction")
