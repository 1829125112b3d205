"""hlod.check and hlod.run of programs over a mesh, as a user's test would call them. Expected numbers by hand arithmetic and from NumPy."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import hlod

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P
except ImportError:
    jax = None

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "client" / "examples"


@unittest.skipUnless(jax, "no JAX")
class MeshCheck(unittest.TestCase):
    def lowered(self):
        """Rows of x over data, the contracted columns over model: one all-reduce over model, and w is the same over data."""
        mesh = jax.sharding.AbstractMesh((4, 2), ("data", "model"))
        named = lambda *axes: NamedSharding(mesh, P(*axes))
        f = jax.jit(lambda x, w: jnp.tanh(x @ w), in_shardings=(named("data", "model"), named("model", None)))
        x, w = jax.ShapeDtypeStruct((1024, 512), "float32"), jax.ShapeDtypeStruct((512, 256), "float32")
        return f.trace(x, w).lower(lowering_platforms=("cpu",))

    def test_one_chip_is_judged(self):
        report = hlod.check(self.lowered(), target="h100:8")
        self.assertEqual((report.mesh, report.fits), ({"data": 4, "model": 2}, True))
        self.assertEqual(report.flops, 2 * 256 * 256 * 256 + 256 * 256)  # The all-reduce adds.
        [reduced] = report.collectives
        self.assertEqual((reduced.kind, reduced.axes, reduced.bytes), ("all-reduce", ["model"], 4 * 256 * 256))
        self.assertEqual((reduced.group_size, reduced.groups, reduced.times), (2, 4, 1))
        saved = {row.op_name: (row.axis, row.saved_bytes) for row in report.replicated}
        self.assertEqual(saved["w"], ("data", 4 * 256 * 256 * 3 / 4))

    def test_another_mesh_may_be_tried(self):
        report = hlod.check(self.lowered(), target="h100:64", mesh={"data": 16, "model": 4})
        self.assertEqual(report.flops, 2 * 64 * 128 * 256 + 64 * 256)
        with self.assertRaisesRegex(hlod.Error, "has no axis 'batch'"):
            hlod.check(self.lowered(), target="h100:8", mesh={"batch": 4, "model": 2})
        with self.assertRaisesRegex(hlod.Error, "has 8 devices; --target h100:16 has 16 chips"):
            hlod.check(self.lowered(), target="h100:16", mesh={"data": 4, "model": 2})

    def test_other_shardings_are_tried_without_touching_the_program(self):
        report = hlod.check(self.lowered(), target="h100:8", shard={"^w$": P("model", "data")})
        gathered = {(row.kind, tuple(row.axes), row.bytes) for row in report.collectives}
        self.assertIn(("all-gather", ("data",), 4 * 256 * 256), gathered)  # w's columns lie on four devices.
        self.assertEqual(report.data["fused"]["argument_bytes"], 4 * (256 * 256 + 256 * 64))
        for shard, text in (
            ({"^v$": "data"}, "matches no argument; there are x, w"),
            ({"w": "batch"}, "names the axis 'batch'; the mesh has data, model"),
            ({"w": "data,None,model"}, "divides 3 dimensions; w has 512x256"),
            ({"w": "data,data"}, "divides two dimensions over the axis 'data'"),
            ({"w(": "data"}, "is not a regular expression"),
        ):
            with self.assertRaisesRegex(hlod.Error, text):
                hlod.check(self.lowered(), target="h100:8", shard=shard)

    def test_the_standard_shardings_are_ranked(self):
        found = self.searched("h100:8")
        tried = {("x".join(str(axis["size"]) for axis in row["mesh"]), row["shardings"]): row for row in found}
        self.assertEqual(len(tried), len(found))
        # Only x is an input. By data, each device computes 128 rows with all of w, and nothing is exchanged.
        data = tried["8x1", "data"]
        self.assertEqual((data["network_us"], data["fit"]), (0, "fits"))
        self.assertAlmostEqual(data["peak_bytes"], 4 * (128 * 512 + 512 * 256 + 128 * 256), delta=0.3 * data["peak_bytes"])
        self.assertLess(tried["8x1", "fsdp"]["peak_bytes"], data["peak_bytes"] + 4 * 512 * 256)
        self.assertEqual({name for _, name in tried}, {"as written", "data", "fsdp", "tensor", "fsdp+tensor", "fsdp+sequence", "fsdp+tensor+sequence"})
        fitting = [sum(row["step_seconds"].values()) for row in found if row.get("fit") == "fits"]
        self.assertEqual(fitting, sorted(fitting))

    def searched(self, target):
        """The rows of `hloctl check --search` of w(params) and tokens, which are whole numbers."""
        mesh = jax.sharding.AbstractMesh((4, 2), ("data", "model"))
        named = lambda *axes: NamedSharding(mesh, P(*axes))
        f = jax.jit(lambda w, x: jnp.tanh(x.astype("float32") @ w), in_shardings=(named("model", None), named("data", "model")))
        lowered = f.trace(jax.ShapeDtypeStruct((512, 256), "float32"), jax.ShapeDtypeStruct((1024, 512), "int32")).lower(lowering_platforms=("cpu",))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.mlir")
            pathlib.Path(path).write_text(lowered.as_text(debug_info=True))
            ran = subprocess.run([os.environ["HLOD_HLOCTL"], "--json", "check", path, "--search", "--target", target], capture_output=True, text=True, env=dict(os.environ, HLOD_PYTHON=sys.executable))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return json.loads(ran.stdout)["search"]

    def test_what_is_not_divided_is_unknown_and_not_passed(self):
        with tempfile.TemporaryDirectory() as folder:
            chips = pathlib.Path(folder) / "chips.toml"
            # The whole takes 3.5 MiB, the least that a chip of eight can have 0.75 MiB.
            chips.write_text("[chips.small]\nmemory_bytes = 2e6\nbandwidth = 1e12\nflops = 1e12\n")
            report = hlod.check(self.lowered(), target="small:16", chips=chips, raises=False)
        self.assertEqual((report.passed, report.fits, report.mesh), (False, None, None))
        self.assertIn("is divided over 8 devices (data=4,model=2); --mesh says how 16 are arranged", report.text)

    def test_without_a_partitioner_nobody_knows(self):
        """A Python without jaxlib, one that is missing, one that fails and one that is killed: a sentence and exit code 6."""
        with tempfile.TemporaryDirectory() as folder:
            path, killed, none = (pathlib.Path(folder) / name for name in ("f.mlir", "killed", "none"))
            path.write_text(self.lowered().as_text(debug_info=True))
            chips = pathlib.Path(folder) / "chips.toml"
            chips.write_text("[chips.small]\nmemory_bytes = 2e6\nbandwidth = 1e12\nflops = 1e12\n")
            killed.write_text("#!/bin/sh\nkill -9 $$\n")
            none.write_text(f"#!/bin/sh\nexec {sys.executable} -S -E \"$@\"\n")
            for script in (killed, none):
                script.chmod(0o755)
            for python in (killed, none, "/nowhere/python", "/bin/false"):
                environment = dict(os.environ, HLOD_PYTHON=str(python), XDG_CACHE_HOME=folder)
                command = [os.environ["HLOD_HLOCTL"], "check", str(path), "--target", "small:8", "--mesh", "data=4,model=2", "--chips", str(chips)]
                ran = subprocess.run(command, env=environment, capture_output=True, text=True)
                self.assertEqual(ran.returncode, 6, (python, ran.stdout, ran.stderr))
                self.assertRegex(ran.stdout, r"not partitioned: [A-Z/].*\w", python)
                self.assertNotIn("Traceback", ran.stdout + ran.stderr)

    def test_405_billion_parameters_on_four_pods(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "step.mlir")
            subprocess.run([sys.executable, EXAMPLES / "llama_405b.d" / "make.py", path], check=True)
            reports = {c: hlod.check(path, target=f"v5p:{c}", mesh={"data": c // 8, "model": 8}, raises=False) for c in (64, 128, 256, 512)}
        # Weights and two moments of 405.85 billion parameters in f32; norms, which are whole everywhere, are 0.1%.
        for chips, report in reports.items():
            fused = report.data["fused"]
            self.assertAlmostEqual(fused["argument_bytes"] / (12 * 405853388800 / chips), 1, delta=0.01 * chips / 64)
        self.assertEqual([reports[c].fits for c in (64, 128, 256, 512)], [False, True, True, True])
        self.assertTrue(all(report.peak_bytes.low == report.peak_bytes.high for report in reports.values()))
        peaks = [reports[c].peak_bytes.low for c in (64, 128, 256, 512)]
        # XLA's compiler for TPU says so for 128, 256 and 512 chips (libtpu 0.0.42.1), and refuses 64.
        for peak, gib in zip(peaks[1:], (82.21, 40.05, 20.34)):
            self.assertAlmostEqual(peak / 2**30 / gib, 1, delta=0.1)
        for larger, smaller in zip(peaks, peaks[1:]):
            self.assertAlmostEqual(larger / smaller, 2, delta=0.05)
        self.assertEqual({axis for row in reports[128].collectives for axis in row.axes}, {"data", "model"})


@unittest.skipUnless(jax, "no JAX")
class MeshRun(unittest.TestCase):
    def test_arguments_are_cut_and_results_assembled(self):
        with tempfile.TemporaryDirectory() as folder:
            address = f"unix:{folder}/hlod.sock"
            daemon = subprocess.Popen([os.environ["HLOD_DAEMON"], "--devices", "8", "--listen", address, "--log-level", "warn"])
            try:
                while not os.path.exists(f"{folder}/hlod.sock"):
                    self.assertIsNone(daemon.poll())
                lowered = MeshCheck().lowered()
                random = np.random.default_rng(1)
                x, w = (random.standard_normal(shape).astype(np.float32) / 16 for shape in ((1024, 512), (512, 256)))
                for partition in (True, None, False):
                    np.testing.assert_allclose(hlod.run(lowered, x, w, address=address, partition=partition), np.tanh(x @ w), atol=1e-5)
            finally:
                daemon.kill()
                daemon.wait()

    def test_too_few_devices_are_an_error_only_when_asked(self):
        x, w = np.ones((1024, 512), np.float32), np.full((512, 256), 1 / 512, np.float32)
        lowered = MeshCheck().lowered()
        np.testing.assert_allclose(hlod.run(lowered, x, w), np.full((1024, 256), np.tanh(1)), atol=1e-5)
        with self.assertRaisesRegex(hlod.Error, "is divided among 8 devices .*, but the daemon has 1"):
            hlod.run(lowered, x, w, partition=True)


if __name__ == "__main__":
    unittest.main()
