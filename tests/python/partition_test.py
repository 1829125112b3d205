"""hlod.partition as a user's program would use it. Expected shapes and collectives by hand arithmetic."""

import contextlib
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
import unittest.mock

import hlod
from hlod.partitioning import cache, client

try:
    import jaxlib
    from jaxlib import xla_client
except ImportError:
    jaxlib = None

# A matrix product whose contracting dimension of 256 is divided over "model", and whose rows over "data".
SHARDY = """
module @dot attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]>
  func.func public @main(
      %arg0: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>, jax.buffer_donor = true},
      %arg1: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<512x256xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x256xf32>) -> tensor<512x256xf32> loc("dot"("model.py":17:3))
    return %0 : tensor<512x256xf32>
  }
}
"""
GSPMD = SHARDY.replace('  sdy.mesh @mesh = <["data"=4, "model"=2]>\n', "").replace(
    'sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>', 'mhlo.sharding = "{devices=[4,2]<=[8]}"'
).replace('sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>', 'mhlo.sharding = "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"')
ROWS = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"


def text_of(module: bytes) -> str:
    return xla_client.XlaComputation(module).as_hlo_text()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        patch = unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache"))
        patch.start()
        self.addCleanup(patch.stop)
        client.shared().stop()  # A worker of another test has another cache.
        self.addCleanup(client.shared().stop)

    def refusal(self, *arguments, **options) -> str:
        with self.assertRaises(hlod.PartitionError) as caught:
            hlod.partition(*arguments, **options)
        return str(caught.exception)

    def jaxlib_that(self, code: str) -> None:
        """Makes workers that start from now on run `code` when they begin to compile."""
        place = self.folder / "site"
        place.mkdir()
        text = f"import os, time\nfrom jaxlib import xla_client\ndef broken():\n{textwrap.indent(code, '    ')}\nxla_client.make_cpu_client = broken\n"
        (place / "sitecustomize.py").write_text(text)
        patch = unittest.mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")]))
        patch.start()
        self.addCleanup(patch.stop)


@unittest.skipUnless(jaxlib, "no jaxlib")
class Partition(Case):
    def test_a_device_gets_its_part_and_adds_up_the_others(self):
        for program, mesh in ((SHARDY, {"data": 4, "model": 2}), (GSPMD, {"": 8})):
            part = hlod.partition(program)
            self.assertEqual((part.devices, part.mesh, part.annotated), (8, mesh, True))
            self.assertEqual(part.parameter_shardings, ["{devices=[4,2]<=[8]}", "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"])
            self.assertEqual(part.result_shardings, [ROWS])
            text = text_of(part.module)
            self.assertIn("(f32[128,128]{1,0}, f32[128,256]{1,0})->f32[128,256]{1,0}", text)
            self.assertEqual(len(re.findall(r"f32\[128,256\]\S* all-reduce\(", text)), 1)
            self.assertIn("model.py", text_of(part.module) + part.module.decode("latin-1"))

    def test_programs_of_every_form_are_read(self):
        whole = hlod.partition(SHARDY)
        path = self.folder / "dot.mlir"
        path.write_text(SHARDY)
        module = xla_mlir().mlir_module_to_xla_computation(SHARDY, use_tuple_args=False, return_tuple=False)
        proto = module.as_serialized_hlo_module_proto()
        dump = b"\x0a" + varint(len(proto)) + proto
        for program in (SHARDY.encode(), path, proto, dump, module.as_hlo_text()):
            part = hlod.partition(program)
            self.assertEqual(part.result_shardings, whole.result_shardings)
            self.assertEqual(part.parameter_shardings, whole.parameter_shardings)

    def test_a_donated_argument_stays_donated(self):
        module = xla_mlir().mlir_module_to_xla_computation(SHARDY, use_tuple_args=False, return_tuple=False)
        for program in (SHARDY, module.as_serialized_hlo_module_proto()):
            self.assertIn("buffer_donor={ (0, {}) }", text_of(hlod.partition(program).module))

    def test_the_partitioner_is_the_one_whose_shardings_the_program_has(self):
        self.assertEqual(hlod.partition(GSPMD, partitioner="gspmd").partitioner, "gspmd")
        self.assertEqual(hlod.partition(SHARDY, partitioner="shardy").partitioner, "shardy")
        self.assertIn("GSPMD does not read them", self.refusal(SHARDY, partitioner="gspmd"))
        self.assertIn("Shardy does not read them", self.refusal(GSPMD, partitioner="shardy"))

    def test_a_mesh_may_have_other_sizes_and_more_devices_than_a_machine_holds(self):
        module = xla_mlir().mlir_module_to_xla_computation(SHARDY, use_tuple_args=False, return_tuple=False)
        for program in (SHARDY, module.as_serialized_hlo_module_proto()):  # HLO also lists devices.
            part = hlod.partition(program, mesh="data=512,model=8")
            self.assertEqual((part.devices, part.mesh), (4096, {"data": 512, "model": 8}))
            self.assertIn("(f32[1,32]{1,0}, f32[32,256]{1,0})->f32[1,256]{1,0}", text_of(part.module))

    def test_a_wrong_mesh_is_a_sentence(self):
        self.assertEqual(
            self.refusal(SHARDY, mesh={"batch": 4, "model": 2}), "The mesh batch=4,model=2 is not the program's: data=4,model=2 has no axis 'batch'."
        )
        self.assertEqual(
            self.refusal(GSPMD, mesh="data=4,model=4"), "The program's shardings divide arrays among 8 devices; the mesh data=4,model=4 has 16."
        )
        contradiction = GSPMD.replace("{devices=[4,2]<=[8]}", "{devices=[4,4]<=[16]}")
        self.assertIn("contradict one another: they divide arrays among 8 and among 16 devices", self.refusal(contradiction))
        self.assertIn("is divided over 8 devices (data=4,model=2); 16 are asked for", self.refusal(SHARDY, devices=16))
        for mesh in ("data", {"data": 0}, "data=4,data=2", 7):
            with self.assertRaises(ValueError):
                hlod.partition(SHARDY, mesh=mesh)

    def test_what_is_no_program_is_a_sentence_and_the_next_is_partitioned(self):
        for program in (b"\x00\x01\x02", "module {\n  oops\n}\n", b"ML\xefR" + b"\xff" * 40, "HloModule x\nENTRY"):
            self.assertIn("jaxlib cannot read the program", self.refusal(program))
        self.assertIn("has no shardings, and neither a mesh", self.refusal("module {\n  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n return %a : tensor<4xf32>\n}\n}"))
        self.assertEqual(hlod.partition(SHARDY).devices, 8)

    def test_a_program_without_shardings_is_the_same_on_every_device(self):
        plain = re.sub(r'\{?sdy\.sharding = #sdy\.sharding<@mesh, \[.*?\]>(, jax.buffer_donor = true)?\}?', "", SHARDY).replace('  sdy.mesh @mesh = <["data"=4, "model"=2]>\n', "")
        part = hlod.partition(plain, mesh={"data": 8})
        self.assertEqual((part.annotated, part.devices), (False, 8))
        self.assertIn("->f32[512,256]", text_of(part.module))


@unittest.skipUnless(jaxlib, "no jaxlib")
class Cache(Case):
    def test_a_program_is_partitioned_once(self):
        self.assertEqual([hlod.partition(SHARDY).cached for _ in range(2)], [False, True])
        self.assertEqual(hlod.partition(SHARDY, mesh="data=8,model=2").cached, False)
        client.shared().stop()
        again = hlod.partition(SHARDY)
        self.assertTrue(again.cached)
        self.assertEqual(again.result_shardings, [ROWS])

    def test_its_folders_are_the_users_alone(self):
        hlod.partition(SHARDY)
        for path in (cache.folder(), os.path.dirname(cache.folder())):
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o700)

    def test_a_damaged_file_is_made_again(self):
        first = hlod.partition(SHARDY)
        [path] = pathlib.Path(cache.folder()).iterdir()
        for content in (b"", path.read_bytes()[:-1], path.read_bytes()[:40] + b"\x00" + path.read_bytes()[41:]):
            path.write_bytes(content)
            again = hlod.partition(SHARDY)
            self.assertFalse(again.cached)
            self.assertEqual(text_of(again.module), text_of(first.module))

    def test_it_stays_within_its_limit_by_dropping_the_oldest(self):
        with unittest.mock.patch.dict(os.environ, HLOD_PARTITION_CACHE_BYTES="40000"):
            for number in range(8):
                cache.store(f"{number:064x}", {}, os.urandom(9000))
                os.utime(os.path.join(cache.folder(), f"{number:064x}"), (number, number))
        names = sorted(int(path.name, 16) for path in pathlib.Path(cache.folder()).iterdir())
        self.assertEqual(names, [4, 5, 6, 7])


@unittest.skipUnless(jaxlib, "no jaxlib")
class Failures(Case):
    def test_a_crash_of_jaxlib_is_a_sentence(self):
        self.jaxlib_that("os.write(2, b'F0000 a.cc:1] Check failed: tiles == 8\\n')\nos.abort()")
        self.assertEqual(
            self.refusal(SHARDY), "jaxlib crashed (SIGABRT) while it partitioned the program: Check failed: tiles == 8"
        )

    def test_a_program_that_takes_too_long_is_given_up(self):
        self.jaxlib_that("if os.path.exists(os.environ['SLOW']):\n    time.sleep(1000)\nreturn xla_client._xla.get_tfrt_cpu_client(asynchronous=True)")
        slow = self.folder / "slow"
        slow.touch()
        with unittest.mock.patch.dict(os.environ, SLOW=str(slow)):
            self.assertEqual(self.refusal(SHARDY, seconds=0.2), "The program was not partitioned within 0.2 s.")
            slow.unlink()
            self.assertEqual(hlod.partition(SHARDY).devices, 8)

    def test_a_worker_that_was_killed_is_started_again(self):
        hlod.partition(SHARDY)
        process = client.shared()._process
        process.kill()
        process.wait()
        self.assertTrue(hlod.partition(SHARDY).cached)

    def test_nothing_outlives_a_caller_that_is_killed(self):
        self.jaxlib_that("open(os.environ['STARTED'], 'w').write(f'{os.getppid()} {os.getpid()}')\nos.rename(os.environ['STARTED'], os.environ['STARTED'] + '.done')\ntime.sleep(1000)")
        started = self.folder / "started"
        program = self.folder / "dot.mlir"
        program.write_text(SHARDY)
        caller = subprocess.Popen(
            [sys.executable, "-c", f"import hlod; hlod.partition({str(program)!r})"], env=dict(os.environ, STARTED=str(started))
        )
        done = self.folder / "started.done"
        while not done.exists():
            self.assertIsNone(caller.poll())
            select.select([], [], [], 0.01)
        processes = [os.pidfd_open(int(pid)) for pid in done.read_text().split()]
        caller.send_signal(signal.SIGKILL)
        caller.wait()
        for process in processes:
            self.assertTrue(select.select([process], [], [], 60)[0])
            os.close(process)


class Jaxlib(Case):
    def worker_with(self, files: dict) -> str:
        """Returns the error of a worker whose jaxlib is these files."""
        place = self.folder / "stub" / "jaxlib"
        place.mkdir(parents=True)
        for name, content in files.items():
            (place / name).write_text(content)
        with unittest.mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join([str(place.parent), os.environ.get("PYTHONPATH", "")])):
            worker = client.Worker()
            with contextlib.closing(type("W", (), {"close": staticmethod(worker.stop)})), self.assertRaises(hlod.PartitionError) as caught:
                worker.request({}, b"")
            return str(caught.exception)

    def test_a_missing_jaxlib_says_what_to_install(self):
        self.assertIn("-m pip install 'jaxlib>=0.6'`.", self.worker_with({"__init__.py": "raise ModuleNotFoundError(\"No module named 'jaxlib'\")"}))

    def test_an_old_jaxlib_says_so(self):
        self.assertIn("Partitioning needs jaxlib 0.6 or later", self.worker_with({"__init__.py": "", "version.py": "__version__ = '0.4.30'", "xla_client.py": ""}))

    def test_a_broken_jaxlib_says_so(self):
        self.assertIn("jaxlib cannot be loaded by", self.worker_with({"__init__.py": "", "version.py": "__version__ = '0.6.0'", "xla_client.py": "raise RuntimeError('wrong libc')"}))


def xla_mlir():
    from hlod.partitioning import program

    return program._mlir()


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


if __name__ == "__main__":
    unittest.main()
