"""Functions of jax.numpy on both devices."""

import jax
import jax.numpy as jnp
import numpy as np

from support import PluginTest, array, integers, main

F, G = array(3, 4), array(3, 4, seed=1)
I, J = integers(3, 4), integers(3, 4, low=1, high=5, seed=1)
B = I > 0
UNIT, POSITIVE = array(3, 4, low=-0.9, high=0.9), array(3, 4, low=0.1, high=3.0)

UNARY = """abs absolute angle arccos arcsin arctan arcsinh arctanh bitwise_count cbrt ceil conj conjugate cos cosh deg2rad degrees
exp exp2
expm1 fabs floor i0 imag invert isfinite isinf isnan isneginf isposinf iscomplex isreal log log10 log1p log2 logical_not
nan_to_num negative positive rad2deg radians real reciprocal rint round sign signbit sin sinc sinh sqrt square tan tanh trunc modf
frexp
spacing""".split()
INTEGERS_ONLY = {"bitwise_count", "invert"}
SMALL = {"arccos", "arcsin", "arctanh", "tan"}
ABOVE_ZERO = {"log", "log10", "log1p", "log2", "sqrt"}
BINARY = (
    """add arctan2 copysign divide divmod equal float_power floor_divide fmax fmin fmod greater greater_equal heaviside hypot less
less_equal logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum mod multiply nextafter not_equal power remainder
subtract true_divide""".split()
)
INTEGER_BINARY = """add bitwise_and bitwise_or bitwise_xor floor_divide gcd lcm left_shift maximum minimum mod multiply power
remainder right_shift
subtract""".split()
REDUCTIONS = """all any argmax argmin amax amin count_nonzero max mean median min nanargmax nanargmin nanmax nanmean nanmedian
nanmin nanprod nanstd
nansum nanvar prod ptp std sum var""".split()
CUMULATIVE = "cumprod cumsum nancumprod nancumsum cumulative_sum cumulative_prod".split()


class Functions(PluginTest):

    def test_unary_functions(self):
        for name in UNARY:
            argument = I if name in INTEGERS_ONLY else UNIT if name in SMALL else POSITIVE if name in ABOVE_ZERO else F
            with self.subTest(name):
                self.same(getattr(jnp, name), argument, rtol=1e-4)

    def test_unary_functions_promote_integers(self):
        for name in "abs ceil cos exp floor negative sqrt square sign sin tanh log1p".split():
            for dtype in (np.int32, np.uint8, np.bool_):
                if name in ("negative", "sign") and dtype == np.bool_:
                    continue
                with self.subTest(name, dtype=dtype):
                    self.same(getattr(jnp, name), np.abs(I).astype(dtype), rtol=1e-4)

    def test_binary_functions(self):
        for name in BINARY:
            with self.subTest(name):
                self.same(getattr(jnp, name), POSITIVE, G if name not in ("float_power", "power") else F)

    def test_binary_functions_of_integers(self):
        for name in INTEGER_BINARY:
            for dtype in (np.int32, np.int8, np.uint16):
                with self.subTest(name, dtype=dtype):
                    self.same(getattr(jnp, name), np.abs(I).astype(dtype), J.astype(dtype))

    def test_binary_functions_promote_and_broadcast(self):
        for one, other in (
            (np.int8, np.float16),
            (np.uint8, np.int32),
            (np.bool_, np.float32),
            (np.int32, np.complex64),
            (np.float16, np.float32),
        ):
            with self.subTest(f"{one.__name__} {other.__name__}"):
                self.same(
                    lambda a, b: (a + b, a * b, a == b, jnp.where(a > 0, a, b)), np.abs(I[:, :1]).astype(one), J[0].astype(other)
                )

    def test_weak_types_stay_weak(self):
        self.each(
            [
                ("scalar", lambda x: x * 2 + 1.5, I),
                ("half", lambda x: x * 2.5, F.astype(np.float16)),
                ("bool", lambda x: x + 1, B),
                ("uint8", lambda x: x + 1, np.abs(I).astype(np.uint8)),
                ("power", lambda x: x**3, I),
                ("division", lambda x: 1 / x, J),
            ]
        )

    def test_reductions(self):
        x = array(3, 4, 5)
        for name in REDUCTIONS:
            for axis in (None, 1, -1):
                with self.subTest(name, axis=axis):
                    self.same(lambda x: getattr(jnp, name)(x > 0 if name in ("all", "any") else x, axis=axis), x)

    def test_reductions_of_integers(self):
        for name in "sum prod max min mean std var argmax any all".split():
            for dtype in (np.int8, np.int32, np.uint8, np.bool_):
                with self.subTest(name, dtype=dtype):
                    self.same(lambda x: getattr(jnp, name)(x, axis=0), np.abs(I).astype(dtype))

    def test_cumulative_functions(self):
        for name in CUMULATIVE:
            with self.subTest(name):
                self.same(lambda x: getattr(jnp, name)(x, axis=1), F)

    def test_nan_aware_functions(self):
        x = F.copy()
        x[1, 2] = x[0, 0] = np.nan
        for name in (name for name in REDUCTIONS if name.startswith("nan")):
            with self.subTest(name):
                self.same(lambda x: getattr(jnp, name)(x, axis=1), x)
        self.each(
            [
                ("nanquantile", lambda x: jnp.nanquantile(x, 0.3, axis=1), x),
                ("max", jnp.max, x),
                ("sort", jnp.sort, x),
                ("argsort", jnp.argsort, x),
                ("nan_to_num", jnp.nan_to_num, x),
                ("maximum", lambda x: jnp.maximum(x, 0), x),
                ("fmax", lambda x: jnp.fmax(x, 0), x),
            ]
        )


class Arrangement(PluginTest):

    def test_shapes(self):
        x = array(2, 3, 4)
        self.each(
            [
                ("reshape", lambda x: jnp.reshape(x, (4, -1)), x),
                ("ravel", jnp.ravel, x),
                ("transpose", jnp.transpose, x),
                ("swapaxes", lambda x: jnp.swapaxes(x, 0, 2), x),
                ("moveaxis", lambda x: jnp.moveaxis(x, 0, -1), x),
                ("rollaxis", lambda x: jnp.rollaxis(x, 2), x),
                ("expand_dims", lambda x: jnp.expand_dims(x, (0, 3)), x),
                ("squeeze", lambda x: jnp.squeeze(x[:1]), x),
                ("flip", lambda x: jnp.flip(x, 1), x),
                ("fliplr", jnp.fliplr, x),
                ("flipud", jnp.flipud, x),
                ("rot90", lambda x: jnp.rot90(x, 3), x),
                ("roll", lambda x: jnp.roll(x, (1, -2), (0, 2)), x),
                ("broadcast_to", lambda x: jnp.broadcast_to(x, (5, 2, 3, 4)), x),
                ("tile", lambda x: jnp.tile(x, (2, 1)), x),
                ("repeat", lambda x: jnp.repeat(x, 3, axis=1), x),
                ("atleast", lambda x: jnp.atleast_3d(x[0, 0]), x),
                ("repeat by counts", lambda x: jnp.repeat(x, np.array([1, 0, 2]), axis=1, total_repeat_length=3), x),
                ("pad", lambda x: jnp.pad(x, ((1, 0), (0, 2), (1, 1))), x),
            ]
        )
        for mode in ("edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "mean", "minimum", "empty"):
            if mode != "empty":
                with self.subTest(f"pad {mode}"):
                    self.same(lambda x: jnp.pad(x, ((1, 1), (2, 0)), mode=mode), F)

    def test_joining_and_splitting(self):
        self.each(
            [
                ("concatenate", lambda x, y: jnp.concatenate([x, y], 1), F, G),
                ("stack", lambda x, y: jnp.stack([x, y], -1), F, G),
                ("vstack", lambda x, y: jnp.vstack([x, y]), F, G),
                ("hstack", lambda x, y: jnp.hstack([x, y]), F, G),
                ("dstack", lambda x, y: jnp.dstack([x, y]), F, G),
                ("column_stack", lambda x, y: jnp.column_stack([x[0], y]), F[:, :3], G[:3]),
                ("block", lambda x, y: jnp.block([[x, y], [y, x]]), F, G),
                ("split", lambda x: jnp.split(x, 2, 1), F),
                ("array_split", lambda x: jnp.array_split(x, 3, 1), F),
                ("append", lambda x, y: jnp.append(x, y), F, G),
                ("insert", lambda x: jnp.insert(x, 1, 9.0, axis=1), F),
                ("delete", lambda x: jnp.delete(x, 1, axis=0), F),
                ("unstack", lambda x: jnp.unstack(x), F),
                ("meshgrid", lambda x, y: jnp.meshgrid(x, y), F[0], G[:, 0]),
                ("ix_", lambda i, j: jnp.ix_(i, j), I[0], J[:, 0]),
            ]
        )

    def test_creation(self):
        self.each(
            [
                ("arange", lambda: jnp.arange(3, 17, 4)),
                ("linspace", lambda: jnp.linspace(0, 1, 7)),
                ("logspace", lambda: jnp.logspace(0, 2, 5)),
                ("geomspace", lambda: jnp.geomspace(1, 64, 7)),
                ("eye", lambda: jnp.eye(3, 5, 1)),
                ("identity", lambda: jnp.identity(4)),
                ("full", lambda: jnp.full((2, 3), 7)),
                ("tri", lambda: jnp.tri(4, 3, 1)),
                ("tril", jnp.tril, F),
                ("triu", lambda x: jnp.triu(x, 1), F),
                ("diag", jnp.diag, F[0]),
                ("diagonal", lambda x: jnp.diagonal(x, 1), F),
                ("diagflat", jnp.diagflat, F[0]),
                ("vander", jnp.vander, F[0]),
                ("indices", lambda: jnp.indices((2, 3))),
                ("hamming", lambda: jnp.hamming(9)),
                ("hanning", lambda: jnp.hanning(9)),
                ("blackman", lambda: jnp.blackman(9)),
                ("bartlett", lambda: jnp.bartlett(9)),
                ("kaiser", lambda: jnp.kaiser(9, 3.5)),
                ("ones_like", jnp.ones_like, I),
                ("zeros_like", jnp.zeros_like, F),
                ("tril_indices", lambda: jnp.tril_indices(4)),
            ],
            rtol=1e-4,
        )

    def test_indexing(self):
        x, i, b = array(5, 6, 7), np.array([3, 0, -1, 9], np.int32), array(5, 6) > 0
        self.each(
            [
                ("integers", lambda x: x[2, -1], x),
                ("slices", lambda x: x[1:4, ::-2, None, ..., 3], x),
                ("array", lambda x, i: x[i], x, i),
                ("two arrays", lambda x, i: x[i, :, i], x, i),
                ("mask", lambda x, b: jnp.where(b[..., None], x, 0), x, b),
                ("take", lambda x, i: jnp.take(x, i, axis=1), x, i),
                ("take clip", lambda x, i: jnp.take(x, i, axis=1, mode="clip"), x, i),
                ("take wrap", lambda x, i: jnp.take(x, i, axis=1, mode="wrap"), x, i),
                ("take_along_axis", lambda x: jnp.take_along_axis(x, jnp.argsort(x, axis=2), 2), x),
                ("at set", lambda x, i: x.at[i].set(1.5), x, i),
                ("at add", lambda x, i: x.at[:, i, 2].add(2.0), x, i),
                ("at mul", lambda x: x.at[1:3, ::2].multiply(3.0), x),
                ("at min", lambda x, i: x.at[i].min(0.0), x, i),
                ("at get fill", lambda x, i: x.at[i].get(mode="fill", fill_value=9), x, i),
                ("at drop", lambda x, i: x.at[i].set(5.0, mode="drop"), x, i),
                ("at apply", lambda x: x.at[2].apply(jnp.exp), x),
                ("dynamic start", lambda x, i: jax.lax.dynamic_slice(x, (i[0], 0, 0), (2, 6, 7)), x, i),
                ("choose", lambda i, x: jnp.choose(i, [x, x * 2, x * 3], mode="clip"), J, F),
                ("select", lambda b, x: jnp.select([b, ~b], [x, -x]), B, F),
                ("put_along_axis", lambda x: jnp.put_along_axis(x, jnp.argmax(x, 1, keepdims=True), 9.0, 1, inplace=False), F),
                ("unravel_index", lambda i: jnp.unravel_index(i, (3, 5)), J),
                ("ravel_multi_index", lambda i, j: jnp.ravel_multi_index((i, j), (9, 9), mode="clip"), J, J[::-1]),
                ("fill_diagonal", lambda x: jnp.fill_diagonal(x, 3.0, inplace=False), F),
                ("nonzero of a size", lambda b: jnp.nonzero(b, size=9, fill_value=-1), B),
                ("argwhere of a size", lambda b: jnp.argwhere(b, size=4), B),
                ("where of a size", lambda b: jnp.where(b, size=3), B),
            ]
        )

    def test_sizes_that_the_values_decide(self):
        self.each(
            [
                ("nonzero", jnp.nonzero, B),
                ("mask", lambda x: x[x > 0], F),
                ("unique", jnp.unique, I),
                ("unique all", lambda x: jnp.unique(x, return_index=True, return_inverse=True, return_counts=True), I),
                ("flatnonzero", jnp.flatnonzero, B),
                ("intersect1d", jnp.intersect1d, I, J),
                ("union1d", jnp.union1d, I, J),
                ("setdiff1d", jnp.setdiff1d, I, J),
                ("setxor1d", jnp.setxor1d, I, J),
                ("extract", jnp.extract, B, F),
                ("compress", lambda x: jnp.compress(np.array([True, False, True]), x, axis=0), F),
                ("mask_indices", lambda x: jnp.mask_indices(3, jnp.triu), F),
                ("trim_zeros", jnp.trim_zeros, np.array([0, 0, 1, 2, 0], np.float32)),
            ],
            jit=False,
        )


class Algorithms(PluginTest):

    def test_sorting_and_searching(self):
        x = array(4, 9)
        self.each(
            [
                ("sort", jnp.sort, x),
                ("argsort", jnp.argsort, x),
                ("sort descending", lambda x: jnp.sort(x, descending=True), x),
                ("argsort stable", lambda i: jnp.argsort(i, stable=True), I),
                ("lexsort", lambda i, j: jnp.lexsort((i, j)), I, J),
                ("partition", lambda x: jnp.partition(x, 3)[..., 3], x),
                ("argpartition", lambda x: jnp.argpartition(x, 3)[..., 3], x),
                ("searchsorted", lambda x, v: jnp.searchsorted(jnp.sort(x[0]), v), x, G),
                ("digitize", lambda x: jnp.digitize(x, np.array([-1, 0, 1], np.float32)), x),
                ("isin", jnp.isin, I, J),
                ("in sorted", lambda x, v: jnp.searchsorted(jnp.sort(x[0]), v, side="right", method="sort"), x, G),
                ("sort_complex", jnp.sort_complex, F.ravel()),
                ("unique of a size", lambda i: jnp.unique(i, size=20), I),
            ]
        )

    def test_statistics(self):
        x, w = array(4, 9), array(4, 9, low=0.1, high=1, seed=5)
        self.each(
            [
                ("average", lambda x, w: jnp.average(x, axis=1, weights=w), x, w),
                ("percentile", lambda x: jnp.percentile(x, np.array([10, 50, 80]), axis=1), x),
                ("quantile", lambda x: jnp.quantile(x, 0.3), x),
                ("quantile nearest", lambda x: jnp.quantile(x, 0.3, method="nearest"), x),
                ("histogram", lambda x: jnp.histogram(x, bins=5, range=(-2, 2)), x),
                ("histogram2d", lambda x: jnp.histogram2d(x[0], x[1], bins=3), x),
                ("bincount", lambda i: jnp.bincount(i.ravel(), length=6), J),
                ("cov", jnp.cov, x),
                ("corrcoef", jnp.corrcoef, x),
                ("std ddof", lambda x: jnp.std(x, axis=0, ddof=1), x),
                ("var where", lambda x: jnp.var(x, where=x > -1), x),
                ("histogram_bin_edges", lambda x: jnp.histogram_bin_edges(x, 4), x),
                ("median", jnp.median, x),
            ],
            rtol=1e-4,
        )

    def test_mathematics(self):
        self.each(
            [
                ("convolve", lambda x, y: jnp.convolve(x[0], y[1]), F, G),
                ("correlate", lambda x, y: jnp.correlate(x[0], y[1, :3], mode="same"), F, G),
                ("cross", lambda x, y: jnp.cross(x[:, :3], y[:, :3]), F, G),
                ("diff", lambda x: jnp.diff(x, n=2, axis=1), F),
                ("ediff1d", lambda x: jnp.ediff1d(x, to_end=jnp.array([9.0])), F),
                ("gradient", jnp.gradient, F),
                ("trapezoid", jnp.trapezoid, F),
                ("interp", lambda x: jnp.interp(x, np.array([-1, 0, 1], np.float32), np.array([3, 1, 2], np.float32)), F),
                ("unwrap", lambda x: jnp.unwrap(x * 4), F),
                ("clip", lambda x: jnp.clip(x, -1, 0.5), F),
                ("polyval", lambda x: jnp.polyval(np.array([1, -2, 3], np.float32), x), F),
                ("polyfit", lambda x, y: jnp.polyfit(x.ravel(), y.ravel(), 2), F, G),
                ("poly", lambda x: jnp.poly(x[0]), F),
                ("polymul", lambda x, y: jnp.polymul(x[0], y[0]), F, G),
                ("polydiv", lambda x, y: jnp.polydiv(x[0], y[0, :2]), F, POSITIVE),
                ("polyder", lambda x: jnp.polyder(x[0], 1), F),
                ("polyint", lambda x: jnp.polyint(x[0], 1), F),
                ("ldexp", lambda x, i: jnp.ldexp(x, i), F, I),
                ("packbits", lambda b: jnp.packbits(b, axis=1), B),
                ("unpackbits", lambda i: jnp.unpackbits(i.astype(np.uint8), axis=1), J),
                ("apply_along_axis", lambda x: jnp.apply_along_axis(lambda r: r[0] * r.sum(), 1, x), F),
                ("apply_over_axes", lambda x: jnp.apply_over_axes(jnp.sum, x, (0, 1)), F),
                ("piecewise", lambda x: jnp.piecewise(x, [x < 0, x >= 1], [lambda v: -v, lambda v: v * 2, 0.5]), F),
                ("vectorize", lambda x: jnp.vectorize(lambda v: v @ v, signature="(n)->()")(x), F),
                ("allclose", jnp.allclose, F, F + 1e-9),
                ("isclose", jnp.isclose, F, G),
                ("array_equal", jnp.array_equal, F, F),
                ("frompyfunc", lambda x, y: jnp.frompyfunc(lambda a, b: a * 2 + b, 2, 1)(x, y), F, G),
                ("ufunc reduce", lambda x: jnp.add.reduce(x, axis=1), F),
                ("ufunc accumulate", lambda x: jnp.multiply.accumulate(x, axis=1), F),
                ("ufunc outer", lambda x: jnp.subtract.outer(x[0], x[1]), F),
                ("ufunc at", lambda x: jnp.add.at(x, np.array([0, 0]), 1.0, inplace=False), F),
                ("roots", lambda: jnp.roots(jnp.array([1.0, -6.0, 11.0, -6.0]), strip_zeros=False)),
            ],
            rtol=3e-4,
            atol=3e-4,
        )

    def test_products(self):
        a, b = array(3, 4, 5), array(3, 5, 2)
        self.each(
            [
                ("dot", jnp.dot, a, array(5, 2)),
                ("matmul", jnp.matmul, a, b),
                ("vdot", lambda a: jnp.vdot(a, a), F),
                ("inner", jnp.inner, F, G),
                ("outer", lambda x, y: jnp.outer(x[0], y[0]), F, G),
                ("tensordot", lambda a, b: jnp.tensordot(a, b, ((0, 2), (0, 1))), a, b),
                ("kron", jnp.kron, F, G[:2, :2]),
                ("trace", jnp.trace, F),
                ("vecdot", jnp.vecdot, F, G),
                ("matvec", jnp.matvec, F, G[0]),
                ("vecmat", jnp.vecmat, G[:, 0], F),
                ("einsum", lambda a, b: jnp.einsum("bij,bjk->ik", a, b), a, b),
                ("einsum diagonal", lambda a: jnp.einsum("ii->i", a), array(4, 4)),
                ("einsum three", lambda a, b, c: jnp.einsum("bij,bjk,kl->bil", a, b, c), a, b, array(2, 6)),
                ("einsum ellipsis", lambda a, b: jnp.einsum("...ij,...jk", a, b), a, b),
            ],
            rtol=1e-4,
        )


if __name__ == "__main__":
    main()
