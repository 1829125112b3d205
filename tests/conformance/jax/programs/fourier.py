"""Fourier transforms."""

import jax
import jax.numpy as jnp
import numpy as np

from programs import inputs
from programs.harness import Program, Registry

CASES = Registry()


def _complex(rng, shape, dtype):
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


@CASES.case("fft_lengths", ("c64", "c128"))
def fft_lengths(rng, dtype):
    """fft and ifft of lengths with small factors, of primes, of a prime times two; along other axes; padded."""
    lines = [_complex(rng, (2, n), dtype) for n in (1, 7, 12, 64, 101, 202)]
    x = _complex(rng, (6, 5, 4), dtype)

    def f(lines, x):
        return (
            [jnp.fft.fft(line) for line in lines],
            [jnp.fft.ifft(line) for line in lines],
            jnp.fft.fft(x, axis=0),
            jnp.fft.ifft(x, n=9, axis=1),
            jnp.fft.fft(x, n=3),
        )

    return Program(f, (lines, x), x64=np.dtype(dtype) == np.complex128)


@CASES.case("fft_real", ("f32", "f64"))
def fft_real(rng, dtype):
    """rfft and irfft of even and odd lengths; spectra with imaginary parts where a real signal has none."""
    lines = [inputs.normal(rng, (3, n), dtype) for n in (1, 2, 8, 9, 30, 47)]
    wide = np.dtype(dtype) == np.float64
    spectra = [_complex(rng, (3, n), np.complex128 if wide else np.complex64) for n in (2, 3, 5, 13)]

    def f(lines, spectra):
        return (
            [jnp.fft.rfft(line) for line in lines],
            [jnp.fft.irfft(s) for s in spectra],
            [jnp.fft.irfft(s, n=2 * s.shape[-1] - 1) for s in spectra],
        )

    return Program(f, (lines, spectra), x64=wide)


@CASES.case("fft_several_dimensions", ("c64", "c128"))
def fft_several_dimensions(rng, dtype):
    """Transforms of two and three dimensions, complex and real."""
    x = _complex(rng, (2, 5, 6, 9), dtype)
    signal = np.array(_complex(rng, (2, 5, 6, 9), dtype).real)

    def f(x, signal):
        return (
            jnp.fft.fft2(x),
            jnp.fft.ifftn(x, axes=(1, 2, 3)),
            jnp.fft.rfftn(signal, axes=(1, 2, 3)),
            jnp.fft.irfftn(x, s=(5, 6, 16), axes=(1, 2, 3)),
            jnp.fft.irfft2(x, s=(6, 17)),
        )

    return Program(f, (x, signal), x64=np.dtype(dtype) == np.complex128)


@CASES.case("fft_gradient", ("f32",))
def fft_gradient(rng, dtype):
    """A spectral filter and its gradient; shifts and sample frequencies."""
    x, w = inputs.normal(rng, (4, 24), dtype), inputs.normal(rng, (13,), dtype)

    def loss(x, w):
        spectrum = jnp.fft.rfft(x) * jnp.exp(1j * w)
        y = jnp.fft.irfft(spectrum, n=24)
        return jnp.sum(y**3) + jnp.sum(jnp.fft.rfftfreq(24) * w) + jnp.sum(jnp.fft.fftshift(y)[:, 3])

    return Program(lambda x, w: jax.value_and_grad(loss, (0, 1))(x, w), (x, w))
