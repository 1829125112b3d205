"""Programs over meshes: partitioned by jaxlib, run by a daemon of eight devices, and checked against XLA's results and memory."""

import gzip
import json
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
JAXLIB = "0.10.2"  # Whose partitions memory.md is about.


def judge(folder: pathlib.Path, name: str, address: str):
    """Returns what is wrong with a case, and the memory of its large one: ours (low, high) and XLA's."""
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
    ours = report["peak_bytes"]
    return wrong, (ours["low"], ours["high"], xla["arguments"] + xla["results"] + xla["temporaries"] - xla["aliased"])


def table(rows) -> str:
    """Returns memory.md."""
    counted = [(name, low, high, xla) for name, low, high, xla in rows if xla > 1 << 20]
    near = lambda ours, xla, part: abs(ours / xla - 1) <= part
    ratios = sorted(low / xla for _, low, _, xla in counted)
    tenth = len(ratios) // 20
    lines = [
        "# Memory per device of programs over meshes: estimates and XLA's plan",
        "",
        "Bytes per device of the large programs, partitioned by jaxlib " + JAXLIB + ". `low` and `high` are the ends that `hloctl check --mesh` gives: with all",
        "fusion, and with none. `XLA` is arguments, results and temporaries less aliases by `memory_analysis()` of the CPU backend, whose collectives",
        "and small loops have buffers of their own. Nothing is fitted to the judge.",
        "",
        f"- Of {len(counted)} programs above 1 MiB, `low` is within 5% in {sum(near(low, xla, 0.05) for _, low, _, xla in counted)}, an end in "
        f"{sum(near(low, xla, 0.05) or near(high, xla, 0.05) for _, low, high, xla in counted)}; XLA lies between the ends, give or take 5%, in "
        f"{sum(0.95 * low <= xla <= 1.05 * high for _, low, high, xla in counted)}.",
        f"- `low` divided by XLA is from {ratios[tenth]:.2f} to {ratios[-1 - tenth]:.2f} in nine of ten." if ratios else "",
        "",
        "| program | low | high | XLA | low / XLA |",
        "|---|---:|---:|---:|---:|",
    ]
    return "\n".join(lines + [f"| {name} | {low:.0f} | {high:.0f} | {xla} | {low / xla:.2f} |" for name, low, high, xla in rows]) + "\n"


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
                    wrong, memory = judge(folder / "sharded" / "cases" / name, name, address)
                    self.assertEqual(wrong, [])
                    rows.append((name, *memory))
        text = table(rows)
        path = HERE / "memory.md"
        if os.environ.get("HLOD_UPDATE_MEMORY") == "1":
            path.write_text(text)
        # Another version of jaxlib may partition otherwise.
        elif jaxlib.version.__version__ == JAXLIB and len(rows) == len(cases):
            self.assertEqual(path.read_text(), text, "HLOD_UPDATE_MEMORY=1 rewrites it")


if __name__ == "__main__":
    unittest.main()
