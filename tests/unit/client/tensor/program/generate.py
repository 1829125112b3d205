#!/usr/bin/env python3
"""Random programs of views, updates in place, reads and frees, run by PyTorch: writes programs.json beside this file.

Elements are int64, so results are exact. What is computed is made contiguous, as hlod's tensors of their own always are
(PyTorch keeps the strides of a transposed operand). Needs Debian's python3-torch. The same seeds give the same file.
"""
import json
import pathlib
import random

import torch

PROGRAMS, LENGTH, TENSORS = 60, 40, 8


def view_step(rng, x):
    """A view operation that PyTorch accepts on x, as [name, arguments...], and its result."""
    choices = []
    if x.dim() > 0:
        dim = rng.randrange(x.dim())
        size = x.size(dim)
        choices += [["transpose", dim, rng.randrange(x.dim())]]
        choices += [["unsqueeze", rng.randrange(-x.dim() - 1, x.dim() + 1)]]
        start, end = sorted(rng.sample(range(size + 1), 2)) if size > 0 else (0, 0)
        choices += [["slice", dim, start, end, rng.choice([1, 1, 2, 3])]]
        if size > 0:
            choices += [["select", dim, rng.randrange(-size, size)], ["narrow", dim, start, end - start]]
        choices += [["flatten"], ["squeeze"]]
        permutation = list(range(x.dim()))
        rng.shuffle(permutation)
        choices += [["permute", permutation]]
    if x.dim() > 1:
        choices += [["diagonal", rng.choice([-1, 0, 1])]]
    if x.dim() == 2 and x.size(0) > 0 and x.size(1) > 0:
        choices += [["as_strided", [min(2, x.size(0)), min(2, x.size(1))], list(x.stride()), x.storage_offset()]]
        choices += [["view", [x.numel()]], ["unfold", 1, min(2, x.size(1)), min(2, x.size(1))]]
    if not choices:
        return None
    step = rng.choice(choices)
    try:
        return step, apply(x, step)
    except RuntimeError:
        return None  # view() of strides that do not fit.


def apply(x, step):
    name, *args = step
    if name == "slice":
        dim, start, end, stride = args
        index = [slice(None)] * x.dim()
        index[dim] = slice(start, end, stride)
        return x[tuple(index)]
    return getattr(x, name)(*args)


def program(seed):
    rng = random.Random(seed)
    tensors, steps = {}, []
    for number in range(2):
        dims = [rng.randrange(1, 5) for _ in range(rng.randrange(1, 4))]
        tensors[number] = torch.arange(1, 1 + int(torch.tensor(dims).prod())).reshape(dims)
        steps.append(["make", number, dims])
    while len(steps) < LENGTH:
        name = rng.choice(list(tensors))
        x = tensors[name]
        kind = rng.choice(["view", "view", "add_", "mul_", "fill_", "copy_", "add", "clone", "read", "sync", "free"])
        if kind == "view":
            made = view_step(rng, x)
            if made is None:
                continue
            target = rng.randrange(TENSORS)
            tensors[target] = made[1]
            steps.append(["view", target, name] + made[0])
        elif kind in ("add_", "mul_", "fill_"):
            number = rng.randrange(-3, 4)
            try:
                getattr(x, kind)(number)
            except RuntimeError:
                continue  # Elements that overlap.
            steps.append([kind, name, number])
        elif kind in ("copy_", "add"):
            other = rng.choice(list(tensors))
            y = tensors[other]
            try:
                if kind == "copy_":
                    x.copy_(y.clone())
                    steps.append(["copy_", name, other])
                else:
                    target = rng.randrange(TENSORS)
                    tensors[target] = (x + y).contiguous()
                    steps.append(["add", target, name, other])
            except RuntimeError:
                continue  # Shapes that do not broadcast.
        elif kind == "clone":
            target = rng.randrange(TENSORS)
            tensors[target] = x.clone(memory_format=torch.contiguous_format)
            steps.append(["clone", target, name])
        elif kind == "read":
            steps.append(["read", name, list(x.shape), x.flatten().tolist()])
        elif kind == "sync":
            steps.append(["sync"])
        elif len(tensors) > 2:
            del tensors[name]
            steps.append(["free", name])
    for name, x in tensors.items():
        steps.append(["read", name, list(x.shape), x.flatten().tolist()])
    return steps


path = pathlib.Path(__file__).with_name("programs.json")
programs = [program(seed) for seed in range(PROGRAMS)]
path.write_text("[\n" + ",\n".join(json.dumps(steps, separators=(",", ":")) for steps in programs) + "\n]\n")
print(f"{path.name}: {PROGRAMS} programs, {path.stat().st_size} bytes")
