#!/usr/bin/env python3
"""Two hundred more functions that users write, which the engine was not tuned on; options as functions.py.

    taskset -c 0 unseen.py MODULE_BENCH --processor
    unseen.py MODULE_BENCH --level avx2 --only loop_
"""

import functions
from functions import case, f32, f64, half, np, whole


def positive(*shape):
    return np.abs(f32(*shape)) + np.float32(0.1)


def complex64(*shape):
    return f32(*shape) + 1j * f32(*shape)


def byte(*shape):
    return whole(100, *shape, kind=np.int8)


def bf16(*shape):
    return half("bfloat16", *shape)


def spd(count, n):
    a = f32(count, n, n)
    return (a @ a.transpose(0, 2, 1) + n * np.eye(n)).astype(np.float32)


def row(name, function, *makers):
    """Registers a function; an argument is a maker with its arguments, or a scalar."""
    case(*[(lambda m=m: m[0](*m[1:])) if isinstance(m, tuple) else (lambda m=m: m) for m in makers], name=name)(function)


def define(jax, jnp):
    define_elementwise(jax, jnp)
    define_reductions(jax, jnp)
    define_loops(jax, jnp)
    define_decoding(jax, jnp)
    define_networks(jax, jnp)
    define_attention(jax, jnp)
    define_losses(jax, jnp)
    define_optimizers(jax, jnp)
    define_tables(jax, jnp)
    define_convolutions(jax, jnp)
    define_images(jax, jnp)
    define_products(jax, jnp)
    define_algebra(jax, jnp)
    define_order(jax, jnp)
    define_random(jax, jnp)
    define_movement(jax, jnp)


def define_elementwise(jax, jnp):
    nn, sp = jax.nn, jax.scipy
    row("hardswish_f16", lambda x: x * nn.relu6(x + 3) / 6, (half, "float16", 1 << 16))
    row("mish_gradient", jax.grad(lambda x: nn.mish(x).sum()), (f32, 1 << 16))
    row("celu_selu_elu", lambda x: nn.celu(x) + nn.selu(x) + nn.elu(x), (f32, 1 << 16))
    row("digamma_gammaln", lambda x: sp.special.digamma(x) + sp.special.gammaln(x), (positive, 8192))
    row("bessel", lambda x: sp.special.i0e(x) * sp.special.i1e(x), (f32, 16384))
    row("normal_cdf_ppf", lambda x: sp.stats.norm.ppf(jnp.clip(sp.stats.norm.cdf(x), 1e-4, 0.999)), (f32, 16384))
    row("complex_polar", lambda z: jnp.abs(z) * jnp.exp(1j * jnp.angle(z)), (complex64, 16384))
    row("mandelbrot", lambda c: jax.lax.fori_loop(0, 50, lambda i, z: jnp.where(jnp.abs(z) < 2, z * z + c, z), c * 0), (complex64, 64, 64))
    row("polyval_f64", lambda c, x: jnp.polyval(c, x), (f64, 9), (f64, 20000))
    row("hypot_atan2_pow", lambda x, y: jnp.hypot(x, y) * jnp.arctan2(y, x) ** 3, (f32, 1 << 15), (f32, 1 << 15))
    row("popcount_shifts", lambda x: jax.lax.population_count(x) + (x << 3 ^ x >> 5), (whole, 1 << 30, 1 << 16))
    row("hash_u32", lambda x: functions.functools.reduce(lambda h, k: (h ^ (h >> 16)) * np.uint32(k), (0x85EBCA6B, 0xC2B2AE35), x.astype(jnp.uint32)), (whole, 1 << 30, 1 << 16))
    row("quantise_s8", lambda x: jnp.clip(jnp.round(x / (jnp.abs(x).max() / 127)), -127, 127).astype(jnp.int8), (f32, 256, 1024))
    row("quantise_rows_f8", lambda x: (x / jnp.abs(x).max(-1, keepdims=True) * 448).astype(jnp.float8_e4m3fn), (f32, 256, 512))
    row("dequantise_u8", lambda q, s, z: (q.astype(jnp.float32) - z) * s, (lambda: whole(255, 512, 512, kind=np.uint8),), (f32, 512), (f32, 512))
    row("bf16_adds", lambda x, y: x + y * x - y, (bf16, 1 << 16), (bf16, 1 << 16))
    row("isclose_all", lambda x, y: jnp.allclose(x, y + 1e-9), (f32, 1 << 16), (f32, 1 << 16))
    row("nan_to_num", lambda x: jnp.nan_to_num(jnp.log(x)), (f32, 1 << 16))
    row("scalar_chain", lambda x: jnp.sin(x) ** 2 + jnp.cos(x) ** 2 - jnp.exp(-x), np.float32(0.3))
    row("tiny_vector", lambda x, y: (x - y) / (1 + jnp.abs(x)), (f32, 8), (f32, 8))
    row("haversine", lambda a, b: 2 * jnp.arcsin(jnp.sqrt(jnp.sin((a[:, 0] - b[:, 0]) / 2) ** 2 + jnp.cos(a[:, 0]) * jnp.cos(b[:, 0]) * jnp.sin((a[:, 1] - b[:, 1]) / 2) ** 2)), (f32, 10000, 2), (f32, 10000, 2))
    row("black_scholes_greeks", jax.vmap(jax.grad(lambda s: s * sp.stats.norm.cdf((jnp.log(s) + 0.1) / 0.2) - jnp.exp(-0.05) * sp.stats.norm.cdf((jnp.log(s) - 0.1) / 0.2))), (positive, 20000))
    row("floor_divide_f32", lambda x, y: (x // y, x % y), (f32, 1 << 15), (positive, 1 << 15))
    row("sinc_rectified", lambda x: jnp.sinc(x) * jnp.heaviside(x, 0.5), (f32, 1 << 15))


def define_reductions(jax, jnp):
    nn, lax = jax.nn, jax.lax
    row("mean_std_rows", lambda x: (x.mean(1), x.std(1)), (f32, 512, 300))
    row("covariance", lambda x: jnp.cov(x, rowvar=False), (f32, 1000, 24))
    row("correlation", jnp.corrcoef, (f32, 24, 500))
    row("norm_orders", lambda x: (jnp.linalg.norm(x, 1, -1), jnp.linalg.norm(x, jnp.inf, -1)), (f32, 512, 100))
    row("any_all_rows", lambda x: ((x > 1).any(-1), (x < 2).all(-1)), (f32, 1024, 200))
    row("prod_columns", lambda x: jnp.prod(x, 0), (f32, 64, 1000))
    row("count_nonzero", lambda x: (x > 0).sum(), (f32, 1 << 17))
    row("logsumexp_columns", lambda x: nn.logsumexp(x, 0), (f32, 300, 200))
    row("mean_absolute_bf16", lambda x, y: jnp.abs(x - y).mean(-1), (bf16, 512, 256), (bf16, 512, 256))
    row("ptp_middle", lambda x: jnp.ptp(x, 1), (f32, 32, 20, 50))
    row("weighted_average", lambda x, w: jnp.average(x, 0, w), (f32, 500, 64), (positive, 500))
    row("kurtosis", lambda x: (((x - x.mean(0)) / x.std(0)) ** 4).mean(0) - 3, (f32, 2000, 16))
    row("rms_norm_gradient", jax.grad(lambda x, g: (x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g).sum(), (0, 1)), (f32, 256, 256), (f32, 256))
    row("instance_norm", lambda x: (x - x.mean((1, 2), keepdims=True)) / (x.std((1, 2), keepdims=True) + 1e-5), (f32, 8, 24, 24, 16))
    row("trapezoid", lambda y, x: jnp.trapezoid(y, jnp.cumsum(jnp.abs(x), -1), axis=-1), (f32, 64, 500), (f32, 64, 500))
    row("cummax", lambda x: lax.cummax(x, 1), (f32, 256, 512))
    row("cummin_columns", lambda x: lax.cummin(x, 0), (f32, 512, 256))
    row("cumsum_reverse", lambda x: lax.cumsum(x, 1, reverse=True), (f32, 256, 300))
    row("cumsum_long", jnp.cumsum, (f32, 1 << 17))
    row("cumsum_s32_bool", lambda x: jnp.cumsum(x > 0, -1), (f32, 64, 2000))
    row("cumprod_gradient", jax.grad(lambda x: jnp.cumprod(x, -1).sum()), (positive, 128, 40))
    row("associative_scan_linear", lambda a, b: lax.associative_scan(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (a, b)), (f32, 256, 64), (f32, 256, 64))
    row("discounted_returns", lambda r: lax.scan(lambda g, x: (x + 0.99 * g,) * 2, jnp.zeros(16), r, reverse=True)[1], (f32, 500, 16))
    row("moving_average", lambda x: jnp.convolve(x, jnp.ones(15) / 15, "same"), (f32, 20000))
    row("rolling_max", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 9), (1, 1), "SAME"), (f32, 64, 1000))
    row("ewma_scan", lambda x: lax.scan(lambda m, v: (0.9 * m + 0.1 * v,) * 2, 0.0, x)[1], (f32, 5000))
    row("diff_sign_changes", lambda x: (jnp.diff(jnp.sign(x)) != 0).sum(-1), (f32, 64, 2000))
    row("argmax_both", lambda x: jnp.unravel_index(jnp.argmax(x), x.shape), (f32, 300, 300))
    row("reduce_custom", lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + b - a * b * 0.01, (1,)), (f32, 200, 128))
    row("minmax_scale", lambda x: (x - x.min(0)) / (x.max(0) - x.min(0)), (f32, 1000, 40))


def define_loops(jax, jnp):
    lax = jax.lax

    def rk4(f, y, steps, h):
        def step(i, y):
            a = f(y)
            b = f(y + h / 2 * a)
            c = f(y + h / 2 * b)
            return y + h / 6 * (a + 2 * b + 2 * c + f(y + h * c))

        return lax.fori_loop(0, steps, step, y)

    row("loop_rk4_scalar", lambda y: rk4(lambda y: -y + jnp.sin(y), y, 1000, 0.01), np.float32(0.5))
    row("loop_rk4_van_der_pol", lambda y: rk4(lambda y: jnp.array([y[1], (1 - y[0] ** 2) * y[1] - y[0]]), y, 500, 0.01), (f32, 2))
    row("loop_rk4_many", lambda y: rk4(lambda y: -y**3, y, 100, 0.01), (f32, 512))
    row("loop_euler_scalars", lambda x, v: lax.fori_loop(0, 2000, lambda i, s: (s[0] + 0.01 * s[1], s[1] - 0.01 * s[0]), (x, v)), np.float32(1), np.float32(0))
    row("loop_gcd", lambda a, b: lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], s[0] % s[1]), (a, b)), np.int32(832040), np.int32(514229))
    row("loop_lcg", lambda x: lax.fori_loop(0, 3000, lambda i, s: s * np.uint32(1664525) + np.uint32(1013904223), x), np.uint32(7))
    row("loop_sieve", lambda x: lax.fori_loop(2, 32, lambda i, p: jnp.where((jnp.arange(1000) % i == 0) & (jnp.arange(1000) > i), False, p), x > 0), (positive, 1000))
    row("loop_power_iteration", lambda a, v: lax.fori_loop(0, 50, lambda i, v: a @ v / jnp.linalg.norm(a @ v), v), (f32, 32, 32), (f32, 32))
    row("loop_jacobi", lambda u: lax.fori_loop(0, 50, lambda i, u: u.at[1:-1, 1:-1].set((u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]) / 4), u), (f32, 32, 32))
    row("loop_life", lambda g: lax.fori_loop(0, 20, lambda i, g: (lambda n: ((n == 3) | (g & (n == 2))))(sum(jnp.roll(g, (a, b), (0, 1)).astype(jnp.int32) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b)), g > 0), (f32, 32, 32))
    row("loop_heat", lambda u: lax.fori_loop(0, 200, lambda i, u: u + 0.1 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1)), u), (f32, 128))
    row("loop_fibonacci_array", lambda x: lax.fori_loop(2, 500, lambda i, f: f.at[i].set(f[i - 1] + f[i - 2]), x), (whole, 3, 500))
    row("loop_bubble", lambda x: lax.fori_loop(0, 32, lambda i, x: lax.fori_loop(0, 31, lambda j, x: x.at[j].set(jnp.minimum(x[j], x[j + 1])).at[j + 1].set(jnp.maximum(x[j], x[j + 1])), x), x), (f32, 32))
    row("loop_insertion_cond", lambda x: lax.fori_loop(0, 500, lambda i, s: lax.cond(s[0] > 0, lambda s: (s[0] - 0.3, s[1] + 1), lambda s: (s[0] + 1.0, s[1]), s), (x, 0)), np.float32(0.4))
    row("loop_newton_vector", lambda a: lax.while_loop(lambda s: (jnp.abs(s * s - a) > 1e-4 * a).any(), lambda s: 0.5 * (s + a / s), a), (positive, 100))
    row("loop_nested_matmul", lambda a, b: lax.fori_loop(0, 30, lambda i, c: c @ b * 0.1 + a, a), (f32, 16, 16), (f32, 16, 16))
    row("loop_gradient_descent", lambda w, x, y: lax.fori_loop(0, 50, lambda i, w: w - 0.1 * jax.grad(lambda w: jnp.square(x @ w - y).mean())(w), w), (f32, 8), (f32, 64, 8), (f32, 64))
    row("loop_logistic_newton", lambda w, x, y: lax.fori_loop(0, 20, lambda i, w: w - 0.5 * jax.grad(lambda w: jnp.mean(jax.nn.softplus(-y * (x @ w))))(w), w), (f32, 10), (f32, 100, 10), (f32, 100))
    row("loop_conjugate_gradient", lambda a, b: jax.scipy.sparse.linalg.cg(lambda x: a @ x, b, maxiter=20)[0], (lambda: spd(1, 24)[0],), (f32, 24))
    row("loop_sinkhorn", lambda c: lax.fori_loop(0, 30, lambda i, p: (p / p.sum(0)) / (p / p.sum(0)).sum(1, keepdims=True), jnp.exp(-c)), (positive, 32, 32))
    row("loop_page_rank", lambda a: lax.fori_loop(0, 30, lambda i, p: 0.85 * (a / a.sum(0)) @ p + 0.15 / 64, jnp.ones(64) / 64), (positive, 64, 64))
    row("loop_floyd_warshall", lambda d: lax.fori_loop(0, 24, lambda k, d: jnp.minimum(d, d[:, k][:, None] + d[k][None]), d), (positive, 24, 24))
    row("loop_cordic", lambda a: lax.fori_loop(0, 24, lambda i, s: (lambda d, p: (s[0] - d * s[1] * p, s[1] + d * s[0] * p, s[2] - d * jnp.arctan(p)))(jnp.sign(s[2]), 0.5**i), (jnp.ones_like(a), jnp.zeros_like(a), a)), (f32, 64))
    row("loop_random_walk", lambda k: lax.fori_loop(0, 100, lambda i, s: (jax.random.split(s[0])[0], s[1] + jax.random.normal(s[0], (4,))), (jax.random.wrap_key_data(k), jnp.zeros(4)))[1], (lambda: np.array([3, 4], np.uint32),))
    row("loop_metropolis", lambda k: lax.fori_loop(0, 100, lambda i, s: (lambda k, a, b: (k, jnp.where(jnp.log(jax.random.uniform(b)) < s[1] ** 2 / 2 - (s[1] + jax.random.normal(a)) ** 2 / 2, s[1] + jax.random.normal(a), s[1])))(*jax.random.split(s[0], 3)), (jax.random.wrap_key_data(k), 0.0))[1], (lambda: np.array([3, 4], np.uint32),))
    row("scan_cartpole", lambda s, a: lax.scan(lambda s, f: (s + 0.02 * jnp.array([s[1], f - 0.1 * s[3], s[3], 9.8 * jnp.sin(s[2]) - jnp.cos(s[2]) * f]),) * 2, s, a)[1], (f32, 4), (f32, 300))
    row("scan_gradient_pendulum", jax.grad(lambda s, a: lax.scan(lambda s, f: (jnp.stack([s[0] + 0.05 * s[1], s[1] + 0.05 * (jnp.sin(s[0]) + f)]), s[0]), s, a)[1].sum(), 1), (f32, 2), (f32, 200))
    row("scan_kalman", lambda z, f, h: lax.scan(lambda s, z: (lambda x, p: (lambda k: ((x + k @ (z - h @ x), p - k @ h @ p), x))(p @ h.T @ jnp.linalg.inv(h @ p @ h.T + jnp.eye(2))))(f @ s[0], f @ s[1] @ f.T + 0.1 * jnp.eye(4)), (jnp.zeros(4), jnp.eye(4)), z)[1], (f32, 50, 2), (f32, 4, 4), (f32, 2, 4))
    row("scan_kalman_scalar", lambda z: lax.scan(lambda s, z: (lambda x, p: (lambda k: ((x + k * (z - x), (1 - k) * p), x))(p / (p + 0.5)))(s[0], s[1] + 0.1), (0.0, 1.0), z)[1], (f32, 2000))
    row("scan_biquad", lambda x: lax.scan(lambda s, v: (lambda y: ((v, s[0], y, s[2]), y))(0.2 * v + 0.3 * s[0] + 0.2 * s[1] + 0.5 * s[2] - 0.1 * s[3]), (0.0,) * 4, x)[1], (f32, 3000))
    row("scan_garch", lambda r: lax.scan(lambda s, r: (0.1 + 0.1 * r * r + 0.8 * s,) * 2, 1.0, r)[1].sum(), (f32, 2000))
    row("scan_tridiagonal", lambda a, b, d: lax.scan(lambda s, t: (lambda m: ((t[0] / m, (t[2] - t[0] * s[1]) / m),) * 2)(t[1] + 3 - t[0] * s[0]), (0.0, 0.0), (a, b, d))[1], (f32, 1000), (positive, 1000), (f32, 1000))
    row("vmap_while", jax.vmap(lambda x: lax.while_loop(lambda s: s[0] < 10, lambda s: (s[0] * 1.5, s[1] + 1), (x, 0))[1]), (positive, 200))
    row("vmap_scan_gradient", jax.grad(lambda w, x: jax.vmap(lambda x: lax.scan(lambda h, v: (jnp.tanh(h * w + v), None), jnp.zeros(8), x)[0])(x).sum()), (f32, 8), (f32, 16, 50, 8))


def define_decoding(jax, jnp):
    lax, nn = jax.lax, jax.nn

    def dtw(a, b, big=1e9):
        def row_step(previous, x):
            def cell(left, t):
                value = jnp.abs(x - t[0]) + jnp.minimum(jnp.minimum(t[1], left), t[2])
                return value, value

            shifted = jnp.concatenate([jnp.array([big]), previous[:-1]])
            return (lax.scan(cell, big, (b, previous, shifted))[1],) * 2

        return lax.scan(row_step, jnp.zeros(len(b)), a)[0][-1]

    row("dtw", dtw, (f32, 40), (f32, 40))
    row("edit_distance", lambda a, b: lax.scan(lambda p, x: (jnp.concatenate([p[:1] + 1, lax.scan(lambda l, t: (jnp.minimum(jnp.minimum(t[1], l) + 1, t[2] + (x != t[0])),) * 2, p[0] + 1, (b, p[1:], p[:-1]))[1]]), None), jnp.arange(33), a)[0][-1], (whole, 4, 32), (whole, 4, 32))
    row("viterbi_3", lambda t, s: lax.scan(lambda d, e: ((d[:, None] + t).max(0) + e, (d[:, None] + t).argmax(0)), s[0], s[1:]), (f32, 3, 3), (f32, 300, 3))
    row("hmm_forward_batch", lambda t, s: nn.logsumexp(lax.scan(lambda a, e: (nn.logsumexp(a[:, :, None] + t, 1) + e, None), s[0], s[1:])[0], -1), (f32, 6, 6), (f32, 50, 8, 6))
    row("hmm_forward_products", lambda t, s: lax.scan(lambda a, e: ((a @ t) * e / ((a @ t) * e).sum(), None), jnp.ones(8) / 8, s)[0], (positive, 8, 8), (positive, 300, 8))

    def beam(logits, width=4):
        def step(state, l):
            scores, tokens = state
            flat = (scores[:, None] + nn.log_softmax(l)[None]).reshape(-1)
            best, where = lax.top_k(flat, width)
            return (best, where % l.shape[0]), (where // l.shape[0], where % l.shape[0])

        return lax.scan(step, (jnp.zeros(width), jnp.zeros(width, jnp.int32)), logits)[1]

    row("beam_search", beam, (f32, 30, 50))
    row("greedy_decode_embedding", lambda e, w, h: lax.scan(lambda s, _: (lambda h: ((h, jnp.argmax(h @ e.T)), jnp.argmax(h @ e.T)))(jnp.tanh(e[s[1]] @ w + s[0])), (h, 0), None, length=30)[1], (f32, 100, 32), (f32, 32, 32), (f32, 32))
    row("ctc_loss", lambda l, y: (lambda p: nn.logsumexp(lax.scan(lambda a, e: (jnp.logaddexp(a, jnp.pad(a, ((0, 0), (1, 0)), constant_values=-1e5)[:, :-1]) + jnp.take_along_axis(e, y, 1), None), jnp.full(y.shape, -1e5).at[:, 0].set(0.0), p)[0], -1).sum())(nn.log_softmax(l, -1)), (f32, 40, 8, 20), (whole, 20, 8, 12))
    row("ctc_loss_gradient", jax.grad(lambda l, y: (lambda p: nn.logsumexp(lax.scan(lambda a, e: (jnp.logaddexp(a, jnp.pad(a, ((0, 0), (1, 0)), constant_values=-1e5)[:, :-1]) + jnp.take_along_axis(e, y, 1), None), jnp.full(y.shape, -1e5).at[:, 0].set(0.0), p)[0], -1).sum())(nn.log_softmax(l, -1))), (f32, 40, 8, 20), (whole, 20, 8, 12))
    row("bitonic_network", lambda x: lax.fori_loop(0, 6, lambda i, x: (lambda y: jnp.where((jnp.arange(64) & (1 << (5 - i))) == 0, jnp.minimum(x, y), jnp.maximum(x, y)))(x[jnp.arange(64) ^ (1 << (5 - i))]), x), (f32, 64))
    row("sort_network_8", lambda x: functions.functools.reduce(lambda x, p: x.at[:, p[0]].set(jnp.minimum(x[:, p[0]], x[:, p[1]])).at[:, p[1]].set(jnp.maximum(x[:, p[0]], x[:, p[1]])), [(0, 2), (1, 3), (0, 1), (2, 3), (1, 2)], x), (f32, 5000, 4))
    row("knapsack", lambda w, v: lax.fori_loop(0, 30, lambda i, d: jnp.maximum(d, jnp.where(jnp.arange(200) >= w[i], d[jnp.arange(200) - w[i]] + v[i], 0)), jnp.zeros(200)), (whole, 40, 30), (positive, 30))
    row("nms", lambda b, s: lax.fori_loop(0, 40, lambda i, k: k & ~((jnp.maximum(jnp.minimum(b[:, 2], b[i, 2]) - jnp.maximum(b[:, 0], b[i, 0]), 0) > 0.3) & (jnp.arange(40) > i) & k[i]), s > 0), (f32, 40, 4), (positive, 40))


def define_networks(jax, jnp):
    lax, nn = jax.lax, jax.nn

    def cell(s, x, w):
        i, f, g, o = jnp.split(jnp.concatenate([x, s[0]], -1) @ w, 4, -1)
        c = nn.sigmoid(f + 1) * s[1] + nn.sigmoid(i) * jnp.tanh(g)
        return nn.sigmoid(o) * jnp.tanh(c), c

    lstm = lambda x, w, n: lax.scan(lambda s, v: (cell(s, v, w),) * 2, (jnp.zeros((x.shape[1], n)),) * 2, x)[1][0]  # noqa: E731
    row("lstm_32_batch_1", lambda x, w: lstm(x, w, 32), (f32, 50, 1, 16), (f32, 48, 128))
    row("lstm_24_gradient", jax.grad(lambda w, x: lstm(x, w, 24).sum()), (f32, 40, 96), (f32, 30, 8, 16))
    row("lstm_bidirectional", lambda x, w, u: jnp.concatenate([lstm(x, w, 32), lstm(x[::-1], u, 32)[::-1]], -1), (f32, 30, 4, 16), (f32, 48, 128), (f32, 48, 128))
    row("rnn_bf16", lambda x, w: lax.scan(lambda h, v: (jnp.tanh(v + h @ w),) * 2, jnp.zeros((8, 64), jnp.bfloat16), x)[1], (bf16, 40, 8, 64), (bf16, 64, 64))
    mlp = lambda x, ws: functions.functools.reduce(lambda h, w: nn.relu(h @ w), ws[:-1], x) @ ws[-1]  # noqa: E731
    ws = [(f32, 16, 64), (f32, 64, 64), (f32, 64, 4)]
    row("mlp_tiny_batch_1", lambda x, *w: mlp(x, w), (f32, 1, 16), *ws)
    row("mlp_tiny_gradient", jax.grad(lambda x, *w: jnp.square(mlp(x, w)).sum(), (1, 2, 3)), (f32, 32, 16), *ws)
    row("mlp_jacobian", lambda x, *w: jax.vmap(jax.jacrev(lambda x: mlp(x, w)))(x), (f32, 16, 16), *ws)
    row("mlp_hessian", lambda x, *w: jax.hessian(lambda x: jnp.tanh(mlp(x, w)).sum())(x), (f32, 16), *ws)
    row("mlp_ensemble", jax.vmap(lambda x, a, b: jnp.tanh(x @ a) @ b), (f32, 10, 32, 16), (f32, 10, 16, 32), (f32, 10, 32, 4))
    row("per_example_gradients", lambda w, x, y: jax.vmap(jax.grad(lambda w, x, y: jnp.square(jnp.tanh(x @ w) - y).sum()), (None, 0, 0))(w, x, y), (f32, 16, 8), (f32, 64, 16), (f32, 64, 8))
    row("mixture_of_experts", lambda x, g, w: jnp.einsum("te,ted->td", nn.softmax(x @ g), jnp.einsum("td,edf->tef", x, w)), (f32, 128, 32), (f32, 32, 8), (f32, 8, 32, 32))
    row("moe_top2", lambda x, g, w: (lambda v, i: jnp.einsum("tk,tkf->tf", nn.softmax(v), jnp.einsum("td,tkdf->tkf", x, w[i])))(*lax.top_k(x @ g, 2)), (f32, 64, 16), (f32, 16, 8), (f32, 8, 16, 16))
    row("graph_convolution", lambda a, x, w: nn.relu((a / a.sum(1, keepdims=True)) @ x @ w), (positive, 64, 64), (f32, 64, 32), (f32, 32, 16))
    row("message_passing", lambda x, s, r: jax.ops.segment_sum(jnp.tanh(x[s] - x[r]), r, 200), (f32, 200, 16), (whole, 200, 1000), (whole, 200, 1000))
    row("graph_attention", lambda x, s, r, a: (lambda e: jax.ops.segment_sum(x[s] * (e / jax.ops.segment_sum(e, r, 100)[r])[:, None], r, 100))(jnp.exp(nn.leaky_relu((x[s] + x[r]) @ a))), (f32, 100, 16), (whole, 100, 600), (whole, 100, 600), (f32, 16))
    row("deep_sets", lambda x, m, w: nn.relu(jnp.where(m[..., None] > 0, nn.relu(x @ w), 0).sum(1) @ w), (f32, 16, 20, 32), (f32, 16, 20), (f32, 32, 32))
    row("normalising_flow", lambda x, w: lax.scan(lambda s, w: ((lambda a, b: jnp.concatenate([b, a * jnp.exp(jnp.tanh(b @ w)) + b @ w], -1))(*jnp.split(s, 2, -1)), None), x, w)[0], (f32, 64, 8), (f32, 6, 4, 4))
    row("fourier_features", lambda x, b: jnp.concatenate([jnp.sin(x @ b), jnp.cos(x @ b)], -1), (f32, 1000, 3), (f32, 3, 64))
    row("nerf_rendering", lambda d, c: (lambda a: (a * jnp.cumprod(jnp.concatenate([jnp.ones((256, 1)), 1 - a[:, :-1]], 1), 1))[..., None] * c)(1 - jnp.exp(-nn.relu(d))).sum(1), (f32, 256, 32), (f32, 256, 32, 3))
    row("hypernetwork_lora", lambda x, w, a, b: x @ w + (x @ a) @ b * 2, (f32, 64, 128), (f32, 128, 128), (f32, 128, 4), (f32, 4, 128))
    row("spectral_norm", lambda w, u: (lambda v: (lambda s: w / s)(u @ (w @ v)))(w.T @ u / jnp.linalg.norm(w.T @ u)), (f32, 128, 64), (f32, 128))
    row("gumbel_straight_through", lambda l, g: (lambda y: nn.one_hot(y.argmax(-1), 32) + y - lax.stop_gradient(y))(nn.softmax(l - jnp.log(g), -1)), (f32, 128, 32), (positive, 128, 32))
    row("vector_quantise", lambda x, c: c[jnp.argmin((x * x).sum(-1, keepdims=True) - 2 * x @ c.T + (c * c).sum(-1), -1)], (f32, 256, 16), (f32, 64, 16))


def define_attention(jax, jnp):
    lax, nn = jax.lax, jax.nn
    qkv = [(f32, 2, 4, 64, 32)] * 3

    def attend(q, k, v, bias=0.0):
        return jnp.einsum("bhts,bhsd->bhtd", nn.softmax(jnp.einsum("bhtd,bhsd->bhts", q, k) / 6 + bias, -1), v)

    def rope(x):
        angle = jnp.arange(x.shape[2])[:, None] / 10 ** jnp.linspace(0, 4, x.shape[3] // 2)
        a, b = jnp.split(x, 2, -1)
        return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)

    row("attention_rope", lambda q, k, v: attend(rope(q), rope(k), v), *qkv)
    row("attention_alibi", lambda q, k, v: attend(q, k, v, -jnp.abs(jnp.arange(64)[:, None] - jnp.arange(64)) * 0.5 ** jnp.arange(4)[:, None, None]), *qkv)
    row("attention_window", lambda q, k, v: attend(q, k, v, jnp.where(jnp.abs(jnp.arange(64)[:, None] - jnp.arange(64)) < 8, 0, -1e9)), *qkv)
    row("attention_grouped", lambda q, k, v: jnp.einsum("bgrts,bgsd->bgrtd", nn.softmax(jnp.einsum("bgrtd,bgsd->bgrts", q, k), -1), v), (f32, 2, 2, 4, 64, 32), (f32, 2, 2, 64, 32), (f32, 2, 2, 64, 32))
    row("attention_linear", lambda q, k, v: jnp.einsum("bhtd,bhde->bhte", nn.elu(q) + 1, jnp.einsum("bhsd,bhse->bhde", nn.elu(k) + 1, v)), *qkv)
    row("attention_cross_one", attend, (f32, 2, 4, 1, 32), *qkv[1:])
    row("attention_jax_nn", nn.dot_product_attention, *[(f32, 2, 64, 4, 32)] * 3)
    row("attention_bf16_gradient", jax.grad(lambda q, k, v: attend(q, k, v).astype(jnp.float32).sum(), (0, 1, 2)), *[(bf16, 2, 4, 64, 32)] * 3)
    row("attention_packed_segments", lambda q, k, v, s: attend(q, k, v, jnp.where(s[:, None, :, None] == s[:, None, None], 0, -1e9)), *qkv, (whole, 4, 2, 64))
    row("decode_one_step_gqa", lambda q, k, v, n: jnp.einsum("bhs,bshd->bhd", nn.softmax(jnp.where(jnp.arange(128) < n, jnp.einsum("bhd,bshd->bhs", q, k), -1e9), -1), v), (f32, 2, 8, 32), (f32, 2, 128, 8, 32), (f32, 2, 128, 8, 32), np.int32(77))
    row("relative_positions", lambda q, r: jnp.take_along_axis(jnp.einsum("btd,sd->bts", q, r), (jnp.arange(32)[None] - jnp.arange(32)[:, None] + 31)[None], -1), (f32, 8, 32, 16), (f32, 63, 16))


def define_losses(jax, jnp):
    lax, nn = jax.lax, jax.nn
    unit = lambda x: x / jnp.linalg.norm(x, axis=-1, keepdims=True)  # noqa: E731
    row("clip_loss_gradient", jax.grad(lambda a, b: (lambda s: -(jnp.diag(nn.log_softmax(s, 0)) + jnp.diag(nn.log_softmax(s, 1))).mean())(unit(a) @ unit(b).T / 0.07), (0, 1)), (f32, 64, 32), (f32, 64, 32))
    row("triplet_gradient", jax.grad(lambda a, p, n: nn.relu(jnp.square(a - p).sum(-1) - jnp.square(a - n).sum(-1) + 1).mean(), (0, 1, 2)), *[(f32, 256, 64)] * 3)
    row("focal_loss_gradient", jax.grad(lambda x, y: (-((1 - nn.sigmoid(x)) ** 2) * nn.log_sigmoid(x) * (y > 0)).mean()), (f32, 128, 80), (f32, 128, 80))
    row("label_smoothing", jax.grad(lambda x, y: -(nn.log_softmax(x) * (nn.one_hot(y, 100) * 0.9 + 0.001)).sum(-1).mean()), (f32, 128, 100), (whole, 100, 128))
    row("kl_gaussians", jax.grad(lambda m, s: (-0.5 * (1 + s - m * m - jnp.exp(s))).sum(-1).mean(), (0, 1)), (f32, 256, 64), (f32, 256, 64))
    row("huber_gradient", jax.grad(lambda x, y: jnp.where(jnp.abs(x - y) < 1, 0.5 * (x - y) ** 2, jnp.abs(x - y) - 0.5).mean()), (f32, 1 << 14), (f32, 1 << 14))
    row("dice_loss", lambda x, y: 1 - 2 * (nn.sigmoid(x) * y).sum((1, 2)) / (nn.sigmoid(x) + y).sum((1, 2)), (f32, 8, 64, 64), (f32, 8, 64, 64))
    row("ppo_gradient", jax.grad(lambda l, a, old, adv: -(lambda r: jnp.minimum(r * adv, jnp.clip(r, 0.8, 1.2) * adv).mean())(jnp.exp(jnp.take_along_axis(nn.log_softmax(l), a[:, None], 1)[:, 0] - old))), (f32, 512, 6), (whole, 6, 512), (f32, 512), (f32, 512))
    row("gae", lambda r, v: lax.scan(lambda g, t: (t[0] + 0.95 * g,) * 2, jnp.zeros(8), (r + 0.99 * v[1:] - v[:-1],), reverse=True)[1], (f32, 128, 8), (f32, 129, 8))
    row("hinge_margins", jax.grad(lambda x, y: nn.relu(x - jnp.take_along_axis(x, y[:, None], 1) + 1).sum(-1).mean()), (f32, 256, 10), (whole, 10, 256))
    row("wasserstein_1d", lambda a, b: jnp.abs(jnp.sort(a, -1) - jnp.sort(b, -1)).mean(-1), (f32, 32, 128), (f32, 32, 128))
    row("mmd_rbf", lambda x, y: jnp.exp(-jnp.square(x[:, None] - y[None]).sum(-1)).mean(), (f32, 100, 8), (f32, 100, 8))
    row("info_nce_bf16", jax.grad(lambda a, b: -jnp.diag(nn.log_softmax((a @ b.T).astype(jnp.float32) * 10)).mean()), (bf16, 64, 64), (bf16, 64, 64))
    row("perplexity", lambda x, y: jnp.exp(-jnp.take_along_axis(nn.log_softmax(x), y[..., None], -1).mean()), (f32, 4, 32, 500), (whole, 500, 4, 32))
    row("gaussian_mixture_em", lambda x, m: (lambda r: (r[:, :, None] * x[:, None]).sum(0) / r.sum(0)[:, None])(nn.softmax(-jnp.square(x[:, None] - m[None]).sum(-1) / 2, 1)), (f32, 500, 3), (f32, 5, 3))


def define_optimizers(jax, jnp):
    tree = [(f32, 64, 64), (f32, 64), (f32, 64, 10), (f32, 10)]

    def each(update, *makers):
        return lambda *a: tuple(update(*a[i::4]) for i in range(4)), *makers

    row("sgd_momentum_tree", *each(lambda p, g, m: (p - 0.1 * (0.9 * m + g), 0.9 * m + g), *tree, *tree, *tree))
    row("adamw_tree", *each(lambda p, g, m, v: (p - 1e-3 * ((0.9 * m + 0.1 * g) / (jnp.sqrt(0.999 * v * v + 0.001 * g * g) + 1e-8) + 0.01 * p), 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g), *tree, *tree, *tree, *tree))
    row("lion_tree", *each(lambda p, g, m: (p - 1e-3 * jnp.sign(0.9 * m + 0.1 * g), 0.99 * m + 0.01 * g), *tree, *tree, *tree))
    row("clip_by_global_norm", lambda *g: (lambda n: tuple(x * jnp.minimum(1, 1 / n) for x in g))(jnp.sqrt(sum(jnp.sum(x * x) for x in g))), *tree)
    row("adafactor_rows", lambda p, g: p - 1e-2 * g / jnp.sqrt((g * g).mean(0, keepdims=True) * (g * g).mean(1, keepdims=True) / (g * g).mean() + 1e-9), (f32, 128, 128), (f32, 128, 128))
    row("muon_newton_schulz", lambda g: functions.functools.reduce(lambda x, _: 1.5 * x - 0.5 * x @ x.T @ x, range(3), g / jnp.linalg.norm(g)), (f32, 48, 64))
    row("ema_lerp_bf16", lambda a, b: (a.astype(jnp.float32) * 0.999 + b.astype(jnp.float32) * 0.001).astype(jnp.bfloat16), (bf16, 1 << 16), (bf16, 1 << 16))
    row("line_fit_step", jax.value_and_grad(lambda w, x, y: jnp.mean((x * w[0] + w[1] - y) ** 2)), (f32, 2), (f32, 1000), (f32, 1000))


def define_tables(jax, jnp):
    lax, nn, ops = jax.lax, jax.nn, jax.ops
    row("embedding_bag", lambda t, i: t[i].mean(1), (f32, 1000, 32), (whole, 1000, 64, 10))
    row("embedding_gradient_small", jax.grad(lambda t, i: jnp.tanh(t[i]).sum()), (f32, 200, 16), (whole, 200, 500))
    row("one_hot_sum", lambda i: nn.one_hot(i, 64).sum(0), (whole, 64, 2000))
    row("gather_rows", lambda x, i: x[i], (f32, 500, 100), (whole, 500, 800))
    row("gather_columns", lambda x, i: x[:, i], (f32, 200, 100), (whole, 100, 50))
    row("gather_points", lambda x, i, j: x[i, j], (f32, 100, 100), (whole, 100, 4000), (whole, 100, 4000))
    row("gather_u8_table", lambda t, i: t[i], (positive, 256), (whole, 256, 1 << 15))
    row("scatter_set_rows", lambda x, i, u: x.at[i].set(u), (f32, 500, 32), (whole, 500, 100), (f32, 100, 32))
    row("scatter_max", lambda x, i, u: x.at[i].max(u), (f32, 500), (whole, 500, 4000), (f32, 4000))
    row("scatter_multiply", lambda x, i, u: x.at[i].multiply(u), (f32, 500), (whole, 500, 1000), (f32, 1000))
    row("scatter_columns", lambda x, i, u: x.at[:, i].add(u), (f32, 100, 50), (whole, 50, 30), (f32, 100, 30))
    row("histogram_2d", lambda x, y: jnp.zeros((32, 32)).at[jnp.clip((x * 8 + 16).astype(jnp.int32), 0, 31), jnp.clip((y * 8 + 16).astype(jnp.int32), 0, 31)].add(1), (f32, 4000), (f32, 4000))
    row("segment_mean", lambda x, i: ops.segment_sum(x, i, 50) / jnp.maximum(ops.segment_sum(jnp.ones(2000), i, 50), 1)[:, None], (f32, 2000, 8), (whole, 50, 2000))
    row("segment_max_small", lambda x, i: ops.segment_max(x, i, 50), (f32, 2000, 8), (whole, 50, 2000))
    row("segment_min_scalars", lambda x, i: ops.segment_min(x, i, 50), (f32, 4000), (whole, 50, 4000))
    row("segment_softmax", lambda x, i: (lambda e: e / ops.segment_sum(e, i, 50)[i])(jnp.exp(x - ops.segment_max(x, i, 50)[i])), (f32, 2000), (whole, 50, 2000))
    row("bincount_weights", lambda i, w: jnp.bincount(i, w, length=100), (whole, 100, 5000), (f32, 5000))
    row("dynamic_slice_vmap", jax.vmap(lambda x, i: lax.dynamic_slice(x, (i,), (16,))), (f32, 64, 100), (whole, 80, 64))
    row("update_cache_vmap", jax.vmap(lambda c, k, i: lax.dynamic_update_slice(c, k, (i, 0))), (f32, 8, 64, 32), (f32, 8, 1, 32), (whole, 64, 8))
    row("take_mode_clip", lambda x, i: jnp.take(x, i, 0, mode="clip"), (f32, 300, 10), (whole, 400, 1000))
    row("digitize", lambda x, b: jnp.digitize(x, jnp.sort(b)), (f32, 4000), (f32, 20))
    row("confusion_matrix", lambda a, b: jnp.zeros((10, 10), jnp.int32).at[a, b].add(1), (whole, 10, 5000), (whole, 10, 5000))
    row("gather_gradient_2d", jax.grad(lambda x, i: jnp.square(jnp.take_along_axis(x, i, 1)).sum()), (f32, 128, 64), (whole, 64, 128, 16))
    row("permute_rows", lambda x, p: x[jnp.argsort(p)], (f32, 256, 64), (f32, 256))


def define_convolutions(jax, jnp):
    lax, nn = jax.lax, jax.nn
    nhwc = ("NHWC", "HWIO", "NHWC")

    def conv(x, w, stride=1, padding="SAME", **more):
        return lax.conv_general_dilated(x, w, (stride,) * (x.ndim - 2), padding, dimension_numbers=nhwc if x.ndim == 4 else None, **more)

    row("conv_3x3_small", conv, (f32, 4, 16, 16, 8), (f32, 3, 3, 8, 16))
    row("conv_first_layer_7x7", lambda x, w: nn.relu(conv(x, w, 2)), (f32, 2, 64, 64, 3), (f32, 7, 7, 3, 16))
    row("conv_nchw", lambda x, w: lax.conv(x, w, (1, 1), "SAME"), (f32, 2, 16, 28, 28), (f32, 16, 16, 3, 3))
    row("conv_dilated", lambda x, w: conv(x, w, rhs_dilation=(2, 2)), (f32, 2, 28, 28, 16), (f32, 3, 3, 16, 16))
    row("conv_transpose", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=nhwc), (f32, 2, 14, 14, 16), (f32, 3, 3, 16, 8))
    row("conv_grouped", lambda x, w: conv(x, w, feature_group_count=4), (f32, 2, 28, 28, 32), (f32, 3, 3, 8, 32))
    row("conv_separable", lambda x, d, p: conv(nn.relu(conv(x, d, feature_group_count=16)), p), (f32, 2, 28, 28, 16), (f32, 3, 3, 1, 16), (f32, 1, 1, 16, 32))
    row("conv_depthwise_gradient", jax.grad(lambda x, w: jnp.square(conv(x, w, feature_group_count=16)).sum(), (0, 1)), (f32, 2, 14, 14, 16), (f32, 3, 3, 1, 16))
    row("conv_1d_causal", lambda x, w: conv(x, w, 1, [(4, 0)]), (f32, 8, 16, 200), (f32, 16, 16, 5))
    row("conv_1d_depthwise", lambda x, w: conv(x, w, 1, [(3, 0)], feature_group_count=64), (f32, 4, 64, 128), (f32, 64, 1, 4))
    row("conv_3d", lambda x, w: conv(x, w), (f32, 1, 4, 12, 12, 12), (f32, 8, 4, 3, 3, 3))
    row("conv_gradient_small", jax.grad(lambda x, w: jnp.square(nn.relu(conv(x, w))).sum(), (0, 1)), (f32, 4, 14, 14, 8), (f32, 3, 3, 8, 16))
    row("conv_bf16_small", conv, (bf16, 2, 14, 14, 32), (bf16, 3, 3, 32, 32))
    row("conv_f16", conv, (half, "float16", 2, 14, 14, 16), (half, "float16", 3, 3, 16, 16))
    row("conv_s8_small", lambda x, w: conv(x, w, preferred_element_type=jnp.int32), (byte, 2, 14, 14, 16), (byte, 3, 3, 16, 16))
    row("conv_vmap_kernels", jax.vmap(lambda x, w: lax.conv(x, w, (1, 1), "SAME")), (f32, 4, 1, 4, 12, 12), (f32, 4, 8, 4, 3, 3))
    row("convolve_full", lambda x, k: jnp.convolve(x, k), (f32, 4000), (f32, 33))
    row("convolve_2d_same", lambda x, k: jax.scipy.signal.convolve2d(x, k, "same"), (f32, 64, 64), (f32, 5, 5))
    row("max_pool_2x2", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), (f32, 4, 28, 28, 16))
    row("max_pool_overlap_gradient", jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME").sum()), (f32, 2, 28, 28, 8))
    row("average_pool_same", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME") / 9, (f32, 4, 28, 28, 8))
    row("cnn_forward", lambda x, a, b, d: nn.log_softmax(lax.reduce_window(nn.relu(conv(nn.relu(conv(x, a)), b, 2)), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").reshape(8, -1) @ d), (f32, 8, 28, 28, 1), (f32, 3, 3, 1, 8), (f32, 3, 3, 8, 16), (f32, 784, 10))


def define_images(jax, jnp):
    image = jax.image
    row("resize_bilinear", lambda x: image.resize(x, (2, 48, 48, 3), "bilinear"), (f32, 2, 32, 32, 3))
    row("resize_bicubic_down", lambda x: image.resize(x, (2, 20, 20, 3), "bicubic"), (f32, 2, 64, 64, 3))
    row("upsample_repeat", lambda x: x.repeat(2, 1).repeat(2, 2), (f32, 2, 24, 24, 32))
    row("upsample_nearest_nchw", lambda x: image.resize(x, (2, 16, 32, 32), "nearest"), (f32, 2, 16, 16, 16))
    row("pixel_shuffle", lambda x: x.reshape(2, 16, 16, 2, 2, 8).transpose(0, 1, 3, 2, 4, 5).reshape(2, 32, 32, 8), (f32, 2, 16, 16, 32))
    row("space_to_depth", lambda x: x.reshape(2, 16, 2, 16, 2, 8).transpose(0, 1, 3, 2, 4, 5).reshape(2, 16, 16, 32), (f32, 2, 32, 32, 8))
    row("rgb_to_grey", lambda x: x @ jnp.array([0.3, 0.6, 0.1]), (f32, 4, 64, 64, 3))
    row("rgb_to_hsv_value", lambda x: (x.max(-1), (x.max(-1) - x.min(-1)) / (x.max(-1) + 1e-6)), (positive, 64, 64, 3))
    row("random_flip", lambda x, f: jnp.where(f[:, None, None, None] > 0, x[:, :, ::-1], x), (f32, 8, 32, 32, 3), (f32, 8))
    row("sobel", lambda x: jnp.hypot(x[2:, 1:-1] - x[:-2, 1:-1], x[1:-1, 2:] - x[1:-1, :-2]), (f32, 128, 128))
    row("patchify", lambda x: x.reshape(4, 8, 4, 8, 4, 3).transpose(0, 1, 3, 2, 4, 5).reshape(4, 64, 48), (f32, 4, 32, 32, 3))
    row("affine_warp", lambda x, t: jax.scipy.ndimage.map_coordinates(x, [t[0, 0] * jnp.arange(48)[:, None] + t[0, 1] * jnp.arange(48) + 8, t[1, 0] * jnp.arange(48)[:, None] + t[1, 1] * jnp.arange(48) + 8], 1), (f32, 64, 64), (f32, 2, 2))
    row("grid_sample_gradient", jax.grad(lambda x, g: jax.scipy.ndimage.map_coordinates(x, [g[0] * 8 + 16, g[1] * 8 + 16], 1).sum()), (f32, 32, 32), (f32, 2, 32, 32))
    row("gaussian_blur_rows", lambda x, k: jnp.stack([jnp.convolve(r, k, "same") for r in x]), (f32, 8, 256), (f32, 9))
    row("reflect_pad", lambda x: jnp.pad(x, ((0, 0), (3, 3), (3, 3), (0, 0)), mode="reflect"), (f32, 4, 32, 32, 8))
    row("u8_to_float_normalise", lambda x: (x.astype(jnp.float32) / 255 - 0.5) / 0.25, (lambda: whole(255, 8, 32, 32, 3, kind=np.uint8),))
    row("histogram_equalise", lambda x: (lambda h: (jnp.cumsum(h) / h.sum())[x])(jnp.bincount(x.ravel(), length=256)), (whole, 256, 64, 64))
    row("patches_extract", lambda x: jax.lax.conv_general_dilated_patches(x, (3, 3), (1, 1), "SAME"), (f32, 2, 4, 24, 24))


def define_products(jax, jnp):
    lax, nn = jax.lax, jax.nn
    s32 = functions.functools.partial(lax.dot, preferred_element_type=jnp.int32)
    row("product_s8_64", s32, (byte, 64, 64), (byte, 64, 64))
    row("product_s8_rows", s32, (byte, 4, 512), (byte, 512, 512))
    row("product_u8_s8", lambda a, b: lax.dot_general(a.astype(jnp.uint8), b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32), (byte, 128, 128), (byte, 128, 128))
    row("product_s8_batch", lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.int32), (byte, 8, 64, 64), (byte, 8, 64, 64))
    row("product_s8_transposed", lambda a, b: lax.dot_general(a, b, (((1,), (1,)), ((), ())), preferred_element_type=jnp.int32), (byte, 128, 256), (byte, 128, 256))
    row("linear_quantised", lambda x, w, s: (lambda a: s32(jnp.round(x / a).astype(jnp.int8), w).astype(jnp.float32) * a * s)(jnp.abs(x).max(-1, keepdims=True) / 127), (f32, 32, 256), (byte, 256, 256), (f32, 256))
    row("linear_weight_only_s8", lambda x, w, s: x @ (w.astype(jnp.float32) * s), (f32, 8, 256), (byte, 256, 256), (f32, 256))
    row("product_f8", lambda a, b: lax.dot(a, b, preferred_element_type=jnp.float32), (half, "float8_e4m3fn", 128, 128), (half, "float8_e4m3fn", 128, 128))
    row("product_f8_scaled", lambda a, b: lax.dot(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), preferred_element_type=jnp.float32) * 0.1, (half, "float8_e5m2", 128, 128), (half, "float8_e4m3fn", 128, 128))
    row("product_bf16_to_f32", lambda a, b: lax.dot(a, b, preferred_element_type=jnp.float32), (bf16, 100, 100), (bf16, 100, 100))
    row("product_f16_64", jnp.matmul, (half, "float16", 64, 64), (half, "float16", 64, 64))
    row("matvec_100", jnp.matmul, (f32, 100, 100), (f32, 100))
    row("vecmat_bf16", jnp.matmul, (bf16, 256), (bf16, 256, 512))
    row("matvec_f64", jnp.matmul, (f64, 200, 200), (f64, 200))
    row("outer_product", jnp.outer, (f32, 200), (f32, 300))
    row("inner_long", jnp.vdot, (f32, 1 << 16), (f32, 1 << 16))
    row("product_odd", jnp.matmul, (f32, 33, 65), (f32, 65, 17))
    row("product_thin", lambda a, b: a @ b.T, (f32, 500, 3), (f32, 400, 3))
    row("product_batch_vec", lambda a, b: jnp.einsum("bij,bj->bi", a, b), (f32, 256, 16, 16), (f32, 256, 16))
    row("bilinear_layer", lambda x, w, y: jnp.einsum("bi,kij,bj->bk", x, w, y), (f32, 32, 16), (f32, 8, 16, 16), (f32, 32, 16))
    row("tensor_contract_4", lambda a, b: jnp.einsum("abcd,cdef->abef", a, b), (f32, 4, 8, 6, 5), (f32, 6, 5, 8, 4))
    row("kronecker", jnp.kron, (f32, 12, 12), (f32, 16, 16))
    row("trace_product", lambda a, b: jnp.einsum("ij,ji->", a, b), (f32, 128, 128), (f32, 128, 128))
    row("gram_rbf", lambda x: jnp.exp(-(jnp.square(x).sum(-1)[:, None] + jnp.square(x).sum(-1) - 2 * x @ x.T)), (f32, 200, 10))
    row("matrix_power", lambda a: jnp.linalg.matrix_power(a, 5), (f32, 8, 8))
    row("chain_of_three", lambda a, b, c: jnp.linalg.multi_dot([a, b, c]), (f32, 20, 100), (f32, 100, 8), (f32, 8, 50))
    row("product_s32_small", jnp.matmul, (whole, 100, 32, 32), (whole, 100, 32, 32))
    row("product_c64_batch", jnp.matmul, (complex64, 16, 8, 8), (complex64, 16, 8, 8))
    row("product_masked_bool", lambda a, b: (a > 0).astype(jnp.float32) @ b, (f32, 64, 128), (f32, 128, 64))
    row("swiglu", lambda x, a, b, c: (nn.silu(x @ a) * (x @ b)) @ c, (f32, 16, 64), (f32, 64, 172), (f32, 64, 172), (f32, 172, 64))


def define_algebra(jax, jnp):
    la = jnp.linalg
    one = (lambda: spd(1, 40)[0],)
    row("solve_40", la.solve, one, (f32, 40))
    row("cholesky_solve", lambda a, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), b), one, (f32, 40))
    row("triangular_batch", lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), (spd, 16, 12), (f32, 16, 12, 4))
    row("qr_40", la.qr, (f32, 40, 20))
    row("eigh_16", la.eigh, one)
    row("svd_20", lambda a: la.svd(a, full_matrices=False), (f32, 30, 20))
    row("inverse_4x4_batch", la.inv, (spd, 200, 4))
    row("inverse_2x2_batch", la.inv, (spd, 1000, 2))
    row("det_3x3_batch", la.det, (spd, 1000, 3))
    row("slogdet_gradient", jax.grad(lambda a: la.slogdet(a)[1]), one)
    row("lstsq_normal", lambda x, y: la.solve(x.T @ x + 0.1 * jnp.eye(8), x.T @ y), (f32, 100, 8), (f32, 100))
    row("mvn_logpdf", lambda x, m, c: jax.scipy.stats.multivariate_normal.logpdf(x, m, c), (f32, 200, 8), (f32, 8), (lambda: spd(1, 8)[0],))
    row("expm_6", jax.scipy.linalg.expm, (f32, 6, 6))
    row("gaussian_process", lambda x, y, s: (lambda k: jnp.exp(-jnp.square(s[:, None] - x[None])) @ la.solve(k + 0.1 * jnp.eye(40), y))(jnp.exp(-jnp.square(x[:, None] - x[None]))), (f32, 40), (f32, 40), (f32, 100))
    row("pinv_12x8", la.pinv, (f32, 12, 8))
    row("cross_product_single", jnp.cross, (f32, 3), (f32, 3))
    row("rotation_from_axis", lambda v: (lambda t, k: jnp.eye(3) + jnp.sin(t)[:, None, None] * k + (1 - jnp.cos(t))[:, None, None] * k @ k)(la.norm(v, axis=-1), jnp.stack([jnp.zeros(500), -v[:, 2], v[:, 1], v[:, 2], jnp.zeros(500), -v[:, 0], -v[:, 1], v[:, 0], jnp.zeros(500)], -1).reshape(500, 3, 3)), (f32, 500, 3))
    row("fft_small_batch", lambda x: jnp.abs(jnp.fft.rfft(x)) ** 2, (f32, 64, 64))
    row("fft_odd", lambda x: jnp.fft.fft(x), (complex64, 16, 105))
    row("fft_convolve", lambda x, k: jnp.fft.irfft(jnp.fft.rfft(x, 1024) * jnp.fft.rfft(k, 1024)), (f32, 8, 800), (f32, 8, 200))
    row("stft", lambda x, w: jnp.abs(jnp.fft.rfft(jnp.stack([x[i * 64 : i * 64 + 256] for i in range(28)]) * w)), (f32, 2048), (f32, 256))
    row("spectral_poisson", lambda f: jnp.fft.ifft2(jnp.fft.fft2(f) / (1 + jnp.fft.fftfreq(32)[:, None] ** 2 + jnp.fft.fftfreq(32) ** 2)).real, (f32, 32, 32))
    row("fft_shift", lambda x: jnp.fft.fftshift(jnp.fft.fft2(x)), (complex64, 64, 64))
    row("dct", lambda x: jax.scipy.fft.dct(x), (f32, 32, 64))


def define_order(jax, jnp):
    lax = jax.lax
    row("sort_small_rows", lambda x: jnp.sort(x, -1), (f32, 1000, 16))
    row("sort_columns", lambda x: jnp.sort(x, 0), (f32, 64, 200))
    row("sort_descending", lambda x: -jnp.sort(-x), (f32, 10000))
    row("sort_s32", jnp.sort, (whole, 1 << 30, 20000))
    row("sort_bf16", jnp.sort, (bf16, 64, 256))
    row("argsort_rows", lambda x: jnp.argsort(x, -1), (f32, 64, 100))
    row("argsort_stable_keys", jnp.argsort, (whole, 10, 5000))
    row("lexsort", lambda a, b: jnp.lexsort((a, b)), (f32, 2000), (whole, 10, 2000))
    row("sort_pairs", lambda k, v: lax.sort((k, v), num_keys=1), (f32, 5000), (f32, 5000))
    row("top_k_small", lambda x: lax.top_k(x, 3), (f32, 512, 40))
    row("top_k_one", lambda x: lax.top_k(x, 50)[0], (f32, 10000))
    row("percentiles", lambda x: jnp.percentile(x, jnp.array([5.0, 50.0, 95.0]), axis=0), (f32, 200, 50))
    row("median_rows", lambda x: jnp.median(x, 1), (f32, 200, 51))
    row("unique_sized", lambda x: jnp.unique(x, size=100), (whole, 100, 1000))
    row("rank_transform", lambda x: jnp.argsort(jnp.argsort(x)), (f32, 2000))
    row("searchsorted_sort", lambda a, v: jnp.searchsorted(jnp.sort(a), v, method="sort"), (f32, 500), (f32, 1000))
    row("top_p_mask", lambda x: (lambda s: jnp.where(x < jnp.take_along_axis(s, jnp.sum(jnp.cumsum(jax.nn.softmax(s), -1) < 0.9, -1, keepdims=True), -1), -1e9, x))(jnp.sort(x, -1)[:, ::-1]), (f32, 4, 1000))
    row("nonzero_sized", lambda x: jnp.nonzero(x > 0, size=500)[0], (f32, 1000))
    row("partition", lambda x: jnp.partition(x, 10, -1), (f32, 100, 64))


def define_random(jax, jnp):
    r = jax.random
    key = (lambda: np.array([5, 11], np.uint32),)

    def drawn(name, draw):
        row("random_" + name, lambda k: draw(r.wrap_key_data(k)), key)

    drawn("uniform_small", lambda k: r.uniform(k, (100,)))
    drawn("normal_small", lambda k: r.normal(k, (1000,)))
    drawn("normal_bf16", lambda k: r.normal(k, (4096,), jnp.bfloat16))
    drawn("randint", lambda k: r.randint(k, (2000,), 0, 10))
    drawn("permutation", lambda k: r.permutation(k, 1000))
    drawn("choice", lambda k: r.choice(k, 100, (50,), replace=False))
    drawn("gamma", lambda k: r.gamma(k, 2.0, (100,)))
    drawn("poisson", lambda k: r.poisson(k, 3.0, (200,)))
    drawn("exponential", lambda k: r.exponential(k, (2000,)))
    drawn("truncated", lambda k: r.truncated_normal(k, -2, 2, (2000,)))
    drawn("split_many", lambda k: r.key_data(r.split(k, 500)))
    drawn("orthogonal", lambda k: r.orthogonal(k, 16))
    drawn("init_tree", lambda k: [r.normal(i, (32, 32)) * 0.1 for i in r.split(k, 4)])
    row("dropout_small", lambda k, x: jnp.where(r.bernoulli(r.wrap_key_data(k), 0.9, x.shape), x / 0.9, 0), key, (f32, 64, 128))
    row("categorical_small", lambda k, x: r.categorical(r.wrap_key_data(k), x), key, (f32, 16, 100))
    row("bootstrap_means", lambda k, x: x[r.randint(r.wrap_key_data(k), (50, 100), 0, 100)].mean(1), key, (f32, 100))
    row("monte_carlo_pi", lambda k: (jnp.square(r.uniform(r.wrap_key_data(k), (4096, 2))).sum(-1) < 1).mean(), key)


def define_movement(jax, jnp):
    row("transpose_small", lambda x: x.T, (f32, 60, 90))
    row("transpose_4d", lambda x: x.transpose(3, 1, 0, 2), (f32, 8, 12, 10, 16))
    row("stack_columns", lambda *x: jnp.stack(x, 1), *[(f32, 1000)] * 5)
    row("concatenate_mixed", lambda a, b, c: jnp.concatenate([a, b[:, ::-1], c * 2], 1), (f32, 100, 20), (f32, 100, 30), (f32, 100, 7))
    row("tile_repeat", lambda x: jnp.tile(x, (4, 3)), (f32, 30, 20))
    row("roll_2d", lambda x: jnp.roll(x, (3, 5), (0, 1)), (f32, 100, 100))
    row("triu_fill", lambda x: jnp.triu(x, 1) - jnp.tril(x, -1), (f32, 128, 128))
    row("diagonal_embed", lambda x: jnp.eye(20) * x[:, None], (f32, 100, 20))
    row("diagonal_get", lambda x: jnp.diagonal(x, 0, 1, 2), (f32, 100, 20, 20))
    row("strided_slice", lambda x: x[::3, 1::2], (f32, 300, 200))
    row("pad_constant", lambda x: jnp.pad(x, ((2, 3), (1, 1)), constant_values=1), (f32, 100, 60))
    row("pad_edge_gradient", jax.grad(lambda x: jnp.square(jnp.pad(x, 2, mode="edge")).sum()), (f32, 30, 30))
    row("meshgrid_polynomial", lambda x, y: (lambda a, b: a * a + b * b + a * b)(*jnp.meshgrid(x, y)), (f32, 200), (f32, 150))
    row("split_heads_merge", lambda x: (x.reshape(4, 32, 4, 16).transpose(0, 2, 1, 3) * 2).transpose(0, 2, 1, 3).reshape(4, 32, 64), (f32, 4, 32, 64))
    row("sliding_windows", lambda x: x[jnp.arange(100)[:, None] + jnp.arange(20)], (f32, 119))
    row("hankel_sum", lambda x: (x[jnp.arange(100)[:, None] + jnp.arange(20)] ** 2).sum(1), (f32, 119))
    row("swap_axes_sum", lambda x: jnp.moveaxis(x, 0, -1).sum(0), (f32, 16, 30, 40))
    row("complex_split", lambda z: jnp.stack([z.real, z.imag], -1), (complex64, 5000))
    row("bitcast_bytes", lambda x: jax.lax.bitcast_convert_type(x, jnp.uint8), (f32, 5000))
    row("vandermonde", lambda x: jnp.vander(x, 8), (f32, 500))
    row("block_diagonal", lambda a, b: jax.scipy.linalg.block_diag(a, b), (f32, 30, 30), (f32, 20, 20))
    row("toeplitz_product", lambda c, x: jax.scipy.linalg.toeplitz(c) @ x, (f32, 64), (f32, 64))
    row("interleave", lambda a, b: jnp.stack([a, b], -1).reshape(-1), (f32, 5000), (f32, 5000))
    row("bool_pack", lambda x: jnp.packbits(x > 0), (f32, 8000))
    row("rot90_flip", lambda x: jnp.rot90(x)[:, ::-1], (f32, 100, 70))


if __name__ == "__main__":
    functions.define = define
    functions.main()
