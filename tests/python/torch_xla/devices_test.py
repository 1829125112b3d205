"""Several devices of one process. Runs with HLOD_DEVICES=8."""

import os
import pathlib
import subprocess
import sys
import tempfile
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


def launched(body, devices=4, how="torch_xla.launch(run)"):
    """Runs `body` as the function that torch_xla.launch runs on each device. Each rank says "right" at its end."""
    before = """
        import torch, torch_xla, torch_xla.core.xla_model as xm, torch_xla.runtime as xr
        from torch import nn
        import torch_xla.distributed.parallel_loader as pl

        def run(index):
            device, rank, ranks = torch_xla.device(), xr.global_ordinal(), xr.world_size()
        """
    after = f"""
            print(f"rank {{rank}} of {{ranks}} is right", flush=True)

        if __name__ == "__main__":
            {how}
        """
    text = textwrap.dedent(before) + textwrap.indent(textwrap.dedent(body), "    ") + textwrap.dedent(after)
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "launched.py")
        script.write_text(text)
        environment = {**os.environ, "HLOD_DEVICES": str(devices)}
        return subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=240)


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

    def test_uneven_parts_without_a_partitioner_name_the_remedy(self):
        run = spmd(
            """
            import os
            os.environ["HLOD_PARTITION"] = "0"
            x = torch.ones(5, 3).to("xla")
            xs.mark_sharding(x, mesh, ("x", None))
            print((x + 1).cpu())
            """
        )
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("f32[5,3] is divided into 4 parts along dimension 0, which do not have one size", run.stderr)
        self.assertIn("install jaxlib", run.stderr)

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

    def succeeds_everywhere(self, body, devices=4):
        """Asserts that every rank comes to its end."""
        run = launched(body, devices)
        for rank in range(devices):
            self.assertIn(f"rank {rank} of {devices} is right", run.stdout, run.stderr)

    def test_collectives_of_threads(self):
        self.succeeds_everywhere(
            """
            mine = torch.full((2,), float(rank)).to(device)
            total = xm.all_reduce(xm.REDUCE_SUM, mine)
            largest = xm.all_reduce(xm.REDUCE_MAX, mine, groups=[[0, 1], [2, 3]])
            gathered = xm.all_gather(mine + 1)
            torch_xla.sync()  # The programs of the devices go on at different speeds.
            row = torch.arange(8.0).to(device) * (mine[0] + 1)
            part = xm.reduce_scatter(xm.REDUCE_SUM, row, 1.0, scatter_dim=0, shard_count=ranks)
            turned = xm.all_to_all(row, 0, 0, ranks)
            passed = xm.collective_permute(mine, [(i, (i + 1) % ranks) for i in range(ranks)])
            assert total.tolist() == [6, 6], total
            assert largest.tolist() == [rank // 2 * 2 + 1] * 2, largest
            assert gathered.tolist() == [1, 1, 2, 2, 3, 3, 4, 4], gathered
            assert part.tolist() == [20.0 * rank, 20.0 * rank + 10], part
            assert turned.tolist() == [(r + 1) * (2 * rank + i) for r in range(4) for i in range(2)], turned
            assert passed.tolist() == [(rank - 1) % 4] * 2, passed
            assert xm.rendezvous("tag", str(rank).encode()) == [b"0", b"1", b"2", b"3"]
            assert xm.mesh_reduce("sum", rank, sum) == 6
            """
        )

    def test_data_parallel_training(self):
        """The gradients' mean over the ranks' examples is the gradient over all examples."""
        self.succeeds_everywhere(
            """
            def data():
                generator = torch.Generator().manual_seed(1)
                x = torch.randn(32, 8, generator=generator)
                return torch.utils.data.TensorDataset(x, (x.sum(1) > 0).long())

            def train(model, batches, step):
                optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
                for x, y in batches:
                    optimizer.zero_grad()
                    nn.functional.cross_entropy(model(x), y).backward()
                    step(optimizer)
                return [p.detach().cpu() for p in model.parameters()]

            torch.manual_seed(rank)
            model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
            xm.broadcast_master_param(model)
            alone = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
            alone.load_state_dict({name: value.cpu() for name, value in model.state_dict().items()})
            sampler = torch.utils.data.distributed.DistributedSampler(data(), ranks, rank, shuffle=False)
            loader = torch.utils.data.DataLoader(data(), batch_size=2, sampler=sampler)
            together = train(model, pl.MpDeviceLoader(loader, device), xm.optimizer_step)
            whole = torch.utils.data.DataLoader(data(), batch_size=8)
            for a, b in zip(together, train(alone, whole, lambda optimizer: optimizer.step())):
                torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
            """
        )

    def test_one_process_of_one_device(self):
        body = "assert xm.all_reduce(xm.REDUCE_SUM, torch.full((2,), 3.0).to(device)).tolist() == [3, 3]"
        run = launched(body, how="torch_xla.launch(run, debug_single_process=True)")
        self.assertIn("rank 0 of 1 is right", run.stdout, run.stderr)

    def test_sharded_parameters_of_threads(self):
        """FSDP's and ZeRO's training is that of one device with all examples."""
        self.succeeds_everywhere(
            """
            from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel
            from torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer

            x = torch.arange(16.0).view(4, 4) / 16

            def losses(shard, place, x, mean):
                model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
                for parameter in model.parameters():  # The threads share the host's generator.
                    parameter.data = torch.linspace(-1, 1, parameter.numel()).view(parameter.shape)
                model, optimizer = shard(model.to(place))
                values = []
                for _ in range(3):
                    optimizer.zero_grad()
                    loss = model(x).square().mean()
                    loss.backward()
                    optimizer.step()
                    torch_xla.sync()
                    values.append(mean(loss.item()))
                return torch.tensor(values)

            def fully(model):
                model = XlaFullyShardedDataParallel(model)
                return model, torch.optim.SGD(model.parameters(), 0.1)

            def optimizer_alone(model):
                return model, ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, grad_clipping=False, lr=0.1)

            alone = losses(lambda model: (model, torch.optim.SGD(model.parameters(), 0.1)), "cpu", x, float)
            mine = x[2 * rank : 2 * rank + 2].to(device)
            mean = lambda value: xm.mesh_reduce("loss", value, lambda values: sum(values) / len(values))
            for shard in (fully, optimizer_alone):
                torch.testing.assert_close(losses(shard, device, mine, mean), alone, rtol=1e-4, atol=1e-5)
            """,
            devices=2,
        )

    def test_programs_that_cannot_meet(self):
        run = launched(
            """
            x = torch.full((2,), float(rank)).to(device)
            y = xm.all_reduce(xm.REDUCE_SUM, x * 2 if rank == 0 else x.exp())
            try:
                y.cpu()
            except RuntimeError as error:
                print("refused:", error)
            """,
            devices=2,
        )
        self.assertRegex(run.stdout, "refused: .*Devices 0 and 1 run different programs together", run.stderr)


if __name__ == "__main__":
    main()
