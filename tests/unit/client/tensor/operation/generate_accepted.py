#!/usr/bin/env python3
"""Writes the table of the element types that PyTorch accepts, for each operation: accepted.inc for the library and accepted.json for its test.

Calls each operation of PyTorch's table (op_db, of 2.9.1) with a recorded case of cases/*.json, once per type, with the case's arrays converted
to that type. A call that raises is a refusal. Run it where torch 2.9.1 is installed:

    python3 tests/unit/client/tensor/operation/generate_accepted.py

KEPT, below, has the types that PyTorch refuses only because its CPU lacks the kernel, and that hlod therefore accepts. The types of indices and
classes are in accepted_indices.inc, and the cases of INDICES in accepted_indices.json. PyTorch/XLA computes indices of s32, too, where its own
lowering is asked before PyTorch judges them (LOWERED).
"""
import glob
import json
import math
import os
import re
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

import torch
from torch.testing._internal.common_methods_invocations import op_db

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../../../../.."))
TYPES = {
    "pred": torch.bool, "u8": torch.uint8, "s8": torch.int8, "s16": torch.int16, "s32": torch.int32,
    "s64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
    "f64": torch.float64, "c64": torch.complex64, "c128": torch.complex128,
}
DISPATCH = os.path.join(ROOT, "client/tensor/dispatch")
INTEGERS, FLOATS, COMPLEX = ("u8", "s8", "s16", "s32", "s64"), ("f16", "bf16", "f32", "f64"), ("c64", "c128")
CASES_MAX = 12  # The cases that are tried per operation and type.

# The types that hlod accepts and PyTorch does not, most for want of a kernel for the CPU, by PyTorch's name. Wherever f32 is accepted, f16 and bf16 are too.
KEPT = {
    "nn.functional.interpolate": (INTEGERS, "the nearest neighbour, which masks of classes need, takes only u8 of the integers"),
    "nn.functional.unfold": (INTEGERS, "a movement of elements, which takes bools"),
    "histc": (INTEGERS, "CUDA counts them"),
    "linalg.vecdot": (("pred",) + INTEGERS, "a sum of products"),
    "linalg.vander": (("pred",), "products, which are defined"),
    "nn.functional.bilinear": (("pred",), "einsum takes them"),
    "nn.functional.upsample_nearest": (INTEGERS, "as interpolate"),
    "nn.functional.embedding_bag": (tuple(TYPES), "the first operand is the indices; the operation itself judges its table"),
    # These judge the types themselves, in training only.
    **{name: (tuple(TYPES), "judged by the operation") for name in ("nn.functional.dropout", "nn.functional.rrelu")},
    "trapezoid": (("pred",), "judged by the operation"),
    "cumulative_trapezoid": (("pred",), "judged by the operation"),
    "trapz": (("pred",), "judged by the operation"),
    "gradient": (("u8",), "differences of other integers are taken, too"),
    "cdist": (COMPLEX, "distances of complex points are real numbers, and are computed"),
    "lerp": (("pred",) + INTEGERS, "they are promoted with the weight"),
    "stft": (("pred",) + INTEGERS + FLOATS, "real signals are transformed, too, and integers are promoted to f32"),
    "istft": (("pred",) + INTEGERS + FLOATS, "the operation itself asks for complex spectra"),
    "addr": (("pred",) + INTEGERS, "the recorded factors are no integers"),
    "index_fill": (("u8",), "the recorded number is negative"),
}
# Rows whose results have no type for narrow floats: no complex number has two parts of 16 bits.
NOT_NARROW = ("complex", "polar", "view_as_complex")
# The types that PyTorch accepts and hlod refuses, by PyTorch's name, with the reason.
REFUSED_HERE = {
    "logcumsumexp": (COMPLEX, "complex numbers have no largest one, by which the sums are scaled"),
    "complex": (("f16",), "XLA has no complex numbers of two halves"),
    "view_as_complex": (("f16",), "as complex"),
    "logaddexp": (COMPLEX, "as logcumsumexp"),
    "logsumexp": (COMPLEX, "as logcumsumexp"),
    "scatter_reduce": (COMPLEX, "its products are found by an order"),
    "nn.functional.soft_margin_loss": (COMPLEX, "a loss is a real number"),
    "matrix_exp": (("f16", "bf16"), "its matrix powers are computed in the type of the matrix"),
    "lu_unpack": (("pred",) + INTEGERS, "the factors are of lu_factor, which takes no integers"),
    "nn.functional.dropout2d": (("pred",) + INTEGERS + COMPLEX, "as dropout in training, where PyTorch refuses them"),
    "nn.functional.dropout3d": (("pred",) + INTEGERS + COMPLEX, "as dropout"),
    "nn.functional.feature_alpha_dropout": (("pred",) + INTEGERS + COMPLEX, "as dropout"),
    "nn.functional.interpolate": (("u8",), "only the nearest neighbour of integers is an integer"),
    "nn.functional.upsample_bilinear": (("u8",), "as interpolate"),
    "nn.functional.adaptive_avg_pool1d": (("pred",) + INTEGERS + COMPLEX, "as adaptive_avg_pool2d, where PyTorch refuses them, too"),
}
# Rows without recorded cases: a function, and a case as in cases/*.json.
X = {"type": "f32", "dims": [2, 3], "values": [0.5, 0.25, 1, 0.125, 0.75, 0.5]}
BATCH = {"type": "f32", "dims": [1, 2, 3, 2], "values": [0.5, 0.25, 1, 0.125, 0.75, 0.5] * 2}


def own(function, *args):
    return function, {"args": list(args), "kwargs": {}}, "f32"


OWN = {
    "nn.functional.rms_norm": own(torch.nn.functional.rms_norm, X, [3]),
    "nn.functional.scaled_dot_product_attention": own(torch.nn.functional.scaled_dot_product_attention, BATCH, BATCH, BATCH),
}
# Rows that are called for several of PyTorch's functions.
SHARED = {
    "nn.functional.conv2d": ["nn.functional.conv1d"],
    "nn.functional.conv_transpose2d": ["nn.functional.conv_transpose1d", "nn.functional.conv_transpose3d"],
    "nn.functional.max_pool2d": ["nn.functional.max_pool1d", "nn.functional.max_pool3d"],
    "nn.functional.avg_pool2d": ["nn.functional.avg_pool1d", "nn.functional.avg_pool3d"],
    "nn.functional.max_unpool2d": ["nn.functional.max_unpool1d", "nn.functional.max_unpool3d"],
    "nn.functional.fractional_max_pool2d": ["nn.functional.fractional_max_pool3d"],
    "nn.functional.adaptive_max_pool2d": ["nn.functional.adaptive_max_pool1d", "nn.functional.adaptive_max_pool3d"],
    "nn.functional.adaptive_avg_pool2d": ["nn.functional.adaptive_avg_pool3d"],
    "linalg.svdvals": ["linalg.svd", "svd"],
    "linalg.eigvalsh": ["linalg.eigh"],
}
# The losses, which are composed of rows and name themselves (LossCall).
LOSSES = [
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "soft_margin_loss", "hinge_embedding_loss", "margin_ranking_loss", "poisson_nll_loss", "cosine_similarity",
    "nll_loss", "cross_entropy", "cosine_embedding_loss", "kl_div", "gaussian_nll_loss", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "triplet_margin_loss",
]

X3 = torch.rand(3, 3)


def vector(t):
    return torch.tensor([0, 1, 0]).to(t)


def square(t):
    return torch.tensor([[0, 1, 0]] * 3).to(t)


F = torch.nn.functional
# Operations with indices or classes: hlod's operands that these are, from the first to the last (-1: to the end), and a call with indices of a type.
INDICES = {
    "gather": (1, 1, lambda t: X3.gather(0, square(t))),
    "scatter": (1, 1, lambda t: X3.scatter(0, square(t), X3)),
    "scatter_add": (1, 1, lambda t: X3.scatter_add(0, square(t), X3)),
    "scatter_reduce": (1, 1, lambda t: X3.scatter_reduce(0, square(t), X3, "sum")),
    "index_select": (1, 1, lambda t: X3.index_select(0, vector(t))),
    "index_add": (1, 1, lambda t: X3.index_add(0, vector(t), X3)),
    "index_copy": (1, 1, lambda t: X3.index_copy(0, vector(t), X3)),
    "index_fill": (1, 1, lambda t: X3.index_fill(0, vector(t), 1.0)),
    "index_reduce": (1, 1, lambda t: X3.index_reduce(0, vector(t), X3, "prod")),
    "index": (1, -1, lambda t: X3[vector(t).reshape(1, 3).expand(3, 3)]),
    "index_put": (2, -1, lambda t: X3.clone().index_put_((vector(t),), torch.tensor(1.0))),
    "take": (1, 1, lambda t: X3.take(vector(t))),
    "put": (1, 1, lambda t: X3.put(vector(t), torch.rand(3))),
    "take_along_dim": (1, 1, lambda t: X3.take_along_dim(square(t), 0)),
    "nn.functional.embedding": (0, 0, lambda t: F.embedding(vector(t), X3)),
    "nn.functional.embedding_bag": (0, 0, lambda t: F.embedding_bag(square(t), X3)),
    "nn.functional.max_unpool2d": (1, 1, lambda t: F.max_unpool2d(torch.rand(1, 1, 1, 1), torch.zeros(1, 1, 1, 1, dtype=t), 2)),
    "nll_loss": (1, 1, lambda t: F.nll_loss(X3, vector(t))),
    "cross_entropy": (1, 1, lambda t: F.cross_entropy(X3, vector(t))),
    "multi_margin_loss": (1, 1, lambda t: F.multi_margin_loss(X3, vector(t))),
    "multilabel_margin_loss": (1, 1, lambda t: F.multilabel_margin_loss(X3, square(t))),
}


def none(t):
    return torch.empty(0, 3).to(t)


# Calls with an index that has no elements: where PyTorch takes one of any type, it is not judged.
EMPTY = {
    "gather": lambda t: X3.gather(0, none(t)),
    "scatter": lambda t: X3.scatter(0, none(t), X3),
    "scatter_add": lambda t: X3.scatter_add(0, none(t), X3),
    "scatter_reduce": lambda t: X3.scatter_reduce(0, none(t), X3, "sum"),
    "index_select": lambda t: X3.index_select(0, none(t)[:, 0]),
    "take": lambda t: X3.take(none(t)),
}
# PyTorch/XLA lowers these itself, and does not look at the type (torch_xla/csrc/aten_xla_type.cpp).
LOWERED = ("gather", "scatter", "scatter_add", "scatter_reduce", "index_select", "index_add", "index", "index_put", "take", "put",
           "nn.functional.max_unpool2d", "nll_loss", "cross_entropy")
# PyTorch takes u8 as a mask, which it has deprecated for years: here it would be taken as numbers.
NO_MASK = ("index", "index_put")


def takes_indices(call, dtype):
    try:
        call(dtype)
        return True
    except Exception:
        return False


def write_indices():
    rows = []
    for name, (first, last, call) in sorted(INDICES.items()):
        mask = {t for t, dtype in TYPES.items() if t not in FLOATS + COMPLEX and takes_indices(call, dtype)}
        mask = (mask | {"s32"} if name in LOWERED else mask) - ({"u8"} if name in NO_MASK else set())
        of_any = name in EMPTY and all(takes_indices(EMPTY[name], dtype) for dtype in TYPES.values())
        rows.append((name, first, last, mask, of_any))
    with open(os.path.join(DISPATCH, "accepted_indices.inc"), "w") as out:
        out.write("""// The types of indices and of classes that PyTorch 2.9.1 or PyTorch/XLA accepts per operation.
// Generated by tests/unit/client/tensor/operation/generate_accepted.py, which has the reasons.
// HLOD_ACCEPTED_INDICES(PyTorch's name, first and last operand that is an index (-1: to the end), types, true if one
// without elements may have any type)
""")
        for name, first, last, mask, of_any in rows:
            out.write(f'HLOD_ACCEPTED_INDICES("{name}", {first}, {last}, {mask_text(mask)}, {str(of_any).lower()})\n')
    with open(os.path.join(HERE, "accepted_indices.json"), "w") as out:
        for name, _, _, mask, _ in rows:
            others = [t for t in ("pred",) + INTEGERS if t not in mask]
            out.write(json.dumps({"op": name, "accepts": sorted(mask), "refuses": others}, separators=(",", ":")) + "\n")


def decode(value, main, wanted):
    """Returns a recorded argument, with the arrays of type `main` converted to the type `wanted`."""
    if isinstance(value, list):
        return [decode(v, main, wanted) for v in value]
    if not isinstance(value, dict):
        return value
    if "values" in value:
        dtype = wanted if value["type"] == main else value["type"]
        return torch.tensor(elements(value, dtype), dtype=TYPES[dtype]).reshape(value["dims"])
    if "float" in value:
        return float(value["float"])
    if "complex" in value:
        return complex(*(decode(v, main, wanted) for v in value["complex"]))
    if "dtype" in value:
        return TYPES[value["dtype"]]
    if "slice" in value:
        return slice(*(decode(v, main, wanted) for v in value["slice"]))
    return Ellipsis


def elements(record, wanted):
    """Returns an array's values as numbers of another type: whole for integers, without a sign for u8. accepted_test.cc does the same."""
    values = [float(v) for v in record["values"]]
    if record["type"] in COMPLEX:
        values = [complex(*pair) for pair in zip(values[::2], values[1::2])]
        return values if wanted in COMPLEX else elements({"type": "f64", "values": [v.real for v in values]}, wanted)
    if wanted == "pred":
        return [v != 0 for v in values]
    if wanted in INTEGERS:
        if record["type"] in INTEGERS + ("pred",):
            return [abs(int(v)) for v in values] if wanted == "u8" else [int(v) for v in values]
        # None is 0, by which integers are not divided.
        whole = [int(math.fmod(v, 100)) or 1 if math.isfinite(v) else 1 for v in values]
        return [abs(v) for v in whole] if wanted == "u8" else whole
    return values


def arrays(value):
    if isinstance(value, dict):
        return [value] if "values" in value else []
    return [a for v in value for a in arrays(v)] if isinstance(value, list) else []


def main_type(case):
    """Returns the type that a case is about: that of its first array."""
    found = arrays(case["args"] + list(case["kwargs"].values()))
    kinds = [a["type"] for a in found]
    for kind in ("f32", "c64", "f64", "bf16"):
        if kind in kinds:
            return kind
    return kinds[0] if kinds else None


def accepts(function, case, main, wanted):
    try:
        function(*decode(case["args"], main, wanted), **{k: decode(v, main, wanted) for k, v in case["kwargs"].items()})
        return True
    except Exception:
        return False


def recorded():
    """Returns the recorded cases by operation and variant."""
    cases = {}
    for path in sorted(glob.glob(os.path.join(HERE, "cases", "*.json"))):
        with open(path) as file:
            for line in file:
                case = json.loads(line)
                cases.setdefault((case["op"], case["variant"]), []).append(case)
    return cases


def arrays_of(case, kind):
    return [a for a in arrays(case["args"] + list(case["kwargs"].values())) if a["type"] == kind]


def usable(function, cases):
    """Returns the cases that say something about types: none without elements, or of one, when there are others."""
    cases = [c for c in cases if main_type(c) is not None and accepts(function, c, main_type(c), main_type(c))]
    large = [c for c in cases if all(math.prod(a["dims"]) > 1 and a["dims"] for a in arrays_of(c, main_type(c)))]
    return sorted(large or cases, key=lambda c: main_type(c) != "f32")[:CASES_MAX]


def ask(function, cases):
    """Returns the types that a case accepts, and lines of accepted.json that show each type in one case."""
    answers = [[accepts(function, case, main_type(case), t) for t in TYPES] for case in cases]
    taken = [t for i, t in enumerate(TYPES) if any(a[i] for a in answers)]
    lines, left = [], list(TYPES)
    for case, answer in zip(cases, answers):
        shown = [t for t, yes in zip(TYPES, answer) if t in left and yes == (t in taken)]
        if not shown:
            continue
        left = [t for t in left if t not in shown]
        lines.append({"op": case["op"], "variant": case["variant"], "main": main_type(case),
                      "accepts": [t for t in shown if t in taken], "refuses": [t for t in shown if t not in taken],
                      "args": case["args"], "kwargs": case["kwargs"]})
    return taken, lines


def needs_one_type(function, cases):
    """Returns true when PyTorch refuses all cases in which the second array is of twice the width."""
    wider, answers = {"f32": "f64", "c64": "c128"}, []
    for case in cases:
        mixed = json.loads(json.dumps(case))
        found = arrays_of(mixed, main_type(case))
        if len(found) > 1 and main_type(case) in wider:
            found[1]["type"] = wider[main_type(case)]
            answers.append(accepts(function, mixed, "", ""))
    return bool(answers) and not any(answers)


def rows():
    """Returns the rows of ops.inc: PyTorch's name and the promotion."""
    with open(os.path.join(DISPATCH, "ops.inc")) as file:
        return re.findall(r'^HLOD_TENSOR_OP\(\w+, "([^"]+)", (\w+)', file.read(), re.M)


def names_for(row, known):
    """Returns PyTorch's functions that a row is called for."""
    own = [row] if row in known else [n for n in known if n.split(".")[-1] == row.split(".")[-1]]
    return own + SHARED.get(row, [])


def mask_text(mask):
    """Returns "kIntegers | kFloats" for a set of types."""
    parts = []
    for name, members in (("kBools", ("pred",)), ("kIntegers", INTEGERS), ("kFloats", FLOATS), ("kComplexes", COMPLEX)):
        if set(members) <= mask:
            parts.append(name)
        else:
            some = ["hlo::k" + m.upper() for m in members if m in mask]
            parts += ["Of({" + ", ".join(some) + "})"] if some else []
    return " | ".join(parts)


def with_kept(row, mask):
    mask = mask | set(KEPT.get(row, ((), ""))[0])
    return mask | {"f16", "bf16"} if "f32" in mask and row not in NOT_NARROW else mask


HEADER = """// The element types that PyTorch 2.9.1 accepts per operation; an operation that accepts all is not listed.
// Generated by tests/unit/client/tensor/operation/generate_accepted.py, which has the exceptions and their reasons.
// HLOD_ACCEPTED(PyTorch's name, types, whether all tensors must have one type)
"""


def write_table(masks, one_type):
    entries = {}
    for row, promotion in rows():
        names = names_for(row, masks)
        if names:
            mask = set().union(*(masks[n] for n in names if n in masks))
            one = promotion != "kNone" and all(one_type[n] for n in names if n in masks)
            entries[row] = (with_kept(row, mask), one)
    for loss in LOSSES:
        entries[loss] = (with_kept(loss, masks["nn.functional." + loss]), False)
    with open(os.path.join(DISPATCH, "accepted.inc"), "w") as out:
        out.write(HEADER)
        for name, (mask, one) in sorted(entries.items()):
            if one or mask != set(TYPES):
                out.write(f'HLOD_ACCEPTED("{name}", {mask_text(mask)}, {str(one).lower()})\n')
    return entries


def row_name(function, entries):
    """Returns the name by which the table has one of PyTorch's functions, or None."""
    for row, shared in SHARED.items():
        if function in shared:
            return row
    last = function.split(".")[-1]
    return next((n for n in (function, last) if n in entries), next((n for n in entries if n.split(".")[-1] == last), None))


def write_lines(lines, entries):
    with open(os.path.join(HERE, "accepted.json"), "w") as out:
        for line in lines:
            name = row_name(line["op"], entries)
            kept = entries[name][0] if name in entries else set()
            if line["op"] not in NOT_NARROW:
                kept = kept | {"f16", "bf16"}
            gone = set(REFUSED_HERE.get(line["op"], ((), ""))[0])
            kept = kept | set(KEPT.get(line["op"], ((), ""))[0])
            line["refuses"] = [t for t in line["refuses"] if t not in kept]
            line["accepts"] = [t for t in line["accepts"] if t not in gone]
            if line["accepts"] or line["refuses"]:
                out.write(json.dumps(line, separators=(",", ":")) + "\n")


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    functions = {(op.name, op.variant_test_name): op.op for op in op_db}
    masks, one_type, lines = {}, {}, []
    for key, cases in sorted(recorded().items()):
        with_own_type = key[1] == "with_dtype"  # It converts its argument first.
        cases = usable(functions[key], cases) if key in functions and not with_own_type else []
        if not cases:
            continue
        taken, shown = ask(functions[key], cases)
        masks[key[0]] = masks.get(key[0], set()) | set(taken)
        one_type[key[0]] = one_type.get(key[0], True) and needs_one_type(functions[key], cases)
        lines += shown
    for name, samples in OWN.items():
        masks[name], one_type[name] = {t for t in TYPES if accepts(*samples, t)}, False
    entries = write_table(masks, one_type)
    write_lines(lines, entries)
    write_indices()


if __name__ == "__main__":
    main()
