#!/usr/bin/env python3
"""Writes pytorch.csv: what the installed PyTorch's autocast does with each operation.

    /usr/bin/python3 generate.py

Each row is a profile, an operation with its overload, and, for the CPU, the type of its result under
torch.autocast("cpu", dtype=torch.bfloat16) on f32 arguments where the operator database has some. The operations
are those that have a kernel of their own for autocast's dispatch key.
"""
import csv
import pathlib
import sys
import types
import unittest

# PyTorch's test helpers import expecttest, which is not needed here.
sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase, ACCEPT=False))

import torch
from torch.testing._internal.common_methods_invocations import op_db

KEYS = {"cuda": "AutocastCUDA", "cpu": "AutocastCPU"}
TYPES = {torch.float32: "f32", torch.bfloat16: "bf16"}


def result_type(name):
    """The type of the first result for the first sample that works, or nothing."""
    for op in op_db:
        if op.name.replace("nn.functional.", "").replace(".", "_") != name or op.variant_test_name:
            continue
        for sample in op.sample_inputs("cpu", torch.float32):
            try:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    result = op(sample.input, *sample.args, **sample.kwargs)
            except Exception:  # Not every operation computes in bf16.
                continue
            first = result[0] if isinstance(result, (tuple, list)) else result
            return TYPES.get(getattr(first, "dtype", None), "")
    return ""


def main():
    rows = []
    for profile, key in KEYS.items():
        for registered in torch._C._dispatch_get_registrations_for_dispatch_key(key):
            name, _, overload = registered.removeprefix("aten::").partition(".")
            rows.append((profile, name, overload, result_type(name) if profile == "cpu" else ""))
    with open(pathlib.Path(__file__).parent / "pytorch.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("profile", "operation", "overload", "result"))
        writer.writerows(sorted(rows))


main()
