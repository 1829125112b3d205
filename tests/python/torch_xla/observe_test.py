"""hlod.ledger, hlod.metrics and profiles of a PyTorch/XLA program, and what it sees of a daemon that dies."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap

import hlod
import torch
import torch_xla
import torch_xla.debug.metrics as metrics
from hlod import _hloctl

from support import PluginTest, array, device, main


def here() -> int:
    """The line of the caller."""
    return sys._getframe(1).f_lineno


LOSES_ITS_DAEMON = """
    import os, signal, torch, torch_xla
    x = torch.ones(3).to("xla")
    print((x + 1).tolist())
    os.kill(int(os.environ["DAEMON"]), signal.SIGKILL)
    for attempt in range(3):
        try:
            print((x + 2).cpu())
        except RuntimeError as error:
            print("RuntimeError:", error)
    """


class Observe(PluginTest):

    def rows(self, line):
        """The ledger's rows of a line of this file, as (cause, bytes, calls)."""
        rows = [row for row in hlod.ledger()["rows"] if row["file"].endswith("observe_test.py") and row["line"] == line]
        return [(row["cause"], row["bytes"], row["calls"]) for row in rows]

    def test_an_upload_has_its_line(self):
        x, line = array(10, 10).to(device()), here()
        self.assertEqual(self.rows(line), [("upload", 400, 1)])
        y, line = torch.tensor([1.0, 2.0], device=device()), here()
        self.assertEqual(self.rows(line), [("upload", 8, 1)])

    def test_a_download_has_its_line(self):
        x = array(5, 7).to(device()) * 2
        torch_xla.sync(wait=True)
        x.cpu(), (line := here())
        self.assertEqual(self.rows(line), [("download", 140, 1)])
        x.sum().item(), (line := here())
        self.assertIn(("download", 4, 1), self.rows(line))
        str(x), (line := here())
        self.assertIn(("download", 140, 1), self.rows(line))

    def test_programs_are_divided_by_this_interpreters_jaxlib(self):
        self.assertEqual(os.environ["HLOD_PYTHON"], sys.executable)

    def test_sums_are_those_of_the_rows(self):
        array(3).to(device()).cpu()
        ledger = hlod.ledger()
        total = sum(ledger[direction]["bytes"] for direction in ("host_to_device", "device_to_host", "device_to_device"))
        self.assertEqual(total, sum(row["bytes"] for row in ledger["rows"]))

    def test_metrics_of_both(self):
        x = array(4).to(device())
        torch_xla.sync(wait=True)
        metrics.clear_all()
        for _ in range(3):
            (x * 3 + 1).cpu()
        self.assertEqual(metrics.metric_data("ExecuteTime")[0], 3)
        self.assertIn("Metric: ExecuteTime", hlod.metrics())
        self.assertIn("Counter: CachedCompile", metrics.metrics_report())

    def test_a_profile_has_the_programs_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            script, profile = pathlib.Path(folder, "steps.py"), pathlib.Path(folder, "run.profile")
            script.write_text(
                "import torch, torch_xla\n"
                "x = torch.ones(3, device='xla')\n"
                "for n in (3, 3, 4):\n"
                "    print(torch.ones(n, device='xla').sinh().sum().item())\n"  # Line 4.
            )
            run = subprocess.run(
                [sys.executable, script], env={**os.environ, "HLOD_PROFILE": str(profile)}, capture_output=True, text=True, timeout=240
            )
            self.assertEqual(run.returncode, 0, run.stderr)
            graphs = subprocess.run([_hloctl.find(), "graphs", profile], capture_output=True, text=True, timeout=120)
        self.assertEqual(graphs.returncode, 0, graphs.stderr)
        self.assertRegex(graphs.stdout, r"steps\.py:4\b")

    def test_a_daemon_that_dies_is_one_error(self):
        with tempfile.TemporaryDirectory() as folder:
            address = f"unix:{folder}/hlod.sock"
            daemon = subprocess.Popen([os.environ["HLOD_DAEMON"], "--listen", address], stderr=subprocess.PIPE, text=True)
            with daemon:
                next(line for line in daemon.stderr if "istening" in line)
                script = [sys.executable, "-c", textwrap.dedent(LOSES_ITS_DAEMON)]
                environment = {**os.environ, "HLOD_ADDRESS": address, "DAEMON": str(daemon.pid)}
                run = subprocess.run(script, env=environment, capture_output=True, text=True, timeout=240)
                daemon.kill()
        self.assertIn("[2.0, 2.0, 2.0]", run.stdout, run.stderr)
        self.assertEqual(run.stdout.count("RuntimeError"), 3, run.stdout + run.stderr)
        self.assertNotIn(run.returncode, (-signal.SIGABRT, -signal.SIGSEGV), run.stderr)


if __name__ == "__main__":
    main()
