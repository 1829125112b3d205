"""Runs PyTorch programs on hlod's device and on PyTorch's own CPU, in one process, and compares what they return."""

import os
import unittest

import torch
import torch_xla
from torch.utils import _pytree as pytree


def device(ordinal=0):
    """A device of the plugin."""
    return torch.device("xla", ordinal)


def array(*shape, dtype=torch.float32, low=-2.0, high=2.0, seed=0):
    """Values drawn uniformly from [low, high) by a fixed seed."""
    generator = torch.Generator().manual_seed(seed + sum(n * 31**i for i, n in enumerate(shape)))
    wide = torch.complex128 if dtype.is_complex else torch.float64
    values = torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low
    return values.to(dtype) if wide is torch.float64 else (values + 1j * values.flip(-1)).to(dtype)


def integers(*shape, dtype=torch.int64, low=-5, high=6, seed=0):
    """Whole numbers drawn from [low, high) by a fixed seed."""
    generator = torch.Generator().manual_seed(seed + sum(n * 31**i for i, n in enumerate(shape)))
    return torch.randint(low, high, shape, generator=generator).to(dtype)


def moved(tree, target):
    """The tree with its tensors on another device. Tensors that want a gradient go on as leaves that want one."""

    def move(leaf):
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return leaf.detach().clone().to(target).requires_grad_(leaf.requires_grad)

    return pytree.tree_map(move, tree)


class PluginTest(unittest.TestCase):
    """The base class of tests that compare the plugin with PyTorch's CPU."""

    @classmethod
    def setUpClass(cls):
        assert torch_xla.runtime.device_type() == "HLOD", "run with PJRT_DEVICE=HLOD"
        torch_xla.device()  # Autograd asks once for the number of devices: at the first backward pass, be it the CPU's.

    def same(self, function, *arguments, rtol=2e-5, atol=2e-5):
        """Asserts that a function returns the same tree, types, shapes and values on both devices."""
        expected = function(*moved(arguments, "cpu"))
        actual = function(*moved(arguments, device()))
        self.assertEqual(pytree.tree_structure(expected), pytree.tree_structure(actual))
        for wanted, got in zip(pytree.tree_leaves(expected), pytree.tree_leaves(actual)):
            if isinstance(got, torch.Tensor):
                self.assertEqual(got.device.type, "xla")
            self.close(wanted, got, rtol, atol)

    def close(self, wanted, got, rtol=2e-5, atol=2e-5):
        """Asserts equal integers, and other numbers within the tolerances (three digits at least for 8 and 16 bits)."""
        if not isinstance(wanted, torch.Tensor):
            self.assertEqual(wanted, got)
            return
        self.assertEqual((wanted.dtype, wanted.shape), (got.dtype, got.shape))
        wanted, got = wanted.detach(), got.detach().cpu()
        if wanted.dtype.itemsize <= 2 and wanted.is_floating_point():
            rough = {1: 0.15, 2: 1e-2}[wanted.dtype.itemsize]
            wanted, got, rtol, atol = wanted.double(), got.double(), max(rtol, rough), max(atol, rough)
        torch.testing.assert_close(got, wanted, rtol=rtol, atol=atol, equal_nan=True)

    def each(self, cases, **tolerances):
        """Compares each (name, function, *arguments) as a test of its own."""
        for name, function, *arguments in cases:
            with self.subTest(name):
                self.same(function, *arguments, **tolerances)

    def differentiated(self, function, *arguments, **tolerances):
        """Compares a function's results and the gradients of their sum of squares with respect to the floating arguments."""

        def both(*arguments):
            leaves = [a.requires_grad_() for a in arguments if isinstance(a, torch.Tensor) and a.is_floating_point()]
            results = function(*arguments)
            tensors = [r for r in pytree.tree_leaves(results) if r.requires_grad]
            return results, torch.autograd.grad(sum((r**2).sum() for r in tensors), leaves, allow_unused=True)

        self.same(both, *arguments, **tolerances)

    def each_differentiated(self, cases, **tolerances):
        """Compares the results and gradients of each (name, function, *arguments) as a test of its own."""
        for name, function, *arguments in cases:
            with self.subTest(name):
                self.differentiated(function, *arguments, **tolerances)


def main():
    """Runs the module's tests."""
    unittest.main(verbosity=2 if os.environ.get("VERBOSE") else 1)
