"""Control flow, calls, random numbers, and programs of some size."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from programs.harness import Program, Registry

from stablehlo_programs.elementwise import integers, unit

CASES = Registry()


@CASES.case("while_loop")
def while_loop(rng):
    """Loops with one and several carried values, with captured ones."""

    def f(x, n):
        body = lambda c: (c[0] + 1, jnp.sin(c[1]) * x)
        return lax.while_loop(lambda c: c[0] < n, body, (0, x)), lax.fori_loop(0, n, lambda i, v: v + i, x)

    return Program(f, (unit(rng, 3), np.int32(4)))


@CASES.case("scan")
def scan(rng):
    """scan with stacked results, reversed, unrolled; its gradient."""

    def f(x, w):
        step = lambda c, v: (jnp.tanh(c @ w + v), c.sum())
        total = lambda w: lax.scan(lambda c, v: (jnp.tanh(c @ w + v), None), jnp.zeros(2), x)[0].sum()
        return lax.scan(step, jnp.ones(2), x), lax.scan(step, jnp.ones(2), x, reverse=True, unroll=2), jax.grad(total)(w)

    return Program(f, (unit(rng, 4, 2), unit(rng, 2, 2)))


@CASES.case("cond")
def cond(rng):
    """cond and switch, nested, with several results; a batched one."""

    def f(p, i, x):
        a = lax.cond(p, lambda v: (v + 1, v.sum()), lambda v: (v * 2, v[0]), x)
        b = lax.switch(i, [jnp.sin, jnp.cos, lambda v: lax.cond(p, jnp.exp, jnp.negative, v)], x)
        return a, b, jax.vmap(lambda q, v: lax.cond(q > 0.5, jnp.sin, jnp.cos, v))(x, x)

    return Program(f, (np.bool_(True), np.int32(2), unit(rng, 3)))


@CASES.case("calls")
def calls(rng):
    """A function that is called from several places, names that must be quoted."""
    g = jax.jit(lambda v: jnp.sin(v) + 1)
    odd = jax.jit(lambda v, w: (v, w * 2))
    odd.__wrapped__.__name__ = "odd name"

    def f(x):
        with jax.named_scope("outer"):
            y = g(g(x))
        return jax.named_call(lambda v: v + g(v), name="inner")(y), odd(y, x)

    return Program(f, (unit(rng, 3),))


@CASES.case("custom_derivative")
def custom_derivative(rng):
    """custom_vjp, custom_jvp, checkpoint, and a linear solve."""

    @jax.custom_vjp
    def safe(x):
        return jnp.log1p(x)

    safe.defvjp(lambda x: (safe(x), x), lambda x, g: (g / (1 + x),))

    def f(x):
        return jax.value_and_grad(lambda v: safe(jax.checkpoint(jnp.sin)(v)).sum())(x), jax.grad(lambda v: jax.nn.relu(v).sum())(x)

    return Program(f, (unit(rng, 3),))


@CASES.case("composite")
def composite(rng):
    """lax.composite, with attributes of several kinds and a version."""

    @functools.partial(lax.composite, name="my.composite", version=1)
    def scaled(x, k, *, scale, mode):
        return x * scale + k

    def f(x):
        return scaled(x, x, scale=np.float32(2), mode="fast")

    return Program(f, (unit(rng, 3),))


@CASES.case("random_threefry")
def random_threefry(rng):
    """jax.random with threefry: typed keys, split, uniform."""

    def f(data):
        keys = jax.random.split(jax.random.wrap_key_data(data, impl="threefry2x32"))
        return jax.random.uniform(keys[1], (3,))

    return Program(f, (np.array([1, 2], np.uint32),))


@CASES.case("random_generator")
def random_generator(rng):
    """rng_bit_generator by each algorithm."""

    def f(key):
        kinds = (lax.RandomAlgorithm.RNG_THREE_FRY, lax.RandomAlgorithm.RNG_PHILOX, lax.RandomAlgorithm.RNG_DEFAULT)
        return [lax.rng_bit_generator(key, (3, 2), np.uint32, algorithm=kind) for kind in kinds]

    return Program(f, (np.array([1, 2, 3, 4], np.uint32),), kind="exact")


@CASES.case("donation")
def donation(rng):
    """Donated arguments, unused ones, results that are arguments."""

    def f(x, y, unused):
        return {"new": x + y, "old": y}, 3.0

    return Program(f, (unit(rng, 3), unit(rng, 3), np.int32(1)), donate=(0,))


@CASES.case("attention_bf16")
def attention_bf16(rng):
    """Causal attention in bf16, with its gradient."""

    def f(q, k, v):
        def loss(q, k, v):
            scores = jnp.where(np.tril(np.ones((4, 4), bool)), q @ k.T / 2, -jnp.inf)
            return (jax.nn.softmax(scores.astype(np.float32)).astype(v.dtype) @ v).sum(dtype=np.float32)

        return jax.value_and_grad(loss, argnums=(0, 1, 2))(q, k, v)

    return Program(f, tuple(jnp.asarray(unit(rng, 4, 4), jnp.bfloat16) for _ in range(3)), low_precision=True)


@CASES.case("training_step")
def training_step(rng):
    """A layer, cross entropy and a step of SGD."""

    def f(params, x, labels):
        def loss(p):
            return -jnp.take_along_axis(jax.nn.log_softmax(jax.nn.gelu(x @ p["w"]) + p["b"]), labels[:, None], 1).mean()

        value, grads = jax.value_and_grad(loss)(params)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    params = {"w": unit(rng, 4, 3), "b": unit(rng, 3)}
    return Program(f, (params, unit(rng, 5, 4), integers(rng, 5, low=0, high=3)), donate=(0,))


def with_symbolic_shapes(f, *specifications):
    """`f`, exported with symbolic dimensions: (shape text, dtype) an argument."""
    scope = export.SymbolicScope()
    f.specifications = [jax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), t) for s, t in specifications]
    return f


@CASES.case("symbolic_elementwise")
def symbolic_elementwise(rng):
    """Dimensions that are known when the program is called: tensor<?x3xf32>."""

    def f(x, y):
        return jnp.sin(x) @ y + x.shape[0], jnp.sum(x, 0), x.reshape(-1)

    return Program(with_symbolic_shapes(f, ("b, 3", np.float32), ("3, 3", np.float32)), (unit(rng, 4, 3), unit(rng, 3, 3)))


@CASES.case("symbolic_movement")
def symbolic_movement(rng):
    """Slices, pads, concatenations, gathers and iotas of symbolic sizes."""

    def f(x, i):
        b = x.shape[0]
        return x[1:], jnp.concatenate([x, x]), jnp.arange(b), x[i], jnp.pad(x, ((0, 2), (1, 0))), jnp.broadcast_to(x[0], (b, 3))

    specifications = ("b, 3", np.float32), ("k", np.int32)
    return Program(with_symbolic_shapes(f, *specifications), (unit(rng, 4, 3), np.array([2, 0], np.int32)), kind="exact")
