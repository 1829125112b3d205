#!/usr/bin/env python3
"""Puts each fault of this folder into a copy of the sources, and measures how long the simulation takes to find it.

    tests/simulation/mutants/run.py                        # All faults, 600 seconds for each.
    tests/simulation/mutants/run.py --seconds 60 ack_lost  # One.
    tests/simulation/mutants/run.py --check                # Only checks that each fault can be put in.

Prints a table. The exit code is the number of faults that were not found.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCES = FOLDER.parents[2]


def copy_sources(to):
    """Copies the sources, with changes and files that are not committed."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=SOURCES, check=True, capture_output=True, text=True).stdout
    for name in names.splitlines():
        if (SOURCES / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCES / name, to / name)


def check(patches):
    """Returns the number of patches that do not apply; 77, which ctest takes for a skipped test, without git."""
    if shutil.which("git") is None:
        print("There is no git.")
        return 77
    return sum(subprocess.run(["git", "apply", "--check", path], cwd=SOURCES).returncode != 0 for path in patches)


def build(scratch):
    """Builds the simulation. Returns the compiler's errors, or an empty text."""
    done = subprocess.run(["cmake", "--build", "build/dev", "-j2", "--target", "simulation"], cwd=scratch,
                          capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout[-2000:]


def play(scratch, seconds):
    """Plays seeds. Returns the words by which a check reports a fault, or None, and the time until then."""
    start = time.monotonic()
    program = subprocess.Popen([scratch / "build/dev/tests/simulate", "--seconds", str(seconds)],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        # A fault may make a step endless.
        output = program.communicate(timeout=seconds + 60)[0]
    except subprocess.TimeoutExpired:
        program.kill()
        program.communicate()
        return "a step never ends", time.monotonic() - start
    passed = time.monotonic() - start
    if program.returncode == 0:
        return None, passed
    found = re.search(r"^seeds? (?:to )?(\d+): (.*)", output, re.M)
    if found:
        return f"{found[2]} (seed {found[1]})", passed
    return f"it crashes ({-program.returncode})", passed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=600, help="the longest time for each fault")
    parser.add_argument("--check", action="store_true", help="builds and runs nothing")
    parser.add_argument("names", nargs="*", help="the faults to put in; all by default")
    arguments = parser.parse_args()
    patches = [path for path in sorted(FOLDER.glob("*.patch"))
               if not arguments.names or path.stem in arguments.names]
    if arguments.check:
        sys.exit(check(patches))
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="hlod-mutants-") as folder:
        scratch = pathlib.Path(folder)
        copy_sources(scratch)
        subprocess.run(["cmake", "--preset", "dev", "--log-level=WARNING"], cwd=scratch, check=True,
                       stdout=subprocess.DEVNULL)
        print("| fault | seconds | found by |\n|---|---|---|", flush=True)
        for path in patches:
            subprocess.run(["git", "apply", path], cwd=scratch, check=True)
            errors = build(scratch)
            if errors:
                sys.exit(f"{path.stem} does not compile:\n{errors}")
            found, passed = play(scratch, arguments.seconds)
            survivors += found is None
            print(f"| {path.stem} | {passed:.1f} | {found or 'nothing: IT SURVIVES'} |", flush=True)
            subprocess.run(["git", "apply", "--reverse", path], cwd=scratch, check=True)
    sys.exit(survivors)


if __name__ == "__main__":
    main()
