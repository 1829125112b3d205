#!/usr/bin/env python3
"""Runs a guide page as a reader would: its program prints its output blocks, its shell blocks succeed.

run.py PAGE --bin FOLDER --examples FOLDER [--program FILE]: FOLDER has hlod, hloctl and the examples.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from extract import blocks


@contextlib.contextmanager
def scratch():
    """Makes a folder and removes it, although private daemons, which end a moment after their programs, may still write to their cache."""
    folder = tempfile.mkdtemp()
    try:
        yield folder
    finally:
        end = time.monotonic() + 10
        while os.path.exists(folder) and time.monotonic() < end:
            shutil.rmtree(folder, ignore_errors=True)
            time.sleep(0.02)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--examples", required=True)
    parser.add_argument("--program")
    parser.add_argument("--needs", help="a module of Python without which the page is not run")
    args = parser.parse_args()
    python = os.environ.get("HLOD_TEST_PYTHON", "python3")
    if args.needs and subprocess.run([python, "-c", f"import {args.needs}"], stderr=subprocess.DEVNULL).returncode != 0:
        print(f"skipped: {python} has no {args.needs}")
        return
    with scratch() as folder:
        env = {**os.environ, "PATH": args.bin + os.pathsep + os.environ["PATH"], "EXAMPLES": args.examples,
               "HLOD_ADDRESS": "private", "HLOD_PYTHON": python, "HLOD_COMPILE_CACHE": os.path.join(folder, "compiled"), "XDG_RUNTIME_DIR": folder}
        if args.program:
            printed = subprocess.run([args.program], cwd=folder, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
            expected = "".join(blocks(args.page, "output"))
            if printed != expected:
                sys.exit(f"{args.page} promises\n{expected}and its program prints\n{printed}")
        shell = blocks(args.page, "sh")
        if not shell:
            return
        # Commands that ask a daemon find this one; a `!` in front is a command that must fail.
        env["HLOD_ADDRESS"] = f"unix:{folder}/hlod.sock"
        daemon = subprocess.Popen([os.path.join(args.bin, "hlod"), "--devices", "4", "--listen", env["HLOD_ADDRESS"]], env=env,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not os.path.exists(f"{folder}/hlod.sock"):
                if daemon.poll() is not None:
                    sys.exit(f"the daemon ended with {daemon.returncode} before it listened")
                time.sleep(0.02)
            for command in "".join(shell).splitlines():
                negated = command.startswith("! ")
                result = subprocess.run(["bash", "-c", command.removeprefix("! ")], cwd=folder, env=env,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if (result.returncode == 0) == negated:
                    sys.exit(f"{args.page}: `{command}` ended with {result.returncode}\n{result.stdout}")
        finally:
            daemon.terminate()
            daemon.wait()


if __name__ == "__main__":
    main()
