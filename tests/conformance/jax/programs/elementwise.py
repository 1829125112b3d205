"""Every elementwise operation that JAX has, by element type, over wide and special values."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax._src.lax import lax as lax_internal  # the total-order comparisons have no public name

from programs import inputs, npy
from programs.harness import Program, Registry

CASES = Registry()
FLOATS = ("f32", "bf16", "f16")


def specials(dtype) -> np.ndarray:
    """Zeros, infinities, NaN, the extremes of normal numbers. No subnormals: XLA's CPU backend flushes
    them."""
    info = ml_dtypes.finfo(dtype)
    values = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        1,
        -1,
        0.5,
        -0.5,
        1.5,
        -1.5,
        2.5,
        -2.5,
        2,
        3,
        -3,
        float(info.max),
        float(info.min),
        float(info.smallest_normal) * 4,
        -float(info.smallest_normal) * 4,
    ]
    return np.array(values, np.float64).astype(dtype)


def everywhere(rng, dtype, size: int) -> np.ndarray:
    """`size` values: tiny to huge, then around ten, then within one, then the special ones."""
    special = specials(dtype)
    part = (size - special.size) // 3
    limit = 4.0 if dtype == np.float16 else 6.0
    middle = (rng.uniform(-10, 10, part)).astype(np.float32).astype(dtype)
    unit = rng.uniform(-1, 1, size - special.size - 2 * part).astype(np.float32).astype(dtype)
    return np.concatenate([inputs.wide(rng, part, dtype, -limit, limit), middle, unit, special])


def each(functions):
    return lambda *operands: tuple(f(*operands) for f in functions)


# One HLO opcode each.
TRANSCENDENTAL = (
    lax.exp,
    lax.expm1,
    lax.log,
    lax.log1p,
    lax.tanh,
    lax.sin,
    lax.cos,
    lax.tan,
    lax.sqrt,
    lax.rsqrt,
    lax.cbrt,
    lax.erf,
)
ROUNDING = (
    lax.abs,
    lax.neg,
    lax.sign,
    lax.ceil,
    lax.floor,
    lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    lax.is_finite,
)


@CASES.case("unary_transcendental", FLOATS)
def unary_transcendental(rng, dtype):
    """exp expm1 log log1p tanh sin cos tan sqrt rsqrt cbrt erf: one opcode each, over tiny, huge and special
    values."""
    return Program(each(TRANSCENDENTAL), (everywhere(rng, dtype, 384),), kind="op", reference="f64")


@CASES.case("unary_transcendental_f64")
def unary_transcendental_f64(rng):
    """The same in f64."""
    return Program(
        each(TRANSCENDENTAL),
        (everywhere(rng, np.dtype(np.float64), 384),),
        kind="op",
        x64=True,
        check_f64=False,
    )


@CASES.case("unary_exact", FLOATS + ("f64",))
def unary_exact(rng, dtype):
    """abs neg sign ceil floor round (both ways) is_finite: exact."""
    return Program(
        each(ROUNDING), (everywhere(rng, dtype, 160),), kind="exact", x64=dtype == np.float64, check_f64=False
    )


INVERSE = (lax.asin, lax.acos, lax.atan, lax.asinh, lax.atanh, lax.erf_inv)
HYPERBOLIC = (
    lax.sinh,
    lax.cosh,
    lax.asinh,
    lax.logistic,
    lax.erfc,
    jax.nn.softplus,
    jax.nn.gelu,
    jax.nn.silu,
    lambda x: lax.integer_pow(x, 5),
    lambda x: lax.integer_pow(x, -3),
    lax.square,
    lax.exp2,
)
SPECIAL = (lax.lgamma, lax.digamma, lax.bessel_i0e, lax.bessel_i1e)


def composite(rng, dtype, x64=False):
    def f(unit, middle, positive):
        return (
            each(INVERSE)(unit),
            each(HYPERBOLIC)(middle),
            each(SPECIAL)(positive),
            lax.acosh(1 + positive),
        )

    unit = rng.uniform(-0.98, 0.98, 128).astype(dtype)
    middle = rng.uniform(-6, 6, 128).astype(dtype)
    middle[np.abs(middle) < 0.1] = dtype.type(0.25)
    positive = (10.0 ** rng.uniform(-2, 2, 128)).astype(dtype)
    return Program(f, (unit, middle, positive), kind="elementwise", x64=x64, check_f64=not x64)


@CASES.case("unary_composite", ("f32", "bf16"))
def unary_composite(rng, dtype):
    """Functions that JAX writes as chains of opcodes: inverse trigonometric, hyperbolic, gamma, Bessel,
    activations."""
    return composite(rng, dtype)


@CASES.case("unary_composite_f64")
def unary_composite_f64(rng):
    """The same in f64."""
    return composite(rng, np.dtype(np.float64), x64=True)


def binary_operands(rng, dtype, size: int):
    """Pairs over all magnitudes, then every pair of special values."""
    special = specials(dtype)[:14]
    a, b = np.meshgrid(special, special)
    limit = 2.0 if dtype == np.float16 else 6.0
    wide = [inputs.wide(rng, size // 2, dtype, -limit, limit) for _ in range(2)]
    middle = [rng.uniform(-4, 4, size // 2).astype(np.float32).astype(dtype) for _ in range(2)]
    return tuple(np.concatenate([wide[i], middle[i], grid.ravel()]) for i, grid in enumerate((a, b)))


@CASES.case("binary_arithmetic", FLOATS)
def binary_arithmetic(rng, dtype):
    """add subtract multiply divide remainder power atan2, over all pairs of special values too."""
    functions = (lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.pow, lax.atan2)
    return Program(each(functions), binary_operands(rng, dtype, 160), kind="op", reference="f64")


@CASES.case("binary_arithmetic_f64")
def binary_arithmetic_f64(rng):
    """The same in f64."""
    functions = (lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.pow, lax.atan2)
    return Program(
        each(functions), binary_operands(rng, np.dtype(np.float64), 160), kind="op", x64=True, check_f64=False
    )


def without_zero_pairs(a, b):
    """max and min of zeros of different sign may give either."""
    keep = ~((a.astype(np.float64) == 0) & (b.astype(np.float64) == 0))
    return a[keep], b[keep]


@CASES.case("compare_select_nan", FLOATS + ("f64",))
def compare_select_nan(rng, dtype):
    """All comparisons, max, min, select, clamp and nextafter, with NaN, infinities and signed zeros on both
    sides."""
    a, b = without_zero_pairs(*binary_operands(rng, dtype, 60))

    def f(a, b):
        comparisons = each((lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge))(a, b)
        total_order = tuple(
            p.bind(a, b) for p in (lax_internal.eq_to_p, lax_internal.lt_to_p, lax_internal.le_to_p)
        )
        extremes = (lax.max(a, b), lax.min(a, b))
        clamps = (
            lax.clamp(jnp.asarray(-1.5, a.dtype), a, jnp.asarray(2.5, a.dtype)),
            lax.clamp(a - 1, b, a + 1),
        )
        nan = jnp.asarray(np.nan, a.dtype)
        return (
            comparisons,
            total_order,
            extremes,
            clamps,
            lax.select(a < b, a, b),
            lax.select(a < b, a, nan + a),
        )

    return Program(f, (a, b), kind="exact", x64=dtype == np.float64, check_f64=False)


@CASES.case("nextafter_f32")
def nextafter_f32(rng):
    """nextafter: bit arithmetic through bitcast-convert; away from subnormals."""
    a, b = (rng.standard_normal(64).astype(np.float32) * 1000 for _ in range(2))
    b[:8] = a[:8]
    b[8:12] = [np.inf, -np.inf, np.nan, 0]
    return Program(
        lambda a, b: (lax.nextafter(a, b), lax.nextafter(a, jnp.full_like(a, -np.inf))),
        (a, b),
        kind="exact",
        check_f64=False,
    )


def integer_specials(dtype) -> np.ndarray:
    info = np.iinfo(dtype)
    values = [
        0,
        1,
        2,
        3,
        7,
        info.bits - 1,
        info.bits,
        info.bits + 1,
        100,
        info.max,
        info.max - 1,
        info.min,
        info.min + 1,
        info.max // 2,
        info.max // 3,
    ]
    if info.min < 0:
        values += [-1, -2, -3, -7, -100]
    return np.array(values, object).astype(dtype)


def integer_operands(rng, dtype, size: int):
    """Uniform over the type, then small, then every pair of special values (division by zero, overlong
    shifts)."""
    info = np.iinfo(dtype)
    full = lambda: rng.integers(info.min, info.max, size // 2, dtype=dtype, endpoint=True)
    small = lambda: rng.integers(max(info.min, -20), 20, size // 2, dtype=dtype)
    a, b = np.meshgrid(integer_specials(dtype), integer_specials(dtype))
    return np.concatenate([full(), small(), a.ravel()]), np.concatenate([full(), small(), b.ravel()])


@CASES.case("integer_zoo", ("s32", "u32", "s8", "u8", "s16", "u16", "s64", "u64"))
def integer_zoo(rng, dtype):
    """Every integer operation: division by zero, overlong shifts, wrap-around, bit counts, comparisons,
    clamp."""
    unary = (lax.abs, lax.neg, lax.sign, lax.bitwise_not, lax.population_count, lax.clz)
    binary = (
        lax.add,
        lax.sub,
        lax.mul,
        lax.div,
        lax.rem,
        lax.max,
        lax.min,
        lax.bitwise_and,
        lax.bitwise_or,
        lax.bitwise_xor,
        lax.shift_left,
        lax.shift_right_arithmetic,
        lax.shift_right_logical,
        lax.eq,
        lax.ne,
        lax.lt,
        lax.le,
        lax.gt,
        lax.ge,
    )
    if np.iinfo(dtype).min == 0:
        unary = unary[2:]

    def f(a, b):
        low, high = jnp.asarray(3, a.dtype), jnp.asarray(90, a.dtype)
        return each(unary)(a), each(binary)(a, b), lax.clamp(low, a, high), lax.select(a < b, a, b)

    return Program(
        f, integer_operands(rng, dtype, 48), kind="exact", x64=np.iinfo(dtype).bits == 64, check_f64=False
    )


@CASES.case("mulhi_zoo")
def mulhi_zoo(rng):
    """mulhi: the high half of a product, signed and unsigned, 8 to 64 bits."""
    operands = {
        name: integer_operands(rng, npy.NUMPY_TYPES[name], 24)
        for name in ("s8", "u8", "s32", "u32", "s64", "u64")
    }
    return Program(
        lambda operands: {name: lax.mulhi(*pair) for name, pair in operands.items()},
        (operands,),
        kind="exact",
        x64=True,
        check_f64=False,
    )


@CASES.case("integer_power_s32")
def integer_power_s32(rng):
    """Integer power by an array (JAX's loop over the exponent's bits) and by a constant, wrapping around."""
    base = np.concatenate([inputs.integers(rng, -9, 9, 40), np.array([0, 1, -1, 2, -2, 65536], np.int32)])
    exponent = np.concatenate([inputs.integers(rng, 0, 12, 40), np.array([0, 31, 31, 31, 31, 2], np.int32)])
    return Program(
        lambda a, n: (jnp.power(a, n), lax.integer_pow(a, 7)), (base, exponent), kind="exact", check_f64=False
    )


@CASES.case("logical_zoo")
def logical_zoo(rng):
    """pred: not and or xor, comparisons, select, and reductions to one value."""
    a, b = rng.random((2, 6, 17)) < 0.5

    def f(a, b):
        binary = (
            lax.bitwise_and,
            lax.bitwise_or,
            lax.bitwise_xor,
            lax.eq,
            lax.ne,
            lax.lt,
            lax.ge,
            lax.max,
            lax.min,
        )
        return (
            lax.bitwise_not(a),
            each(binary)(a, b),
            jnp.all(a | b, axis=1),
            jnp.any(a & b, axis=0),
            jnp.sum(a),
            lax.select(a, b, ~b),
            jnp.where(a, 3, b.astype(jnp.int32)),
        )

    return Program(f, (a, b), kind="exact", check_f64=False)


def complex_values(rng, shape, dtype):
    return (
        (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) * 2.0 ** rng.uniform(-2, 2, shape)
    ).astype(dtype)


def complex_program(rng, dtype, x64=False):
    a, b = complex_values(rng, 96, dtype), complex_values(rng, 96, dtype)

    def f(a, b):
        unary = (
            lax.neg,
            lax.conj,
            lax.abs,
            lax.sign,
            lax.exp,
            lax.log,
            lax.log1p,
            lax.expm1,
            lax.sqrt,
            lax.rsqrt,
            lax.tanh,
            lax.sin,
            lax.cos,
            lax.real,
            lax.imag,
            lambda x: lax.integer_pow(x, 3),
        )
        binary = (lax.add, lax.sub, lax.mul, lax.div, lax.pow, lax.eq, lax.ne)
        return (
            each(unary)(a),
            each(binary)(a, b),
            lax.complex(lax.real(a), lax.imag(b)),
            jnp.sum(a * b),
            jnp.angle(a),
        )

    return Program(f, (a, b), kind="elementwise", x64=x64, check_f64=not x64)


@CASES.case("complex_zoo", ("c64",))
def complex_zoo(rng, dtype):
    """c64 arithmetic and functions; errors are measured on the complex modulus."""
    return complex_program(rng, dtype)


@CASES.case("complex_zoo_c128")
def complex_zoo_c128(rng):
    """The same in c128."""
    return complex_program(rng, np.dtype(np.complex128), x64=True)


@CASES.case("complex_matmul_c64")
def complex_matmul_c64(rng):
    """c64 matrix product, conjugate transpose and a complex gradient of |x|^2."""
    a, b = complex_values(rng, (12, 20), np.complex64), complex_values(rng, (20, 8), np.complex64)
    grad = jax.grad(lambda a, b: jnp.sum(jnp.abs(a @ b) ** 2))
    return Program(lambda a, b: (a @ b, jnp.conj(a).T @ a, grad(a, b)), (a, b))


@CASES.case("reduce_precision_barrier")
def reduce_precision_barrier(rng):
    """reduce_precision to several formats, behind an optimization barrier."""
    x = everywhere(rng, np.dtype(np.float32), 200)

    def f(x):
        formats = ((8, 7), (5, 10), (5, 2), (4, 3), (8, 23), (6, 1))
        y, count = lax.optimization_barrier((x, jnp.arange(4)))
        return tuple(lax.reduce_precision(y, *bits) for bits in formats), count, y

    return Program(f, (x,), kind="exact", check_f64=False)


@CASES.case("bitcast_zoo")
def bitcast_zoo(rng):
    """bitcast-convert between types of equal, smaller and larger width."""
    x = everywhere(rng, np.dtype(np.float32), 64)
    x[np.isnan(x)] = 1
    pairs = rng.integers(0, 2**16, (20, 2), dtype=np.uint16)

    def f(x, pairs):
        to = lambda x, dtype: lax.bitcast_convert_type(x, dtype)
        return (
            to(x, jnp.int32),
            to(x, jnp.uint16),
            to(x, jnp.uint8),
            to(to(x, jnp.uint32), jnp.float32),
            to(pairs, jnp.uint32),
            to(pairs, jnp.int16),
            to(pairs & 0x7BFF, jnp.float16),
        )

    return Program(f, (x, pairs), kind="exact", check_f64=False)
