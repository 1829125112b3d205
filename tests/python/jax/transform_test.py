"""Control flow, derivatives, batching and program structure of JAX on both devices."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from support import PluginTest, array, integers, main

F, G, V = array(3, 4), array(3, 4, seed=1), array(4)


class ControlFlow(PluginTest):

    def test_conditionals(self):
        self.each(
            [
                ("cond true", lambda x: lax.cond(x.sum() < 1e9, lambda: x * 2, lambda: x - 1), F),
                ("cond false", lambda x: lax.cond(x.sum() > 1e9, lambda: x * 2, lambda: x - 1), F),
                ("switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), np.int32(1), F),
                ("switch clamps", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), np.int32(9), F),
                ("cond of arrays under vmap", jax.vmap(lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x)), F),
                (
                    "nested",
                    lambda i, x: lax.cond(i > 0, lambda: lax.switch(i, [lambda: x, lambda: x * 2]), lambda: -x),
                    np.int32(1),
                    F,
                ),
                ("platform_dependent", lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.sin), F),
            ]
        )

    def test_loops(self):
        self.each(
            [
                ("fori", lambda x: lax.fori_loop(0, 7, lambda i, v: v * 0.9 + i, x), F),
                ("fori of a traced bound", lambda n, x: lax.fori_loop(0, n, lambda i, v: v + i, x), np.int32(5), F),
                ("while", lambda x: lax.while_loop(lambda s: s[0] < 10, lambda s: (s[0] + 1, s[1] * 1.1), (0, x)), F),
                ("while that does not begin", lambda x: lax.while_loop(lambda v: v.sum() > 1e9, lambda v: v + 1, x), F),
                (
                    "while under vmap",
                    jax.vmap(lambda n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2.0), (0, 1.0))),
                    np.arange(6, dtype=np.int32),
                ),
                ("scan", lambda x: lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(4), x), F),
                ("scan reversed", lambda x: lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(4), x, reverse=True), F),
                ("scan unrolled", lambda x: lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(4), x, unroll=2), F),
                (
                    "scan of a tree",
                    lambda x: lax.scan(
                        lambda c, r: ({"a": c["a"] + r[0]}, (r[1], c["a"])), {"a": jnp.float32(0)}, (x[:, 0], {"b": x})
                    ),
                    F,
                ),
                ("scan without input", lambda: lax.scan(lambda c, _: (c * 2, c), 1, None, length=10)),
                ("map", lambda x: lax.map(lambda r: r.sum() * r, x), F),
                ("map in batches", lambda x: lax.map(lambda r: r * 2, x, batch_size=2), F),
                ("associative_scan", lambda x: lax.associative_scan(jnp.multiply, x, axis=1), F),
                ("associative_scan reversed", lambda x: lax.associative_scan(jnp.maximum, x, reverse=True), F),
                ("long loop", lambda x: lax.fori_loop(0, 2000, lambda i, v: v + jnp.float32(1) / (1 + i), x), np.float32(0)),
            ],
            rtol=1e-4,
        )


class Derivatives(PluginTest):

    def test_gradients(self):
        def network(parameters, x):
            for w, b in parameters:
                x = jnp.tanh(x @ w + b)
            return jnp.mean(x**2)

        parameters = [(array(4, 8), array(8)), (array(8, 3), array(3))]
        self.each(
            [
                ("network", jax.value_and_grad(network), parameters, F),
                ("two arguments", jax.grad(lambda x, y: (jnp.sin(x) * y).sum(), (0, 1)), F, G),
                ("loop", jax.grad(lambda x: lax.scan(lambda c, r: (jnp.sin(c + r), c), x[0], x)[0].sum()), F),
                ("sort", jax.grad(lambda x: (jnp.sort(x, axis=1) * jnp.arange(4.0)).sum()), F),
                ("gather", jax.grad(lambda x: x[jnp.array([0, 2, 0])].sum()), F),
                ("max", jax.grad(lambda x: x.max(1).sum()), F),
                ("softmax", jax.grad(lambda x: (jax.nn.softmax(x) * V).sum()), F),
                ("convolution", jax.grad(lambda w: (lax.conv(array(1, 2, 6, 6), w, (1, 1), "SAME") ** 2).sum()), array(3, 2, 3, 3)),
                ("cholesky", jax.grad(lambda a: jnp.linalg.cholesky(a @ a.T + 4 * jnp.eye(4)).sum()), array(4, 4)),
                ("solve", jax.grad(lambda a: jnp.linalg.solve(a + 5 * jnp.eye(4), V).sum()), array(4, 4)),
                ("eigh", jax.grad(lambda a: jnp.linalg.eigvalsh(a + a.T)[0]), array(4, 4)),
                ("svd", jax.grad(lambda a: jnp.linalg.svd(a, compute_uv=False).sum()), array(4, 3)),
                ("fft", jax.grad(lambda x: jnp.abs(jnp.fft.fft(x)).sum()), F),
                ("remat", jax.grad(lambda x: jax.checkpoint(lambda v: jnp.sin(jnp.sin(v)))(x).sum()), F),
                ("cond", jax.grad(lambda x: lax.cond(x[0, 0] > 9, jnp.sin, jnp.cos, x).sum()), F),
                ("scatter", jax.grad(lambda u: (jnp.zeros((3, 4)).at[jnp.array([0, 0, 2])].add(u) ** 2).sum()), F),
                (
                    "while jvp",
                    lambda x: jax.jvp(lambda v: lax.while_loop(lambda s: s.sum() < 50, lambda s: s * 1.5, v), (x,), (x,)),
                    np.abs(F),
                ),
            ],
            rtol=3e-4,
            atol=3e-4,
        )

    def test_other_transformations(self):
        f = lambda v: jnp.array([jnp.sin(v).sum(), (v**3).sum(), v[0] * v[1]])
        self.each(
            [
                ("jvp", lambda x, t: jax.jvp(jnp.tanh, (x,), (t,)), F, G),
                ("vjp", lambda x, t: jax.vjp(jnp.tanh, x)[1](t), F, G),
                ("jacfwd", jax.jacfwd(f), V),
                ("jacrev", jax.jacrev(f), V),
                ("hessian", jax.hessian(lambda v: (v**3).sum() * v[0]), V),
                ("linearize", lambda x: jax.linearize(jnp.sin, x)[1](x), F),
                ("linear_transpose", lambda x: jax.linear_transpose(lambda v: v @ G.T, x)(jnp.ones((3, 3))), F),
                ("vmap", jax.vmap(lambda x, y: x @ y), F, G),
                ("vmap axes", jax.vmap(lambda x, y: x + y, in_axes=(1, None), out_axes=1), F, G[:, 0]),
                ("vmap of grad", jax.vmap(jax.grad(lambda v: jnp.prod(v))), F),
                (
                    "grad of vmap of scan",
                    jax.grad(lambda x: jax.vmap(lambda r: lax.scan(lambda c, e: (c * e, c), 1.0, r)[0])(x).sum()),
                    F,
                ),
                ("named axis", jax.vmap(lambda x: x - lax.pmean(x, "i"), axis_name="i"), F),
                ("ppermute", jax.vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 0)]), axis_name="i"), F),
                ("all_gather", jax.vmap(lambda x: lax.all_gather(x, "i"), axis_name="i"), F),
                ("jet-like third derivative", jax.grad(jax.grad(jax.grad(lambda x: jnp.sin(x) * x))), np.float32(0.7)),
                ("hvp", lambda v: jax.jvp(jax.grad(lambda x: (jnp.sin(x) * x).sum()), (v,), (v,))[1], V),
            ],
            rtol=1e-4,
        )

    def test_custom_rules(self):
        @jax.custom_vjp
        def clipped(x):
            return x

        clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.5, 0.5),))

        @jax.custom_jvp
        def own(x):
            return jnp.exp(x)

        own.defjvp(lambda p, t: (own(*p), 7 * t[0]))
        batched = jax.custom_batching.custom_vmap(lambda x: x * 2)
        batched.def_vmap(lambda size, in_batched, x: (x * 3, in_batched[0]))
        self.each(
            [
                ("custom_vjp", jax.grad(lambda x: (clipped(x) ** 2).sum()), F),
                ("custom_jvp", jax.grad(lambda x: own(x).sum()), F),
                ("custom_vmap", jax.vmap(batched), F),
            ]
        )


class Structure(PluginTest):

    def test_functions_call_functions(self):
        inner = jax.jit(lambda x, n=2: x * n)
        self.each(
            [
                ("nested jit", lambda x: inner(inner(x) + 1), F),
                ("static argument", functools.partial(jax.jit(lambda x, n: x * n, static_argnums=1), n=3), F),
                ("closure", lambda x: x + jnp.asarray(G), F),
                ("tree", lambda t: {"b": t["a"][0] + 1, "c": [t["a"][1], None]}, {"a": (F, G)}),
                ("result is the argument", lambda x: (x, x, x + 1), F),
                ("unused argument", lambda x, y: x, F, G),
                ("no result", lambda x: (), F),
                ("constant result", lambda: 3.5),
                ("empty array", lambda x: jnp.concatenate([x, x]), np.zeros((0, 4), np.float32)),
                ("scalars", lambda a, b: a * b, 2, 3.5),
                ("many results", lambda x: [x * i for i in range(60)], F),
                ("many arguments", lambda *a: sum(a), *[F] * 60),
                ("dtype bool", lambda x: ~x, F > 0),
                ("large", lambda x: (x @ x).sum(), array(128, 128)),
                ("custom dtype", lambda x: x.astype(jnp.bfloat16) * 2, F),
                ("ensure_compile_time_eval", lambda x: x * _compile_time(), F),
                ("named_call", lambda x: jax.named_call(jnp.sin, name="mine")(x), F),
            ],
            rtol=1e-3,
            atol=1e-3,
        )

    def test_models_train_alike(self):
        def step(parameters, batch):
            def loss(p):
                h = jax.nn.gelu(batch[0] @ p["in"] + p["bias"])
                return -jnp.mean(jnp.sum(jax.nn.log_softmax(h @ p["out"]) * jax.nn.one_hot(batch[1], 5), -1))

            value, gradients = jax.value_and_grad(loss)(parameters)
            return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients), value

        def train(parameters, x, y):
            return lax.scan(lambda p, _: step(p, (x, y)), parameters, None, length=20)

        parameters = {"in": array(8, 16), "bias": array(16), "out": array(16, 5)}
        self.same(train, parameters, array(32, 8), integers(32, low=0, high=5), rtol=1e-3, atol=1e-4)


def _compile_time():
    with jax.ensure_compile_time_eval():
        return float(jnp.sin(jnp.float32(0.5)) * 2)


if __name__ == "__main__":
    main()
