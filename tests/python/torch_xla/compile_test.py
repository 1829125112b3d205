"""Compiled and staged functions of PyTorch/XLA: Dynamo, scans, loops, placeholders, JAX functions, StableHLO."""

import importlib.util
import unittest

import torch
import torch_xla
import torch_xla.core.xla_builder as xb
import torch_xla.debug.metrics as metrics
from torch import nn
from torch.nn import functional as f
from torch_xla.experimental.scan import scan
from torch_xla.experimental.scan_layers import scan_layers

from support import PluginTest, array, device, integers, main, moved

with_jax = unittest.skipUnless(
    importlib.util.find_spec("jax") and importlib.util.find_spec("flax"), "PyTorch/XLA needs JAX 0.7.1 and Flax for this"
)


class Dynamo(PluginTest):

    def compiled(self, function, *arguments, times=3, **tolerances):
        """Compares a function compiled by Dynamo for openxla with the plain one on the CPU."""
        torch._dynamo.reset()
        there = torch.compile(function, backend="openxla")
        for _ in range(times):
            wanted, got = function(*moved(arguments, "cpu")), there(*moved(arguments, device()))
            for left, right in zip(torch.utils._pytree.tree_leaves(wanted), torch.utils._pytree.tree_leaves(got)):
                self.close(left, right, **tolerances)

    def test_functions(self):
        self.compiled(lambda x, y: torch.sin(x) @ y + 1, array(4, 4), array(4, 4, seed=1))
        self.compiled(lambda x: (x.sum(), x.softmax(1), x.argmax(1)), array(3, 5))
        self.compiled(lambda x, i: x[i] * 2, array(3, 5), torch.tensor([2, 0]))
        self.compiled(lambda x: x.add_(1).mul(2), array(3))

    def test_modules(self):
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True).eval()
        there = torch.compile(nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True).eval().to(device()), backend="openxla")
        there.load_state_dict({f"_orig_mod.{name}": value for name, value in layer.state_dict().items()})
        x = array(2, 5, 8)
        with torch.no_grad():
            for _ in range(2):
                self.close(layer(x), there(x.to(device())), rtol=1e-4, atol=1e-4)

    def test_training(self):
        torch._dynamo.reset()

        def run(place):
            torch.manual_seed(0)
            model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).to(place)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            x, y = array(8, 6).to(place), integers(8, low=0, high=3).to(place)
            step = lambda x, y: f.cross_entropy(model(x), y)
            if place != "cpu":
                step = torch.compile(step, backend="openxla")
            losses = []
            for _ in range(4):
                optimizer.zero_grad()
                loss = step(x, y)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            return torch.tensor(losses)

        self.close(run("cpu"), run(device()), rtol=1e-4, atol=1e-4)

    def test_lazy_functions(self):
        step = torch_xla.compile(lambda x: (x * 2).sum(), full_graph=True)
        for _ in range(2):
            self.close(array(5).mul(2).sum(), step(array(5).to(device())))
        with torch_xla.step():
            x = torch.ones(3, device=device()) + 1
        self.assertEqual(x.tolist(), [2, 2, 2])

    def test_eager_mode(self):
        with torch_xla.experimental.eager_mode_context(True):
            x = torch.ones(2, 2, device=device())
            self.assertEqual((x @ x + x).tolist(), [[3, 3], [3, 3]])


class Loops(PluginTest):

    def test_scan(self):
        step = lambda carry, x: (torch.tanh(carry @ x) + carry, carry.sum(0))
        loop = lambda init, xs: reference_scan(step, init, xs) if init.device.type == "cpu" else scan(step, init, xs)
        self.differentiated(loop, array(2, 3), array(5, 3, 3), rtol=1e-4, atol=1e-4)

    def test_scan_moves_nothing(self):
        init, xs = torch.zeros(2, device=device()), array(3, 2).to(device())
        torch_xla.sync(wait=True)
        scan(lambda c, x: (c + x, c * x), init, xs)
        torch_xla.sync(wait=True)
        metrics.clear_all()
        carry, rows = scan(lambda c, x: (c + x, c * x), init, xs)
        torch_xla.sync(wait=True)
        self.assertIsNone(metrics.metric_data("TransferToDeviceTime"))
        self.close(array(3, 2).sum(0), carry)

    def test_scan_layers(self):
        torch.manual_seed(0)
        layers = nn.ModuleList(nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True) for _ in range(3))
        weights = {name: value.clone() for name, value in layers.state_dict().items()}

        def run(x):
            here = nn.ModuleList(nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True) for _ in range(3))
            here.load_state_dict(weights)
            here.to(x.device)
            if x.device.type == "xla":
                y = scan_layers(here, x)
            else:
                y = x
                for layer in here:
                    y = layer(y)
            y.square().sum().backward()
            return y, [value.grad for value in here.parameters()]

        self.same(run, array(2, 4, 8), rtol=1e-3, atol=1e-3)

    def test_loops(self):
        # PyTorch/XLA 2.9 itself takes only bodies that are given all that they use, and in which no number is 0, 1 or a parameter.
        from torch_xla.experimental.fori_loop import fori_loop, while_loop

        x, ten, zero = (value.to(device()) for value in (array(3), torch.tensor(10), torch.tensor(0)))
        i, y = while_loop(lambda i, x: i > 0, lambda i, x: (i - 1, x + x), (ten, x))
        self.assertEqual(i.item(), 0)
        self.close(array(3) * 1024, y)
        self.close(array(3) * 1024, fori_loop(zero, ten, lambda x: x + x, x)[1])


class Staged(PluginTest):

    def test_placeholders(self):
        p = xb.create_placeholder_tensor((3, 4), torch.float32)
        q = torch.sin(p @ p.T)
        text = torch_xla._XLAC._get_xla_tensors_hlo([q])
        self.assertEqual(text.count("parameter("), 1)
        self.assertIn("f32[3,4]", text)
        with self.assertRaisesRegex(RuntimeError, "Trying to access XLA data"):
            p.cpu()

    def test_stablehlo(self):
        from torch_xla.stablehlo import exported_program_to_stablehlo

        module = nn.Linear(4, 2)
        exported = torch.export.export(module, (array(3, 4),))
        shlo = exported_program_to_stablehlo(exported)
        self.assertIn("stablehlo.dot_general", shlo.get_stablehlo_text("forward").replace("stablehlo.dot ", "stablehlo.dot_general"))
        self.close(module(array(3, 4)), torch.as_tensor(shlo(array(3, 4))), rtol=1e-4, atol=1e-4)

    @with_jax
    def test_jax_functions(self):
        import jax.numpy as jnp

        x, y = array(3, 4), array(4, 2)
        for _ in range(2):
            got = xb.call_jax(lambda a, b: (jnp.tanh(a @ b), {"sum": a.sum()}), (x.to(device()), y.to(device())))
            self.close(torch.tanh(x @ y), got[0], rtol=1e-4)
            self.close(x.sum(), got[1]["sum"], rtol=1e-4)

    @with_jax
    def test_pure_functions(self):
        from torch_xla.experimental.assume_pure import assume_pure

        step = lambda x, w: torch.tanh(x @ w).sum()
        pure = lambda x, w: (assume_pure(step) if x.device.type == "xla" else step)(x, w)
        self.differentiated(pure, array(3, 4), array(4, 2), rtol=1e-4, atol=1e-4)


def reference_scan(step, carry, xs):
    rows = []
    for x in xs:
        carry, row = step(carry, x)
        rows.append(row)
    return carry, torch.stack(rows)


if __name__ == "__main__":
    main()
