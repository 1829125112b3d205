#!/usr/bin/env python3
"""Writes README.md: what XLA computed and how much of it hlod computes the same.

    readme.py BUILD          runs the conformance tests of a build tree (build/dev), writes the tables
    readme.py BUILD --check  says whether README.md would change

The counts are those of the run: a test that fails makes no table.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BINARIES = ["conformance_test", "engine_conformance_test"]

# Suite of tests: corpus, and what its tests hold against XLA's results.
SUITES = {
    "Jax/EvaluatorConformance": ("[jax](jax/README.md)", "the evaluator"),
    "Jax/EngineConformance.PlanComputesXlasResults": ("[jax](jax/README.md)", "the engine"),
    "Jax/EngineConformance.ReferencePlanComputesXlasResults": ("[jax](jax/README.md)", "the engine's plan with the evaluator for each step"),
    "Jax/EngineConformance.TheOptimisedModuleIsKeptWhole": ("[jax](jax/README.md)", "the plan of an optimised module that was written and read again"),
    "Jax/WrittenAsStablehlo": ("[jax](jax/README.md)", "the module written as StableHLO and read again"),
    "Xla/SweepForms.TextAndProtoKeepTheModule": ("[sweep](sweep/README.md)", "modules written as text and as a proto, and read again: the same module"),
    "Xla/SweepForms.StablehloGivesTheSameResults": ("[sweep](sweep/README.md)", "modules written as StableHLO and read again: the same results"),
    "Stablehlo/StablehloConformance": ("[stablehlo](stablehlo/README.md)", "StableHLO text (pretty, generic, located) and artifacts"),
}


def run(build: pathlib.Path) -> list[dict]:
    """Every test of the binaries, with its suite's name."""
    tests = []
    for name in BINARIES:
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            binary = build / "tests" / name
            subprocess.run([binary, f"--gtest_output=json:{file.name}"], stdout=subprocess.DEVNULL, check=True)
            for suite in json.load(open(file.name))["testsuites"]:
                tests += [test | {"suite": suite["name"]} for test in suite["testsuite"]]
    return tests


def cases(tests: list[dict]) -> str:
    lines = ["| corpus | compared with XLA's results | cases | as XLA | refused by name | skipped |", "|---|---|---:|---:|---:|---:|"]
    for key, (corpus, what) in SUITES.items():
        suite, _, test_name = key.partition(".")
        mine = [t for t in tests if t["suite"] == suite and t["name"].split("/")[0].startswith(test_name)]
        count = sum(int(t.get("modules", 1)) for t in mine)
        skipped = sum(t.get("result") == "SKIPPED" for t in mine)
        refused = sum("without_form" in t for t in mine)
        lines.append(f"| {corpus} | {what} | {count} | {count - skipped - refused} | {refused} | {skipped} |")
    return "\n".join(lines)


def sweep(tests: list[dict]) -> tuple[str, str]:
    """The tables of the families and of the known differences."""
    lines = ["| family | results | as XLA | known differences | refused by XLA |", "|---|---:|---:|---:|---:|"]
    known = ["| modules and results | how many | why |", "|---|---:|---|"]
    totals = [0, 0, 0, 0]
    for test in sorted((t for t in tests if t["suite"] == "Xla/Sweep"), key=lambda t: t["value_param"]):
        family = test["name"].split("/")[-1]
        results, differ = int(test["results"]), 0
        for key, value in test.items():
            if key.startswith("known_"):
                count, pattern, why = value.split("|", 2)
                known.append(f"| {family}: `{pattern}` | {count} | {why} |")
                differ += int(count)
        data = (HERE / "sweep/data" / f"{family}.sweep").read_bytes()
        refused = data.count(b"\nrefused ") + data.startswith(b"refused ")
        row = [results, results - differ, differ, refused]
        totals = [a + b for a, b in zip(totals, row)]
        lines.append(f"| {family} | " + " | ".join(map(str, row)) + " |")
    lines.append("| **all** | " + " | ".join(f"**{n}**" for n in totals) + " |")
    return "\n".join(lines), "\n".join(known)


def text(tests: list[dict]) -> str:
    families, known = sweep(tests)
    return f"""# Conformance: what XLA computed, and whether hlod computes the same

Expected values are XLA's on the CPU (jaxlib, see [jax/requirements.txt](jax/requirements.txt)), NumPy's where XLA does not run a
case; none is hlod's own. `ctest -R conformance` compares. Written by a command, from a run of the tests:

    python3 tests/conformance/readme.py build/dev

## Programs

{cases(tests)}

## Sweeps

Results of many small programs ([sweep](sweep/README.md)): each through the engine and the evaluator. `jax_*`: functions of jax.lax,
jax.numpy.linalg and jax.numpy.fft as JAX lowers them, over dtypes and awkward shapes; the others: opcodes over types.

{families}

## Known differences

A row of this table that agrees with XLA fails the test: it would be out of date.

{known}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    new, readme = text(run(options.build)), HERE / "README.md"
    if options.check:
        sys.exit("" if readme.read_text() == new else "README.md is out of date")
    readme.write_text(new)


if __name__ == "__main__":
    main()
