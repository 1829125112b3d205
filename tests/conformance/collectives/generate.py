"""Writes cases/: programs of several replicas and partitions, with the arguments and results of each participant.

    python generate.py                 every case
    python generate.py --only 'ragged*'   those whose name matches
    python generate.py --check         regenerate elsewhere and compare with what is committed

See README.md for the layout. The programs live in collectives.py; this file only drives.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import zlib

# Before JAX is imported: a device for each participant, and each bf16 result rounded where the module says so.
os.environ["XLA_FLAGS"] = " ".join(
    [
        "--xla_allow_excess_precision=false",
        "--xla_cpu_enable_fast_math=false",
        "--xla_cpu_multi_thread_eigen=false",
        "--xla_force_host_platform_device_count=8",
    ]
)
os.environ["JAX_PLATFORMS"] = "cpu"

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "jax"))
sys.path.insert(1, str(HERE.parent))

import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402
from jaxlib import _hlo, _jax  # noqa: E402

import collectives  # noqa: E402
from jax._src.interpreters import mlir  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402
import pack  # noqa: E402
from programs import harness, npy  # noqa: E402


def manual(text: str) -> str:
    """The same program with every instruction of its entry marked as the partition's own: XLA's partitioner
    leaves those alone."""
    lines, inside = [], False
    for line in text.splitlines():
        inside = (inside or line.startswith("ENTRY")) and line != "}"
        found = re.match(r"\s+(?:ROOT )?[\w.-]+ = (\(.*?\) |\S+ )[\w-]+\(", line) if inside else None
        if found:
            leaves = len(re.findall(r"\w+\[", found.group(1)))
            tuple_of = "{" + ",".join(["{manual}"] * leaves) + "}"
            line += ", sharding=" + (tuple_of if found.group(1).startswith("(") else "{manual}")
        lines.append(line)
    return "\n".join(lines) + "\n"


def run(text: str, replicas: int, partitions: int, arguments: list[np.ndarray]) -> list[np.ndarray]:
    """The results on XLA's CPU backend, a device a participant: arrays over all participants, as `arguments` are."""
    count = replicas * partitions
    proto = _hlo.hlo_module_from_text(manual(text) if partitions > 1 else text).as_serialized_hlo_module_proto()
    devices = jax.devices()[:count]
    options = _jax.CompileOptions()
    for settings in (options, options.executable_build_options):
        settings.num_replicas, settings.num_partitions = replicas, partitions
    options.executable_build_options.use_spmd_partitioning = partitions > 1
    options.device_assignment = _jax.DeviceAssignment.create(np.arange(count).reshape(replicas, partitions))
    executable = devices[0].client.compile_and_load(
        _jax.mlir.hlo_to_stablehlo(proto), _jax.DeviceList(tuple(devices)), options
    )
    sharding = NamedSharding(Mesh(np.array(devices), ("participant",)), PartitionSpec("participant"))
    given = []
    for array in arguments:
        shards = [jax.device_put(array[m], devices[m]) for m in range(count)]
        shape = (array.shape[1] * count, *array.shape[2:])
        given.append(jax.make_array_from_single_device_arrays(shape, sharding, shards))
    results = executable.execute_sharded(given).disassemble_into_single_device_arrays()
    return [np.stack([np.asarray(shard) for shard in shards]) for shards in results]


def stablehlo_of(text: str, replicas: int, partitions: int) -> str | None:
    """Returns the program as XLA writes it in StableHLO; None when StableHLO has no form for it."""
    proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    with mlir.make_ir_context():
        try:
            parsed = ir.Module.parse(_jax.mlir.hlo_to_stablehlo(proto))
        except ir.MLIRError:  # A tuple as a future.
            return None
        number = ir.IntegerType.get_signless(32)
        parsed.operation.attributes["mhlo.num_replicas"] = ir.IntegerAttr.get(number, replicas)
        parsed.operation.attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(number, partitions)
        printed = str(parsed)
    other = any(word in printed for word in ('"mhlo.', "async_start", "ragged_all_to_all"))
    return None if other else printed.rstrip() + "\n"


def write_case(case: collectives.Case, folder: pathlib.Path) -> None:
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    program = case.build(rng)
    counts = (program.replicas, program.partitions)
    with jax.enable_x64(True):
        if program.expected is None:
            results = run(program.reference or program.text, *counts, program.arguments)
        else:
            results = [np.asarray(result) for result in program.expected]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "module.txt").write_text(program.text)
    if in_stablehlo := stablehlo_of(program.text, *counts):
        (folder / "module.mlir").write_text(in_stablehlo)
    for i, array in enumerate(program.arguments):
        npy.write(folder / f"arg{i}.npy", array)
    for i, array in enumerate(results):
        npy.write(folder / f"out{i}.npy", array)
    describe = lambda a: {"dtype": npy.hlo_name(a), "shape": list(a.shape)}
    record = {
        "name": case.name,
        "about": case.about,
        "source": "hlo text",
        "reference": "NumPy" if program.expected is not None else f"XLA CPU of jax {jax.__version__}",
        "replicas": program.replicas,
        "partitions": program.partitions,
        "parameters": [describe(a) for a in program.arguments],
        "results": [describe(a) | {"tolerance": harness.tolerance(program, a, i)} for i, a in enumerate(results)],
        "donated": [],
        "opcodes": sorted(set(re.findall(r"= (?:\(.*?\)|\S+) ([\w-]+)\(", program.text))),
    }
    (folder / "case.json").write_text(harness.to_json(record))
    print(case.name, json.dumps(counts), flush=True)


def write_all(root: pathlib.Path, pattern: str) -> None:
    for case in collectives.CASES:
        if fnmatch.fnmatch(case.name, pattern):
            write_case(case, root / case.name)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    cases = HERE / "cases"
    if not options.check:
        if options.only == "*":
            shutil.rmtree(cases, ignore_errors=True)
        write_all(cases, options.only)
        pack.pack_all(cases)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        write_all(pathlib.Path(scratch), options.only)
        pack.pack_all(pathlib.Path(scratch))
        files = lambda root: {
            p.relative_to(root): p.read_bytes()
            for p in root.rglob("*")
            if p.is_file() and fnmatch.fnmatch(p.stem, options.only)
        }
        old, new = files(cases), files(pathlib.Path(scratch))
    differing = sorted(str(p) for p in old.keys() | new.keys() if old.get(p) != new.get(p))
    print("\n".join(f"differs: {p}" for p in differing) or "identical")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
