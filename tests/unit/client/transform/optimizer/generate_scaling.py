#!/usr/bin/env python3
"""Writes scaling.json: parameters after six steps of the optimizers of hlod/optim/optim_scaling.h, values of its schedules, and
values and gradients of the losses of optim_losses.h, as Optax computes them.

    python3 generate_scaling.py        # needs jax and optax
"""
import json
import pathlib

import jax
import jax.numpy as jnp
import numpy
import optax

import optax_steps
from optax_steps import listed

SHAPES = {"b": (3,), "k": (2, 3, 5), "s": (1,), "w": (3, 4)}
SCHEDULES = {
    "piecewise_linear": optax.piecewise_interpolate_schedule("linear", 1.0, {4: 0.1, 9: 0.5, 15: 3.0}),
    "piecewise_cosine": optax.piecewise_interpolate_schedule("cosine", 0.5, {3: 2.0, 12: 0.25}),
    "linear_onecycle": optax.linear_onecycle_schedule(17, 0.8),
    "cosine_onecycle": optax.cosine_onecycle_schedule(17, 0.8, pct_start=0.4, div_factor=10.0),
    "warmup_exponential": optax.warmup_exponential_decay_schedule(0.1, 0.9, 4, 3, 0.7, end_value=0.2),
    "sgdr": optax.sgdr_schedule([
        {"init_value": 0.0, "peak_value": 1.0, "warmup_steps": 2, "decay_steps": 6},
        {"init_value": 0.1, "peak_value": 0.5, "warmup_steps": 1, "decay_steps": 8, "end_value": 0.05},
        {"init_value": 0.0, "peak_value": 0.2, "warmup_steps": 2, "decay_steps": 9},
    ]),
}


def of_rank_above_1(tree):
    return {name: array.ndim > 1 for name, array in tree.items()}


def scaled(link, by=-0.1):
    return optax.chain(link, optax.scale(by))


OPTIMIZERS = {
    "rms": scaled(optax.scale_by_rms()),
    "rms_options": scaled(optax.scale_by_rms(0.8, 1e-3, 0.5, eps_in_sqrt=False, bias_correction=True)),
    "stddev": scaled(optax.scale_by_stddev(0.9, 1e-2, 9.0), -0.01),
    "stddev_options": scaled(optax.scale_by_stddev(0.9, 1e-2, 9.0, eps_in_sqrt=False, bias_correction=True), -0.01),
    "rss": scaled(optax.scale_by_rss()),
    "amsgrad": optax.amsgrad(1e-2),
    "amsgrad_options": optax.amsgrad(1e-2, 0.8, 0.95, 1e-3, 1e-4, bias_correction_mu=False, bias_correction_nu=False),
    "adamaxw": optax.adamaxw(1e-2, weight_decay=0.1, mask=of_rank_above_1),
    "adadelta": scaled(optax.scale_by_adadelta(0.8, 1e-3), -1.0),
    "radam": scaled(optax.scale_by_radam(), -1e-2),
    "radam_options": scaled(optax.scale_by_radam(0.8, 0.9, 1e-3, 1e-4, threshold=4.5, nesterov=True), -1e-2),
    "novograd": optax.novograd(1e-2, weight_decay=0.05),
    "yogi": optax.yogi(1e-2),
    "adan": optax.adan(1e-2, weight_decay=0.05),
    "sm3": optax.sm3(0.1),
    "sm3_options": scaled(optax.scale_by_sm3(0.5, 0.9, 1e-3)),
    "param_block_norm": scaled(optax.scale_by_param_block_norm(), -0.01),
    "centralize": scaled(optax.centralize()),
    "nonnegative": optax.chain(optax.sgd(0.5), optax.keep_params_nonnegative()),
    "adaptive_clip": optax.chain(optax.adaptive_grad_clip(0.2), optax.sgd(0.1)),
    "apply_every": optax.chain(optax.apply_every(4), optax.sgd(0.1)),
    "noisy_sgd": optax.noisy_sgd(0.1, eta=0.3, gamma=0.55, key=7),
    "nadamw": optax.nadamw(1e-2, weight_decay=0.1),
    "sign_sgd": optax.sign_sgd(1e-2),
    "signum": optax.signum(1e-2, 0.8),
    "fromage": optax.fromage(0.1),
    "rprop": scaled(optax.scale_by_rprop(0.01), -1.0),
    "rprop_options": scaled(optax.scale_by_rprop(0.1, 0.3, 1.5, 0.05, 0.12), -1.0),
    "conditionally_transform": optax.conditionally_transform(optax.adam(1e-2), lambda step: step % 2 == 0),
    "conditionally_mask": optax.conditionally_mask(optax.adam(1e-2), lambda step: step % 3 != 1),
    "apply_if_finite": optax.apply_if_finite(optax.adam(1e-2), 2),
    "stateless": optax.stateless(lambda updates, params: jax.tree.map(lambda u, p: -0.1 * u * p, updates, params)),
}
LOSSES = {
    "l2": optax.l2_loss,
    "log_cosh": optax.log_cosh,
    "hinge": lambda x, y: optax.hinge_loss(x, jnp.sign(y)),
    "cosine": optax.cosine_distance,
    "kl": lambda x, y: optax.kl_divergence(jax.nn.log_softmax(x), jax.nn.softmax(y).at[0, 0].set(0)),
    "generalized_kl": lambda x, y: optax.losses.generalized_kl_divergence(x, jax.nn.softmax(y)),
    "ntxent": lambda x, y: optax.ntxent(x, jnp.array([1, 0, 1])),
    "ntxent_warm": lambda x, y: optax.ntxent(x * y, jnp.array([2, 2, 0]), 0.5),
    "safe_norm": lambda x, y: optax.safe_norm(x, 0.1) * y,
    "safe_norm_of_zeros": lambda x, y: optax.safe_norm(0 * x, 0.1) * y,
    "safe_rms": lambda x, y: optax.safe_root_mean_squares(x, 0.1) * y,
    "safe_rms_below": lambda x, y: optax.safe_root_mean_squares(x, 9.0) * y,
    "smooth": lambda x, y: optax.smooth_labels(jax.nn.softmax(x), 0.2) * y,
}


def main():
    random = numpy.random.default_rng(11)
    params, result = optax_steps.results(random, SHAPES, OPTIMIZERS, SCHEDULES)
    x, y = (random.normal(size=(3, 4)).astype(numpy.float32).round(3) for _ in range(2))
    result["losses"] = {"x": listed(x), "y": listed(y)}
    for name, loss in LOSSES.items():
        value = loss(x, y)
        result["losses"][name] = {"value": listed(value), "gradient": listed(jax.grad(lambda x: jnp.sum(loss(x, y)))(x))}
    result["global_norm"] = float(optax.global_norm(params))
    (pathlib.Path(__file__).parent / "scaling.json").write_text(json.dumps(result, separators=(",", ":")) + "\n")


main()
