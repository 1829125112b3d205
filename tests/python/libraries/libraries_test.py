"""Flax, Optax, Equinox, Orbax and NumPyro: a small training of each gives on the plugin what it gives on JAX's CPU.

A test whose library is missing says so and is skipped, unless $HLOD_TEST_LIBRARIES is 1, as in CI: then it fails.
"""

import importlib.util
import os
import pathlib
import tempfile
import unittest

import jax
import jax.numpy as jnp
import numpy as np

from support import array, cpu, hlod, on

X, Y = array(64, 8), np.sin(array(64, 8).sum(1, keepdims=True))


def needs(*libraries):
    """Skips a test where a library is missing, and says which."""
    missing = [name for name in libraries if not _is_there(name)]
    return unittest.skipIf(missing and os.environ.get("HLOD_TEST_LIBRARIES") != "1", f"SKIPPED: without {', '.join(missing)}")


def _is_there(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # The package that it is in.
        return False


class Libraries(unittest.TestCase):
    def setUp(self):
        self.assertEqual(jax.default_backend(), "hlod", "run with JAX_PLATFORMS=hlod")

    def same(self, train, rtol=1e-4, atol=1e-5):
        """Asserts that a training returns the same numbers on both devices, and returns them."""
        wanted, got = on(cpu(), train), on(hlod(), train)
        self.assertEqual(jax.tree.structure(wanted), jax.tree.structure(got))
        for a, b in zip(jax.tree.leaves(wanted), jax.tree.leaves(got)):
            np.testing.assert_allclose(b, a, rtol=rtol, atol=atol)
        return got

    def falls(self, losses):
        """Asserts that a training has learned something."""
        self.assertLess(losses[-1], 0.7 * losses[0])

    @needs("flax", "optax")
    def test_flax_nnx(self):
        import optax
        from flax import nnx

        class Network(nnx.Module):
            def __init__(self, rngs):
                self.inner, self.norm = nnx.Linear(8, 16, rngs=rngs), nnx.BatchNorm(8, rngs=rngs)
                self.dropout, self.outer = nnx.Dropout(0.1, rngs=rngs), nnx.Linear(16, 1, rngs=rngs)

            def __call__(self, x):
                return self.outer(self.dropout(nnx.relu(self.inner(self.norm(x)))))

        @nnx.jit
        def step(model, optimizer, x, y):
            loss, gradients = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
            optimizer.update(model, gradients)
            return loss

        def train():
            model = Network(nnx.Rngs(0))
            optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
            losses = [float(step(model, optimizer, X, Y)) for _ in range(20)]
            return losses, nnx.to_pure_dict(nnx.state(model, nnx.Any(nnx.Param, nnx.BatchStat)))

        self.falls(self.same(train, rtol=1e-3, atol=1e-4)[0])

    @needs("flax", "optax")
    def test_flax_linen(self):
        import optax
        from flax import linen as nn
        from flax.training import train_state

        class Network(nn.Module):
            @nn.compact
            def __call__(self, x):
                return nn.Dense(1)(nn.LayerNorm()(nn.tanh(nn.Dense(16)(x))))

        @jax.jit
        def step(state, x, y):
            loss, gradients = jax.value_and_grad(lambda p: jnp.mean((state.apply_fn(p, x) - y) ** 2))(state.params)
            return state.apply_gradients(grads=gradients), loss

        def train():
            network, losses = Network(), []
            state = train_state.TrainState.create(
                apply_fn=network.apply, params=network.init(jax.random.key(0), X), tx=optax.sgd(0.05, momentum=0.9)
            )
            for _ in range(20):
                state, loss = step(state, X, Y)
                losses.append(float(loss))
            return losses, state.params

        self.falls(self.same(train)[0])

    @needs("optax")
    def test_optax(self):
        import optax

        schedule = optax.warmup_cosine_decay_schedule(0.0, 0.1, warmup_steps=3, decay_steps=20)
        optimizers = {
            "adamw": optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=0.01)),
            "lion": optax.lion(1e-2),
            "adafactor": optax.adafactor(1e-2),
            "multi_steps": optax.MultiSteps(optax.rmsprop(1e-2), every_k_schedule=2),
        }
        for name, optimizer in optimizers.items():
            @jax.jit
            def step(w, state, optimizer=optimizer):
                loss, gradient = jax.value_and_grad(lambda w: optax.huber_loss(X @ w, Y).mean())(w)
                updates, state = optimizer.update(gradient, state, w)
                return optax.apply_updates(w, updates), state, loss

            def train():
                w = jnp.asarray(array(8, 1, seed=1))
                state, losses = optimizer.init(w), []
                for _ in range(20):
                    w, state, loss = step(w, state)
                    losses.append(loss)
                return losses, w

            with self.subTest(name):
                losses, _ = self.same(train)
                self.assertLess(losses[-1], losses[0])

    @needs("equinox", "optax")
    def test_equinox(self):
        import equinox
        import optax

        optimizer = optax.adam(1e-2)

        @equinox.filter_jit
        def step(model, state, x, y):
            loss, gradients = equinox.filter_value_and_grad(lambda model: jnp.mean((jax.vmap(model)(x) - y) ** 2))(model)
            updates, state = optimizer.update(gradients, state, equinox.filter(model, equinox.is_inexact_array))
            return equinox.apply_updates(model, updates), state, loss

        def train():
            model = equinox.nn.MLP(8, 1, width_size=16, depth=2, activation=jax.nn.gelu, key=jax.random.key(0))
            state, losses = optimizer.init(equinox.filter(model, equinox.is_inexact_array)), []
            for _ in range(20):
                model, state, loss = step(model, state, X, Y)
                losses.append(float(loss))
            return losses, equinox.filter(model, equinox.is_inexact_array)

        self.falls(jax.tree.leaves(self.same(train))[:20])

    @needs("orbax.checkpoint")
    def test_orbax(self):
        import orbax.checkpoint as checkpoints

        with jax.default_device(hlod()), tempfile.TemporaryDirectory() as folder:
            state = {"w": jnp.asarray(X), "half": jnp.asarray(Y, jnp.bfloat16), "step": jnp.int32(7), "name": "run"}
            with checkpoints.StandardCheckpointer() as checkpointer:
                arrays = {name: value for name, value in state.items() if name != "name"}
                checkpointer.save(pathlib.Path(folder) / "checkpoint", arrays)
                checkpointer.wait_until_finished()
                blank = jax.tree.map(jnp.zeros_like, arrays)
                restored = checkpointer.restore(pathlib.Path(folder) / "checkpoint", blank)
            for name, value in arrays.items():
                self.assertEqual((restored[name].dtype, restored[name].devices()), (value.dtype, {hlod()}))
                np.testing.assert_array_equal(np.asarray(restored[name], np.float32), np.asarray(value, np.float32))

    @needs("numpyro")
    def test_numpyro(self):
        import numpyro
        from numpyro import distributions, infer

        def model(x, y=None):
            w = numpyro.sample("w", distributions.Normal(0, 1).expand([8]).to_event(1))
            noise = numpyro.sample("noise", distributions.HalfNormal(1.0))
            numpyro.sample("y", distributions.Normal(x @ w, noise), obs=y)

        def train():
            guide = infer.autoguide.AutoNormal(model)
            svi = infer.SVI(model, guide, numpyro.optim.Adam(0.02), infer.Trace_ELBO())
            result = svi.run(jax.random.key(0), 50, X, Y[:, 0], progress_bar=False)
            kernel = infer.MCMC(infer.NUTS(model), num_warmup=10, num_samples=10, progress_bar=False)
            kernel.run(jax.random.key(1), X, Y[:, 0])
            return result.losses, result.params, kernel.get_samples()["noise"].shape

        losses, _, _ = self.same(train, rtol=5e-3, atol=5e-3)
        self.falls(losses)


if __name__ == "__main__":
    unittest.main()
