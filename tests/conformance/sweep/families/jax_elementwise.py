"""Elementwise functions of jax.lax over dtypes and awkward shapes, as JAX lowers them."""

import jax
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np
from families.cases import COMPLEX, INTEGERS, SIGNED, TYPES
from families.jax_calls import ANY, AWKWARD, FLOATS, NUMBERS, REAL, Call, Calls, dims, spread, values
from jax import lax

WIDE = ["f32", "f64"]
BITS = ["pred", *INTEGERS]

# Function, the types it takes, and whether its arguments stay small: several libraries' polynomials differ far out.
UNARY = [
    (lax.abs, [*SIGNED, *FLOATS], False),
    (lax.abs, COMPLEX, True),
    (lax.acos, FLOATS + COMPLEX, True),
    (lax.acosh, FLOATS, True),
    (lax.asin, FLOATS, True),
    (lax.asinh, FLOATS, True),
    (lax.atan, FLOATS, True),
    (lax.atanh, FLOATS, True),
    (lax.bessel_i0e, FLOATS, True),
    (lax.bessel_i1e, FLOATS, True),
    (lax.bitwise_not, BITS, False),
    (lax.cbrt, FLOATS, True),
    (lax.ceil, FLOATS, False),
    (lax.clz, INTEGERS, False),
    (lax.conj, COMPLEX, False),
    (lax.cos, FLOATS + COMPLEX, True),
    (lax.cosh, FLOATS, True),
    (lax.digamma, FLOATS, True),
    (lax.erf, FLOATS, True),
    (lax.erf_inv, FLOATS, True),
    (lax.erfc, FLOATS, True),
    (lax.exp, FLOATS + COMPLEX, True),
    (lax.exp2, FLOATS, True),
    (lax.expm1, FLOATS + COMPLEX, True),
    (lax.floor, FLOATS, False),
    (lax.imag, COMPLEX, False),
    (lambda x: lax.integer_pow(x, 5), NUMBERS, True),
    (lambda x: lax.integer_pow(x, -3), FLOATS, True),
    (lax.is_finite, FLOATS, False),
    (lax.lgamma, FLOATS, True),
    (lax.log, FLOATS + COMPLEX, True),
    (lax.log1p, FLOATS + COMPLEX, True),
    (lax.logistic, FLOATS, True),
    (lax.neg, NUMBERS, False),
    (lax.population_count, INTEGERS, False),
    (lax.real, COMPLEX, False),
    (lax.reciprocal, FLOATS + COMPLEX, True),
    (lambda x: lax.reduce_precision(x, 5, 7), FLOATS, False),
    (lax.round, FLOATS, False),
    (lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), FLOATS, False),
    (lax.rsqrt, FLOATS + COMPLEX, True),
    (lax.sign, [*SIGNED, *FLOATS], False),
    (lax.sign, COMPLEX, True),
    (lax.sin, FLOATS + COMPLEX, True),
    (lax.sinh, FLOATS, True),
    (lax.sqrt, FLOATS + COMPLEX, True),
    (lax.square, NUMBERS, True),
    (lax.tan, FLOATS + COMPLEX, True),
    (lax.tanh, FLOATS + COMPLEX, True),
]

CANCELLING = (lax.lgamma, lax.digamma)  # Near their roots only the absolute error is small.

BINARY = [
    (lax.add, NUMBERS, False),
    (lax.atan2, FLOATS, True),
    (lax.bitwise_and, BITS, False),
    (lax.bitwise_or, BITS, False),
    (lax.bitwise_xor, BITS, False),
    (lax.complex, WIDE, False),
    (lax.div, NUMBERS, True),
    (lax.eq, ANY, False),
    (lax.ge, REAL, False),
    (lax.gt, REAL, False),
    (lax.le, REAL, False),
    (lax.lt, REAL, False),
    (lax.max, REAL, False),
    (lax.min, REAL, False),
    (lax.mul, NUMBERS, True),
    (lax.ne, ANY, False),
    (lax.nextafter, WIDE, False),
    (lax.pow, FLOATS, True),
    (lax.rem, REAL, True),
    (lax.shift_left, INTEGERS, False),
    (lax.shift_right_arithmetic, INTEGERS, False),
    (lax.shift_right_logical, INTEGERS, False),
    (lax.sub, NUMBERS, False),
]

# Special functions that JAX writes as loops, tables or long polynomials: arguments within their domain.
SPECIAL = [
    (lax.igamma, [(0.5, 6.0), (0.1, 9.0)]),
    (lax.igammac, [(0.5, 6.0), (0.1, 9.0)]),
    (lax.igamma_grad_a, [(0.5, 6.0), (0.1, 9.0)]),
    (lax.random_gamma_grad, [(0.5, 6.0), (0.1, 9.0)]),
    (lax.betainc, [(0.5, 4.0), (0.5, 4.0), (0.05, 0.95)]),
    (lax.zeta, [(1.5, 6.0), (0.5, 4.0)]),
    (lax.polygamma, [(1.0, 4.0), (0.5, 4.0)]),
    (special.entr, [(0.0, 3.0)]),
    (special.expit, [(-9.0, 9.0)]),
    (special.logit, [(0.05, 0.95)]),
    (special.i0, [(-9.0, 9.0)]),
    (special.i1, [(-9.0, 9.0)]),
    (special.ndtr, [(-4.0, 4.0)]),
    (special.ndtri, [(0.02, 0.98)]),
    (special.log_ndtr, [(-9.0, 4.0)]),
    (special.xlogy, [(0.0, 3.0), (0.1, 4.0)]),
    (special.xlog1py, [(0.0, 3.0), (0.1, 4.0)]),
    (special.rel_entr, [(0.1, 3.0), (0.1, 4.0)]),
    (special.kl_div, [(0.1, 3.0), (0.1, 4.0)]),
    (special.gammaln, [(0.1, 9.0)]),
    (special.exp1, [(0.1, 9.0)]),
    (special.expi, [(0.1, 9.0)]),
    (special.spence, [(0.1, 4.0)]),
    (special.erf, [(-2.0, 5.0)]),
    (special.betaln, [(0.5, 4.0), (0.5, 4.0)]),
    (special.logsumexp, [(-9.0, 9.0)]),
]


def name_of(function) -> str:
    return getattr(function, "__name__", "function").replace("<lambda>", "rounded")


def awkward_calls(function, dtype: str, small: bool, arity: int) -> list[Call]:
    calls = []
    for array_shape in AWKWARD[ANY.index(dtype) % 3 :: 3]:  # A third of the shapes for each type: all for each function.
        arguments = [spread(dtype, array_shape, seed) for seed in range(arity)]
        calls.append(Call(dims(array_shape), function, arguments, near=small))
    if not small:  # All the values at which rules change, each with each.
        every = values(dtype, (24,), 0)
        arguments = [np.repeat(every, 24), np.tile(every, 24)] if arity == 2 else [every]
        calls.append(Call("edges", function, arguments, near=small))
    return calls


def unary() -> list[Calls]:
    groups = []
    for number, (function, types, small) in enumerate(UNARY):
        name = name_of(function) if name_of(function) != "rounded" else f"variant{number}"
        sums = function in CANCELLING
        groups += [Calls(f"lax.{name}.{t}", awkward_calls(function, t, small, 1), sums) for t in types]
    return groups


def binary() -> list[Calls]:
    groups = []
    for function, types, small in BINARY:
        groups += [Calls(f"lax.{name_of(function)}.{t}", awkward_calls(function, t, small, 2)) for t in types]
    return groups


def broadcast() -> list[Calls]:
    """jax.numpy's promotion and broadcasting at its edges."""
    pairs = [((), (3,)), ((1,), (3,)), ((2, 1), (1, 3)), ((0, 1), (1, 3)), ((7, 1, 5), (4, 1)), ((1, 1, 1), ())]
    mixed = [("s8", "f32"), ("u8", "s16"), ("bf16", "f16"), ("s32", "c64"), ("pred", "s64"), ("f16", "f64"), ("u32", "s32")]
    functions = [jnp.add, jnp.multiply, jnp.maximum, jnp.where, jnp.floor_divide, jnp.mod]
    groups = []
    for a, b in mixed:
        calls = []
        for function in functions:
            if "c" in (a[0], b[0]) and function in (jnp.floor_divide, jnp.mod, jnp.maximum):
                continue
            for left, right in pairs:
                x, y = spread(a, left, 1), spread(b, right, 2)
                if function is jnp.where:
                    call = Call(f"where.{dims(left)}.{dims(right)}", lambda x, y: jnp.where(y != 0, x, y), [x, y])
                else:
                    call = Call(f"{function.__name__}.{dims(left)}.{dims(right)}", function, [x, y])
                calls.append(call)
        groups.append(Calls(f"numpy.{a}.{b}", calls))
    return groups


def special_functions() -> list[Calls]:
    groups = []
    for function, ranges in SPECIAL:
        for dtype in WIDE:
            calls = []
            for array_shape in [(0,), (1,), (2, 3), (11,)]:
                rng = np.random.default_rng(len(array_shape))
                arguments = [rng.uniform(low, high, array_shape).astype(TYPES[dtype]) for low, high in ranges]
                if function is lax.polygamma:
                    arguments[0] = np.floor(arguments[0])
                calls.append(Call(dims(array_shape), function, arguments))
            groups.append(Calls(f"special.{name_of(function)}.{dtype}", calls, sums=True))
    return groups


def convert() -> list[Calls]:
    """Conversions and views of other widths."""
    groups = []
    for source in ANY:
        calls = []
        for target in ANY:
            if source in COMPLEX and target not in COMPLEX:
                continue
            array = values(source, (24,), 3)
            calls.append(Call(f"to_{target}", lambda x, target=target: lax.convert_element_type(x, TYPES[target]), [array], near=False))
        groups.append(Calls(f"convert.{source}", calls))
    narrow, wide = ["u8", "s8"], ["u16", "f16", "bf16", "u32", "f32", "s64", "f64"]
    for a in narrow + wide:
        calls = []
        for b in narrow + wide:
            ratio = np.dtype(TYPES[b]).itemsize / np.dtype(TYPES[a]).itemsize
            array = spread(a, (3, 4, int(ratio)) if ratio > 1 else (3, 4), 2)
            calls.append(Call(f"as_{b}", lambda x, b=b: lax.bitcast_convert_type(x, TYPES[b]), [array], near=False))
        groups.append(Calls(f"bitcast.{a}", calls))
    return groups
