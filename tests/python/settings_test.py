"""Settings that say nothing, as typed: each gets a sentence with the thing, the value and the limit."""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest
import unittest.mock

import hlod
from hlod.partitioning import cache

ADD = "HloModule add\nENTRY main {\n p = f32[2] parameter(0)\n q = f32[2] parameter(1)\n ROOT s = f32[2] add(p, q)\n}\n"
WHOLE = '"{}" is not a whole number from {} to {}'


def run(*words, **variables):
    """Returns the exit code of hloctl and what it printed."""
    environment = {**os.environ, **variables}
    done = subprocess.run([environment["HLOD_HLOCTL"], *words], env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


@contextlib.contextmanager
def daemon(folder):
    """Yields a running daemon's process and its address."""
    address = f"unix:{folder}/hlod.sock"
    with subprocess.Popen([os.environ["HLOD_DAEMON"], "--listen", address, "--log-level", "off"], stdout=subprocess.PIPE, text=True) as process:
        try:
            process.stdout.readline()
            yield process, address
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()


class Settings(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.add, self.garbage = self.file("add.hlo", ADD), self.file("garbage.pem", "no certificate\n")

    def file(self, name, text):
        path = pathlib.Path(self.folder) / name
        path.write_text(text)
        return str(path)

    def check(self, code, says, *words, **variables):
        with self.subTest(" ".join([*words, *variables])):
            got, text = run(*words, **variables)
            self.assertIn(says, text)
            self.assertEqual(got, code, text)

    def test_flags(self):
        int32, uint64 = 2**31 - 1, 2**64 - 1
        self.check(2, "--random: " + WHOLE.format(-1, 0, uint64), "run", self.add, "--random", "-1")
        self.check(2, "--repeat: " + WHOLE.format("x", 1, int32), "run", self.add, "--repeat", "x")
        self.check(2, "--placeholder: " + WHOLE.format("x", 0, int32), "run", self.add, "--placeholder", "x")
        self.check(2, '--deadline: "-1" is not a number of seconds from 0 on', "run", self.add, "--deadline", "-1")
        self.check(2, "--limit: " + WHOLE.format(3_000_000_000, 1, int32), "transfers", "--limit", "3000000000")
        self.check(2, "--session: " + WHOLE.format(0, 1, uint64), "transfers", "--session", "0")
        self.check(2, "--frames: " + WHOLE.format("", 0, int32), "top", "--frames", "")
        self.check(2, "--data: 0 not in {zeros,random,placeholder}", "replay", "x", "--data", "0")
        self.check(2, "--target: the value is empty", "check", "--target", "", self.add)
        self.check(2, '--target v99: chip "v99" is not known; the nearest are', "check", "--target", "v99", self.add)
        self.check(2, "--limit excludes PROFILE", "graphs", self.add, "--limit", "5")
        self.check(2, "--chips only defines chips: --target must name one.", "report", "x", "--chips", "y")

    def test_an_hlo_module_has_one_entry(self):
        says = "The entry foo cannot be chosen: an HLO module has one entry, here main"
        self.check(1, says, "check-module", self.add, "--entry", "foo")
        self.assertEqual(run("convert", self.add, self.folder + "/add.pb")[0], 0)
        self.check(1, says, "run", self.folder + "/add.pb", "--entry", "foo")

    def test_files_without_pem(self):
        self.check(2, "garbage.pem: no PEM certificate was found in it.", "--tls-ca", self.garbage, "check-module", self.add)
        self.check(2, "--tls-cert and --tls-key belong together", "--tls-key", self.garbage, "ping")

    def test_a_session_that_does_not_exist(self):
        with daemon(self.folder) as (_, address):
            for words in (["buffers"], ["transfers"], ["transfers", "--by", "line"], ["compiles"], ["graphs"]):
                self.check(1, "There is no session 99", "--address", address, *words, "--session", "99")

    def test_a_daemon_that_is_stopped(self):
        with daemon(self.folder) as (process, address):
            self.assertEqual(run("--address", address, "stats")[0], 0)
            process.send_signal(signal.SIGSTOP)
            says = "The daemon took the connection and did not answer within 10s (ConnectOptions::timeout)"
            self.check(1, says, "--address", address, "stats")
            self.check(1, says, "--address", address, "ping")

    def test_variables(self):
        for variable in ("HLOD_WARNINGS", "HLOD_PARTITION", "HLOD_HOST_DAEMON"):
            for command in ("ping", "stats"):
                self.check(1, f'${variable} is "zzz"; it is 0 (off) or 1 (on).', command, **{variable: "zzz"})
        with unittest.mock.patch.dict(os.environ, HLOD_UPDATE_BUDGET="yes"):
            with self.assertRaisesRegex(ValueError, r'\$HLOD_UPDATE_BUDGET is "yes"; it is 0 \(off\) or 1 \(on\)'):
                hlod.check(self.add)
        with unittest.mock.patch.dict(os.environ, HLOD_PARTITION_CACHE_BYTES="-1"):
            self.assertEqual(cache.wrong_limit(), '$HLOD_PARTITION_CACHE_BYTES is "-1"; it is a number of bytes from 0 on.')
        self.assertEqual(cache.wrong_limit(), "")

    def test_the_daemons_flags(self):
        for words, says in (
            (["--devices", "eight"], '"eight" is not a whole number within 1 and 1024'),
            (["--devices", "99999999999999999999"], '"99999999999999999999" is not a whole number within 1 and 1024'),
            (["--ring", ""], "--ring: the value is empty"),
        ):
            done = subprocess.run([os.environ["HLOD_DAEMON"], *words], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, says in done.stderr), (2, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
