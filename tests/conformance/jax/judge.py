"""Writes judged.csv: what XLA itself says each case costs and needs.

    python judge.py

flops, transcendentals and bytes are HloCostAnalysis's of the module as it stands (loop bodies once); the memory is what XLA's CPU backend
plans for its own optimised program.
"""

import csv
import os
import pathlib
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
from jaxlib import _hlo, _jax  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pack  # noqa: E402


def judge(proto: bytes) -> dict[str, float]:
    device = jax.devices("cpu")[0]
    computation = _hlo.XlaComputation(proto)
    cost = _jax.hlo_module_cost_analysis(device.client, computation.get_hlo_module())
    executable = device.client.compile_and_load(
        _jax.mlir.hlo_to_stablehlo(proto), _jax.DeviceList((device,)), _jax.CompileOptions()
    )
    memory = executable.get_compiled_memory_stats()
    return {
        "flops": cost.get("flops", 0.0),
        "transcendentals": cost.get("transcendentals", 0.0),
        "bytes": cost.get("bytes accessed", 0.0),
        "argument_bytes": memory.argument_size_in_bytes,
        "output_bytes": memory.output_size_in_bytes,
        "alias_bytes": memory.alias_size_in_bytes,
        "temp_bytes": memory.temp_size_in_bytes,
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch, open(HERE / "judged.csv", "w", newline="") as file:
        unpacked = pack.unpack_all(pathlib.Path(scratch), corpora=("jax",))
        writer = None
        for folder in sorted((unpacked / "jax/cases").iterdir()):
            try:
                row = {"case": folder.name} | judge((folder / "module.pb").read_bytes())
            except Exception as error:  # XLA's CPU backend does not run everything that it parses.
                print(folder.name, str(error).splitlines()[0])
                continue
            if writer is None:
                writer = csv.DictWriter(file, row.keys(), lineterminator="\n")
                writer.writeheader()
            writer.writerow({k: int(v) if v == int(v) else v for k, v in row.items() if k != "case"} | {"case": row["case"]})


if __name__ == "__main__":
    main()
