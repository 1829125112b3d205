"""Elementwise operations, conversions and constants."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from programs.harness import Program, Registry

CASES = Registry()


def unit(rng, *shape, dtype=np.float32):
    """Values within (0.1, 0.9): inside the domain of everything here."""
    return rng.uniform(0.1, 0.9, shape).astype(dtype)


def integers(rng, *shape, dtype=np.int32, low=-50, high=50):
    return rng.integers(low, high, shape).astype(dtype)


@CASES.case("unary", ("f32", "bf16", "f64"))
def unary(rng, dtype):
    """Operations of one operand that StableHLO has itself."""

    def f(x):
        same = (lax.abs, lax.neg, lax.sign, lax.ceil, lax.floor, lambda v: lax.round(v, lax.RoundingMethod(0)))
        more = (lambda v: lax.round(v, lax.RoundingMethod(1)), lax.exp, lax.expm1, lax.log, lax.log1p, lax.tanh)
        rest = (lax.sin, lax.cos, lax.tan, lax.sqrt, lax.rsqrt, lax.cbrt, lax.logistic, lax.is_finite)
        return [g(x) for g in same + more + rest]

    return Program(f, (unit(rng, 2, 3, dtype=dtype),), kind="elementwise", x64=dtype == np.float64)


@CASES.case("unary_chlo", ("f32", "bf16"))
def unary_chlo(rng, dtype):
    """Functions that JAX leaves to CHLO."""

    def f(x):
        inverse = (lax.acos, lax.asin, lax.atan, lax.acosh, lax.asinh, lax.atanh, lax.erf_inv)
        others = (lax.sinh, lax.cosh, lax.erf, lax.erfc, lax.lgamma, lax.digamma, lax.bessel_i1e, lax.square)
        return [g(x + 1 if g is lax.acosh else x) for g in inverse + others]

    return Program(f, (unit(rng, 5, dtype=dtype),), x64=dtype == np.float64)


@CASES.case("binary_chlo")
def binary_chlo(rng):
    """next_after and polygamma."""

    def f(x, y):
        return lax.nextafter(x, y), lax.polygamma(jnp.float32(2), x)

    return Program(f, (unit(rng, 4), unit(rng, 4)))


@CASES.case("binary", ("f32", "bf16"))
def binary(rng, dtype):
    """Arithmetic of two operands, clamp and select."""

    def f(x, y):
        ops = (lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.pow, lax.atan2, lax.max, lax.min)
        return [g(x, y) for g in ops] + [lax.clamp(x, y, x), lax.select(x < y, x, y), jnp.where(y > 0.5, x, 1)]

    return Program(f, (unit(rng, 3, 2, dtype=dtype), unit(rng, 3, 2, dtype=dtype)), kind="elementwise")


@CASES.case("integer", ("s8", "u64"))
def integer(rng, dtype):
    """Arithmetic and bits of integers."""

    def f(x, y):
        two = (lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.bitwise_and, lax.bitwise_or)
        more = (lax.bitwise_xor, lax.shift_left, lax.shift_right_arithmetic, lax.shift_right_logical)
        return [g(x, y) for g in two + more] + [lax.bitwise_not(x), lax.clz(x), lax.population_count(x), x**3]

    low = 0 if dtype.kind == "u" else -50
    arguments = (integers(rng, 6, dtype=dtype, low=low), integers(rng, 6, dtype=dtype, low=1, high=7))
    return Program(f, arguments, kind="exact", x64=dtype.itemsize == 8)


@CASES.case("comparisons")
def comparisons(rng):
    """Every direction over floats, integers, bool and complex; logical operations."""

    def f(x, y, p, z):
        ops = (lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge)
        n, m = x.astype(np.int32), y.astype(np.uint8)
        return (
            [g(x, y) for g in ops] + [g(n, n[::-1]) for g in ops] + [g(m, m[::-1]) for g in ops],
            (p & (x < y), p | (x < y), p ^ (x < y), ~p, lax.eq(p, ~p), z == z[::-1], z != z),
        )

    x, y = rng.uniform(-3, 3, 4).astype(np.float32), rng.uniform(0, 9, 4).astype(np.float32)
    x[1], y[2] = y[1], np.nan
    return Program(f, (x, y, x > 0, (x + 1j * y).astype(np.complex64)), kind="exact")


@CASES.case("complex_numbers", ("c64", "c128"))
def complex_numbers(rng, dtype):
    """Complex arithmetic, parts, and constants."""

    def f(z, w):
        parts = lax.real(z), lax.imag(z), lax.complex(lax.real(z), lax.imag(w)), lax.conj(z), abs(z)
        return parts, z * w + (2 - 3j), z / w, jnp.exp(z), jnp.sqrt(w), z * np.array([1j, 2.5, 0.25 - 1e-3j], dtype)

    z, w = ((rng.normal(size=3) + 1j * rng.normal(size=3)).astype(dtype) for _ in range(2))
    return Program(f, (z, w), kind="elementwise", x64=dtype == np.complex128)


@CASES.case("conversions")
def conversions(rng):
    """convert among the types that XLA has, and bitcast_convert."""
    names = "int4 uint4 int2 uint2 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2"
    names += " float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn bfloat16"

    def f(x, n):
        small = [x.astype(getattr(ml_dtypes, name)) for name in names.split()]
        wide = [s.astype(np.float32) for s in small]
        bits = lax.bitcast_convert_type(x, np.uint32), lax.bitcast_convert_type(n, np.int8), x != 0
        return wide, bits, x.astype(np.float16), n.astype(np.uint8), n.astype(np.complex64)

    return Program(f, (unit(rng, 5), integers(rng, 3)), kind="exact")


@CASES.case("constants")
def constants(rng):
    """Constants of every type: special values, splats, none at all, and one that is printed as bytes."""
    floats = [0.0, -0.0, 1.5, np.inf, -np.inf, np.nan, 3.1415927, 1e-5, -65504.0, 448.0]

    def f(x):
        values = [np.array(floats, t) for t in (np.float32, np.float16, ml_dtypes.bfloat16)]
        values += [np.array([1.5, -2.0, 0.5], t) for t in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)]
        values += [np.array([[-8, 7], [0, 3]], ml_dtypes.int4), np.array([1, 15], ml_dtypes.uint4)]
        values += [np.iinfo(t).max * np.array([[1], [0]], t) for t in (np.int8, np.uint8, np.int16, np.uint32)]
        values += [np.array([True, False, True]), np.ones((2, 2), bool), np.zeros((2, 0, 3), np.float32)]
        values += [np.full((3, 4), 7.25, np.float32), np.full((2,), 1 - 2j, np.complex64)]
        values += [np.array([[1 + 2j, -0.5j], [np.inf, np.nan]], np.complex64)]
        return [jnp.asarray(v) for v in values], x + np.arange(48, dtype=np.float32).reshape(6, 8) ** 3

    return Program(f, (unit(rng, 6, 8),), kind="exact")


@CASES.case("constants_wide")
def constants_wide(rng):
    """Constants of 64-bit types, and bools and small integers enough to be printed as bytes."""
    bools = rng.random((9, 31)) > 0.5

    def f(x):
        values = np.array([0.1, 1e300, -5e-324, np.inf]), np.array([2**63 - 1, -(2**63)]), np.array([2**64 - 1], np.uint64)
        return values, x * 2.5, bools, np.arange(300).astype(np.int16), np.array([1e-300 + 2j])

    return Program(f, (unit(rng, 2, dtype=np.float64),), kind="exact", x64=True)


@CASES.case("accuracy")
def accuracy(rng):
    """reduce_precision, a stated accuracy, an optimization barrier."""

    def f(x):
        a, b = lax.optimization_barrier((x, x + 1))
        return lax.reduce_precision(x, 5, 7), lax.exp(x, accuracy=lax.Tolerance(rtol=1e-4)), a * b

    return Program(f, (unit(rng, 4),), kind="elementwise")
