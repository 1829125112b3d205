#!/usr/bin/env python3
"""Writes gradients/*.json: the gradients that PyTorch's autograd gives for the cases of generate.py, and for values
at the edges (0, equal elements, 1e2, 1e30), for gradient_test. Run it where torch is installed, after generate.py:

    python3 tests/unit/client/tensor/operation/generate_gradients.py

A line is a case of cases/ by its file and line, or one of its own, and the gradient of each floating tensor among the
arguments (null: none): of the sum of all results, element i being multiplied by cos(i). gradients/operations.json says
of each operation how many cases it has, or why there are none."""
import json
import math
import os
import sys
import warnings

import generate
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo import core

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {name: dtype for dtype, name in generate.TYPES.items()}
CASES, ELEMENTS, ELEMENTS_MAX = 3, 160, 1300
# Operations for which PyTorch's gradient is not the derivative.
NOT_COMPARED = {
    "as_strided_scatter": "PyTorch counts what is overwritten",
    "nn.functional.ctc_loss": "PyTorch's is that of the softmax's input",
    "cholesky_inverse": "PyTorch counts the triangle that is not read",
}
# These have poles at 0 and at negative integers, where PyTorch gives whatever rounding gives.
POLES = ("digamma", "polygamma", "special.polygamma")
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -3.0, 100.0, -100.0, 1e30, -1e30]
PAIRS = [0.0, 1.0, -1.0, 2.5, 100.0, -100.0, 1e30]


def decode(value):
    if isinstance(value, list):
        return [decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "values" in value:
        numbers = [float(v) if isinstance(v, str) else v for v in value["values"]]
        dtype = TYPES[value["type"]]
        if dtype.is_complex:
            numbers = [complex(a, b) for a, b in zip(numbers[::2], numbers[1::2])]
        return torch.tensor(numbers, dtype=dtype).reshape(value["dims"])
    if "complex" in value:
        return complex(*decode(value["complex"]))
    if "float" in value:
        return float(value["float"])
    if "dtype" in value:
        return TYPES[value["dtype"]]
    if "slice" in value:
        return slice(*decode(value["slice"]))
    if "ellipsis" in value:
        return Ellipsis
    return value


def leaves(value, found):
    """The floating tensors in order; those that are named, by name."""
    if isinstance(value, torch.Tensor):
        if value.dtype in (torch.float32, torch.float64):
            found.append(value)
    elif isinstance(value, (list, tuple)):
        for v in value:
            leaves(v, found)
    elif isinstance(value, dict):
        for name in sorted(value):
            leaves(value[name], found)
    return found


def results(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in results(v)] if isinstance(value, (list, tuple)) else []


def total(value):
    terms = []
    for result in results(value):
        if not result.requires_grad:
            continue
        parts = [result.real, result.imag] if result.is_complex() else [result]
        for part in parts:
            weights = torch.cos(torch.arange(part.numel(), dtype=torch.float64)).reshape(part.shape)
            terms.append((part * weights.to(part.dtype)).sum())
    if not terms:
        return None
    return sum(t.double() for t in terms)


def gradients(op, args, kwargs):
    """One for each leaf, null where there is none; None when no result has a gradient."""
    try:
        return gradients_of(op, args, kwargs, None)
    except (RuntimeError, NotImplementedError) as error:
        if "differentiable with respect to" not in str(error) and "not implemented" not in str(error):
            raise
    # Not all arguments have one: each by itself.
    made = []
    for i in range(len(leaves([decode(args), {k: decode(v) for k, v in kwargs.items()}], []))):
        try:
            alone = gradients_of(op, args, kwargs, i)
            made.append(None if alone is None else alone[i])
        except (RuntimeError, NotImplementedError):
            made.append(None)
    return made


def gradients_of(op, args, kwargs, only):
    args, kwargs = decode(args), {k: decode(v) for k, v in kwargs.items()}
    wanted = leaves([args, kwargs], [])
    for i, leaf in enumerate(wanted):
        leaf.requires_grad_(only is None or i == only)
    torch.manual_seed(1)
    # The leaves themselves may be updated in place by some operations.
    value = generate.call(op, *generate.changed(tuple(args), lambda t: t.clone()),
                          **generate.changed(kwargs, lambda t: t.clone()))
    loss = total(value)
    if loss is None:
        return None
    made = iter(torch.autograd.grad(loss, [w for w in wanted if w.requires_grad], allow_unused=True))
    made = [next(made) if w.requires_grad else None for w in wanted]
    made = [None if g is None else (g + torch.zeros(g.shape)).reshape(-1).tolist() for g in made]
    if op.name in POLES:
        at = [w.detach().reshape(-1).tolist() for w in wanted]
        made = [None if g is None else [math.nan if x <= 0 and float(x).is_integer() else v for x, v in zip(xs, g)]
                for xs, g in zip(at, made)]
    return [None if g is None else [short(v) for v in g] for g in made]


def short(value):
    if math.isnan(value) or math.isinf(value):
        return generate.element(value)
    value = float(f"{value:.7g}")
    return int(value) if value == int(value) and abs(value) < 1e6 else value


def edges(op):
    """Cases of its own, as (arguments, keywords)."""
    cases = []
    name = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
    t = lambda *v: torch.tensor(v)
    if isinstance(op, core.UnaryUfuncInfo):
        cases.append(((t(*EDGES),), op.sample_kwargs("cpu", torch.float32, None)[0]))
    elif isinstance(op, core.BinaryUfuncInfo):
        few = t(*PAIRS)
        cases.append(((few.reshape(-1, 1).clone(), few), {}))
        if name in ("maximum", "minimum", "fmax", "fmin", "max", "min"):
            cases.append(((t(math.nan, 1.0, 2.0), t(1.0, 1.0, math.nan)), {}))
    ties = t([1.0, 3.0, 3.0, 3.0], [2.0, 2.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0])
    large = t([1e30, -1e30, 1e30], [100.0, -100.0, 0.0])
    positive = torch.arange(1.0, 9.0).reshape(2, 4)
    zero = torch.zeros(2, 3)
    if name in ("max.reduction_with_dim", "amax", "amin", "cummax", "cummin", "logsumexp", "softmax", "log_softmax",
                "nn.functional.softmin", "std", "var", "cumsum", "cumprod", "logcumsumexp", "sort", "norm"):
        extra = () if name in ("norm",) else (1,)
        # PyTorch's logarithms of sums lose the shares of what is large and equal.
        inputs = (ties, torch.ones(2, 3)) if "log" in name else (ties, large, torch.ones(2, 3))
        cases += [((x, *extra), {}) for x in inputs]
    table = {
        "std_mean": [((ties, 1), {})], "var_mean": [((ties, 1), {})], "prod": [((zero, 1), {}), ((ties, 1), {})],
        "linalg.vector_norm": [((zero, p), {"dim": 1}) for p in (3.0, 1.0, 2.0, 0.5, math.inf)]
        + [((ties, p), {"dim": 1}) for p in (3.0, 1.0, math.inf)],
        "linalg.norm": [((zero,), {})], "nn.functional.normalize": [((zero,), {})],
        "cdist": [((zero, zero.clone()), {})], "dist": [((zero, zero.clone()), {"p": p}) for p in (1, 2, 3)],
        "nn.functional.pairwise_distance": [((zero, zero.clone()), {})], "nn.functional.pdist": [((zero,), {})],
        "nn.functional.cosine_similarity": [((zero, positive[:, :3].clone()), {"dim": 1}),
                                            ((zero, zero.clone()), {"dim": 1})],
        "nn.functional.binary_cross_entropy": [((t(0.0, 1.0, 0.0, 1.0, 0.5), t(0.0, 1.0, 1.0, 0.0, 0.5)), {})],
        "nn.functional.binary_cross_entropy_with_logits": [((t(*EDGES), torch.ones(len(EDGES))), {})],
        "nn.functional.smooth_l1_loss": [((t(0.0, 1.0, -1.0, 1e30), torch.zeros(4)), {})],
        "nn.functional.huber_loss": [((t(0.0, 1.0, -1.0, 1e30), torch.zeros(4)), {})],
        "nn.functional.l1_loss": [((t(0.0, 1.0, -1.0, 1e30), torch.zeros(4)), {})],
        "nn.functional.kl_div": [((t(0.0, -100.0, -1e30), t(0.0, 1.0, 0.5)), {"reduction": "sum"})],
        "nn.functional.cross_entropy": [((large, torch.tensor([0, 2])), {})],
        "nn.functional.max_pool1d": [((ties.unsqueeze(0), 2), {"stride": 1})],
        "nn.functional.max_pool2d": [((ties.reshape(1, 1, 3, 4), 2), {"stride": 1})],
        "nn.functional.adaptive_max_pool1d": [((ties.unsqueeze(0), 2), {})],
        "nn.functional.local_response_norm": [((zero.unsqueeze(0), 2), {})],
        "nn.functional.avg_pool1d": [((ties.unsqueeze(0), 2), {})],
        "clamp": [((t(*EDGES), -1.0, 1.0), {})],
        "pow": [((t(0.0, 0.0, 0.0, 2.0, -2.0), t(0.0, 1.0, 2.0, 0.0, 3.0)), {})],
        "lerp": [((t(0.0, 1.0), t(1.0, 3.0), 0.5), {})],
        "nn.functional.layer_norm": [((torch.ones(2, 3), (3,)), {})],
        "linalg.det": [((torch.zeros(2, 2),), {}), ((t([4.0, 1.0], [2.0, 3.0]),), {})],
        "linalg.slogdet": [((t([4.0, 1.0], [2.0, 3.0]),), {})],
        "linalg.svdvals": [((t([4.0, 1.0], [2.0, 3.0], [0.0, 1.0]),), {})],
        "linalg.eigvalsh": [((t([4.0, 1.0], [1.0, 3.0]),), {})],
        "linalg.inv": [((t([4.0, 1.0], [2.0, 3.0]),), {})],
        "linalg.qr": [((t([4.0, 1.0], [2.0, 3.0], [0.0, 1.0]),), {}), ((t([4.0, 1.0, 5.0], [2.0, 3.0, 6.0]),), {})],
    }
    return cases + table.get(name, [])


def scatters(op):
    """Products of updates among which are zeros."""
    if op.name != "scatter_reduce" or op.variant_test_name != "prod":
        return []
    x, index = torch.tensor([[2.0, 3.0, 0.0], [1.0, 2.0, 4.0]]), torch.tensor([[0, 0, 1], [2, 2, 2]])
    source = torch.tensor([[0.0, 5.0, 2.0], [0.0, 0.0, 3.0]])
    return [((x, 1, index, source), {"reduce": "prod", "include_self": own}) for own in (True, False)]


def own(op, cases):
    lines = []
    for args, kwargs in cases:
        try:
            case = {"args": generate.encode(list(args)), "kwargs": {k: generate.encode(v) for k, v in kwargs.items()}}
            made = gradients(op, case["args"], case["kwargs"])
        except (RuntimeError, TypeError, ValueError, generate.Unencodable) as error:
            print("left out:", op.name, op.variant_test_name, str(error)[:80], file=sys.stderr)
            continue
        if made is not None and any(g is not None for g in made):
            lines.append({"op": op.name, "variant": op.variant_test_name, **case, "gradients": made})
    return lines


def recorded():
    """The cases of generate.py by operation: (file:line, case)."""
    folder, found = os.path.join(HERE, "cases"), {}
    for file in sorted(os.listdir(folder)):
        with open(os.path.join(folder, file)) as lines:
            for number, line in enumerate(lines, 1):
                case = json.loads(line)
                found.setdefault((case["op"], case["variant"]), []).append((f"{file}:{number}", case))
    return found


def of_recorded(op, cases):
    return within(op, cases, CASES, ELEMENTS) or within(op, cases, 1, ELEMENTS_MAX)


def within(op, cases, count, elements):
    lines = []
    for where, case in cases:
        try:
            tensors = leaves([decode(case["args"]), {k: decode(v) for k, v in case["kwargs"].items()}], [])
            if not tensors or not 0 < sum(t.numel() for t in tensors) <= elements or len(lines) == count:
                continue
            made = gradients(op, case["args"], case["kwargs"])
        except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
            print("left out:", op.name, op.variant_test_name, str(error)[:80], file=sys.stderr)
            continue
        if made is not None and any(g is not None for g in made):
            lines.append({"op": op.name, "variant": op.variant_test_name, "case": where, "gradients": made})
    return lines


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    folder, known = os.path.join(HERE, "gradients"), recorded()
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(HERE, "operations.json")) as file:
        random = {row["name"] for row in json.load(file) if row["random"]}
    lines, state = [], {}
    for op in sorted(op_db, key=lambda op: (op.name, op.variant_test_name)):
        if op.name.startswith(generate.SKIPPED):
            continue
        name = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
        if name in NOT_COMPARED:
            state[name] = NOT_COMPARED[name]
            continue
        if name in random:
            state[name] = "random"
            continue
        made = of_recorded(op, known.get((op.name, op.variant_test_name), [])) if op.supports_autograd else []
        if op.supports_autograd:
            made += own(op, edges(op) + scatters(op))
        lines += made
        state[name] = len(made) if made or op.supports_autograd else "n/a"
    with open(os.path.join(folder, "cases.json"), "w") as out:
        for line in lines:
            out.write(generate.text(line))
    with open(os.path.join(folder, "operations.json"), "w") as out:
        out.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in state.items()) + "\n}\n")


if __name__ == "__main__":
    main()
