"""jax.numpy.linalg, jax.lax.linalg, jax.scipy.linalg and jax.numpy.fft over their types and awkward sizes.

What a factorisation leaves open (signs and phases of vectors, the basis of an eigenspace) is not compared: products are.
"""

import functools

import jax
import jax.numpy as jnp
import jax.scipy.linalg as scipy_linalg
import numpy as np
from families.cases import TYPES
from families.jax_calls import Call, Calls, spread
from jax import lax
from jax.numpy import fft, linalg

TYPES_TAKEN = ["f32", "f64", "c64", "c128"]


def general(t: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Well conditioned: a small random matrix with a strong diagonal."""
    x = spread(t, shape, seed)
    return (x + 6 * np.eye(shape[-2], shape[-1])).astype(TYPES[t])


def positive(t: str, n: int, batch: tuple[int, ...] = (), seed: int = 0) -> np.ndarray:
    a = spread(t, (*batch, n, n), seed)
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(n)).astype(TYPES[t])


def hermitian(t: str, n: int, seed: int = 0) -> np.ndarray:
    a = spread(t, (n, n), seed)
    return (a + np.conj(a.T) + np.diag(3 * np.arange(n))).astype(TYPES[t])


def adjoint(x):
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def rebuilt_svd(a, full_matrices=False):
    u, s, vh = linalg.svd(a, full_matrices=full_matrices)
    k = s.shape[-1]
    return s, (u[..., :k] * s[..., None, :].astype(u.dtype)) @ vh[..., :k, :]


def rebuilt_eigh(a):
    w, v = linalg.eigh(a)
    return w, (v * w[..., None, :].astype(v.dtype)) @ adjoint(v)


def rebuilt_qr(a, mode):
    q, r = linalg.qr(a, mode=mode)
    return q @ r, jnp.abs(r)


def rebuilt_eig(a):
    w, v = linalg.eig(a)
    order = jnp.lexsort((w.imag, w.real))
    return w[order], jnp.max(jnp.abs(a.astype(v.dtype) @ v - v * w[None, :])) < 1e-2


def rebuilt_schur(a):
    t, q = scipy_linalg.schur(a)
    return q @ t @ adjoint(q), q @ adjoint(q)


def rebuilt_hessenberg(a):
    h, q = scipy_linalg.hessenberg(a, calc_q=True)
    return q @ h @ adjoint(q), jnp.tril(h, -2)


def rebuilt_lu(a):
    p, lower, upper = scipy_linalg.lu(a)
    return p, lower, upper


def algebra(t: str):
    sizes = [0, 1, 2, 5]
    real = t[0] == "f"
    for n in sizes:
        a = general(t, (n, n), n)
        b = spread(t, (n, 2), n + 1)
        yield f"det.{n}", linalg.det, [a]
        yield f"slogdet.{n}", linalg.slogdet, [a]
        yield f"inv.{n}", linalg.inv, [a]
        yield f"solve.{n}", linalg.solve, [a, b]
        yield f"cholesky.{n}", linalg.cholesky, [positive(t, n)]
        yield f"eigvalsh.{n}", linalg.eigvalsh, [hermitian(t, n)]
        yield f"eigh.{n}", rebuilt_eigh, [hermitian(t, n)]
        yield f"svd.{n}", rebuilt_svd, [a]
        yield f"qr.{n}", functools.partial(rebuilt_qr, mode="reduced"), [a]
        yield f"lu.{n}", rebuilt_lu, [a]
        if n > 0:
            yield f"eig.{n}", rebuilt_eig, [a]
            yield f"matrix_power.{n}", lambda a: linalg.matrix_power(a, 3), [a]
            yield f"matrix_power.inverse.{n}", lambda a: linalg.matrix_power(a, -2), [a]
            yield f"schur.{n}", rebuilt_schur, [a]
            yield f"expm.{n}", lambda a: scipy_linalg.expm(a / 10), [a]
            yield f"hessenberg.{n}", rebuilt_hessenberg, [a]
    tall, wide, batch = general(t, (5, 3), 7), general(t, (3, 5), 8), general(t, (2, 1, 3, 3), 9)
    for name, m in [("tall", tall), ("wide", wide), ("batch", batch), ("nothing", general(t, (0, 3, 3))), ("flat", general(t, (3, 0)))]:
        yield f"svd.{name}", rebuilt_svd, [m]
        yield f"svdvals.{name}", lambda m: linalg.svd(m, compute_uv=False), [m]
        yield f"qr.{name}", functools.partial(rebuilt_qr, mode="reduced"), [m]
        yield f"qr.complete.{name}", functools.partial(rebuilt_qr, mode="complete"), [m]
        yield f"qr.r.{name}", lambda m: jnp.abs(linalg.qr(m, mode="r")), [m]
        yield f"norm.fro.{name}", lambda m: linalg.norm(m, "fro", (-2, -1)), [m]
    for name, m in [("tall", tall), ("wide", wide), ("batch", batch)]:
        yield f"svd.full.{name}", functools.partial(rebuilt_svd, full_matrices=True), [m]
        yield f"pinv.{name}", linalg.pinv, [m]
        yield f"matrix_rank.{name}", linalg.matrix_rank, [m]
        for order in (1, -1, 2, -2, np.inf, -np.inf, "nuc"):
            yield f"norm.{order}.{name}", lambda m, order=order: linalg.norm(m, order, (-2, -1)), [m]
        yield f"lu.{name}", lambda m: lax.linalg.lu(m)[0], [m]
    yield "lu.pivots", lambda m: lax.linalg.lu(m)[1:], [spread(t, (4, 4), 11)]
    yield "lstsq", lambda a, b: linalg.lstsq(a, b)[0], [tall, spread(t, (5, 2), 12)]
    yield "cond", linalg.cond, [tall]
    yield "det.batch", linalg.det, [batch]
    yield "inv.batch", linalg.inv, [batch]
    yield "solve.batch", linalg.solve, [batch, spread(t, (2, 1, 3, 2), 13)]
    yield "solve.vector", linalg.solve, [general(t, (3, 3), 14), spread(t, (3,), 15)]
    yield "cholesky.batch", linalg.cholesky, [positive(t, 3, (2, 0))]
    yield "cholesky.upper", lambda a: linalg.cholesky(a, upper=True), [positive(t, 4, (2,))]
    yield "cholesky.not_positive", linalg.cholesky, [-positive(t, 3)]
    yield "cho_solve", lambda a, b: scipy_linalg.cho_solve((linalg.cholesky(a), True), b), [positive(t, 3), spread(t, (3, 2), 16)]
    yield "lu_solve", lambda a, b: scipy_linalg.lu_solve(scipy_linalg.lu_factor(a), b), [general(t, (3, 3), 17), spread(t, (3, 2), 18)]
    for side in (True, False):
        for lower in (True, False):
            for turn in ("N", "T", "C"):
                f = lambda a, b, side=side, lower=lower, turn=turn: lax.linalg.triangular_solve(  # noqa: E731
                    a, b, left_side=side, lower=lower, transpose_a=turn != "N", conjugate_a=turn == "C", unit_diagonal=turn == "T")
                yield f"triangular_solve.{side}{lower}{turn}", f, [general(t, (3, 3), 19), spread(t, (3, 3), 20)]
    yield "triangular_solve.nothing", lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True), [general(t, (3, 3)), spread(t, (3, 0))]
    yield "tridiagonal_solve", lax.linalg.tridiagonal_solve, [spread(t, (4,), 21), (spread(t, (4,), 22) + 20).astype(TYPES[t]), spread(t, (4,), 23), spread(t, (4, 2), 24)]
    yield "tridiagonal", lambda a: jnp.sum(jnp.abs(lax.linalg.tridiagonal(a)[1])), [hermitian(t, 4)]
    yield "householder_product", lax.linalg.householder_product, [tall, spread(t, (3,), 35)]
    yield "polar", lambda a: scipy_linalg.polar(a), [general(t, (3, 3), 25)]
    yield "sqrtm", lambda a: (lambda r: r @ r)(scipy_linalg.sqrtm(a)), [positive(t, 3)]
    yield "multi_dot", lambda a, b, c: linalg.multi_dot([a, b, c]), [tall, wide, tall]
    yield "tensorinv", lambda a: linalg.tensorinv(a, 1), [general(t, (4, 4), 26).reshape(4, 2, 2)]
    yield "tensorsolve", linalg.tensorsolve, [general(t, (4, 4), 27).reshape(2, 2, 4), spread(t, (2, 2), 28)]
    yield "vander", lambda x: jnp.vander(x, 4), [spread(t, (3,), 29)]
    yield "toeplitz", scipy_linalg.toeplitz, [spread(t, (4,), 30), spread(t, (3,), 31)]
    yield "block_diag", scipy_linalg.block_diag, [tall, spread(t, (2, 2), 32)]
    yield "eigh.generic", lambda a: scipy_linalg.eigh(a, eigvals_only=True, lower=False), [hermitian(t, 6)]
    if real:
        for name, f in [("det", linalg.det), ("inv", linalg.inv), ("cholesky", linalg.cholesky), ("eigvalsh", linalg.eigvalsh),
                        ("svd", lambda a: linalg.svd(a, compute_uv=False))]:
            yield f"grad.{name}", jax.grad(lambda a, f=f: jnp.sum(f(a) ** 2)), [positive(t, 3)]
        yield "grad.solve", jax.grad(lambda a, b: jnp.sum(linalg.solve(a, b)), (0, 1)), [general(t, (3, 3), 33), spread(t, (3, 2), 34)]


def transforms(t: str):
    real = t[0] == "f"
    for n in (1, 2, 3, 4, 7, 8, 12, 17, 30, 64):
        x = spread(t, (2, n), n)
        yield f"fft.{n}", fft.fft, [x]
        yield f"ifft.{n}", fft.ifft, [x]
        if real:
            yield f"rfft.{n}", fft.rfft, [x]
            yield f"ihfft.{n}", fft.ihfft, [x]
        else:
            yield f"irfft.{n}", lambda x, n=n: fft.irfft(x, max(1, 2 * n - 1)), [x]
            yield f"hfft.{n}", lambda x, n=n: fft.hfft(x, max(1, 2 * n - 2)), [x]
    x = spread(t, (3, 4, 5), 1)
    for norm in ("backward", "ortho", "forward"):
        yield f"fft.{norm}", lambda x, norm=norm: fft.fft(x, norm=norm, axis=1), [x]
        yield f"ifftn.{norm}", lambda x, norm=norm: fft.ifftn(x, norm=norm), [x]
    yield "fft.longer", lambda x: fft.fft(x, 9), [x]
    yield "fft.shorter", lambda x: fft.fft(x, 2, 0), [x]
    yield "fft2", lambda x: fft.fft2(x, axes=(0, 2)), [x]
    yield "fftn", fft.fftn, [x]
    yield "fftn.sizes", lambda x: fft.fftn(x, (2, 6), axes=(2, 0)), [x]
    yield "fft.nothing", fft.fft, [spread(t, (0, 4))]
    yield "fftshift", fft.fftshift, [x]
    yield "ifftshift", lambda x: fft.ifftshift(x, 1), [x]
    if real:
        yield "rfft2", fft.rfft2, [x]
        yield "rfftn", fft.rfftn, [x]
        yield "grad.rfft", jax.grad(lambda x: jnp.sum(jnp.abs(fft.rfft(x)) ** 2)), [x]
    else:
        yield "irfft2", fft.irfft2, [x]
        yield "irfftn", lambda x: fft.irfftn(x, (3, 4, 7)), [x]


def calls_of(family: str, table) -> list[Calls]:
    return [Calls(f"{family}.{t}", [Call(*row) for row in table(t)], sums=True) for t in TYPES_TAKEN]


linear_algebra = functools.partial(calls_of, "linalg", algebra)
fourier = functools.partial(calls_of, "fft", transforms)
