"""Runs JAX programs on hlod's device and on JAX's own CPU, in one process, and compares what they return."""

import os
import unittest

import jax
import numpy as np


def hlod():
    """The first device of the plugin."""
    return jax.devices("hlod")[0]


def cpu():
    """The first device of JAX's own CPU backend."""
    return jax.devices("cpu")[0]


def array(*shape, dtype=np.float32, low=-2.0, high=2.0, seed=0):
    """Values drawn uniformly from [low, high) by a fixed seed, as a NumPy array."""
    values = np.random.default_rng([seed, *shape]).uniform(low, high, shape)
    return values.astype(dtype) if np.dtype(dtype).kind != "c" else (values + 1j * values[..., ::-1]).astype(dtype)


def integers(*shape, dtype=np.int32, low=-5, high=6, seed=0):
    """Whole numbers drawn from [low, high) by a fixed seed, as a NumPy array."""
    return np.random.default_rng([seed, *shape]).integers(low, high, shape).astype(dtype)


def on(device, function, *arguments):
    """Returns a function's results as NumPy arrays. All arrays that it takes or makes are on `device`."""
    with jax.default_device(device):
        result = function(*jax.tree.map(lambda leaf: jax.device_put(leaf, device), arguments))
        for leaf in jax.tree.leaves(result):
            if isinstance(leaf, jax.Array):
                assert leaf.devices() == {device}, f"a result is on {leaf.devices()}, not on {device}"
        return jax.tree.map(_plain, result)


def _plain(leaf):
    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


class PluginTest(unittest.TestCase):
    """The base class of tests that compare the plugin with JAX's CPU backend."""

    def setUp(self):
        self.assertEqual(jax.default_backend(), "hlod", "run with JAX_PLATFORMS=hlod")

    def same(self, function, *arguments, rtol=2e-5, atol=2e-5, jit=True):
        """Asserts that a function returns the same tree, types, shapes and values on both devices."""
        run = jax.jit(function) if jit else function
        expected, actual = on(cpu(), run, *arguments), on(hlod(), run, *arguments)
        self.assertEqual(jax.tree.structure(expected), jax.tree.structure(actual))
        for wanted, got in zip(jax.tree.leaves(expected), jax.tree.leaves(actual)):
            self.assertEqual((wanted.dtype, wanted.shape), (got.dtype, got.shape))
            self.close(wanted, got, rtol, atol)

    def close(self, wanted, got, rtol=2e-5, atol=2e-5):
        """Asserts equal integers, and other numbers within the tolerances (three digits at least for 8 and 16 bits)."""
        if wanted.dtype.kind in "biu" or wanted.dtype.name.startswith(("int", "uint")):
            np.testing.assert_array_equal(wanted, got)
            return
        rough = wanted.dtype.itemsize <= 2
        wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
        scale = {1: 0.15, 2: 1e-2}.get(wanted.dtype.itemsize, 0) if rough else 0
        np.testing.assert_allclose(got.astype(wide), wanted.astype(wide), rtol=max(rtol, scale), atol=max(atol, scale))

    def each(self, cases, **tolerances):
        """Compares each (name, function, *arguments) as a test of its own."""
        for name, function, *arguments in cases:
            with self.subTest(name):
                self.same(function, *arguments, **tolerances)


def main():
    """Runs the module's tests, with 64-bit types when $JAX_ENABLE_X64 says so."""
    unittest.main(verbosity=2 if os.environ.get("VERBOSE") else 1)
