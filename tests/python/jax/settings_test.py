"""A setting that is wrong is named, with its value and the reason, in the one error that JAX raises for the platform."""

import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = "import jax; print(float(jax.numpy.ones(3).sum()))"


def run(program=PROGRAM, **settings):
    """Runs a program in a process with other settings, and returns its output and the last error."""
    environment = {name: value for name, value in {**os.environ, **settings}.items() if value is not None}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120)
    errors = [line for line in done.stderr.splitlines() if line.startswith("RuntimeError: ")]
    return done.stdout.strip(), errors[-1] if errors else done.stderr


class Settings(unittest.TestCase):

    def test_right_ones(self):
        self.assertEqual(run()[0], "3.0")
        self.assertEqual(run("import jax; print(len(jax.devices()))", HLOD_DEVICES="3")[0], "3")

    def test_a_private_daemon_is_announced_once(self):
        program = "import jax, jax.extend; jax.numpy.ones(3).sum(); jax.extend.backend.clear_backends(); jax.numpy.ones(3).sum()"
        line = "hlod: this process has started a private daemon with 2 devices, which ends with it; $HLOD_ADDRESS names a running one."
        self.assertEqual(run(program, HLOD_DEVICES="2")[1].splitlines().count(line), 1)
        self.assertNotIn("private daemon", run(program, HLOD_WARNINGS="0")[1])

    def test_the_plugin(self):
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(b"not a library, but a text that is long enough for the header of one")
            file.flush()
            cases = {
                "/nowhere/lib.so": r"\$HLOD_PJRT_LIBRARY \(/nowhere/lib.so\) cannot be loaded: cannot open shared object file",
                "/": r"\$HLOD_PJRT_LIBRARY \(/\) cannot be loaded: cannot read file data: Is a directory",
                file.name: rf"\$HLOD_PJRT_LIBRARY \({file.name}\) cannot be loaded: invalid ELF header",
                "libc.so.6": r"\$HLOD_PJRT_LIBRARY \(libc.so.6\) is not hlod's plugin, or of another version: it lacks the function hlod_set_line",
            }
            for value, reason in cases.items():
                with self.subTest(value):
                    self.assertRegex(run(HLOD_PJRT_LIBRARY=value)[1], f"^RuntimeError: Unable to initialize backend 'hlod': {reason}")

    def test_the_daemon(self):
        cases = [
            ("HLOD_ADDRESS", "nonsense", r"Address \(nonsense\) is none of unix:PATH, .*HOST:PORT"),
            ("HLOD_ADDRESS", "unix:/nowhere.sock", "No daemon answers at unix:/nowhere.sock: No such file or directory"),
            ("HLOD_DAEMON", "/nowhere/hlod", r"HLOD_DAEMON \(/nowhere/hlod\) is not a program that can be run"),
            ("HLOD_DEVICES", "eight", r'HLOD_DEVICES \("eight"\) is not a number of devices, such as 8'),
            ("HLOD_WARNINGS", "zzz", r'\$HLOD_WARNINGS is "zzz"; it is 0 \(off\) or 1 \(on\)'),
            ("HLOD_PARTITION", "-1", r'\$HLOD_PARTITION is "-1"; it is 0 \(off\) or 1 \(on\)'),
            ("HLOD_JAX", "maybe", r'\$HLOD_JAX is "maybe"; it is 0 \(off\) or 1 \(on\)'),
            ("HLOD_PROFILE", "/nowhere/profile", r"\$HLOD_PROFILE: The profile /nowhere/profile cannot be written"),
        ]
        for name, value, reason in cases:
            with self.subTest(f"{name}={value}"):
                self.assertRegex(run(**{name: value})[1], f"^RuntimeError: Unable to initialize backend 'hlod': (INVALID_ARGUMENT: |UNAVAILABLE: )?{reason}")

    def test_devices_do_not_apply_to_a_running_daemon(self):
        program = "import jax, jax.extend; jax.numpy.ones(3).sum(); jax.extend.backend.clear_backends(); print(len(jax.devices()))"
        with tempfile.TemporaryDirectory() as folder:
            address = f"unix:{folder}/hlod.sock"
            with subprocess.Popen([os.environ["HLOD_DAEMON"], "--listen", address, "--devices", "2"], stdout=subprocess.PIPE, text=True) as daemon:
                try:
                    self.assertIn("listening", daemon.stdout.readline())
                    line = f"hlod: $HLOD_DEVICES (8) is ignored: it is for a private daemon, and the running one at {address} has 2 devices (hlod --devices)."
                    output, errors = run(program, HLOD_ADDRESS=address, HLOD_DEVICES="8")
                    self.assertEqual((output, errors.splitlines().count(line)), ("2", 1), errors)
                    self.assertNotIn("is ignored", run(program, HLOD_ADDRESS=address, HLOD_DEVICES="2")[1])
                finally:
                    daemon.terminate()

    def test_a_switch_that_is_off(self):
        self.assertEqual(run("import jax; print(jax.default_backend())", JAX_PLATFORMS="", HLOD_JAX="0")[0], "cpu")

    def test_a_jax_that_is_too_old(self):
        program = "import hlod.jax; hlod.jax.OLDEST = (99, 0, 0); import jax; jax.devices()"
        self.assertRegex(run(program)[1], r"'hlod': hlod runs programs of JAX 99.0.0 and later, and this is JAX [0-9.]+: install a newer one")

    def test_another_platform_goes_on_without_the_plugin(self):
        self.assertEqual(run(HLOD_PJRT_LIBRARY="/nowhere/lib.so", JAX_PLATFORMS="cpu")[0], "3.0")


if __name__ == "__main__":
    unittest.main()
