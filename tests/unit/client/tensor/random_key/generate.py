#!/usr/bin/env python3
"""Writes expected.json: keys, bits and numbers that jax.random makes, for random_key_test.

Run it with a Python that has JAX: tests/unit/client/tensor/random_key/generate.py"""
import json
import pathlib

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)
SEEDS = [0, 1, 42, 2**32 + 7, 2**63 - 1]


def listed(x):
    return np.asarray(x).reshape(-1).tolist()


def data(key):
    return listed(jax.random.key_data(key))


def of_seed(seed):
    key = jax.random.key(seed)
    logits = np.linspace(-1, 2, 12, dtype=np.float32).reshape(3, 4)
    draw = jax.random
    return {
        "seed": seed,
        "key": data(key),
        "split": [data(k) for k in draw.split(key, 3)],
        "fold_in": {str(n): data(draw.fold_in(key, n)) for n in (0, 1, 7, 2**32 - 1)},
        "bits": {name: [str(v) for v in listed(draw.bits(key, (2, 3), getattr(np, "uint" + name)))] for name in ("8", "16", "32", "64")},
        "odd_bits": listed(draw.bits(key, (7,), np.uint32)),
        "uniform": listed(draw.uniform(key, (2, 3), np.float32)),
        "uniform64": listed(draw.uniform(key, (5,), np.float64, -2.0, 3.0)),
        "between": listed(draw.uniform(key, (5,), np.float32, -2.0, 3.0)),
        "normal": listed(draw.normal(key, (2, 4), np.float32)),
        "normal64": listed(draw.normal(key, (4,), np.float64)),
        "truncated_normal": listed(draw.truncated_normal(key, -0.5, 1.5, (6,), np.float32)),
        "exponential": listed(draw.exponential(key, (6,), np.float32)),
        "gumbel": listed(draw.gumbel(key, (6,), np.float32)),
        "randint": listed(draw.randint(key, (8,), -5, 100, np.int32)),
        "randint64": listed(draw.randint(key, (8,), -5, 10**12, np.int64)),
        "bernoulli": [int(v) for v in listed(draw.bernoulli(key, np.float32(0.3), (10,)))],
        "categorical": listed(draw.categorical(key, logits)),
        **of_parameters(key),
        **of_elements(key),
    }


def of_parameters(key):
    """Small, middling and large parameters; JAX's numbers in f32 and f64."""
    draw = jax.random
    a = np.array([[0.01, 0.3, 1.0], [2.5, 40.0, 1000.0]])
    rates = np.array([0.0, 0.4, 3.0, 9.5, 10.0, 35.0, 2000.0, 1e6], np.float32)
    made = {}
    for name, kind in (("", np.float32), ("64", np.float64)):
        made["gamma" + name] = listed(draw.gamma(key, a.astype(kind), dtype=kind))
        made["gammas" + name] = listed(draw.gamma(key, kind(0.7), (9,), kind))
        made["loggamma" + name] = listed(draw.loggamma(key, a.astype(kind), dtype=kind))
        made["beta" + name] = listed(draw.beta(key, a.astype(kind), kind(2), dtype=kind))
        made["dirichlet" + name] = listed(draw.dirichlet(key, a[:, :2].astype(kind), (3, 2), kind))
    made["poisson"] = listed(draw.poisson(key, rates, dtype=np.int32))
    made["poissons"] = listed(draw.poisson(key, np.float32(7), (20,), np.int64))
    return made


def of_elements(key):
    """With JAX's default of 32-bit integers."""
    with jax.enable_x64(False):
        draw = jax.random
        x = np.arange(24, dtype=np.float32).reshape(4, 6)
        p = np.array([0.1, 0.0, 0.4, 0.2, 0.3], np.float32)
        return {
            "permutation": listed(draw.permutation(key, 2000)),
            "permutation_of_one": listed(draw.permutation(key, 1)),
            "permuted": listed(draw.permutation(key, x, 1)),
            "permuted_independently": listed(draw.permutation(key, x, 0, independent=True)),
            "choice": listed(draw.choice(key, 10, (3, 4))),
            "choice_without": listed(draw.choice(key, 10, (2, 3), replace=False)),
            "choice_by_p": listed(draw.choice(key, 5, (12,), p=p)),
            "choice_by_p_without": listed(draw.choice(key, 5, (4,), replace=False, p=p)),
            "choice_of_rows": listed(draw.choice(key, x, (2, 2), axis=1)),
            "choice_of_rows_without": listed(draw.choice(key, x, (3,), replace=False, axis=0)),
        }


def main():
    path = pathlib.Path(__file__).parent / "expected.json"
    path.write_text("[\n" + ",\n".join(json.dumps(of_seed(seed)) for seed in SEEDS) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
