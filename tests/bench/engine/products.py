#!/usr/bin/env python3
"""Matrix products: the engine's times beside XLA's, in one run, both with the instructions of one level.

    products.py MODULE_BENCH                          every case, with all instructions of this processor
    products.py MODULE_BENCH --level avx2             both limited to AVX2
    products.py MODULE_BENCH --only f32_1024 --rounds 5

A ratio above 1 is slower than XLA. Each is the median over the rounds, in which the engine and XLA take turns.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

XLA_LEVELS = {"avx2": "AVX2", "avx512": "AVX512"}


def cases(jnp, jax):
    """Yields name, function, and the shapes and type of the arguments."""
    product = lambda a, b: a @ b  # noqa: E731
    for kind in ("f32", "bf16", "f16", "f64"):
        for n in (64, 128, 256, 512, 1024, 2048):
            if n < 2048 or kind == "f32":
                yield f"{kind}_{n}", product, [(n, n), (n, n)], kind
    for kind in ("f32", "bf16"):
        for batch, n in ((8, 8), (64, 8), (512, 8), (8, 16), (64, 16), (512, 16), (8, 32), (64, 32), (512, 32),
                         (8, 64), (64, 64), (512, 64), (8, 128), (64, 128)):
            yield f"{kind}_batch_{batch}x{n}", product, [(batch, n, n), (batch, n, n)], kind
    scores = lambda q, k: jnp.einsum("bthd,bshd->bhts", q, k)  # noqa: E731
    yield "f32_attention_scores", scores, [(4, 128, 8, 64), (4, 128, 8, 64)], "f32"
    yield "bf16_attention_scores", scores, [(4, 128, 8, 64), (4, 128, 8, 64)], "bf16"
    for kind in ("f32", "bf16", "f16"):
        yield f"{kind}_vector_1024", product, [(1, 1024), (1024, 1024)], kind
        yield f"{kind}_rows8_1024", product, [(8, 1024), (1024, 1024)], kind
        yield f"{kind}_transposed_512", lambda a, b: a @ b.T, [(512, 512), (512, 512)], kind
        yield f"{kind}_lhs_transposed_512", lambda a, b: a.T @ b, [(512, 512), (512, 512)], kind
        yield f"{kind}_tall_4096x64x64", product, [(4096, 64), (64, 64)], kind
        yield f"{kind}_outer_64x4096x64", product, [(64, 4096), (4096, 64)], kind

        def mlp(x, w1, b1, w2, b2):
            return jax.nn.gelu(x @ w1 + b1) @ w2 + b2 + x

        def gradient(x, *weights):
            return jax.grad(lambda w: mlp(x, *w).astype(jnp.float32).sum())(weights)

        for rows, width in ((32, 256), (128, 512), (512, 1024)):
            shapes = [(rows, width), (width, 4 * width), (4 * width,), (4 * width, width), (width,)]
            yield f"{kind}_mlp_{rows}x{width}", mlp, shapes, kind
            if rows < 512:
                yield f"{kind}_mlp_gradient_{rows}x{width}", gradient, shapes, kind


def prepare(folder, only):
    import jax
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    types = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": jnp.bfloat16}
    compiled = {}
    random = np.random.default_rng(7)
    for name, function, shapes, kind in cases(jnp, jax):
        if not any(part in name for part in only.split(",")):
            continue
        arguments = [(random.standard_normal(shape) / 8).astype(types[kind]) for shape in shapes]
        lowered = jax.jit(function, keep_unused=True).lower(*arguments)
        (folder / f"{name}.hlo").write_text(lowered.compiler_ir("hlo").as_hlo_text(True))
        for i, argument in enumerate(arguments):
            argument.tofile(folder / f"{name}.{i}")
        compiled[name] = (lowered.compile(), [jax.device_put(argument) for argument in arguments])
    return compiled


def xla_times(compiled, budget_s, clock=time.perf_counter):
    import jax

    figures = {}
    for name, (program, arguments) in compiled.items():
        jax.block_until_ready(program(*arguments))
        times = []
        begin = clock()
        while len(times) < 3 or (clock() - begin < budget_s and len(times) < 1000):
            start = clock()
            jax.block_until_ready(program(*arguments))
            times.append(clock() - start)
        figures[name] = statistics.median(times) * 1e6
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module_bench")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget-ms", type=float, default=20)
    parser.add_argument("--level", choices=XLA_LEVELS)
    parser.add_argument("--flags", default="", help="further flags of module_bench")
    options = parser.parse_args()
    flags = options.flags.split()
    if options.level:
        os.environ["XLA_FLAGS"] = f"--xla_cpu_max_isa={XLA_LEVELS[options.level]}"
        flags += ["--cpu-features", options.level]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        compiled = prepare(folder, options.only)
        rounds = []
        for _ in range(options.rounds):
            command = [options.module_bench, "--budget-ms", str(options.budget_ms), *flags, folder]
            ours = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            rounds.append((ours, xla_times(compiled, options.budget_ms / 1000)))
    print(f"{'':32}{'ours us':>12}{'XLA us':>12}{'ours/XLA':>10}")
    ratios = []
    for name in compiled:
        mine = statistics.median(ours[name]["run_us"] for ours, _ in rounds)
        theirs = statistics.median(xla[name] for _, xla in rounds)
        ratios.append(mine / theirs)
        print(f"{name:32}{mine:12.1f}{theirs:12.1f}{mine / theirs:10.2f}")
    print(f"{'geometric mean':32}{'':24}{statistics.geometric_mean(ratios):10.2f}")


if __name__ == "__main__":
    main()
