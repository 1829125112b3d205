#!/usr/bin/env python3
"""Writes optax.json: parameters after six steps of each optimizer, and values of schedules, as Optax computes them.

    python3 generate.py        # needs jax and optax
"""
import functools
import json
import pathlib

import jax.numpy as jnp
import numpy
import optax
import optax.contrib

import optax_steps

SHAPES = {"b": (3,), "k": (2, 3, 5), "w": (3, 4)}

SCHEDULES = {
    "constant": optax.constant_schedule(0.3),
    "exponential": optax.exponential_decay(0.5, 3, 0.7),
    "exponential_stairs": optax.exponential_decay(0.5, 3, 0.7, transition_begin=2, staircase=True, end_value=0.2),
    "cosine": optax.cosine_decay_schedule(0.4, 10, alpha=0.1, exponent=1.5),
    "linear": optax.linear_schedule(0.1, 0.9, 8, transition_begin=2),
    "polynomial": optax.polynomial_schedule(1.0, 0.2, 2.0, 10),
    "warmup_cosine": optax.warmup_cosine_decay_schedule(0.0, 1.0, 4, 16, end_value=0.1),
    "betas": optax.linear_schedule(0.8, 0.95, 4),
    "piecewise": optax.piecewise_constant_schedule(1.0, {4: 0.1, 9: 0.5}),
}

def of_rank_above_1(tree):
    return {name: array.ndim > 1 for name, array in tree.items()}


OPTIMIZERS = {
    "sgd": optax.sgd(0.1),
    "sgd_momentum": optax.sgd(0.1, momentum=0.9),
    "sgd_nesterov": optax.sgd(0.1, momentum=0.9, nesterov=True),
    "adam": optax.adam(1e-2),
    "adam_options": optax.adam(1e-2, b1=0.8, b2=0.95, eps=1e-3, eps_root=1e-4),
    "nadam": optax.adam(1e-2, nesterov=True),
    "adamw": optax.adamw(1e-2, weight_decay=0.1),
    "adam_scheduled": optax.adam(SCHEDULES["warmup_cosine"]),
    "lion": optax.lion(1e-2, weight_decay=0.05),
    "adafactor": optax.adafactor(1e-2, min_dim_size_to_factor=3),
    "adafactor_plain": optax.adafactor(1e-2, factored=False, multiply_by_parameter_scale=False,
                                       clipping_threshold=None, momentum=0.9, weight_decay_rate=1e-2),
    "clipped": optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(0.1)),
    "clipped_elements": optax.chain(optax.clip(0.3), optax.sgd(0.1)),
    "ema": optax.chain(optax.ema(0.9), optax.scale(-0.1)),
    "adamw_masked": optax.adamw(1e-2, weight_decay=0.1, mask=of_rank_above_1),
    "adabelief": optax.adabelief(1e-2),
    "adabelief_options": optax.adabelief(1e-2, b1=0.8, b2=0.95, eps=1e-3, eps_root=1e-4, nesterov=True),
    "lamb": optax.lamb(1e-2, weight_decay=0.1, mask=of_rank_above_1),
    "lars": optax.lars(0.5),
    "lars_options": optax.lars(0.5, weight_decay=0.05, weight_decay_mask=of_rank_above_1, trust_coefficient=0.1, eps=1e-3,
                               trust_ratio_mask=of_rank_above_1, momentum=0.8, nesterov=True),
    "trust_ratio": optax.chain(optax.scale_by_trust_ratio(min_norm=2.5, trust_coefficient=0.3, eps=1e-3), optax.scale(-0.1)),
    "muon": optax.contrib.muon(1e-2, weight_decay=0.1),
    "muon_options": optax.contrib.muon(1e-2, ns_coeffs=((4.0848, -6.8946, 2.9270), (3.9505, -6.3029, 2.6377), (2.8366, -3.0525, 1.2012)),
                                       ns_steps=5, beta=0.8, nesterov=False, adaptive=True, adam_b1=0.8, adam_weight_decay=0.05,
                                       adam_learning_rate=3e-3, consistent_rms=0.2),
    "masked": optax.chain(optax.masked(optax.scale_by_adam(), of_rank_above_1), optax.scale(-0.01)),
    "multi_transform": optax.multi_transform(
        {"fixed": optax.set_to_zero(), "matrix": optax.sgd(0.1, momentum=0.9), "other": optax.adam(1e-2)},
        lambda tree: {"b": "fixed", "k": "other", "w": "matrix"}),
    "multi_steps": optax.MultiSteps(optax.adam(1e-2), 3).gradient_transformation(),
    "multi_steps_scheduled": optax.MultiSteps(optax.sgd(0.1, momentum=0.9), lambda step: jnp.where(step < 1, 1, 2),
                                              use_grad_mean=False).gradient_transformation(),
    "injected": optax.inject_hyperparams(optax.adamw, static_args=("b1", "b2", "eps", "eps_root"))(
        learning_rate=SCHEDULES["warmup_cosine"], weight_decay=0.1),
    "injected_betas": optax.inject_hyperparams(optax.adam)(
        learning_rate=1e-2, b1=SCHEDULES["betas"], b2=0.95, eps=1e-3, eps_root=1e-4),
    "injected_momentum": optax.inject_hyperparams(optax.sgd)(learning_rate=0.1, momentum=SCHEDULES["betas"]),
    "injected_lion": optax.inject_hyperparams(optax.lion, static_args=("mu_dtype",))(learning_rate=1e-2, b1=SCHEDULES["betas"], b2=0.9, weight_decay=0.05),
    "injected_lamb": optax.inject_hyperparams(optax.lamb, static_args=("mask",))(
        learning_rate=1e-2, b1=0.8, eps=1e-4, weight_decay=SCHEDULES["betas"], mask=of_rank_above_1),
    "injected_clip": optax.chain(optax.inject_hyperparams(optax.clip_by_global_norm)(max_norm=SCHEDULES["betas"]),
                                 optax.inject_hyperparams(optax.clip)(max_delta=0.2), optax.sgd(0.1)),
    "injected_adafactor": optax.inject_hyperparams(optax.adafactor, static_args=("min_dim_size_to_factor", "decay_offset", "dtype_momentum"))(
        learning_rate=1e-2, min_dim_size_to_factor=3, decay_rate=0.7, clipping_threshold=SCHEDULES["betas"], momentum=0.9,
        weight_decay_rate=1e-2, eps=1e-4),
    "multi_steps_skip_large": optax.MultiSteps(
        optax.adam(1e-2), 2, should_skip_update_fn=functools.partial(optax.skip_large_updates, max_squared_norm=42.0),
    ).gradient_transformation(),
}


def main():
    _, result = optax_steps.results(numpy.random.default_rng(7), SHAPES, OPTIMIZERS, SCHEDULES)
    text = json.dumps(result, separators=(",", ":"))
    (pathlib.Path(__file__).parent / "optax.json").write_text(text + "\n")


main()
