#!/usr/bin/python3
"""Records what PyTorch computes for the functions of derivatives_test.cc: the value, the gradients, the derivative in a
direction, and the gradients of the gradients' sum. Run with Debian's python3-torch; writes derivatives.json here."""
import json
import math
import pathlib

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)


def ramp(*dims, scale=0.37, start=0.3):
    """Numbers in (-2, 2), all different, the same in every run."""
    n = math.prod(dims)
    return torch.tensor([2 * math.sin(start + scale * (i + 1) * 1.7) for i in range(n)]).reshape(dims)


def positive(*dims):
    return ramp(*dims).abs() + 0.2


def unit(*dims):
    return ramp(*dims) * 0.45


def at(*values):
    return torch.tensor(values)


def matrix():
    return torch.tensor([[4.0, 1.0, -0.5], [0.7, 3.0, 1.2], [-1.1, 0.4, 2.5]])


INDEX = torch.tensor([2, 0, 2, 1])
GRID = torch.tensor([[0, 2, 1], [1, 1, 0]])

CASES = {
    # Elementwise.
    "abs": (torch.abs, [at(-1.5, 0.0, 2.0)]),
    "acos": (torch.acos, [unit(3)]),
    "acosh": (torch.acosh, [positive(3) + 1]),
    "asin": (torch.asin, [unit(3)]),
    "asinh": (torch.asinh, [ramp(3)]),
    "atan": (torch.atan, [ramp(3)]),
    "atanh": (torch.atanh, [unit(3)]),
    "cosh": (torch.cosh, [ramp(3)]),
    "sinh": (torch.sinh, [ramp(3)]),
    "cos": (torch.cos, [ramp(3)]),
    "sin": (torch.sin, [ramp(3)]),
    "tan": (torch.tan, [unit(3)]),
    "tanh": (torch.tanh, [ramp(2, 3)]),
    "erf": (torch.erf, [ramp(3)]),
    "exp": (torch.exp, [ramp(3)]),
    "expm1": (torch.expm1, [ramp(3)]),
    "log": (torch.log, [positive(3)]),
    "log1p": (torch.log1p, [positive(3)]),
    "sigmoid": (torch.sigmoid, [ramp(3)]),
    "sqrt": (torch.sqrt, [positive(3)]),
    "rsqrt": (torch.rsqrt, [positive(3)]),
    "neg": (torch.neg, [ramp(3)]),
    "floor": (lambda x: torch.floor(x) * x, [ramp(3)]),
    "add_broadcast": (lambda x, y: x + y, [ramp(2, 3), ramp(3)]),
    "sub_alpha": (lambda x, y: torch.sub(x, y, alpha=3), [ramp(2, 1), ramp(3)]),
    "mul_broadcast": (lambda x, y: x * y, [ramp(2, 3), ramp(2, 1, start=1)]),
    "mul_self": (lambda x: x * x, [ramp(3)]),
    "div": (lambda x, y: x / y, [ramp(3), positive(3)]),
    "pow": (torch.pow, [positive(3), ramp(3, start=1)]),
    "pow_number": (lambda x: x**3, [at(-1.0, 0.0, 2.0)]),
    "fmod": (torch.fmod, [ramp(3) * 5, positive(3)]),
    "atan2": (torch.atan2, [ramp(3), ramp(3, start=1)]),
    "maximum": (torch.maximum, [at(1.0, 2.0, 3.0), at(2.0, 2.0, 1.0)]),
    "minimum": (torch.minimum, [at(1.0, 2.0, 3.0), at(2.0, 2.0, 1.0)]),
    "relu": (torch.relu, [at(-1.0, 0.0, 2.0)]),
    "relu6": (F.relu6, [at(-1.0, 0.0, 2.0, 6.0, 7.0)]),
    "hardtanh": (F.hardtanh, [at(-2.0, -1.0, 0.5, 1.0, 3.0)]),
    "hardsigmoid": (F.hardsigmoid, [at(-4.0, -3.0, 0.5, 3.0, 4.0)]),
    "hardswish": (F.hardswish, [at(-4.0, -1.0, 0.5, 2.0, 4.0)]),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.1), [at(-1.0, 0.0, 2.0)]),
    "elu": (F.elu, [at(-1.0, 0.5, 2.0, 800.0)]),
    "selu": (F.selu, [at(-1.0, 0.5, 2.0)]),
    "silu": (F.silu, [ramp(3)]),
    "gelu": (F.gelu, [ramp(3)]),
    "softplus": (F.softplus, [at(-1.0, 0.5, 2.0)]),
    "logsigmoid": (F.logsigmoid, [at(-1.0, 0.5, 2.0)]),
    "mish": (F.mish, [ramp(3)]),
    "clamp": (lambda x: torch.clamp(x, -1, 1), [at(-2.0, -1.0, 0.5, 1.0, 3.0)]),
    "where": (lambda x, y: torch.where(x > 0, x * y, y), [ramp(4), ramp(4, start=1)]),
    "logaddexp": (torch.logaddexp, [at(1.0, 2.0), at(1.0, -1.0)]),
    # Reductions.
    "sum": (lambda x: x.sum(1), [ramp(2, 3)]),
    "mean": (lambda x: x.mean((0, 2)), [ramp(2, 3, 2)]),
    "prod": (lambda x: x.prod(1), [torch.tensor([[1.5, 2.0, -3.0], [0.0, 2.0, 4.0], [0.0, 0.0, 2.0]])]),
    "amax": (lambda x: x.amax(1), [torch.tensor([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]])]),
    "amin": (lambda x: x.amin(0), [torch.tensor([[1.0, 3.0, 3.0], [2.0, 3.0, 1.0]])]),
    "logsumexp": (lambda x: torch.logsumexp(x, 1), [ramp(2, 3)]),
    "softmax": (lambda x: torch.softmax(x, 1), [ramp(2, 3)]),
    "log_softmax": (lambda x: torch.log_softmax(x, 0), [ramp(2, 3)]),
    "var": (lambda x: x.var(1), [ramp(2, 3)]),
    "norm": (lambda x: torch.linalg.vector_norm(x, dim=1), [torch.tensor([[3.0, 4.0], [1.0, -2.0]])]),
    "cross_entropy": (lambda x: F.cross_entropy(x, INDEX), [ramp(4, 3)]),
    "mse_loss": (F.mse_loss, [ramp(4), ramp(4, start=1)]),
    # Contraction.
    "matmul": (torch.matmul, [ramp(2, 3), ramp(3, 4)]),
    "matmul_batch": (torch.matmul, [ramp(2, 2, 3), ramp(2, 3, 2)]),
    "matmul_broadcast": (torch.matmul, [ramp(2, 1, 2, 3), ramp(4, 3, 2)]),
    "matmul_vector": (torch.matmul, [ramp(3), ramp(2, 3, 2)]),
    "linear": (F.linear, [ramp(2, 3), ramp(4, 3), ramp(4)]),
    "einsum": (lambda x, y: torch.einsum("bij,kjb->ikb", x, y), [ramp(2, 3, 4), ramp(5, 4, 2)]),
    "conv1d": (lambda x, w: F.conv1d(x, w, stride=2, padding=1), [ramp(1, 2, 6), ramp(3, 2, 3)]),
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, padding=1), [ramp(2, 2, 4, 4), ramp(3, 2, 3, 3), ramp(3)]),
    "conv2d_dilated": (lambda x, w: F.conv2d(x, w, stride=(2, 1), dilation=(1, 2)), [ramp(1, 2, 6, 7), ramp(2, 2, 2, 3)]),
    "conv2d_groups": (lambda x, w: F.conv2d(x, w, groups=2, padding=1), [ramp(2, 4, 3, 3), ramp(6, 2, 3, 3)]),
    "conv_transpose2d": (lambda x, w: F.conv_transpose2d(x, w, stride=2), [ramp(1, 2, 3, 3), ramp(2, 3, 2, 2)]),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2), [ramp(1, 2, 4, 4)]),
    "max_pool2d_overlap": (lambda x: F.max_pool2d(x, 3, 2, 1), [ramp(1, 1, 5, 5)]),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 2, 1, 1), [ramp(1, 2, 3, 3)]),
    # Movement.
    "reshape": (lambda x: x.reshape(3, 2) * x.reshape(3, 2), [ramp(2, 3)]),
    "permute": (lambda x: x.permute(2, 0, 1).exp(), [ramp(2, 3, 2)]),
    "slice": (lambda x: x[:, 1:6:2].exp(), [ramp(2, 7)]),
    "select": (lambda x: x[1].exp(), [ramp(3, 2)]),
    "expand": (lambda x: x.expand(3, 2).exp(), [ramp(1, 2)]),
    "cat": (lambda x, y: torch.cat([x, y, x], 1).exp(), [ramp(2, 2), ramp(2, 1)]),
    "stack": (lambda x, y: torch.stack([x, y], 1).exp(), [ramp(2), ramp(2, start=1)]),
    "pad": (lambda x: F.pad(x, (1, 2, 0, 1), value=2.0).exp(), [ramp(2, 3)]),
    "flip": (lambda x: x.flip(0, 1).exp(), [ramp(2, 3)]),
    "roll": (lambda x: x.roll(1, 1).exp(), [ramp(2, 3)]),
    "diagonal": (lambda x: x.diagonal().exp(), [ramp(3, 3)]),
    "unfold": (lambda x: x.unfold(0, 3, 1).exp(), [ramp(5)]),
    "tril": (lambda x: x.tril().exp(), [ramp(3, 3)]),
    "index_select": (lambda x: x.index_select(0, INDEX).exp(), [ramp(3, 2)]),
    "gather": (lambda x: x.gather(1, GRID).exp(), [ramp(2, 3)]),
    "embedding": (lambda w: F.embedding(GRID, w).exp(), [ramp(3, 2)]),
    "scatter_add": (lambda x, s: x.scatter_add(1, GRID, s).exp(), [ramp(2, 3), ramp(2, 3, start=1)]),
    "index_add": (lambda x, s: x.index_add(0, INDEX, s).exp(), [ramp(3, 2), ramp(4, 2, start=1)]),
    "index_copy": (lambda x, s: x.index_copy(0, INDEX[:2], s).exp(), [ramp(3, 2), ramp(2, 2, start=1)]),
    "masked_fill": (lambda x: x.masked_fill(x > 0, 3.0).exp(), [ramp(2, 3)]),
    "sort": (lambda x: x.sort(1, descending=True).values.exp(), [ramp(2, 4)]),
    "topk": (lambda x: x.topk(2, 1).values.exp(), [ramp(2, 4)]),
    # Linear algebra.
    "cholesky": (lambda x: torch.linalg.cholesky(x @ x.T + torch.eye(3)), [ramp(3, 3)]),
    "cholesky_upper": (lambda x: torch.linalg.cholesky(x @ x.mT + torch.eye(2), upper=True), [ramp(2, 2, 2)]),
    "solve_triangular": (lambda a, b: torch.linalg.solve_triangular(a + 2 * torch.eye(3), b, upper=False), [ramp(3, 3), ramp(3, 2)]),
    "solve_triangular_right": (
        lambda a, b: torch.linalg.solve_triangular(a + 2 * torch.eye(3), b, upper=True, left=False),
        [ramp(2, 3, 3), ramp(2, 2, 3)],
    ),
    "solve_triangular_unit": (
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=True, unitriangular=True),
        [ramp(3, 3), ramp(3, 2)],
    ),
    "solve": (lambda a, b: torch.linalg.solve(a + 2 * torch.eye(3), b), [ramp(3, 3), ramp(3, 2)]),
    "inv": (lambda a: torch.linalg.inv(a + 2 * torch.eye(3)), [ramp(2, 3, 3)]),
    "logdet": (lambda a: torch.linalg.slogdet(a + 2 * torch.eye(3)).logabsdet, [ramp(2, 3, 3)]),
    # Several together.
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (4,), w, b), [ramp(3, 4), ramp(4, start=1), ramp(4)]),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b), [ramp(2, 4, 3), ramp(4, start=1), ramp(4)]),
    "attention": (
        lambda q, k, v: torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(4), -1) @ v,
        [ramp(2, 3, 4), ramp(2, 5, 4, start=1), ramp(2, 5, 4, start=2)],
    ),
    "mlp": (
        lambda x, w1, b1, w2: F.cross_entropy(torch.tanh(x @ w1 + b1) @ w2, INDEX),
        [ramp(4, 3), ramp(3, 5), ramp(5), ramp(5, 3, start=1)],
    ),
    # With derivatives of their own.
    "erfinv": (torch.erfinv, [unit(3)]),
    "lgamma": (torch.lgamma, [at(0.3, 2.5, 7.0)]),
    "sinc": (torch.sinc, [at(0.9, 0.4, -1.7)]),
    "xlogy": (torch.xlogy, [at(0.0, 1.5, 2.0), at(2.0, 0.3, 4.0)]),
    "binary_cross_entropy": (F.binary_cross_entropy, [at(0.2, 0.5, 0.9), at(0.0, 0.4, 1.0)]),
    "std": (lambda x: x.std(1), [ramp(2, 3)]),
    "norm_3": (lambda x: torch.linalg.vector_norm(x, 3, dim=1), [ramp(2, 3)]),
    "max_dim": (lambda x: x.max(1).values, [torch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 1.0]])]),
    "max_pool2d_with_indices": (lambda x: F.max_pool2d(x, 2, 1), [ramp(1, 1, 3, 3).round()]),
    "adaptive_max_pool2d": (lambda x: F.adaptive_max_pool2d(x, 2), [ramp(1, 2, 5, 4)]),
    "det": (torch.linalg.det, [matrix()]),
    "slogdet": (lambda x: torch.linalg.slogdet(x)[1], [matrix()]),
    "qr": (lambda x: sum((weights(t) * t).sum() for t in torch.linalg.qr(x)), [matrix()[:, :2].clone()]),
    "svdvals": (torch.linalg.svdvals, [matrix()]),
    "eigvalsh": (lambda x: torch.linalg.eigvalsh(x + x.T), [matrix()]),
    "pinv": (torch.linalg.pinv, [matrix()[:, :2].clone()]),
    "ctc_loss": (
        lambda x: F.ctc_loss(F.log_softmax(x, 2), torch.tensor([[1, 2, 2], [1, 1, 0]]), (6, 5), (3, 2), reduction="sum"),
        [ramp(6, 2, 4)],
    ),
    "in_place": (lambda x: in_place(x), [ramp(2, 3)]),
}


def in_place(x):
    y = x * 2
    y[0].mul_(x[1])
    y[:, 1] = x[:, 0].exp()
    y += x
    return y


def weights(t):
    return torch.cos(torch.arange(t.numel(), dtype=torch.float64)).reshape(t.shape)


def flat(t):
    return {"dims": list(t.shape), "values": (t.detach() + torch.zeros(t.shape)).reshape(-1).tolist()}


def record(f, inputs):
    xs = [x.clone().requires_grad_() for x in inputs]
    y = f(*xs)
    total = (y * weights(y)).sum()
    gradients = torch.autograd.grad(total, xs, create_graph=True)
    case = {"inputs": [flat(x) for x in inputs], "value": flat(y), "gradients": [flat(g) for g in gradients]}
    # The derivative of total in the direction of the weights.
    case["directional"] = float(sum((g * weights(g)).sum() for g in gradients))
    second = sum((g * weights(g)).sum() for g in gradients)
    try:
        twice = torch.autograd.grad(second, xs, allow_unused=True) if second.requires_grad else None
    except RuntimeError:  # Not every derivative of PyTorch has one.
        twice = None
    if twice is not None:
        case["second"] = [flat(torch.zeros_like(x) if g is None else g) for x, g in zip(inputs, twice)]
    return case


def main():
    path = pathlib.Path(__file__).with_name("derivatives.json")
    lines = []
    for name, (f, inputs) in CASES.items():
        text = json.dumps(record(f, inputs), allow_nan=True)
        lines.append(f'"{name}": {text}')
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
