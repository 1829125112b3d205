"""Cases: their type, and how they are lowered, run and written.

A case builds a Program: a function, its arguments, and how exact its results are. The harness lowers the
function to the HLO that JAX hands to XLA (before any optimisation), runs it on XLA's CPU backend, and writes
both down.
"""

import collections
import dataclasses
import hashlib
import json
import pathlib
import shutil
import zlib
from typing import Any, Callable

import jax
import ml_dtypes
import numpy as np

from programs import npy, xla

# Modules name their source lines; keep those paths relative to this folder.
jax.config.update("jax_hlo_source_file_canonicalization_regex", r".*/tests/conformance/jax/")
jax.config.update("jax_traceback_in_locations_limit", 2)

# Relative tolerance by class, as the design states it; f16 lies between f32 and bf16.
RTOL = {
    "exact": 0.0,
    "f32_elementwise": 1e-5,
    "f32_contraction": 1e-4,
    "f16": 4e-3,
    "bf16": 2e-2,
    "f64": 1e-12,
}

# Cases that also carry XLA's long form of text: %, operand shapes, metadata, tables of source lines.
LONG_TEXT = {
    "mlp_train_step_f32",
    "lstm_scan_grad_f32",
    "convnet_train_step_bf16",
    "conditional",
    "convolution_2d_zoo_f32",
    "gather_zoo_f32",
    "sort_several",
    "rng_bit_generator",
    "donation_mixed",
    "constants_zoo",
}


@dataclasses.dataclass
class Program:
    """One function with its arguments.

    kind: how float results are compared.
      "op"           each result is one opcode: purely relative, down to the smallest normal number;
      "elementwise"  a chain of elementwise opcodes: relative, plus the same fraction of the median magnitude;
      "contraction"  sums of products, long chains: relative, plus that fraction of the root mean square;
      "exact"        data movement: bit for bit (any NaN equals any NaN).
    low_precision: f32 results that went through bf16 are compared as bf16.
    reference: "f64" writes the f64 evaluation of the same function, rounded, instead of XLA's f32 result.
    """

    function: Callable
    arguments: tuple
    donate: tuple[int, ...] = ()
    kind: str = "contraction"
    low_precision: bool = False
    x64: bool = False
    reference: str = "xla"
    platform: str = "cpu"  # whose lowering rules; the values always come from the CPU backend
    classes: tuple[str, ...] | None = (
        None  # one of RTOL's names for each result, where `kind` does not say it
    )
    check_f64: bool = True  # compare with an f64 evaluation, as a check on the case's conditioning


@dataclasses.dataclass
class TextProgram:
    """HLO text for opcodes that JAX itself never writes; lowered and run by XLA nevertheless."""

    text: str
    arguments: tuple
    kind: str = "op"
    expected: tuple | None = None  # where XLA's CPU backend cannot run it: values from NumPy or by hand
    reference: str = "xla"


@dataclasses.dataclass
class Case:
    name: str
    build: Callable[[np.random.Generator], Program | TextProgram]
    about: str


@dataclasses.dataclass
class Report:
    name: str
    bytes: int
    opcodes: int
    headroom_used: float  # largest error of the expected values against f64, as a fraction of the tolerance

    def line(self) -> str:
        return f"{self.name:36s} {self.bytes:8d} bytes {self.opcodes:3d} opcodes  {self.headroom_used:6.3f}"


class Registry(list):
    """A module's cases; used as a decorator over functions `(rng, dtype) -> Program`."""

    def case(self, name: str, dtypes: tuple[str, ...] = ("",)):
        def register(build):
            about = " ".join((build.__doc__ or "").split())
            for dtype in dtypes:
                full_name = f"{name}_{dtype}" if dtype else name
                bound = (
                    (lambda rng, build=build, dtype=dtype: build(rng, npy.NUMPY_TYPES[dtype]))
                    if dtype
                    else build
                )
                self.append(Case(full_name, bound, about))
            return build

        return register


def _is_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or (dtype.kind == "V" and ml_dtypes_float(dtype))


def ml_dtypes_float(dtype: np.dtype) -> bool:
    return dtype.name.startswith(("bfloat", "float"))


def tolerance_class(program, dtype: np.dtype) -> str:
    name = npy.HLO_NAMES[dtype.name]
    if program.kind == "exact" or not (_is_float(dtype) or dtype.kind == "c"):
        return "exact"
    if name == "bf16" or (getattr(program, "low_precision", False) and name in ("f32", "f16")):
        return "bf16"
    if name == "f16":
        return "f16"
    if name in ("f64", "c128"):
        return "f64"
    if name in ("f32", "c64"):
        return "f32_contraction" if program.kind == "contraction" else "f32_elementwise"
    return "exact"  # f8 and f4 results are single conversions


def tolerance(program, array: np.ndarray, index: int) -> dict[str, Any]:
    """The comparison rule for one result: |got - want| <= atol + rtol |want|."""
    classes = getattr(program, "classes", None)
    which = classes[index] if classes else tolerance_class(program, array.dtype)
    rtol = RTOL[which]
    if which == "exact":
        return {"class": which, "rtol": 0.0, "atol": 0.0}
    wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    magnitude = np.abs(wide[np.isfinite(wide) & (wide != 0)])
    smallest = float(ml_dtypes.finfo(array.real.dtype).smallest_normal)
    if magnitude.size == 0 or program.kind == "op":
        scale = 0.0
    elif program.kind == "elementwise":
        scale = float(np.median(magnitude))
    else:
        with np.errstate(over="ignore"):
            scale = float(np.sqrt(np.mean(magnitude**2)))
    return {"class": which, "rtol": rtol, "atol": max(smallest, float(f"{rtol * scale:.3g}"))}


def tolerance_used(got: np.ndarray, want: np.ndarray, rule: dict[str, Any]) -> float:
    """Largest |got - want| / (atol + rtol |want|); infinite where one is NaN or infinite and the other is
    not."""
    if rule["class"] == "exact":
        return 0.0
    kind = np.complex128 if want.dtype.kind == "c" else np.float64
    got, want = np.asarray(got).astype(kind), np.asarray(want).astype(kind)
    with np.errstate(all="ignore"):
        used = np.abs(got - want) / (rule["atol"] + rule["rtol"] * np.abs(want))
        used = np.where((got == want) | (np.isnan(got) & np.isnan(want)), 0.0, used)
        used = np.where(np.isnan(used), np.inf, used)
    return float(used.max(initial=0.0))


def flat(tree) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def widened(tree):
    """The same arguments with every float as f64 and every complex as c128."""

    def widen(leaf):
        leaf = np.asarray(leaf)
        if _is_float(leaf.dtype):
            return leaf.astype(np.float64)
        return leaf.astype(np.complex128) if leaf.dtype.kind == "c" else leaf

    return jax.tree.map(widen, tree)


def evaluate_f64(program: Program) -> list[np.ndarray]:
    with jax.enable_x64(True):
        return flat(jax.jit(program.function)(*widened(program.arguments)))


def run_jax(program: Program) -> tuple[xla.Module, list[np.ndarray], float]:
    """The lowered module, the values to expect, and how much of the tolerance they use up against f64."""
    with jax.enable_x64(program.x64):
        jitted = jax.jit(program.function, donate_argnums=program.donate, keep_unused=True)
        traced = jitted.trace(*program.arguments)
        module = xla.Module(traced.lower(lowering_platforms=(program.platform,)).compiler_ir(dialect="hlo"))
        results = flat(jax.jit(program.function)(*program.arguments))
    if not program.check_f64 and program.reference != "f64":
        return module, results, 0.0
    wide = evaluate_f64(program)
    wanted = results
    if program.reference == "f64":
        with np.errstate(all="ignore"):
            wanted = [
                w.astype(r.dtype) if _is_float(r.dtype) or r.dtype.kind == "c" else r
                for w, r in zip(wide, results)
            ]
    used = 0.0
    for i, (result, want, exact) in enumerate(zip(results, wanted, wide)):
        if not (_is_float(result.dtype) or result.dtype.kind == "c"):
            continue
        with np.errstate(over="ignore"):
            exact = exact.astype(result.dtype)
        used = max(used, tolerance_used(result, exact, tolerance(program, want, i)))
    return module, wanted, used


def run_text(program: TextProgram) -> tuple[xla.Module, list[np.ndarray], float]:
    module = xla.Module.from_text(program.text)
    if program.expected is not None:
        return module, [np.asarray(e) for e in program.expected], 0.0
    return module, module.run(flat(program.arguments)), 0.0


def write_case(case: Case, folder: pathlib.Path) -> Report:
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    program = case.build(rng)
    is_text = isinstance(program, TextProgram)
    module, results, used = run_text(program) if is_text else run_jax(program)
    arguments = flat(program.arguments)

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "module.pb").write_bytes(module.proto)
    (folder / "module.txt").write_text(module.text)
    if case.name in LONG_TEXT:
        (folder / "module.long.txt").write_text(module.long_text())
    for i, array in enumerate(arguments):
        npy.write(folder / f"arg{i}.npy", array)
    for i, array in enumerate(results):
        npy.write(folder / f"out{i}.npy", array)
    describe = lambda a: {"dtype": npy.hlo_name(a), "shape": list(a.shape)}
    reference = program.reference
    if is_text and program.expected is not None:
        reference = "numpy"
    record = {
        "name": case.name,
        "about": case.about,
        "source": "hlo text" if is_text else f"jax {jax.__version__}, lowered for {program.platform}",
        "reference": {"xla": "XLA CPU", "f64": "XLA CPU in f64, rounded", "numpy": "NumPy"}[reference],
        "parameters": [describe(a) for a in arguments],
        "results": [describe(a) | {"tolerance": tolerance(program, a, i)} for i, a in enumerate(results)],
        "donated": module.donated(),
        "opcodes": module.opcodes(),
        "sha256": hashlib.sha256(module.proto).hexdigest(),
    }
    (folder / "case.json").write_text(to_json(record))
    size = sum(p.stat().st_size for p in folder.iterdir())
    return Report(case.name, size, len(record["opcodes"]), used)


def to_json(record: dict[str, Any]) -> str:
    """JSON with a line for each field, and one for each entry of a list of objects, so that a difference
    reads well."""

    def field(value) -> str:
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return "[\n    " + ",\n    ".join(json.dumps(entry) for entry in value) + "\n  ]"
        return json.dumps(value)

    return (
        "{\n" + ",\n".join(f"  {json.dumps(key)}: {field(value)}" for key, value in record.items()) + "\n}\n"
    )


def count_opcodes(root: pathlib.Path) -> dict[str, int]:
    counts: collections.Counter[str] = collections.Counter()
    for path in sorted(root.glob("*/case.json")):
        counts.update(json.loads(path.read_text())["opcodes"])
    return dict(counts)
