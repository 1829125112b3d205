"""Gathers, scatters and slices: in all modes, out of range, with repeated indices."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from program import Program

_INDEX_TYPES = ["int32", "int32", "int64", "uint8", "int8"]


def takes(s):
    x = s.numbers(s.shape(1, zero=0))
    axis = s.below(x.ndim)
    mode = s.one_of(["clip", "fill"])
    index = s.indices(s.shape(0, 2), x.shape[axis], s.one_of(_INDEX_TYPES))
    fill = {"fill_value": 0} if mode == "fill" else {}
    if s.chance(0.4):
        shape = list(x.shape)
        shape[axis] = s.between(0, 4)
        along = s.indices(shape, x.shape[axis], "int32")
        return Program(lambda v, r: [jnp.take_along_axis(v[0] * v[0], r[0], axis, mode=mode, **fill)], [x], [along])
    return Program(lambda v, r: [jnp.take(v[0] * v[0], r[0], axis, mode=mode, **fill)], [x], [index])


def index_gets(s):
    """x[i] or x[i, j] with arrays of indices, slices among them."""
    x = s.numbers(s.shape(2, zero=0))
    mode = s.one_of(["clip", "fill", "promise_in_bounds"])
    shape = s.shape(0, 2)
    outside = 0 if mode == "promise_in_bounds" else 0.3
    r = [s.indices(shape, x.shape[0], "int32", outside), s.indices(shape, x.shape[1], "int32", outside)]
    kind = s.below(3)

    def f(v, r):
        at = [v[0].at[r[0]], v[0].at[r[0], r[1]], v[0].at[:, r[1]]][kind]
        fill = {"fill_value": 0} if mode == "fill" else {}
        return [jnp.sin(at.get(mode=mode, **fill))]
    return Program(f, [x], r)


def gathers(s):
    """lax.gather itself: windows, collapsed and batching dimensions."""
    batch = s.between(0, 1)
    lead = (s.between(1, 3),) * batch
    x = s.numbers(lead + (s.between(1, 4), s.between(1, 4), s.between(1, 3)))
    rank = x.ndim
    mapped = [d for d in range(batch, rank) if s.chance(0.6)]
    collapsed = [d for d in mapped if s.chance(0.4)]
    sizes = [1 if d < batch or d in collapsed else s.between(1, x.shape[d]) if d in mapped else x.shape[d]
             for d in range(rank)]
    count = s.between(1, 4)
    index = np.stack([s.indices(lead + (count,), x.shape[d]) for d in mapped], -1) if mapped else np.zeros(
        lead + (count, 0), "int32")
    windows = rank - batch - len(collapsed)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(range(batch + 1, batch + 1 + windows)), collapsed_slice_dims=tuple(collapsed),
        start_index_map=tuple(mapped), operand_batching_dims=tuple(range(batch)),
        start_indices_batching_dims=tuple(range(batch)))
    mode = s.one_of(["clip", "fill"])
    return Program(lambda v, r: [lax.gather(jnp.cos(v[0]), r[0], numbers, tuple(sizes), mode=mode, fill_value=0)],
                   [x], [index.astype("int32")])


_COMBINERS = ["set", "set", "add", "add", "subtract", "min", "max", "multiply"]


def _without_repeats(s, count, size, outside):
    index = s.rng.permutation(max(size, count))[:count]
    return np.where(s.rng.random(count) < outside, size + 2, index).astype("int32")


def scatters(s):
    """x.at[i].op(y) with windows of the other dimensions."""
    x = s.numbers(s.shape(1, zero=0))
    how, mode = s.one_of(_COMBINERS), s.one_of(["drop", "clip"])
    count = s.between(0, 4)
    if how in ("min", "max"):  # JAX's rule for these supports no other mode.
        mode = "drop"
    unique = how == "multiply"  # JAX has its derivative for those only.
    if unique:
        count = min(count, x.shape[0])
        index = _without_repeats(s, count, x.shape[0], 0.2 if mode == "drop" else 0)
    else:
        index = s.indices((count,), x.shape[0])
    y = s.numbers((count,) + x.shape[1:])
    return Program(lambda v, r: [getattr(jnp.sin(v[0]).at[r[0]], how)(v[1] * v[1], mode=mode, unique_indices=unique)],
                   [x, y], [index])


def scatter_points(s):
    """Single elements of a matrix, some of them twice."""
    x = s.numbers((s.between(1, 4), s.between(1, 4)))
    how = s.one_of(["set", "add", "min", "max"])
    count = s.between(1, 6)
    r = [s.indices((count,), x.shape[0]), s.indices((count,), x.shape[1])]
    y = s.numbers((count,))
    return Program(lambda v, r: [getattr(v[0].at[r[0], r[1]], how)(v[1], mode="drop")], [x, y], r)


def scatter_windows(s):
    """lax.scatter and its kin with windows that overlap."""
    x = s.numbers((s.between(2, 5), s.between(2, 4)))
    window = (s.between(1, x.shape[0]), s.between(1, x.shape[1]))
    count = s.between(1, 3)
    index = np.stack([s.indices((count,), x.shape[0]), s.indices((count,), x.shape[1])], -1)
    y = s.numbers((count,) + window)
    numbers = lax.ScatterDimensionNumbers(update_window_dims=(1, 2), inserted_window_dims=(),
                                          scatter_dims_to_operand_dims=(0, 1))
    op = s.one_of([lax.scatter, lax.scatter_add, lax.scatter_min, lax.scatter_max])
    mode = "drop" if op in (lax.scatter_min, lax.scatter_max) else s.one_of(["drop", "clip"])
    return Program(lambda v, r: [op(v[0], r[0], v[1] * 1.5, numbers, mode=mode)], [x, y], [index])


def dynamic_slices(s):
    x = s.numbers(s.shape(1))
    sizes = tuple(s.between(0, d) for d in x.shape)
    index_type = s.one_of(_INDEX_TYPES)
    r = [s.indices((), d, index_type) for d in x.shape]
    y = s.numbers(sizes)
    if s.chance(0.5):
        return Program(lambda v, r: [lax.dynamic_slice(jnp.exp(v[0]), r, sizes)], [x], r)
    return Program(lambda v, r: [lax.dynamic_update_slice(v[0] * v[0], v[1] * 2, r)], [x, y], r)


def pads(s):
    x = s.numbers(s.shape(1))
    padding = []
    for d in x.shape:
        interior = s.between(0, 2)
        spread = d + max(d - 1, 0) * interior
        low = s.between(-min(2, spread), 2)
        high = s.between(-min(2, max(spread + low, 0)), 2)
        padding.append((low, high, interior))
    value = s.numbers((), ties=False)
    return Program(lambda v, r: [lax.pad(jnp.sin(v[0]), v[1], padding)], [x, value])


def slices(s):
    x = s.numbers(s.shape(1))
    start = [s.between(0, d) for d in x.shape]
    limit = [s.between(a, d) for a, d in zip(start, x.shape)]
    stride = [s.between(1, 3) for _ in x.shape]
    axis = s.below(x.ndim)

    def f(v, r):
        y = lax.slice(v[0] * v[0], start, limit, stride)
        return [lax.rev(lax.concatenate([y, jnp.sin(y)], axis), (axis,))]
    return Program(f, [x])


def sorts(s):
    x = s.numbers(s.shape(1))
    axis = s.below(x.ndim)
    y = s.numbers(x.shape)
    kind = s.below(4)

    def f(v, r):
        if kind == 0:
            return [lax.sort(v[0] * 1.5, dimension=axis, is_stable=True)]
        if kind == 1:
            return list(lax.sort((v[0], v[1] * v[1]), dimension=axis, num_keys=s_keys))
        if kind == 2:
            order = jnp.argsort(v[0], axis=axis)
            return [jnp.take_along_axis(jnp.sin(v[1]), order, axis)]
        k = min(2, x.shape[-1])
        return [lax.top_k(v[0] * v[1], k)[0]]
    s_keys = s.between(1, 2)
    return Program(f, [x, y])


FAMILIES = [(takes, 3), (index_gets, 3), (gathers, 4), (scatters, 5), (scatter_points, 3), (scatter_windows, 3),
            (dynamic_slices, 3), (pads, 3), (slices, 1), (sorts, 3)]
