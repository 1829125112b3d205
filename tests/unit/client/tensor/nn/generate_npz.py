"""Writes the .npz files of tests/unit/client/tensor/nn/npz_test.cc beside this script. Needs numpy and ml_dtypes."""
from pathlib import Path

import ml_dtypes
import numpy as np

here = Path(__file__).resolve().parent
arrays = {
    "layer.0/weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "fortran": np.asfortranarray(np.array([[1.5, 2.5], [3.5, 4.5]])),
    "scalar": np.array(-7),
    "empty": np.zeros((0, 3), dtype=np.float32),
    "bools": np.array([True, False, True]),
    "complex": np.array([1 - 2j], dtype=np.complex64),
    "unsigned": np.array([0, 255], dtype=np.uint8),
    "half": np.array([0.5, 65504], dtype=np.float16),
    "bf16": np.array([1, -2.5], dtype=ml_dtypes.bfloat16).view("V2"),
    "threes": np.full(1000, 3, dtype=np.float32),
}
np.savez(here / "stored.npz", **arrays)
np.savez_compressed(here / "deflated.npz", **arrays)
np.savez(here / "strings.npz", names=np.array(["one", "three"]))
