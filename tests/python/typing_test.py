"""A type checker accepts a program that uses the public names, with the types of their results, and refuses wrong arguments."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

import hlod

HERE = pathlib.Path(__file__).parent


class Typing(unittest.TestCase):

    @unittest.skipIf(importlib.util.find_spec("mypy") is None, "this Python has no mypy")
    def test_the_public_names_have_their_types(self):
        checker = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--ignore-missing-imports", f"--cache-dir={os.devnull}"]
        environment = {**os.environ, "MYPYPATH": str(pathlib.Path(hlod.__file__).parent.parent)}
        done = subprocess.run([*checker, HERE / "typing" / "uses.py"], env=environment, capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
