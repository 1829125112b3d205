"""The programs that generate.py records, by name, and what they are written with."""
import math

import torch

PROGRAMS = {}
inf, nan = math.inf, math.nan


def program(f):
    PROGRAMS[f.__name__] = f
    return f


def ramp(*dims, dtype=torch.float64, first=1, grad=False):
    count = math.prod(dims)
    return torch.arange(first, first + count, dtype=dtype).reshape(dims).clone().requires_grad_(grad)


def values(numbers, *dims):
    return torch.tensor(list(numbers), dtype=torch.float64).reshape(dims)


def leaf(numbers, *dims):
    return values(numbers, *dims).requires_grad_()


def ints(numbers):
    return torch.tensor(numbers, dtype=torch.int64)


def backward_sum(y):
    """Returns the sum of y, each element weighted by its number."""
    return (y * ramp(*y.shape)).sum()


def backward(y):
    backward_sum(y).backward(retain_graph=True)
