"""Runs the programs of a folder in XLA and compares with the results beside them: xla_check.py FOLDER.

FOLDER/<number>/ has module.pb, argument<i>.npy, result<i>.npy, and program.json with a name and the HLO types.
Prints what differs, or what XLA refuses; exit code 1 when there is such a thing."""
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Compiling dominates, and speed does not matter here.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_allow_excess_precision=false --xla_cpu_enable_fast_math=false"

import jax
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "conformance" / "jax" / "programs"))
from jaxlib import _hlo  # noqa: E402
from xla import Module  # noqa: E402

BITS = {"bf16": ml_dtypes.bfloat16, "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}
RELATIVE = {"bf16": 2e-2, "f16": 4e-3, "f32": 1e-4, "f64": 1e-9, "c64": 1e-4, "c128": 1e-9}


def load(path, dtype):
    array = np.load(path)
    return array.view(BITS[dtype]) if dtype in BITS else array


def difference(got, want, dtype, largest):
    """Returns a text about the difference. `largest` is the size of the arguments: near 0, a result shows their rounding."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"is {got.dtype}{list(got.shape)}, and here {want.dtype}{list(want.shape)}"
    relative = RELATIVE.get(dtype, 0)
    if not relative:
        return "" if np.array_equal(got, want) else f"is {got.ravel()[:8]}, and here {want.ravel()[:8]}"
    wide = np.complex128 if dtype.startswith("c") else np.float64
    got, want = got.astype(wide), want.astype(wide)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    finite = np.abs(want[np.isfinite(want)])
    scale = max(np.sqrt(np.mean(finite**2)) if finite.size else 0, 1e-4 * largest)
    with np.errstate(invalid="ignore"):
        near = np.abs(got - want) <= relative * (np.abs(want) + scale)
    bad = ~(same | near)
    return "" if not bad.any() else f"is {got[bad][:4]}, and here {want[bad][:4]}, in {bad.sum()} places"


def in_order(values):
    """Eigenvalues in an order that rounding does not change much: by their arguments and sizes, coarsely."""
    return values[np.lexsort((np.round(values.imag, 2), np.round(values.real, 2)))]


def eigen_difference(got, want, matrix):
    """Returns a text about wrong eigenvalues and vectors, by A V = V diag(w), because no library promises their order."""
    values = np.asarray(got[0])
    if values.shape != want[0].shape:
        return f"is {list(values.shape)}, and here {list(want[0].shape)}"
    for index in np.ndindex(values.shape[:-1]):
        ours, theirs = in_order(want[0][index]), in_order(values[index])
        if not np.allclose(ours, theirs, rtol=1e-3, atol=1e-3):
            return f"is {theirs}, and here {ours}"
        if len(got) > 1:
            vectors = np.asarray(got[1])[index]
            wrong = np.abs(matrix[index] @ vectors - vectors * values[index]).max()
            if wrong > 1e-4 * max(np.abs(matrix[index]).max(), 1):
                return f"has vectors that are not eigenvectors by {wrong}"
    return ""


def main(folder):
    failures, count = [], 0
    for case in sorted(folder.glob("*/program.json")):
        program = json.loads(case.read_text())
        here = case.parent
        arguments = [load(here / f"argument{i}.npy", t) for i, t in enumerate(program["arguments"])]
        wanted = [load(here / f"result{i}.npy", t) for i, t in enumerate(program["results"])]
        largest = max([np.abs(a[np.isfinite(a)].astype(np.float64)).max(initial=0)
                       for a in arguments if a.dtype.kind == "f"], default=0)
        count += 1
        try:
            results = Module(_hlo.XlaComputation((here / "module.pb").read_bytes())).run(arguments)
        except Exception as error:  # XLA's refusals have several types.
            failures.append(f"{program['name']}: XLA refuses it: {str(error)[:300]}")
            continue
        if len(results) != len(wanted):
            failures.append(f"{program['name']}: {len(results)} results, and here {len(wanted)}")
            continue
        if program["name"].startswith(("linalg.eig.", "linalg.eigvals.")):
            if text := eigen_difference(results, wanted, arguments[0]):
                failures.append(f"{program['name']}: {text}")
            continue
        for i, (got, want, dtype) in enumerate(zip(results, wanted, program["results"])):
            if text := difference(np.asarray(got), want, dtype, largest):
                failures.append(f"{program['name']}: result {i} {text}")
    print(f"{count} programs, {len(failures)} failures")
    print("\n".join(failures))
    return 1 if failures or not count else 0


sys.exit(main(Path(sys.argv[1])))
