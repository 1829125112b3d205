"""Dots, convolutions, linear algebra, Fourier transforms."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from programs.harness import Program, Registry

from stablehlo_programs.elementwise import integers, unit

CASES = Registry()


@CASES.case("dots", ("f32", "bf16"))
def dots(rng, dtype):
    """dot_general with batches, outer products and vectors."""

    def f(x, y, v):
        return x @ y, jnp.einsum("bij,bkj->bik", x, x), jnp.outer(v, v), v @ v, jnp.einsum("bij,j->ib", x, v)

    arguments = unit(rng, 2, 3, 4), unit(rng, 2, 4, 3), unit(rng, 4)
    return Program(f, tuple(a.astype(dtype) for a in arguments))


@CASES.case("dots_with_options")
def dots_with_options(rng):
    """Precision, a stated result type, an algorithm, small types."""

    def f(x, n):
        dims = (((1,), (0,)), ((), ()))
        return (
            lax.dot_general(x, x, dims, precision=lax.Precision.HIGHEST),
            lax.dot_general(x, x, dims, precision=(lax.Precision.HIGH, lax.Precision.DEFAULT)),
            lax.dot_general(x, x, dims, precision=lax.DotAlgorithmPreset.F32_F32_F32),
            lax.dot_general(n, n, dims, preferred_element_type=np.int32),
            lax.dot_general(x.astype(ml_dtypes.bfloat16), x.astype(ml_dtypes.bfloat16), dims, preferred_element_type=np.float32),
        )

    return Program(f, (unit(rng, 3, 3), integers(rng, 3, 3, dtype=np.int8, low=-2, high=2)), low_precision=True)


@CASES.case("ragged_dot")
def ragged_dot(rng):
    """ragged_dot, as JAX writes it for the CPU."""

    return Program(lax.ragged_dot, (unit(rng, 5, 3), unit(rng, 2, 3, 4), np.array([2, 3], np.int32)))


@CASES.case("convolutions", ("f32", "bf16"))
def convolutions(rng, dtype):
    """Layouts, strides, padding, dilation, groups; gradients."""

    def f(x, k):
        conv = lambda a, b, *rest, **more: lax.conv_general_dilated(a, b, *rest, **more)
        plain = conv(x, k, (1, 1), "SAME")
        strided = conv(x, k, (2, 1), ((1, 0), (-1, 2)), (1, 2), (2, 1))
        last = conv(x.transpose(0, 2, 3, 1), k.transpose(2, 3, 1, 0), (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        grouped = conv(x, k[:, :1], (1, 1), "VALID", feature_group_count=2)
        return plain, strided, last, grouped, jax.grad(lambda b: conv(x, b, (1, 1), "VALID").sum())(k)

    return Program(f, (unit(rng, 2, 2, 5, 4).astype(dtype), unit(rng, 4, 2, 3, 2).astype(dtype)))


@CASES.case("convolutions_of_other_ranks")
def convolutions_of_other_ranks(rng):
    """One and three spatial dimensions, and none; batch groups; precision; transposed."""

    def f(x1, k1, x3, k3):
        one = lax.conv_general_dilated(x1, k1, (2,), "SAME", precision=lax.Precision.HIGHEST)
        groups = lax.conv_general_dilated(x1, k1, (1,), "VALID", batch_group_count=2)
        none = lax.conv_general_dilated(x1[..., 0], k1[..., 0], (), "VALID")
        return one, groups, none, lax.conv(x3, k3, (1, 1, 1), "SAME"), lax.conv_transpose(x1, k1, (2,), "SAME", dimension_numbers=("NCH", "OIH", "NCH"))

    return Program(f, (unit(rng, 2, 2, 6), unit(rng, 2, 2, 3), unit(rng, 1, 1, 2, 3, 2), unit(rng, 1, 1, 2, 1, 2)))


@CASES.case("fourier")
def fourier(rng):
    """The four kinds of fft."""

    def f(x):
        z = jnp.fft.fft(x)
        return z, jnp.fft.ifft(z), jnp.fft.rfft2(x), jnp.fft.irfft(z, 4), jnp.fft.fftshift(x)

    return Program(f, (unit(rng, 3, 6),))


def symmetric(rng, n):
    a = rng.normal(size=(n, n)).astype(np.float32)
    return a @ a.T + n * np.eye(n, dtype=np.float32)


@CASES.case("linear_systems")
def linear_systems(rng):
    """cholesky, triangular_solve, LU."""

    def f(a, b):
        return jnp.linalg.cholesky(a), lax.linalg.triangular_solve(a, b, left_side=True, lower=True), jnp.linalg.solve(a, b)

    return Program(f, (symmetric(rng, 3), unit(rng, 3, 2)))


@CASES.case("linear_decompositions")
def linear_decompositions(rng):
    """qr, eigh, svd: LAPACK custom calls."""

    def f(a):
        return jnp.abs(jnp.linalg.qr(a)[1]), jnp.linalg.eigvalsh(a), jnp.linalg.svd(a, compute_uv=False)

    return Program(f, (symmetric(rng, 3),))
