"""Loops, branches and calls."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import inputs
from programs.harness import Program, Registry

CASES = Registry()


@CASES.case("while_loop", ("f32", "bf16"))
def while_loop(rng, dtype):
    """A while loop whose count depends on the data (also none at all), and one with several carried
    arrays."""
    x = inputs.varied(rng, (6, 6), dtype, 0, 2)

    def f(x, limit):
        halved = lax.while_loop(
            lambda s: jnp.abs(s[1]).max() > limit, lambda s: (s[0] + 1, s[1] / 2), (jnp.int32(0), x)
        )
        never = lax.while_loop(lambda s: s.sum() > 1e9, lambda s: s * 2, jnp.abs(x))
        counted = lax.fori_loop(3, 11, lambda i, s: (s[1], s[0] / 2 + i.astype(s[0].dtype)), (x, -x))
        return halved, never, counted

    return Program(f, (x, dtype.type(0.01)))


@CASES.case("collatz_vmap")
def collatz_vmap(rng):
    """A batched while loop: lanes finish at different steps, the body runs under a select."""

    def steps(n):
        return lax.while_loop(
            lambda s: s[0] > 1,
            lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1),
            (n, jnp.int32(0)),
        )[1]

    return Program(jax.vmap(steps), (np.arange(1, 28, dtype=np.int32),), kind="exact")


@CASES.case("nested_loops_newton")
def nested_loops_newton(rng):
    """Nested loops: Newton square roots to convergence inside a fori_loop, and a loop that fills a matrix in
    place."""
    x = rng.uniform(0.1, 900, 12).astype(np.float32)

    def root(value):
        done = lambda s: jnp.abs(s[0] - s[1]) > 1e-5 * s[0]
        return lax.while_loop(
            done, lambda s: ((s[0] + value / s[0]) / 2, s[0]), (value, jnp.zeros_like(value))
        )[0]

    def f(x):
        roots = lax.fori_loop(0, 12, lambda i, out: out.at[i].set(root(x[i])), jnp.zeros_like(x))

        def row(i, m):
            return lax.fori_loop(0, 6, lambda j, m: m.at[i, j].set(x[i] * j.astype(x.dtype) + m[i, 0]), m)

        return roots, lax.fori_loop(0, 5, row, jnp.ones((5, 6), x.dtype))

    return Program(f, (x,), kind="elementwise")


@CASES.case("conditional")
def conditional(rng):
    """cond both ways, nested, with captured values and with a gradient through it."""
    x = inputs.varied(rng, (4, 9), np.float32, -1, 1)

    def branchy(x, flag):
        inner = lambda x: lax.cond(x.sum() > 0, lambda x: jnp.sin(x), lambda x: x - 3, x)
        return lax.cond(flag, lambda x: inner(x) * 2, lambda x: jnp.exp(-jnp.abs(x)), x)

    def f(x, yes, no):
        gradients = [jax.grad(lambda x: branchy(x, flag).sum())(x) for flag in (yes, no)]
        several = lax.cond(no, lambda: (x, jnp.int32(1)), lambda: (x * 2, jnp.int32(2)))
        return branchy(x, yes), branchy(x, no), branchy(-jnp.abs(x), yes), gradients, several

    return Program(f, (x, np.bool_(True), np.bool_(False)), kind="elementwise")


@CASES.case("switch")
def switch(rng):
    """switch over five branches, indices out of range on both sides, in a loop and under vmap."""
    x = inputs.varied(rng, (3, 5), np.float32, -1, 1)
    branches = (lambda x: x + 1, lambda x: x * x, jnp.tanh, lambda x: -x, lambda x: jnp.full_like(x, 7))

    def f(x, indices):
        one = [lax.switch(i, branches, x) for i in indices]
        looped = lax.fori_loop(0, 7, lambda i, s: lax.switch(i % 5, branches, s), x)
        return one, looped, jax.vmap(lambda i: lax.switch(i, branches, x))(indices[:4])

    return Program(f, (x, np.array([0, 2, 4, -3, 99], np.int32)), kind="elementwise")


@CASES.case("scan_map_checkpoint")
def scan_map_checkpoint(rng):
    """lax.map, a scan without inputs, and the gradient of a checkpointed scan (opt-barrier around
    recomputation)."""
    w, x = inputs.weight(rng, (4, 16, 16), np.float32, 16), inputs.normal(rng, (5, 16), np.float32)

    def f(w, x):
        layers = lambda w, x: lax.scan(jax.checkpoint(lambda x, w: (jnp.tanh(x @ w), None)), x, w)[0]
        value, pull = jax.vjp(layers, w, x)
        mapped = lax.map(lambda row: jnp.cumsum(row), x)
        fibonacci = lax.scan(
            lambda s, _: ((s[1], s[0] + s[1]), s[0]), (jnp.int32(0), jnp.int32(1)), length=20
        )[1]
        return value, pull(jnp.ones_like(value)), mapped, fibonacci

    return Program(f, (w, x))


@CASES.case("calls_nested_jit")
def calls_nested_jit(rng):
    """The same jitted function called from several places and levels: shared computations, call."""
    inner = jax.jit(lambda x, y: jnp.sin(x) + y * 2)
    outer = jax.jit(lambda x: inner(inner(x, x), x[::-1]))
    x = inputs.varied(rng, (19,), np.float32, -1, 1)
    return Program(lambda x: (outer(x), inner(x, outer(-x)), outer(outer(x))), (x,))


@CASES.case("donation_mixed")
def donation_mixed(rng):
    """Donated and undonated arguments of several types; one donated argument has no result to live in."""
    x, count, unused, kept = (
        inputs.varied(rng, (9, 5), np.float32),
        np.int32(4),
        inputs.normal(rng, (3,), np.float32),
        inputs.normal(rng, (9, 5), np.float32),
    )

    def f(x, count, unused, kept):
        return x + kept, count + 1, (unused.sum() * kept).astype(jnp.float16), kept * 2

    return Program(f, (x, count, unused, kept), donate=(0, 1, 2))


@CASES.case("single_result")
def single_result(rng):
    """A module whose root is an array and not a tuple."""
    return Program(
        lambda x, y: x + y,
        (inputs.varied(rng, (8, 16), np.float32), inputs.varied(rng, (8, 16), np.float32)),
        kind="op",
    )


@CASES.case("constants_zoo")
def constants_zoo(rng):
    """Constants of every common type, with special values, and arguments that are passed through or not
    used."""
    import ml_dtypes

    arrays = [
        np.array([[1.5, -np.inf], [np.nan, 1e-30]], np.float32),
        np.arange(24, dtype=np.int32).reshape(2, 3, 4),
        np.array([True, False, True]),
        np.array([1.5, -3e38], ml_dtypes.bfloat16),
        np.array([0.1, 65504], np.float16),
        np.array([-128, 127], np.int8),
        np.array([2**32 - 1, 0], np.uint32),
        np.array([1 + 2j, -np.inf + 0j], np.complex64),
        np.array([0.5, 448], ml_dtypes.float8_e4m3fn),
        np.float32(3.25),
        np.zeros((0, 3), np.float32),
        rng.standard_normal((17, 5)).astype(np.float32),
    ]
    return Program(
        lambda x, unused: (x, [jnp.asarray(a) for a in arrays]),
        (np.float32(2), np.int32(1)),
        kind="exact",
        check_f64=False,
    )
