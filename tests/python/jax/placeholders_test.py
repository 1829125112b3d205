"""hlod.placeholders: an unmodified training runs with arrays that have no bytes. Sizes by hand arithmetic."""

import html
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import hlod
import jax
import jax.numpy as jnp
import numpy as np



def here():
    """The line of the caller."""
    return sys._getframe(1).f_lineno


ROWS, WIDTH = 1024, 2048  # 8 MiB of f32, above the limit of 1 MiB; a batch of 512 rows has 4 MiB.
SGD = 0.125


def loss_of(params, x):
    hidden = jnp.tanh(x @ params["w"])
    return jnp.mean(hidden**2)


@jax.jit
def step(params, mu, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    mu = jax.tree.map(lambda m, g: 0.5 * m + g, mu, gradients)
    return jax.tree.map(lambda p, m: p - SGD * m, params, mu), mu, loss


def train(batches, width=WIDTH, read=False):
    """A training as a script has it; returns the last loss."""
    params = {"w": jnp.full((ROWS, width), 0.5)}
    mu = jax.tree.map(jnp.zeros_like, params)
    for rows in batches:
        params, mu, loss = step(params, mu, np.ones((rows, ROWS), np.float32))
        if read:
            print(float(loss))
    return loss


class Placeholders(unittest.TestCase):

    def test_a_training_runs_without_bytes(self):
        with hlod.placeholders(target="h100") as run:
            self.assertIsNone(run.report)
            loss = train([512, 512, 512])
            self.assertEqual((loss.shape, loss.dtype), ((), jnp.float32))
            ledger = hlod.ledger()
        report = run.report
        self.assertLess(ledger["host_to_device"]["bytes"], 1000)
        self.assertTrue(report.passed and report.fits)
        self.assertEqual(report.steps, 3)
        self.assertEqual(report.upload_bytes - report.unsent_bytes, ledger["host_to_device"]["bytes"])
        self.assertEqual(report.unsent_bytes, 3 * 512 * ROWS * 4)
        weights = ROWS * WIDTH * 4
        # The step's products alone: x @ w, and its gradient with respect to w.
        self.assertGreaterEqual(report.flops, 2 * 2 * 512 * ROWS * WIDTH)
        # Old and new parameters and state, and a batch, are alive when the step ends.
        self.assertEqual(report.peak_parts["weights"], 2 * weights)
        self.assertEqual(report.peak_parts["optimizer state"], 2 * weights)
        self.assertEqual(report.peak_parts["inputs"], 512 * ROWS * 4)
        self.assertEqual({row.name for row in report.largest if row.part == "weights"}, {"params['w']"})
        uploads = [row for row in report.transfers if row.bytes == 3 * 512 * ROWS * 4]
        self.assertEqual([(row.cause, row.calls) for row in uploads], [("upload", 3)])
        self.assertTrue(uploads[0].line.startswith("placeholders_test.py:"), uploads)
        self.assertIn(html.escape("params['w']"), report._repr_html_())
        self.assertEqual(json.loads(report.json)["steps"], 3)

    def test_recompiles_have_a_reason(self):
        jax.clear_caches()
        with hlod.placeholders() as run:
            train([512, 512, 256])
        (again,) = run.report.recompiles
        self.assertEqual(again.name, "jit_step")
        self.assertRegex(again.recompiled, r"parameter \d+ was f32\[512,1024\], now f32\[256,1024\]")
        self.assertEqual(run.report.steps, 3)
        with self.assertRaisesRegex(hlod.PreflightFailed, "recompiles 1 is over 0"):
            with hlod.placeholders(budget={"recompiles": 0}):
                jax.clear_caches()
                train([512, 256])

    def test_reads_are_refused_with_their_chain(self):
        with hlod.placeholders():
            x = jax.device_put(np.ones((ROWS, WIDTH), np.float32)); made = here()
            y = jnp.sin(x) * 2; doubled = here()
            total = y.sum()
            for read in (lambda: float(total), lambda: np.asarray(total), lambda: print(total), lambda: bool(total > 0), lambda: y[0, 0].item()):
                with self.assertRaises(hlod.PlaceholderRead) as caught:
                    read()
                self.assertIn("is a placeholder: it has no value for a read", str(caught.exception))
            with self.assertRaises(hlod.PlaceholderRead) as caught:
                read_at = here() + 1
                float(y.sum())
            lines = str(caught.exception).splitlines()
            self.assertIn(f"placeholders_test.py:{read_at}", lines[0])
            chain = [("reduce_sum", read_at), ("mul", doubled), ("sin", doubled)]
            self.assertEqual(len(lines) - 1, len(chain), lines)
            for text, (operation, line) in zip(lines[1:], chain):
                self.assertIn(operation, text)
                self.assertIn(f"placeholders_test.py:{line}", text)
            self.assertIn(f"f32[{ROWS},{WIDTH}], made at", lines[-1])
            self.assertIn(f"placeholders_test.py:{made}", lines[-1])

    def test_small_values_are_real(self):
        with hlod.placeholders():
            self.assertEqual(float((jnp.arange(10.0) * 2).sum()), 90)
            big = jnp.zeros((ROWS, WIDTH))
            self.assertEqual(jax.random.uniform(jax.random.key(0), (3,)).shape, (3,))
            self.assertEqual(int(jnp.asarray(big.shape)[1]), WIDTH)

    def test_stand_ins(self):
        with hlod.placeholders(stand_in="1") as run:
            self.assertEqual(float(train([512], read=True)), 1.0)
        self.assertIn("STAND-INS", run.report.text)
        with self.assertRaisesRegex(ValueError, "stand_in is '2'"):
            with hlod.placeholders(stand_in="2"):
                pass

    def test_an_error_leaves_a_report(self):
        with self.assertRaises(hlod.PlaceholderRead):
            with hlod.placeholders(target="h100") as run:
                train([512, 512], read=True)
        self.assertEqual(run.report.steps, 1)

    def test_other_arrays_go_on(self):
        before, device = jnp.arange(6.0), jax.devices()[0]
        double = jax.jit(lambda x: 2 * x)
        self.assertEqual(float(double(np.float32(3))), 6)
        with hlod.placeholders():
            self.assertNotEqual(jax.devices()[0], device)
            inside = double(np.float32(3))
            self.assertNotEqual(inside.devices(), {device})
            self.assertEqual(float(before.sum()), 15)
            self.assertEqual(float((before + jnp.ones(6)).sum()), 21)
            with self.assertRaisesRegex(RuntimeError, "cannot be used within itself"):
                with hlod.placeholders():
                    pass
        self.assertEqual(jax.devices()[0], device)
        after = double(np.float32(3))
        self.assertEqual((float(after), after.devices()), (6, {device}))
        self.assertEqual(float((before + 1).sum()), 21)
        self.assertGreater(hlod.ledger()["host_to_device"]["bytes"], 0)

    def test_a_budget(self):
        with self.assertRaises(AssertionError) as caught:
            with hlod.placeholders(budget={"peak_bytes": "1MiB"}) as run:
                train([512])
        self.assertIsInstance(caught.exception, hlod.PreflightFailed)
        self.assertIn("peak_bytes", str(caught.exception))
        self.assertEqual((run.report.exit_code, [finding.metric for finding in run.report.violations]), (4, ["peak_bytes"]))


class CommandLine(unittest.TestCase):
    """`python -m hlod check SCRIPT`, of a script that knows nothing of hlod."""

    SCRIPT = """
import sys
import jax, jax.numpy as jnp, numpy as np

@jax.jit
def step(w, x):
    return w - jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w), jnp.mean(x @ w)

w = jnp.ones((1024, 2048))
for i in range(3):
    w, loss = step(w, np.ones((512, 1024), np.float32))
    print("step", i)
    if "read" in sys.argv:
        print(float(loss))
"""

    def check(self, *options, arguments=(), script=SCRIPT, devices=1):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(script)
            command = [sys.executable, "-m", "hlod", "check", *options, str(path), *arguments]
            environment = {**os.environ, "HLOD_DEVICES": str(devices)}
            return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)

    def test_a_script_passes(self):
        done = self.check("--target", "h100")
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("script.py pid", ": 3 steps", "the runs of jit_step", "weights            16.00 MiB", "verdict          passed"):
            self.assertIn(text, done.stdout)
        self.assertIn("step 2", done.stdout)

    def test_a_script_that_reads_is_stopped_there(self):
        done = self.check(arguments=["read"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("stopped at script.py:14", done.stdout)
        self.assertIn("step 0", done.stdout)
        self.assertNotIn("\nstep 1\n", done.stdout)
        self.assertIn(": 1 step\n", done.stdout)

    def test_a_script_goes_on_with_stand_ins(self):
        done = self.check("--stand-in", "0", arguments=["read"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("step 2", done.stdout)
        self.assertIn("passed, with stand-ins", done.stdout)

    def test_a_script_ends_after_its_steps(self):
        done = self.check("--steps", "2", "--target", "h100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(": 2 steps\n", done.stdout)
        self.assertIn("step 1", done.stdout.splitlines())
        self.assertNotIn("step 2", done.stdout.splitlines())
        self.assertIn("verdict          passed", done.stdout)
        more = self.check("--steps", "7")
        self.assertEqual(more.returncode, 0, more.stderr)
        self.assertIn(": 3 steps\n", more.stdout)

    def test_the_batch_of_the_step_after_the_last_is_not_counted(self):
        done = self.check("--steps", "2", "--json")
        rows = [row for row in json.loads(done.stdout)["transfers"] if row["line"] == "script.py:11"]
        self.assertEqual([(row["cause"], row["bytes"], row["calls"]) for row in rows], [("upload", 2 * 4 * 512 * 1024, 2)])

    # The program that makes the weights computes more than one step, and runs for each layer; the loop never ends.
    ENDLESS = """
import itertools
import jax, jax.numpy as jnp, numpy as np

@jax.jit
def predict(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return x

key = jax.random.key(0)
weights = []
for i in range(4):
    key, own = jax.random.split(key)
    weights.append(jax.random.normal(own, (1024, 1024)) * 0.5 * 0.5)
for i in itertools.count():
    predict(weights, np.ones((512, 1024), np.float32))
    print("batch", i)
"""

    def test_an_inference_ends_after_its_steps(self):
        done = self.check("--steps", "3", script=self.ENDLESS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the runs of jit_predict", done.stdout)
        self.assertIn(": 3 steps\n", done.stdout)
        self.assertIn("batch 2", done.stdout.splitlines())
        self.assertNotIn("batch 3", done.stdout.splitlines())

    # Each of the eight has the whole weights, 8 MiB, and 512 rows of the batch, 2 MiB.
    MESH = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("batch",))

@jax.jit
def step(w, x):
    return w - jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)

w = jax.device_put(np.ones((1024, 2048), np.float32), NamedSharding(mesh, P()))
for i in range(3):
    w = step(w, jax.device_put(np.ones((4096, 1024), np.float32), NamedSharding(mesh, P("batch"))))
"""

    def test_a_mesh_is_judged_by_one_device(self):
        done = self.check(script=self.MESH, devices=8)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("devices          8; the figures are those of one", done.stdout)
        for text in (": 3 steps", "weights            16.00 MiB", "inputs              2.00 MiB"):
            self.assertIn(text, done.stdout)

    def test_a_script_over_its_budget(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as budget:
            budget.write('peak_bytes = "1MiB"\n')
            budget.flush()
            self.assertEqual(self.check("--budget", budget.name).returncode, 4)


if __name__ == "__main__":
    unittest.main()
