"""Elementwise functions: at kinks and poles one at a time, where they are smooth among others."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from program import Program, absolute

# Functions of one operand, with numbers at which they have kinks, limits or special values.
_POINTS = np.array([-2, -1, -0.5, -0.0, 0, 0.5, 1, 2, 3, 90, -90])
_ONE = [
    (absolute, _POINTS), (lax.sign, _POINTS), (lax.floor, _POINTS), (lax.ceil, _POINTS), (lax.round, _POINTS),
    (lax.sqrt, np.array([0, 0.25, 1, 4, 1e30])), (lax.rsqrt, np.array([0.25, 1, 4, 1e30])),
    (lax.cbrt, np.array([-8, -1, 0, 1, 27])), (lax.log, np.array([0, 0.5, 1, 2])),
    (lax.log1p, np.array([-0.5, 0, 1e-6, 1])), (lax.expm1, np.array([-50, -1e-6, 0, 1e-6, 1])),
    (lax.exp, np.array([-90, -1, 0, 1])), (lax.logistic, _POINTS), (lax.tanh, _POINTS), (lax.erf, _POINTS),
    (lax.erfc, _POINTS[1:9]), (lax.asin, np.array([-0.5, 0, 0.5])), (lax.acos, np.array([-0.5, 0, 0.5])),
    (lax.atan, _POINTS), (lax.asinh, _POINTS), (lax.acosh, np.array([1.5, 2, 10])),
    (lax.atanh, np.array([-0.5, 0, 0.5])), (lax.sinh, _POINTS[:9]), (lax.cosh, _POINTS[:9]),
    (lax.tan, np.array([-1, 0, 1])), (lax.sin, _POINTS), (lax.cos, _POINTS), (lax.square, _POINTS),
    (lambda x: lax.integer_pow(x, -2), np.array([-2, 0.5, 1])), (lambda x: lax.integer_pow(x, 3), _POINTS),
    (lambda x: lax.reduce_precision(x, 5, 3), _POINTS), (lax.exp2, np.array([-1, 0, 2])),
    (lax.lgamma, np.array([0.3, 1.7, 4.2])), (lax.digamma, np.array([0.3, 1.7, 4.2])),
    (lax.neg, _POINTS),
]
_PAIRS = np.array([(a, b) for a in (-2, -1, 0, 1, 1.5) for b in (-1, 0, 0.5, 1, 2)], dtype=float)
_POSITIVE = _PAIRS[_PAIRS[:, 0] > 0]
_TWO = [
    (lax.max, _PAIRS), (lax.min, _PAIRS), (lax.mul, _PAIRS), (lax.sub, _PAIRS),
    (lax.atan2, _PAIRS[(_PAIRS[:, 0] != 0) | (_PAIRS[:, 1] != 0)]),
    (lax.rem, _PAIRS[_PAIRS[:, 1] != 0]), (lax.div, _PAIRS[_PAIRS[:, 1] != 0]),
    (lax.pow, _POSITIVE), (lax.pow, np.array([(0, 1), (0, 2), (0, 0.5), (2, 0)])),
    (jnp.logaddexp, _PAIRS), (jnp.hypot, _POSITIVE), (jnp.copysign, _POSITIVE), (jnp.heaviside, _PAIRS),
    (lax.complex, _PAIRS),
]
_COMPLEX = [
    lax.exp, lax.sin, lax.cos, lax.tanh, lax.abs, lax.real, lax.imag, lax.conj, lax.square, lax.neg, lax.logistic,
    lax.log, lax.sqrt, lax.rsqrt, lax.log1p, lax.expm1, lax.sinh, lax.cosh, lax.asinh, lax.atan,
    lambda z: lax.integer_pow(z, 3), lambda z: lax.integer_pow(z, -1), lambda z: z * lax.conj(z), lambda z: z / (z + 3),
    lambda z: lax.pow(z, z * 0.5), jnp.angle, lambda z: lax.complex(lax.imag(z), lax.real(z)),
]


def points(s):
    """One function of one operand at its special points."""
    f, x = s.one_of(_ONE)
    return Program(lambda v, r: [f(v[0])], [x.astype(s.one_of(["float32", "float32", "float64"]))])


def pairs(s):
    f, x = s.one_of(_TWO)
    dtype = s.one_of(["float32", "float32", "float64"])
    x = x.astype(dtype)
    g = f
    if f is lax.pow:  # JAX's derivative of 0 ^ 0 by the base is NaN.
        g = lambda a, b: lax.pow(jnp.where((a == 0) & (b == 0), 1, a), b)
    if f is jnp.hypot:  # JAX's second derivatives where |a| = |b| or b = 0 are 0, for it selects by size.
        g = lambda a, b: lax.sqrt(a * a + b * b)
    if s.chance(0.3):  # The second operand is given.
        return Program(lambda v, r: [f(v[0], r[0])], [x[:, 0]], [x[:, 1]], lambda v, r: [g(v[0], r[0])])
    return Program(lambda v, r: [f(v[0], v[1])], [x[:, 0], x[:, 1]], reference=lambda v, r: [g(v[0], v[1])])


def clamps(s):
    """Bounds that are scalars or arrays, in order, equal, or the wrong way round."""
    shape = s.shape(1)
    x, low, high = (s.numbers(shape, ties=True) for _ in range(3))
    kind = s.below(4)
    if kind == 0:
        low, high = np.minimum(low, high), np.maximum(low, high) + np.float32(0.25)
    elif kind == 1:
        high = low + 0
        x = np.where(x == low, x + np.float32(0.25), x)
    elif kind == 2:
        low, high = np.float32(-0.5), np.float32(1)

    def reference(v, r):
        """Returns `high` where low > high, where JAX's derivative is 0. JAX has no derivative for bounds that are scalars."""
        low, high = jnp.broadcast_to(v[0], v[1].shape), jnp.broadcast_to(v[2], v[1].shape)
        return [jnp.where(low > high, high, lax.clamp(low, v[1], high))]

    if kind == 3:
        x, low, high = (s.numbers(shape, ties=False) for _ in range(3))
    if kind == 1:  # Nothing moves with either bound alone.
        return Program(lambda v, r: [lax.clamp(r[0], v[0], r[1])], [x], [low, high])
    return Program(lambda v, r: [lax.clamp(v[0], v[1], v[2])], [low, x, high], reference=reference)


def integer_powers(s):
    x = s.numbers(s.shape(1), ties=s.chance(0.3))
    y = s.numbers(x.shape, s.one_of(["int32", "int8"]))
    x = np.where(x == 0, np.float32(1.25), x)
    return Program(lambda v, r: [lax.pow(v[0], r[0])], [x], [y])


def complexes(s):
    """Two complex functions one after the other, of numbers away from branch cuts and from 0 mostly."""
    f, g = s.one_of(_COMPLEX), s.one_of(_COMPLEX)
    z = s.numbers(s.shape(1, zero=0), s.one_of(["complex64", "complex64", "complex128"]), ties=False)
    z = z * 0.7 + (0.9 + 0.4j)

    def h(v, r):
        y = f(v[0].astype(z.dtype))
        if not jnp.iscomplexobj(y):
            return [y]
        return [g(y * 0.8 + (0.3 + 0.1j))]
    return Program(h, [z.astype(z.dtype)])


def complex_zeros(s):
    """Complex functions at 0 and on the axes, one at a time. JAX writes a sine with a choice at real part 0."""
    f = s.one_of([lax.abs, lax.real, lax.imag, lax.conj, lax.square, lax.exp, lambda z: z * lax.conj(z)])
    z = np.array([0, 1, -1, 1j, -1j, 2 + 1j, -0.5j], "complex64")
    return Program(lambda v, r: [f(v[0])], [z])


def conversions(s):
    """Through other types and back: derivatives pass through floats and complex numbers, not through integers."""
    types = ["float32", "bfloat16", "float16", "float64", "complex64", "complex128", "int32", "int8"]
    path = [s.one_of(types) for _ in range(s.between(1, 3))]
    x = s.numbers(s.shape(1), s.one_of(["float32", "float64", "complex64"]))

    def f(v, r):
        y = v[0]
        for dtype in path:
            if jnp.iscomplexobj(y) and np.dtype(dtype).kind != "c":
                y = lax.real(y)
            y = y.astype(dtype)
        y = y.astype("float32" if not jnp.iscomplexobj(y) else "complex64")
        return [y * 1.5, (v[0] * v[0]).sum()]
    return Program(f, [x])


FAMILIES = [(points, 3), (pairs, 3), (clamps, 2), (integer_powers, 1), (complexes, 3), (complex_zeros, 1),
            (conversions, 2)]
