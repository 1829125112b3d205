"""Expressions of several operations over a few arrays, of mixed types, ties among them."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from arrays import Source
from program import Program, absolute

_SMOOTH = [lax.sin, lax.cos, lax.tanh, lax.logistic, lax.erf, lax.neg, lambda x: lax.exp(x * 0.4),
           lambda x: lax.log(x * x + 1), lambda x: lax.sqrt(x * x + 1), lambda x: lax.rsqrt(x * x + 2),
           lambda x: lax.cbrt(x * x + 1), lambda x: lax.expm1(x * 0.3), lambda x: lax.log1p(x * x), absolute,
           lax.square, lax.floor, lax.sign, lambda x: lax.integer_pow(x * 0.5, 3)]
_JOINS = [lax.add, lax.sub, lax.mul, lax.max, lax.min, lambda a, b: a / (b * b + 1),
          lambda a, b: lax.atan2(a, b * b + 1), lambda a, b: lax.select(a > b, a * 2, b),
          lambda a, b: lax.pow(a * a + 1, b * 0.5),
          lambda a, b: lax.clamp(-absolute(b) - 0.3, a, absolute(b) + 0.3)]


def _is_float(x):
    return jnp.issubdtype(x.dtype, jnp.floating)


def _one_step(s, pool, index):
    """One more array from those of the pool."""
    floats = [x for x in pool if _is_float(x)]
    x = s.one_of(floats)
    kind = s.below(12)
    if kind <= 2:
        return s.one_of(_SMOOTH)(x)
    if kind <= 5:
        y = s.one_of(floats)
        if y.shape != x.shape:
            y = jnp.sum(y)
        return s.one_of(_JOINS)(x, jnp.broadcast_to(y.astype(x.dtype), x.shape))
    if kind == 6 and x.ndim:
        f = s.one_of([jnp.sum, jnp.max, jnp.mean, jnp.prod, jnp.min])
        axis = s.below(x.ndim)
        return f(x, axis) if x.shape[axis] else jnp.sum(x, axis)
    if kind == 7 and x.ndim and x.size:
        mode = s.one_of(["clip", "fill"])
        return jnp.take(x, index, s.below(x.ndim), mode=mode, **({"fill_value": 0} if mode == "fill" else {}))
    if kind == 8 and x.ndim:
        order = tuple(int(i) for i in s.rng.permutation(x.ndim))
        return lax.transpose(x, order) if s.chance(0.5) else x.reshape(-1)
    if kind == 9 and x.ndim:
        axis = s.below(x.ndim)
        return lax.cumsum(x, axis) if s.chance(0.5) else lax.sort(x, dimension=axis)
    if kind == 10 and x.ndim <= 2:
        return jnp.einsum("...i,...j->...ij", x, lax.sin(x)) if x.ndim else x * 2
    return x.astype(s.one_of(["float32", "float32", "float64", "bfloat16"]))


def expressions(s):
    seed = s.between(0, 2**31)
    varied = [s.numbers(s.shape(), s.one_of(["float32", "float32", "float64"])) for _ in range(s.between(1, 3))]
    fixed = [s.indices((s.between(1, 3),), 4)]
    steps = s.between(3, 7)

    def f(v, r):
        t = Source(seed)
        pool = list(v)
        for _ in range(steps):
            y = _one_step(t, pool, r[0])
            if y.size <= 64:
                pool.append(y)
        return [jnp.sin(pool[-1] * 0.5).astype("float64" if pool[-1].dtype == np.float64 else "float32")]
    return Program(f, varied, fixed)


def losses(s):
    """The same with one number as the result, for grad."""
    p = expressions(s)
    return Program(lambda v, r: [jnp.sum(p.f(v, r)[0])], p.varied, p.fixed)


FAMILIES = [(expressions, 10), (losses, 12)]
