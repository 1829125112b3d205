"""Several devices of one process. Runs with HLOD_DEVICES=8."""

import subprocess
import sys
import textwrap

import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr

from support import PluginTest, array, device, main


def spmd(text):
    """Runs a program of its own, in which arrays are spread over the devices by xr.use_spmd()."""
    before = """
        import numpy as np, torch, torch_xla, torch_xla.distributed.spmd as xs, torch_xla.runtime as xr
        xr.use_spmd()
        mesh = xs.Mesh(np.arange(8), (4, 2), ("x", "y"))
        """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(before) + textwrap.dedent(text)], capture_output=True, text=True, timeout=240
    )


class Devices(PluginTest):

    def test_each_device_computes(self):
        self.assertEqual((xr.global_device_count(), xr.addressable_device_count()), (8, 8))
        for ordinal in range(8):
            x = array(4, 3).to(device(ordinal))
            y = torch.tanh(x @ x.T)
            self.assertEqual(y.device, device(ordinal))
            self.close(torch.tanh(array(4, 3) @ array(4, 3).T), y)
            self.assertGreater(xm.get_memory_info(device(ordinal))["bytes_used"], 0)

    def test_a_tensor_goes_from_device_to_device(self):
        x = array(5).to(device(1)) + 1
        y = x.to(device(6)) * 2
        self.assertEqual(y.device, device(6))
        self.close((array(5) + 1) * 2, y)

    def test_training_on_another_device(self):
        torch.manual_seed(0)
        here = torch.nn.Linear(4, 2)
        there = torch.nn.Linear(4, 2).to(device(3))
        there.load_state_dict(here.state_dict())
        for model, place in ((here, "cpu"), (there, device(3))):
            optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
            for _ in range(4):
                optimizer.zero_grad()
                model(array(6, 4).to(place)).square().sum().backward()
                optimizer.step()
                torch_xla.sync()
        self.close(here.weight, there.weight, rtol=1e-4, atol=1e-4)

    def test_annotated_programs(self):
        run = spmd(
            """
            x = torch.arange(64.0).reshape(8, 8)
            there = x.to("xla")
            xs.mark_sharding(there, mesh, ("x", "y"))
            weight = torch.eye(8).to("xla") * 2
            xs.mark_sharding(weight, mesh, (None, "y"))
            assert "devices=[4,2]" in torch_xla._XLAC._get_xla_sharding_spec(there)
            assert torch.equal(there.cpu(), x)
            assert torch.equal((there @ weight).cpu(), x * 2)
            assert torch.equal(there.sum(0).cpu(), x.sum(0))
            there += 1
            torch_xla.sync()
            assert torch.equal(there.cpu(), x + 1)
            print("right")
            """
        )
        self.assertIn("right", run.stdout, run.stderr)

    def test_annotated_training(self):
        run = spmd(
            """
            def losses(place):
                torch.manual_seed(0)
                model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2)).to(place)
                x, y = torch.randn(16, 8).to(place), torch.randn(16, 2).to(place)
                if place != "cpu":
                    xs.mark_sharding(x, mesh, ("x", None))
                    xs.mark_sharding(model[0].weight, mesh, ("y", None))
                    xs.mark_sharding(model[2].weight, mesh, (None, "y"))
                optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
                values = []
                for _ in range(4):
                    optimizer.zero_grad()
                    loss = torch.nn.functional.mse_loss(model(x), y)
                    loss.backward()
                    optimizer.step()
                    torch_xla.sync()
                    values.append(loss.item())
                return torch.tensor(values)

            torch.testing.assert_close(losses("xla"), losses("cpu"), rtol=1e-4, atol=1e-4)
            print("right")
            """
        )
        self.assertIn("right", run.stdout, run.stderr)


if __name__ == "__main__":
    main()
