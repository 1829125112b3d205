"""Loops and branches."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from program import Program


def _step(s, shape):
    """A smooth function of a carry and an input, with values that it keeps for its way back."""
    kind = s.below(4)

    def f(c, x):
        if kind == 0:
            return jnp.tanh(c * x + 0.5), c * c
        if kind == 1:
            return jnp.sin(c) + x, jnp.exp(c * 0.3)
        if kind == 2:
            return lax.select(c > x, c * 0.5, c + x), lax.max(c, x)
        return c * 0.7 + jnp.cos(x), lax.logistic(c + x)
    return f


def scans(s):
    shape = s.shape(0, 2)
    length = s.between(0, 4)
    step = _step(s, shape)
    x, c, w = s.numbers((length,) + shape), s.numbers(shape), s.numbers(shape)
    back = s.chance(0.3)

    def f(v, r):
        def body(carry, x):
            c, n = carry
            c, y = step(c * v[2], x)
            return (c, n + 1), (y, n)
        (c, n), (ys, ns) = lax.scan(body, (v[1], jnp.int32(0)), v[0], length=length, reverse=back)
        return [c * n, ys * ns.reshape((-1,) + (1,) * len(shape))]
    return Program(f, [x, c, w])


def counted_loops(s):
    """fori_loop with bounds that are constants, with slices of its index."""
    shape = s.shape(0, 1)
    x, c = s.numbers((4,) + shape), s.numbers(shape)
    low, high = s.between(-1, 2), s.between(1, 5)  # Beyond what there is: clamped.
    step = _step(s, shape)

    def f(v, r):
        def body(i, carry):
            c, out = carry
            c, y = step(c, lax.dynamic_index_in_dim(v[0], i, 0, False))
            return c, lax.dynamic_update_index_in_dim(out, y, i, 0)
        return list(lax.fori_loop(low, high, body, (v[1], jnp.zeros((4,) + shape, "float32"))))
    return Program(f, [x, c])


def nested_loops(s):
    c = s.numbers(s.shape(0, 1))
    inner, outer = s.between(1, 3), s.between(1, 3)
    step = _step(s, c.shape)

    def f(v, r):
        def body(c, i):
            d, y = lax.scan(lambda d, j: step(d, v[0] * (i + 1) + j), c, jnp.arange(inner, dtype="float32"))
            return d, y.sum(0)
        return list(lax.scan(body, v[0], jnp.arange(outer, dtype="float32")))
    return Program(f, [c])


def branches(s):
    """cond and switch; indices of switch also out of range."""
    x, y = s.numbers(s.shape(0, 2)), None
    y = s.numbers(x.shape)
    index = s.indices((), 3, outside=0.5)
    fs = [lambda a, b: a * b, lambda a, b: jnp.sin(a) + b, lambda a, b: b * b]
    if s.chance(0.5):
        return Program(lambda v, r: [lax.switch(r[0], fs, v[0], v[1])], [x, y], [index])
    two = lambda v, r: lax.cond(r[0] > 1, lambda a, b: (a * b, a), lambda a, b: (a, jnp.cos(b)), v[0], v[1])
    return Program(lambda v, r: [two(v, r)[0] * v[1]], [x, y], [index])


def branches_of_values(s):
    """A condition of what varies, inside a loop."""
    x, c = s.numbers((s.between(1, 4),)), s.numbers(())

    def f(v, r):
        def body(c, x):
            c = lax.cond(c > x, lambda c: c * x, lambda c: jnp.sin(c) - x, c)
            return c, c * c
        return list(lax.scan(body, v[1], v[0]))
    return Program(f, [x, c])


def forward_loops(s):
    """A while loop of unknown length: forward mode alone."""
    x = s.numbers(s.shape(0, 1), ties=False)
    limit = s.indices((), 4, outside=0)

    def f(v, r):
        return [lax.while_loop(lambda c: c[0] < r[0], lambda c: (c[0] + 1, jnp.sin(c[1]) * v[0] + 0.5),
                               (jnp.int32(0), v[0]))[1]]
    return Program(f, [x], [limit])


def rematerialised(s):
    x = s.numbers(s.shape(0, 2))
    return Program(lambda v, r: [jax.checkpoint(lambda x: jnp.sin(jnp.exp(x * 0.5)) * x)(v[0])], [x])


FAMILIES = [(scans, 4), (counted_loops, 3), (nested_loops, 2), (branches, 3), (branches_of_values, 2),
            (forward_loops, 1), (rematerialised, 1)]
