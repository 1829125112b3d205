"""Profiles of JAX (jax.profiler) have the daemon's runs."""

import glob
import os
import tempfile
import unittest

import jax
import jax.numpy as jnp
import numpy as np

import support


class ProfilerTest(support.PluginTest):
    def test_runs_of_the_daemon(self):
        @jax.jit
        def heavy(x):
            return jnp.sum(jnp.sin(x @ x))

        x = jnp.asarray(support.array(64, 64))
        jax.block_until_ready(heavy(x))
        with tempfile.TemporaryDirectory() as folder:
            with jax.profiler.trace(folder):
                for _ in range(5):
                    jax.block_until_ready(heavy(x))
            (path,) = glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True)
            profile = jax.profiler.ProfileData.from_file(path)
            planes = [plane for plane in profile.planes if "hlod" in plane.name]
            self.assertEqual(len(planes), 1)
            runs = [event for line in planes[0].lines if line.name == "XLA Modules" for event in line.events]
        self.assertEqual([run.name for run in runs], ["jit_heavy"] * 5)
        for run in runs:
            self.assertGreater(run.duration_ns, 0)
        self.assertTrue(all(a.start_ns <= b.start_ns for a, b in zip(runs, runs[1:])))

    def test_a_second_profile_begins_anew(self):
        run = jax.jit(lambda x: x + 1)
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder:
                with jax.profiler.trace(folder):
                    np.asarray(run(np.float32(1)))
                (path,) = glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True)
                profile = jax.profiler.ProfileData.from_file(path)
                lines = [line for plane in profile.planes if "hlod" in plane.name for line in plane.lines]
                names = [event.name for line in lines if line.name == "XLA Modules" for event in line.events]
            self.assertEqual(names.count("jit__lambda"), 1, names)


if __name__ == "__main__":
    unittest.main()
