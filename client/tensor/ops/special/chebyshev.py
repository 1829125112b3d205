#!/usr/bin/env python3
"""Writes chebyshev.inc beside this file: Chebyshev series of special functions, for special_series.cc.

Each row approximates a smooth function on an interval: HLOD_SERIES(name, low, high, coefficients...), the
variable u in [low, high] standing for what special_series.cc says. Needs mpmath. The coefficients are those of
the interpolant at 64 Chebyshev points, in 50 digits, cut where they no longer count in f64.
"""
import pathlib

from mpmath import (airyai, airybi, besseli, besselj, besselk, bessely, cos, erfc, exp, findroot, log, mp, mpf, pi,
                    sin, sqrt)

mp.dps = 50
POINTS = 64


def series(f, low, high):
    low, high = mpf(low), mpf(high)
    nodes = [cos(pi * (k + mpf(1) / 2) / POINTS) for k in range(POINTS)]
    values = [f((high - low) / 2 * t + (high + low) / 2) for t in nodes]
    coefficients = []
    for j in range(POINTS):
        total = sum(v * cos(pi * j * (k + mpf(1) / 2) / POINTS) for k, v in enumerate(values))
        coefficients.append(total * (1 if j == 0 else 2) / POINTS)
    greatest = max(abs(c) for c in coefficients)
    while coefficients and abs(coefficients[-1]) < greatest * mpf(10) ** -17:
        coefficients.pop()
    assert len(coefficients) < POINTS - 4, "the series does not converge"
    return coefficients


def modulus_and_phase(first, second, shift, scale, zeta):
    """P and Q of: first = (P cos - Q sin) scale, second = (P sin + Q cos) scale, at the angle zeta - shift."""
    def p(x):
        angle = zeta(x) - shift
        return (first(x) * cos(angle) + second(x) * sin(angle)) / scale(x)

    def q(x):
        angle = zeta(x) - shift
        return (second(x) * cos(angle) - first(x) * sin(angle)) / scale(x) * zeta(x)

    return p, q


def near_zero(f):
    """f at u, its limit at 0 by a point close by."""
    tiny = mpf(10) ** -20
    return lambda u: f(u if abs(u) > tiny else tiny)


rows = []


def row(name, f, low, high):
    rows.append((name, low, high, series(near_zero(f), low, high)))


# Modified Bessel functions: u = x, and u = 1 / x beyond 8; those of the second kind u = x x, beyond 2 u = 1 / x.
row("kI0Near", lambda x: exp(-x) * besseli(0, x), 0, 8)
row("kI0Far", lambda u: exp(-1 / u) * besseli(0, 1 / u) / sqrt(u), 0, mpf(1) / 8)
row("kI1Near", lambda x: exp(-x) * besseli(1, x) / x, 0, 8)
row("kI1Far", lambda u: exp(-1 / u) * besseli(1, 1 / u) / sqrt(u), 0, mpf(1) / 8)
row("kK0Near", lambda u: besselk(0, sqrt(u)) + log(sqrt(u) / 2) * besseli(0, sqrt(u)), 0, 4)
row("kK0Far", lambda u: exp(1 / u) * besselk(0, 1 / u) / sqrt(u), 0, mpf(1) / 2)
row("kK1Near", lambda u: sqrt(u) * (besselk(1, sqrt(u)) - log(sqrt(u) / 2) * besseli(1, sqrt(u))), 0, 4)
row("kK1Far", lambda u: exp(1 / u) * besselk(1, 1 / u) / sqrt(u), 0, mpf(1) / 2)

# Bessel functions: u = x x, and beyond 8 u = 1 / (x x).
row("kJ0Near", lambda u: besselj(0, sqrt(u)), 0, 64)
row("kJ1Near", lambda u: besselj(1, sqrt(u)) / sqrt(u), 0, 64)
row("kY0Near", lambda u: bessely(0, sqrt(u)) - 2 / pi * log(sqrt(u)) * besselj(0, sqrt(u)), 0, 64)
row("kY1Near", lambda u: (bessely(1, sqrt(u)) - 2 / pi * (log(sqrt(u)) * besselj(1, sqrt(u)) - 1 / sqrt(u))) / sqrt(u),
    0, 64)
for order, shift in ((0, pi / 4), (1, 3 * pi / 4)):
    p, q = modulus_and_phase(lambda x: besselj(order, x), lambda x: bessely(order, x), shift,
                             lambda x: sqrt(2 / (pi * x)), lambda x: x)
    row(f"kP{order}", lambda u: p(1 / sqrt(u)), 0, mpf(1) / 64)
    row(f"kQ{order}", lambda u: q(1 / sqrt(u)), 0, mpf(1) / 64)

# Airy's function: u = x; above 2 u = 1 / z, and below -4 u = 1 / (z z), with z = 2/3 |x|^(3/2).
row("kAiryNear", airyai, -4, 2)
airy = lambda z: (mpf(3) / 2 * z) ** (mpf(2) / 3)
row("kAiryAbove", lambda u: airyai(airy(1 / u)) * exp(1 / u) * airy(1 / u) ** (mpf(1) / 4), 0,
    1 / (mpf(2) / 3 * mpf(2) ** 1.5))
p, q = modulus_and_phase(lambda z: airybi(-airy(z)), lambda z: airyai(-airy(z)), -pi / 4,
                         lambda z: airy(z) ** (-mpf(1) / 4) / sqrt(pi), lambda z: z)
row("kAiryP", lambda u: p(1 / sqrt(u)), 0, mpf(9) / 256)
row("kAiryQ", lambda u: q(1 / sqrt(u)), 0, mpf(9) / 256)

# exp(x x) erfc(x) for x >= 0: u = x, and x times it beyond 4, u = 1 / (x x).
row("kErfcxNear", lambda u: exp(u * u) * erfc(u), 0, 4)
row("kErfcxFar", lambda u: exp(1 / u) * erfc(sqrt(1 / u)) / sqrt(u), 0, mpf(1) / 16)

# The normal quantile of exp(-y y / 2): -(y - log(y) / y - s / y), u = 1 / y.
def quantile(u):
    y = 1 / u
    p = exp(-y * y / 2)
    x = findroot(lambda x: log(erfc(x / sqrt(2)) / 2) + y * y / 2, y - log(y) / y)
    return (y - log(y) / y - x) * y


row("kQuantileNear", quantile, mpf(1) / 8, mpf(1) / 2)
row("kQuantileFar", quantile, mpf(1) / 64, mpf(1) / 8)

with open(pathlib.Path(__file__).with_name("chebyshev.inc"), "w") as out:
    out.write("// Chebyshev series: written by chebyshev.py.\n// HLOD_SERIES(name, low, high, coefficients...)\n")
    for name, low, high, coefficients in rows:
        text = ", ".join(f"{float(c)!r}" for c in coefficients)
        out.write(f"HLOD_SERIES({name}, {float(low)!r}, {float(high)!r}, {text})\n")
        print(name, len(coefficients))
