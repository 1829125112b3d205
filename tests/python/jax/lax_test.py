"""The operations of jax.lax, each as a jitted program on both devices."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from support import PluginTest, array, integers, main

F, G = array(3, 4), array(3, 4, seed=1)
POSITIVE, UNIT = array(3, 4, low=0.1, high=3.0), array(3, 4, low=-0.9, high=0.9)
C = array(3, 4, dtype=np.complex64)
I, J = integers(3, 4), integers(3, 4, low=1, high=5, seed=1)
B = I > 0

UNARY = {
    "abs": F,
    "acos": UNIT,
    "acosh": POSITIVE + 1,
    "asin": UNIT,
    "asinh": F,
    "atan": F,
    "atanh": UNIT,
    "bessel_i0e": F,
    "bessel_i1e": F,
    "cbrt": F,
    "ceil": F,
    "cos": F,
    "cosh": F,
    "digamma": POSITIVE,
    "erf": F,
    "erf_inv": UNIT,
    "erfc": F,
    "exp": F,
    "exp2": F,
    "expm1": F,
    "floor": F,
    "integer_pow": F,
    "is_finite": F,
    "lgamma": POSITIVE,
    "log": POSITIVE,
    "log1p": POSITIVE,
    "logistic": F,
    "neg": F,
    "round": F * 3,
    "rsqrt": POSITIVE,
    "sign": F,
    "sin": F,
    "sinh": F,
    "sqrt": POSITIVE,
    "square": F,
    "tan": UNIT,
    "tanh": F,
    "reciprocal": POSITIVE,
}
COMPLEX_UNARY = [
    "abs",
    "conj",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "imag",
    "log",
    "log1p",
    "logistic",
    "neg",
    "real",
    "rsqrt",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "acos",
    "asin",
    "atan",
    "acosh",
    "asinh",
    "atanh",
]
INTEGER_UNARY = ["abs", "neg", "sign", "population_count", "clz", "bitwise_not", "square"]
BINARY = ["add", "sub", "mul", "div", "rem", "max", "min", "atan2", "nextafter", "eq", "ne", "lt", "le", "gt", "ge"]
INTEGER_BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "max",
    "min",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
]


class Elementwise(PluginTest):

    def test_unary_operations(self):
        for name, argument in UNARY.items():
            function = (lambda x: lax.integer_pow(x, 5)) if name == "integer_pow" else getattr(lax, name)
            with self.subTest(name):
                self.same(function, argument)

    def test_unary_operations_of_small_floats(self):
        # XLA computes them in float32, too.
        x = np.array([0.25, 0.5, 0.75], np.float32)
        for name in UNARY:
            if name in ("integer_pow", "acosh", "bessel_i1e", "erfc"):  # acosh of these is NaN, and JAX's CPU refuses the last two.
                continue
            for dtype in (jnp.float8_e4m3fn, jnp.float8_e5m2):
                with self.subTest(name, dtype=dtype.__name__):
                    self.same(getattr(lax, name), x.astype(dtype), rtol=0.25)

    def test_unary_operations_of_complex_numbers(self):
        for name in COMPLEX_UNARY:
            with self.subTest(name):
                self.same(getattr(lax, name), C * 0.4, rtol=1e-4)

    def test_unary_operations_of_integers(self):
        for name in INTEGER_UNARY:
            for dtype in (np.int8, np.int32, np.uint8, np.uint32):
                if name in ("abs", "neg") and np.dtype(dtype).kind == "u":
                    continue
                with self.subTest(name, dtype=dtype):
                    self.same(getattr(lax, name), I.astype(dtype))

    def test_binary_operations(self):
        for name in BINARY:
            with self.subTest(name):
                self.same(getattr(lax, name), F, G)

    def test_binary_operations_of_integers(self):
        for name in INTEGER_BINARY:
            for dtype in (np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32):
                with self.subTest(name, dtype=dtype):
                    self.same(getattr(lax, name), I.astype(dtype), J.astype(dtype))

    def test_special_functions_of_several_arguments(self):
        a, b, x = POSITIVE, POSITIVE[::-1] + 0.5, array(3, 4, low=0.05, high=0.95, seed=3)
        self.each(
            [
                ("betainc", lax.betainc, a, b, x),
                ("igamma", lax.igamma, a, b),
                ("igammac", lax.igammac, a, b),
                ("igamma_grad_a", lax.igamma_grad_a, a, b),
                ("random_gamma_grad", lax.random_gamma_grad, a, b),
                ("polygamma", lax.polygamma, np.full((3, 4), 2, np.float32), a),
                ("zeta", lax.zeta, a + 1.2, b),
                ("pow", lax.pow, POSITIVE, F),
                ("complex", lax.complex, F, G),
            ],
            rtol=1e-4,
        )

    def test_choices_and_conversions(self):
        self.each(
            [
                ("select", lax.select, B, F, G),
                ("select_n", lambda i, a, b, c: lax.select_n(i, a, b, c), I % 3, F, G, F * 2),
                ("clamp", lambda x: lax.clamp(-0.5, x, 0.75), F),
                ("clamp arrays", lax.clamp, F - 1, G, F + 1),
                ("clamp complex", lambda x: lax.clamp(np.complex64(-0.5 + 1j), x, np.complex64(0.75 - 2j)), C),
                ("clamp complex arrays", lax.clamp, C - 1, array(3, 4, seed=2, dtype=np.complex64), C + 1),
                ("bitcast", lambda x: lax.bitcast_convert_type(x, np.int32), F),
                ("bitcast narrower", lambda x: lax.bitcast_convert_type(x, np.uint8), F),
                ("reduce_precision", lambda x: lax.reduce_precision(x, 5, 4), F),
                ("iota", lambda: lax.iota(np.float32, 7)),
                ("broadcasted_iota", lambda: lax.broadcasted_iota(np.int32, (3, 4), 1)),
                ("full_like", lambda x: lax.full_like(x, 3), I),
                ("stop_gradient", lax.stop_gradient, F),
                ("optimization_barrier", lambda x, y: lax.optimization_barrier((x, y)), F, I),
                ("nan_to_inf", lambda x: lax.log(x - 3), POSITIVE),
            ]
        )

    def test_every_pair_of_types_converts(self):
        types = [
            "bool",
            "int8",
            "int16",
            "int32",
            "uint8",
            "uint16",
            "uint32",
            "float16",
            "bfloat16",
            "float32",
            "complex64",
            "int4",
            "uint4",
            "float8_e4m3fn",
            "float8_e5m2",
        ]
        for one in types:
            for other in types:
                with self.subTest(f"{one} to {other}"):
                    self.same(lambda x: x.astype(one).astype(other), np.array([0, 1, 2, 3, 5], np.float32))


class Shapes(PluginTest):

    def test_movement(self):
        x = array(2, 3, 4)
        self.each(
            [
                ("broadcast", lambda x: lax.broadcast(x, (2, 5)), x),
                ("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (2, 3, 5, 4), (0, 1, 3)), x),
                ("collapse", lambda x: lax.collapse(x, 0, 2), x),
                ("concatenate", lambda x, y: lax.concatenate([x, y, x], 1), x, x * 2),
                ("expand_dims", lambda x: lax.expand_dims(x, (0, 2)), x),
                ("reshape", lambda x: lax.reshape(x, (6, 4)), x),
                ("rev", lambda x: lax.rev(x, (0, 2)), x),
                ("squeeze", lambda x: lax.squeeze(x[:, :1], (1,)), x),
                ("transpose", lambda x: lax.transpose(x, (2, 0, 1)), x),
                ("split", lambda x: lax.split(x, (1, 3), 2), x),
                ("pad", lambda x: lax.pad(x, np.float32(7), ((1, 2, 0), (-1, 0, 0), (0, 1, 2))), x),
                ("tile", lambda x: lax.tile(x, (2, 1, 3)), x),
            ]
        )

    def test_slices(self):
        x, i = array(5, 6), np.int32(2)
        self.each(
            [
                ("slice", lambda x: lax.slice(x, (1, 0), (5, 6), (2, 3)), x),
                ("slice_in_dim", lambda x: lax.slice_in_dim(x, 1, -1, axis=1), x),
                ("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, i + 9), (2, 3)), x, i),
                ("dynamic_update_slice", lambda x, i: lax.dynamic_update_slice(x, x[:2, :2] * 10, (i, i + 9)), x, i),
                ("dynamic_index_in_dim", lambda x, i: lax.dynamic_index_in_dim(x, i, 1), x, i),
                ("dynamic_update_index", lambda x, i: lax.dynamic_update_index_in_dim(x, x[0], i, 0), x, i),
                ("index_take", lambda x, i: lax.index_take(x, (i,), (0,)), x, np.array([0, 4, 2], np.int32)),
            ]
        )

    def test_gathers_in_every_mode(self):
        x, i = array(5, 6), np.array([[0], [3], [7], [-2]], np.int32)
        numbers = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
        for mode in ("clip", "fill", "promise_in_bounds"):
            where = np.clip(i, 0, 4) if mode == "promise_in_bounds" else i
            with self.subTest(mode):
                self.same(lambda x, i: lax.gather(x, i, numbers, (1, 6), mode=mode), x, where)

    def test_scatters_in_every_mode(self):
        x, i, u = array(5, 6), np.array([[0], [3], [7], [3]], np.int32), array(4, 6, seed=2)
        numbers = lax.ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
        for name in ("scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max"):
            for mode in ("clip", "fill"):
                with self.subTest(name, mode=mode):
                    self.same(lambda x, i, u: getattr(lax, name)(x, i, u, numbers, mode=mode), x, i, u)
        self.same(lambda x, i, u: lax.scatter(x, i, u, numbers, mode="fill"), x, np.array([[0], [3], [7], [1]], np.int32), u)
        self.same(
            lambda x, i, u: lax.scatter_apply(x, i, lambda v: v * 3, numbers, update_shape=u.shape),
            x,
            np.array([[0], [3], [2], [1]], np.int32),
            u,
        )


class Reductions(PluginTest):

    def test_reductions(self):
        x = array(3, 4, 5)
        self.each(
            [
                (name, lambda x, f=getattr(lax, name): f(x, (0, 2)), x)
                for name in ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min")
            ]
        )
        self.each(
            [
                ("reduce_and", lambda x: lax.reduce_and(x, (1,)), B),
                ("reduce_or", lambda x: lax.reduce_or(x, (1,)), B),
                ("reduce_xor", lambda x: lax.reduce_xor(x, (1,)), I),
                ("argmax", lambda x: lax.argmax(x, 1, np.int32), x),
                ("argmin", lambda x: lax.argmin(x, 2, np.int32), x),
                ("reduce own", lambda x: lax.reduce(x, np.float32(1), lambda a, b: a + b + 0 * a * b, (1,)), x),
                (
                    "reduce two",
                    lambda x, y: lax.reduce(
                        (x, y), (np.float32(0), np.int32(9)), lambda a, b: (a[0] + b[0], lax.min(a[1], b[1])), (0,)
                    ),
                    F,
                    I,
                ),
                ("reduce_precision after", lambda x: lax.reduce_sum(lax.reduce_precision(x, 8, 7), (0,)), x),
            ]
        )

    def test_cumulative_operations(self):
        for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
            for reverse in (False, True):
                with self.subTest(name, reverse=reverse):
                    self.same(lambda x: getattr(lax, name)(x, axis=1, reverse=reverse), F)

    def test_windows(self):
        x = array(2, 7, 8)
        self.each(
            [
                ("sum", lambda x: lax.reduce_window(x, np.float32(0), lax.add, (1, 3, 2), (1, 2, 1), "SAME"), x),
                ("max", lambda x: lax.reduce_window(x, np.float32(-np.inf), lax.max, (1, 2, 2), (1, 2, 2), "VALID"), x),
                (
                    "dilated",
                    lambda x: lax.reduce_window(
                        x,
                        np.float32(1),
                        lax.mul,
                        (1, 2, 2),
                        (1, 1, 1),
                        ((0, 0), (1, 0), (0, 2)),
                        base_dilation=(1, 2, 1),
                        window_dilation=(1, 1, 3),
                    ),
                    x,
                ),
            ]
        )

    def test_sorting(self):
        x, k = array(4, 9), integers(4, 9)
        self.each(
            [
                ("sort", lambda x: lax.sort(x, dimension=1), x),
                ("sort first", lambda x: lax.sort(x, dimension=0), x),
                ("sort two", lambda k, x: lax.sort((k, x), dimension=1, num_keys=1), k, x),
                ("sort by two", lambda k, x: lax.sort((k, x), dimension=1, num_keys=2), k, x),
                ("sort_key_val", lambda k, x: lax.sort_key_val(k, x), k, x),
                ("top_k", lambda x: lax.top_k(x, 3), x),
                ("approx_max_k", lambda x: lax.approx_max_k(x, 3, recall_target=1.0), x),
                ("approx_min_k", lambda x: lax.approx_min_k(x, 3, recall_target=1.0), x),
                ("sort nan", lambda x: lax.sort(x), np.array([3, np.nan, -0.0, 0.0, -np.inf, np.inf], np.float32)),
            ]
        )


class Products(PluginTest):

    def test_contractions(self):
        self.each(
            [
                ("dot", lax.dot, array(3, 4), array(4, 5)),
                ("dot vectors", lax.dot, array(4), array(4)),
                ("batch_matmul", lax.batch_matmul, array(2, 3, 4), array(2, 4, 5)),
                (
                    "dot_general",
                    lambda a, b: lax.dot_general(a, b, (((1, 3), (0, 2)), ((0,), (1,)))),
                    array(2, 3, 4, 5),
                    array(3, 2, 5),
                ),
                ("dot integers", lax.dot, integers(3, 4), integers(4, 5)),
                (
                    "dot int8 to int32",
                    lambda a, b: lax.dot(a, b, preferred_element_type=np.int32),
                    integers(3, 4, dtype=np.int8),
                    integers(4, 5, dtype=np.int8),
                ),
                (
                    "dot bf16 to f32",
                    lambda a, b: lax.dot(a.astype("bfloat16"), b.astype("bfloat16"), preferred_element_type=np.float32),
                    array(3, 4),
                    array(4, 5),
                ),
                ("dot complex", lax.dot, array(3, 4, dtype=np.complex64), array(4, 5, dtype=np.complex64)),
                ("ragged_dot", lambda a, b, s: lax.ragged_dot(a, b, s), array(6, 4), array(3, 4, 5), np.array([2, 1, 3], np.int32)),
            ],
            rtol=1e-4,
        )

    def test_contractions_of_many_shapes(self):
        random = np.random.default_rng(7)
        for seed in range(12):
            m, k, n, b = (int(v) for v in random.integers(1, 9, 4))
            with self.subTest(seed=seed):
                self.same(
                    lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))),
                    array(b, m, k, seed=seed),
                    array(b, k, n, seed=seed),
                    rtol=1e-4,
                )

    def test_convolutions(self):
        x, w = array(2, 3, 9, 8), array(6, 3, 3, 2)
        self.each(
            [
                ("plain", lambda x, w: lax.conv(x, w, (1, 1), "SAME"), x, w),
                ("strided", lambda x, w: lax.conv_general_dilated(x, w, (2, 3), ((1, 0), (2, 1))), x, w),
                (
                    "dilated",
                    lambda x, w: lax.conv_general_dilated(x, w, (1, 1), ((0, 1), (2, 0)), lhs_dilation=(2, 1), rhs_dilation=(1, 2)),
                    x,
                    w,
                ),
                (
                    "grouped",
                    lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", feature_group_count=3),
                    x,
                    array(6, 1, 3, 3),
                ),
                ("batch groups", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", batch_group_count=2), x, w),
                (
                    "channels last",
                    lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
                    array(2, 9, 8, 3),
                    array(3, 3, 3, 4),
                ),
                ("one dimension", lambda x, w: lax.conv_general_dilated(x, w, (2,), "SAME"), array(2, 3, 11), array(4, 3, 5)),
                (
                    "three dimensions",
                    lambda x, w: lax.conv_general_dilated(x, w, (1, 1, 1), "VALID"),
                    array(1, 2, 5, 6, 4),
                    array(3, 2, 2, 3, 2),
                ),
                (
                    "transposed",
                    lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
                    array(2, 5, 4, 3),
                    array(3, 3, 3, 4),
                ),
                ("patches", lambda x: lax.conv_general_dilated_patches(x, (3, 3), (1, 1), "VALID"), x),
            ],
            rtol=2e-4,
            atol=2e-4,
        )

    def test_precisions(self):
        for precision in ("default", "high", "highest", "float32", "tensorfloat32"):
            with self.subTest(precision):
                self.same(lambda a, b: lax.dot(a, b, precision=precision), array(8, 16), array(16, 8), rtol=2e-3, atol=2e-3)


if __name__ == "__main__":
    main()
