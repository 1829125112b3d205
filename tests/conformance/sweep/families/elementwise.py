"""Elementwise opcodes over every type, on the values at which their rules change."""

import numpy as np

from families.cases import COMPLEX, F8, FLOATS, INTEGERS, TYPES, Group, Unit, bits, cast, edges, pairs, shape

EXACT_UNARY = ["abs", "ceil", "floor", "negate", "not", "sign", "popcnt", "count-leading-zeros", "is-finite"]
EXACT_UNARY += ["round-nearest-afz", "round-nearest-even", "real", "imag", "sqrt", "copy"]
NEAR_UNARY = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "cbrt", "cosine", "sine", "tan"]
NEAR_UNARY += ["tanh", "erf", "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "rsqrt"]
EXACT_BINARY = ["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "mulhi", "and", "or"]
EXACT_BINARY += ["xor", "shift-left", "shift-right-arithmetic", "shift-right-logical"]
NEAR_BINARY = ["power", "atan2"]
DIRECTIONS = ["EQ", "NE", "GE", "GT", "LE", "LT"]


def _unary_shape(opcode: str, dtype: str, n: int) -> str:
    if opcode == "is-finite":
        return f"pred[{n}]"
    if opcode in ("abs", "real", "imag") and dtype in COMPLEX:
        return f"{'f32' if dtype == 'c64' else 'f64'}[{n}]"
    return f"{dtype}[{n}]"


def unary() -> list[Group]:
    groups = []
    for dtype in TYPES:
        a = edges(dtype)
        units = [
            Unit(op, _unary_shape(op, dtype, a.size), f"{op}(a)", near=op in NEAR_UNARY or dtype in COMPLEX)
            for op in EXACT_UNARY + NEAR_UNARY
        ]
        if dtype in FLOATS:
            for exponent, mantissa in ((8, 7), (5, 10), (4, 3), (5, 2), (8, 23), (11, 52), (3, 0)):
                body = f"reduce-precision(a), exponent_bits={exponent}, mantissa_bits={mantissa}"
                units.append(Unit(f"reduce_precision_e{exponent}m{mantissa}", f"{dtype}[{a.size}]", body))
        groups.append(Group(f"unary {dtype}", {"a": a}, units))
    return groups


def binary() -> list[Group]:
    groups = []
    for dtype in TYPES:
        a, b = pairs(dtype)
        result = shape(dtype, a)
        units = [
            Unit(op, result, f"{op}(a, b)", near=op in NEAR_BINARY or dtype in COMPLEX)
            for op in EXACT_BINARY + NEAR_BINARY
            if not (op == "remainder" and dtype in COMPLEX)  # XLA crashes.
        ]
        if dtype in INTEGERS:  # XLA reads six bits of the exponent: larger ones give it another power.
            units = [unit for unit in units if unit.name != "power"]
            units.append(Unit("power", result, "power(a, e)"))
        for direction in DIRECTIONS:
            if dtype in COMPLEX and direction not in ("EQ", "NE"):  # They have no order, as hlod has it.
                continue
            body = f"compare(a, b), direction={direction}"
            units.append(Unit(f"compare_{direction}", f"pred[{a.size}]", body))
            body += ", type=TOTALORDER"
            units.append(Unit(f"compare_total_{direction}", f"pred[{a.size}]", body))
        if dtype in ("f32", "f64"):
            units.append(Unit("complex", f"{'c64' if dtype == 'f32' else 'c128'}[{a.size}]", "complex(a, b)"))
        arguments = {"a": a, "b": b}
        if dtype in INTEGERS:
            arguments["e"] = np.clip(b, -63 if dtype[0] == "s" else 0, 63).astype(b.dtype)
        groups.append(Group(f"binary {dtype}", arguments, units))
    return groups


def ternary() -> list[Group]:
    groups = []
    for dtype in TYPES:
        a, b = pairs(dtype)
        p = np.arange(a.size) % 3 == 0
        e = edges(dtype)
        low, high = e[1 % e.size :][:1].reshape(()), e[-3 % e.size :][:1].reshape(())
        x = np.roll(a, 5)
        result = shape(dtype, a)
        units = [
            Unit("select", result, "select(p, a, b)"),
            Unit("clamp", result, "clamp(a, x, b)"),
            Unit("clamp_scalar", result, "clamp(low, x, high)"),
        ]
        if dtype in COMPLEX:  # They have no order, as hlod has it.
            units = units[:1]
        groups.append(
            Group(f"ternary {dtype}", {"p": p, "a": a, "b": b, "x": x, "low": low, "high": high}, units)
        )
    return groups


def _halfway(dtype: str) -> np.ndarray:
    """Values that fall between two neighbours of narrower types, on both sides of ranges, and edge values."""
    if dtype in F8:
        return np.arange(256, dtype=np.uint8).view(TYPES[dtype])
    if dtype in INTEGERS or dtype == "pred":
        if dtype == "pred":
            return edges(dtype)
        info = np.iinfo(TYPES[dtype])
        more = [2**k + d for k in range(3, info.bits) for d in (-1, 0, 1, 3)]
        more += [-m for m in more]
        fit = [m for m in more if info.min <= m <= info.max]
        return np.concatenate([edges(dtype), np.array(fit, dtype=TYPES[dtype])])
    real = "f32" if dtype == "c64" else "f64" if dtype == "c128" else dtype
    info = np.finfo(TYPES[real]) if real in ("f16", "f32", "f64") else None
    limits = [2.0**k for k in (7, 8, 15, 16, 31, 32, 63, 64)]
    near = [limit + d for limit in limits for d in (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0)]
    ties = [m * 2.0**e for m in (17, 19, 9, 11, 257, 259, 1.0625, 2049, 2051, 65537) for e in (-8, 0, 6)]
    tiny = [1.5 * 2.0**-k for k in (6, 9, 10, 14, 16, 17, 24)]
    values = near + ties + tiny + [448.0, 464.0, 480.0, 240.0, 248.0, 57344.0, 61440.0, 65504.0, 65519.0, 65520.0]
    values += [15.5, 15.75, 30.0, 31.0, 3.3895e38, 3.4e38, 1e-30]
    with np.errstate(all="ignore"):
        array = np.concatenate([cast(values, real), -cast(values, real), edges(real)])
    if info is not None:
        with np.errstate(all="ignore"):
            array = array[~((np.abs(array) < info.smallest_normal) & (array != 0))]
    if dtype in COMPLEX:
        return (array + 1j * np.roll(array, 7)).astype(TYPES[dtype])
    return array


def convert() -> list[Group]:
    groups = []
    for dtype in TYPES:
        a = _halfway(dtype)
        units = [Unit(f"to_{to}", f"{to}[{a.size}]", "convert(a)") for to in TYPES]
        if dtype in COMPLEX:  # XLA crashes.
            units = [unit for unit in units if unit.name != "to_pred"]
        for to in TYPES:
            if bits(to) == bits(dtype) and "pred" not in (to, dtype) and {to, dtype}.isdisjoint(COMPLEX):
                units.append(Unit(f"bitcast_to_{to}", f"{to}[{a.size}]", "bitcast-convert(a)"))
        groups.append(Group(f"convert {dtype}", {"a": a}, units))
    return groups
