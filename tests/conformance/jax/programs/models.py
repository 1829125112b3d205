"""Whole models: training steps, forward and backward passes, optimizers."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import inputs
from programs.harness import Program, Registry

CASES = Registry()
BOTH = ("f32", "bf16")


def is_low(dtype) -> bool:
    return dtype != np.float32


def cross_entropy(logits, labels):
    """Mean negative log-likelihood, in f32 at least."""
    logits = logits.astype(jnp.promote_types(logits.dtype, jnp.float32))
    log_p = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(log_p, labels[:, None], axis=1))


def sgd(params, grads, rate):
    return jax.tree.map(lambda p, g: p - jnp.asarray(rate, p.dtype) * g, params, grads)


@CASES.case("mlp_train_step", BOTH)
def mlp_train_step(rng, dtype):
    """Three dense layers, cross entropy by take_along_axis, one SGD step, parameters donated."""
    sizes = (64, 96, 48, 10)
    params = [
        {"w": inputs.weight(rng, (i, o), dtype), "b": inputs.normal(rng, (o,), dtype, 0.1)}
        for i, o in zip(sizes, sizes[1:])
    ]

    def loss_of(params, x, labels):
        for layer in params[:-1]:
            x = jax.nn.relu(x @ layer["w"] + layer["b"])
        return cross_entropy(x @ params[-1]["w"] + params[-1]["b"], labels)

    def step(params, x, labels):
        loss, grads = jax.value_and_grad(loss_of)(params, x, labels)
        return sgd(params, grads, 0.05), loss

    x = inputs.varied(rng, (32, 64), dtype, -2, 2)
    return Program(
        step, (params, x, inputs.integers(rng, 0, 10, 32)), donate=(0,), low_precision=is_low(dtype)
    )


@CASES.case("mlp_one_hot_momentum_step", BOTH)
def mlp_one_hot_momentum_step(rng, dtype):
    """Two tanh layers, one-hot cross entropy with label smoothing, SGD with momentum; both states donated."""
    params = {
        "w1": inputs.weight(rng, (48, 64), dtype),
        "b1": inputs.normal(rng, (64,), dtype, 0.1),
        "w2": inputs.weight(rng, (64, 16), dtype),
        "b2": inputs.normal(rng, (16,), dtype, 0.1),
    }
    velocity = {name: inputs.normal(rng, value.shape, dtype, 0.01) for name, value in params.items()}

    def loss_of(params, x, labels):
        hidden = jnp.tanh(x @ params["w1"] + params["b1"])
        logits = hidden @ params["w2"] + params["b2"]
        target = 0.9 * jax.nn.one_hot(labels, 16, dtype=logits.dtype) + 0.1 / 16
        log_p = jax.nn.log_softmax(logits.astype(jnp.promote_types(logits.dtype, jnp.float32)))
        return -(target * log_p).sum(axis=-1).mean()

    def step(params, velocity, x, labels, rate):
        loss, grads = jax.value_and_grad(loss_of)(params, x, labels)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
        params = jax.tree.map(
            lambda p, v: p - (rate * v.astype(rate.dtype)).astype(p.dtype), params, velocity
        )
        return params, velocity, loss

    x = inputs.normal(rng, (24, 48), dtype, 0.4)  # tanh not saturated: 1 - h*h must survive bf16
    return Program(
        step,
        (params, velocity, x, inputs.integers(rng, 0, 16, 24), np.float32(0.1)),
        donate=(0, 1),
        low_precision=is_low(dtype),
    )


@CASES.case("adam_step", ("f32",))
def adam_step(rng, dtype):
    """Adam with decoupled weight decay and bias correction by a step count, over three arrays; all state
    donated."""
    shapes = {"embedding": (32, 24), "bias": (24,), "scale": ()}
    make = lambda scale: {
        name: inputs.varied(rng, shape, dtype) * np.float32(scale) for name, shape in shapes.items()
    }
    params, grads, m = make(1), make(1e-2), make(1e-3)
    v = {name: value * value for name, value in make(1e-2).items()}

    def step(params, m, v, count, grads):
        count = count + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)
        t = count.astype(m["bias"].dtype)
        correct1, correct2 = 1 - 0.9**t, 1 - 0.999**t
        update = lambda p, m, v: p - 1e-3 * ((m / correct1) / (jnp.sqrt(v / correct2) + 1e-8) + 0.01 * p)
        return jax.tree.map(update, params, m, v), m, v, count

    return Program(step, (params, m, v, np.int32(7), grads), donate=(0, 1, 2, 3), kind="elementwise")


def attention_of(q, k, v, mask):
    """Softmax attention over [batch, time, heads, depth]; scores in f32 at least."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]).astype(q.dtype)
    scores = scores.astype(jnp.promote_types(scores.dtype, jnp.float32))
    scores = jnp.where(mask, scores, -1e30)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1).astype(v.dtype), v)


@CASES.case("attention_causal", BOTH)
def attention_causal(rng, dtype):
    """Softmax attention under a causal mask."""
    q, k, v = (inputs.varied(rng, (2, 16, 4, 16), dtype, -1, 1) for _ in range(3))
    causal = lambda q, k, v: attention_of(q, k, v, jnp.tril(jnp.ones((16, 16), bool)))
    return Program(causal, (q, k, v))


@CASES.case("attention_padding_mask_grad", BOTH)
def attention_padding_mask_grad(rng, dtype):
    """Attention under a mask of sequence lengths (one of them a single token), with its gradients."""
    q, k, v, out = (inputs.normal(rng, (3, 12, 2, 8), dtype) for _ in range(4))

    def f(q, k, v, lengths, out):
        mask = (jnp.arange(12)[None, :] < lengths[:, None])[:, None, None, :]
        value, pull = jax.vjp(lambda q, k, v: attention_of(q, k, v, mask), q, k, v)
        return value, pull(out)

    return Program(f, (q, k, v, np.array([12, 1, 7], np.int32), out))


def layer_norm_of(x, scale, offset):
    wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    mean = wide.mean(axis=-1, keepdims=True)
    variance = jnp.square(wide - mean).mean(axis=-1, keepdims=True)
    return ((wide - mean) * lax.rsqrt(variance + 1e-5)).astype(x.dtype) * scale + offset


@CASES.case("layer_norm", BOTH)
def layer_norm(rng, dtype):
    """Layer norm of rows whose magnitudes differ by powers of two."""
    x = inputs.normal(rng, (24, 80), np.float32) * 2.0 ** rng.uniform(-4, 6, (24, 1)) + 0.5
    scale, offset = inputs.normal(rng, (80,), dtype), inputs.normal(rng, (80,), dtype)
    return Program(layer_norm_of, (x.astype(dtype), scale, offset))


@CASES.case("layer_norm_grad", BOTH)
def layer_norm_grad(rng, dtype):
    """Gradient of layer norm in its input, scale and offset."""
    x = inputs.normal(rng, (24, 80), dtype, 3.0)
    scale, offset = inputs.normal(rng, (80,), dtype), inputs.normal(rng, (80,), dtype)
    out = inputs.normal(rng, (24, 80), dtype)
    return Program(
        lambda x, s, o, out: jax.vjp(layer_norm_of, x, s, o)[1](out),
        (x, scale, offset, out),
        low_precision=is_low(dtype),
    )


def transformer_params(rng, dtype, width, inner):
    return {
        "norm1": {
            "scale": inputs.normal(rng, (width,), dtype, 0.2) + dtype.type(1),
            "offset": inputs.normal(rng, (width,), dtype, 0.1),
        },
        "qkv": inputs.weight(rng, (width, 3 * width), dtype),
        "out": inputs.weight(rng, (width, width), dtype),
        "norm2": {
            "scale": inputs.normal(rng, (width,), dtype, 0.2) + dtype.type(1),
            "offset": inputs.normal(rng, (width,), dtype, 0.1),
        },
        "up": inputs.weight(rng, (width, inner), dtype),
        "up_bias": inputs.normal(rng, (inner,), dtype, 0.1),
        "down": inputs.weight(rng, (inner, width), dtype),
        "down_bias": inputs.normal(rng, (width,), dtype, 0.1),
    }


def transformer_block(params, x, heads=4, approximate=True, compute=None):
    """`compute` is the type of the matrix products' operands where it is not that of `x` (autocast)."""
    batch, time, width = x.shape
    compute = compute or x.dtype
    product = lambda a, b: jnp.matmul(a.astype(compute), b.astype(compute), preferred_element_type=x.dtype)
    mask = jnp.tril(jnp.ones((time, time), bool))
    normed = layer_norm_of(x, **params["norm1"])
    q, k, v = jnp.split(
        product(normed, params["qkv"]).reshape(batch, time, 3 * heads, width // heads), 3, axis=2
    )
    heard = attention_of(q, k, v, mask).reshape(batch, time, width)
    x = x + product(heard, params["out"])
    normed = layer_norm_of(x, **params["norm2"])
    hidden = jax.nn.gelu(product(normed, params["up"]) + params["up_bias"], approximate=approximate)
    return x + product(hidden, params["down"]) + params["down_bias"]


@CASES.case("transformer_block_forward", BOTH)
def transformer_block_forward(rng, dtype):
    """Pre-norm transformer block: causal attention of four heads, tanh gelu."""
    x = inputs.normal(rng, (2, 16, 32), dtype, 2.0)
    return Program(transformer_block, (transformer_params(rng, dtype, 32, 96), x))


@CASES.case("transformer_block_backward", BOTH)
def transformer_block_backward(rng, dtype):
    """The same block with erf gelu: value and the gradients of all parameters and of the input. The bf16
    form is autocast: f32 parameters and residual stream, bf16 matrix products."""
    params = transformer_params(rng, np.dtype(np.float32), 32, 64)
    x, out = inputs.normal(rng, (2, 12, 32), np.float32), inputs.normal(rng, (2, 12, 32), np.float32)

    def f(params, x, out):
        block = lambda p, x: transformer_block(
            p, x, approximate=False, compute=dtype if is_low(dtype) else None
        )
        value, pull = jax.vjp(block, params, x)
        return value, pull(out)

    return Program(f, (params, x, out), low_precision=is_low(dtype))


def max_pool(x):
    return lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


@CASES.case("convnet_train_step", BOTH)
def convnet_train_step(rng, dtype):
    """Two convolutions with max-pooling (reduce-window, select-and-scatter), a dense layer, one donated SGD
    step."""
    params = {
        "conv1": inputs.weight(rng, (3, 3, 2, 8), dtype),
        "bias1": inputs.normal(rng, (8,), dtype, 0.1),
        "conv2": inputs.weight(rng, (3, 3, 8, 12), dtype),
        "bias2": inputs.normal(rng, (12,), dtype, 0.1),
        "dense": inputs.weight(rng, (3 * 3 * 12, 10), dtype),
    }

    def loss_of(params, x, labels):
        for i in ("1", "2"):
            x = lax.conv_general_dilated(
                x, params["conv" + i], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = max_pool(jax.nn.relu(x + params["bias" + i]))
        return cross_entropy(x.reshape(x.shape[0], -1) @ params["dense"], labels)

    def step(params, x, labels):
        loss, grads = jax.value_and_grad(loss_of)(params, x, labels)
        return sgd(params, grads, 0.05), loss

    x = inputs.varied(rng, (8, 12, 12, 2), dtype, -1, 1)
    return Program(
        step, (params, x, inputs.integers(rng, 0, 10, 8)), donate=(0,), low_precision=is_low(dtype)
    )


@CASES.case("convnet_batch_norm_grad", ("f32",))
def convnet_batch_norm_grad(rng, dtype):
    """A strided convolution, batch norm over the batch, average pooling; gradients of everything."""
    kernel = inputs.weight(rng, (3, 3, 4, 8), dtype)
    scale, offset = inputs.normal(rng, (8,), dtype) + 1, inputs.normal(rng, (8,), dtype)
    x = inputs.normal(rng, (6, 4, 9, 9), dtype, 2.0)

    def f(kernel, scale, offset, x):
        y = lax.conv_general_dilated(
            x, kernel, (2, 2), ((1, 1), (1, 1)), dimension_numbers=("NCHW", "HWIO", "NCHW")
        )
        mean, variance = y.mean((0, 2, 3), keepdims=True), y.var((0, 2, 3), keepdims=True)
        y = (y - mean) / jnp.sqrt(variance + 1e-3) * scale[:, None, None] + offset[:, None, None]
        pooled = lax.reduce_window(jax.nn.silu(y), 0.0, lax.add, (1, 1, 2, 2), (1, 1, 2, 2), "SAME") / 4
        return (pooled**2).sum()

    return Program(jax.value_and_grad(f, argnums=(0, 1, 2, 3)), (kernel, scale, offset, x))


@CASES.case("lstm_scan_grad", BOTH)
def lstm_scan_grad(rng, dtype):
    """An LSTM by lax.scan, its loss and the gradients of its weights: two while loops over stacked states.
    The bf16 form keeps weights and cell state in f32, as autocast does."""
    time, batch, width, hidden = 6, 6, 12, 16
    params = {
        "x": inputs.weight(rng, (width, 4 * hidden), np.float32),
        "h": inputs.weight(rng, (hidden, 4 * hidden), np.float32),
        "b": inputs.normal(rng, (4 * hidden,), np.float32, 0.1),
    }

    def loss_of(params, xs, target):
        wide = params["h"].dtype
        product = lambda a, b: jnp.matmul(a, b.astype(a.dtype), preferred_element_type=wide)

        def cell(carry, x):
            h, c = carry
            gates = product(x, params["x"]) + product(h, params["h"]) + params["b"]
            i, f, g, o = jnp.split(gates, 4, axis=-1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = (jax.nn.sigmoid(o) * jnp.tanh(c)).astype(h.dtype)
            return (h, c), h

        zero = jnp.zeros((batch, hidden), xs.dtype)
        _, hs = lax.scan(cell, (zero, zero.astype(wide)), xs)
        return jnp.mean((hs.astype(wide) - target.astype(wide)) ** 2) * 100

    xs, target = (
        inputs.normal(rng, (time, batch, width), dtype),
        inputs.normal(rng, (time, batch, hidden), dtype),
    )
    return Program(jax.value_and_grad(loss_of), (params, xs, target), low_precision=is_low(dtype))


@CASES.case("gru_scan_reverse", ("f32",))
def gru_scan_reverse(rng, dtype):
    """A bidirectional GRU: one scan forward, one reversed and unrolled by two."""
    hidden = 12
    wx, wh = (
        inputs.weight(rng, (2, 8, 3 * hidden), dtype, 8),
        inputs.weight(rng, (2, hidden, 3 * hidden), dtype, hidden),
    )

    def f(wx, wh, xs):
        def cell(wx, wh, h, x):
            zx, rx, nx = jnp.split(x @ wx, 3, axis=-1)
            zh, rh, nh = jnp.split(h @ wh, 3, axis=-1)
            z = jax.nn.sigmoid(zx + zh)
            h = z * h + (1 - z) * jnp.tanh(nx + jax.nn.sigmoid(rx + rh) * nh)
            return h, h

        zero = jnp.zeros((xs.shape[1], hidden), xs.dtype)
        _, forward = lax.scan(lambda h, x: cell(wx[0], wh[0], h, x), zero, xs)
        _, backward = lax.scan(lambda h, x: cell(wx[1], wh[1], h, x), zero, xs, reverse=True, unroll=2)
        return jnp.concatenate([forward, backward], axis=-1)

    return Program(f, (wx, wh, inputs.varied(rng, (9, 4, 8), dtype, -2, 2)))


@CASES.case("embedding_grad", BOTH)
def embedding_grad(rng, dtype):
    """Embedding lookup with repeated tokens, and its gradient: gather, then scatter with an add combiner."""
    table, out = inputs.varied(rng, (50, 24), dtype), inputs.normal(rng, (4, 11, 24), dtype)
    tokens = inputs.integers(rng, 0, 50, (4, 11))
    tokens[:2, :2] = 7  # as often as bf16 can add up without losing what the test looks for

    def f(table, tokens, out):
        value, pull = jax.vjp(lambda t: jnp.take(t, tokens, axis=0, mode="clip"), table)
        return value, pull(out)[0]

    return Program(f, (table, tokens, out))


@CASES.case("language_model_step", ("f32",))
def language_model_step(rng, dtype):
    """Tiny language model: embedding, one transformer block, tied output, cross entropy, donated SGD step."""
    params = {
        "embedding": inputs.normal(rng, (40, 32), dtype, 0.3),
        "block": transformer_params(rng, dtype, 32, 64),
    }

    def loss_of(params, tokens):
        x = params["embedding"][tokens[:, :-1]]
        x = transformer_block(params["block"], x)
        logits = jnp.einsum("btd,vd->btv", x, params["embedding"])
        return cross_entropy(logits.reshape(-1, 40), tokens[:, 1:].reshape(-1))

    def step(params, tokens):
        loss, grads = jax.value_and_grad(loss_of)(params, tokens)
        return sgd(params, grads, 0.1), loss

    return Program(step, (params, inputs.integers(rng, 0, 40, (3, 13))), donate=(0,))


@CASES.case("rms_norm_rotary_swiglu", BOTH)
def rms_norm_rotary_swiglu(rng, dtype):
    """The parts of a Llama layer: RMS norm, rotary positions, grouped-query attention, SwiGLU."""
    width, heads, groups, depth = 32, 4, 2, 8
    params = {
        "scale": inputs.normal(rng, (width,), dtype) + dtype.type(1),
        "q": inputs.weight(rng, (width, heads * depth), dtype),
        "kv": inputs.weight(rng, (width, 2 * groups * depth), dtype),
        "gate": inputs.weight(rng, (width, 64), dtype),
        "up": inputs.weight(rng, (width, 64), dtype),
        "down": inputs.weight(rng, (64, width), dtype),
    }

    def rotary(x):
        time, depth = x.shape[1], x.shape[-1]
        angle = jnp.arange(time)[:, None] * 10000.0 ** (-jnp.arange(0, depth, 2) / depth)
        sin, cos = jnp.sin(angle)[:, None, :].astype(x.dtype), jnp.cos(angle)[:, None, :].astype(x.dtype)
        a, b = jnp.split(x, 2, axis=-1)
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    def f(params, x):
        batch, time, _ = x.shape
        wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
        scale = params["scale"].astype(wide.dtype)
        normed = (wide * lax.rsqrt((wide**2).mean(-1, keepdims=True) + 1e-6) * scale).astype(x.dtype)
        q = rotary((normed @ params["q"]).reshape(batch, time, heads, depth))
        k, v = jnp.split((normed @ params["kv"]).reshape(batch, time, 2 * groups, depth), 2, axis=2)
        k, v = jnp.repeat(rotary(k), heads // groups, axis=2), jnp.repeat(v, heads // groups, axis=2)
        heard = attention_of(q, k, v, jnp.tril(jnp.ones((time, time), bool))).reshape(batch, time, width)
        wide = wide + heard.astype(wide.dtype)
        x = wide.astype(x.dtype)
        gate, up = (jnp.matmul(x, params[name], preferred_element_type=wide.dtype) for name in ("gate", "up"))
        hidden = (jax.nn.silu(gate) * up).astype(x.dtype)
        return wide + jnp.matmul(hidden, params["down"], preferred_element_type=wide.dtype)

    return Program(f, (params, inputs.normal(rng, (2, 12, width), dtype)), low_precision=is_low(dtype))
