"""Decompositions and solvers, which JAX writes for the CPU as custom calls of LAPACK.

What is defined up to a sign (eigenvectors, singular vectors) is compared by magnitude and by its product.
"""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax import lax

from programs import inputs
from programs.harness import Program, Registry

CASES = Registry()


def _wide(dtype) -> bool:
    return np.dtype(dtype) in (np.float64, np.complex128)


def _general(rng, shape, dtype) -> np.ndarray:
    """Far enough from singular, with eigenvalues and singular values that lie apart."""
    n, m = shape[-2:]
    a = inputs.normal(rng, shape, np.float64)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * inputs.normal(rng, shape, np.float64)
    return (a + 2.5 * np.diag(np.arange(1, max(n, m) + 1))[:n, :m]).astype(dtype)


def _definite(rng, shape, dtype) -> np.ndarray:
    a = _general(rng, shape, dtype)
    return a @ a.conj().swapaxes(-1, -2) / shape[-1] + np.eye(shape[-1], dtype=dtype)


@CASES.case("linalg_cholesky", ("f32", "f64"))
def linalg_cholesky(rng, dtype):
    """Cholesky factors of a batch, one of which has none; upper and lower; solving with one."""
    a, b = _definite(rng, (3, 5, 5), dtype), inputs.normal(rng, (5, 2), dtype)
    a[1, 2, 2] = -4

    def f(a, b):
        return (
            jnp.linalg.cholesky(a),
            jnp.linalg.cholesky(a[0], upper=True),
            jsl.cho_solve(jsl.cho_factor(a[2]), b),
            jnp.linalg.cholesky(a[:, :1, :1]),
        )

    return Program(f, (a, b), x64=_wide(dtype))


@CASES.case("linalg_lu", ("f32", "f64"))
def linalg_lu(rng, dtype):
    """LU decompositions of square, wide and tall matrices; solve, inverse and determinants by them."""
    a, wide, tall = (_general(rng, s, dtype) for s in ((2, 6, 6), (4, 7), (2, 7, 3)))
    b = inputs.normal(rng, (2, 6, 3), dtype)

    def f(a, wide, tall, b):
        return (
            lax.linalg.lu(a),
            lax.linalg.lu(wide),
            lax.linalg.lu(tall),
            jsl.lu(wide),
            jnp.linalg.solve(a, b),
            jnp.linalg.inv(a),
            jnp.linalg.det(a),
            jnp.linalg.slogdet(a),
            jsl.lu_solve(jsl.lu_factor(a[0]), b[0], trans=1),
        )

    return Program(f, (a, wide, tall, b), x64=_wide(dtype))


@CASES.case("linalg_qr", ("f32", "f64"))
def linalg_qr(rng, dtype):
    """QR of tall, wide and square matrices: reduced, complete, R alone, with pivoting, by reflectors."""
    tall, wide, a = (_general(rng, s, dtype) for s in ((2, 6, 4), (3, 5), (5, 5)))

    def f(tall, wide, a):
        packed, taus = jnp.linalg.qr(tall, mode="raw")
        packed = packed.swapaxes(-1, -2)
        return (
            jnp.linalg.qr(tall),
            jnp.linalg.qr(tall, mode="complete"),
            jnp.linalg.qr(wide),
            jnp.linalg.qr(a, mode="r"),
            jsl.qr(a, pivoting=True),
            lax.linalg.householder_product(packed, taus),
            lax.linalg.ormqr(packed[0], taus[0], tall[1], transpose=True),
        )

    return Program(f, (tall, wide, a), x64=_wide(dtype))


@CASES.case("linalg_eigh", ("f32", "f64"))
def linalg_eigh(rng, dtype):
    """Eigenvalues and eigenvectors of symmetric matrices, from either triangle; one that is not finite."""
    a = _definite(rng, (3, 6, 6), dtype)
    a[2, 3, 1] = np.nan

    def f(a):
        w, v = jnp.linalg.eigh(a)
        return (
            w,
            jnp.abs(v),
            (v[:2] * w[:2, None, :]) @ v[:2].swapaxes(-1, -2),
            jnp.linalg.eigvalsh(a[0] + jnp.triu(a[1], 1), UPLO="U", symmetrize_input=False),
            jsl.eigh(a[1], eigvals_only=True),
        )

    return Program(f, (a,), x64=_wide(dtype))


@CASES.case("linalg_svd", ("f32", "f64"))
def linalg_svd(rng, dtype):
    """Singular values and vectors, reduced and full, by both algorithms; pseudo-inverse, rank, norm, least squares."""
    tall, wide = _general(rng, (2, 6, 4), dtype), _general(rng, (3, 5), dtype)
    b = inputs.normal(rng, (6, 2), dtype)

    def f(tall, wide, b):
        u, s, vt = jnp.linalg.svd(tall, full_matrices=False)
        full_u, full_s, full_vt = jnp.linalg.svd(wide)
        qr = lax.linalg.svd(wide, full_matrices=False, algorithm=lax.linalg.SvdAlgorithm.QR)
        return (
            (jnp.abs(u), s, jnp.abs(vt)),
            (u * s[:, None, :]) @ vt,
            full_u @ full_u.T,
            full_vt @ full_vt.T,
            full_s,
            (qr[0] * qr[1]) @ qr[2],
            jnp.linalg.svd(tall, compute_uv=False),
            jnp.linalg.pinv(tall),
            jnp.linalg.matrix_rank(tall),
            jnp.linalg.norm(wide, ord=2),
            jnp.linalg.lstsq(tall[0], b)[0],
        )

    return Program(f, (tall, wide, b), x64=_wide(dtype))


@CASES.case("linalg_eig", ("f32", "f64"))
def linalg_eig(rng, dtype):
    """Eigenvalues, real and in conjugate pairs, and eigenvectors of matrices that are not symmetric."""
    a = _general(rng, (2, 5, 5), dtype)
    a[1, :2, :2] = [[1, -3], [3, 1]]
    a[1, :2, 2:] = a[1, 2:, :2] = 0

    def f(a):
        w, v = jnp.linalg.eig(a)
        left = lax.linalg.eig(a, compute_left_eigenvectors=True, compute_right_eigenvectors=False)[1]
        return w, jnp.abs(v), jnp.abs(left), jnp.linalg.eigvals(a[0])

    return Program(f, (a,), x64=_wide(dtype))


@CASES.case("linalg_schur", ("f32", "f64"))
def linalg_schur(rng, dtype):
    """Schur and Hessenberg forms, tridiagonal reduction, matrix exponential."""
    a, s = _general(rng, (5, 5), dtype), _definite(rng, (2, 5, 5), dtype)

    def f(a, s):
        t, z = jsl.schur(a)
        arr, d, e, taus = lax.linalg.tridiagonal(s)
        return (
            jnp.abs(t),
            z @ t @ z.T,
            jsl.hessenberg(a, calc_q=True),
            (arr, d, e, taus),
            lax.linalg.tridiagonal(s[0], lower=False)[1:3],
            jsl.expm(a / 8),
        )

    return Program(f, (a, s), x64=_wide(dtype))


@CASES.case("linalg_triangular_solve", ("f32", "f64"))
def linalg_triangular_solve(rng, dtype):
    """Every side, triangle, transposition and diagonal; a tridiagonal system."""
    a, b = _definite(rng, (2, 4, 4), dtype), inputs.normal(rng, (2, 4, 4), dtype)
    d, right = inputs.normal(rng, (3, 2, 6), dtype) / 4, inputs.normal(rng, (2, 6, 3), dtype)

    def f(a, b, d, right):
        solve = lambda left, lower, transpose, unit: lax.linalg.triangular_solve(
            a, b, left_side=left, lower=lower, transpose_a=transpose, unit_diagonal=unit
        )
        flags = (False, True)
        return (
            [solve(i, j, k, l) for i in flags for j in flags for k in flags for l in flags],
            lax.linalg.tridiagonal_solve(d[0].at[:, 0].set(0), d[1] + 2, d[2].at[:, -1].set(0), right),
        )

    return Program(f, (a, b, d, right), x64=_wide(dtype))


@CASES.case("linalg_complex", ("c64", "c128"))
def linalg_complex(rng, dtype):
    """Complex matrices through each decomposition, as LAPACK gives them."""
    a, h = _general(rng, (5, 5), dtype), _definite(rng, (4, 4), dtype)
    b, tall = _general(rng, (5, 2), dtype), _general(rng, (2, 5, 3), dtype)

    def f(a, h, b, tall):
        u, s, vt = jnp.linalg.svd(tall, full_matrices=False)
        w, v = jnp.linalg.eigh(h)
        t, z = jsl.schur(a, output="complex")
        return (
            jnp.linalg.cholesky(h),
            jnp.linalg.solve(a, b),
            jnp.linalg.det(a),
            jnp.linalg.qr(tall),
            (s, jnp.abs(u), jnp.abs(vt)),
            (w, jnp.abs(v)),
            jnp.linalg.eigvals(a),
            z @ t @ z.conj().T,
            lax.linalg.triangular_solve(
                h, h + 1, left_side=True, lower=True, transpose_a=True, conjugate_a=True
            ),
            lax.linalg.tridiagonal(h)[1:3],
        )

    return Program(f, (a, h, b, tall), x64=_wide(dtype))


@CASES.case("linalg_gradients", ("f32",))
def linalg_gradients(rng, dtype):
    """Gradients through each decomposition."""
    a, b = _definite(rng, (4, 4), dtype), inputs.normal(rng, (4, 2), dtype)

    def loss(a, b):
        s = (a + a.T) / 2
        w, v = jnp.linalg.eigh(s)
        q, r = jnp.linalg.qr(a)
        singular = jnp.linalg.svd(a, compute_uv=False)
        return (
            jnp.sum(jnp.linalg.solve(a, b) ** 2)
            + jnp.linalg.slogdet(a)[1]
            + jnp.sum(jnp.linalg.cholesky(s))
            + jnp.sum(w * jnp.arange(4))
            + jnp.sum(v**2 * w)
            + jnp.sum(jnp.abs(q @ r))
            + jnp.sum(jnp.log(singular))
            + jnp.trace(jnp.linalg.inv(a))
        )

    return Program(lambda a, b: jax.value_and_grad(loss, (0, 1))(a, b), (a, b))
