"""The functions of jax.scipy.stats, jax.scipy.special, jax.nn and jax.numpy.linalg, each at points inside and at edges.

An entry is a name, a function of (varied, fixed) and these arguments. Where JAX's result is NaN nothing is compared: many
of its derivatives are NaN where they exist. Left out are the kinks of |x|, where the derivative is 0 here and 1 in JAX
(hlod/transform/foreign_kinks.inc), second derivatives that JAX takes by parts at ties (hypot) or with a loss of digits (the
normal distribution's logarithm far out), and factors and inverses of matrices that have none.
"""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as sp
from jax.scipy import stats

import transforms

INF = float("inf")
LINE = [-INF, -30.0, -2.5, -1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 30.0, INF]
SMOOTH = [x for x in LINE if x != 0]
MODERATE = [x for x in LINE if abs(x) != 30]
HALF = [-1.0, -0.0, 0.0, 1e-3, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 30.0, INF]
UNIT = [-0.5, -0.0, 0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5]
RATE = [0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0]
COUNTS = [-1.0, 0.0, 1.0, 2.0, 5.0]
CENTRE = [-1.0, 0.0, 0.5, 1.0]
SCALES = [0.25, 0.5, 1.0, 2.0]

# Per distribution the points of x, then those of each parameter; the middle value goes with the others.
STATS = {
    "bernoulli": ([0.0, 1.0, 2.0], UNIT), "beta": (UNIT, RATE, RATE, CENTRE, SCALES), "betabinom": (COUNTS, [5.0], RATE, RATE),
    "binom": (COUNTS, [5.0], UNIT), "cauchy": (LINE, CENTRE, SCALES), "chi2": (HALF, RATE, CENTRE, SCALES),
    "expon": (HALF, CENTRE, SCALES), "gamma": (HALF, RATE, CENTRE, SCALES), "gennorm": (SMOOTH, SCALES + [3.0]),
    "geom": (COUNTS, UNIT), "gumbel_l": (LINE, CENTRE, SCALES), "gumbel_r": (LINE, CENTRE, SCALES),
    "laplace": ([-INF, -30.0, -2.5, 0.25, 2.0, 30.0, INF], CENTRE, SCALES), "logistic": (LINE, CENTRE, SCALES), "nbinom": (COUNTS, [5.0], UNIT),
    "norm": (MODERATE, CENTRE, SCALES), "pareto": (HALF, RATE, CENTRE, SCALES), "poisson": (COUNTS, RATE),
    "t": (LINE, RATE[1:], CENTRE, SCALES), "truncnorm": (LINE, [-2.0, -1.0], [1.0, 2.0], CENTRE, SCALES), "uniform": (UNIT, CENTRE, SCALES),
    "vonmises": (LINE[1:-1], RATE), "wrapcauchy": ([0.0, 1.0, 3.0, 6.0], [0.25, 0.5, 0.75]),
}
METHODS = ["pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"]

SPECIAL = {
    "beta": (RATE, RATE), "betainc": (RATE[1:6], RATE[1:6], UNIT), "betaln": (RATE, RATE), "boxcox": (HALF, CENTRE), "boxcox1p": (HALF, CENTRE),
    "dawsn": (LINE,), "digamma": (LINE,), "entr": (HALF,), "erf": (LINE,), "erfc": (LINE,), "erfcx": (LINE,),
    "erfinv": ([-1.0, -0.5, 0.0, -0.0, 0.5, 1.0, 2.0],), "exp1": (HALF[3:],), "expi": (LINE,), "expit": (LINE,),
    "factorial": (HALF,), "gamma": (LINE,), "gammainc": (RATE, HALF), "gammaincc": (RATE, HALF),
    "gammaln": (LINE,), "i0": (LINE,), "i0e": (LINE,), "i1": (LINE,), "i1e": (LINE,), "kl_div": (HALF, HALF), "log_ndtr": (LINE,),
    "loggamma": (LINE,), "logit": (UNIT,), "ndtr": (LINE,), "ndtri": (UNIT,), "owens_t": (LINE, CENTRE), "poch": (RATE, CENTRE),
    "rel_entr": (HALF, HALF), "spence": (HALF,), "xlog1py": (HALF, LINE[3:]), "xlogy": (HALF, HALF),
    "hyp1f1": (RATE[1:5], RATE[1:5], LINE[2:-2]), "hyp2f1": (RATE[1:5], RATE[1:5], RATE[1:5], [-0.5, 0.0, 0.25, 0.75]),
}

NN = {
    "celu": (LINE, SCALES), "elu": (LINE, SCALES), "gelu": (LINE,), "hard_sigmoid": (LINE,), "hard_silu": (LINE,), "hard_tanh": (LINE,),
    "identity": (LINE,), "leaky_relu": (LINE, CENTRE), "log1mexp": (HALF,), "log_sigmoid": (LINE,), "mish": (LINE,), "relu": (LINE,),
    "relu6": (LINE + [6.0],), "selu": (LINE,), "sigmoid": (LINE,), "silu": (LINE,), "soft_sign": (SMOOTH,), "softplus": (LINE,),
    "sparse_plus": (LINE,), "sparse_sigmoid": (LINE,), "squareplus": (LINE, SCALES), "tanh": (LINE,),
}


def _middle(points):
    finite = [x for x in points if np.isfinite(x)]
    return finite[len(finite) // 2]


def _by_each(name, f, points, last=None):
    """By each argument, at all of its points; the others are at one or two of theirs."""
    for i, own in enumerate(points[:last]):
        others = [[0.0] if k != i else [None] for k, p in enumerate(points)]
        for k, p in enumerate(points):
            if k != i:
                others[k] = [_middle(p)] if len(points) > 3 or i > 0 and k > 0 else sorted({_middle(p), 1.0, 0.5} & {*p}) or [_middle(p)]
        rows = [row[:i] + (x,) + row[i + 1:] for row in itertools.product(*others) for x in own]
        columns = [np.array(column) for column in zip(*rows)]
        yield f"{name} by {i}", (lambda v, r, f=f, i=i: [f(*r[:i], v[0], *r[i:])]), [columns[i]], columns[:i] + columns[i + 1:]


def numbers():
    for name, points in STATS.items():
        module = getattr(stats, name)
        for method in METHODS:
            if hasattr(module, method):
                own = (UNIT, *points[1:]) if method in ("ppf", "isf") else points
                # Location and scale come last, and mean the same to all methods.
                placed = points[-2:] == (CENTRE, SCALES) and method not in ("logpdf", "cdf")
                yield from _by_each(f"stats.{name}.{method}", getattr(module, method), own, -2 if placed else None)
    for name, points in SPECIAL.items():
        yield from _by_each(f"special.{name}", getattr(sp, name), points)
    for n in (1, 2):
        yield from _by_each(f"special.polygamma{n}", lambda x, n=n: sp.polygamma(n, x), (LINE,))
        yield from _by_each(f"special.expn{n}", lambda x, n=n: sp.expn(n, x), (HALF,))
    yield from _by_each("special.zeta", lambda q: sp.zeta(2.5, q), (HALF[3:-1],))
    yield from _by_each("special.multigammaln", lambda x: sp.multigammaln(x, 2), (RATE[2:],))
    yield from _by_each("special.bessel_jn", lambda x: sp.bessel_jn(x, v=2)[2], ([0.25, 0.5, 1.0, 2.0, 3.0],))
    yield from _by_each("special.gammasgn", sp.gammasgn, (LINE,))
    yield from _by_each("special.comb", sp.comb, ([5.0, 7.5], RATE))
    for i in (0, 1):
        yield from _by_each(f"special.fresnel{i}", lambda x, i=i: sp.fresnel(x)[i], (LINE,))
        yield from _by_each(f"special.sici{i}", lambda x, i=i: sp.sici(x)[i], (LINE,))
    for name, points in NN.items():
        f = getattr(jax.nn, name)
        yield from _by_each(f"nn.{name}", f, points)
    yield from _by_each("numpy.copysign", jnp.copysign, (SMOOTH, SMOOTH))
    yield from _by_each("nn.gelu_exact", functools.partial(jax.nn.gelu, approximate=False), (LINE,))
    for name in ("sqrt", "cbrt", "sign", "log", "log1p", "expm1", "sinc", "arccos", "arcsin", "arctanh", "arccosh", "tan", "exp2", "square",
                 "rint", "log2", "log10", "reciprocal", "nan_to_num", "i0", "arcsinh", "deg2rad"):
        yield from _by_each(f"numpy.{name}", getattr(jnp, name), (LINE,))
    for name in ("power", "float_power", "logaddexp", "logaddexp2", "maximum", "minimum", "arctan2", "heaviside", "fmax", "fmin",
                 "remainder", "fmod", "divide"):
        yield from _by_each(f"numpy.{name}", getattr(jnp, name), ([-1.0, -0.0, 0.0, 0.5, 1.0, 2.0], [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0]))


class Ones:
    """A source of cotangents and tangents: ones for functions of numbers, different numbers for others."""

    def __init__(self, elementwise):
        self.elementwise = elementwise

    def numbers(self, shape, dtype, ties=False):
        del ties
        if self.elementwise:
            return np.ones(shape, dtype)
        return (0.5 + np.cos(np.arange(int(np.prod(shape))))).reshape(shape).astype(dtype)


def chains(name):
    """The chains of transforms of an entry, each from the inmost outwards: reverse, forward, and over a batch."""
    if " by " not in name:
        return ["r", "rr", "f"]
    return ["r", "rr", "f", "rv"] if name.endswith(" by 0") else ["r", "rr"]


def chain_of(name, f, varied, fixed, letters):
    chain = transforms.Chain(f, varied, fixed)
    source = Ones(" by " in name)
    for letter in letters:
        if letter == "v":
            chain.varied, chain.fixed = ([np.stack([x, x[::-1]]) for x in xs] for xs in (chain.varied, chain.fixed))
            mapped = (True, bool(chain.fixed))
            chain.f = transforms.Vmap.of(chain.f, mapped)
            chain.steps.append({"name": "vmap", "mapped": [int(m) for m in mapped]})
        else:
            chain.add(transforms.Vjp if letter == "r" else transforms.Jvp, source)
    return chain


_VECTORS = {"ramp": [0.5, -1.0, 2.0], "zero": [0.0, 0.0, 0.0], "ties": [1.0, 1.0, 0.5], "mixed": [0.0, -0.0, 3.0], "same": [1.0, 1.0, 1.0],
            "masked": [-INF, 0.5, 1.0], "one": [2.0]}
_OF_VECTORS = {
    "nn.softmax": jax.nn.softmax, "nn.log_softmax": jax.nn.log_softmax, "nn.logsumexp": jax.nn.logsumexp, "nn.logmeanexp": getattr(jax.nn, "logmeanexp", jax.nn.logsumexp),
    "nn.standardize": jax.nn.standardize, "nn.softmax_where": lambda x: jax.nn.softmax(x, where=x > 0.6),
    "nn.logsumexp_b": lambda x: sp.logsumexp(x, b=jnp.arange(1.0, 1.0 + x.size)),
    "linalg.norm": jnp.linalg.norm, "linalg.norm1": lambda x: jnp.linalg.norm(x, 1), "linalg.norm3": lambda x: jnp.linalg.norm(x, 3),
    "linalg.norm_inf": lambda x: jnp.linalg.norm(x, jnp.inf), "linalg.norm_low": lambda x: jnp.linalg.norm(x, -jnp.inf),
    "linalg.norm0": lambda x: jnp.linalg.norm(x, 0), "linalg.norm_half": lambda x: jnp.linalg.norm(x, 0.5),
    "linalg.vector_norm": jnp.linalg.vector_norm, "numpy.std": jnp.std, "numpy.var": jnp.var, "numpy.max": jnp.max, "numpy.median": jnp.median,
    "numpy.ptp": jnp.ptp, "numpy.prod": jnp.prod, "numpy.cumprod": jnp.cumprod, "numpy.sort": jnp.sort, "numpy.quantile": lambda x: jnp.quantile(x, 0.3),
    "numpy.nanmax": jnp.nanmax, "numpy.cummax": lambda x: jax.lax.cummax(x), "stats.sem": stats.sem,
    "stats.dirichlet": lambda x: stats.dirichlet.logpdf(jnp.array([0.2, 0.3, 0.5])[:x.size] / jnp.sum(jnp.array([0.2, 0.3, 0.5])[:x.size]), x * x + 0.5),
    "stats.multivariate_normal": lambda x: stats.multivariate_normal.logpdf(x, jnp.zeros(x.size), jnp.eye(x.size) + 0.25),
    "stats.multinomial": lambda x: stats.multinomial.logpmf(jnp.arange(x.size), x.size * (x.size - 1) // 2, jax.nn.softmax(x)),
    "nn.glu": lambda x: jax.nn.glu(jnp.concatenate([x, x[::-1]])),
    "lax.convolution_of_none": lambda x: x[0] + jnp.sum(jax.lax.conv_general_dilated(x[None, None], jnp.tile(x, 4)[None, None], (1,), "VALID")),
}
_MATRICES = {
    "full": [[2.0, 0.5, -1.0], [0.25, 1.5, 0.75], [-0.5, 1.0, 3.0]], "eye": np.eye(3), "zero": np.zeros((3, 3)), "one": [[2.0]], "none": [[0.0]],
    "rank1": [[1.0, 2.0], [2.0, 4.0]], "rank2": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], "row": [[1.0, 2.0, 0.5], [0.0, 0.0, 0.0], [0.5, 1.0, 3.0]],
    "diagonal": np.diag([3.0, 0.0, 1.0]), "four": np.arange(16.0).reshape(4, 4) + 4 * np.eye(4), "swap": [[0.0, 1.0], [1.0, 0.0]], "negative": [[-1.0, 0.5], [0.25, -2.0]],
}
_OF_MATRICES = {
    "slogdet": lambda a: list(jnp.linalg.slogdet(a)), "log_abs_det": lambda a: jnp.linalg.slogdet(a)[1], "det": jnp.linalg.det, "inv": jnp.linalg.inv,
    "cholesky": lambda a: jnp.linalg.cholesky(a @ a.T), "eigvalsh": jnp.linalg.eigvalsh, "svdvals": jnp.linalg.svdvals,
    "norm_fro": jnp.linalg.norm, "norm_nuc": lambda a: jnp.linalg.norm(a, "nuc"), "norm_2": lambda a: jnp.linalg.norm(a, 2), "norm_1": lambda a: jnp.linalg.norm(a, 1),
    "norm_inf": lambda a: jnp.linalg.norm(a, jnp.inf), "norm_low2": lambda a: jnp.linalg.norm(a, -2), "cond": jnp.linalg.cond,
    "pinv": jnp.linalg.pinv, "qr": lambda a: jnp.linalg.qr(a)[1], "solve": lambda a: jnp.linalg.solve(a, jnp.arange(1.0, 1.0 + a.shape[0])),
    "lstsq": lambda a: jnp.linalg.lstsq(a, jnp.arange(1.0, 1.0 + a.shape[0]))[0], "power": lambda a: jnp.linalg.matrix_power(a, 3),
    "power0": lambda a: jnp.linalg.matrix_power(a, 0), "power_below": lambda a: jnp.linalg.matrix_power(a, -2), "trace": jnp.linalg.trace,
    "multi_dot": lambda a: jnp.linalg.multi_dot([a, a.T, a]), "tensorinv": lambda a: jnp.linalg.tensorinv(a, 1), "outer": lambda a: jnp.linalg.outer(a[0], a[-1]),
    "expm": jax.scipy.linalg.expm, "lu": lambda a: list(jax.scipy.linalg.lu(a)[1:]), "eigvals": lambda a: jnp.real(jnp.linalg.eigvals(a)),
    "attention": lambda a: jax.nn.dot_product_attention(a[:, None], a[::-1, None] * 0.5, a[:, None] ** 2, is_causal=True),
    "tensorsolve": lambda a: jnp.linalg.tensorsolve(a, jnp.cos(jnp.arange(a.shape[0]))), "norm_low1": lambda a: jnp.linalg.norm(a, -1),
    "cross": lambda a: jnp.linalg.cross(jnp.tile(a[0], 3)[:3], jnp.tile(a[-1], 3)[1:4] if a.shape[0] > 1 else jnp.tile(a[0], 4)[1:4]),
    "vecdot": lambda a: jnp.linalg.vecdot(a, a.T), "eigh": lambda a: jnp.linalg.eigh(a)[1] ** 2,
}


def _of_each(name, f, inputs):
    """The same function of several arrays, as one program; its results are added up in a list."""
    def listed(v, r, f=f):
        results = []
        for x in v:
            y = f(x)
            results += y if isinstance(y, list) else [y]
        return results
    return name, listed, [np.array(x) for x in inputs], []


# The vectors and matrices that a function is called with, where it is not all of them.
_ONLY = {
    **{f"linalg.norm{order}": ("ramp", "ties", "same", "one") for order in ("1", "_inf", "_low", "_half")},
    **{f"linalg.{name}": ("full", "eye", "one", "rank1", "rank2", "row", "swap", "negative") for name in ("inv", "solve", "power_below", "tensorinv")},
    **{f"linalg.{name}": ("full", "one", "rank1", "rank2", "negative") for name in ("norm_1", "norm_low1")},
    **{f"linalg.{name}": ("full", "eye", "one", "swap", "negative") for name in ("qr", "tensorsolve")},
}


def arrays():
    for name, f in _OF_VECTORS.items():
        yield _of_each(name, f, [x for of, x in _VECTORS.items() if of in _ONLY.get(name, _VECTORS)])
    for name, f in _OF_MATRICES.items():
        wanted = _ONLY.get(f"linalg.{name}", _MATRICES) if name != "norm_inf" else _ONLY["linalg.norm_1"]
        yield _of_each(f"linalg.{name}", f, [a for of, a in _MATRICES.items() if of in wanted])


def entries():
    """All entries, as (name, function, varied, fixed)."""
    yield from numbers()
    yield from arrays()
