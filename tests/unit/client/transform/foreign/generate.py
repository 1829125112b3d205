#!/usr/bin/env python3
"""Records what JAX computes for programs that it exports for the CPU, for functions_test.cc: the programs,
values, gradients, derivatives in a direction, and gradients of the gradients. Functions of numbers are exported in f64,
f32 and bf16; their expected values are of f64. Writes functions.json, matrices.json and betainc.mlir here, with names as arguments
only these functions; needs jax."""
import functools
import json
import math
import pathlib
import sys

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import jax.scipy.special as sp
import numpy as np
import scipy.special
import scipy.stats
from jax import lax
from jax.scipy import stats

jax.config.update("jax_enable_x64", True)

TYPES = {"f64": jnp.float64, "f32": jnp.float32, "bf16": jnp.bfloat16}


def number(x):
    x = float(x)
    return x if math.isfinite(x) else "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"


def numbers(xs):
    return [number(x) for x in np.asarray(xs, dtype=np.float64).ravel()]


def array(x):
    return {"dims": list(x.shape), "values": numbers(x)}


def exported(f, *arguments):
    """The program's text, without what only XLA reads of it."""
    return jax.jit(f).lower(*arguments).as_text()


def truncated_normal(x):
    return jax.random.truncated_normal(jax.random.key(3), x, x + 2, x.shape, x.dtype)


AROUND = [-30.0, -8.0, -3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0, 8.0, 30.0]
POSITIVE = [0.125, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0, 60.0, 200.0, 1024.0]
INSIDE = [-0.875, -0.5, -0.25, 0.0, 0.125, 0.5, 0.75]
# Functions of numbers, and where: f, points, and whether the second derivative is compared.
FUNCTIONS = {
    "erf_inv": (sp.erfinv, [-1.0, -0.984375, -0.5, 0.0, 0.125, 0.75, 0.96875]),
    "lgamma": (sp.gammaln, POSITIVE + [1e-3, 65536.0, -0.5, -1.5, -9.25]),
    "digamma": (sp.digamma, POSITIVE + [-0.5, -1.5, -9.25]),
    "trigamma": (lambda x: sp.polygamma(1, x), POSITIVE),
    "tetragamma": (lambda x: sp.polygamma(2, x), POSITIVE),
    "erfc": (sp.erfc, AROUND),
    "erf": (sp.erf, AROUND),
    "ndtr": (sp.ndtr, AROUND),
    "gelu": (functools.partial(jax.nn.gelu, approximate=False), AROUND),
    "i0e": (sp.i0e, AROUND),
    "i1e": (sp.i1e, AROUND),
    "gamma": (sp.gamma, [0.5, 1.0, 2.0, 3.5, 10.0, -0.5, -1.5]),
    "betaln": (lambda x: sp.betaln(x, x.dtype.type(2)), POSITIVE),
    "poch": (lambda x: sp.poch(x, x.dtype.type(2)), [0.5, 1.0, 2.0, 3.0, 10.0]),
    "poch_by_m": (lambda m: sp.poch(m.dtype.type(1.5), m), [0.0, 0.5, 1.0, 2.0]),
    "multigammaln": (lambda x: sp.multigammaln(x, 3), [1.5, 2.0, 3.0, 10.0, 60.0]),
    "factorial": (sp.factorial, [0.0, 0.5, 1.0, 3.0]),
    "truncated_normal": (truncated_normal, [-2.0, -1.0, 0.0, 1.0]),  # The random bits depend on the type.
    "acos": (jnp.arccos, INSIDE),
    "acosh": (jnp.arccosh, [1.0, 1.5, 2.0, 30.0]),
    "asin": (jnp.arcsin, INSIDE + [1.0]),
    "asinh": (jnp.arcsinh, AROUND),
    "atan": (jnp.arctan, AROUND),
    "atanh": (jnp.arctanh, INSIDE),
    "cosh": (jnp.cosh, [-3.0, 0.0, 1.0]),
    "sinh": (jnp.sinh, [-3.0, 0.0, 1.0]),
    "tan": (jnp.tan, [-1.0, 0.0, 0.5]),
    "square": (jnp.square, AROUND),
    "cbrt": (jnp.cbrt, [-8.0, -1.0, 1.0, 30.0]),
    "relu": (jax.nn.relu, [-1.0, 0.0, 2.0]),
    "relu6": (jax.nn.relu6, [-1.0, 0.0, 2.0, 6.0, 7.0]),
    "hard_swish": (jax.nn.hard_swish, [-4.0, -3.0, 0.0, 3.0, 4.0]),
    "softplus": (jax.nn.softplus, [-30.0, -3.0, -0.5, 0.0, 0.25, 1.0, 8.0]),
    "log_sigmoid": (jax.nn.log_sigmoid, [-30.0, -3.0, 0.0, 0.25, 8.0]),
    "logaddexp": (lambda x: jnp.logaddexp(x, x.dtype.type(1)), [-3.0, 1.0, 2.5]),
    "logaddexp2": (lambda x: jnp.logaddexp2(x.dtype.type(1), x), [-3.0, 1.0, 2.5]),
    "xlogy_with_number": (lambda x: sp.xlogy(x, x.dtype.type(2)), [-1.5, 0.0, 3.0]),
    "xlogy_with_x": (lambda x: sp.xlogy(x, x + 2), [-1.5, 0.0, 3.0]),
    "xlog1py": (lambda x: sp.xlog1py(x, x + 2), [-1.5, 0.0, 3.0]),
    "entr": (sp.entr, [0.0, *POSITIVE]),
    "logit": (sp.logit, [0.125, 0.5, 0.75]),
    "logit_at_ends": (sp.logit, [0.0, 0.5, 1.0]),
    "sinc": (jnp.sinc, [0.0, 0.25, 0.5, 1.0, 3.25]),
    "xlogy": (lambda x: sp.xlogy(x, x + 1), POSITIVE),
    "ndtri": (sp.ndtri, [0.015625, 0.125, 0.5, 0.75, 0.984375]),
    "gammainc": (lambda x: sp.gammainc(x.dtype.type(2.5), x), [0.125, 0.75, 1.0, 2.0, 3.0, 10.0]),
    "gammaincc": (lambda x: sp.gammaincc(x.dtype.type(2.5), x), [0.125, 0.75, 1.0, 2.0, 3.0, 10.0]),
    # At a = x = 1 and 2 the fraction ends at once, its derivative does not.
    "gammaincc_by_a_at_1": (lambda a: sp.gammaincc(a, a.dtype.type(1)), [0.25, 0.75, 1.0, 2.5]),
    "gammaincc_by_a_at_2": (lambda a: sp.gammaincc(a, a.dtype.type(2)), [0.5, 1.0, 2.0, 3.0]),
    "gammainc_by_a": (lambda a: sp.gammainc(a, a.dtype.type(2)), [0.5, 1.0, 2.0, 3.0]),
    # Here the fraction, which is not chosen, begins with a division by 0.
    "gammainc_at_half": (lambda x: sp.gammainc(x.dtype.type(2.5), x), [0.5]),
    "betainc": (lambda x: sp.betainc(x.dtype.type(2), x.dtype.type(3), x), [0.125, 0.5, 0.75]),
    # In JAX's programs these are multiplied by sign(x), or put together from bits.
    "ldexp": (lambda x: jnp.ldexp(x, 3), [-3.0, -0.75, 0.0, 1.0, 1.5, 1024.0]),
    "ldexp_down": (lambda x: jnp.ldexp(x, -2), [-3.0, -0.75, 1.0, 1.5, 1024.0]),
    "mantissa": (lambda x: jnp.frexp(x)[0], [-3.0, -0.75, 0.0, 0.5, 1.0, 1.5, 1024.0]),
    "dawsn": (sp.dawsn, [-8.0, -3.5, -1.0, 0.0, 0.25, 2.0, 3.25, 6.25]),
    "sine_integral": (lambda x: sp.sici(x)[0], [-8.0, -1.0, 0.0, 0.25, 2.0, 4.0, 30.0]),
    "cosine_integral": (lambda x: sp.sici(x)[1], [0.25, 2.0, 4.0, 30.0]),
    "owens_t_by_h": (lambda h: sp.owens_t(h, h.dtype.type(0.5)), [-2.0, -0.5, 0.0, 0.25, 1.0]),
    "owens_t_by_a": (lambda a: sp.owens_t(a.dtype.type(0.5), a), [-3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0]),
    "owens_t_of_0": (lambda a: sp.owens_t(a.dtype.type(0), a), [-3.0, -1.0, 0.0, 0.25, 1.0, 2.0]),
    "hyp1f1": (lambda x: sp.hyp1f1(x.dtype.type(1.5), x.dtype.type(2.5), x), [-3.0, 0.0, 0.25, 1.0, 4.0]),
    "hyp1f1_by_a": (lambda a: sp.hyp1f1(a, a.dtype.type(2), a.dtype.type(0.5)), [0.5, 1.0, 2.0, 3.0]),
    "hyp1f1_by_b": (lambda b: sp.hyp1f1(b.dtype.type(2), b, b.dtype.type(0.5)), [0.5, 1.0, 2.0, 3.0]),
    "hyp2f1": (lambda x: sp.hyp2f1(x.dtype.type(1.5), x.dtype.type(0.5), x.dtype.type(2.75), x), [-0.5, 0.0, 0.25, 0.75]),
    "erfcx": (sp.erfcx, [-3.0, -0.5, 0.0, 0.25, 2.0]),
    "erfcx_overflow": (sp.erfcx, [-math.inf, -30.0, -3.0, 2.0, 30.0]),
    "cbrt_at_ends": (jnp.cbrt, [-math.inf, 0.0, math.inf]),
    "log1mexp": (jax.nn.log1mexp, [0.0, 0.125, 0.5, 1.0, 3.0]),
    "exp1": (sp.exp1, [0.125, 0.5, 1.0, 2.0, 10.0]),
}


def normal_ratio(x):
    """The density of the normal distribution over its distribution function."""
    return math.sqrt(2 / math.pi) / scipy.special.erfcx(-np.asarray(x) / math.sqrt(2))


# Derivatives by hand, for functions that JAX has no rule for, or whose derivative at 0 is wrong or missing in JAX, where that of |x|
# is 1, or whose second derivative it takes by parts where there is a tie.
BY_HAND = {
    # The approximations meet at -20 and 8 in f64, at -10 and 5 in f32.
    "log_ndtr": (sp.log_ndtr, [*AROUND, -37.5, -20.0, -10.0, -9.5, 5.0, 7.5], normal_ratio,
                 lambda x: -normal_ratio(x) * (x + normal_ratio(x))),
    "norm_logcdf": (lambda x: stats.norm.logcdf(x, x.dtype.type(1), x.dtype.type(2)), [-39.0, -19.0, 0.0, 1.0, 11.0, 17.0],
                    lambda x: normal_ratio((x - 1) / 2) / 2,
                    lambda x: -normal_ratio((x - 1) / 2) * ((x - 1) / 2 + normal_ratio((x - 1) / 2)) / 4),
    "betainc_at_ends": (lambda x: sp.betainc(x.dtype.type(2), x.dtype.type(3), x), [0.0, 0.125, 0.5, 1.0],
                        lambda x: 12 * x * (1 - x) ** 2, lambda x: 12 * (1 - x) * (1 - 3 * x)),
    "betainc_of_one": (lambda x: sp.betainc(x.dtype.type(1), x.dtype.type(3), x), [0.0, 0.25, 1.0],
                       lambda x: 3 * (1 - x) ** 2, lambda x: -6 * (1 - x)),
    "betainc_large": (lambda x: sp.betainc(x.dtype.type(3000), x.dtype.type(2000), x), [0.0, 0.59375, 0.625, 1.0],
                      lambda x: scipy.stats.beta.pdf(x, 3000, 2000), None),
    "expi": (sp.expi, [-3.0, -0.5, 0.25, 1.0, 10.0], lambda x: jnp.exp(x) / x, lambda x: jnp.exp(x) * (x - 1) / x**2),
    # JAX's second derivative of the cosine's integral is 0 where x^2 is odd.
    "fresnel_sine": (lambda x: sp.fresnel(x)[0], [-3.0, -1.0, 0.0, 0.25, 1.5, 1.75, 5.0],
                     lambda x: jnp.sin(math.pi / 2 * x * x), lambda x: math.pi * x * jnp.cos(math.pi / 2 * x * x)),
    "fresnel_cosine": (lambda x: sp.fresnel(x)[1], [-3.0, -1.0, 0.0, 0.25, 1.5, 1.75, 5.0],
                       lambda x: jnp.cos(math.pi / 2 * x * x), lambda x: -math.pi * x * jnp.sin(math.pi / 2 * x * x)),
    "hypot": (lambda x: jnp.hypot(x, x.dtype.type(1)), [-3.0, -1.0, 0.0, 0.5, 1.0, 2.0],
              lambda x: x / jnp.sqrt(x * x + 1), lambda x: (x * x + 1) ** -1.5),
    "i0": (sp.i0, AROUND, sp.i1, lambda x: sp.i0(x) - jnp.where(x == 0, 0.5, sp.i1(x) / jnp.where(x == 0, 1, x))),
    "i1": (sp.i1, AROUND, lambda x: sp.i0(x) - jnp.where(x == 0, 0.5, sp.i1(x) / jnp.where(x == 0, 1, x)), None),
    "spence": (sp.spence, [0.25, 0.5, 1.25, 2.0, 10.0], lambda x: jnp.log(x) / (1 - x), None),
    "zeta": (lambda q: sp.zeta(q.dtype.type(2.5), q), POSITIVE,
             lambda q: -2.5 * sp.zeta(3.5, q), lambda q: 2.5 * 3.5 * sp.zeta(4.5, q)),
}


def gamma_density(a):
    """The density of the gamma distribution, which has a limit at 0, and its derivative."""
    constant = math.gamma(a)

    def first(x):
        return x ** (a - 1) * jnp.exp(-x) / constant

    def second(x):
        by_power = 0 if a == 1 else (a - 1) * x ** (a - 2)
        return jnp.where(x == 0, by_power - (a == 1), by_power - x ** (a - 1)) * jnp.exp(-x) / constant
    return first, second


# Distribution functions at an end of where these are defined, and at integers.
ENDS = [0.0, 0.125, 0.5, 1.0, 3.0]
for shape in (0.5, 1.0, 1.5, 2.0, 2.5):
    density, slope = gamma_density(shape)
    name = str(shape).replace(".", "_")
    BY_HAND[f"gammainc_from_0_{name}"] = (lambda x, a=shape: sp.gammainc(x.dtype.type(a), x), ENDS, density, slope)
    BY_HAND[f"gammaincc_from_0_{name}"] = (lambda x, a=shape: sp.gammaincc(x.dtype.type(a), x), ENDS, lambda x, f=density: -f(x),
                                           lambda x, f=slope: -f(x))
    BY_HAND[f"gamma_cdf_{name}"] = (lambda x, a=shape: stats.gamma.cdf(x, x.dtype.type(a)), ENDS[1:], density, slope)
BY_HAND["poisson_cdf"] = (lambda mu: stats.poisson.cdf(mu.dtype.type(2), mu), ENDS[1:], lambda mu: -mu**2 * jnp.exp(-mu) / 2,
                          lambda mu: (mu**2 / 2 - mu) * jnp.exp(-mu))


def variates(draw):
    return lambda a: draw(jax.random.key(3), a, a.shape, a.dtype)


# Gamma variates, whose bits depend on the type, and their derivative by the concentration where the distribution function
# has the same value, of the rounded variate in f64.
CONCENTRATIONS = [0.0625, 0.25, 0.5, 0.875, 1.0, 1.25, 2.0, 3.0, 5.5, 10.0, 60.0, 1024.0]
VARIATES = {
    "gamma_variate": (variates(jax.random.gamma), CONCENTRATIONS, lax.random_gamma_grad),
    "log_gamma_variate": (variates(jax.random.loggamma), CONCENTRATIONS,
                          lambda a, y: lax.random_gamma_grad(a, jnp.exp(y)) / jnp.exp(y)),
}
# JAX has no second derivative, or by parts there is none.
ONCE = {"exp1", "logit_at_ends", "hyp1f1_by_a", "hyp1f1_by_b", "gammainc_at_half", "gammaincc_by_a_at_1", "gammaincc_by_a_at_2", "gammainc_by_a"}
# The error, in units in the last place, that the derivative of a long computation may have; 64 for the others.
LOST = {"log_ndtr": 4096, "gammainc": 1e3, "gammaincc": 1e3, "betainc": 1e3, "betainc_at_ends": 1e3,
        "betainc_of_one": 1e3, "betainc_large": 1e5, "poch": 512, "truncated_normal": 512, "gammaincc_by_a_at_1": 1e3,
        "cosine_integral": 512, "fresnel_sine": 512, "fresnel_cosine": 512, "dawsn": 512,
        "gammaincc_by_a_at_2": 1e3, "gammainc_by_a": 1e3, "gamma_variate": 1e3, "log_gamma_variate": 1e3}
LOST |= {name: 1e3 for name in BY_HAND if name.startswith("gamma") or name == "poisson_cdf"} | {"erfcx_overflow": 1e3}
ONLY_F64 = {"erfcx_overflow", "owens_t_by_h", "owens_t_by_a", "owens_t_of_0"}  # JAX's value is of f64.
THIRD = {"hyp1f1": lambda x: 1.5 * 2.5 * 3.5 / (2.5 * 3.5 * 4.5) * sp.hyp1f1(4.5, 5.5, x)}
NARROW = {"erf_inv", "lgamma", "digamma", "erfc", "gelu", "i0e", "i1e"}  # In bf16, too.


def functions(wanted):
    cases = {}

    def add(name, f, points, first, second):
        for kind, dtype in TYPES.items():
            if kind == "bf16" and name not in NARROW or kind != "f64" and name in ONLY_F64 or not wanted(name):
                continue
            x = jnp.array(points, dtype)
            wide = x if f is truncated_normal or name in VARIATES else x.astype(jnp.float64)
            cases[f"{name}_{kind}"] = {
                "program": exported(f, x), "type": kind, "x": numbers(x), "value": numbers(f(wide)),
                "first": numbers(first(wide)), "lost": LOST.get(name, 64)}
            if name not in ONCE and second is not None:
                cases[f"{name}_{kind}"]["second"] = numbers(second(wide))
            if name in THIRD:
                cases[f"{name}_{kind}"]["third"] = numbers(THIRD[name](wide))

    for name, (f, points) in FUNCTIONS.items():
        slope = jax.vmap(jax.grad(lambda x, f=f: f(x[None])[0] if f is truncated_normal else f(x)))
        if f is truncated_normal:  # Each element has random bits of its own.
            slope = jax.grad(lambda x: jnp.sum(truncated_normal(x)))
            curve = jax.grad(lambda x, slope=slope: jnp.sum(slope(x)))
        else:
            curve = jax.vmap(jax.grad(jax.grad(f)))
        add(name, f, points, slope, curve)
    for name, (f, points, first, second) in BY_HAND.items():
        add(name, f, points, first, second)
    for name, (f, points, slope) in VARIATES.items():
        add(name, f, points, lambda x, f=f, slope=slope: slope(x.astype(jnp.float64), f(x).astype(jnp.float64)), None)
    return cases


def ramp(*dims, start=0.3):
    """Numbers in (-0.8, 0.8), all different, the same in every run."""
    n = math.prod(dims)
    return jnp.array([0.8 * math.sin(start + 0.629 * (i + 1) + 0.171 * (i + 1) ** 2) for i in range(n)]).reshape(dims)


def weighted(*results):
    """A number of arrays: each element counts differently."""
    total = 0.0
    for result in results:
        total += jnp.sum(result * jnp.cos(jnp.arange(result.size, dtype=result.dtype)).reshape(result.shape))
    return total


def parts(x):
    """Real and imaginary parts."""
    return x.real, x.imag


def positive(a):
    return a @ a.mT.conj() + jnp.eye(a.shape[-1], dtype=a.dtype)


def symmetric(a):
    return a + a.mT.conj()


def sizes(*vectors):
    """Returns the squares of the sizes, which do not depend on the signs and phases of vectors."""
    return tuple(jnp.abs(x) ** 2 for x in vectors)


def spectrum(a):
    w, v = jnp.linalg.eigh(symmetric(a))
    return weighted(w, *sizes(v))


def singular(a):
    u, s, vt = jnp.linalg.svd(a, full_matrices=False)
    return weighted(s, *sizes(u, vt))


def eigenvalues(a):
    return weighted(*parts(jnp.linalg.eigvals(a)))


def general_vectors(a):
    w, v = lax.linalg.eig(a, compute_left_eigenvectors=False, enable_eigvec_derivs=True)
    return weighted(*parts(w), *parts(v))


def solved(lower, transpose, unit, left):
    return lambda a, b: weighted(lax.linalg.triangular_solve(
        a, b if left else b.mT, left_side=left, lower=lower, transpose_a=transpose, unit_diagonal=unit))


def complex_of(f):
    return lambda re, im: f(lax.complex(re, im))


def on_axes(f):
    """A function of complex numbers, at numbers on both axes, at 0, and beside them."""
    points = jnp.array([0, -0.5j, 0.75j, 0.5, -0.25, 0.5 - 1.5j])
    return (complex_of(lambda z: weighted(*parts(f(z)))), *parts(points))


SQUARE, TALL, WIDE, BATCH, RIGHT = (3, 3), (4, 3), (2, 4), (2, 3, 3), (3, 2)
GAMMA = jnp.array([0.125, 0.75, 1.0, 1.75, 4.0, 30.0])  # Concentrations.
EYE = jnp.eye(3) + 0.25 * jnp.eye(3, k=1)  # Upper triangular: what reflections leave as it is.
# Functions of matrices: f, which gives a number, and its arguments.
MATRICES = {
    "solve": (lambda a, b: weighted(jnp.linalg.solve(a, b)), ramp(*SQUARE), ramp(*RIGHT)),
    "solve_batch": (lambda a, b: weighted(jnp.linalg.solve(a, b)), ramp(*BATCH), ramp(2, 3, 2)),
    "solve_complex": (complex_of(lambda a: weighted(*parts(jnp.linalg.solve(a, a * a)))), ramp(*SQUARE),
                      ramp(*SQUARE, start=1.0)),
    "inv": (lambda a: weighted(jnp.linalg.inv(a)), ramp(*SQUARE)),
    "det": (lambda a: weighted(jnp.linalg.det(a)), ramp(4, 4)),
    "slogdet": (lambda a: jnp.linalg.slogdet(a)[1], ramp(4, 4)),
    **{f"slogdet_{name}": (lambda a: jnp.linalg.slogdet(a)[1], jnp.array(a)) for name, a in {
        "of_one": [[-2.0]], "of_two": [[2.0, 0.5], [1.0, -3.0]], "of_zero": [[0.0]], "of_rank_1": [[1.0, 2.0], [2.0, 4.0]],
        "of_three_of_rank_1": [[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [4.0, 8.0, 16.0]], "without_a_row": [[1.0, 2.0, 0.5], [0.0, 0.0, 0.0], [0.5, 1.0, 3.0]],
        "of_zeros": [[0.0] * 3] * 3}.items()},
    "det_of_zero": (jnp.linalg.det, jnp.array([[0.0]])),
    "det_of_four": (jnp.linalg.det, ramp(4, 4).at[3].set(0.0)),
    "det_of_middle": (jnp.linalg.det, jnp.diag(jnp.array([1.0, 2.0, 0.0, 3.0]))),
    "det_of_corank_2": (jnp.linalg.det, jnp.diag(jnp.array([1.0, 0.0, 0.0, 3.0]))),
    "lu": (lambda a: weighted(*jax.scipy.linalg.lu(a)[1:]), ramp(*SQUARE)),
    "lu_tall": (lambda a: weighted(*jax.scipy.linalg.lu(a)[1:]), ramp(*TALL)),
    "lu_wide": (lambda a: weighted(*jax.scipy.linalg.lu(a)[1:]), ramp(*WIDE)),
    "cholesky": (lambda a: weighted(jnp.linalg.cholesky(positive(a))), ramp(*SQUARE)),
    "cholesky_batch": (lambda a: weighted(jnp.linalg.cholesky(positive(a))), ramp(*BATCH)),
    "cholesky_upper": (lambda a: weighted(jax.scipy.linalg.cholesky(positive(a))), ramp(*SQUARE)),
    "cholesky_complex": (complex_of(lambda a: weighted(*parts(jnp.linalg.cholesky(positive(a))))), ramp(*SQUARE),
                         ramp(*SQUARE, start=1.0)),
    "cho_solve": (lambda a, b: weighted(jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(positive(a)), b)),
                  ramp(*SQUARE), ramp(*RIGHT)),
    **{f"triangular_{lower:d}{transpose:d}{unit:d}{left:d}":
       (solved(lower, transpose, unit, left), ramp(*SQUARE) + 2 * jnp.eye(3), ramp(*RIGHT))
       for lower, transpose, unit, left in
       [(True, False, False, True), (False, True, False, True), (True, False, True, False), (False, True, True, False)]},
    "qr": (lambda a: weighted(*jnp.linalg.qr(a)), ramp(*SQUARE)),
    "qr_tall": (lambda a: weighted(*jnp.linalg.qr(a)), ramp(*TALL)),
    "qr_wide": (lambda a: weighted(*jnp.linalg.qr(a)), ramp(*WIDE)),
    "qr_batch": (lambda a: weighted(*jnp.linalg.qr(a)), ramp(*BATCH)),
    "qr_complete": (lambda a: weighted(*jnp.linalg.qr(a, mode="complete")), ramp(*TALL)),
    "qr_complex": (complex_of(lambda a: weighted(*[y for x in jnp.linalg.qr(a) for y in parts(x)])), ramp(*TALL),
                   ramp(*TALL, start=1.0)),
    "qr_upper": (lambda a: weighted(*jnp.linalg.qr(a)), EYE),
    "qr_pivoting": (lambda a: weighted(*jax.scipy.linalg.qr(a, pivoting=True, mode="economic")[:2]), ramp(*TALL)),
    "lstsq": (lambda a, b: weighted(jnp.linalg.lstsq(a, b)[0]), ramp(*TALL), ramp(4, 2)),
    "eigh": (spectrum, ramp(*SQUARE)),
    "eigh_batch": (spectrum, ramp(*BATCH)),
    "eigh_complex": (complex_of(spectrum), ramp(*SQUARE), ramp(*SQUARE, start=1.0)),
    "eigvalsh": (lambda a: weighted(jnp.linalg.eigvalsh(a)), ramp(*SQUARE)),
    "svd": (singular, ramp(*SQUARE)),
    "svd_tall": (singular, ramp(*TALL)),
    "svd_wide": (singular, ramp(*WIDE)),
    "svd_batch": (singular, ramp(2, 4, 3)),
    "svd_complex": (complex_of(singular), ramp(*TALL), ramp(*TALL, start=1.0)),
    "svdvals": (lambda a: weighted(jnp.linalg.svd(a, compute_uv=False)), ramp(*TALL)),
    "nuclear_norm": (lambda a: jnp.linalg.norm(a, "nuc"), ramp(*TALL)),
    "pinv": (lambda a: weighted(jnp.linalg.pinv(a)), ramp(*TALL)),
    "pinv_singular": (lambda a: weighted(jnp.linalg.pinv(a)), jnp.array([[1.0, 2.0], [2.0, 4.0]])),
    "pinv_of_rank_1": (lambda a: weighted(jnp.linalg.pinv(a)), jnp.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])),
    "pinv_hermitian": (lambda a: weighted(jnp.linalg.pinv(a, hermitian=True)), jnp.array([[1.0, 2.0], [2.0, 4.0]])),
    "cummax_ties": (lambda a: weighted(lax.cummax(a, axis=1)), jnp.array([[1, 2, 2, 0, 2, 3.0], [1, 1, 1, 1, 1, 2]])),
    "cummin_ties": (lambda a: weighted(lax.cummin(a, axis=0, reverse=True)), jnp.array([[1, 2], [0, 2], [0, 3], [4, 2.0]])),
    "eigvals": (eigenvalues, ramp(*SQUARE)),
    "eigvals_complex": (complex_of(eigenvalues), ramp(*SQUARE), ramp(*SQUARE, start=1.0)),
    "eig": (general_vectors, ramp(*SQUARE)),
    "expm": (lambda a: weighted(jax.scipy.linalg.expm(a)), ramp(*SQUARE)),
    "cumlogsumexp": (lambda a: weighted(lax.cumlogsumexp(a, axis=1)), ramp(2, 7)),
    "cumlogsumexp_reverse": (lambda a: weighted(lax.cumlogsumexp(a, axis=0, reverse=True)), ramp(5, 2)),
    "cumprod": (lambda a: weighted(lax.cumprod(a, axis=1)), ramp(2, 6).at[0, 2].set(0.0)),
    "cumsum": (lambda a: weighted(lax.cumsum(a * a, axis=0, reverse=True)), ramp(4, 2)),
    "tridiagonal": (lambda dl, d, du, b: weighted(lax.linalg.tridiagonal_solve(dl, d + 2, du, b)),
                    ramp(4).at[0].set(0.0), ramp(4, start=1.0), ramp(4, start=2.0).at[3].set(0.0), ramp(4, 2)),
    "tridiagonal_batch": (
        lambda dl, d, du, b: weighted(lax.linalg.tridiagonal_solve(dl, d + 2, du, b)),
        ramp(2, 3).at[:, 0].set(0.0), ramp(2, 3, start=1.0), ramp(2, 3, start=2.0).at[:, 2].set(0.0), ramp(2, 3, 2)),
    **{f"complex_{f.__name__}": on_axes(f) for f in (
        jnp.sin, jnp.cos, jnp.sinh, jnp.cosh, jnp.tan, jnp.tanh, jnp.exp, jnp.expm1, jnp.log1p, jnp.arcsin, jnp.arctan,
        jnp.arcsinh, jnp.arctanh, jnp.square)},
    "where_is_finite": (lambda a: weighted(jnp.sqrt(jnp.where(a > 0, a, 1.0))), ramp(*SQUARE)),
    # Made of gamma variates.
    "beta_variate": (lambda a, b: weighted(jax.random.beta(jax.random.key(7), a, b)), GAMMA, GAMMA[::-1] + 0.25),
    "dirichlet_variate": (lambda a: weighted(jax.random.dirichlet(jax.random.key(7), a)), GAMMA),
    "chisquare_variate": (lambda a: weighted(jax.random.chisquare(jax.random.key(7), a)), GAMMA),
    "t_variate": (lambda a: weighted(jax.random.t(jax.random.key(7), a, GAMMA.shape)), GAMMA),
    "f_variate": (lambda a, b: weighted(jax.random.f(jax.random.key(7), a, b)), GAMMA, GAMMA[::-1] + 0.25),
    "generalized_normal_variate": (lambda p: weighted(jax.random.generalized_normal(jax.random.key(7), p, (4,))),
                                   jnp.array(1.5)),
    "gamma_of_keys": (lambda a: weighted(jax.vmap(jax.random.gamma)(jax.random.split(jax.random.key(7), 6), a)), GAMMA),
    "gamma_in_a_scan": (lambda a: weighted(lax.map(lambda x: jax.random.gamma(jax.random.key(7), x), a)), GAMMA),
}


def expanded(a):
    """The determinant, by its first row."""
    if a.shape[0] == 1:
        return a[0, 0]
    return sum((-1) ** j * a[0, j] * expanded(jnp.delete(a[1:], j, axis=1)) for j in range(a.shape[0]))


# The same functions, where JAX's derivatives are 0 or NaN although they exist.
REFERENCES = {"det_of_four": expanded, "det_of_corank_2": expanded, "det_of_middle": expanded}
# Logarithms of -inf, for matrices without an inverse.
FIRST_ONLY = {"slogdet_of_rank_1", "slogdet_of_three_of_rank_1", "slogdet_without_a_row", "slogdet_of_zeros"}


def matrices(wanted):
    cases = {}
    for name, (f, *arguments) in MATRICES.items():
        if not wanted(name):
            continue
        program, f = f, REFERENCES.get(name, f)
        every = tuple(range(len(arguments)))
        gradient = jax.grad(f, every)
        directions = [jnp.cos(jnp.arange(x.size, dtype=x.dtype)).reshape(x.shape) for x in arguments]
        cases[name] = {"program": exported(program, *arguments), "arguments": [array(x) for x in arguments],
                       "value": number(f(*arguments)), "gradients": [array(x) for x in gradient(*arguments)],
                       "directional": number(jax.jvp(f, arguments, directions)[1])}
        if name in FIRST_ONLY:
            continue
        try:
            second = jax.grad(lambda *x, gradient=gradient: weighted(*gradient(*x)), every)(*arguments)
            cases[name]["second"] = [array(x) for x in second]
        except Exception as error:  # pylint: disable=broad-except
            print(f"{name} has no second derivative: {str(error)[:80]}")
    return cases


def main():
    here = pathlib.Path(__file__).parent
    wanted = (lambda name: name in sys.argv) if len(sys.argv) > 1 else lambda name: True
    for name, cases in (("functions", functions), ("matrices", matrices)):
        file = here / f"{name}.json"
        kept = json.loads(file.read_text()) if len(sys.argv) > 1 else {}
        text = json.dumps(kept | cases(wanted), separators=(",", ":")).replace('},"', '},\n"')
        file.write_text(text + "\n")
    (here / "betainc.mlir").write_text(exported(sp.betainc, *[jnp.ones(1)] * 3))


if __name__ == "__main__":
    main()
