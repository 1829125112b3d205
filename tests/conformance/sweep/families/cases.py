"""The units of a sweep (one HLO instruction, or a few), and the modules that gather them over shared arguments."""

import dataclasses

import ml_dtypes
import numpy as np

TYPES = {
    "pred": np.bool_,
    "s8": np.int8,
    "s16": np.int16,
    "s32": np.int32,
    "s64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e3m4": ml_dtypes.float8_e3m4,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}
NAMES = {np.dtype(dtype): name for name, dtype in TYPES.items()}
INTEGERS = [t for t in TYPES if t[0] in "su"]
SIGNED = [t for t in TYPES if t[0] == "s"]
F8 = [t for t in TYPES if t.startswith("f8")]
FLOATS = ["bf16", "f16", "f32", "f64"] + F8
COMPLEX = ["c64", "c128"]
FIFTEEN = [t for t in TYPES if t not in F8]


@dataclasses.dataclass
class Unit:
    """Lines of HLO over the module's parameters, the last of which defines `%name`, its result.

    near: results are rounded differently by different libraries: compared within the type's tolerance.
    """

    name: str
    shape: str  # "f32[3,4]", without layout
    body: str  # "add(a, b)": the last line, after "name = shape "
    before: str = ""  # lines that come first; {name} may be used to keep their names apart
    near: bool = False


@dataclasses.dataclass
class Group:
    """Units over the same arguments: one module, or as many as XLA's refusals leave."""

    name: str
    arguments: dict[str, np.ndarray]
    units: list[Unit]
    computations: str = ""
    sums: bool = False  # True when results are compared relative to the largest element, because terms cancel.

    def arrays(self, units: list[Unit]) -> list[np.ndarray]:
        return list(self.arguments.values())

    def results(self, units: list[Unit], arrays: list[np.ndarray]) -> list[Unit]:
        return units

    def text(self, units: list[Unit]) -> str:
        lines = []
        for number, (name, array) in enumerate(self.arguments.items()):
            lines.append(f"{name} = {shape(NAMES[array.dtype], array)} parameter({number})")
        for unit in units:
            name = unit.name.replace("-", "_")
            lines += unit.before.format(name=name).splitlines()
            lines.append(f"result_{name} = {unit.shape} {unit.body.format(name=name)}")
        results = [f"result_{unit.name.replace('-', '_')}" for unit in units]
        shapes = ", ".join(unit.shape for unit in units)
        lines.append(f"ROOT all = ({shapes}) tuple({', '.join(results)})")
        return f"HloModule sweep\n\n{self.computations}\nENTRY main {{\n  " + "\n  ".join(lines) + "\n}\n"


def shape(dtype: str, array_or_dims) -> str:
    dims = array_or_dims.shape if isinstance(array_or_dims, np.ndarray) else array_or_dims
    return f"{dtype}[{','.join(map(str, dims))}]"


def bits(dtype: str) -> int:
    return np.dtype(TYPES[dtype]).itemsize * 8


def cast(values, dtype: str) -> np.ndarray:
    """A list of numbers as an array of the type, the same value never twice in a row by rounding errors."""
    with np.errstate(all="ignore"):
        return np.array(values).astype(TYPES[dtype])


def edges(dtype: str) -> np.ndarray:
    """The values of a type at which rules change. No subnormal numbers: XLA's CPU backend flushes them."""
    if dtype == "pred":
        return np.array([False, True])
    if dtype in INTEGERS:
        info = np.iinfo(TYPES[dtype])
        wide = [0, 1, 2, 3, 7, info.bits - 1, info.bits, info.bits + 1, 100, info.max // 3, info.max - 1, info.max]
        if info.min < 0:
            wide += [-1, -2, -3, -7, -100, info.min // 3, info.min + 1, info.min]
        return np.array(wide, dtype=TYPES[dtype])
    if dtype in COMPLEX:
        part = [0.0, 1.0, -1.0, 0.5, -2.5, 3.0]
        return np.array([complex(a, b) for a in part for b in part], dtype=TYPES[dtype])
    info = ml_dtypes.finfo(TYPES[dtype])
    big, small = float(info.max), float(info.smallest_normal)
    values = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 7.75, 0.1, 0.3, 12.0, np.nan, np.inf, big, small]
    array = np.concatenate([cast(values, dtype), -cast(values, dtype)])
    if dtype in F8:  # Some have neither infinity nor a negative zero: what they make of it is kept once.
        array = np.unique(array.view(np.uint8)).view(TYPES[dtype])
    return array


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Each edge value with each."""
    e = edges(dtype)
    return np.repeat(e, e.size), np.tile(e, e.size)
