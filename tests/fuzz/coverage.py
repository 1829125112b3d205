#!/usr/bin/env python3
"""Runs fuzz targets of a build with the preset `fuzz`, and prints how much of its room each one reached.

    tests/fuzz/coverage.py --seconds 300                 # every target for five minutes
    tests/fuzz/coverage.py --seconds 0 text codec        # these two, with the corpus as it is
    tests/fuzz/coverage.py --seconds 0 --missed text     # the functions of its room that text does not reach

The row of a target tells the functions of its room that were called, the edges between their blocks that
were taken (libFuzzer counts an edge once), and the edges of the whole program after the seeds and after
quarters of the time: when the last figures differ little, the target has reached its plateau.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

# The folders whose code a target is meant to reach.
ROOMS = {
    "codec": ["common/hlo/proto"],
    "text": ["common/hlo/text"],
    "stablehlo_bytecode": ["client/import/bytecode"],
    "stablehlo_exported": ["client/import/exported"],
    "stablehlo_text": ["client/import/text"],
    "engine": ["server/engine"],
    "assemble": ["server/engine/assemble"],
    "files": ["client/analysis/preflight", "client/analysis/torch_xla", "server/config.cc"],
    "check": ["client/analysis/check", "client/analysis/mesh", "client/analysis/module", "client/import/convert",
              "client/import/write", "client/import/from_hlo.cc"],
    "session": ["server/session", "server/device"],
    "tensors": ["client/data", "client/nn/safetensors.cc", "client/nn/npz.cc", "client/nn/zip", "client/nn/npy"],
}
QUARTERS = 4
FUNCTION = re.compile(r"(UN)?COVERED_FUNC: hits: \d+ edges: (\d+)/(\d+) (.*) (\S+):(\d+)$")
PROGRESS = re.compile(r"^#(\d+)\s+(\w+)\s+cov: (\d+)")


def environment():
    found = dict(os.environ)
    symbolizer = next((path for path in map(shutil.which, ("llvm-symbolizer-19", "llvm-symbolizer")) if path), None)
    if symbolizer:
        found["ASAN_SYMBOLIZER_PATH"] = symbolizer
    found.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
    return found


def fuzz(program, corpus, seconds):
    """Fuzzes, and returns the executions and the edges after the seeds and after each quarter of the time."""
    command = [program, f"-max_total_time={seconds}", "-rss_limit_mb=0", "-timeout=60",
               f"-artifact_prefix={corpus.parent}/{corpus.name}-", corpus]
    run = subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                           errors="replace")
    begin = None
    executions = edges = 0
    stops = []
    tail = []
    for line in run.stderr:
        tail = tail[-40:] + [line]
        progress = PROGRESS.match(line)
        if not progress:
            continue
        now = time.monotonic()
        if progress[2] == "INITED":
            begin = now
            stops.append(int(progress[3]))
        while begin is not None and len(stops) <= QUARTERS and now - begin > seconds * len(stops) / QUARTERS:
            stops.append(edges)
        executions, edges = int(progress[1]), int(progress[3])
    if run.wait() != 0:
        sys.exit(f"{program} failed:\n{''.join(tail)}")
    return executions, (stops + [edges] * QUARTERS)[:QUARTERS] + [edges]


def reached(program, corpus, folders):
    """Runs the corpus. Returns [functions called, functions, edges taken, edges] of the folders, and a line per
    function that was not called."""
    run = subprocess.run([program, "-runs=0", "-print_coverage=1", "-rss_limit_mb=0", corpus], env=environment(),
                         capture_output=True, text=True, errors="replace")
    if run.returncode != 0:
        sys.exit(f"{program} failed:\n{run.stderr[-4000:]}")
    sums, missed = [0, 0, 0, 0], []
    for line in run.stderr.splitlines():
        function = FUNCTION.match(line)
        if not function or not any(f"/{folder}" in function[5] for folder in folders):
            continue
        called = function[1] is None
        sums = [a + b for a, b in zip(sums, (called, 1, int(function[2]), int(function[3])))]
        if not called:
            missed.append(f"  {function[3]:>5} edges  {function[4]}  {function[5]}:{function[6]}")
    if sums[1] == 0:
        sys.exit(f"{program} has no functions of {folders} with debug information.")
    return sums, missed


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(ROOMS)}; none: all")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/fuzz", help="the build folder (%(default)s)")
    parser.add_argument("--seconds", type=int, default=300, help="how long each target runs (%(default)s)")
    parser.add_argument("--missed", action="store_true", help="list the functions that were not called")
    options = parser.parse_args()
    if unknown := set(options.targets) - set(ROOMS):
        parser.error(f"unknown targets: {', '.join(sorted(unknown))}")
    print("| target | room | functions called | edges taken | executions | edges of the program: seeds, quarters of "
          f"{options.seconds} s |\n|---|---|---|---|---|---|")
    for target in options.targets or ROOMS:
        program = options.build / "tests" / f"{target}_fuzz"
        corpus = options.build / "corpus" / target
        if not program.exists():
            sys.exit(f"{program} does not exist: cmake --preset fuzz && cmake --build --preset fuzz")
        executions, stops = fuzz(program, corpus, options.seconds) if options.seconds else (0, [])
        (called, functions, taken, edges), missed = reached(program, corpus, ROOMS[target])
        print(f"| `{target}` | {', '.join(f'`{room}`' for room in ROOMS[target])} | {called} of {functions} "
              f"({100 * called // functions} %) | {taken} of {edges} ({100 * taken // edges} %) | {executions:,} | "
              f"{', '.join(f'{stop:,}' for stop in stops)} |", flush=True)
        if options.missed:
            print("\n".join(missed))


if __name__ == "__main__":
    main()
