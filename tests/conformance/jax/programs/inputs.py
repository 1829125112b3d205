"""Input arrays whose magnitudes differ: a kernel that is only right near 1 must not pass."""

import numpy as np


def normal(rng: np.random.Generator, shape, dtype, scale: float = 1.0) -> np.ndarray:
    return (rng.standard_normal(shape) * scale).astype(np.float32).astype(dtype)


def varied(rng: np.random.Generator, shape, dtype, low: float = -3.0, high: float = 3.0) -> np.ndarray:
    """Normal values, each times 2**u for u uniform in [low, high)."""
    return (
        (rng.standard_normal(shape) * 2.0 ** rng.uniform(low, high, shape)).astype(np.float32).astype(dtype)
    )


def wide(rng: np.random.Generator, size: int, dtype, low: float, high: float) -> np.ndarray:
    """Both signs, magnitudes log-uniform in [10**low, 10**high)."""
    magnitude = 10.0 ** rng.uniform(low, high, size)
    return (magnitude * rng.choice([-1.0, 1.0], size)).astype(np.float32).astype(dtype)


def weight(rng: np.random.Generator, shape, dtype, fan_in: int | None = None) -> np.ndarray:
    """Normal, scaled to keep activations near 1."""
    fan_in = fan_in or int(np.prod(shape[:-1]))
    return normal(rng, shape, dtype, fan_in**-0.5)


def integers(rng: np.random.Generator, low: int, high: int, shape, dtype=np.int32) -> np.ndarray:
    return rng.integers(low, high, shape).astype(dtype)
