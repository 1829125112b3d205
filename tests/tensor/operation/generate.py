#!/usr/bin/env python3
"""Writes cases/*.json: what PyTorch's operations give on small inputs, for operation_test.

Walks PyTorch's own table of operations (op_db, of 1.13), takes a few of its sample inputs an operation, runs
them and records arguments and results, one case a line. Run it where torch is installed:

    python3 tests/tensor/operation/generate.py [NAME ...]

Without names it writes everything anew, and operations.json, the list of all operations. An operation whose
results differ from run to run is random and has no cases.
"""
import json
import math
import os
import sys
import types
import unittest
import warnings

try:
    import expecttest  # noqa: F401
except ImportError:  # Needed by torch's test classes, not by the table.
    stub = types.ModuleType("expecttest")
    stub.TestCase = unittest.TestCase
    stub.ACCEPT = False
    sys.modules["expecttest"] = stub

import numpy as np
import torch
from torch.testing._internal import common_methods_invocations
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo import core

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {
    torch.bool: "pred", torch.uint8: "u8", torch.int8: "s8", torch.int16: "s16", torch.int32: "s32",
    torch.int64: "s64", torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32",
    torch.float64: "f64", torch.complex64: "c64", torch.complex128: "c128",
}
# The table gives random operations one seed, which would make them look like functions of their arguments.
common_methods_invocations.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)

# How many samples an operation of a type; how many elements its arguments and its results may have, and may
# have when no sample is so small.
SAMPLES = {torch.float32: 4, torch.int64: 1, torch.bool: 1, torch.bfloat16: 1, torch.complex64: 1}
LIMITS = [(40, 80), (220, 300), (500, 700), (1200, 1300)]
# Operations that say nothing about an array library, or whose samples take minutes.
SKIPPED = ("jiterator", "_", "ops.", "sparse.", "to_sparse", "empty", "new_empty", "masked.")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 20.0, -100.0, 1e-6, math.inf, -math.inf, math.nan]


class Unencodable(Exception):
    pass


def number(value):
    if isinstance(value, bool) or isinstance(value, int):
        return value
    if isinstance(value, complex):
        return {"complex": [number(value.real), number(value.imag)]}
    if math.isnan(value):
        return {"float": "nan"}
    if math.isinf(value):
        return {"float": "inf" if value > 0 else "-inf"}
    return value


def element(value):
    """A number of a tensor: shortest text that gives the same f32."""
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if np.isnan(value):
        return "nan"
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = float(str(value))
    return int(text) if text == int(text) and abs(text) < 1e6 and not (text == 0 and np.signbit(value)) else text


def tensor(value):
    if value.layout != torch.strided or value.is_quantized or value.dtype not in TYPES:
        raise Unencodable(str(value.dtype))
    dense = value.detach().resolve_conj().resolve_neg().contiguous()
    if dense.is_complex():
        array = torch.view_as_real(dense).numpy()
    elif dense.dtype in (torch.bfloat16, torch.float16):
        array = dense.float().numpy()
    else:
        array = dense.numpy()
    return {"type": TYPES[value.dtype], "dims": list(value.shape), "values": [element(v) for v in array.reshape(-1)]}


def encode(value):
    if isinstance(value, torch.Tensor):
        return tensor(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float, complex)):
        return number(value)
    if isinstance(value, np.generic):
        return number(value.item())
    if isinstance(value, torch.dtype):
        if value not in TYPES:
            raise Unencodable(str(value))
        return {"dtype": TYPES[value]}
    if isinstance(value, (list, tuple)):
        return [encode(v) for v in value]
    if isinstance(value, slice):
        return {"slice": [encode(value.start), encode(value.stop), encode(value.step)]}
    if value is Ellipsis:
        return {"ellipsis": True}
    raise Unencodable(type(value).__name__)


def elements(value):
    if isinstance(value, torch.Tensor):
        return value.numel()
    if isinstance(value, (list, tuple)):
        return sum(elements(v) for v in value)
    if isinstance(value, dict):
        return sum(elements(v) for v in value.values())
    return 0


def changed(value, function):
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return type(value)(changed(v, function) for v in value)
    if isinstance(value, dict):
        return {k: changed(v, function) for k, v in value.items()}
    return value


def rounded(value):
    """Three decimals: short to write, and as good as any."""
    value = value.detach().clone()
    if value.dtype not in (torch.float32, torch.complex64) or value.numel() == 0:
        return value
    parts = torch.view_as_real(value) if value.is_complex() else value
    parts = torch.where(parts.abs() < 1000, (parts.double() * 1000).round() / 1000, parts.double()).float()
    return torch.view_as_complex(parts.contiguous()) if value.is_complex() else parts


def same(x, y):
    if isinstance(x, torch.Tensor):
        return x.shape == y.shape and x.dtype == y.dtype and bool(torch.all((x == y) | ((x != x) & (y != y))))
    if isinstance(x, (list, tuple)):
        return len(x) == len(y) and all(same(a, b) for a, b in zip(x, y))
    return x == y or (x != x and y != y)


class Random(Exception):
    pass


def run(op, sample, result_elements):
    """One case, or an exception."""
    keep = op.name.startswith("linalg") or "linalg" in str(op.decorators) or "cholesky" in op.name
    prepare = (lambda t: t.detach().clone()) if keep else rounded
    arguments = changed([sample.input, *sample.args], prepare)
    keywords = changed({k: v for k, v in sample.kwargs.items() if k != "device"}, prepare)
    case = {"args": encode(arguments), "kwargs": {k: encode(v) for k, v in keywords.items()}}
    results = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        again = changed(arguments, lambda t: t.clone())
        results.append(op.op(*again, **changed(keywords, lambda t: t.clone())))
    if not same(results[0], results[1]):
        raise Random()
    if elements(results[0]) > result_elements:
        raise Unencodable("large result")
    case["result"] = encode(results[0])
    return case


def spread(samples, count):
    """`count` of them, over the whole list."""
    if len(samples) <= count:
        return samples
    return [samples[i * (len(samples) - 1) // max(count - 1, 1)] for i in range(count)]


def special(op, dtype):
    """Values at the edges, for elementwise operations."""
    if dtype != torch.float32:
        return []
    if isinstance(op, core.UnaryUfuncInfo) and op.variant_test_name == "":
        return [core.SampleInput(torch.tensor(SPECIAL), kwargs=op.sample_kwargs("cpu", dtype, None)[0])]
    if isinstance(op, core.BinaryUfuncInfo):
        few = torch.tensor([0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan])
        kwargs = next(iter(op.sample_inputs("cpu", dtype, requires_grad=False))).kwargs
        return [core.SampleInput(few.reshape(-1, 1), args=(few,), kwargs=kwargs)]
    return []


def cases_within(op, limits, types):
    cases = []
    for dtype, count in types.items():
        if dtype not in op.dtypes:
            continue
        try:
            torch.manual_seed(0)
            samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))
        except Exception as error:
            print("no samples:", op.name, dtype, str(error)[:80], file=sys.stderr)
            continue
        size = lambda s: elements([s.input, s.args, s.kwargs])
        small = [s for s in samples if size(s) <= limits[0]]
        if dtype != torch.float32 and small:
            small = [s for s in small if 0 < size(s)] or small
        chosen = spread(small, count)
        try:
            chosen = chosen + special(op, dtype)
        except Exception as error:
            print("no edge values:", op.name, str(error)[:80], file=sys.stderr)
        for sample in chosen:
            try:
                cases.append(run(op, sample, limits[1]))
            except Unencodable as error:
                print("left out:", op.name, error, file=sys.stderr)
            except RuntimeError as error:
                print("failed:", op.name, str(error)[:80], file=sys.stderr)
    return list({json.dumps(c): c for c in cases}.values())


def cases_of(op):
    """The cases, and whether it is random."""
    try:
        cases = cases_within(op, LIMITS[0], SAMPLES)
        for limits in LIMITS[1:]:
            cases = cases or cases_within(op, limits, {torch.float32: 2 if limits[0] < 1000 else 1})
        return cases, False
    except Random:
        return [], True


def file_of(name):
    for prefix in ("nn.functional.", "linalg.", "special.", "fft.", "signal."):
        if name.startswith(prefix):
            part = prefix.rstrip(".").replace(".", "_")
            return part + "_" + name[len(prefix)] if part == "nn_functional" else part
    return name[0]


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    only = set(sys.argv[1:])
    files, listed = {}, []
    for op in sorted(op_db, key=lambda op: (op.name, op.variant_test_name)):
        if only and op.name not in only:
            continue
        if op.name.startswith(SKIPPED):
            continue
        cases, random = cases_of(op)
        name = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
        listed.append({"name": name, "cases": len(cases), "random": random})
        for case in cases:
            files.setdefault(file_of(op.name), []).append({"op": op.name, "variant": op.variant_test_name, **case})
    if only:
        for cases in files.values():
            for case in cases:
                print(json.dumps(case))
        return
    folder = os.path.join(HERE, "cases")
    for old in os.listdir(folder):
        os.remove(os.path.join(folder, old))
    for name, cases in files.items():
        with open(os.path.join(folder, name + ".json"), "w") as out:
            for case in cases:
                out.write(json.dumps(case, separators=(",", ":")) + "\n")
    with open(os.path.join(HERE, "operations.json"), "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(row) for row in listed) + "\n]\n")


main()
