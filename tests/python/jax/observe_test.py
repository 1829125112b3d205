"""hlod.ledger and hlod.metrics of a JAX program: what crossed, and the line that asked for it."""

import re
import sys

import hlod
import jax
import jax.numpy as jnp
import numpy as np

from support import PluginTest, array, main


def here() -> int:
    """The line of the caller."""
    return sys._getframe(1).f_lineno


class Observe(PluginTest):

    def rows(self, line):
        """The ledger's rows of a line of this file, as (cause, bytes, calls)."""
        rows = [row for row in hlod.ledger()["rows"] if row["file"].endswith("observe_test.py") and row["line"] == line]
        return [(row["cause"], row["bytes"], row["calls"]) for row in rows]

    def test_an_upload_has_its_line(self):
        x, line = jax.device_put(array(10, 10), jax.devices()[0]), here()
        self.assertEqual(self.rows(line), [("upload", 400, 1)])
        self.assertEqual(x.shape, (10, 10))

    def test_a_download_has_its_line(self):
        x = jnp.ones((5, 7))
        np.asarray(x), here()
        y, line = float((x * 2).sum()), here()
        self.assertEqual(y, 70.0)
        self.assertEqual([row for row in self.rows(line) if row[0] == "download"], [("download", 4, 1)])

    def test_arrays_of_the_host_given_to_a_call_have_its_line(self):
        double = jax.jit(lambda x, scale: x * scale)
        small, large = array(5), array(50_000)
        for _ in range(4):
            y = double(small, 2.0), double(large, 2.0); line = here()
        self.assertEqual([row for row in self.rows(line) if row[0] == "upload"], [("upload", 4 * 4 * 50_007, 16)])
        for x, doubled in zip((small, large), y):
            np.testing.assert_array_equal(np.asarray(doubled), x * 2)
        rows = double(array(8, 6).T, np.float32(3)); line = here()
        np.testing.assert_array_equal(np.asarray(rows), array(8, 6).T * 3)
        self.assertEqual([row for row in self.rows(line) if row[0] == "upload"], [("upload", 4 * 49, 2)])

    def test_every_transfer_has_a_line(self):
        def step(x, scale):
            jax.debug.print("{}", x.sum())
            return jax.pure_callback(lambda x: np.asarray(x) + 1, jax.ShapeDtypeStruct(x.shape, x.dtype), x) * scale

        for _ in range(3):
            jax.jit(step)(array(6), 2.0).block_until_ready()
        jax.effects_barrier()
        float(jnp.arange(4.0)[1] + np.ones(4)[2])
        np.asarray(jax.random.normal(jax.random.key(0), (3,)))
        unknown = [row for row in hlod.ledger()["rows"] if row["bytes"] and not row["file"]]
        self.assertEqual(unknown, [])

    def test_sums_are_those_of_the_rows(self):
        ledger = hlod.ledger()
        total = sum(ledger[direction]["bytes"] for direction in ("host_to_device", "device_to_host", "device_to_device"))
        self.assertEqual(total, sum(row["bytes"] for row in ledger["rows"]))
        self.assertIn("cause", str(ledger))
        self.assertIn("<table>", ledger._repr_html_())

    def test_metrics(self):
        new = float(np.random.default_rng().random())  # A program that no daemon's cache has.
        jax.jit(lambda x: x * new + 1)(jnp.ones(4)).block_until_ready()
        report = hlod.metrics()
        self.assertIn("Metric: CompileTime", report)
        self.assertIn("Metric: ExecuteTime", report)

    def test_metrics_count_small_reads(self):
        def reads():
            samples = re.search(r"Metric: InboundData\n  TotalSamples: (\d+)", hlod.metrics())
            return int(samples[1]) if samples else 0

        double = jax.jit(lambda x: 2 * x)
        before = reads()
        for i in range(5):
            float(double(jnp.float32(i)))
        self.assertEqual(reads() - before, 5)


if __name__ == "__main__":
    main()
