"""Writes cases/: HLO modules as JAX lowers them, with inputs and XLA's own outputs.

    python generate.py                 every case, the opcode list included
    python generate.py --only 'mlp*'   those whose name matches
    python generate.py --check         regenerate elsewhere and compare with what is committed

See README.md for the layout. The programs live in programs/, one subject a file; this file only drives.
"""

import argparse
import fnmatch
import os
import pathlib
import shutil
import sys
import tempfile

# Before JAX is imported. Each bf16 result is rounded where the module says so, and no value depends on
# how many cores the machine has.
os.environ["XLA_FLAGS"] = " ".join(
    [
        "--xla_allow_excess_precision=false",
        "--xla_cpu_enable_fast_math=false",
        "--xla_cpu_multi_thread_eigen=false",
        "--xla_force_host_platform_device_count=1",
    ]
)
os.environ["JAX_PLATFORMS"] = "cpu"

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(1, str(HERE.parent))

import pack  # noqa: E402
from programs import harness  # noqa: E402
from programs import readme  # noqa: E402
from programs import registry  # noqa: E402


def write_all(root: pathlib.Path, pattern: str) -> list[harness.Report]:
    reports = []
    for case in registry.all_cases():
        if not fnmatch.fnmatch(case.name, pattern):
            continue
        report = harness.write_case(case, root / case.name)
        reports.append(report)
        print(report.line(), flush=True)
    return reports


def write_summary(cases: pathlib.Path) -> None:
    """opcodes.txt (`opcode cases`, most frequent first) and the tables of README.md."""
    counts = dict(sorted(harness.count_opcodes(cases).items(), key=lambda kv: (-kv[1], kv[0])))
    (HERE / "opcodes.txt").write_text("".join(f"{opcode} {count}\n" for opcode, count in counts.items()))
    readme.update(HERE / "README.md", cases, counts)


def difference(a: pathlib.Path, b: pathlib.Path) -> list[str]:
    """Relative paths of files that are in only one of the two trees, or differ."""
    files = lambda root: {p.relative_to(root) for p in root.rglob("*") if p.is_file()}
    left, right = files(a), files(b)
    differ = {p for p in left & right if (a / p).read_bytes() != (b / p).read_bytes()}
    return sorted(str(p) for p in (left ^ right) | differ)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    cases = HERE / "cases"
    if options.check:
        with tempfile.TemporaryDirectory() as scratch:
            write_all(pathlib.Path(scratch), options.only)
            pack.pack_all(pathlib.Path(scratch))
            differing = difference(cases, pathlib.Path(scratch))
        differing = [p for p in differing if fnmatch.fnmatch(pathlib.Path(p).stem, options.only)]
        print("\n".join(f"differs: {p}" for p in differing) or "identical")
        return 1 if differing else 0
    if options.only == "*":
        shutil.rmtree(cases, ignore_errors=True)
    reports = write_all(cases, options.only)
    pack.pack_all(cases)
    with tempfile.TemporaryDirectory() as scratch:
        write_summary(pack.unpack_all(pathlib.Path(scratch), corpora=("jax",)) / "jax/cases")
    for report in reports:
        limit = 1.2 if report.name.endswith("bf16") else 0.25  # bf16: both sides round where the module says
        if report.headroom_used > limit:
            print(
                f"warning: {report.name} uses {report.headroom_used:.2f} of its tolerance against f64",
                file=sys.stderr,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
