"""Writes step.mlir: a training step of 405 billion parameters, divided over a mesh by annotations.

    python3 make.py step.mlir [--layers 126] [--dim 16384] [--batch 256] [--sequence 2048]

Weights and Adam's moments are f32, computed in bf16. "data" divides the batch, and the weights too (FSDP); "model" divides heads, the
hidden units of the feed-forward layers, the vocabulary, and between them the sequence. Each layer keeps its input and computes the rest
again. The module is lowered for 2 x 2 devices and names axes only, so that one file is checked for any mesh:

    hloctl check step.mlir --target v5p:128 --mesh data=16,model=8
"""

import argparse
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

HEAD = 128
VOCABULARY = 128256
MESH = jax.make_mesh((2, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)

# The divisions of the weights; those of a layer are stacked along a leading dimension.
WEIGHTS = {
    "embedding": P("model", "data"),
    "attention_norm": P(None, None),
    "wq": P(None, "data", "model"),
    "wk": P(None, "data", "model"),
    "wv": P(None, "data", "model"),
    "wo": P(None, "model", "data"),
    "ffn_norm": P(None, None),
    "gate": P(None, "data", "model"),
    "up": P(None, "data", "model"),
    "down": P(None, "model", "data"),
    "norm": P(None),
    "output": P("data", "model"),
}
OUTSIDE_LAYERS = ("embedding", "norm", "output")


def divide(x, *axes):
    return jax.lax.with_sharding_constraint(x, NamedSharding(MESH, P(*axes)))


def norm(x, weight):
    wide = x.astype(jnp.float32)
    scale = jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + 1e-5)
    return (wide * scale).astype(jnp.bfloat16) * weight.astype(jnp.bfloat16)


def rotate(x):
    """Rotary positions of x [batch, tokens, heads, head]."""
    half = HEAD // 2
    frequency = jnp.exp(jnp.arange(half, dtype=jnp.float32) * (-2.0 * jnp.log(500000.0) / HEAD))
    angle = jnp.arange(x.shape[1], dtype=jnp.float32)[:, None] * frequency
    cosine, sine = (f(angle).astype(x.dtype)[:, None, :] for f in (jnp.cos, jnp.sin))
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cosine - b * sine, b * cosine + a * sine], axis=-1)


def attention(x, w):
    batch, tokens, dim = x.shape
    heads, groups = dim // HEAD, w["wk"].shape[-1] // HEAD
    project = lambda name, count: divide(x @ w[name].astype(x.dtype), "data", None, "model").reshape(batch, tokens, count, HEAD)
    # Heads before positions, so that products of scores contract positions, or heads and positions in this order.
    q = rotate(project("wq", heads)).reshape(batch, tokens, groups, heads // groups, HEAD).transpose(0, 2, 3, 1, 4)
    k, v = rotate(project("wk", groups)).transpose(0, 2, 1, 3), project("wv", groups).transpose(0, 2, 1, 3)
    scores = jnp.einsum("bghtd,bgsd->bghts", q, k).astype(jnp.float32) * HEAD**-0.5
    seen = jnp.arange(tokens)[:, None] >= jnp.arange(tokens)
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e30), axis=-1).astype(x.dtype)
    mixed = jnp.einsum("bghts,bgsd->bghtd", weights, v).transpose(0, 3, 1, 2, 4).reshape(batch, tokens, dim)
    return divide(mixed, "data", None, "model") @ w["wo"].astype(x.dtype)


def block(h, w):
    x = divide(norm(h, w["attention_norm"]), "data", None, None)
    h = divide(h + attention(x, w), "data", "model", None)
    y = divide(norm(h, w["ffn_norm"]), "data", None, None)
    gate, up = (divide(y @ w[name].astype(y.dtype), "data", None, "model") for name in ("gate", "up"))
    return divide(h + (jax.nn.silu(gate) * up) @ w["down"].astype(y.dtype), "data", "model", None)


def loss_of(params, tokens, following):
    h = divide(params["embedding"].astype(jnp.bfloat16)[tokens], "data", "model", None)
    layers = {name: weight for name, weight in params.items() if name not in OUTSIDE_LAYERS}
    step = jax.checkpoint(lambda h, w: (block(h, w), None), policy=jax.checkpoint_policies.nothing_saveable)
    h, _ = jax.lax.scan(step, h, layers)
    h = divide(norm(h, params["norm"]), "data", None, None)
    logits = divide((h @ params["output"].astype(jnp.bfloat16)).astype(jnp.float32), "data", None, "model")
    picked = jnp.sum(jnp.where(jnp.arange(VOCABULARY) == following[..., None], logits, 0), axis=-1)
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked)


def train_step(params, first, second, count, tokens, following):
    loss, gradients = jax.value_and_grad(loss_of)(params, tokens, following)
    count = count + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, second, gradients)

    def update(weight, m, v):
        corrected = (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.95**count)) + 1e-8)
        return weight - 3e-4 * (corrected + 0.1 * weight)

    return jax.tree.map(update, params, first, second), first, second, count, loss


def shapes(layers, dim):
    heads = dim // HEAD
    narrow, wide = max(heads // 16, 1) * HEAD, dim * 13 // 4
    stacked = {"attention_norm": (dim,), "wq": (dim, dim), "wk": (dim, narrow), "wv": (dim, narrow), "wo": (dim, dim), "ffn_norm": (dim,)}
    stacked |= {"gate": (dim, wide), "up": (dim, wide), "down": (wide, dim)}
    return {"embedding": (VOCABULARY, dim), "norm": (dim,), "output": (dim, VOCABULARY)} | {name: (layers, *size) for name, size in stacked.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    for name, value in (("layers", 126), ("dim", 16384), ("batch", 256), ("sequence", 2048)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    weights = {name: jax.ShapeDtypeStruct(size, jnp.float32) for name, size in shapes(options.layers, options.dim).items()}
    ids = jax.ShapeDtypeStruct((options.batch, options.sequence), jnp.int32)
    by_name = {name: NamedSharding(MESH, spec) for name, spec in WEIGHTS.items()}
    whole, rows = NamedSharding(MESH, P()), NamedSharding(MESH, P("data", None))
    jitted = jax.jit(
        train_step,
        in_shardings=(by_name, by_name, by_name, whole, rows, rows),
        out_shardings=(by_name, by_name, by_name, whole, whole),
        donate_argnums=(0, 1, 2),
    )
    lowered = jitted.lower(weights, weights, weights, jax.ShapeDtypeStruct((), jnp.float32), ids, ids)
    with open(options.file, "w", encoding="utf-8") as file:
        file.write(lowered.as_text(debug_info=True).replace(os.path.dirname(os.path.abspath(__file__)) + "/", ""))


if __name__ == "__main__":
    main()
