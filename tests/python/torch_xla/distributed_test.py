"""Programs that torchrun starts as several processes, each with a private daemon of its own."""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest

from support import main

PROGRAM = """
import torch, torch_xla, torch_xla.core.xla_model as xm, torch_xla.runtime as xr
import torch.distributed as dist, os
import torch_xla.distributed.xla_backend

def print(*values):  # One write, so that the lines of two processes do not mix.
    os.write(1, (" ".join(map(str, values)) + "\\n").encode())
"""
REPLICAS = """
dist.init_process_group("xla", init_method="xla://")
device, rank, ranks = torch_xla.device(), xr.global_ordinal(), xr.world_size()
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def torchrun(text, devices=1, beginning=PROGRAM + REPLICAS):
    """Runs a program in two processes."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "started.py")
        script.write_text(beginning + textwrap.dedent(text))
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(free_port()), script]
        environment = {**os.environ, "HLOD_DEVICES": str(devices), "XLA_COORDINATOR_PORT": str(free_port())}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)


class Torchrun(unittest.TestCase):

    def expect(self, run, *lines):
        """Expects that each of the two processes prints the lines."""
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(sorted(run.stdout.splitlines()), sorted(lines * 2))

    def test_collectives_meet(self):
        self.expect(
            torchrun("""
            x = torch.tensor([1.0, 2.0]).mul(rank + 1).to(device)
            print(ranks, xm.all_reduce(xm.REDUCE_SUM, x).tolist(), xm.all_gather(x).tolist(), xm.all_gather(x, pin_layout=False).tolist())
            parts = [torch.zeros(2, device=device) for _ in range(ranks)]
            dist.all_gather(parts, x)
            part = torch.zeros(1, device=device)
            dist.reduce_scatter_tensor(part, x)
            dist.broadcast(x, 1)
            print([p.tolist() for p in parts], x.tolist(), part.tolist() == [[3.0], [6.0]][rank])
            print(xm.rendezvous("here", b"abc"[: rank + 1]), xm.mesh_reduce("total", rank + 1, sum))
            """), "2 [3.0, 6.0] [1.0, 2.0, 2.0, 4.0] [1.0, 2.0, 2.0, 4.0]", "[[1.0, 2.0], [2.0, 4.0]] [2.0, 4.0] True", "[b'a', b'ab'] 3")

    def test_a_training_has_the_result_of_one_process_with_all_examples(self):
        self.expect(
            torchrun("""
            def train(device, examples, step):
                torch.manual_seed(0)
                model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)).to(device)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for i in range(5):
                    optimizer.zero_grad()
                    model(examples(i).to(device)).square().mean().backward()
                    step(optimizer)
                    torch_xla.sync()
                return [p.detach().cpu() for p in model.parameters()]

            def batch(i):
                return torch.randn(8, 4, generator=torch.Generator().manual_seed(i))

            together = train(device, lambda i: batch(i).chunk(ranks)[rank], xm.optimizer_step)
            alone = train(torch.device("cpu"), batch, lambda optimizer: optimizer.step())
            print(all(torch.allclose(a, b, atol=1e-6) for a, b in zip(together, alone)))
            """), "True")

    def test_arrays_are_spread_over_the_devices_of_all_processes(self):
        self.expect(
            torchrun("""
            import numpy as np, torch_xla.distributed.spmd as xs
            xr.use_spmd()
            mesh = xs.Mesh(np.arange(4), (4,), ("x",))
            x = torch.arange(32.0).reshape(8, 4).to(torch_xla.device())
            xs.mark_sharding(x, mesh, ("x", None))
            y = (x * 2).sum(0)
            torch_xla.sync()
            print(xr.process_count(), xr.global_runtime_device_count(), y.tolist())
            """, devices=2, beginning=PROGRAM), "2 4 [224.0, 240.0, 256.0, 272.0]")

    def test_a_process_may_run_programs_without_collectives_alone(self):
        self.expect(
            torchrun("""
            x = xm.all_reduce(xm.REDUCE_SUM, torch.ones(2, device=device))
            torch_xla.sync()
            if rank == 0:
                print((x * torch.arange(2.0, device=device)).sum().item())
            print(xm.all_gather(x.sum().reshape(1)).tolist())
            if rank == 1:
                print((x + 3).sum().item() - 8)
            """), "2.0", "[4.0, 4.0]")

    def test_the_process_with_the_coordinator_waits_for_the_others(self):
        self.expect(
            torchrun("""
            xm.all_reduce(xm.REDUCE_SUM, torch.ones(2, device=device)).tolist()
            if rank > 0:
                import time
                time.sleep(5)
            print("done")
            """), "done")

    def test_processes_with_several_devices_and_without_spmd_are_refused(self):
        self.expect(
            torchrun("""
            try:
                xm.all_reduce(xm.REDUCE_SUM, torch.ones(2, device=device)).tolist()
            except RuntimeError as error:
                print("HLOD_DEVICES=1" in str(error), "use_spmd" in str(error))
            os._exit(0)  # PyTorch/XLA runs at its end what has not run, and fails again.
            """, devices=2), "True True")


if __name__ == "__main__":
    main()
