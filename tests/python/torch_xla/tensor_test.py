"""Tensors of PyTorch/XLA on the plugin: types, transfers, reading, copies, and the memory that they take."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import torch
import torch_xla
import torch_xla.core.xla_model as xm

from support import PluginTest, array, device, integers, main

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)
WHOLE = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.bool)
TYPES = (*FLOATS, *WHOLE, torch.complex64, torch.complex128)


# Sizes that only the device knows: PyTorch/XLA states their bounds.
BOUNDED = """
    import torch, torch_xla
    x = torch.tensor([0.0, 1.0, 0.0, 2.0], device="xla")
    assert str(x.nonzero().shape[0]) == "<=4"
    assert x.nonzero().cpu().tolist() == [[1], [3]]
    assert (x[x > 0] + 1).cpu().tolist() == [2, 3]
    assert x[x > 5].cpu().tolist() == []
    assert torch.cat([x.masked_select(x > 0), x]).cpu().tolist() == [1, 2, 0, 1, 0, 2]
    assert (x[x > 0][None] * x[:, None]).cpu().tolist() == [[0, 0], [1, 2], [0, 0], [2, 4]]
    print("right")
    """


class Tensors(PluginTest):

    def test_each_type_goes_there_and_back(self):
        for dtype in TYPES:
            with self.subTest(dtype):
                x = integers(3, 5, low=0, high=7).to(dtype)
                there = x.to(device())
                self.assertEqual((there.dtype, there.device.type), (dtype, "xla"))
                for back, wanted in ((there.cpu(), x), (there.T.cpu(), x.T), (there[1].cpu(), x[1])):
                    self.assertEqual(back.dtype, dtype)
                    self.assertEqual(back.to(torch.complex128).tolist(), wanted.to(torch.complex128).tolist())

    def test_special_values(self):
        x = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), 1e-45, 3.4e38])
        np.testing.assert_array_equal(x.to(device()).cpu().view(torch.int32).numpy(), x.view(torch.int32).numpy())
        self.assertTrue(torch.tensor(float("nan"), device=device()).isnan().item())

    def test_other_strides_and_no_elements(self):
        x = array(4, 6)
        for name, view in (("transposed", x.T), ("strided", x[::2, 1::2]), ("expanded", x[:1].expand(4, 6)), ("flipped", x.flip(0))):
            with self.subTest(name):
                self.close(view, view.to(device()))
        for shape in ((0,), (3, 0), ()):
            with self.subTest(shape):
                self.assertEqual(torch.zeros(shape, device=device()).cpu().shape, shape)

    def test_values_are_read(self):
        x = torch.arange(4.0, device=device()) / 2
        self.assertEqual(x.tolist(), [0, 0.5, 1, 1.5])
        self.assertEqual((x[3].item(), float(x[1]), int(x[2]), bool(x[0])), (1.5, 0.5, 1, False))
        self.assertEqual(repr(x), "tensor([0.0000, 0.5000, 1.0000, 1.5000], device='xla:0')")
        self.assertEqual(x.numpy(force=True).tolist(), x.tolist())
        self.assertEqual([float(part) for part in x], x.tolist())
        self.assertTrue(torch.equal(x, x.clone()))

    def test_arrays_of_bounded_sizes(self):
        environment = {**os.environ, "XLA_EXPERIMENTAL": "nonzero:masked_select"}
        run = subprocess.run([sys.executable, "-c", textwrap.dedent(BOUNDED)], env=environment, capture_output=True, text=True, timeout=240)
        self.assertIn("right", run.stdout, run.stderr)

    def test_no_pointer_says_what_to_do(self):
        from torch_xla.utils import dlpack

        x = array(3).to(device())
        torch_xla.sync(wait=True)
        with self.assertRaisesRegex(RuntimeError, r"lies in its daemon's memory.*x\.cpu\(\) in PyTorch"):
            dlpack.to_dlpack(x)

    def test_lazy_tensors_are_computed_at_sync(self):
        x = torch.ones(3, device=device())
        y = x * 2 + 1
        self.assertIn("aten::add", torch_xla._XLAC._get_xla_tensors_text([y]))
        torch_xla.sync(wait=True)
        self.assertNotIn("aten::add", torch_xla._XLAC._get_xla_tensors_text([y]))
        self.assertEqual(y.tolist(), [3, 3, 3])

    def test_updates_in_place_through_steps(self):
        x, there = array(4, 4), array(4, 4).to(device())
        for step in range(4):
            for y in (x, there):
                y[step].mul_(2)
                y.T[step].add_(1)
            torch_xla.sync()
        self.close(x, there)

    def test_host_and_device_copy_into_one_another(self):
        x, there = array(3), torch.zeros(3, device=device())
        there.copy_(x)
        host = torch.zeros(3)
        host.copy_(there)
        self.close(x, host)
        self.close(x.double(), there.to("cpu", torch.float64))

    def test_a_module_goes_there_and_back(self):
        module = torch.nn.Linear(3, 2)
        before = {name: value.clone() for name, value in module.state_dict().items()}
        after = module.to(device()).cpu().state_dict()
        for name, value in before.items():
            self.close(value, after[name])

    def test_values_are_saved_and_loaded(self):
        import io

        file = io.BytesIO()
        xm.save({"x": array(3).to(device())}, file)
        file.seek(0)
        self.close(array(3), torch.load(file)["x"])

    def test_random_numbers_repeat_with_their_seed(self):
        def drawn():
            return torch.rand(5, device=device()).cpu(), torch.randn(5, device=device()).cpu(), torch.randint(0, 9, (5,), device=device()).cpu()

        xm.set_rng_state(11)
        first, more = drawn(), drawn()
        xm.set_rng_state(11)
        for before, after, other in zip(first, drawn(), more):
            self.assertEqual(before.tolist(), after.tolist())
            self.assertNotEqual(before.tolist(), other.tolist())
        xm.set_rng_state(5)
        self.assertEqual(xm.get_rng_state(), 5)
        torch.manual_seed(3)
        many = torch.randn(20000, device=device())
        self.assertAlmostEqual(many.mean().item(), 0, delta=0.03)
        self.assertAlmostEqual(many.std().item(), 1, delta=0.03)
        kept = torch.nn.functional.dropout(torch.ones(20000, device=device()), 0.25)
        self.assertEqual(set(kept.unique().tolist()), {0.0, float(torch.tensor(1 / 0.75))})
        self.assertAlmostEqual(kept.mean().item(), 1, delta=0.03)
        self.assertEqual(sorted(torch.randperm(50, device=device()).tolist()), list(range(50)))

    def test_memory(self):
        torch_xla.sync(wait=True)
        before = xm.get_memory_info()
        x = torch.zeros(1 << 18).to(device())
        held = xm.get_memory_info()
        self.assertEqual(held["bytes_used"] - before["bytes_used"], 1 << 20)
        self.assertGreaterEqual(held["peak_bytes_used"], held["bytes_used"])
        self.assertGreater(held["bytes_limit"], 0)
        del x
        self.assertEqual(xm.get_memory_info()["bytes_used"], before["bytes_used"])


if __name__ == "__main__":
    main()
