#!/usr/bin/env python3
"""Operations under settings that vary, computed by PyTorch 2.9: writes expected.json beside this file.

Each case is called with each of the values; settings_test.cc has the same cases by the same names.
"""
import json
import math
import pathlib

import torch
import torch.nn.functional as F

VALUES = [0.3, 0.7, 1.1, 1.9]
X = torch.tensor([[-1.5, -0.4, 0.3, 1.2], [2.1, -0.7, 0.05, 0.9], [0.6, -2.2, 1.7, -0.1]])
Y = torch.tensor([[0.2, -0.9, 1.3, -0.6], [1.4, 0.8, -1.1, 0.5], [-0.3, 2.4, 0.7, -1.6]])
SQUARE = X @ X.T
WHOLE = torch.tensor([[3, 1, 4, 1], [5, 9, 2, 6]])
SIGNS = torch.tensor([[1.0, -1, 1, -1], [-1, 1, -1, 1], [1, 1, -1, -1]])
INFINITE = torch.tensor([math.nan, math.inf, -math.inf, 1])
IMAGE = X.reshape(1, 1, 3, 4)
CLASSES = torch.tensor([1, 3, 0])


def running(norm, value, x):
    mean, var = torch.zeros(x.shape[1]), torch.ones(x.shape[1])
    norm(x, mean, var, value)
    return torch.cat([mean, var])


def stepped(make, value):
    """Returns the parameter after three steps, each with the gradient Y times the parameter."""
    parameter = X.clone().requires_grad_()
    optimizer = make([parameter], value)
    for _ in range(3):
        optimizer.zero_grad()
        (parameter * parameter * Y).sum().backward()
        optimizer.step()
    return parameter.detach()


def embedded(value):
    with torch.no_grad():
        return F.embedding(CLASSES, Y.clone().repeat(2, 1), max_norm=value)


CASES = {
    "batch_norm eps": lambda v: F.batch_norm(X, None, None, training=True, eps=v),
    "batch_norm inference eps": lambda v: F.batch_norm(X, X[0], Y[2].abs(), eps=v),
    "batch_norm momentum": lambda v: running(
        lambda x, m, s, v: F.batch_norm(x, m, s, training=True, momentum=v / 2), v, X),
    "instance_norm momentum": lambda v: running(
        lambda x, m, s, v: F.instance_norm(x, m, s, momentum=v / 2), v, X.reshape(1, 3, 4)),
    "layer_norm eps": lambda v: F.layer_norm(X, [4], eps=v),
    "rms_norm eps": lambda v: F.rms_norm(X, [4], eps=v),
    "group_norm eps": lambda v: F.group_norm(X, 2, eps=v),
    "local_response_norm alpha": lambda v: F.local_response_norm(IMAGE.transpose(1, 2), 2, alpha=v),
    "local_response_norm beta": lambda v: F.local_response_norm(IMAGE.transpose(1, 2), 2, beta=v),
    "local_response_norm k": lambda v: F.local_response_norm(IMAGE.transpose(1, 2), 2, k=v),
    "threshold threshold": lambda v: F.threshold(X, v, 5),
    "threshold value": lambda v: F.threshold(X, 0.5, v),
    "leaky_relu": lambda v: F.leaky_relu(X, v),
    "elu": lambda v: F.elu(X, v),
    "celu": lambda v: F.celu(X, v),
    "softplus beta": lambda v: F.softplus(X, v),
    "softplus threshold": lambda v: F.softplus(X, 1, v),
    "hardtanh": lambda v: F.hardtanh(X, -v, 2 * v),
    "hardshrink": lambda v: F.hardshrink(X, v),
    "softshrink": lambda v: F.softshrink(X, v),
    "roll": lambda v: torch.roll(X, int(10 * v)),
    "roll dims": lambda v: torch.roll(X, (int(10 * v), -int(10 * v)), (0, 1)),
    "pad value": lambda v: F.pad(X, (1, 2), value=v),
    "tril": lambda v: torch.tril(X, int(v * 2) - 1),
    "triu": lambda v: torch.triu(X, int(v * 2) - 1),
    "add alpha": lambda v: torch.add(X, Y, alpha=v),
    "add alpha of integers": lambda v: torch.add(WHOLE, WHOLE, alpha=int(v * 10)),
    "rsub alpha": lambda v: torch.rsub(X, Y, alpha=v),
    "addcmul": lambda v: torch.addcmul(X, X, Y, value=v),
    "addcmul of integers": lambda v: torch.addcmul(WHOLE, WHOLE, WHOLE, value=int(v * 10)),
    "addcdiv": lambda v: torch.addcdiv(X, X, Y, value=v),
    "addmm alpha": lambda v: torch.addmm(X[0], X, Y.T @ Y, alpha=v),
    "addmm beta": lambda v: torch.addmm(X[0], X, Y.T @ Y, beta=v),
    "addmm of integers": lambda v: torch.addmm(
        WHOLE[:, :2], WHOLE, WHOLE.T, alpha=int(v * 10), beta=int(v * 20)),
    "index_add alpha": lambda v: torch.index_add(X, 0, CLASSES[[0, 2]], Y[:2], alpha=v),
    "nan_to_num": lambda v: torch.nan_to_num(INFINITE, v, 2 * v, -3 * v),
    "logit eps": lambda v: torch.logit(X.abs() / 3, v / 4),
    "round decimals": lambda v: torch.round(X * 1.23456, decimals=int(v * 3) + 1),
    "clamp": lambda v: torch.clamp(X, -v, v),
    "lerp": lambda v: torch.lerp(X, Y, v),
    "isclose rtol": lambda v: torch.isclose(X, Y, rtol=v, atol=0.1).float(),
    "isclose atol": lambda v: torch.isclose(X, Y, atol=v).float(),
    "embedding max_norm": embedded,
    "histc min": lambda v: torch.histc(X, 4, -v, 2),
    "histc max": lambda v: torch.histc(X, 4, -1, v),
    "var correction": lambda v: torch.var(X, 1, correction=v),
    "std correction": lambda v: torch.std(X, 1, correction=v),
    "norm": lambda v: torch.linalg.vector_norm(X, v, 1),
    "pdist": lambda v: F.pdist(X, v),
    "cdist": lambda v: torch.cdist(X, Y, v),
    "renorm p": lambda v: torch.renorm(X, v, 0, 1.0),
    "renorm maxnorm": lambda v: torch.renorm(X, 2, 0, v),
    "pairwise_distance eps": lambda v: F.pairwise_distance(X, Y, eps=v),
    "normalize eps": lambda v: F.normalize(X, eps=v * 2),
    "quantile": lambda v: torch.quantile(X, v / 2, 1),
    "smooth_l1_loss": lambda v: F.smooth_l1_loss(X, Y, beta=v),
    "huber_loss": lambda v: F.huber_loss(X, Y, delta=v),
    "hinge_embedding_loss": lambda v: F.hinge_embedding_loss(X, SIGNS, margin=v),
    "margin_ranking_loss": lambda v: F.margin_ranking_loss(X, Y, SIGNS, margin=v),
    "poisson_nll_loss eps": lambda v: F.poisson_nll_loss(X.abs(), Y, log_input=False, eps=v),
    "cosine_similarity eps": lambda v: F.cosine_similarity(X, Y, eps=v * 5),
    "cosine_embedding_loss": lambda v: F.cosine_embedding_loss(X, Y, SIGNS[:, 0], margin=v - 1),
    "gaussian_nll_loss eps": lambda v: F.gaussian_nll_loss(X, Y, Y.abs(), eps=v),
    "multi_margin_loss": lambda v: F.multi_margin_loss(X, CLASSES, margin=v),
    "triplet_margin_loss margin": lambda v: F.triplet_margin_loss(X, Y, -Y, margin=v),
    "triplet_margin_loss p": lambda v: F.triplet_margin_loss(X, Y, -Y, p=v),
    "cross_entropy label_smoothing": lambda v: F.cross_entropy(X, CLASSES, label_smoothing=v / 2),
    "cross_entropy ignore_index": lambda v: F.cross_entropy(X, CLASSES, ignore_index=int(v * 2)),
    "avg_pool2d divisor": lambda v: F.avg_pool2d(IMAGE, 2, divisor_override=int(v * 10)),
    "lp_pool2d": lambda v: F.lp_pool2d(IMAGE.abs(), v, 2),
    "hamming_window": lambda v: torch.hamming_window(6, True, v, v / 2),
    "kaiser_window": lambda v: torch.kaiser_window(6, True, v),
    "linspace": lambda v: torch.linspace(v, 3 * v, 5),
    "logspace": lambda v: torch.logspace(0, 3, 4, base=v),
    "arange": lambda v: torch.arange(v, v + 4.5 * v, v),
    "full": lambda v: torch.full((3,), v),
    "trapezoid dx": lambda v: torch.trapezoid(X, dx=v),
    "fftfreq": lambda v: torch.fft.fftfreq(5, v),
    "matrix_rank": lambda v: torch.linalg.matrix_rank(SQUARE, atol=3 * v).float(),
    "attention scale": lambda v: F.scaled_dot_product_attention(X, Y, X, scale=v),
    "sgd lr": lambda v: stepped(lambda p, v: torch.optim.SGD(p, v / 4), v),
    "sgd momentum": lambda v: stepped(lambda p, v: torch.optim.SGD(p, 0.1, momentum=v / 2), v),
    "adam lr": lambda v: stepped(lambda p, v: torch.optim.Adam(p, v / 4), v),
    "adam betas": lambda v: stepped(lambda p, v: torch.optim.Adam(p, 0.1, betas=(v / 2, v / 3)), v),
    "adam eps": lambda v: stepped(lambda p, v: torch.optim.Adam(p, 0.1, eps=v), v),
    "adamw weight_decay": lambda v: stepped(lambda p, v: torch.optim.AdamW(p, 0.1, weight_decay=v), v),
    "rmsprop alpha": lambda v: stepped(lambda p, v: torch.optim.RMSprop(p, 0.1, alpha=v / 2), v),
}



def numbers(x):
    return [float(f"{value:.8g}") for value in x.detach().flatten().tolist()]


expected = {name: [numbers(call(v)) for v in VALUES] for name, call in CASES.items()}
data = {"values": VALUES, "x": numbers(X), "y": numbers(Y), "expected": expected}
path = pathlib.Path(__file__).with_name("expected.json")
path.write_text(json.dumps(data, indent=None, separators=(",", ":")).replace('],"', '],\n"') + "\n")
