"""The package hlod as a test of a user's would use it. Expected numbers by hand arithmetic."""

import contextlib
import importlib.util
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import xml.etree.ElementTree

import hlod

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
except ImportError:
    jax = None

# setuptools makes them itself, or by the package wheel.
WHEELS = importlib.util.find_spec("setuptools") and (
    importlib.util.find_spec("wheel") or importlib.util.find_spec("setuptools.command.bdist_wheel")
)

SOURCE = pathlib.Path(__file__).resolve().parents[2]

DOT = """HloModule dot
ENTRY e {
  a = f32[64,32] parameter(0)
  b = f32[32,16] parameter(1)
  ROOT d = f32[64,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
DOT_FLOPS = 2 * 64 * 32 * 16
DOT_BYTES = 4 * (64 * 32 + 32 * 16 + 64 * 16)


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_text_bytes_and_paths_are_programs(self):
        path = self.folder / "dot.hlo"
        path.write_text(DOT)
        for program in (DOT, DOT.encode(), path, str(path)):
            report = hlod.check(program)
            self.assertEqual(report.flops, DOT_FLOPS)
            self.assertEqual(report.peak_bytes, hlod.Bracket(DOT_BYTES, DOT_BYTES))
            self.assertIsNone(report.fits)
            self.assertTrue(report.passed)
        self.assertIn("dot: 3 instructions", str(report))

    def test_a_target_divides_and_times(self):
        report = hlod.check(DOT, target="h100")
        self.assertIs(report.fits, True)
        self.assertGreater(report.step_seconds.low, 0)

    def test_a_budget_that_is_exceeded_fails_the_test(self):
        with self.assertRaises(AssertionError) as caught:
            hlod.check(DOT, budget={"flops": DOT_FLOPS - 1, "peak_bytes": "1GiB"})
        self.assertIsInstance(caught.exception, hlod.CheckFailed)
        self.assertIn(f"flops {DOT_FLOPS} is over {DOT_FLOPS - 1}", str(caught.exception))
        with self.assertRaisesRegex(AssertionError, "peak_bytes .* KiB is over 1.00 KiB"):
            hlod.check(DOT, budget={"peak_bytes": 1024})
        report = hlod.check(DOT, budget={"flops": 1, "peak_bytes": "1GiB"}, raises=False)
        self.assertFalse(report.passed)
        self.assertEqual([finding.metric for finding in report.violations], ["flops"])
        self.assertEqual([finding.metric for finding in report.loose], ["peak_bytes"])

    def test_a_budget_file_is_written_and_kept(self):
        budget = self.folder / "budget.toml"
        hlod.check(DOT, budget=budget, update_budget=True)
        self.assertIn(f"flops = {DOT_FLOPS}", budget.read_text())
        self.assertTrue(hlod.check(DOT, budget=budget).passed)
        budget.write_text("flops = 1  # one\n")
        with unittest.mock.patch.dict(os.environ, HLOD_UPDATE_BUDGET="1"):
            hlod.check(DOT, budget=budget)
        self.assertEqual(budget.read_text(), f"flops = {DOT_FLOPS}  # one\n")

    def test_junit_is_xml(self):
        junit = self.folder / "junit.xml"
        hlod.check(DOT, budget={"flops": 1}, junit=junit, raises=False)
        suite = xml.etree.ElementTree.parse(junit).getroot().find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "1"))

    def test_errors_name_what_is_wrong(self):
        with self.assertRaisesRegex(hlod.Error, "nearest are h[12]00"):
            hlod.check(DOT, target="h1000")
        with self.assertRaisesRegex(hlod.Error, "peek_bytes cannot be limited; the nearest that can is peak_bytes"):
            hlod.check(DOT, budget={"peek_bytes": 1})
        with self.assertRaisesRegex(hlod.Error, "nowhere.hlo"):
            hlod.check(self.folder / "nowhere.hlo")
        with self.assertRaisesRegex(hlod.Error, "--chips only defines chips"):
            hlod.check(DOT, chips=self.folder / "chips.toml")
        with self.assertRaisesRegex(TypeError, "int is not a program"):
            hlod.check(3)
        with unittest.mock.patch.dict(os.environ, HLOD_HLOCTL=str(self.folder / "none")):
            with self.assertRaisesRegex(hlod.Error, "hloctl cannot be started"):
                hlod.check(DOT)

    @unittest.skipUnless(importlib.util.find_spec("pip") and WHEELS, "no pip, or nothing that makes wheels")
    def test_it_installs(self):
        copy = self.folder / "source"
        shutil.copytree(SOURCE / "client/python", copy)
        pip = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index", "--quiet"]
        subprocess.run([*pip, "--target", self.folder / "site", copy], check=True)
        self.assertTrue((self.folder / "site/hlod/__init__.py").exists())


@unittest.skipUnless(jax, "no JAX")
class Jax(unittest.TestCase):
    @staticmethod
    def lowered():
        def loss(params, x):
            h = jnp.tanh(x @ params["w"])
            return {"loss": (h * h).sum(), "h": h}

        params = {"w": jnp.ones((32, 16)), "unused": jnp.ones((3,))}
        return jax.jit(loss).lower(params, jnp.ones((64, 32))), params

    def test_a_lowered_function_is_a_program(self):
        lowered, _ = self.lowered()
        report = hlod.check(lowered, target="v5p:8", budget={"flops": 1e6})
        self.assertEqual(report.transcendentals, 64 * 16)
        self.assertGreaterEqual(report.flops, DOT_FLOPS)
        self.assertTrue(any(array.op_name == "x" for array in report.largest), report.largest)

    def test_a_function_with_arguments_is_a_program(self):
        def loss(w, x, power):
            return ((x @ w) ** power).sum()

        w, x = jax.ShapeDtypeStruct((32, 16), "float32"), jax.ShapeDtypeStruct((64, 32), "float32")
        for function in (loss, jax.jit(loss, static_argnums=2)):
            report = hlod.check(function, w, x, 2, target="h100")
            self.assertIs(report.fits, True)
            self.assertGreaterEqual(report.flops, DOT_FLOPS)
            self.assertEqual(report.exit_code, 0)
        report = hlod.check(jax.jit(loss, static_argnames="power"), w, x, power=2, budget={"flops": 1}, raises=False)
        self.assertEqual((report.passed, report.exit_code), (False, 4))
        with self.assertRaisesRegex(TypeError, "missing 3 required positional arguments"):
            hlod.check(jax.jit(loss))
        with self.assertRaisesRegex(TypeError, "str takes no arguments"):
            hlod.check(DOT, 3)

    def test_transfers_of_a_call_are_counted(self):
        def step(p, x, n, scale):
            jax.debug.print("{}", x.sum())
            y = jax.pure_callback(lambda row: np.asarray(row) * n, jax.ShapeDtypeStruct((4,), "float32"), x[0])
            total, _ = jax.lax.scan(lambda c, _: (jax.debug.callback(lambda v: None, c) or c + 1, None), 0.0, None, length=3)
            return y + p["w"] * scale + total

        line = step.__code__.co_firstlineno
        call = ({"w": jnp.ones(4)}, np.ones((3, 4), np.float32), 3)
        report = hlod.check(jax.jit(step, static_argnums=2), *call, scale=2.0)
        found = [(t.direction, t.cause.split(" ")[0], t.source.rpartition(":")[2], t.bytes, t.calls) for t in report.transfers]
        up, down = "host_to_device", "device_to_host"
        self.assertEqual(
            sorted(found),
            sorted([
                (up, "argument", "", 48, 1),
                (up, "argument", "", 4, 1),
                (down, "debug_print", str(line + 1), 4, 1),
                (down, "pure_callback", str(line + 2), 16, 1),
                (up, "pure_callback", str(line + 2), 16, 1),
                (down, "debug_callback", str(line + 3), 12, 3),
            ]),
        )
        self.assertIn("argument x is a NumPy array", [t.cause for t in report.transfers])
        with self.assertRaisesRegex(hlod.CheckFailed, "upload_bytes 68 is over 0.05KiB"):
            hlod.check(jax.jit(step, static_argnums=2), *call, scale=2.0, budget={"upload_bytes": "0.05KiB", "flops": 1e6})
        with self.assertRaisesRegex(hlod.Error, r'the limit of upload_calls \("many"\) is not a number'):
            hlod.check(jax.jit(step, static_argnums=2), *call, scale=2.0, budget={"upload_calls": "many"})

    def test_a_file_limits_the_transfers_of_a_call(self):
        step = jax.jit(lambda x: x * jax.pure_callback(lambda v: np.float32(v), jax.ShapeDtypeStruct((), "float32"), x.sum()))
        x = np.ones((3, 4), np.float32)  # 48 bytes, and a callback that takes 4 bytes and gives 4.
        folder = tempfile.TemporaryDirectory(prefix="hlod-")
        self.addCleanup(folder.cleanup)
        budget = pathlib.Path(folder.name, "transfers.toml")
        budget.write_text('# Of a call.\nupload_bytes = "52B"  # x and the answer\nflops = 1_000\ndownload_calls = 1\n')
        self.assertTrue(hlod.check(step, x, budget=budget).passed)
        budget.write_text('upload_bytes = 51\nflops = 1_000\n')
        with self.assertRaisesRegex(hlod.CheckFailed, "upload_bytes 52 is over 51"):
            hlod.check(step, x, budget=budget)
        hlod.check(step, x, budget=budget, update_budget=True)
        self.assertIn("upload_bytes = 52\n", budget.read_text())
        self.assertTrue(hlod.check(step, x, budget=budget).passed)
        budget.write_text("upload_bytes = 52\nflips = 3\n")
        with self.assertRaisesRegex(hlod.Error, "transfers.toml:2.*flips"):
            hlod.check(step, x, budget=budget)

    def test_a_function_that_needs_a_value_has_no_program(self):
        def absolute(x):
            return x if x > 0 else -x

        with self.assertRaisesRegex(jax.errors.TracerBoolConversionError, f"{__file__}:{absolute.__code__.co_firstlineno}"):
            hlod.check(absolute, 1.0)

    def test_annotations_point_at_the_line(self):
        lowered, _ = self.lowered()
        # XLA's CPU compiler does not fuse the product into the sum: it is the temporary at the peak.
        line = next(i for i, text in enumerate(pathlib.Path(__file__).read_text().splitlines(), 1) if "(h * h).sum()" in text)
        github = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(SOURCE)}
        with unittest.mock.patch.dict(os.environ, github), contextlib.redirect_stdout(io.StringIO()) as printed:
            with self.assertRaises(hlod.CheckFailed):
                hlod.check(lowered, budget={"peak_bytes": 1})
        self.assertIn(f"::error file=tests/python/check_test.py,line={line},title=hlod%3A peak_bytes::", printed.getvalue())

    def test_too_many_operations_point_at_what_computes_most(self):
        def f(x, w):
            y = jnp.tile(x, (8, 1))  # The largest array,
            return (y * 2).sum(), x @ w  # but the most operations.

        line = f.__code__.co_firstlineno + 2
        report = hlod.check(jax.jit(f).lower(jnp.ones((64, 512)), jnp.ones((512, 256))))
        self.assertEqual(report.costliest[0].flops, 2 * 64 * 512 * 256)
        self.assertEqual(report.costliest[0].source, f"{__file__}:{line}")

    def test_shardings_divide_the_arguments(self):
        mesh = jax.sharding.AbstractMesh((4,), ("x",))
        rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
        whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
        x, w = jax.ShapeDtypeStruct((1024, 512), "float32"), jax.ShapeDtypeStruct((512, 256), "float32")
        lowered = jax.jit(lambda x, w: x @ w, in_shardings=(rows, whole)).trace(x, w).lower(lowering_platforms=("cpu",))
        report = hlod.check(lowered, target="h100:4")
        self.assertEqual(report.peak_bytes, hlod.Bracket(*[4 * (1024 * 512 / 4 + 512 * 256 + 1024 * 256 / 4)] * 2))
        self.assertEqual((report.fits, report.mesh, report.collectives), (True, {"x": 4}, []))

    def test_run_gives_what_jax_gives(self):
        lowered, params = self.lowered()
        x = jnp.linspace(-1, 1, 64 * 32).reshape(64, 32)
        expected = lowered.compile()(params, x)
        got = hlod.run(lowered, params, x)
        self.assertEqual(set(got), {"loss", "h"})
        np.testing.assert_allclose(got["h"], expected["h"], rtol=1e-5)
        np.testing.assert_allclose(got["loss"], expected["loss"], rtol=1e-5)

    def test_run_carries_types_that_numpy_does_not_have(self):
        x = jnp.asarray([1.5, -2.0, 3.0], jnp.bfloat16)
        got = hlod.run(jax.jit(lambda x: x * 2).lower(x), x)
        self.assertEqual(got.dtype, jnp.bfloat16)
        self.assertEqual(got.tolist(), [3.0, -4.0, 6.0])

    def test_run_takes_keyword_arguments(self):
        x, y = jnp.arange(3.0), jnp.asarray([4.0, 5.0, 6.0])
        lowered = jax.jit(lambda x, *, y: x - y).lower(x, y=y)
        self.assertEqual(hlod.run(lowered, x, kwargs={"y": y}).tolist(), [-4.0, -4.0, -4.0])
        with self.assertRaisesRegex(TypeError, "the function was lowered for arguments"):
            hlod.run(lowered, x)
        with self.assertRaisesRegex(TypeError, "has no arguments with names: y"):
            hlod.run(DOT, kwargs={"y": y})

    def test_each_run_keeps_a_profile_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.profile")
            with unittest.mock.patch.dict(os.environ, {"HLOD_PROFILE": path}):
                for scale in (2, 3):
                    hlod.run(jax.jit(lambda x, scale=scale: x * scale).lower(jnp.ones(4)), np.ones(4, np.float32))
            profiles = sorted(os.listdir(folder))
            self.assertEqual(len(profiles), 2, profiles)
            for profile in profiles:
                report = hlod._hloctl.call("graphs", os.path.join(folder, profile))
                self.assertEqual(report["executes"], 1, profile)

    def test_run_takes_and_returns_keys_of_random_numbers(self):
        for impl in ("threefry2x32", "rbg"):
            keys = jax.random.split(jax.random.key(7, impl=impl), 3)
            split = jax.jit(lambda keys: (jax.vmap(lambda key: jax.random.fold_in(key, 1))(keys), jax.random.bits(keys[0], (4,))))
            expected, got = split(keys), hlod.run(split.lower(keys), keys)
            self.assertEqual(got[0].dtype, keys.dtype)
            self.assertEqual(jax.random.key_data(got[0]).tolist(), jax.random.key_data(expected[0]).tolist())
            self.assertEqual(got[1].tolist(), expected[1].tolist())

    def test_run_refuses_other_arguments(self):
        lowered, params = self.lowered()
        with self.assertRaisesRegex(TypeError, r"float32\[64, 31\]; the function was lowered for float32\[64, 32\]"):
            hlod.run(lowered, params, jnp.ones((64, 31)))
        with self.assertRaisesRegex(TypeError, "the function was lowered for arguments"):
            hlod.run(lowered, params)

    def test_run_of_an_exported_function(self):
        from jax import export

        def f(p, x, unused):
            y = jax.lax.platform_dependent(x @ p["w"], cpu=lambda y: 2 * y, default=lambda y: y)
            return {"y": y, "rows": x.shape[0]}

        (rows,) = export.symbolic_shape("rows")
        specs = ({"w": jax.ShapeDtypeStruct((3, 2), "float32")}, jax.ShapeDtypeStruct((rows, 3), "float32"), jax.ShapeDtypeStruct((4,), "int8"))
        w, x = np.arange(6, dtype=np.float32).reshape(3, 2), np.ones((5, 3), np.float32)
        for platforms in (["tpu", "cpu"], ["cpu"]):
            got = hlod.run(export.export(jax.jit(f), platforms=platforms)(*specs), {"w": w}, x, np.zeros(4, np.int8))
            np.testing.assert_array_equal(got["y"], 2 * x @ w)
            self.assertEqual(got["rows"], 5)
        exported = export.export(jax.jit(f), platforms=["cpu"])(*specs)
        with self.assertRaisesRegex(TypeError, r"argument 1 is float32\[5, 4\]; the function was exported for"):
            hlod.run(exported, {"w": w}, np.ones((5, 4), np.float32), np.zeros(4, np.int8))

    def test_programs_lowered_for_gpus_run(self):
        from jax import export

        def transposed(x):
            return jnp.conj(jnp.swapaxes(x, -1, -2))

        def decompositions(a):
            w, v = jnp.linalg.eigh(a + transposed(a))
            u, s, vt = jnp.linalg.svd(a[:, :2, :], full_matrices=False)  # More columns than rows.
            t, r = jnp.linalg.qr(a)
            d, e = jax.lax.linalg.tridiagonal(a + transposed(a))[1:3]
            return w, (v * w[..., None, :]) @ transposed(v), s, (u * s[..., None, :]) @ vt, t @ r, jnp.abs(d), jnp.abs(e)

        def solutions(a):
            square = a @ transposed(a) + jnp.eye(4, dtype=a.dtype)
            return jnp.linalg.cholesky(square), jnp.linalg.cholesky(-square), jnp.linalg.inv(a), jnp.linalg.slogdet(a), jax.lax.linalg.lu(a)

        def random(a):
            key = jax.random.PRNGKey(7)
            return jax.random.normal(key, a.shape), jax.random.randint(key, (3, 2), 0, 100), jax.random.split(key)

        unlisted = [export.DisabledSafetyCheck.custom_call(f"{vendor}solver_{routine}_ffi") for vendor in ("cu", "hip") for routine in ("sytrd", "gesvdj")]
        numbers = np.random.default_rng(0).standard_normal((3, 4, 4)).astype(np.float32) + 4 * np.eye(4, dtype=np.float32)
        for platforms in (["cuda"], ["rocm"], ["tpu", "cuda"]):
            for f in (decompositions, solutions, random):
                a = numbers + 1j * numbers[::-1] if platforms == ["cuda"] and f != random else numbers
                if "tpu" in platforms and f != random:
                    continue
                with self.subTest(platforms=platforms, f=f.__name__):
                    got = hlod.run(export.export(jax.jit(f), platforms=platforms, disabled_checks=unlisted)(a), a)
                    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(jax.jit(f, backend="cpu")(a))):
                        np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-3)

    def test_a_serialized_export_is_a_program(self):
        path = SOURCE / "tests/unit/client/import/exported/symbolic.exported"
        b, w = np.array([10, 20], np.float32), np.array([[1, 0], [0, 1], [1, 1]], np.float32)
        rows, y = hlod.run(path, b, w, np.array([[1, 2, 3], [0, 1, 0]], np.float32))
        self.assertEqual(rows, 2)
        np.testing.assert_array_equal(y, [[14, 25], [10, 21]])

    def test_run_of_several_members(self):
        mesh = jax.sharding.AbstractMesh((2,), ("i",))
        rows = jax.sharding.PartitionSpec("i")
        f = jax.shard_map(lambda x: (x + jax.lax.axis_index("i"), jax.lax.psum(x, "i")), mesh=mesh, in_specs=rows, out_specs=(rows, jax.sharding.PartitionSpec()))
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        lowered = jax.jit(f).trace(x).lower(lowering_platforms=("cpu",))
        with tempfile.TemporaryDirectory() as folder:
            address = f"unix:{folder}/hlod.sock"
            daemon = subprocess.Popen([os.environ["HLOD_DAEMON"], "--devices", "2", "--listen", address], stderr=subprocess.DEVNULL)
            try:
                while not os.path.exists(f"{folder}/hlod.sock") and daemon.poll() is None:
                    time.sleep(0.01)
                moved, total = hlod.run(lowered, x, address=address)
                ids = "HloModule ids, replica_count=2\nENTRY e {\n  ROOT r = u32[] replica-id()\n}\n"
                self.assertEqual([[int(a) for a in participant] for participant in hlod.run(ids, address=address)], [[0], [1]])
            finally:
                daemon.terminate()
                daemon.wait()
        np.testing.assert_array_equal(moved, [[0, 1, 2], [4, 5, 6]])
        np.testing.assert_array_equal(total, [[3, 5, 7]])

    def test_run_of_text_takes_arrays(self):
        a, b = np.ones((64, 32), np.float32), np.full((32, 16), 2, np.float32)
        (got,) = hlod.run(DOT, a, b)
        np.testing.assert_array_equal(got, np.full((64, 16), 64, np.float32))


if __name__ == "__main__":
    unittest.main()
