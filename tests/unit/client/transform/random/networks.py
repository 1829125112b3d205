"""Parts of networks, with inputs that are large, equal or 0, and functions of floats and integers together."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from program import Program

_ACTIVATIONS = [
    jax.nn.sigmoid, jax.nn.silu, jax.nn.softplus, jax.nn.log_sigmoid, jax.nn.elu, jax.nn.selu, jax.nn.celu,
    jax.nn.gelu, jax.nn.soft_sign, jax.nn.mish, jax.nn.squareplus, jax.nn.hard_tanh, jax.nn.leaky_relu, jnp.sinc,
]
_LARGE = np.array([-300, -100, -90, -20, -1, -0.25, 0.25, 1, 20, 90, 100, 300], "float32")


def activations(s):
    f = s.one_of(_ACTIVATIONS)
    x = _LARGE
    # At 0, programs of softplus and log_sigmoid have the right slope but no curvature, because |x| has none.
    if f in (jax.nn.sigmoid, jax.nn.silu, jax.nn.gelu):
        x = np.append(x, np.float32(0))
    elif f is jax.nn.hard_tanh:
        x = x[np.abs(x) != 1]
    return Program(lambda v, r: [f(v[0])], [x])


def softmaxes(s):
    x = s.numbers((s.between(1, 3), s.between(1, 4))) * np.float32(s.one_of([1, 1, 100]))
    labels = s.indices((x.shape[0],), x.shape[1], outside=0)
    kind = s.below(4)

    def f(v, r):
        if kind == 0:
            return [jax.nn.softmax(v[0], s_axis)]
        if kind == 1:
            return [jax.nn.log_softmax(v[0], s_axis)]
        if kind == 2:
            return [jax.nn.logsumexp(v[0], s_axis)]
        picked = jnp.take_along_axis(jax.nn.log_softmax(v[0]), r[0][:, None], 1)
        return [-jnp.mean(picked)]
    s_axis = s.below(2)
    return Program(f, [x], [labels])


def normalisations(s):
    x = s.numbers((s.between(2, 3), s.between(2, 4)))
    scale, offset = s.numbers(x.shape[1:]), s.numbers(x.shape[1:])
    x[0, 0] += 1

    def f(v, r):
        mean, variance = v[0].mean(-1, keepdims=True), v[0].var(-1, keepdims=True)
        return [(v[0] - mean) * lax.rsqrt(variance + 1e-2) * v[1] + v[2]]
    return Program(f, [x, scale, offset])


def attentions(s):
    q, k, d = s.between(1, 3), s.between(1, 4), s.between(1, 3)
    x, y, z = s.numbers((q, d)), s.numbers((k, d)), s.numbers((k, d))
    mask = s.numbers((q, k), "bool")
    mask[:, 0] = True

    def f(v, r):
        scores = jnp.where(r[0], v[0] @ v[1].T, -1e9)
        return [jax.nn.softmax(scores, -1) @ v[2]]
    return Program(f, [x, y, z], [mask])


def mixed(s):
    """Integers and predicates beside floats."""
    x, y = s.numbers((s.between(1, 4), s.between(1, 3))), None
    n = s.numbers(x.shape, s.one_of(["int32", "int8", "uint8"]))
    groups = s.indices((x.shape[0],), 3)
    kind = s.below(7)

    def f(v, r):
        x = v[0]
        if kind == 0:
            return [jnp.where(r[0] > 1, x * r[0], jnp.sin(x))]
        if kind == 1:
            return [jax.ops.segment_sum(x * x, r[1], 3), r[0] + r[0]]
        if kind == 2:
            return [jax.nn.one_hot(r[1], 4) @ jnp.ones((4, x.shape[0])) @ x]
        if kind == 3:  # The position that is read depends on x, and has no derivative.
            return [jnp.take(jnp.sin(x), jnp.floor(x).astype("int32"), 0, mode="clip")]
        if kind == 4:
            return [x.astype("int32") * 2, x * jnp.argmax(x, 0), jnp.sum(x > 0)]
        if kind == 5:
            return [jax.ops.segment_max(x, r[1], 3, mode="drop")[jnp.clip(r[1], 0, 2)]]
        return [lax.population_count(r[0]) * x, lax.shift_left(r[0], jnp.ones_like(r[0])), jnp.cumsum(x * r[0], 0)]
    return Program(f, [s.numbers(x.shape, ties=False) if kind == 5 else x], [n, groups])


FAMILIES = [(activations, 4), (softmaxes, 4), (normalisations, 2), (attentions, 2), (mixed, 6)]
