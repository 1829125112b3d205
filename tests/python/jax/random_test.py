"""jax.random on both devices: the bits are JAX's, so the samples are equal and not only alike."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import random

from support import PluginTest, main

KEY = np.array([17, 42], np.uint32)


def sample(function, *arguments, implementation="threefry2x32"):
    return lambda bits: function(random.wrap_key_data(bits, impl=implementation), *arguments)


class Random(PluginTest):

    def test_keys(self):
        self.each(
            [
                ("split", sample(random.split, 5), KEY),
                ("fold_in", sample(random.fold_in, 7), KEY),
                ("split many", sample(random.split, (2, 3)), KEY),
                ("key", lambda: random.key(3)),
                ("PRNGKey", lambda: random.PRNGKey(3)),
                ("clone", sample(random.clone), KEY),
                ("key of a large seed", lambda: random.key(2**31 + 5)),
            ]
        )

    def test_bits(self):
        for dtype in ("uint8", "uint16", "uint32"):
            with self.subTest(dtype):
                self.same(sample(random.bits, (3, 5), dtype), KEY)

    def test_bits_of_other_generators(self):
        bits = np.array([17, 42, 3, 9], np.uint32)
        for implementation in ("rbg", "unsafe_rbg"):
            self.each(
                [
                    (f"{implementation} bits", sample(random.bits, (6,), implementation=implementation), bits),
                    (f"{implementation} split", sample(random.split, 3, implementation=implementation), bits),
                    (f"{implementation} normal", sample(random.normal, (6,), implementation=implementation), bits),
                ]
            )

    def test_distributions(self):
        r, a, p = random, np.array([0.5, 1.5, 3.0], np.float32), np.array([0.2, 0.3, 0.5], np.float32)
        cases = [
            ("ball", r.ball, 3),
            ("bernoulli", r.bernoulli, p),
            ("beta", r.beta, a, a),
            ("binomial", r.binomial, 10, p),
            ("categorical", r.categorical, np.log(p), -1, (6,)),
            ("cauchy", r.cauchy, (5,)),
            ("chisquare", r.chisquare, a),
            ("choice", r.choice, 9, (4,)),
            ("choice without replacement", r.choice, 9, (4,), False),
            ("choice by weight", r.choice, 3, (6,), True, p),
            ("dirichlet", r.dirichlet, a),
            ("double_sided_maxwell", r.double_sided_maxwell, 1.0, 2.0, (4,)),
            ("exponential", r.exponential, (5,)),
            ("f", r.f, a, a),
            ("gamma", r.gamma, a),
            ("loggamma", r.loggamma, a),
            ("generalized_normal", r.generalized_normal, 1.5, (5,)),
            ("geometric", r.geometric, p),
            ("gumbel", r.gumbel, (5,)),
            ("laplace", r.laplace, (5,)),
            ("logistic", r.logistic, (5,)),
            ("lognormal", r.lognormal, 1.0, (5,)),
            ("maxwell", r.maxwell, (5,)),
            ("multinomial", r.multinomial, 20, p),
            ("multivariate_normal", r.multivariate_normal, np.zeros(3, np.float32), np.eye(3, dtype=np.float32) + 0.2),
            ("normal", r.normal, (5, 3)),
            ("orthogonal", r.orthogonal, 3),
            ("pareto", r.pareto, a),
            ("permutation", r.permutation, 9),
            ("poisson", r.poisson, a * 5),
            ("rademacher", r.rademacher, (5,)),
            ("randint", r.randint, (5,), -3, 100),
            ("randint bytes", r.randint, (5,), 0, 200, "uint8"),
            ("rayleigh", r.rayleigh, a),
            ("t", r.t, a),
            ("triangular", r.triangular, 0.0, 0.3, 1.0, (5,)),
            ("truncated_normal", r.truncated_normal, -1.0, 2.0, (5,)),
            ("uniform", r.uniform, (5,), "float32", -1.0, 2.0),
            ("wald", r.wald, a),
            ("weibull_min", r.weibull_min, 1.5, 2.0, (4,)),
            ("normal half", r.normal, (5,), "float16"),
            ("normal bfloat16", r.normal, (5,), "bfloat16"),
            ("normal complex", r.normal, (5,), "complex64"),
            ("uniform half", r.uniform, (5,), "float16"),
        ]
        for name, function, *arguments in cases:
            with self.subTest(name):
                self.same(sample(function, *arguments), KEY, rtol=1e-4, atol=1e-5)

    def test_keys_as_arrays(self):
        self.each(
            [
                ("vmap", lambda bits: jax.vmap(lambda k: random.normal(k, (2,)))(random.split(random.wrap_key_data(bits), 4)), KEY),
                (
                    "scan",
                    lambda bits: jax.lax.scan(
                        lambda k, _: (random.split(k)[0], random.uniform(k)), random.wrap_key_data(bits), None, length=5
                    ),
                    KEY,
                ),
                ("shuffle rows", sample(lambda k: random.permutation(k, jnp.arange(12.0).reshape(4, 3), independent=True)), KEY),
            ]
        )

    def test_large_samples(self):
        """Large arrays of one value, which the lowering of erf_inv has, are no obstacle: these are 1 GiB and 4 TiB."""

        def sums(key, *shape):
            return random.normal(key, shape)[:2, :2]

        key = random.key(3)
        jax.jit(sums, static_argnums=(1, 2)).lower(key, 1 << 14, 1 << 14).compile()
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "RESOURCE_EXHAUSTED: .*(4398046511104|f32.1048576,1048576)"):
            jax.block_until_ready(random.normal(key, (1 << 20, 1 << 20)))


if __name__ == "__main__":
    main()
