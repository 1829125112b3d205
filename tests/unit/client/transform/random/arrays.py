"""Random shapes, numbers and choices, all of one seed."""

import numpy as np

# Numbers on a grid, so that ties, zeros and bounds that are met are common.
_GRID = np.arange(-3, 4) * 0.5


class Source:
    """Choices of one function. The same seed makes the same ones, also when the function is traced again."""

    def __init__(self, *seed):
        self.rng = np.random.default_rng(seed)

    def below(self, limit):
        return int(self.rng.integers(limit))

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def chance(self, p):
        return self.rng.random() < p

    def one_of(self, options):
        return options[self.below(len(options))]

    def shape(self, least=0, most=3, zero=0.03):
        rank = self.between(least, most)
        dims = [self.between(1, 4) for _ in range(rank)]
        if rank and self.chance(zero):
            dims[self.below(rank)] = 0
        return tuple(dims)

    def numbers(self, shape, dtype="float32", ties=None):
        """Floats: on the grid, or normal. Integers: small. Complex: both parts alike."""
        dtype = np.dtype(dtype)
        if dtype.kind in "iu":
            low = 0 if dtype.kind == "u" else -4
            return self.rng.integers(low, 5, shape).astype(dtype)
        if dtype.kind == "b":
            return self.rng.integers(2, size=shape).astype(bool)
        if dtype.kind == "c":
            return (self.numbers(shape, "float64", ties) + 1j * self.numbers(shape, "float64", ties)).astype(dtype)
        if self.chance(0.5) if ties is None else ties:
            return np.asarray(self.rng.choice(_GRID, shape)).astype(dtype)
        return np.asarray(self.rng.normal(size=shape)).astype(dtype)

    def indices(self, shape, size, dtype="int32", outside=0.3):
        """Into a dimension of `size`; some before it and some beyond."""
        inside = self.rng.integers(0, max(size, 1), shape)
        wild = self.rng.integers(-3, size + 4, shape)
        chosen = np.where(self.rng.random(shape) < outside, wild, inside)
        if np.dtype(dtype).kind == "u":
            chosen = np.abs(chosen)
        return np.asarray(chosen).astype(dtype)
