"""Reductions and windows: of every kind of computation, from every initial value."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from program import Program


def _axes(s, rank):
    return tuple(d for d in range(rank) if s.chance(0.5))


def monoids(s):
    """Sums, products, extremes: ties are shared."""
    x = s.numbers(s.shape(0), s.one_of(["float32", "float32", "float64", "bfloat16"]))
    axes = _axes(s, x.ndim)
    f = s.one_of([jnp.sum, jnp.prod, jnp.max, jnp.min])
    if f in (jnp.max, jnp.min) and x.size == 0:
        f = jnp.sum
    return Program(lambda v, r: [f(v[0] * v[0] if len(axes) < x.ndim else v[0], axes)], [x])


_JOINS = {
    "add": (lax.add, [0, 1]), "mul": (lax.mul, [1, 2, -0.5]),
    "max": (lax.max, [-np.inf, 0, 0.4]), "min": (lax.min, [np.inf, 0, -0.4]),
    # Associative functions that are no opcode.
    "both": (lambda a, b: a + b + 0.25 * a * b, [0, 0.5]),
    "logaddexp": (lambda a, b: jnp.log(jnp.exp(a) + jnp.exp(b)), [-1.5]),
    "hypot": (lambda a, b: lax.sqrt(a * a + b * b + 1e-6), [0.5]),
    "first": (lambda a, b: lax.select(jnp.abs(a) >= jnp.abs(b), a, b), [0.01]),
}


def _folded(join, init, x, axes):
    """init, then the elements one by one: what a reduction means. Away from ties it has one derivative."""
    order = tuple(axes) + tuple(d for d in range(x[0].ndim) if d not in axes)
    rest = tuple(x[0].shape[d] for d in range(x[0].ndim) if d not in axes)
    flat = [lax.transpose(a, order).reshape((-1,) + rest) if a.size else a.reshape((0,) + rest) for a in x]
    result = [jnp.broadcast_to(jnp.asarray(i, a.dtype), rest) for i, a in zip(init, x)]
    for k in range(flat[0].shape[0]):
        result = join(result, [a[k] for a in flat])
    return result


def initial_values(s):
    """lax.reduce from an initial value that is not neutral, and with computations of one's own."""
    name = s.one_of(sorted(_JOINS))
    join, inits = _JOINS[name]
    init = np.float32(s.one_of(inits))
    x = s.numbers(s.shape(0, zero=0), ties=False)
    axes = _axes(s, x.ndim)
    return Program(lambda v, r: [lax.reduce(jnp.sin(v[0]) * 1.5, init, join, axes)], [x],
                   reference=lambda v, r: _folded(lambda a, b: [join(a[0], b[0])], [init], [jnp.sin(v[0]) * 1.5],
                                                  axes))


def _product(a, b):  # Multiplies complex numbers as pairs.
    return [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]


def _range(a, b):
    return [lax.min(a[0], b[0]), lax.max(a[1], b[1])]


def _largest(a, b):  # Returns the larger key with its value.
    more = a[0] >= b[0]
    return [lax.select(more, a[0], b[0]), lax.select(more, a[1], b[1])]


def _affine(a, b):  # x -> a0 x + a1, then x -> b0 x + b1.
    return [a[0] * b[0], a[1] * b[0] + b[1]]


def several(s):
    """Reductions of several operands."""
    join, init = s.one_of([(_product, (1, 0)), (_range, (np.inf, -np.inf)), (_range, (0, 0)),
                           (_largest, (-np.inf, 0)), (_affine, (1, 0))])
    x = s.numbers(s.shape(1, 2, zero=0), ties=False)
    y = s.numbers(x.shape, ties=False)
    axes = _axes(s, x.ndim)
    init = tuple(np.float32(i) for i in init)
    return Program(
        lambda v, r: list(lax.reduce((v[0] * 0.7, jnp.sin(v[1])), init, lambda a, b: tuple(join(a, b)), axes)), [x, y],
        reference=lambda v, r: _folded(join, init, [v[0] * 0.7, jnp.sin(v[1])], axes))


def places(s):
    """The largest of a row with its place: the value has a derivative, the place has none."""
    x = s.numbers(s.shape(1, zero=0), ties=False)
    axis = s.below(x.ndim)

    def f(v, r):
        y = jnp.sin(v[0])
        at = lax.broadcasted_iota("int32", y.shape, axis)

        def join(a, b):
            more = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
            return lax.select(more, a[0], b[0]), lax.select(more, a[1], b[1])
        value, place = lax.reduce((y, at), (np.float32(-np.inf), np.int32(0)), join, (axis,))
        return [value * 2 + place]
    return Program(f, [x], reference=lambda v, r: [jnp.max(jnp.sin(v[0]), axis) * 2 +
                                                   jnp.argmax(jnp.sin(v[0]), axis).astype("int32")])


def _window(s, shape):
    size = tuple(s.between(1, min(d, 3)) for d in shape)
    stride = tuple(s.between(1, 2) for _ in shape)
    base = tuple(s.one_of([1, 1, 2]) for _ in shape)
    spread = tuple(s.one_of([1, 1, 2]) for _ in shape)
    padding = []
    for d, n, b, w in zip(shape, size, base, spread):
        need = max((n - 1) * w + 1 - ((d - 1) * b + 1), 0)
        padding.append((s.between(0, 1) + need, s.between(0, 1)))
    return size, stride, padding, base, spread


def _folded_windows(join, init, x, window):
    """init, then the elements of each window one by one. As in XLA, padding takes no part."""
    size, stride, padding, base, spread = window
    padding = [(lo, hi, b - 1) for (lo, hi), b in zip(padding, base)]
    inside = lax.pad(np.ones(x[0].shape, bool), False, padding)
    x = [lax.pad(a, jnp.asarray(i, a.dtype), padding) for a, i in zip(x, init)]
    to = [(d - ((n - 1) * w + 1)) // t + 1 for d, n, w, t in zip(x[0].shape, size, spread, stride)]
    result = [jnp.full(to, i, a.dtype) for a, i in zip(x, init)]
    for place in np.ndindex(size):
        start = [p * w for p, w in zip(place, spread)]
        limit = [a + (n - 1) * t + 1 for a, n, t in zip(start, to, stride)]
        joined = join(result, [lax.slice(a, start, limit, stride) for a in x])
        here = lax.slice(inside, start, limit, stride)
        result = [lax.select(here, a, b) for a, b in zip(joined, result)]
    return result


def windows(s):
    name = s.one_of(sorted(_JOINS))
    join, inits = _JOINS[name]
    init = np.float32(s.one_of(inits))
    x = s.numbers(s.shape(1, 3, zero=0), ties=False)
    w = _window(s, x.shape)
    return Program(lambda v, r: [lax.reduce_window(jnp.sin(v[0]) * 1.5, init, join, *w)], [x],
                   reference=lambda v, r: _folded_windows(lambda a, b: [join(a[0], b[0])], [init],
                                                          [jnp.sin(v[0]) * 1.5], w))


def pools(s):
    """Windows as networks have them, ties included: the first of equal elements counts."""
    x = s.numbers(s.shape(1, 3, zero=0))
    w = _window(s, x.shape)
    join, init = s.one_of([(lax.max, -np.inf), (lax.min, np.inf), (lax.add, 0)])
    reference = None
    if join is not lax.add and max(w[4]) > 1:  # JAX has no reverse mode of windows with holes.
        stays = lax.ge if join is lax.max else lax.le
        reference = lambda v, r: _folded_windows(
            lambda a, b: [lax.select(stays(a[0], b[0]), a[0], b[0])], [init], [v[0] * 1.5], w)
    return Program(lambda v, r: [lax.reduce_window(v[0] * 1.5, np.float32(init), join, *w)], [x], reference=reference)


def window_pairs(s):
    join, init = s.one_of([(_product, (1, 0)), (_range, (np.inf, -np.inf)), (_largest, (-np.inf, 0))])
    x = s.numbers(s.shape(1, 2, zero=0), ties=False)
    y = s.numbers(x.shape, ties=False)
    w = _window(s, x.shape)
    init = tuple(np.float32(i) for i in init)
    return Program(
        lambda v, r: list(lax.reduce_window((v[0], v[1]), init, lambda a, b: tuple(join(a, b)), *w)), [x, y],
        reference=lambda v, r: _folded_windows(join, init, [v[0], v[1]], w))


def running(s):
    x = s.numbers(s.shape(1, zero=0), ties=s.chance(0.3))
    axis, back = s.below(x.ndim), s.chance(0.5)
    f = s.one_of([lax.cumsum, lax.cumprod, lax.cummax, lax.cummin])
    if f in (lax.cummax, lax.cummin):
        x = s.numbers(x.shape, ties=False)
    return Program(lambda v, r: [f(v[0] * 0.9, axis, back)], [x])


def max_pool_gradients(s):
    """select_and_scatter: what the gradient of a pool is made of.

    Without ties, of which JAX's transpose takes another one than its value does.
    """
    x = s.numbers((s.between(2, 5), s.between(2, 4)), ties=False)
    size, stride = (2, s.between(1, 2)), (s.between(1, 2), 1)
    padding = ((0, s.between(0, 1)), (0, 1))
    how = s.one_of([lax.max, lax.min])
    init = np.float32(-np.inf if how is lax.max else np.inf)

    def pool(x):
        return lax.reduce_window(x, init, how, size, stride, padding)
    shape = jax.eval_shape(pool, x).shape
    y = s.numbers(shape)
    return Program(lambda v, r: [jax.vjp(pool, v[0])[1](v[1] * 1.5)[0]], [x, y])


FAMILIES = [(monoids, 4), (initial_values, 5), (several, 3), (places, 1), (windows, 4), (pools, 4), (window_pairs, 2),
            (running, 3), (max_pool_gradients, 2)]
