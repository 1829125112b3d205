"""Programs over meshes: partitioned by jaxlib, run by a daemon of eight devices, and checked against XLA's results and memory."""

import gzip
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

try:
    import jaxlib.version
    import numpy as np
except ImportError:
    jaxlib = None

import hlod
import pack
from hlod import _hloctl

# Sums of another order, as everywhere in the conformance tests; bf16 rounds each product to 8 bits.
TOLERANCE, TOLERANCE_BF16 = 2e-5, 2e-2
JAXLIB = "0.10.2"  # The version whose partitions memory.md compares.


def judge(folder: pathlib.Path, name: str, address: str):
    """Returns what is wrong with a case, the memory of its large one, ours and XLA's, and the error bar that reports state."""
    case = json.loads((folder / "case.json").read_text())
    values = [np.load(folder / f"argument{i}.npy") for i in range(len(list(folder.glob("argument*.npy"))))]
    wanted = [np.load(folder / f"result{i}.npy") for i in range(len(case["result_shardings"]))]
    mesh = ",".join(f"{axis}={size}" for axis, size in case["mesh"].items())
    part = hlod.partition((folder / "module.mlir").read_bytes())
    wrong = []
    if (part.devices, part.partitioner) != (case["devices"], case["partitioner"]):
        wrong.append(f"{part.devices} devices by {part.partitioner}")
    if part.result_shardings != case["result_shardings"]:
        wrong.append(f"results are divided {part.result_shardings}; XLA has {case['result_shardings']}")
    given = [flag for i in range(len(values)) for flag in ("--arg", f"{i}={folder}/argument{i}.npy")]
    run = _hloctl.call("run", str(folder / "module.mlir"), "--mesh", mesh, *given, "--output", str(folder / "results"), "--address", address)
    if run["argument_shardings"] != part.parameter_shardings:
        wrong.append(f"arguments are divided {run['argument_shardings']}; the partitioner has {part.parameter_shardings}")
    for i, want in enumerate(wanted):
        got = np.load(folder / "results" / f"result{i}.npy")
        scale = float(np.max(np.abs(want.astype(np.float64)))) + 1e-30
        error = float(np.max(np.abs(got.astype(np.float64) - want.astype(np.float64)))) / scale
        if got.dtype != want.dtype or not error <= (TOLERANCE_BF16 if "bf16" in name else TOLERANCE):
            wrong.append(f"result {i} differs by {error:.1e} of its largest")
    xla = case["large_memory"]
    large = folder / "large.mlir"
    large.write_bytes(gzip.decompress((folder / "large.mlir.gz").read_bytes()))
    report = _hloctl.call("check", str(large), "--mesh", mesh)
    ours = report["peak_bytes"]["low"]
    return wrong, (ours, xla["arguments"] + xla["results"] + xla["temporaries"] - xla["aliased"]), report["error_bar"]


def counted(rows) -> list:
    """The programs above 1 MiB, as (name, the estimate divided by XLA's figure)."""
    return [(name, ours / xla) for name, ours, xla in rows if xla > 1 << 20]


def table(rows) -> str:
    """Returns memory.md."""
    ratios = counted(rows)
    near = sum(abs(ratio - 1) <= 0.05 for _, ratio in ratios)
    bar = sorted(abs(ratio - 1) for _, ratio in ratios)[math.ceil(0.9 * len(ratios)) - 1]
    misses = [name for name, ratio in ratios if abs(ratio - 1) > 0.05]
    lines = [
        "# Memory per device of programs over meshes: estimates and XLA's plan",
        "",
        "Bytes per device of the large programs, partitioned by jaxlib " + JAXLIB + ". `estimate` is the one number of `hloctl check --mesh`. `XLA` is",
        "arguments, results and temporaries less aliases by `memory_analysis()` of the CPU backend. The rules of the estimate are XLA's own",
        "(client/analysis/module/memory); none is about a program.",
        "",
        f"- Of {len(ratios)} programs above 1 MiB, {near} are within 5%.",
        f"- Nine of ten are within {100 * bar:.0f}%: that is the error bar of a check without a target.",
        "",
        "## What is missed, and why",
        "",
        *(f"- {', '.join(sorted(group))}: {reason}" for reason, group in _by_reason(misses)),
        "",
        "## All",
        "",
        "| program | estimate | XLA | estimate / XLA |",
        "|---|---:|---:|---:|",
    ]
    return "\n".join(lines + [f"| {name} | {ours:.0f} | {xla} | {ours / xla:.2f} |" for name, ours, xla in rows]) + "\n"


def _by_reason(misses: list) -> list:
    groups: dict[str, list] = {}
    for name in misses:
        groups.setdefault(reason_of(name), []).append(f"`{name}`")
    return sorted(groups.items(), key=lambda item: item[1])


def reason_of(name: str) -> str:
    """The reason of a miss: that of the longest beginning of the name in misses.json."""
    known = json.loads((HERE / "misses.json").read_text())
    beginnings = [beginning for beginning in known if name.startswith(beginning)]
    return known[max(beginnings, key=len)] if beginnings else "not known."


@unittest.skipUnless(jaxlib, "no jaxlib")
class Sharded(unittest.TestCase):
    def test_every_case_has_xlas_results_and_memory(self):
        cases = sorted(path.stem for path in (HERE / "cases").glob("*.tar"))
        self.assertGreaterEqual(len(cases), 150)
        rows = []
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            pack.unpack_all(folder, corpora=("sharded",))
            address = f"unix:{folder}/hlod.sock"
            os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
            daemon = subprocess.Popen([os.environ["HLOD_DAEMON"], "--devices", "8", "--listen", address, "--log-level", "warn"])
            self.addCleanup(daemon.wait)
            self.addCleanup(daemon.kill)
            while not (folder / "hlod.sock").exists():
                self.assertIsNone(daemon.poll())
            for name in cases:
                with self.subTest(name):
                    wrong, memory, bar = judge(folder / "sharded" / "cases" / name, name, address)
                    self.assertEqual(wrong, [])
                    rows.append((name, *memory))
        text = table(rows)
        path = HERE / "memory.md"
        if os.environ.get("HLOD_UPDATE_MEMORY") == "1":
            path.write_text(text)
        # Another version of jaxlib may partition otherwise.
        elif jaxlib.version.__version__ == JAXLIB and len(rows) == len(cases):
            self.assertEqual(path.read_text(), text, "HLOD_UPDATE_MEMORY=1 rewrites it")
        ratios = counted(rows)
        self.assertEqual(bar["programs"], len(ratios))
        self.assertGreaterEqual(sum(abs(ratio - 1) <= bar["part"] for _, ratio in ratios), 0.9 * len(ratios))


if __name__ == "__main__":
    unittest.main()
