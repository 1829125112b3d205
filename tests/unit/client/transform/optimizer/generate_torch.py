#!/usr/bin/env python3
"""Writes torch.json: what PyTorch's optimizers, groups of parameters and schedulers give.

    python3 generate_torch.py        # needs torch (recorded with 1.13)

Numbers are of f64, for that is what the rules are written in. Steps that are skipped for infinite gradients follow the
documented rule of torch.amp.GradScaler, whose kernels PyTorch has for accelerators alone: `Scaler` below.
"""
import json
import math
import pathlib

import torch

torch.set_default_dtype(torch.float64)
START = [1, -2, 0.5, 3]
GRADIENTS = [[0.5, -1, 2, 0.1], [-0.3, 0.8, 1.5, -0.2], [0.9, -0.1, -1, 0.4], [0.05, 0.6, 0.2, -0.7], [1.2, -0.4, -0.3, 0.3]]

# Name: optimizer, steps.
STEPS = {
    "rprop": (lambda p: torch.optim.Rprop(p, lr=0.1), 10),
    "rprop_options": (lambda p: torch.optim.Rprop(p, lr=0.05, etas=(0.3, 1.6), step_sizes=(0.02, 0.11)), 10),
    "asgd": (lambda p: torch.optim.ASGD(p, lr=0.1), 5),
    "asgd_averaged": (lambda p: torch.optim.ASGD(p, lr=0.1, lambd=1e-2, alpha=0.6, t0=4, weight_decay=0.01), 10),
}


def parameter(values=START):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def set_gradient(tensor, step, scale=1.0):
    tensor.grad = torch.tensor(GRADIENTS[step % 5]) * scale


def steps():
    results = {}
    for name, (make, count) in STEPS.items():
        p = parameter()
        optimizer = make([p])
        for step in range(count):
            set_gradient(p, step)
            optimizer.step()
        results[name] = {"steps": count, "after": p.tolist()}
        if "ax" in optimizer.state[p]:
            results[name]["average"] = optimizer.state[p]["ax"].tolist()
    return results


def groups():
    """Two groups of AdamW under two schedules, a third from step 4 on; the rates of each after each step."""
    a, b, c = parameter(), parameter(), parameter()
    optimizer = torch.optim.AdamW([{"params": [a], "weight_decay": 0.1, "betas": (0.8, 0.9)}, {"params": [b], "lr": 0.02}], lr=0.1)
    results = {}
    for name, make in {
        "exponential": lambda: torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9),
        "lambda": lambda: torch.optim.lr_scheduler.LambdaLR(optimizer, [lambda e: 1 / (1 + e), lambda e: 0.5**e]),
    }.items():
        for group, rate in zip(optimizer.param_groups, (0.1, 0.02)):
            group["lr"] = rate
            group.pop("initial_lr", None)
        scheduler = make()
        rates = []
        for step in range(4):
            for p in (a, b):
                set_gradient(p, step)
            optimizer.step()
            scheduler.step()
            rates.append([group["lr"] for group in optimizer.param_groups])
        results[name] = rates
    optimizer.add_param_group({"params": [c], "lr": 0.3, "eps": 1e-3})
    for step in range(3):
        for p in (a, b, c):
            set_gradient(p, step)
        optimizer.step()
    return {"rates": results, "after": [p.tolist() for p in (a, b, c)]}


def plateau():
    optimizer = torch.optim.SGD([{"params": [parameter()]}, {"params": [parameter()], "lr": 0.06}], lr=0.5)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, min_lr=0.005)
    rates = []
    for metric in [1, 0.9, 0.95, 0.95, 0.95, 0.8, 0.8, 0.8, 0.8, 0.8]:
        scheduler.step(metric)
        rates.append([group["lr"] for group in optimizer.param_groups])
    return rates


class Scaler:
    """torch.amp.GradScaler as its documentation has it."""

    def __init__(self, scale, growth, backoff, interval):
        self.scale, self.growth, self.backoff, self.interval, self.tracker = scale, growth, backoff, interval, 0

    def step(self, optimizer, parameters):
        infinite = any(not torch.isfinite(p.grad).all() for p in parameters)
        if not infinite:
            for p in parameters:
                p.grad = p.grad / self.scale
            optimizer.step()
            self.tracker += 1
            if self.tracker == self.interval:
                self.scale, self.tracker = self.scale * self.growth, 0
        else:
            self.scale, self.tracker = self.scale * self.backoff, 0


def scaled():
    """The second of eight steps has an infinity, the sixth a NaN."""
    a, b = parameter(), parameter()
    optimizer = torch.optim.Adam([a, b], lr=0.1)
    scaler = Scaler(1024.0, 4.0, 0.25, 2)
    scales, tracks = [], []
    for step in range(8):
        set_gradient(a, step, scaler.scale)
        set_gradient(b, step + 1, scaler.scale)
        if step == 1:
            b.grad[2] = math.inf
        if step == 5:
            a.grad[0] = math.nan
        scaler.step(optimizer, [a, b])
        scales.append(scaler.scale)
        tracks.append(scaler.tracker)
    return {"scales": scales, "tracks": tracks, "after": [a.tolist(), b.tolist()]}


def rosenbrock(x, y):
    return ((1 - x) ** 2).sum() + 100 * ((y - x**2) ** 2).sum()


# Options of LBFGS, and how many calls of step().
LBFGS = {
    "fixed": ({"lr": 1e-3, "max_iter": 12}, 3),
    "history": ({"lr": 0.05, "max_iter": 30, "history_size": 3}, 3),
    "strong_wolfe": ({"line_search_fn": "strong_wolfe"}, 3),
    "strong_wolfe_short": ({"line_search_fn": "strong_wolfe", "max_iter": 4, "history_size": 2, "lr": 0.5}, 6),
    "few_evaluations": ({"line_search_fn": "strong_wolfe", "max_iter": 20, "max_eval": 5}, 4),
}


def lbfgs():
    results = {}
    for name, (options, calls) in LBFGS.items():
        x, y = parameter([-1.2, 0.3]), parameter([1.0, 2.0])
        optimizer = torch.optim.LBFGS([x, y], **options)
        evaluations = 0

        def closure():
            nonlocal evaluations
            evaluations += 1
            optimizer.zero_grad()
            loss = rosenbrock(x, y)
            loss.backward()
            return loss

        losses, counts, after = [], [], []
        for _ in range(calls):
            losses.append(float(optimizer.step(closure)))
            counts.append(evaluations)
            after.append(x.tolist() + y.tolist())
        results[name] = {"losses": losses, "evaluations": counts, "after": after}
    return results


def main():
    result = {"steps": steps(), "groups": groups(), "plateau": plateau(), "scaled": scaled(), "lbfgs": lbfgs()}
    path = pathlib.Path(__file__).parent / "torch.json"
    path.write_text(json.dumps(result, indent=1) + "\n")


main()
