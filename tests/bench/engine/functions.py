#!/usr/bin/env python3
"""Functions as people write them in JAX: the engine's times beside XLA's, in one run.

    functions.py MODULE_BENCH                          as machine code, with all instructions of this processor
    functions.py MODULE_BENCH --level avx2             both limited to AVX2; XLA's YNNPACK only with --without-ynnpack
    functions.py MODULE_BENCH --only lstm,softmax --rounds 5
    functions.py MODULE_BENCH --against OLD_BENCH      an older build, too, in turn
    taskset -c 0 functions.py MODULE_BENCH --processor one core each, on a machine that does other things, too

A ratio above 1 is slower than XLA. Each is the median over the rounds, in which all take turns.
"""

import argparse
import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from products import XLA_LEVELS, xla_times  # noqa: E402

M4 = 1 << 22
RANDOM = np.random.default_rng(29)


def f32(*shape):
    return (RANDOM.standard_normal(shape) / 2).astype(np.float32)


def f64(*shape):
    return RANDOM.standard_normal(shape) / 2


def whole(top, *shape, kind=np.int32):
    return RANDOM.integers(0, top, shape).astype(kind)


def half(kind, *shape):
    import jax.numpy as jnp

    return f32(*shape).astype(getattr(jnp, kind))


CASES = {}


def case(*arguments, name=None):
    """Registers a function with its arguments, which a call makes."""

    def register(function):
        CASES[name or function.__name__] = (function, arguments)
        return function

    return register


def define(jax, jnp):
    lax, nn = jax.lax, jax.nn

    # Softmax and its kin.
    case(lambda: f32(256, 8192), name="softmax_wide")(lambda x: nn.softmax(x, -1))
    case(lambda: f32(65536, 64), name="softmax_narrow")(lambda x: nn.softmax(x, -1))
    case(lambda: f32(1024, 1024), name="softmax_columns")(lambda x: nn.softmax(x, 0))
    case(lambda: f32(2048, 1000), name="log_softmax")(lambda x: nn.log_softmax(x * 0.5 + 1, -1))
    case(lambda: f32(M4 // 2048, 2048), name="logsumexp")(lambda x: nn.logsumexp(x, -1))
    case(lambda: f32(1024, 1000), lambda: whole(1000, 1024), name="cross_entropy_gradient")(
        jax.grad(lambda x, y: -jnp.take_along_axis(nn.log_softmax(x), y[:, None], 1).mean())
    )
    case(lambda: f32(4, 8, 256, 256), lambda: whole(2, 4, 1, 256, 256, kind=np.bool_), name="masked_softmax")(
        lambda s, m: nn.softmax(jnp.where(m, s / 8, -1e9), -1)
    )
    case(lambda: half("bfloat16", 1024, 2048), name="softmax_bf16")(lambda x: nn.softmax(x, -1))

    # Norms.
    def layer_norm(x, g, b):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5) * g + b

    case(lambda: f32(2048, 768), lambda: f32(768), lambda: f32(768), name="layer_norm_gelu")(
        lambda x, g, b: nn.gelu(layer_norm(x, g, b))
    )
    case(lambda: f32(1024, 768), lambda: f32(768), lambda: f32(768), name="layer_norm_gradient")(
        jax.grad(lambda x, g, b: jnp.sum(jnp.square(layer_norm(x, g, b))), (0, 1, 2))
    )
    case(lambda: half("bfloat16", 1024, 2048), lambda: half("bfloat16", 2048), name="rms_norm_bf16")(
        lambda x, g: (x.astype(jnp.float32) * lax.rsqrt(jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True) + 1e-6)).astype(x.dtype) * g
    )
    case(lambda: f32(32, 28, 28, 64), lambda: f32(64), lambda: f32(64), name="batch_norm")(
        lambda x, g, b: nn.relu((x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5) * g + b)
    )

    # Attention and its decoding.
    def attention(q, k, v, causal=True):
        s = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1])
        if causal:
            s = jnp.where(jnp.tril(jnp.ones((q.shape[1], k.shape[1]), bool)), s, -1e30)
        return jnp.einsum("bhts,bshd->bthd", nn.softmax(s, -1), v)

    qkv = [lambda: f32(4, 256, 8, 64)] * 3
    case(*qkv, name="attention_causal")(attention)
    case(*[lambda: f32(2, 128, 8, 64)] * 3, name="attention_gradient")(
        jax.grad(lambda q, k, v: attention(q, k, v).sum(), (0, 1, 2))
    )
    case(*[lambda: half("bfloat16", 2, 256, 8, 64)] * 3, name="attention_bf16")(functools.partial(attention, causal=False))

    def decode(q, keys, values, k, v, i):
        keys = lax.dynamic_update_slice(keys, k[:, None], (np.int32(0), i, np.int32(0), np.int32(0)))
        values = lax.dynamic_update_slice(values, v[:, None], (np.int32(0), i, np.int32(0), np.int32(0)))
        s = jnp.einsum("bhd,bshd->bhs", q, keys) / 8
        s = jnp.where(jnp.arange(keys.shape[1]) <= i, s, -1e30)
        return jnp.einsum("bhs,bshd->bhd", nn.softmax(s, -1), values), keys, values

    one, cache = lambda: f32(4, 8, 64), lambda: f32(4, 512, 8, 64)
    case(one, cache, cache, one, one, lambda: np.int32(300), name="decode_cache")(decode)

    # Recurrent networks.
    def lstm(x, w, u, b):
        def cell(state, xt):
            h, c = state
            i, f, g, o = jnp.split(xt @ w + h @ u + b, 4, -1)
            c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
            h = nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((x.shape[1], u.shape[0]))
        return lax.scan(cell, (zero, zero), x)[1]

    arguments = [lambda: f32(64, 16, 128), lambda: f32(128, 512) / 8, lambda: f32(128, 512) / 8, lambda: f32(512)]
    case(*arguments, name="lstm")(lstm)
    case(*arguments, name="lstm_gradient")(jax.grad(lambda *a: lstm(*a).sum(), (1, 2, 3)))

    def gru(x, w, u):
        def cell(h, xt):
            a, b = xt @ w, h @ u
            r, z = nn.sigmoid(a[..., :64] + b[..., :64]), nn.sigmoid(a[..., 64:128] + b[..., 64:128])
            h = (1 - z) * jnp.tanh(a[..., 128:] + r * b[..., 128:]) + z * h
            return h, h

        return lax.scan(cell, jnp.zeros((x.shape[1], 64)), x)[0]

    case(lambda: f32(100, 4, 64), lambda: f32(64, 192) / 8, lambda: f32(64, 192) / 8, name="gru")(gru)

    # Order.
    case(lambda: f32(64, 16384), name="top_k")(lambda x: lax.top_k(x, 16))
    case(lambda: f32(512, 40), name="top_3_of_40")(lambda x: lax.top_k(x, 3))
    case(lambda: f32(512, 2048), name="sort")(lambda x: jnp.sort(x, -1))
    case(lambda: f32(1 << 19), name="argsort")(jnp.argsort)
    case(lambda: f32(1024, 4096), name="argmax")(lambda x: jnp.argmax(x, -1))
    case(lambda: f32(8, 32000), name="nucleus")(
        lambda x: jnp.sum(jnp.cumsum(jnp.sort(nn.softmax(x), -1)[:, ::-1], -1) < 0.9, -1)
    )
    case(lambda: f32(1024, 1024), name="median")(lambda x: jnp.median(x, -1))

    # Cumulative operations.
    case(lambda: f32(1024, 2048), name="cumsum")(lambda x: jnp.cumsum(x, -1))
    case(lambda: f32(2048, 1024), name="cumsum_columns")(lambda x: jnp.cumsum(x, 0))
    case(lambda: f64(512, 512) + 1, name="cumprod_f64")(lambda x: jnp.cumprod(x, -1))
    case(lambda: f32(1024, 1024), name="cumlogsumexp")(lambda x: lax.cumlogsumexp(x, 1))

    # Tables: embeddings, gathers, scatters, segments.
    case(lambda: whole(1000, 4096), lambda: f32(1000, 64), name="one_hot_embedding")(lambda i, t: nn.one_hot(i, 1000) @ t)
    case(lambda: whole(1000, 2048), lambda: f32(1000, 64), name="one_hot_gradient")(
        jax.grad(lambda i, t: jnp.square(nn.one_hot(i, 1000) @ t).sum(), 1)
    )
    case(lambda: whole(32000, 4096), lambda: f32(32000, 256), name="embedding_gradient")(
        jax.grad(lambda i, t: jnp.square(t[i]).sum(), 1)
    )
    case(lambda: half("float16", 1 << 20), lambda: whole(1 << 20, 1 << 20), lambda: half("float16", 1 << 20), name="scatter_add_f16")(
        lambda a, i, u: a.at[i].add(u)
    )
    case(lambda: f32(100_000), lambda: whole(100_000, 1 << 20), lambda: f32(1 << 20), name="scatter_add_f32")(
        lambda a, i, u: a.at[i].add(u)
    )
    case(lambda: f32(1 << 18, 8), lambda: whole(4096, 1 << 18), name="segment_sum")(
        lambda x, i: jax.ops.segment_sum(x, i, 4096)
    )
    case(lambda: whole(512, 1 << 20), name="bincount")(lambda i: jnp.zeros(512, jnp.int32).at[i].add(1))
    case(lambda: f32(2048, 513), lambda: whole(513, 2048, 32), name="take_along")(lambda x, i: jnp.take_along_axis(x, i, 1))
    case(lambda: f32(64, 1025, 31), name="flip_roll")(lambda x: jnp.roll(x[:, ::-1], 7, 1))

    # Conversions and reductions.
    case(lambda: np.abs(f32(M4)) * 1e6, name="f32_to_u64")(lambda x: x.astype(jnp.uint64))
    case(lambda: whole(1 << 30, M4, kind=np.int64), name="s64_to_f32")(lambda x: x.astype(jnp.float32) * 0.5)
    case(lambda: half("float16", 2048, 2048), name="row_sums_f16")(lambda x: x.sum(-1))
    case(lambda: half("bfloat16", 2048, 2048), name="row_sums_bf16")(lambda x: x.sum(-1))
    case(lambda: half("bfloat16", 2048, 2048), name="column_sums_bf16")(lambda x: x.sum(0))
    case(lambda: f32(M4), name="full_sum")(jnp.sum)
    case(lambda: f32(M4), name="full_norm")(lambda x: jnp.sqrt(jnp.sum(x * x)))
    case(lambda: f32(M4), lambda: f32(M4), name="full_loss")(lambda x, y: jnp.mean(jnp.abs(x - y) + jnp.square(x - y)))
    case(lambda: f64(M4), name="full_max_f64")(lambda x: jnp.max(jnp.abs(x)))
    case(lambda: whole(100, M4, kind=np.int8), name="full_sum_s8")(lambda x: jnp.sum(x.astype(jnp.int32)))
    case(lambda: f32(100, 200, 300), name="middle_sum")(lambda x: x.sum(1))

    # Chains.
    case(*[lambda: f32(M4)] * 3, name="chain_3_inputs")(lambda x, y, z: jnp.where(x > y, x * z + y, z - x) * 0.5)
    case(lambda: f32(M4), name="chain_swish")(lambda x: x * nn.sigmoid(x) + jnp.tanh(x))
    case(lambda: f32(M4), name="chain_logs")(lambda x: jnp.log1p(jnp.exp(-jnp.abs(x))) + jnp.maximum(x, 0))
    case(lambda: f32(M4), name="chain_trigonometry")(lambda x: jnp.sin(x) * jnp.cos(2 * x))
    case(lambda: half("bfloat16", M4), lambda: half("bfloat16", M4), name="chain_bf16")(lambda x, y: nn.silu(x) * y)
    case(lambda: f64(1 << 20), name="chain_f64")(lambda x: jnp.exp(-x * x) * jnp.sqrt(jnp.abs(x)))
    case(lambda: f32(M4), name="power_log")(lambda x: jnp.power(jnp.abs(x) + 0.1, 2.2))
    case(lambda: f32(1 << 20), name="erf_inverse")(lambda x: lax.erf_inv(jnp.tanh(x)))
    adam_state = [lambda: f32(1 << 20)] * 3 + [lambda: np.abs(f32(1 << 20))]

    @case(*adam_state)
    def adam(p, g, m, v):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        return p - 1e-3 * (m / 0.1) / (jnp.sqrt(v / 0.001) + 1e-8), m, v

    # Transforms.
    case(lambda: f32(256, 4096), name="rfft")(jnp.fft.rfft)
    case(lambda: f32(1024, 1000), name="rfft_1000")(jnp.fft.rfft)
    case(lambda: f32(1024, 1024) + 1j * f32(1024, 1024), name="fft_c64")(jnp.fft.fft)
    case(lambda: f32(256, 256), name="fft2_filter")(lambda x: jnp.fft.irfft2(jnp.fft.rfft2(x) * 0.5, s=(256, 256)))
    case(lambda: f32(64, 2049) + 1j * f32(64, 2049), name="irfft")(lambda x: jnp.fft.irfft(x))

    # Convolutions.
    def conv(x, w, stride=1, groups=1, **more):
        return lax.conv_general_dilated(
            x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups, **more
        )

    case(lambda: whole(100, 8, 28, 28, 32, kind=np.int8), lambda: whole(100, 3, 3, 32, 32, kind=np.int8), name="conv_s8")(
        lambda x, w: conv(x, w, preferred_element_type=jnp.int32)
    )
    case(lambda: f32(8, 28, 28, 128), lambda: f32(1, 1, 128, 256), name="conv_1x1")(conv)
    case(lambda: f32(8, 28, 28, 128), lambda: f32(3, 3, 1, 128), name="conv_depthwise")(functools.partial(conv, groups=128))
    case(lambda: f64(2, 28, 28, 16), lambda: f64(3, 3, 16, 32), name="conv_f64")(conv)
    case(lambda: whole(9, 4, 28, 28, 16), lambda: whole(9, 3, 3, 16, 32), name="conv_s32")(conv)
    case(lambda: f32(8, 28, 28, 32), lambda: f32(3, 3, 32, 64), name="conv_gradient")(
        jax.grad(lambda x, w: jnp.square(conv(x, w, 2)).sum(), (0, 1))
    )

    @case(lambda: f32(4, 28, 28, 64), lambda: f32(3, 3, 64, 64) / 16, lambda: f32(3, 3, 64, 64) / 16, lambda: f32(64), lambda: f32(64))
    def resnet_block(x, w1, w2, s1, s2):
        y = nn.relu(conv(x, w1) * s1 + s2)
        return nn.relu(conv(y, w2) * s2 + s1 + x)

    case(lambda: f32(16, 56, 56, 32), name="max_pool")(
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    )
    case(lambda: f32(4, 28, 28, 16), name="max_pool_2x2")(
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    )
    case(lambda: f32(16, 56, 56, 32), name="average_pool_gradient")(
        jax.grad(lambda x: jnp.square(lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")).sum())
    )
    case(lambda: f32(8, 56, 56, 16), name="max_pool_gradient")(
        jax.grad(lambda x: jnp.square(lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")).sum())
    )
    case(lambda: f32(4, 1, 4096), lambda: f32(16, 1, 33), name="conv_1d")(
        lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME")
    )

    # Products.
    case(lambda: f32(512, 12, 12), lambda: f32(512, 12, 12), name="matmul_small_batch")(jnp.matmul)
    case(lambda: f32(4096, 4, 4), lambda: f32(4096, 4, 4), name="matmul_4x4")(jnp.matmul)
    case(lambda: f32(64, 32, 48), lambda: f32(64, 48, 20), lambda: f32(64, 20), name="einsum_bilinear")(
        lambda a, b, c: jnp.einsum("bij,bjk,bk->bi", a, b, c)
    )
    case(lambda: f32(16, 24, 32), lambda: f32(24, 32, 40), name="einsum_two")(lambda a, b: jnp.einsum("bij,ijk->bk", a, b))
    case(lambda: f32(100, 100), name="outer_distance")(lambda x: jnp.square(x[:, None] - x[None]).sum(-1))
    case(lambda: whole(100, 256, 256, kind=np.int8), lambda: whole(100, 256, 256, kind=np.int8), name="matmul_s8")(
        lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32)
    )
    case(lambda: whole(100, 200, 200), lambda: whole(100, 200, 200), name="matmul_s32")(jnp.matmul)
    case(lambda: f64(300, 300), lambda: f64(300, 300), name="matmul_f64")(jnp.matmul)
    case(lambda: f32(128, 128) + 1j * f32(128, 128), name="matmul_c64")(lambda a: a @ a)

    def mlp(x, w1, b1, w2, b2):
        return nn.gelu(x @ w1 + b1) @ w2 + b2

    def mlp_arguments(make, rows, width, hidden):
        return [lambda: make(rows, width), lambda: make(width, hidden) / 16, lambda: make(hidden), lambda: make(hidden, width) / 16, lambda: make(width)]

    bf16 = functools.partial(half, "bfloat16")
    case(*mlp_arguments(bf16, 128, 256, 1024), name="mlp_bf16_step")(
        jax.value_and_grad(lambda x, *w: jnp.square(mlp(x, *w).astype(jnp.float32)).mean(), (1, 2, 3, 4))
    )
    case(*mlp_arguments(f32, 64, 128, 512), name="mlp_small")(mlp)
    case(*mlp_arguments(f32, 8, 512, 2048), name="mlp_few_rows")(mlp)
    case(*mlp_arguments(f32, 256, 256, 1024), name="mlp_gradient")(jax.grad(lambda x, *w: mlp(x, *w).sum(), (1, 2, 3, 4)))

    # Movement.
    case(lambda: f32(37, 129, 253), name="transpose_odd")(lambda x: x.transpose(2, 0, 1))
    case(lambda: f32(1023, 1025), name="transpose_2d_odd")(lambda x: x.T * 2)
    case(lambda: f32(8, 128, 12, 64), name="transpose_heads")(lambda x: x.transpose(0, 2, 1, 3))
    case(lambda: whole(100, 511, 2047, kind=np.int8), name="transpose_s8")(lambda x: x.T)
    case(lambda: f32(16, 64, 64, 3), name="to_channels_first")(lambda x: x.transpose(0, 3, 1, 2) / 255 - 0.5)
    case(lambda: f32(512, 100), lambda: f32(512, 27), name="concatenate_pad")(
        lambda a, b: jnp.pad(jnp.concatenate([a, b, a], 1), ((1, 2), (3, 4)))
    )
    case(lambda: f32(256, 1024), name="patches")(lambda x: jnp.stack([x[:, i : i + 1000] for i in range(8)]).sum(0))

    # Loops.
    case(lambda: np.float32(0.3), name="loop_scalar")(
        lambda x: lax.fori_loop(0, 100_000, lambda i, y: 3.7 * y * (1 - y), x)
    )
    case(lambda: np.float32(2.0), name="loop_newton")(
        lambda x: lax.while_loop(lambda s: s[1] < 20_000, lambda s: (s[0] - (s[0] * s[0] - 2) / (2 * s[0]) + 1e-3, s[1] + 1), (x, 0))[0]
    )
    case(lambda: f32(256), name="loop_vector")(lambda x: lax.fori_loop(0, 10_000, lambda i, y: jnp.sin(y) + 0.1 * x, x))
    case(lambda: f32(8, 8) / 4, lambda: f32(8), name="loop_matvec")(lambda a, x: lax.fori_loop(0, 2000, lambda i, y: jnp.tanh(a @ y + x), x))
    case(lambda: f32(1000, 32), name="scan_average")(
        lambda x: lax.scan(lambda m, v: (0.9 * m + 0.1 * v, m), jnp.zeros(32), x)
    )
    case(lambda: f32(3), name="loop_lorenz")(
        lambda s: lax.fori_loop(
            0, 5000,
            lambda i, s: s + 0.01 * jnp.array([10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]]),
            s,
        )
    )
    case(lambda: whole(100, 5000), name="loop_array_updates")(
        lambda x: lax.fori_loop(1, 5000, lambda i, y: y.at[i].set((y[i] + y[i - 1]) % 101), x)
    )
    case(lambda: f32(64), name="bisection")(
        lambda y: lax.fori_loop(
            0, 60, lambda i, s: (jnp.where(((s[0] + s[1]) / 2) ** 3 < y, (s[0] + s[1]) / 2, s[0]), jnp.where(((s[0] + s[1]) / 2) ** 3 < y, s[1], (s[0] + s[1]) / 2)), (y * 0 - 2, y * 0 + 2)
        )[0]
    )

    # Random numbers.
    key = lambda: np.array([7, 9], np.uint32)  # noqa: E731
    case(key, name="random_bits")(lambda k: jax.random.bits(jax.random.wrap_key_data(k), (1 << 20,)))
    case(key, name="random_normal")(lambda k: jax.random.normal(jax.random.wrap_key_data(k), (1 << 20,)))
    case(key, lambda: f32(1024, 1024), name="dropout")(
        lambda k, x: jnp.where(jax.random.bernoulli(jax.random.wrap_key_data(k), 0.9, x.shape), x / 0.9, 0)
    )
    case(key, lambda: f32(64, 1000), name="categorical")(
        lambda k, x: jax.random.categorical(jax.random.wrap_key_data(k), x)
    )

    # A transformer's layer.
    def block(x, wq, wo, w1, w2, g):
        h = layer_norm(x, g, g)
        q, k, v = jnp.split((h @ wq).reshape(*x.shape[:2], 12, 64), 3, 2)
        x = x + attention(q, k, v).reshape(*x.shape[:2], 256) @ wo
        return x + nn.gelu(layer_norm(x, g, g) @ w1) @ w2

    weights = [lambda: f32(256, 768) / 16, lambda: f32(256, 256) / 16, lambda: f32(256, 1024) / 16, lambda: f32(1024, 256) / 16, lambda: f32(256)]
    case(lambda: f32(4, 128, 256), *weights, name="transformer_block")(block)
    case(lambda: f32(2, 64, 256), *weights, name="transformer_gradient")(jax.grad(lambda *a: block(*a).sum(), (1, 2, 3, 4, 5)))
    case(lambda: f32(200, 200), name="cholesky")(lambda a: jnp.linalg.cholesky(a @ a.T + 100 * jnp.eye(200)))
    case(lambda: f32(256, 512, 4), lambda: f32(4, 4), name="quadratic_forms")(lambda x, a: jnp.einsum("nmi,ij,nmj->nm", x, a, x))
    case(lambda: f32(128, 64), lambda: f32(512, 64), name="nearest")(
        lambda x, c: jnp.argmin(jnp.square(x[:, None] - c[None]).sum(-1), -1)
    )

    define_short_rows(jax, jnp)
    define_various(jax, jnp)


def define_various(jax, jnp):
    """Registers functions of one rare kind each: of mathematics, images, geometry, search, simulation."""
    lax, nn = jax.lax, jax.nn

    # Functions that call the C library, or did; integers that are divided.
    case(lambda: f64(1 << 15), name="softplus_f64")(lambda x: nn.softplus(x).sum())
    case(lambda: f32(20000, 3), name="spherical_coordinates")(
        lambda x: jnp.stack([jnp.linalg.norm(x, axis=-1), jnp.arctan2(x[:, 1], x[:, 0]), jnp.arccos(jnp.clip(x[:, 2], -1, 1))], -1)
    )
    case(lambda: np.abs(f32(2048)) + 0.5, name="betainc")(
        lambda x: jax.scipy.special.betainc(x, 2.0, jnp.clip(x / 4, 0.01, 0.9))
    )
    case(lambda: whole(1 << 30, 1 << 16), lambda: whole(1000, 1 << 16) + 1, name="divide_modulo_s32")(lambda a, b: (a // b, a % b))
    case(lambda: whole(1000, 256) + 1, name="collatz")(
        lambda x: lax.while_loop(
            lambda s: (s[0] != 1).any(),
            lambda s: (jnp.where(s[0] == 1, 1, jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1)), s[1] + (s[0] != 1)),
            (x, x * 0),
        )[1]
    )

    # Search.
    case(lambda: np.sort(f32(1000)), lambda: f32(10000), name="searchsorted")(jnp.searchsorted)
    case(lambda: f32(10000), lambda: np.sort(f32(100)), lambda: f32(100), name="interpolate")(jnp.interp)
    case(lambda: f32(1 << 16), name="histogram")(lambda x: jnp.histogram(x, 64)[0])
    case(lambda: f32(200, 16), lambda: f32(500, 16), name="nearest_5")(
        lambda q, x: lax.top_k(-jnp.square(q[:, None] - x[None]).sum(-1), 5)
    )

    # Reductions of boxes and of axes around another; segments.
    case(lambda: f32(8, 64, 64, 16), name="average_pool_by_reshape")(lambda x: x.reshape(8, 32, 2, 32, 2, 16).mean((2, 4)))
    case(lambda: f32(64, 64, 64), name="variance_around")(lambda x: (x.var((0, 2)), x.std(1)))
    case(lambda: f32(8, 16, 16, 8, 4), name="group_norm")(
        lambda y: (y - y.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(y.var((1, 2, 4), keepdims=True) + 1e-5)
    )
    case(lambda: f32(1 << 16, 4), lambda: whole(1000, 1 << 16), name="segment_max")(lambda x, i: jax.ops.segment_max(x, i, 1000))
    case(lambda: f32(1024, 32), name="transmittance")(lambda x: jnp.cumprod(1 - nn.sigmoid(x), 1))

    # Images.
    case(lambda: whole(255, 8, 64, 64, 3, kind=np.uint8), name="normalise_image")(
        lambda x: (x.astype(jnp.float32) / 255 - jnp.array([0.48, 0.45, 0.4])) / jnp.array([0.2, 0.21, 0.22])
    )
    case(lambda: f32(4, 64, 64, 16), name="resize_nearest")(lambda x: jax.image.resize(x, (4, 128, 128, 16), "nearest"))
    case(lambda: half("bfloat16", 4, 28, 28, 32), lambda: half("bfloat16", 3, 3, 32, 32), name="conv_bf16")(
        lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    )
    case(lambda: whole(256, 1 << 14, kind=np.uint8), name="unpack_bits")(
        lambda x: ((x[:, None] >> jnp.arange(8, dtype=jnp.uint8)) & 1).reshape(-1)
    )

    # Tiny matrices, and every other element.
    case(lambda: f32(5000, 3, 3), lambda: f32(5000, 3, 3), name="matmul_3x3")(jnp.matmul)
    case(lambda: f32(1000, 4), lambda: f32(1000, 4), lambda: f32(3, 4, 4), name="bilinear_forms")(
        lambda x, y, w: jnp.einsum("ni,nj,kij->nk", x, y, w)
    )
    case(lambda: f32(100_000, 2), name="pairs_multiplied")(lambda x: x[:, 0] * x[:, 1])
    case(lambda: f32(5000, 4), lambda: f32(5000, 4), name="quaternions")(
        lambda a, b: jnp.stack([
            a[:, 0] * b[:, 0] - a[:, 1] * b[:, 1] - a[:, 2] * b[:, 2] - a[:, 3] * b[:, 3],
            a[:, 0] * b[:, 1] + a[:, 1] * b[:, 0] + a[:, 2] * b[:, 3] - a[:, 3] * b[:, 2],
            a[:, 0] * b[:, 2] - a[:, 1] * b[:, 3] + a[:, 2] * b[:, 0] + a[:, 3] * b[:, 1],
            a[:, 0] * b[:, 3] + a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1] + a[:, 3] * b[:, 0],
        ], -1)
    )

    # Simulation by a loop of a few elements.
    def runge_kutta(y, h=0.01):
        f = lambda y: jnp.stack([y[1], -9.81 * jnp.sin(y[0])])  # noqa: E731

        def step(_, y):
            a = f(y)
            b = f(y + h / 2 * a)
            c = f(y + h / 2 * b)
            return y + h / 6 * (a + 2 * b + 2 * c + f(y + h * c))

        return lax.fori_loop(0, 1000, step, y)

    case(lambda: f32(2), name="loop_pendulum")(runge_kutta)
    case(lambda: f32(2, 16), name="loop_pendulums")(runge_kutta)
    define_scalar_loops(jax, jnp)


def define_scalar_loops(jax, jnp):
    """Registers loops whose state is a few scalars, and reductions of a few elements in them."""
    lax = jax.lax
    case(lambda: np.float32(1), lambda: np.float32(0), name="loop_oscillator")(
        lambda x, v: lax.fori_loop(0, 2000, lambda i, s: (s[0] + 0.01 * s[1], s[1] - 0.01 * s[0]), (x, v))
    )
    case(lambda: np.uint32(7), name="loop_congruences")(
        lambda x: lax.fori_loop(0, 3000, lambda i, s: s * np.uint32(1664525) + np.uint32(1013904223), x)
    )

    def filtered(state, x):
        y = 0.2 * x + 0.3 * state[0] + 0.2 * state[1] + 0.5 * state[2] - 0.1 * state[3]
        return (x, state[0], y, state[2]), y

    case(lambda: f32(3000), name="scan_filter")(lambda x: lax.scan(filtered, (0.0,) * 4, x)[1])

    def swing(state, force):
        return jnp.stack([state[0] + 0.05 * state[1], state[1] + 0.05 * (jnp.sin(state[0]) + force)]), state[0]

    case(lambda: f32(2), lambda: f32(200), name="scan_pendulum_gradient")(
        jax.grad(lambda state, forces: lax.scan(swing, state, forces)[1].sum(), 1)
    )
    case(lambda: f32(3, 3), lambda: f32(300, 3), name="scan_best_of_3")(
        lambda moves, scores: lax.scan(
            lambda best, score: ((best[:, None] + moves).max(0) + score, (best[:, None] + moves).argmax(0)), scores[0], scores[1:]
        )
    )
    case(lambda: np.abs(f32(8, 8)), lambda: np.abs(f32(300, 8)), name="scan_normalised_products")(
        lambda moves, scores: lax.scan(
            lambda state, score: ((state @ moves) * score / ((state @ moves) * score).sum(), None), jnp.ones(8) / 8, scores
        )[0]
    )


def define_short_rows(jax, jnp):
    """Registers functions whose innermost dimensions have few elements."""
    lax, nn = jax.lax, jax.nn

    # Decoding: the best of a few.
    def viterbi(transitions, scores):
        def step(best, score):
            paths = best[:, :, None] + transitions
            return paths.max(1) + score, paths.argmax(1)

        last, back = lax.scan(step, scores[0], scores[1:])
        return last.max(-1), lax.scan(
            lambda state, places: (jnp.take_along_axis(places, state[:, None], 1)[:, 0],) * 2, last.argmax(-1), back, reverse=True
        )[1]

    case(lambda: f32(12, 12), lambda: f32(64, 16, 12), name="viterbi")(viterbi)
    case(lambda: f32(4, 4), lambda: f32(200, 32, 4), name="viterbi_4_states")(viterbi)
    case(lambda: f32(48, 48), lambda: f32(50, 4, 48), name="viterbi_48_states")(viterbi)
    case(lambda: f32(16, 12, 12), name="argmax_middle")(lambda x: (x.max(1), x.argmax(1)))
    case(lambda: f32(512, 7, 40), name="argmin_middle_7")(lambda x: x.argmin(1))
    case(lambda: f32(4096, 10), name="argmax_rows_10")(lambda x: x.argmax(-1))
    case(lambda: half("bfloat16", 2048, 16), name="argmax_rows_bf16")(lambda x: x.argmax(-1))
    case(lambda: f32(64, 32, 26), name="greedy_decoding")(lambda x: jnp.where(nn.softmax(x, -1).max(-1) > 0.1, x.argmax(-1), 0))

    def forward(transitions, scores):
        step = lambda alpha, score: (nn.logsumexp(alpha[:, :, None] + transitions, 1) + score, None)  # noqa: E731
        return nn.logsumexp(lax.scan(step, scores[0], scores[1:])[0], -1)

    case(lambda: f32(12, 12), lambda: f32(64, 16, 12), name="crf_forward")(forward)
    case(lambda: f32(12, 12), lambda: f32(64, 16, 12), name="crf_gradient")(jax.grad(lambda *a: forward(*a).sum()))

    # Points of few coordinates.
    def k_means(points, centres):
        def step(_, centres):
            nearest = jnp.argmin(jnp.square(points[:, None] - centres[None]).sum(-1), -1)
            members = nn.one_hot(nearest, len(centres))
            return members.T @ points / jnp.maximum(members.sum(0)[:, None], 1)

        return lax.fori_loop(0, 5, step, centres)

    case(lambda: f32(2000, 4), lambda: f32(8, 4), name="k_means")(k_means)

    def accelerations(x, m):
        d = x[None] - x[:, None]
        return (d * (m[None, :, None] / (jnp.square(d).sum(-1, keepdims=True) + 0.01) ** 1.5)).sum(1)

    case(lambda: f32(64, 3), lambda: f32(64, 3), lambda: np.abs(f32(64)), name="n_body")(
        lambda x, v, m: lax.fori_loop(0, 20, lambda i, s: (s[0] + 0.01 * s[1], s[1] + 0.01 * accelerations(s[0], m)), (x, v))
    )
    case(lambda: f32(20000, 3), lambda: f32(20000, 3), name="cross_products")(jnp.cross)
    case(lambda: f32(20000, 3), name="unit_vectors")(lambda x: x / jnp.linalg.norm(x, axis=-1, keepdims=True))
    case(lambda: f32(20000, 3), lambda: f32(3, 3), lambda: f32(3), name="rigid_motion")(lambda x, r, t: x @ r.T + t)
    case(lambda: f32(5000, 4), lambda: f32(5000, 4), name="boxes_overlap")(
        lambda a, b: jnp.prod(jnp.maximum(jnp.minimum(a[:, 2:], b[:, 2:]) - jnp.maximum(a[:, :2], b[:, :2]), 0), -1)
    )

    # Small rows of networks.
    case(lambda: f32(2000, 8, 4), name="softmax_4")(lambda x: nn.softmax(x, -1))
    case(lambda: f32(4096, 10), lambda: whole(10, 4096), name="digits_loss_gradient")(
        jax.grad(lambda x, y: -jnp.take_along_axis(nn.log_softmax(x), y[:, None], 1).mean())
    )
    case(lambda: f32(4096, 16), lambda: f32(16), lambda: f32(16), name="layer_norm_16")(
        lambda x, g, b: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g + b
    )
    case(*[lambda: f32(64, 4, 12, 8)] * 3, name="attention_small_heads")(
        lambda q, k, v: jnp.einsum("bhts,bhsd->bhtd", nn.softmax(jnp.einsum("bhtd,bhsd->bhts", q, k) / 3, -1), v)
    )
    case(lambda: f32(100, 16), lambda: f32(16, 16) / 4, lambda: f32(16), name="scan_tiny_network")(
        lambda x, w, h: lax.scan(lambda h, v: (jnp.tanh(h @ w + v), h.sum()), h, x)
    )
    case(lambda: f32(1000, 5), lambda: f32(1000, 5), name="einsum_outer_5")(lambda a, b: jnp.einsum("ni,nj->nij", a, b))

    # Values that do not change in a loop, numbers that vanish, and small systems.
    def state_space(x, a, b, c):
        def step(h, t):
            h = h * jnp.exp(-jnp.exp(a)) + t[0][:, None] * t[1][None]
            return h, h @ t[2]

        return lax.scan(step, jnp.zeros(a.shape), (x, b, c))[1]

    case(lambda: f32(200, 64), lambda: f32(64, 16), lambda: f32(200, 16), lambda: f32(200, 16), name="state_space_scan")(state_space)
    case(*[lambda: f32(128, 64)] * 2, name="contrastive_gradient")(
        jax.grad(lambda a, b: -jnp.diag(nn.log_softmax(a @ b.T / 0.1)).mean())
    )
    case(lambda: f32(256, 256) * 1e-38, lambda: f32(256, 256), name="matmul_subnormal")(jnp.matmul)

    def definite(count, n):
        a = f32(count, n, n)
        return (a @ a.transpose(0, 2, 1) + n * np.eye(n)).astype(np.float32)

    case(lambda: definite(1000, 3), name="inverses_3x3")(jnp.linalg.inv)
    case(lambda: definite(128, 8), lambda: f32(128, 8, 2), name="solve_8x8")(jnp.linalg.solve)
    case(lambda: definite(256, 6), name="determinants_6x6")(jnp.linalg.det)
    case(lambda: definite(64, 32), name="cholesky_32x32")(jnp.linalg.cholesky)

    # Elements side by side.
    case(*[lambda: f32(100000)] * 2, name="stack_pairs")(lambda *a: jnp.stack(a, -1))
    case(*[lambda: f32(50000)] * 3, name="stack_triples")(lambda *a: jnp.stack(a, -1))
    case(lambda: f32(4, 32, 32, 16), name="upsample_by_repeat")(lambda x: x.repeat(2, 1).repeat(2, 2))
    case(lambda: f32(128, 128), lambda: f32(2, 128, 128), name="sample_at_points")(
        lambda x, g: jax.scipy.ndimage.map_coordinates(x, list(g * 20 + 64), 1)
    )


def prepare(folder, only):
    import jax
    import jax.numpy as jnp

    define(jax, jnp)
    compiled = {}
    for name, (function, makers) in CASES.items():
        if not any(part in name for part in only.split(",")):
            continue
        arguments = [np.asarray(make()) for make in makers]
        # Only the functions of wide types, so that Python's numbers do not widen the others.
        with jax.enable_x64(any(argument.dtype.itemsize == 8 for argument in arguments) or "64" in name):
            lowered = jax.jit(function, keep_unused=True).lower(*arguments)
            compiled[name] = (lowered.compile(), [jax.device_put(argument) for argument in arguments])
        (folder / f"{name}.hlo").write_text(lowered.compiler_ir("hlo").as_hlo_text(True))
        for i, argument in enumerate(arguments):
            argument.tofile(folder / f"{name}.{i}")
    return compiled


def run_bench(bench, flags, folder):
    return json.loads(subprocess.run([bench, *flags, folder], stdout=subprocess.PIPE, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module_bench")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget-ms", type=float, default=20)
    parser.add_argument("--level", choices=XLA_LEVELS)
    parser.add_argument("--without-ynnpack", action="store_true", help="XLA's own products and sums: YNNPACK has no level")
    parser.add_argument("--against", help="another module_bench")
    parser.add_argument("--processor", action="store_true", help="processor time; with taskset, on a busy machine")
    options = parser.parse_args()
    flags = ["--budget-ms", str(options.budget_ms), "--assemble"]
    if options.level:
        os.environ["XLA_FLAGS"] = f"--xla_cpu_max_isa={XLA_LEVELS[options.level]}"
        flags += ["--cpu-features", options.level]
    if options.without_ynnpack:
        os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_experimental_ynn_fusion_type="
    flags += ["--processor"] if options.processor else []
    clock = time.process_time if options.processor else time.perf_counter
    benches = [options.module_bench] + ([options.against] if options.against else [])
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        compiled = prepare(folder, options.only)
        rounds = []
        for _ in range(options.rounds):
            rounds.append([run_bench(bench, flags, folder) for bench in benches])
            rounds[-1].append(xla_times(compiled, options.budget_ms / 1000, clock))
    report(compiled, rounds)


def report(names, rounds):
    """Prints the slowest first; the last column is an older build's ratio."""
    rows = []
    for name in names:
        figures = [[bench[name]["run_us"] for bench in turn[:-1]] + [turn[-1][name]] for turn in rounds if name in turn[0]]
        if figures:
            rows.append((name, [statistics.median(column) for column in zip(*figures, strict=True)]))
    rows.sort(key=lambda row: -row[1][0] / row[1][-1])
    print(f"{'':32}{'ours us':>12}{'XLA us':>12}{'ours/XLA':>10}{'before/XLA':>12}")
    for name, times in rows:
        before = f"{times[1] / times[-1]:12.2f}" if len(times) > 2 else ""
        print(f"{name:32}{times[0]:12.1f}{times[-1]:12.1f}{times[0] / times[-1]:10.2f}{before}")
    mean = statistics.geometric_mean(times[0] / times[-1] for _, times in rows)
    print(f"{'geometric mean of ' + str(len(rows)):32}{'':24}{mean:10.2f}")


if __name__ == "__main__":
    main()
