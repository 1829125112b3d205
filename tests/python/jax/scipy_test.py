"""Functions of jax.scipy and jax.nn on both devices."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import jax.scipy.optimize
import numpy as np
from jax.experimental import sparse

from support import PluginTest, array, integers, main

F, G = array(3, 4), array(3, 4, seed=1)
POSITIVE, OTHER, UNIT = array(3, 4, low=0.2, high=3.0), array(3, 4, low=0.2, high=3.0, seed=2), array(3, 4, low=0.05, high=0.95)
COUNTS = integers(3, 4, low=0, high=6)

SPECIAL_OF_ONE = {
    "digamma": POSITIVE,
    "entr": POSITIVE,
    "erf": F,
    "erfc": F,
    "erfinv": UNIT,
    "exp1": POSITIVE,
    "expi": POSITIVE,
    "expit": F,
    "factorial": POSITIVE,
    "gamma": POSITIVE,
    "gammaln": POSITIVE,
    "gammasgn": F,
    "i0": F,
    "i0e": F,
    "i1": F,
    "i1e": F,
    "log1p": POSITIVE,
    "log_ndtr": F,
    "log_softmax": F,
    "logit": UNIT,
    "ndtr": F,
    "ndtri": UNIT,
    "softmax": F,
    "spence": POSITIVE,
    "bernoulli": None,
    "fresnel": POSITIVE,
    "sici": POSITIVE,
    "zeta": None,
}
SPECIAL_OF_TWO = ["beta", "betaln", "gammainc", "gammaincc", "kl_div", "rel_entr", "xlog1py", "xlogy", "poch", "logsumexp"]

ACTIVATIONS = (
    """celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid log_softmax mish relu relu6 selu sigmoid
silu soft_sign softmax softplus sparse_plus sparse_sigmoid squareplus standardize swish tanh""".split()
)
INITIALIZERS = (
    """glorot_normal glorot_uniform he_normal he_uniform lecun_normal lecun_uniform normal orthogonal truncated_normal uniform
variance_scaling""".split()
)


class Special(PluginTest):

    def test_functions_of_one_argument(self):
        for name, argument in SPECIAL_OF_ONE.items():
            if argument is not None and hasattr(jsp.special, name):
                with self.subTest(name):
                    self.same(getattr(jsp.special, name), argument, rtol=2e-4, atol=2e-4)

    def test_functions_of_several_arguments(self):
        for name in SPECIAL_OF_TWO:
            with self.subTest(name):
                self.same(
                    getattr(jsp.special, name) if name != "logsumexp" else lambda x, y: jsp.special.logsumexp(x, axis=1, b=y),
                    POSITIVE,
                    OTHER,
                    rtol=2e-4,
                )
        self.each(
            [
                ("betainc", jsp.special.betainc, POSITIVE, OTHER, UNIT),
                ("polygamma", lambda x: jsp.special.polygamma(2, x), POSITIVE),
                ("zeta", jsp.special.zeta, POSITIVE + 1.2, OTHER),
                ("multigammaln", lambda x: jsp.special.multigammaln(x + 3, 3), POSITIVE),
                ("bernoulli", lambda: jsp.special.bernoulli(8)),
                ("expn", lambda x: jsp.special.expn(3, x), POSITIVE),
                ("hyp1f1", jsp.special.hyp1f1, POSITIVE, OTHER, F),
                (
                    "sph_harm_y",
                    lambda: jsp.special.sph_harm_y(np.array([2]), np.array([1]), np.array([0.7]), np.array([0.3]), n_max=3),
                ),
            ],
            rtol=3e-4,
            atol=1e-5,
        )


class Statistics(PluginTest):

    def test_densities(self):
        s = jsp.stats
        self.each(
            [
                ("bernoulli", s.bernoulli.logpmf, COUNTS % 2, UNIT),
                ("beta", s.beta.logpdf, UNIT, POSITIVE, OTHER),
                ("betabinom", s.betabinom.logpmf, COUNTS, 9.0, POSITIVE, OTHER),
                ("binom", s.binom.logpmf, COUNTS, 9.0, UNIT),
                ("cauchy", s.cauchy.logpdf, F),
                ("cauchy cdf", s.cauchy.cdf, F),
                ("chi2", s.chi2.logpdf, POSITIVE, OTHER),
                ("dirichlet", lambda a: s.dirichlet.logpdf(jnp.array([0.2, 0.3, 0.5]), a), np.array([1.0, 2.0, 3.0], np.float32)),
                ("expon", s.expon.logpdf, POSITIVE),
                ("gamma", s.gamma.logpdf, POSITIVE, OTHER),
                ("gamma cdf", s.gamma.cdf, POSITIVE, OTHER),
                ("gennorm", s.gennorm.logpdf, F, POSITIVE),
                ("geom", s.geom.logpmf, COUNTS + 1, UNIT),
                ("gumbel_r", s.gumbel_r.logpdf, F),
                ("gumbel_l", s.gumbel_l.cdf, F),
                ("laplace", s.laplace.logpdf, F),
                ("laplace cdf", s.laplace.cdf, F),
                ("logistic", s.logistic.logpdf, F),
                ("logistic ppf", s.logistic.ppf, UNIT),
                ("multinomial", lambda p: s.multinomial.logpmf(jnp.array([1, 2, 3]), 6, p), np.array([0.2, 0.3, 0.5], np.float32)),
                ("multivariate_normal", lambda x: s.multivariate_normal.logpdf(x, jnp.zeros(4), jnp.eye(4) * 2 + 0.5), F),
                ("nbinom", s.nbinom.logpmf, COUNTS, POSITIVE, UNIT),
                ("norm", s.norm.logpdf, F),
                ("norm cdf", s.norm.cdf, F),
                ("norm ppf", s.norm.ppf, UNIT),
                ("norm sf", s.norm.logsf, F),
                ("pareto", s.pareto.logpdf, POSITIVE + 1, OTHER),
                ("poisson", s.poisson.logpmf, COUNTS, POSITIVE),
                ("poisson cdf", s.poisson.cdf, COUNTS, POSITIVE),
                ("t", s.t.logpdf, F, POSITIVE),
                ("truncnorm", s.truncnorm.logpdf, F, -3.0, 3.0),
                ("uniform", s.uniform.logpdf, UNIT),
                ("vonmises", s.vonmises.logpdf, F, POSITIVE),
                ("wrapcauchy", s.wrapcauchy.logpdf, POSITIVE, UNIT),
                ("mode", lambda i: s.mode(i, axis=None), COUNTS),
                ("rankdata", s.rankdata, F),
                ("sem", s.sem, F),
                ("gaussian_kde", lambda x, p: s.gaussian_kde(x[0])(p[0]), array(1, 20), F),
            ],
            rtol=3e-4,
            atol=1e-5,
        )


class Networks(PluginTest):

    def test_activations(self):
        for name in ACTIVATIONS:
            with self.subTest(name):
                self.same(getattr(jax.nn, name), F)
        self.each(
            [
                ("gelu exact", lambda x: jax.nn.gelu(x, approximate=False), F),
                ("one_hot", lambda i: jax.nn.one_hot(i, 6), COUNTS),
                ("logsumexp", lambda x: jax.nn.logsumexp(x, axis=0), F),
                ("relu grad", jax.grad(lambda x: jax.nn.relu(x).sum()), F),
                ("logmeanexp", lambda x: jax.nn.logmeanexp(x, axis=1), F),
            ]
        )

    def test_attention(self):
        q, k, v = array(2, 5, 4, 8), array(2, 7, 2, 8, seed=1), array(2, 7, 2, 8, seed=2)
        self.each(
            [
                ("plain", lambda q: jax.nn.dot_product_attention(q, q, q), q),
                ("causal", lambda q: jax.nn.dot_product_attention(q, q, q, is_causal=True), q),
                ("grouped heads", jax.nn.dot_product_attention, q, k, v),
                ("bias", lambda q, k, v, b: jax.nn.dot_product_attention(q, k, v, bias=b), q, k, v, array(1, 4, 5, 7)),
                ("window", lambda q: jax.nn.dot_product_attention(q, q, q, local_window_size=2), q),
            ],
            rtol=1e-4,
        )

    def test_initializers(self):
        for name in INITIALIZERS:
            make = getattr(jax.nn.initializers, name)
            initializer = make(1.0, "fan_in", "normal") if name == "variance_scaling" else make()
            with self.subTest(name):
                self.same(
                    lambda k: initializer(jax.random.wrap_key_data(k), (8, 6)), np.array([1, 2], np.uint32), rtol=1e-4, atol=1e-4
                )


class Others(PluginTest):

    def test_signals(self):
        x, y, image = array(40), array(7, seed=1), array(9, 8)
        s = jsp.signal
        self.each(
            [
                ("convolve", lambda x, y: s.convolve(x, y, mode="same"), x, y),
                ("convolve2d", lambda a, b: s.convolve2d(a, b), image, image[:3, :3]),
                ("correlate", s.correlate, x, y),
                ("correlate2d", lambda a, b: s.correlate2d(a, b, mode="valid"), image, image[:3, :3]),
                ("fftconvolve", s.fftconvolve, x, y),
                ("detrend", s.detrend, x),
                ("stft", lambda x: s.stft(x, nperseg=16), x),
                ("istft", lambda x: s.istft(s.stft(x, nperseg=16)[2], nperseg=16), x),
                ("welch", lambda x: s.welch(x, nperseg=16), x),
                ("csd", lambda x: s.csd(x, x * 2, nperseg=16), x),
            ],
            rtol=3e-4,
            atol=3e-4,
        )

    def test_images_interpolation_and_integration(self):
        image = array(1, 6, 5, 3)
        for method in ("nearest", "linear", "cubic", "lanczos3", "lanczos5"):
            with self.subTest(f"resize {method}"):
                self.same(lambda x: jax.image.resize(x, (1, 9, 4, 3), method), image, rtol=1e-4, atol=1e-4)
        self.each(
            [
                (
                    "scale_and_translate",
                    lambda x: jax.image.scale_and_translate(
                        x, (1, 8, 8, 3), (1, 2), jnp.array([1.5, 1.2]), jnp.array([0.5, -0.5]), "linear"
                    ),
                    image,
                ),
                (
                    "map_coordinates",
                    lambda x: jsp.ndimage.map_coordinates(x, [jnp.array([0.5, 1.2]), jnp.array([2.2, 0.1])], order=1),
                    F,
                ),
                ("trapezoid", jsp.integrate.trapezoid, F),
                ("hilbert", lambda: jsp.linalg.hilbert(4)),
                ("dct", lambda x: jsp.fft.dct(x, axis=1), F),
                ("idct", lambda x: jsp.fft.idct(x, axis=1), F),
                ("dctn", jsp.fft.dctn, F),
                (
                    "RegularGridInterpolator",
                    lambda x: jsp.interpolate.RegularGridInterpolator((jnp.arange(3.0), jnp.arange(4.0)), x)(
                        jnp.array([[0.5, 1.5], [1.9, 2.2]])
                    ),
                    F,
                ),
                ("kmeans vq", lambda x: jsp.cluster.vq.vq(x, x[:2]), F),
            ],
            rtol=1e-4,
            atol=1e-4,
        )

    def test_products_of_sparse_arrays(self):
        dense = np.where(integers(5, 7) > 1, array(5, 7), 0).astype(np.float32)
        csr, coo = sparse.BCSR.fromdense(dense), sparse.BCOO.fromdense(dense)
        self.each(
            [
                ("csr times a vector", lambda a, b: a @ b, csr, array(7)),
                ("csr times a matrix", lambda a, b: a @ b, csr, array(7, 3)),
                ("coo times a vector", lambda a, b: a @ b, coo, array(7)),
                ("coo transposed", lambda a, b: a.T @ b, coo, array(5, 3)),
                ("coo times coo", lambda a: (a @ a.T).todense(), coo),
                ("gradient", jax.grad(lambda b, a: jnp.sum((a @ b) ** 2)), array(7, 3), csr),
            ]
        )

    def test_sparse_solvers_and_optimization(self):
        a = array(6, 6) @ array(6, 6).T + 6 * np.eye(6, dtype=np.float32)
        b = array(6)
        self.each(
            [
                ("cg", lambda a, b: jsp.sparse.linalg.cg(a, b)[0], a, b),
                ("bicgstab", lambda a, b: jsp.sparse.linalg.bicgstab(a, b)[0], a, b),
                ("gmres", lambda a, b: jsp.sparse.linalg.gmres(a, b)[0], a, b),
                (
                    "minimize",
                    lambda b: jax.scipy.optimize.minimize(lambda x: jnp.sum((x - b) ** 2), jnp.zeros(6), method="BFGS").x,
                    b,
                ),
                (
                    "custom_root",
                    lambda b: jax.lax.custom_root(
                        lambda x: x**3 - b,
                        jnp.ones(()),
                        lambda f, x: jax.lax.fori_loop(0, 30, lambda _, y: y - f(y) / (3 * y**2), x),
                        lambda g, y: y / g(1.0),
                    ),
                    np.float32(5),
                ),
                (
                    "custom_linear_solve",
                    lambda a, b: jax.lax.custom_linear_solve(
                        lambda x: a @ x, b, lambda _, b: jnp.linalg.solve(a, b), symmetric=True
                    ),
                    a,
                    b,
                ),
            ],
            rtol=1e-3,
            atol=1e-3,
        )


if __name__ == "__main__":
    main()
