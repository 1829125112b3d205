"""Parts of numerical programs: factorisations, transforms, running and ordered values, special functions.

Inputs keep away from where a derivative does not exist (equal eigenvalues, ties of an order), and include what is
masked: infinities, zeros and NaN behind a `where`.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy import linalg, special

from program import Program


def _matrix(s, n, dtype):
    """Well conditioned, its eigenvalues apart."""
    return (s.numbers((n, n), dtype, ties=False) * 0.3 + np.diag(np.arange(1, n + 1) * 1.5)).astype(dtype)


def _spd(a):
    return a @ jnp.conj(jnp.swapaxes(a, -1, -2)) + jnp.eye(a.shape[-1], dtype=a.dtype)


_FACTORS = {
    "cholesky": lambda a, b: jnp.linalg.cholesky(_spd(a)),
    "cholesky_solve": lambda a, b: linalg.cho_solve(linalg.cho_factor(_spd(a)), b),
    "lower_solve": lambda a, b: linalg.solve_triangular(a, b, lower=True),
    "upper_solve": lambda a, b: linalg.solve_triangular(a, b, trans=1),
    "unit_solve": lambda a, b: linalg.solve_triangular(a * 0.3, b, unit_diagonal=True),
    "solve": lambda a, b: jnp.linalg.solve(a, b),
    "inverse": lambda a, b: jnp.linalg.inv(a),
    "determinant": lambda a, b: jnp.linalg.det(a),
    "log_determinant": lambda a, b: jnp.linalg.slogdet(a)[1],
    "qr": lambda a, b: jnp.linalg.qr(a)[1] ** 2,
    "singular_values": lambda a, b: jnp.linalg.svd(a, compute_uv=False),
    "projector": lambda a, b: (lambda q: q[:, :1] @ q[:, :1].T)(jnp.linalg.eigh(a + a.T)[1]),
    "eigenvalues": lambda a, b: jnp.linalg.eigvalsh(a + a.T),
    "exponential": lambda a, b: linalg.expm(a * 0.2),
    "power": lambda a, b: jnp.linalg.matrix_power(a * 0.5, 3),
    "pseudo_inverse": lambda a, b: jnp.linalg.pinv(a),
    "least_squares": lambda a, b: jnp.linalg.lstsq(a, b)[0],
}


def factors(s):
    f = _FACTORS[s.one_of(sorted(_FACTORS))]
    n, dtype = s.between(1, 4), s.one_of(["float32", "float64", "float64"])
    a, b = _matrix(s, n, dtype), s.numbers((n, s.between(1, 3)), dtype, ties=False)
    if s.chance(0.3):
        return Program(lambda v, r: [f(v[0], r[0])], [a], [b])
    return Program(lambda v, r: [f(v[0], v[1]) + 0 * jnp.sum(v[1])], [a, b])


_SPECTRA = {
    "fft": lambda x: jnp.fft.fft(x), "ifft": lambda x: jnp.fft.ifft(x * (1 + 0.5j)),
    "rfft": lambda x: jnp.fft.rfft(x), "irfft": lambda x: jnp.fft.irfft(x + 0.25j * x * x),
    "even": lambda x: jnp.fft.irfft(x + 0.25j * x, n=2 * x.shape[-1]),
    "fft2": lambda x: jnp.fft.fft2(x), "power": lambda x: jnp.abs(jnp.fft.rfft(x) + 3) ** 2,
    "shifted": lambda x: jnp.fft.fftshift(jnp.fft.fft(x)), "convolved": lambda x: jnp.convolve(x[0], x[-1], "same"),
    "correlated": lambda x: jnp.correlate(x[0], x[-1], "full"),
}


def spectra(s):
    f = _SPECTRA[s.one_of(sorted(_SPECTRA))]
    x = s.numbers((s.between(2, 3), s.between(2, 6)), s.one_of(["float32", "float64"]), ties=False)

    def real(v, r):
        y = f(v[0])
        return [jnp.real(y) * 0.7 + jnp.imag(y) ** 2 if jnp.iscomplexobj(y) else y]
    return Program(real, [x])


_RUNNING = {
    "cumprod": lambda x: jnp.cumprod(x, 0), "cumsum": lambda x: lax.cumsum(x * x, 0, reverse=True),
    "cummax": lambda x: lax.cummax(x, 0), "cummin": lambda x: lax.cummin(x, 0, reverse=True),
    "cumlogsumexp": lambda x: lax.cumlogsumexp(x, 0),
    "products": lambda x: lax.associative_scan(jnp.multiply, x + 2),
    "affine": lambda x: lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (jnp.cos(x), x))[1],
    "matrices": lambda x: lax.associative_scan(jnp.matmul, x[:, None, :1] * jnp.eye(2, dtype=x.dtype) + 0.2),
    "backwards": lambda x: lax.associative_scan(jnp.add, jnp.sin(x), reverse=True),
    "differences": lambda x: jnp.diff(x, axis=0) ** 2, "trapezoid": lambda x: jnp.trapezoid(x * x, axis=0),
    "slopes": lambda x: jnp.gradient(x, axis=0),
}


def running(s):
    name = s.one_of(sorted(_RUNNING))
    x = s.numbers((s.between(3, 6), s.between(1, 3)), s.one_of(["float32", "float64"]),
                  ties=name in ("cumprod", "cummax", "cummin") and s.chance(0.7))  # A product with zeros has derivatives that are not.
    return Program(lambda v, r: [_RUNNING[name](v[0])], [x])


_ORDERED = {
    "top": lambda x, n: lax.top_k(x, 2)[0], "quantile": lambda x, n: jnp.quantile(x, 0.3, axis=-1),
    "median": lambda x, n: jnp.median(x, axis=-1), "sorted": lambda x, n: jnp.sort(x, axis=-1, descending=True) ** 2,
    "along": lambda x, n: jnp.take_along_axis(x * x, jnp.argsort(x, axis=-1), -1),
    "together": lambda x, n: lax.sort((x, jnp.sin(x) * 2), num_keys=1)[1],
    "interpolated": lambda x, n: jnp.interp(x, jnp.linspace(-2.0, 2.0, 5, dtype=x.dtype),
                                            jnp.array([0, 1, 0.5, 2, -1], x.dtype)),
    "of_places": lambda x, n: jnp.interp(jnp.array([-0.3, 0.4, 9], x.dtype), jnp.cumsum(jnp.abs(x[0]) + 0.5),
                                         jnp.sin(x[0])),
    "found": lambda x, n: x * jnp.searchsorted(jnp.linspace(-1.0, 1.0, 4, dtype=x.dtype), x),
    "spread": lambda x, n: jnp.max(x, -1) - jnp.min(x, -1), "largest": lambda x, n: x[0, jnp.argmax(x[0])],
    "unmasked": lambda x, n: jnp.sum(x * x, where=n > 0, axis=-1),
    "peak": lambda x, n: jnp.max(x, axis=-1, where=n > 0, initial=-9),
    "rolled": lambda x, n: jnp.roll(x, 1, -1) * x, "repeated": lambda x, n: jnp.repeat(x, 2, -1) ** 2,
    "tiled": lambda x, n: jnp.tile(x, (2, 1)) * 0.5, "flipped": lambda x, n: jnp.flip(x, -1) * x,
    "outer": lambda x, n: jnp.kron(x[:1], x[-1:]), "crossed": lambda x, n: jnp.cross(x[0, :3], x[-1, :3]),
}


def ordered(s):
    f = _ORDERED[s.one_of(sorted(_ORDERED))]
    x = s.numbers((s.between(2, 3), s.between(3, 5)), s.one_of(["float32", "float64"]), ties=False)
    return Program(lambda v, r: [f(v[0], r[0])], [x], [s.numbers(x.shape, "int32")])


_SPECIAL = {
    "erfinv": lambda x: special.erfinv(x * 0.9), "ndtri": lambda x: special.ndtri((x + 1.5) * 0.3),
    "lgamma": lambda x: special.gammaln(x + 1.6), "digamma": lambda x: special.digamma(x + 1.6),
    "trigamma": lambda x: special.polygamma(1, x + 1.6), "gammainc": lambda x: special.gammainc(2.5, x + 1.6),
    "gammaincc": lambda x: special.gammaincc(1.5, x + 1.6), "betaln": lambda x: special.betaln(x + 1.6, 2.3),
    "betainc": lambda x: special.betainc(2.0, 3.0, (x + 1.2) * 0.4), "zeta": lambda x: special.zeta(3.0, x + 1.6),
    "i0e": lambda x: special.i0e(x), "i1": lambda x: special.i1(x), "log_ndtr": lambda x: special.log_ndtr(x * 8),
    "entr": lambda x: special.entr(x + 1), "xlogy": lambda x: special.xlogy(x + 1, x + 1.1),
    "xlog1py": lambda x: special.xlog1py(x, x), "logit": lambda x: special.logit((x + 1.5) * 0.3),
    "kl_div": lambda x: special.kl_div(x + 1.2, 0.7), "multigammaln": lambda x: special.multigammaln(x + 3.0, 2),
    "log_softmax": lambda x: jax.nn.log_softmax(jnp.where(x > 0.6, -jnp.inf, x * 3)),
    "logsumexp": lambda x: special.logsumexp(jnp.where(x > 0, -jnp.inf, x), axis=-1, b=2.0),
    "guarded_sqrt": lambda x: jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1)), 0),
    "guarded_log": lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1)), -1),
    "nan_to_num": lambda x: jnp.nan_to_num(jnp.where(x > 0, jnp.inf, x) * 2, posinf=3) * x,
    "nansum": lambda x: jnp.nansum(jnp.where(x > 0, jnp.nan, x) ** 2, axis=-1),
    "nanmean": lambda x: jnp.nanmean(jnp.where(x > 0.7, jnp.nan, x) ** 2),
    "norm": lambda x: jnp.linalg.norm(x, axis=-1), "norm_1": lambda x: jnp.linalg.norm(x + 2, 1, axis=-1),
    "norm_inf": lambda x: jnp.linalg.norm(x, jnp.inf, axis=-1), "norm_3": lambda x: jnp.linalg.norm(x + 2, 3, axis=-1),
    "polynomial": lambda x: jnp.polyval(jnp.array([1, -2, 0.5, 3], x.dtype), x), "sinc": lambda x: jnp.sinc(x),
    "huber": lambda x: jnp.where(jnp.abs(x) < 0.5, 0.5 * x * x, 0.5 * (jnp.abs(x) - 0.25)),
    "remainder": lambda x: jnp.remainder(x * 3, 0.7), "fmod": lambda x: jnp.fmod(x * 3, x + 4),
    "arctan2": lambda x: jnp.arctan2(x, 1 - x), "logaddexp2": lambda x: jnp.logaddexp2(x, 1 - x),
    "float_power": lambda x: jnp.power(x + 2, x), "ldexp": lambda x: jnp.ldexp(x, 3),
    "std": lambda x: jnp.std(x, -1), "cov": lambda x: jnp.cov(x),
    "corrcoef": lambda x: jnp.corrcoef(jnp.concatenate([x, x[:1] ** 2])),
    "stopped": lambda x: lax.stop_gradient(jnp.round(x)) - x * lax.stop_gradient(x),
}


def specials(s):
    name = s.one_of(sorted(_SPECIAL))
    x = s.rng.uniform(-1, 1, (s.between(2, 3), s.between(2, 4))).astype(s.one_of(["float32", "float64", "float64"]))
    return Program(lambda v, r: [_SPECIAL[name](v[0])], [x])


def layers(s):
    """Steps of training: recurrent cells, rematerialised layers, losses, an inner gradient."""
    x, w = s.numbers((s.between(2, 4), 3), "float64", ties=False), s.numbers((3, 3), "float64", ties=False) * 0.5
    labels, kind = s.indices((x.shape[0],), 3, outside=0), s.below(8)

    def cell(h, y, w):
        z = jax.nn.sigmoid(y @ w + h)
        return (1 - z) * h + z * jnp.tanh(y @ w.T)

    def f(v, r):
        x, w = v
        if kind == 0:
            return [lax.scan(lambda h, y: (cell(h, y, w), h.sum()), jnp.zeros(3), x)[1]]
        if kind == 1:
            return [jax.checkpoint(lambda a: jnp.sin(a @ w) @ w)(x)]
        if kind == 2:
            energy = lambda a: jnp.sum(jnp.tanh(a @ w) ** 2)
            return [x - 0.3 * jax.grad(energy)(x)]
        if kind == 3:
            logits = x @ w
            return [-jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), r[0][:, None], 1)), logits]
        if kind == 4:
            h = x
            for _ in range(3):
                h = jax.nn.gelu(h @ w) + h
            return [h / jnp.sqrt(jnp.mean(h * h, -1, keepdims=True) + 1e-6)]
        if kind == 5:
            return [lax.fori_loop(0, 4, lambda i, a: jnp.cos(a @ w) * 0.5 + x[i % x.shape[0]], x[0])]
        if kind == 6:
            return [jax.vmap(lambda a, i: lax.switch(i, [jnp.sin, jnp.cos, lambda b: b * b], a @ w))(x, r[0])]
        return [jnp.einsum("ij,jk,ik->i", x, w, x), jnp.einsum("ij,kj->ik", x * x, x)]
    return Program(f, [x, w], [labels])


FAMILIES = [(factors, 5), (spectra, 3), (running, 4), (ordered, 5), (specials, 8), (layers, 4)]
