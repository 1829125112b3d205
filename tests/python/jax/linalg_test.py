"""jax.numpy.linalg, jax.scipy.linalg and jax.numpy.fft on both devices. Factors with a free sign or order are multiplied out."""

import jax.numpy as jnp
import jax.scipy.linalg as sl
import numpy as np

from support import PluginTest, array, main

A, B = array(2, 5, 5), array(2, 5, 3)
S = A @ A.transpose(0, 2, 1) + 5 * np.eye(5, dtype=np.float32)
C = array(4, 4, dtype=np.complex64)
H = C + C.conj().T
WIDE, TALL = array(4, 7), array(7, 4)


def rebuilt(u, s, vh):
    return (u * s[..., None, :]) @ vh


class LinearAlgebra(PluginTest):

    def test_factorizations(self):
        la = jnp.linalg
        self.each(
            [
                ("cholesky", la.cholesky, S),
                ("cholesky upper", lambda s: la.cholesky(s, upper=True), S),
                ("cholesky complex", lambda h: la.cholesky(h @ h + 9 * jnp.eye(4)), H),
                ("qr", lambda a: tuple(jnp.abs(part) for part in la.qr(a)), TALL),
                ("qr product", lambda a: la.qr(a)[0] @ la.qr(a)[1], WIDE),
                ("qr complete", lambda a: jnp.abs(la.qr(a, mode="complete")[1]), TALL),
                ("qr complex", lambda a: la.qr(a)[0] @ la.qr(a)[1], C),
                ("svd values", lambda a: la.svd(a, compute_uv=False), A),
                ("svd product", lambda a: rebuilt(*la.svd(a, full_matrices=False)), WIDE),
                ("svd complex", lambda a: rebuilt(*la.svd(a, full_matrices=False)), C),
                ("svd full", lambda a: jnp.abs(la.svd(a)[2][:4]), WIDE),
                ("eigh values", la.eigvalsh, S),
                ("eigh product", lambda s: (lambda w, v: (v * w[..., None, :]) @ jnp.swapaxes(v, -1, -2))(*la.eigh(s)), S),
                ("eigh complex", la.eigvalsh, H),
                ("eig values", lambda a: jnp.sort(jnp.abs(la.eigvals(a)), axis=-1), A),
                ("eig", lambda a: (lambda w, v: v @ (w[:, None] * la.inv(v)))(*la.eig(a)), array(4, 4)),
                ("lu", sl.lu, A[0]),
                ("lu_factor", sl.lu_factor, A),
                ("lu wide", sl.lu, WIDE),
                ("schur", lambda a: (lambda t, z: z @ t @ z.T)(*sl.schur(a)), array(4, 4)),
                ("schur complex", lambda a: (lambda t, z: z @ t @ z.conj().T)(*sl.schur(a, output="complex")), C),
                ("hessenberg", sl.hessenberg, array(4, 4)),
                (
                    "qr pivoted",
                    lambda a: (lambda q, r, p: (q @ r)[:, jnp.argsort(p)])(*sl.qr(a, pivoting=True, mode="economic")),
                    WIDE,
                ),
                ("polar", lambda a: sl.polar(a)[1], array(4, 4)),
                ("sqrtm", sl.sqrtm, S[0]),
                ("expm", sl.expm, A * 0.3),
                ("funm", lambda a: sl.funm(a, jnp.exp), S[0] * 0.1),
            ],
            rtol=2e-3,
            atol=2e-3,
        )

    def test_solutions(self):
        la = jnp.linalg
        self.each(
            [
                ("solve", la.solve, S, B),
                ("solve vector", la.solve, S[0], B[0, :, 0]),
                ("inv", la.inv, S),
                ("pinv", la.pinv, WIDE),
                ("lstsq", lambda a, b: la.lstsq(a, b)[0], TALL, array(7, 2)),
                ("det", la.det, A),
                ("slogdet", la.slogdet, A),
                ("det complex", la.det, C),
                ("solve complex", la.solve, H + 5 * np.eye(4, dtype=np.complex64), C),
                ("solve_triangular", lambda a, b: sl.solve_triangular(a, b, lower=True), S[0], B[0]),
                (
                    "solve_triangular transposed",
                    lambda a, b: sl.solve_triangular(a, b, trans=1, unit_diagonal=True),
                    S[0] * 0.1,
                    B[0],
                ),
                ("cho_solve", lambda s, b: sl.cho_solve(sl.cho_factor(s), b), S[0], B[0]),
                ("lu_solve", lambda s, b: sl.lu_solve(sl.lu_factor(s), b), S[0], B[0]),
                (
                    "tensorsolve",
                    lambda a, b: la.tensorsolve(a.reshape(2, 2, 4) + 3 * jnp.eye(4).reshape(2, 2, 4), b),
                    array(4, 4),
                    array(2, 2),
                ),
                ("tensorinv", lambda a: la.tensorinv((a + 3 * jnp.eye(4)).reshape(2, 2, 4), 2), array(4, 4)),
                ("toeplitz", sl.toeplitz, array(5)),
                ("solve_sylvester", lambda a, b, c: sl.solve_sylvester(a, b, c), S[0], S[1], A[0]),
            ],
            rtol=2e-3,
            atol=2e-3,
        )

    def test_measures_and_products(self):
        la = jnp.linalg
        self.each(
            [
                ("norm", la.norm, A),
                ("norm nuc", lambda a: la.norm(a, "nuc", axis=(1, 2)), A),
                ("norm 2", lambda a: la.norm(a, 2, axis=(1, 2)), A),
                ("norm inf", lambda a: la.norm(a, jnp.inf, axis=1), A),
                ("vector_norm", lambda a: la.vector_norm(a, ord=3), A),
                ("matrix_norm", la.matrix_norm, A),
                ("cond", la.cond, S),
                ("matrix_rank", la.matrix_rank, S),
                ("matrix_power", lambda a: la.matrix_power(a, 3), A),
                ("matrix_power negative", lambda a: la.matrix_power(a, -2), S),
                ("multi_dot", lambda a, b, c: la.multi_dot([a, b, c]), array(3, 4), array(4, 5), array(5, 2)),
                ("block_diag", lambda a, b: sl.block_diag(a[0], b[0]), A, B),
                ("cross", lambda a: la.cross(a[0, :, :3], a[1, :, :3]), A),
                ("outer", lambda a: la.outer(a[0, 0], a[1, 0]), A),
                ("svdvals", la.svdvals, A),
                ("diagonal", la.diagonal, A),
                ("trace", la.trace, A),
            ],
            rtol=1e-3,
            atol=1e-3,
        )

    def test_a_nan_fails_a_cholesky(self):
        """The minor that holds it is not positive, and a decomposition that fails is NaN throughout (jax.numpy.linalg.cholesky)."""
        for dtype in (np.float32, np.complex64):
            for place in ((0, 0), (2, 2), (2, 1)):
                matrices = np.stack([np.eye(3), 2 * np.eye(3)]).astype(dtype)
                matrices[(1, *place)] = np.nan
                for upper in (False, True):
                    kept, failed = np.asarray(jnp.linalg.cholesky(matrices, upper=upper, symmetrize_input=False))
                    np.testing.assert_array_equal(kept, np.eye(3))
                    self.assertEqual(np.isnan(failed).sum(), 6, (dtype, place, upper))
            self.assertEqual(np.isnan(np.asarray(jnp.linalg.cholesky(np.full((5, 5), np.nan, dtype)))).sum(), 15)


class Fourier(PluginTest):

    def test_transforms(self):
        fft, x, z = jnp.fft, array(3, 8), array(3, 8, dtype=np.complex64)
        self.each(
            [
                ("fft", fft.fft, z),
                ("ifft", fft.ifft, z),
                ("rfft", fft.rfft, x),
                ("irfft", fft.irfft, z),
                ("hfft", fft.hfft, z),
                ("ihfft", fft.ihfft, x),
                ("fft2", fft.fft2, z),
                ("ifft2", fft.ifft2, z),
                ("rfft2", fft.rfft2, x),
                ("irfft2", fft.irfft2, z),
                ("fftn", fft.fftn, array(2, 3, 4, dtype=np.complex64)),
                ("rfftn", fft.rfftn, array(2, 3, 4)),
                ("irfftn", fft.irfftn, array(2, 3, 4, dtype=np.complex64)),
                ("odd length", fft.fft, array(2, 7)),
                ("prime length", fft.rfft, array(2, 13)),
                ("padded", lambda x: fft.fft(x, n=11), x),
                ("cut", lambda x: fft.rfft(x, n=5), x),
                ("axis", lambda x: fft.fft(x, axis=0), x),
                ("ortho", lambda x: fft.fft(x, norm="ortho"), x),
                ("fftfreq", lambda: fft.fftfreq(9, 0.5)),
                ("rfftfreq", lambda: fft.rfftfreq(9)),
                ("fftshift", fft.fftshift, x),
                ("ifftshift", fft.ifftshift, x),
            ],
            rtol=1e-4,
            atol=1e-4,
        )


if __name__ == "__main__":
    main()
