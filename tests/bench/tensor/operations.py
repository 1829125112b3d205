"""Measures single operations of tensors beside JAX and NumPy in the same run: operations.py BUILD.

BUILD is a build folder with tests/operation_bench. Needs the packages of tests/conformance/jax/requirements.txt. Prints
milliseconds (medians) of hlod on the device and on the host, of JAX and of NumPy, and the ratio of each of hlod's to the
faster of the others."""
import json
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np

ROUNDS = 7
LONG = 100_000


def median_ms(f):
    f()
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        f()
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def of_jax(f, *arguments):
    compiled = jax.jit(f)
    return median_ms(lambda: jax.block_until_ready(compiled(*arguments)))


def peers():
    random = np.random.default_rng(1)

    def normal(*dims):
        return random.standard_normal(dims, np.float32)

    line, square, small, big = normal(LONG), normal(200, 200), normal(256, 256), normal(1024, 1024)
    symmetric = normal(100, 100)
    symmetric += symmetric.T
    weights = random.random(LONG, np.float32) + 0.5
    images, kernel = normal(4, 16, 32, 32), np.ones((16, 16, 3, 3), np.float32)
    key = jax.random.key(0)

    def drawn(w):
        return jax.lax.top_k(jnp.log(w) + jax.random.gumbel(key, w.shape), 100)[1]

    def convolved(x):
        return jax.lax.conv_general_dilated(x, kernel, (1, 1), ((1, 1), (1, 1)))

    rows = {
        "sort": (of_jax(jnp.sort, line), lambda: np.sort(line)),
        "argsort": (of_jax(jnp.argsort, line), lambda: np.argsort(line)),
        "topk": (of_jax(lambda x: jax.lax.top_k(x, 100), line), lambda: np.partition(line, LONG - 100)),
        "median": (of_jax(jnp.median, line), lambda: np.median(line)),
        "quantile": (of_jax(lambda x: jnp.quantile(x, 0.3), line), lambda: np.quantile(line, 0.3)),
        "multinomial": (of_jax(drawn, weights), None),
        "cumsum": (of_jax(jnp.cumsum, line), lambda: np.cumsum(line)),
        "cummax": (of_jax(jax.lax.cummax, line), lambda: np.maximum.accumulate(line)),
        "fft": (of_jax(jnp.fft.fft, line), lambda: np.fft.fft(line)),
        "matmul_256": (of_jax(jnp.matmul, small, small), lambda: small @ small),
        "matmul_1024": (of_jax(jnp.matmul, big, big), lambda: big @ big),
        "conv2d": (of_jax(convolved, images), None),
        "svdvals": (of_jax(lambda x: jnp.linalg.svd(x, compute_uv=False), square),
                    lambda: np.linalg.svd(square, compute_uv=False)),
        "eigvalsh": (of_jax(jnp.linalg.eigvalsh, symmetric), lambda: np.linalg.eigvalsh(symmetric)),
        "inv": (of_jax(jnp.linalg.inv, square), lambda: np.linalg.inv(square)),
        "qr": (of_jax(jnp.linalg.qr, square), lambda: np.linalg.qr(square)),
        "nonzero": (None, lambda: np.argwhere(line > 0)),
        "randperm": (of_jax(lambda k: jax.random.permutation(k, LONG), key), lambda: random.permutation(LONG)),
    }
    return {name: (jax_ms, None if numpy is None else median_ms(numpy)) for name, (jax_ms, numpy) in rows.items()}


def main():
    build = sys.argv[1]
    found = json.loads(subprocess.run([f"{build}/tests/operation_bench"], check=True, capture_output=True).stdout)
    others = peers()
    print(f"{'ms':12} {'device':>9} {'host':>9} {'JAX':>9} {'NumPy':>9} {'device/':>8} {'host/':>8}")
    for name, row in found.items():
        times = others.get(name, (None, None))
        best = min((t for t in times if t is not None), default=None)
        cells = [f"{row['device']:9.3f}", f"{row['host']:9.3f}"]
        cells += ["        -" if t is None else f"{t:9.3f}" for t in times]
        cells += ["       -" if best is None else f"{row[side] / best:8.2f}" for side in ("device", "host")]
        print(f"{name:12} {' '.join(cells)}", flush=True)


main()
