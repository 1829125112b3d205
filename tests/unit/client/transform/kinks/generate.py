#!/usr/bin/env python3
"""Writes the table of gradients at ties and kinks in client/include/hlod/tensor/autograd_kinks.md, as PyTorch computes them.

    python3 generate.py        # needs torch of PyPI (recorded with 2.9)

kinks_test.cc walks the table: each line's expression is a function there.
"""
import math
import pathlib

import torch
import torch.nn.functional as F

inf, nan = math.inf, math.nan
pairs = torch.tensor([0, 0])

# The expression in hlod's words, PyTorch's function, the operands.
ROWS = [
    ("Max(x)", torch.max, [3, 1, 3]),
    ("Max(x)", torch.max, [nan, 1, nan]),
    ("Min(x)", torch.min, [3, 1, 1]),
    ("Amax(x)", torch.amax, [3, 1, 3]),
    ("Amax(x)", torch.amax, [nan, 1, nan]),
    ("Amin(x)", torch.amin, [3, 1, 1]),
    ("Median(x)", torch.median, [2, 1, 5, 1]),
    ("Median(x)", torch.median, [nan, 1, nan]),
    ("Nanmedian(x)", torch.nanmedian, [nan, 1, nan, 1]),
    ("Max(x, 0).values", lambda x: torch.max(x, 0)[0], [1, 3, 3]),
    ("Min(x, 0).values", lambda x: torch.min(x, 0)[0], [1, 3, 1]),
    ("Median(x, 0).values", lambda x: torch.median(x, 0)[0], [1, 3, 3, 1, 3, 1]),
    ("Mode(x, 0).values", lambda x: torch.mode(x, 0)[0], [1, 3, 1]),
    ("Sort(x).values * w", lambda x: torch.sort(x)[0] * torch.tensor([1., 2, 3, 4]), [3, 1, 3, 1]),
    ("Quantile(x, 0.5)", lambda x: torch.quantile(x, 0.5), [1, 2, 2, 3, 2]),
    ("Nanquantile(x, 0.5)", lambda x: torch.nanquantile(x, 0.5), [1, 2, 2, nan, 2]),
    ("Cummax(x, 0).values", lambda x: torch.cummax(x, 0)[0], [1, 3, 3, 2, 3]),
    ("Cummin(x, 0).values", lambda x: torch.cummin(x, 0)[0], [3, 1, 1, 2, 1]),
    ("Maximum(x, y)", torch.maximum, [1, 1, nan, 1], [1, 2, 1, nan]),
    ("Minimum(x, y)", torch.minimum, [1, 1, nan, 1], [1, 2, 1, nan]),
    ("Fmax(x, y)", torch.fmax, [1, 1, nan, 1], [1, 2, 1, nan]),
    ("Fmin(x, y)", torch.fmin, [1, 1, nan, 1], [1, 2, 1, nan]),
    ("Clamp(x, 0, 1)", lambda x: torch.clamp(x, 0, 1), [-1, 0, 0.5, 1, 2]),
    ("Clamp(x, 1, 0)", lambda x: torch.clamp(x, 1, 0), [-1, 0, 0.5, 1, 2]),
    ("Clamp(x, 0, 1)", lambda x: torch.clamp(x, 0, 1), [nan, 0.5]),
    ("Clamp(x, y, z)", torch.clamp, [-1, 0, 0.5, 1, 2], [0] * 5, [1] * 5),
    ("Clamp(x, y, z)", torch.clamp, [-1, 0, 0.5, 1, 2], [1] * 5, [0] * 5),
    ("Real(Polar(x, y))", lambda x, y: torch.polar(x, y).real, [2, 0, -1], [1, 1, 1]),
    ("Logit(x)", torch.logit, [-1, 0, 0.5, 1, 2]),
    ("Logsumexp(x, 0)", lambda x: torch.logsumexp(x, 0), [-inf, -inf]),
    ("Softmax(x, 0) * w", lambda x: torch.softmax(x, 0) * torch.tensor([1., 2, 3, 4]), [-inf, 0, 0, -inf]),
    ("Normalize(x)", lambda x: torch.nn.functional.normalize(x, dim=0), [0, 0]),
    ("Nansum(x)", torch.nansum, [1, nan]),
    ("Nanmean(x)", torch.nanmean, [1, nan, 2]),
    ("Softshrink(x)", F.softshrink, [-0.5, 0.5, 1, nan]),
    ("GaussianNllLoss(x, 0, y)", lambda x, y: F.gaussian_nll_loss(x, torch.zeros(2), y), [0, 1e-3], [0, 1]),
    ("Norm(x, 1)", lambda x: torch.norm(x, 1), [2, -2, 0]),
    ("Norm(x, 1.5)", lambda x: torch.norm(x, 1.5), [0, 0]),
    ("Norm(x, 2)", lambda x: torch.norm(x, 2), [0, 0]),
    ("Norm(x, inf)", lambda x: torch.norm(x, inf), [2, -2, 0]),
    ("Norm(x, inf)", lambda x: torch.norm(x, inf), [0, 0]),
    ("Dist(x, y)", torch.dist, [1, 1], [1, 1]),
    ("Cdist(x, y)", lambda x, y: torch.cdist(x[None], y[None]), [1, 1], [1, 1]),
    ("Abs(x)", torch.abs, [-1, 0, 1, nan]),
    ("Sign(x)", torch.sign, [0, 1]),
    ("Floor(x)", torch.floor, [0.5, 1]),
    ("Round(x)", torch.round, [0.5, 1]),
    ("Trunc(x)", torch.trunc, [0.5, 1]),
    ("Frac(x)", torch.frac, [0.5, 1]),
    ("Copysign(x, y)", torch.copysign, [0, 1, 2], [1, -1, 0]),
    ("Remainder(x, y)", torch.remainder, [3, -3, 4], [2, 2, 2]),
    ("FloorDivide(x, y)", lambda x, y: torch.div(x, y, rounding_mode="floor"), [3, 1, 0, -1, inf], [2, 0, 0, 0, inf]),
    ("TruncDivide(x, y)", lambda x, y: torch.div(x, y, rounding_mode="trunc"), [3, 1, 0, -1, inf], [2, 0, 0, 0, inf]),
    ("Fmod(x, y)", torch.fmod, [3, -3, 4], [2, 2, 2]),
    ("Relu(x)", torch.relu, [-1, 0, 1]),
    ("Relu6(x)", F.relu6, [-1, 0, 3, 6, 7]),
    ("Hardtanh(x)", F.hardtanh, [-2, -1, 0, 1, 2]),
    ("Hardsigmoid(x)", F.hardsigmoid, [-4, -3, 0, 3, 4]),
    # Among many elements: of few PyTorch takes another way, which has 1.5 at 3.
    ("Hardswish(x)", lambda x: F.hardswish(torch.cat([x, torch.ones(75)])), [-4, -3, 0, 3, 4]),
    ("LeakyRelu(x, 0.5)", lambda x: F.leaky_relu(x, 0.5), [-1, 0, 1]),
    ("Prelu(x, y)", F.prelu, [-1, 0, 1], [0.25]),
    ("Elu(x, 2)", lambda x: F.elu(x, 2.), [0]),
    ("Celu(x, 2)", lambda x: F.celu(x, 2.), [0]),
    ("Selu(x)", F.selu, [0]),
    ("Threshold(x, 1, 5)", lambda x: F.threshold(x, 1., 5.), [0, 1, 2]),
    ("Hardshrink(x)", F.hardshrink, [-0.5, 0.5, 0.75]),
    ("Softshrink(x)", F.softshrink, [-0.5, 0.5, 0.75]),
    ("MaxPool1d(x, 2)", lambda x: F.max_pool1d(x[None], 2), [1, 1, 2, 2]),
    ("AdaptiveMaxPool1d(x, 1)", lambda x: F.adaptive_max_pool1d(x[None], 1), [1, 1, 1]),
    ("Prod(x)", torch.prod, [0, 2, 3]),
    ("Cumprod(x, 0)", lambda x: torch.cumprod(x, 0), [0, 2, 0]),
    ("Std(x)", torch.std, [1, 1]),
    ("Sqrt(x)", torch.sqrt, [0]),
    ("Pow(x, y)", torch.pow, [0, 0, 0, 0, -1, -1], [2, 1, 0, -1, 0, 2]),
    ("Atan2(x, y)", torch.atan2, [0], [0]),
    ("Hypot(x, y)", torch.hypot, [0, 3], [0, 0]),
    ("Logaddexp(x, y)", torch.logaddexp, [1, 2], [1, 2]),
    ("Xlogy(x, y)", torch.xlogy, [0, 0], [0, 1]),
    ("Sinc(x)", torch.sinc, [0]),
    ("Renorm(x, 2, 0, 5)", lambda x: torch.renorm(x[None], 2, 0, 5.), [3, 4]),
    ("Logit(x, 0.25)", lambda x: torch.logit(x, 0.25), [0.25, 0.75, 0.125]),
    ("NanToNum(x)", torch.nan_to_num, [inf, nan, 1]),
    ("L1Loss(x, y)", F.l1_loss, [1, 2], [1, 1]),
    ("SmoothL1Loss(x, y)", F.smooth_l1_loss, [1, 2], [1, 1]),
    ("HuberLoss(x, y)", F.huber_loss, [1, 2], [1, 1]),
    ("MarginRankingLoss(x, y, 1)", lambda x, y: F.margin_ranking_loss(x, y, torch.tensor([1.])), [1], [1]),
    ("HingeEmbeddingLoss(x, -1)", lambda x: F.hinge_embedding_loss(x, torch.tensor([-1., -1.])), [0.5, 1]),
    ("MultiMarginLoss(x, 0)", lambda x: F.multi_margin_loss(x, torch.tensor(0)), [1, 0]),
    ("ScatterReduce(x, 0, [0, 0], y, amax)", lambda x, y: x.scatter_reduce(0, pairs, y, "amax"), [1, 0], [1, 1]),
    ("IndexReduce(x, 0, [0, 0], y, amax)", lambda x, y: x.index_reduce(0, pairs, y, "amax"), [1, 0], [1, 1]),
    ("ScatterReduce(x, 0, [0, 0], y, prod)", lambda x, y: x.scatter_reduce(0, pairs, y, "prod"), [2, 1], [0, 3]),
]

TABLE = pathlib.Path(__file__).resolve().parents[5] / "client/include/hlod/tensor/autograd_kinks.md"
BEGIN = "|---|---|---|\n"


def numbers(values):
    return " ".join(f"{value + 0.0:.5g}" for value in values)


def row(name, function, *operands):
    tensors = [torch.tensor(operand, dtype=torch.float32, requires_grad=True) for operand in operands]
    function(*tensors).sum().backward()
    gradients = [t.grad if t.grad is not None else torch.zeros_like(t) for t in tensors]
    given, found = "; ".join(map(numbers, operands)), "; ".join(numbers((g + 0).tolist()) for g in gradients)
    return f"| {name} | {given} | {found} |\n"


text = TABLE.read_text()
TABLE.write_text(text[: text.index(BEGIN) + len(BEGIN)] + "".join(row(*each) for each in ROWS))
print(f"{len(ROWS)} rows, PyTorch {torch.__version__}")
