#!/usr/bin/env python3
"""Writes attention.pb, a function as JAX lowers it, and values.npz, what JAX computes with it: for ../imported_jax.cc.

The function is causal attention that looks at a few keys at a time (a loop) and never holds all scores: the running maximum and sum
of a row are mended with each block of keys. Packages: ../../../tests/conformance/jax/requirements.txt."""
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
HEADS, LENGTH, SIZE, BLOCK = 3, 16, 8, 4
jax.config.update("jax_hlo_source_file_canonicalization_regex", r".*/imported_jax\.d/")


def attention(q, k, v):
    rows = jnp.arange(LENGTH)[:, None]

    def block(carry, keys):
        highest, total, mixed = carry
        k, v, columns = keys
        scores = jnp.where(columns <= rows, q @ k.T / jnp.sqrt(SIZE), -1e30)
        now = jnp.maximum(highest, scores.max(-1, keepdims=True))
        weights, mend = jnp.exp(scores - now), jnp.exp(highest - now)
        return (now, total * mend + weights.sum(-1, keepdims=True), mixed * mend + weights @ v), None

    blocks = lambda x: x.reshape(-1, BLOCK, SIZE)
    start = jnp.full((LENGTH, 1), -1e30), jnp.zeros((LENGTH, 1)), jnp.zeros((LENGTH, SIZE))
    keys = blocks(k), blocks(v), jnp.arange(LENGTH).reshape(-1, 1, BLOCK)
    (_, total, mixed), _ = jax.lax.scan(block, start, keys)
    return mixed / total


def loss(q, k, v):
    return jnp.sum(attention(q, k, v) ** 2)


def main():
    one = jax.ShapeDtypeStruct((LENGTH, SIZE), jnp.float32)
    module = jax.jit(attention).lower(one, one, one).compiler_ir(dialect="hlo")
    (HERE / "attention.pb").write_bytes(module.as_serialized_hlo_module_proto())

    q, k, v = np.random.default_rng(0).normal(size=(3, HEADS, LENGTH, SIZE)).astype(np.float32)
    values = {"q": q, "k": k, "v": v, "y": jax.vmap(attention)(q, k, v)}
    values |= zip(("dq", "dk", "dv"), jax.vmap(jax.grad(loss, argnums=(0, 1, 2)))(q, k, v))
    np.savez(HERE / "values.npz", **{name: np.asarray(value) for name, value in values.items()})


main()
