#!/usr/bin/env python3
"""Records the losses of a small model trained by JAX and Optax, for train_rows_test.cc. Writes train.json here."""
import json
import math
import pathlib

import jax
import jax.numpy as jnp
import optax


def ramp(*dims, start):
    n = math.prod(dims)
    return jnp.array([0.8 * math.sin(start + 0.629 * (i + 1)) for i in range(n)], jnp.float32).reshape(dims)


PARAMS = {"w": ramp(4, 8, start=1), "b": ramp(8, start=2), "v": ramp(8, 3, start=3)}
X, TARGET = ramp(6, 4, start=4), ramp(6, 3, start=5)
OPTIMIZERS = {
    "sgd": optax.sgd(0.1),
    "momentum": optax.sgd(0.1, momentum=0.9),
    "adam": optax.adam(1e-2),
    "adamw": optax.adamw(1e-2, weight_decay=1e-2),
}


def loss(params, x, target):
    y = jnp.tanh(x @ params["w"] + params["b"]) @ params["v"]
    return jnp.mean((y - target) ** 2)


def losses(optimizer, steps=8):
    params, state, seen = PARAMS, optimizer.init(PARAMS), []
    for _ in range(steps):
        value, gradient = jax.value_and_grad(loss)(params, X, TARGET)
        updates, state = optimizer.update(gradient, state, params)
        params = optax.apply_updates(params, updates)
        seen.append(float(value))
    return seen


def array(x):
    return {"dims": list(x.shape), "values": [float(v) for v in jnp.ravel(x)]}


if __name__ == "__main__":
    recorded = {
        "params": {name: array(value) for name, value in PARAMS.items()},
        "x": array(X),
        "target": array(TARGET),
        "losses": {name: losses(optimizer) for name, optimizer in OPTIMIZERS.items()},
    }
    pathlib.Path(__file__).with_name("train.json").write_text(json.dumps(recorded, indent=1) + "\n")
