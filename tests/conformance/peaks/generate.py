"""Writes modules/*.pb and judged.csv: programs of ordinary sizes (1 to 200 MB), and what XLA's CPU backend plans for them.

    python generate.py

The cases of ../jax are small, so that they can hold values; here is no value, only what a program needs. Columns as ../jax/judge.py has them.
"""

import csv
import functools
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = {}


def arrays(*shapes, dtype=jnp.float32):
    return [jax.ShapeDtypeStruct(s, dtype) for s in shapes]


def program(*args, donate=(), name=None):
    def add(f):
        PROGRAMS[name or f.__name__] = (f, args, donate)
        return f

    return add


def mlp(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def mlp_loss(params, x, y):
    return jnp.mean((mlp(params, x) - y) ** 2)


def mlp_step(params, x, y):
    loss, grads = jax.value_and_grad(mlp_loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss


def mlp_args(dtype):
    sizes = [512, 2048, 2048, 512]
    params = [tuple(arrays((m, n), (n,), dtype=dtype)) for m, n in zip(sizes, sizes[1:])]
    return params, *arrays((256, 512), (256, 512), dtype=dtype)


for dtype in (jnp.float32, jnp.bfloat16):
    suffix = "f32" if dtype == jnp.float32 else "bf16"
    program(*mlp_args(dtype), name=f"mlp_forward_{suffix}")(lambda params, x, y: mlp(params, x))
    program(*mlp_args(dtype), donate=(0,), name=f"mlp_step_{suffix}")(mlp_step)


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(mask, scores, -1e9)), v)


heads = arrays((4, 512, 8, 64), (4, 512, 8, 64), (4, 512, 8, 64))
program(*heads, name="attention_forward")(attention)
program(*heads, name="attention_gradient")(jax.grad(lambda *qkv: attention(*qkv).sum(), (0, 1, 2)))


def norm(x, g):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * g


def block(p, x):
    h = norm(x, p["g1"])
    q, k, v = (jnp.einsum("bsd,dhk->bshk", h, p[n]) for n in "qkv")
    x = x + jnp.einsum("bshk,hkd->bsd", attention(q, k, v), p["o"])
    h = norm(x, p["g2"])
    return x + (jax.nn.silu(h @ p["w1"]) * (h @ p["w3"])) @ p["w2"]


def block_args(layers=()):
    d, h, f = 512, 8, 1536
    shapes = {"g1": (d,), "g2": (d,), "q": (d, h, 64), "k": (d, h, 64), "v": (d, h, 64), "o": (h, 64, d), "w1": (d, f), "w3": (d, f), "w2": (f, d)}
    return {k: jax.ShapeDtypeStruct((*layers, *s), jnp.float32) for k, s in shapes.items()}, *arrays((2, 256, d))


program(*block_args(), name="block_forward")(block)
program(*block_args(), name="block_gradient")(jax.grad(lambda p, x: block(p, x).sum()))


def layers(p, x, body):
    return jax.lax.scan(lambda x, p: (body(p, x), None), x, p)[0].sum()


program(*block_args((6,)), name="layers_gradient")(jax.grad(functools.partial(layers, body=block)))
program(*block_args((6,)), name="layers_checkpoint_gradient")(jax.grad(functools.partial(layers, body=jax.checkpoint(block))))


@program(*arrays((4096, 1024), (1024,), (1024,)))
def layer_norm_gradient(x, g, b):
    def f(x, g, b):
        mean = x.mean(-1, keepdims=True)
        var = ((x - mean) ** 2).mean(-1, keepdims=True)
        return jnp.sin((x - mean) * jax.lax.rsqrt(var + 1e-5) * g + b).sum()

    return jax.grad(f, (0, 1, 2))(x, g, b)


@program(*arrays((8192, 512)), *arrays((512, 8192)), jax.ShapeDtypeStruct((8192,), jnp.int32))
def cross_entropy_gradient(x, w, labels):
    def f(x, w):
        logits = jax.nn.log_softmax((x @ w)[:1024])
        return -jnp.take_along_axis(logits, labels[:1024, None], 1).mean()

    return jax.grad(f, (0, 1))(x, w)


@program(*arrays((32000, 256)), jax.ShapeDtypeStruct((16, 512), jnp.int32))
def embedding_gradient(table, tokens):
    return jax.grad(lambda t: (t[tokens] ** 2).sum())(table)


@program(*[arrays((1024, 1024), (4096, 512), (4096,))] * 4, donate=(0, 2, 3))
def adam_step(params, grads, m, v):
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)
    return jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, m, v), m, v


@program(*arrays((32, 64, 64, 16), (3, 3, 16, 32), (3, 3, 32, 32), (32 * 16 * 16, 10)), jax.ShapeDtypeStruct((32,), jnp.int32), donate=(1, 2, 3))
def convnet_step(x, a, b, w, labels):
    def convolve(x, k):
        y = jax.nn.relu(jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(params):
        a, b, w = params
        logits = convolve(convolve(x, a), b).reshape(32, -1) @ w
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()

    return jax.tree.map(lambda p, g: p - 0.1 * g, (a, b, w), jax.grad(loss)((a, b, w)))


@program(*arrays((64, 64, 256), (512, 1024), (1024,)))
def lstm_gradient(xs, w, b):
    def step(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def loss(w, b):
        zero = jnp.zeros((64, 256))
        return (jax.lax.scan(step, (zero, zero), xs)[1] ** 2).mean()

    return jax.grad(lambda w, b: loss(w, b), (0, 1))(w, b)


@program(*arrays((1 << 20,)))
def sort_million(x):
    return jnp.sort(x), jnp.argsort(x)


@program(*arrays((2048, 1024)))
def cumulative_sum(x):
    return jnp.cumsum(x, 0)


@program(*arrays((1024, 1024), (1024, 1024), (1024, 1024), (1024, 1024)))
def product_chain(a, b, c, d):
    return jnp.tanh(jnp.tanh(jnp.tanh(a @ b) @ c) @ d)


@program(*arrays((256, 256)))
def linear_solve(a):
    return jnp.linalg.solve(a + 256 * jnp.eye(256), jnp.ones((256, 16)))


@program(*arrays((1 << 20,), (1 << 20,)))
def elementwise(x, y):
    z = jnp.exp(-x * x) + jnp.sin(y)
    return z / (1 + jnp.abs(z)), (z > 0).sum()


def main() -> None:
    (HERE / "modules").mkdir(exist_ok=True)
    with open(HERE / "judged.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", "argument_bytes", "output_bytes", "alias_bytes", "temp_bytes"])
        for name, (f, args, donate) in sorted(PROGRAMS.items()):
            lowered = jax.jit(f, donate_argnums=donate, keep_unused=True).lower(*args)
            proto = lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()
            (HERE / "modules" / f"{name}.pb").write_bytes(proto)
            m = lowered.compile().memory_analysis()
            writer.writerow([name, m.argument_size_in_bytes, m.output_size_in_bytes, m.alias_size_in_bytes, m.temp_size_in_bytes])


if __name__ == "__main__":
    main()
