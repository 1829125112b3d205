"""Writes data/*.sweep: every opcode over every type that XLA's CPU backend takes, with its results.

    python generate.py                  every family; some minutes
    python generate.py --only dot       one family

Needs the packages of ../jax/requirements.txt. README.md describes the files.
"""

import argparse
import os
import pathlib
import sys

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
sys.path[:0] = [str(HERE), str(HERE.parent / "jax")]

import jax  # noqa: E402
import numpy as np  # noqa: E402
from families import contractions, elementwise, jax_elementwise, jax_linear_algebra  # noqa: E402
from families import jax_structure, movement, reductions  # noqa: E402
from families.cases import NAMES, Group, Unit, shape  # noqa: E402
from families.jax_calls import Call, Calls  # noqa: E402
from programs import xla  # noqa: E402

jax.config.update("jax_enable_x64", True)

FAMILIES = {
    "unary": elementwise.unary,
    "binary": elementwise.binary,
    "ternary": elementwise.ternary,
    "convert": elementwise.convert,
    "dot": contractions.dot,
    "dot_wide": contractions.dot_wide,
    "dot_mixed": contractions.dot_mixed,
    "convolution": contractions.convolution,
    "reduce": reductions.reduce,
    "scatter": reductions.scatter,
    "select_and_scatter": reductions.select_and_scatter,
    "sort": reductions.sort,
    "movement": movement.movement,
    "linear_algebra": movement.linear_algebra,
    "jax_unary": jax_elementwise.unary,
    "jax_binary": jax_elementwise.binary,
    "jax_broadcast": jax_elementwise.broadcast,
    "jax_special": jax_elementwise.special_functions,
    "jax_convert": jax_elementwise.convert,
    "jax_moves": jax_structure.structure,
    "jax_scatters": jax_structure.scatter_forms,
    "jax_reductions": jax_structure.reduction_forms,
    "jax_sorts": jax_structure.sort_forms,
    "jax_loops": jax_structure.control,
    "jax_contractions": jax_structure.contraction_forms,
    "jax_gradients": jax_structure.gradients,
    "jax_batched": jax_structure.batched,
    "jax_linear_algebra": jax_linear_algebra.linear_algebra,
    "jax_fft": jax_linear_algebra.fourier,
}


def run(group: Group | Calls, units: list[Unit] | list[Call]) -> list[np.ndarray]:
    return xla.Module.from_text(group.text(units)).run(group.arrays(units))


def accepted(group: Group | Calls, units: list[Unit] | list[Call]):
    """[(units, results)] that XLA runs together, and [(unit, why)] that it refuses; halves what fails."""
    if not units:
        return [], []
    try:
        return [(units, run(group, units))], []
    except Exception as error:  # noqa: BLE001: whatever XLA says
        if len(units) == 1:
            return [], [(units[0], " ".join(str(error).split())[:110])]
    half = len(units) // 2
    good, bad = accepted(group, units[:half])
    more_good, more_bad = accepted(group, units[half:])
    good_units = [unit for units, _ in good + more_good for unit in units]
    results = [array for _, arrays in good + more_good for array in arrays]
    return [(good_units, results)] if good_units else [], bad + more_bad


class Writer:
    def __init__(self, path: pathlib.Path):
        self.file = path.open("wb")
        self.arrays: dict[tuple[str, bytes], str] = {}

    def _array(self, array: np.ndarray) -> str:
        key = (shape(NAMES[array.dtype], array), array.tobytes())
        if key not in self.arrays:
            self.arrays[key] = f"{len(self.arrays)}"
            self.file.write(f"array {key[0]} {len(key[1])}\n".encode() + key[1] + b"\n")
        return self.arrays[key]

    def group(self, group: Group, good, bad) -> None:
        for unit, why in bad:
            self.file.write(f"refused {group.name} {unit.name}: {why}\n".encode())
        for units, arrays in good:
            arguments = ",".join(self._array(array) for array in group.arrays(units)) or "-"
            text = group.text(units).encode()
            self.file.write(f"module {group.name.replace(' ', '.')} {arguments} {len(text)}\n".encode() + text + b"\n")
            for line, array in zip(group.results(units, arrays), arrays, strict=True):
                raw = np.ascontiguousarray(array).tobytes()
                rule = "sum" if line.near and group.sums else "near" if line.near else "exact"
                self.file.write(f"result {line.name} {rule} {line.shape} {len(raw)}\n".encode() + raw + b"\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=FAMILIES)
    options = parser.parse_args()
    data = HERE / "data"
    data.mkdir(exist_ok=True)
    for family, groups in FAMILIES.items():
        if options.only not in (None, family):
            continue
        writer = Writer(data / f"{family}.sweep")
        taken = refused = 0
        for group in groups():
            good, bad = accepted(group, group.units)
            writer.group(group, good, bad)
            taken, refused = taken + sum(len(arrays) for _, arrays in good), refused + len(bad)
        writer.file.close()
        print(f"{family}: {taken} results, {refused} refused by XLA", flush=True)


if __name__ == "__main__":
    main()
