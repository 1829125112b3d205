"""Opcodes that move elements, and iota, over every type: bit for bit."""

import numpy as np

from families.cases import COMPLEX, TYPES, Group, Unit, edges, shape

LAYOUT = (4, 6)


def movement() -> list[Group]:
    groups = []
    for dtype in TYPES:
        a = np.resize(edges(dtype), LAYOUT)
        b = np.resize(edges(dtype)[::-1], (2, 3))
        s = edges(dtype)[-1:].reshape(())
        i, j = np.array(1, np.int32), np.array(9, np.int32)
        rows = np.array([[3], [0], [9]], np.int32)
        bodies = {
            "broadcast": ((4, 3, 6), "broadcast(a), dimensions={{0,2}}"),
            "reshape": ((3, 8), "reshape(a)"),
            "transpose": ((6, 4), "transpose(a), dimensions={{1,0}}"),
            "reverse": ((4, 6), "reverse(a), dimensions={{0,1}}"),
            "slice": ((2, 2), "slice(a), slice={{[1:4:2], [0:6:4]}}"),
            "dynamic-slice": ((2, 3), "dynamic-slice(a, i, j), dynamic_slice_sizes={{2,3}}"),
            "dynamic-update-slice": ((4, 6), "dynamic-update-slice(a, b, i, j)"),
            "pad": ((6, 13), "pad(a, s), padding=1_1x1_1_1"),
            "pad_negative": ((4, 4), "pad(a, s), padding=0_0x-1_-1"),
            "concatenate": ((8, 6), "concatenate(a, a), dimensions={{0}}"),
            "gather": (
                (3, 6),
                "gather(a, rows), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
                "index_vector_dim=1, slice_sizes={{1,6}}",
            ),
        }
        units = [Unit(name, shape(dtype, dims), body) for name, (dims, body) in bodies.items()]
        if dtype != "pred":
            units.append(Unit("iota", shape(dtype, (3, 7)), "iota(), iota_dimension=1"))
        arguments = {"a": a, "b": b, "s": s, "i": i, "j": j, "rows": rows}
        groups.append(Group(f"movement {dtype}", arguments, units))
    return groups


def linear_algebra() -> list[Group]:
    groups = []
    for dtype in ["bf16", "f16", "f32", "f64"] + COMPLEX:
        rng = np.random.default_rng(5)
        lower = np.tril(rng.integers(1, 5, (4, 4))).astype(np.float64) + 4 * np.eye(4)
        positive = lower @ lower.T
        b = rng.integers(-4, 5, (4, 2))
        units = [
            Unit("cholesky", f"{dtype}[4,4]", "cholesky(a), lower=true", near=True),
            Unit(
                "triangular-solve",
                f"{dtype}[4,2]",
                "triangular-solve(l, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
                near=True,
            ),
        ]
        arguments = {"a": positive, "l": lower, "b": b}
        groups.append(
            Group(f"linear {dtype}", {k: v.astype(TYPES[dtype]) for k, v in arguments.items()}, units, sums=True)
        )
        if dtype in ("f32", "f64"):
            c = "c64" if dtype == "f32" else "c128"
            x = rng.integers(-4, 5, (3, 8)).astype(TYPES[dtype])
            z = (x + 1j * np.roll(x, 3)).astype(TYPES[c])
            units = [
                Unit("fft", f"{c}[3,8]", "fft(z), fft_type=FFT, fft_length={{8}}", near=True),
                Unit("ifft", f"{c}[3,8]", "fft(z), fft_type=IFFT, fft_length={{8}}", near=True),
                Unit("rfft", f"{c}[3,5]", "fft(x), fft_type=RFFT, fft_length={{8}}", near=True),
                Unit("irfft", f"{dtype}[3,8]", "fft(h), fft_type=IRFFT, fft_length={{8}}", near=True),
            ]
            h = np.fft.rfft(x).astype(TYPES[c])
            groups.append(Group(f"fft {dtype}", {"x": x, "z": z, "h": h}, units, sums=True))
    return groups
