#!/usr/bin/env python3
"""Records what JAX computes for the functions of control_gradient_test.cc: the value, the gradients, the derivative in a
direction, the gradients of the gradients' sum, and gradients over a batch. Writes control.json here; needs jax."""
import functools
import json
import math
import pathlib

import jax
import jax.numpy as jnp
from jax import lax

jax.config.update("jax_enable_x64", True)


def ramp(*dims, scale=0.37, start=0.3):
    """Numbers in (-0.8, 0.8), all different, the same in every run."""
    n = math.prod(dims)
    return jnp.array([0.8 * math.sin(start + scale * (i + 1) * 1.7) for i in range(n)]).reshape(dims)


def weighted(x):
    return jnp.sum(x * jnp.cos(jnp.arange(x.size, dtype=x.dtype)).reshape(x.shape))


def rnn(h, xs, w, b, reverse=False):
    def step(h, x):
        h = jnp.tanh(h @ w + x + b)
        return h, h * x

    h, ys = lax.scan(step, h, xs, reverse=reverse)
    return weighted(h) + weighted(ys)


def rnn_reverse(h, xs, w, b):
    return rnn(h, xs, w, b, reverse=True)


def outputs_only(h, xs):
    return weighted(lax.scan(lambda c, x: (c, jnp.sin(c * x)), h, xs)[1])


def running_product(c, xs):
    return weighted(lax.scan(lambda c, x: (c * x, c), c, xs)[1])


def nested(c, xs, w):
    def outer(c, x):
        c, ys = lax.scan(lambda c, y: (jnp.sin(c * w) + y, c * y), c, xs)
        return c + x, weighted(ys)

    c, ys = lax.scan(outer, c, xs)
    return weighted(c) + weighted(ys)


def counted(c, xs):
    def step(carry, x):
        i, c = carry
        return (i + 1, c + jnp.sin(x * i.astype(x.dtype)) * c), c[i % 2]

    (_, c), ys = lax.scan(step, (jnp.int32(0), c), xs)
    return weighted(c) + weighted(ys)


def branch_in_loop(c, xs):
    def step(c, x):
        c = lax.cond(jnp.sum(c) > 0, lambda c: jnp.sin(c) * x, lambda c: jnp.exp(c) + jnp.cos(x), c)
        return c, c

    c, ys = lax.scan(step, c, xs)
    return weighted(c) + weighted(ys)


def cond(x, y):
    return weighted(lax.cond(jnp.sum(x) > 0, lambda x: jnp.sin(x) * jnp.tanh(x), lambda x: jnp.exp(x * y), x))


def switch(x, y):
    branches = [lambda x: jnp.sin(x), lambda x: jnp.exp(x) * y, lambda x: x * x]
    return sum(weighted(lax.switch(i, branches, x)) for i in range(3))


def fori(x):
    return weighted(lax.fori_loop(0, 4, lambda i, c: jnp.sin(c) * (i + 1) + c * c, x))


def layers(x, w, b):
    def layer(x, p):
        return jnp.tanh(x @ p[0] + p[1]), ()

    return weighted(lax.scan(jax.checkpoint(layer), x, (w, b))[0])


def recurrence(a, b):
    """h[i] = a[i] h[i-1] + b[i]."""
    h = lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (a, b))[1]
    return weighted(h)


def products(m, reverse=False, axis=0):
    return weighted(lax.associative_scan(lambda p, q: jnp.matmul(q, p), m, reverse=reverse, axis=axis))


def products_reverse(m):
    return products(m, reverse=True)


def sums_of_columns(x):
    return weighted(lax.associative_scan(lambda p, q: p + q + p * q, x, axis=-1))


def mapped(xs, w, batch_size=None):
    ys, zs = lax.map(lambda x: (jnp.tanh(x @ w), jnp.sum(x * x)), xs, batch_size=batch_size)
    return weighted(ys) + weighted(zs)


def mapped_by_two(xs, w):
    return mapped(xs, w, batch_size=2)


def mapped_by_many(xs, w):
    return mapped(xs, w, batch_size=8)


def interp(x, points, values):
    return weighted(jnp.interp(x, points, values))


def interp_ends(x, points, values):
    return weighted(jnp.interp(x, points, values, left=-3.0, right=5.0))


def interp_extrapolate(x, points, values):
    both = jnp.interp(x, points, values, left="extrapolate", right="extrapolate")
    return weighted(both) + weighted(jnp.interp(x, points, values, left="extrapolate"))


def interp_period(x, points, values):
    return weighted(jnp.interp(x, points, values, period=0.9))


def interp_equal(x, values):
    return weighted(jnp.interp(x, jnp.array([-0.5, -0.1, -0.1, 0.4]), values))


def interp_one(x, values):
    return weighted(jnp.interp(x, jnp.array([0.1]), values))


def convolve(a, v, mode):
    return weighted(jnp.convolve(a, v, mode=mode)) + weighted(jnp.convolve(v, a, mode=mode) ** 2)


def correlate(a, v, mode):
    return weighted(jnp.correlate(a, v, mode=mode)) + weighted(jnp.correlate(v, a, mode=mode) ** 2)


MODES = ("full", "same", "valid")
CASES = {
    "rnn": (rnn, [ramp(3), ramp(4, 3, start=1), ramp(3, 3, start=2), ramp(3, start=3)]),
    "rnn_reverse": (rnn_reverse, [ramp(3), ramp(4, 3, start=1), ramp(3, 3, start=2), ramp(3, start=3)]),
    "outputs_only": (outputs_only, [ramp(2), ramp(3, 2, start=1)]),
    "running_product": (running_product, [ramp(2), ramp(3, 2, start=1)]),
    "nested": (nested, [ramp(2), ramp(3, 2, start=1), ramp(2, start=2)]),
    "counted": (counted, [ramp(2), ramp(3, 2, start=1)]),
    "branch_in_loop": (branch_in_loop, [ramp(2), ramp(5, 2, start=1)]),
    "cond": (cond, [ramp(3), ramp(3, start=1)]),
    "switch": (switch, [ramp(3), ramp(3, start=1)]),
    "fori": (fori, [ramp(2)]),
    "layers": (layers, [ramp(2, 3), ramp(4, 3, 3, start=1), ramp(4, 3, start=2)]),
    "layers_dots": (layers, [ramp(2, 3), ramp(4, 3, 3, start=1), ramp(4, 3, start=2)]),
    "recurrence": (recurrence, [ramp(7), ramp(7, start=1)]),
    "products": (products, [ramp(6, 2, 2)]),
    "products_reverse": (products_reverse, [ramp(5, 2, 2)]),
    "sums_of_columns": (sums_of_columns, [ramp(2, 3)]),
    "mapped": (mapped, [ramp(5, 2), ramp(2, 3, start=1)]),
    "mapped_by_two": (mapped_by_two, [ramp(5, 2), ramp(2, 3, start=1)]),
    "mapped_by_many": (mapped_by_many, [ramp(5, 2), ramp(2, 3, start=1)]),
    "interp": (interp, [ramp(2, 3), jnp.sort(ramp(4, start=1)), ramp(4, start=2)]),
    "interp_ends": (interp_ends, [ramp(2, 3), jnp.array([-0.3, 0.05, 0.2]), ramp(3, start=2)]),
    "interp_extrapolate": (interp_extrapolate, [ramp(2, 3), jnp.array([-0.3, 0.05, 0.2]), ramp(3, start=2)]),
    "interp_period": (interp_period, [ramp(2, 3), ramp(4, start=1), ramp(4, start=2)]),
    "interp_equal": (interp_equal, [ramp(5), ramp(4, start=2)]),
    "interp_one": (interp_one, [ramp(3), ramp(1, start=2)]),
    **{f"convolve_{mode}": (functools.partial(convolve, mode=mode), [ramp(5), ramp(4, start=1)]) for mode in MODES},
    **{f"correlate_{mode}": (functools.partial(correlate, mode=mode), [ramp(5), ramp(4, start=1)]) for mode in MODES},
}


def array(x):
    return {"dims": list(x.shape), "values": [float(v) for v in jnp.ravel(x)]}


def record(f, inputs):
    n = tuple(range(len(inputs)))
    tangents = [jnp.cos(jnp.arange(x.size, dtype=x.dtype)).reshape(x.shape) for x in inputs]
    grad = jax.grad(f, n)
    second = jax.grad(lambda *x: sum(weighted(g) for g in grad(*x)), n)
    # Three examples of argument 0; the others are shared.
    batch = jnp.stack([inputs[0] * k for k in (1.0, -0.5, 0.25)])
    batched = jax.vmap(grad, (0,) + (None,) * (len(inputs) - 1))(batch, *inputs[1:])
    return {
        "inputs": [array(x) for x in inputs],
        "value": array(f(*inputs)),
        "gradients": [array(g) for g in grad(*inputs)],
        "directional": float(jax.jvp(f, inputs, tangents)[1]),
        "second": [array(g) for g in second(*inputs)],
        "batched": [array(g) for g in batched],
    }


if __name__ == "__main__":
    path = pathlib.Path(__file__).with_name("control.json")
    recorded = {name: record(f, inputs) for name, (f, inputs) in CASES.items()}
    path.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in recorded.items()) + "\n}\n")
