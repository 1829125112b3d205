#!/usr/bin/env python3
"""Writes utils.json: what Optax computes for lookahead, Polyak's steps, monitored measurements, scaled gradients, normal
distributions and the CTC loss.

    python3 generate_utils.py        # needs jax and optax
"""
import json
import pathlib

import jax
import jax.numpy as jnp
import numpy
import optax

from optax_steps import drawn, listed, plain

SHAPES = {"b": (3,), "w": (3, 4)}
STEPS = 7
LOOKAHEAD = {
    "sgd": optax.lookahead(optax.sgd(0.1), 3, 0.5),
    "adam": optax.lookahead(optax.adam(0.01), 2, 0.25),
    "adam_reset": optax.lookahead(optax.adam(0.01), 3, 0.5, reset_state=True),
}
POLYAK = {
    "sps": optax.polyak_sgd(),
    "options": optax.polyak_sgd(0.02, 0.7, f_min=-0.5, eps=0.1),
    "plus": optax.polyak_sgd(f_min=1.0, variant="sps+"),
    "scale": optax.chain(optax.scale_by_polyak(f_min=1.0), optax.scale(-1.0)),
}
VALUES = [3.0, 0.5, 20.0, 1.5, 0.0, 2.0, 0.75]


def lookahead(params, grads):
    results = {}
    for name, optimizer in LOOKAHEAD.items():
        moved = optax.LookaheadParams.init_synced(params)
        state = optimizer.init(moved)
        for grad in grads:
            updates, state = optimizer.update(grad, state, moved)
            moved = optax.apply_updates(moved, updates)
        results[name] = {"fast": plain(moved.fast), "slow": plain(moved.slow)}
    return results


def polyak(params, grads):
    results = {}
    for name, optimizer in POLYAK.items():
        moved, state = params, optimizer.init(params)
        for grad, value in zip(grads, VALUES):
            updates, state = optimizer.update(grad, state, moved, value=jnp.float32(value))
            moved = optax.apply_updates(moved, updates)
        results[name] = plain(moved)
    return results


def monitored(params, grads):
    """The measurements of each step."""
    def large(updates):
        return optax.global_norm(updates) > 4.0
    optimizer = optax.chain(
        optax.monitor({"norm": optax.global_norm, "large": optax.measure_with_ema(large, 0.9),
                       "plain": optax.measure_with_ema(optax.global_norm, 0.5, debias=False)}),
        optax.sgd(0.1))
    state, steps = optimizer.init(params), []
    for grad in grads:
        _, state = optimizer.update(grad, state, params)
        steps.append({name: float(optax.tree.get(state, name)) for name in ("norm", "large", "plain")})
    return steps


def normal(random):
    loc, log_scale, x = (random.normal(size=shape).astype(numpy.float32).round(3) for shape in ((4,), (2, 1), (3, 2, 4)))
    distribution = optax.multi_normal(loc, log_scale)

    def total(loc, log_scale):
        return jnp.sum(optax.multi_normal(loc, log_scale).log_prob(x))
    gradients = jax.grad(total, (0, 1))(loc, log_scale)
    return {"loc": listed(loc), "log_scale": listed(log_scale), "x": listed(x), "log_prob": listed(distribution.log_prob(x)),
            "sample": listed(distribution.sample((5,), jax.random.key(3))), "gradients": [listed(g) for g in gradients]}


def ctc(random):
    """Paddings at the ends, a label that repeats, and a sequence that is too short for its labels."""
    logits = random.normal(size=(4, 6, 5)).astype(numpy.float32).round(3)
    labels = numpy.array([[1, 2, 2, 4], [3, 3, 0, 0], [4, 1, 0, 0], [2, 2, 2, 2]], numpy.int32)
    logit_paddings = numpy.zeros((4, 6), numpy.float32)
    logit_paddings[1, 4:] = 1
    label_paddings = numpy.array([[0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]], numpy.float32)
    case = {"logits": listed(logits), "labels": labels.reshape(-1).tolist(), "logit_paddings": listed(logit_paddings),
            "label_paddings": listed(label_paddings)}
    for blank in (0, 4):
        def loss(logits):
            return optax.losses.ctc_loss_with_forward_probs(logits, logit_paddings, labels, label_paddings, blank_id=blank)
        each, blanks, others = loss(logits)
        case[f"blank_{blank}"] = {"loss": listed(each), "blanks": listed(blanks), "labels": listed(others),
                                  "gradient": listed(jax.grad(lambda logits: jnp.sum(loss(logits)[0][:3]))(logits))}
    return case


def main():
    random = numpy.random.default_rng(29)
    params = jax.tree.map(jnp.asarray, drawn(random, SHAPES))
    grads = [jax.tree.map(jnp.asarray, drawn(random, SHAPES)) for _ in range(STEPS)]
    result = {"shapes": SHAPES, "params": plain(params), "grads": [plain(grad) for grad in grads], "values": VALUES,
              "lookahead": lookahead(params, grads), "polyak": polyak(params, grads), "monitored": monitored(params, grads),
              "normal": normal(random), "ctc": ctc(random)}
    (pathlib.Path(__file__).parent / "utils.json").write_text(json.dumps(result, separators=(",", ":")) + "\n")


main()
