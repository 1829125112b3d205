"""The .npy files of a case, and the one convention for types that NumPy lacks.

NumPy's own types are written as they are. bf16 is written as its bits in '<u2'; every f8 type and f4 as its
bits in '|u1'; s2 and s4 as sign-extended '|i1', u2 and u4 as '|u1', one element a byte. case.json states the
true type.
"""

import pathlib

import ml_dtypes
import numpy as np

# XLA's name of each element type that a case may have.
HLO_NAMES = {
    "bool": "pred",
    "int8": "s8",
    "int16": "s16",
    "int32": "s32",
    "int64": "s64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "c64",
    "complex128": "c128",
    "bfloat16": "bf16",
    "int2": "s2",
    "int4": "s4",
    "uint2": "u2",
    "uint4": "u4",
    "float8_e3m4": "f8e3m4",
    "float8_e4m3": "f8e4m3",
    "float8_e4m3b11fnuz": "f8e4m3b11fnuz",
    "float8_e4m3fn": "f8e4m3fn",
    "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2": "f8e5m2",
    "float8_e5m2fnuz": "f8e5m2fnuz",
    "float8_e8m0fnu": "f8e8m0fnu",
    "float4_e2m1fn": "f4e2m1fn",
}

NUMPY_TYPES = {hlo: np.dtype(getattr(ml_dtypes, name, name)) for name, hlo in HLO_NAMES.items()}

_STORED_AS_BITS = {"bf16": "<u2"} | {
    name: "|u1" for name in HLO_NAMES.values() if name.startswith(("f8", "f4"))
}
_STORED_AS_VALUES = {"s2": "|i1", "s4": "|i1", "u2": "|u1", "u4": "|u1"}


def hlo_name(array: np.ndarray) -> str:
    return HLO_NAMES[array.dtype.name]


def stored(array: np.ndarray) -> np.ndarray:
    """`array` in a type that every .npy reader knows."""
    name = hlo_name(array)
    array = np.array(array, order="C", copy=True)
    if name in _STORED_AS_BITS:
        return array.view(_STORED_AS_BITS[name])
    if name in _STORED_AS_VALUES:
        return array.astype(_STORED_AS_VALUES[name])
    return array


def write(path: pathlib.Path, array: np.ndarray) -> None:
    with open(path, "wb") as file:
        np.lib.format.write_array(file, stored(array), version=(1, 0), allow_pickle=False)
