"""dot_general and convolution in all their dimension orders, groups, dilations and mixed types."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import inputs
from programs.harness import Program, Registry

CASES = Registry()


@CASES.case("dot_general_zoo", ("f32", "bf16", "f16"))
def dot_general_zoo(rng, dtype):
    """Contractions over any dimensions in any order, several batch dimensions, outer products, vectors."""
    a, b = inputs.varied(rng, (3, 8, 5, 6), dtype, -1, 1), inputs.varied(rng, (6, 3, 7, 5), dtype, -1, 1)
    m, n, v = (inputs.varied(rng, s, dtype, -1, 1) for s in ((17, 33), (33, 9), (33,)))

    def f(a, b, m, n, v):
        dot = lambda a, b, contract, batch=((), ()): lax.dot_general(a, b, (contract, batch))
        return (
            dot(a, b, ((3,), (0,)), ((0,), (1,))),
            dot(a, b, ((2, 3), (3, 0))),
            dot(a, b, ((3, 2), (0, 3)), ((0,), (1,))),
            dot(a, b, ((2,), (3,)), ((3, 0), (0, 1))),
            m @ n,
            dot(n, m, ((0,), (1,))),
            m @ v,
            v @ n,
            v @ v,
            jnp.outer(v[:5], v[:7]),
            jnp.einsum("abcd,dbef->acef", a[:, :3], b),
            jnp.einsum("bij,bkj,bkl->bil", a[:, 0], a[:, 1], a[:, 2]),
        )

    return Program(f, (a, b, m, n, v))


@CASES.case("dot_general_f64")
def dot_general_f64(rng):
    """The plain and the batched product in f64."""
    a, b = rng.standard_normal((4, 9, 31)), rng.standard_normal((4, 31, 6)) * 10
    return Program(lambda a, b: (a @ b, a[0] @ b[1]), (a, b), x64=True, check_f64=False)


@CASES.case("dot_mixed_types")
def dot_mixed_types(rng):
    """Results wider than operands: s8 x s8 to s32, u8 x u8 to u32, bf16 and f16 to f32, s32, and f8 to
    f32."""
    import ml_dtypes

    s8 = [inputs.integers(rng, -128, 128, shape, np.int8) for shape in ((6, 70), (70, 9))]
    u8 = [inputs.integers(rng, 0, 256, shape, np.uint8) for shape in ((6, 70), (70, 9))]
    s32 = [inputs.integers(rng, -(2**20), 2**20, shape) for shape in ((6, 20), (20, 9))]
    bf16, f16, f8 = (
        [inputs.normal(rng, shape, dtype) for shape in ((6, 40), (40, 9))]
        for dtype in (ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e4m3fn)
    )

    def f(s8, u8, s32, bf16, f16, f8):
        wide = lambda pair, to: lax.dot_general(*pair, (((1,), (0,)), ((), ())), preferred_element_type=to)
        return (
            wide(s8, jnp.int32),
            wide(u8, jnp.uint32),
            wide(s32, jnp.int32),
            wide(bf16, jnp.float32),
            wide(f16, jnp.float32),
            wide(f8, jnp.float32),
            wide(s8, jnp.float32),
        )

    return Program(f, (s8, u8, s32, bf16, f16, f8), check_f64=False)


@CASES.case("dot_precision_highest")
def dot_precision_highest(rng):
    """precision=HIGHEST travels in the module; the values are f32's."""
    a, b = inputs.varied(rng, (24, 64), np.float32), inputs.varied(rng, (64, 40), np.float32)
    return Program(lambda a, b: jnp.matmul(a, b, precision=lax.Precision.HIGHEST), (a, b))


def conv(x, k, strides, padding, numbers, **options):
    return lax.conv_general_dilated(x, k, strides, padding, dimension_numbers=numbers, **options)


@CASES.case("convolution_2d_zoo", ("f32", "bf16"))
def convolution_2d_zoo(rng, dtype):
    """2D: NHWC, NCHW, odd layouts, strides, asymmetric and negative padding, both dilations, 1x1, window
    reversal."""
    x, k = inputs.varied(rng, (2, 9, 11, 6), dtype, -1, 1), inputs.weight(rng, (3, 2, 6, 8), dtype)
    nhwc = ("NHWC", "HWIO", "NHWC")

    def f(x, k):
        nchw = x.transpose(0, 3, 1, 2)
        oihw = k.transpose(3, 2, 0, 1)
        return (
            conv(x, k, (1, 1), "SAME", nhwc),
            conv(x, k, (2, 3), "VALID", nhwc),
            conv(nchw, oihw, (1, 2), ((2, 0), (0, 1)), ("NCHW", "OIHW", "NCHW")),
            conv(x, k, (1, 1), ((1, 1), (0, 0)), nhwc, rhs_dilation=(2, 3)),
            conv(x, k, (1, 1), ((2, 2), (1, 3)), nhwc, lhs_dilation=(2, 3)),
            conv(x, k, (1, 1), ((-1, 2), (1, -2)), nhwc),
            conv(x, k, (2, 1), ((1, 2), (3, 1)), nhwc, lhs_dilation=(3, 1), rhs_dilation=(1, 2)),
            conv(x.transpose(1, 2, 3, 0), k, (1, 1), "SAME", ("HWCN", "HWIO", "CNHW")),
            conv(x, k[:1, :1], (1, 1), "VALID", nhwc),
            conv(x[:, :1, :1], k, (1, 1), "SAME", nhwc),
            lax.conv_transpose(x, k, (2, 2), "SAME"),
        )

    return Program(f, (x, k))


@CASES.case("convolution_grouped", ("f32", "bf16"))
def convolution_grouped(rng, dtype):
    """feature_group_count (grouped, depthwise with a multiplier) and batch_group_count."""
    x = inputs.varied(rng, (4, 8, 7, 12), dtype, -1, 1)
    grouped, depthwise = inputs.weight(rng, (3, 3, 4, 18), dtype), inputs.weight(rng, (3, 3, 1, 24), dtype, 9)
    batch = inputs.weight(rng, (3, 3, 12, 8), dtype)
    nhwc = ("NHWC", "HWIO", "NHWC")

    def f(x, grouped, depthwise, batch):
        return (
            conv(x, grouped, (1, 1), "SAME", nhwc, feature_group_count=3),
            conv(x, depthwise, (2, 2), "SAME", nhwc, feature_group_count=12),
            conv(x, batch, (1, 1), "VALID", nhwc, batch_group_count=2),
            conv(
                x.transpose(0, 3, 1, 2),
                depthwise.transpose(3, 2, 0, 1),
                (1, 1),
                "VALID",
                ("NCHW", "OIHW", "NCHW"),
                feature_group_count=12,
            ),
        )

    return Program(f, (x, grouped, depthwise, batch))


@CASES.case("convolution_gradients", ("f32", "bf16"))
def convolution_gradients(rng, dtype):
    """Gradients of strided, dilated, grouped and depthwise convolutions: the transposed forms XLA must
    run."""
    x, k = inputs.normal(rng, (3, 8, 7, 4), dtype), inputs.weight(rng, (3, 3, 4, 6), dtype)
    grouped = inputs.weight(rng, (3, 3, 2, 6), dtype)
    nhwc = ("NHWC", "HWIO", "NHWC")

    def f(x, k, grouped):
        def both(kernel, strides, **options):
            run = lambda x, kernel: conv(x, kernel, strides, ((1, 1), (1, 0)), nhwc, **options)
            value, pull = jax.vjp(run, x, kernel)
            return pull(
                jnp.cos(jnp.arange(value.size, dtype=jnp.float32)).reshape(value.shape).astype(x.dtype)
            )

        return (
            both(k, (1, 1)),
            both(k, (2, 2)),
            both(k, (1, 1), rhs_dilation=(2, 1)),
            both(grouped, (1, 2), feature_group_count=2),
        )

    return Program(f, (x, k, grouped))


@CASES.case("convolution_1d_3d", ("f32", "bf16"))
def convolution_1d_3d(rng, dtype):
    """1D (causal, dilated, full correlation) and 3D convolutions, and one without spatial dimensions."""
    x1, k1 = inputs.varied(rng, (3, 20, 5), dtype, -1, 1), inputs.weight(rng, (4, 5, 7), dtype)
    x3, k3 = inputs.varied(rng, (2, 5, 6, 4, 3), dtype, -1, 1), inputs.weight(rng, (2, 3, 2, 3, 4), dtype)

    def f(x1, k1, x3, k3):
        nwc = ("NWC", "WIO", "NWC")
        return (
            conv(x1, k1, (1,), ((3, 0),), nwc),
            conv(x1, k1, (1,), ((9, 0),), nwc, rhs_dilation=(3,)),
            conv(x1, k1, (2,), "SAME", nwc),
            conv(x1.transpose(0, 2, 1), k1.transpose(2, 1, 0), (1,), "VALID", ("NCW", "OIW", "NCW")),
            conv(x3, k3, (1, 2, 1), "SAME", ("NDHWC", "DHWIO", "NDHWC")),
            conv(x1[:, 0], k1[0], (), (), lax.ConvDimensionNumbers((0, 1), (1, 0), (0, 1))),
            jnp.convolve(x1[0, :, 0], k1[:, 0, 0]),
        )

    return Program(f, (x1, k1, x3, k3))


@CASES.case("convolution_mixed_types")
def convolution_mixed_types(rng):
    """s8 to s32 and bf16 to f32 convolutions."""
    import ml_dtypes

    s8 = (
        inputs.integers(rng, -128, 128, (2, 6, 6, 5), np.int8),
        inputs.integers(rng, -128, 128, (3, 3, 5, 4), np.int8),
    )
    bf16 = (
        inputs.normal(rng, (2, 6, 6, 5), ml_dtypes.bfloat16),
        inputs.normal(rng, (3, 3, 5, 4), ml_dtypes.bfloat16),
    )

    def f(s8, bf16):
        nhwc = ("NHWC", "HWIO", "NHWC")
        return (
            conv(*s8, (1, 1), "SAME", nhwc, preferred_element_type=jnp.int32),
            conv(*bf16, (1, 1), "SAME", nhwc, preferred_element_type=jnp.float32),
        )

    return Program(f, (s8, bf16), check_f64=False)
