"""All conversions between element types."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np

from programs import inputs, npy
from programs.elementwise import complex_values
from programs.harness import Program, Registry

CASES = Registry()


def conversion(sources: dict[str, np.ndarray], targets: tuple[str, ...]):
    """Each source to each target; the results are one array for each target, sources in order."""

    def f(arrays):
        return {t: jnp.concatenate([a.astype(npy.NUMPY_TYPES[t]) for a in arrays.values()]) for t in targets}

    return Program(f, (sources,), kind="exact", x64=True, check_f64=False)


def float_sources(rng, names):
    small = lambda name: rng.uniform(-100, 100, 20).astype(npy.NUMPY_TYPES[name])
    wide = lambda name: inputs.wide(rng, 12, np.float64, -3, 4).astype(npy.NUMPY_TYPES[name])
    odd = np.array(
        [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 127, 128, -128, 255, 300, -300, np.inf, -np.inf, np.nan]
    )
    return {
        name: np.concatenate([small(name), wide(name), odd.astype(npy.NUMPY_TYPES[name])]) for name in names
    }


def integer_sources(rng, names):
    def values(name):
        dtype = npy.NUMPY_TYPES[name]
        info = np.iinfo(dtype)
        spread = rng.integers(info.min, info.max, 24, dtype=dtype, endpoint=True)
        near = rng.integers(max(info.min, -100), 100, 12, dtype=dtype)
        return np.concatenate([spread, near, np.array([0, 1, info.min, info.max], object).astype(dtype)])

    return {name: values(name) for name in names}


CORE_FLOATS = ("bf16", "f16", "f32", "f64")
CORE_INTEGERS = ("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64")


@CASES.case("convert_zoo")
def convert_zoo(rng):
    """Every conversion among pred, eight integer and four float types: truncation, saturation, NaN,
    rounding."""
    sources = (
        {"pred": rng.random(16) < 0.5} | float_sources(rng, CORE_FLOATS) | integer_sources(rng, CORE_INTEGERS)
    )
    return conversion(sources, ("pred",) + CORE_FLOATS + CORE_INTEGERS)


@CASES.case("convert_complex")
def convert_complex(rng):
    """Real and complex types to c64 and c128."""
    sources = float_sources(rng, ("f32", "f64")) | integer_sources(rng, ("s8", "s32"))
    sources |= {"c64": complex_values(rng, 12, np.complex64), "c128": complex_values(rng, 12, np.complex128)}
    return conversion(sources, ("c64", "c128"))


F8 = ("f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e5m2fnuz", "f8e3m4", "f8e4m3")


@CASES.case("convert_f8_widen")
def convert_f8_widen(rng):
    """All 256 bit patterns of each f8 type to bf16, f16, f32 and f64."""
    sources = {name: np.arange(256, dtype=np.uint8).view(npy.NUMPY_TYPES[name]) for name in F8}
    return conversion(sources, CORE_FLOATS)


@CASES.case("convert_f8_narrow")
def convert_f8_narrow(rng):
    """f32 and bf16 to each f8 type: ties to even, overflow, subnormal results, infinities, NaN."""
    every = np.concatenate(
        [np.arange(256, dtype=np.uint8).view(npy.NUMPY_TYPES[t]).astype(np.float32) for t in F8]
    )
    every = np.unique(every[np.isfinite(every)])
    between = (every[1:] + every[:-1]) / 2
    chosen = np.concatenate(
        [
            rng.choice(every, 60),
            rng.choice(between, 60),
            inputs.wide(rng, 100, np.float32, -4, 4),
            np.array([0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 465, 480, -500], np.float32),
        ]
    )
    return conversion({"f32": chosen.astype(np.float32), "bf16": chosen.astype(ml_dtypes.bfloat16)}, F8)


@CASES.case("convert_int4")
def convert_int4(rng):
    """s4 and u4 from and to wider types."""
    narrow = {"s4": np.arange(-8, 8).astype(ml_dtypes.int4), "u4": np.arange(16).astype(ml_dtypes.uint4)}
    values = {
        "s8": np.arange(-8, 8, dtype=np.int8),
        "s32": np.arange(-8, 8, dtype=np.int32),
        "f32": np.linspace(0, 7, 16).astype(np.float32),
    }
    return conversion(narrow | values, ("s4", "u4", "s8", "s32", "f32", "bf16"))
