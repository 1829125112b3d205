#!/usr/bin/env python3
"""Compile and run times of the JAX corpus, two ways in one run.

    compare.py A B              two corpus_bench binaries, in turn: B's times over A's
    compare.py A --xla          XLA's times over A's; needs a Python with jax

Each ratio is the median over the rounds; the last line is the geometric mean.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

CONFORMANCE = pathlib.Path(__file__).resolve().parents[2] / "conformance"
sys.path.insert(0, str(CONFORMANCE))

import pack  # noqa: E402


def bench(binary, arguments):
    run = subprocess.run([binary, "--json", *arguments], stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


def median_time(budget_s, call, prepare=lambda: None):
    """In microseconds, of call(prepare()) without the preparation."""
    times = []
    begin = time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - begin < budget_s and len(times) < 1000):
        prepared = prepare()
        start = time.perf_counter()
        call(prepared)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def xla_bench(only, budget_s):
    import jax
    import numpy

    jax.config.update("jax_enable_x64", True)
    from jax._src.lib import xla_client

    device = jax.devices("cpu")[0]
    client = device.client
    figures = {}
    unpacked = tempfile.TemporaryDirectory()
    for folder in sorted((pack.unpack_all(pathlib.Path(unpacked.name), corpora=("jax",)) / "jax/cases").iterdir()):
        if only not in folder.name or not (folder / "module.pb").exists():
            continue
        try:
            module = xla_client._xla.mlir.hlo_to_stablehlo((folder / "module.pb").read_bytes())
            devices = xla_client.DeviceList((device,))
            options = xla_client.CompileOptions()
            compiled = client.compile_and_load(module, devices, options)
            compile_us = median_time(0, lambda _: client.compile_and_load(module, devices, options))
            arrays = arrays_of(folder, numpy)
            # New buffers for each run: a program may take its arguments over.
            put = lambda: [jax.device_put(array, device).block_until_ready() for array in arrays]
            run = lambda arguments: [leaf.block_until_ready() for leaf in flat(compiled.execute(arguments))]
            run(put())
            figures[folder.name] = {"compile_us": compile_us, "run_us": median_time(budget_s, run, put)}
        except Exception as error:  # A module that XLA does not take is left out, and said.
            print(f"{folder.name}: left out: {str(error).splitlines()[0][:100]}")
    return figures


def flat(results):
    return [leaf for result in results for leaf in (result if isinstance(result, list) else [result])]


def arrays_of(folder, numpy):
    """The case's arguments; the bytes of types that NumPy lacks are viewed as the parameter's type."""
    import ml_dtypes

    types = {"bf16": ml_dtypes.bfloat16, "f16": numpy.float16, "pred": numpy.bool_}
    arrays = []
    for i, parameter in enumerate(json.loads((folder / "case.json").read_text())["parameters"]):
        array = numpy.load(folder / f"arg{i}.npy")
        name = parameter["dtype"]
        if name in types and array.dtype != types[name]:
            array = array.view(types[name])
        arrays.append(array)
    return arrays


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a")
    parser.add_argument("b", nargs="?")
    parser.add_argument("--xla", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--budget-ms", default="20")
    options = parser.parse_args()
    if (options.b is None) != options.xla:
        parser.error("give a second binary, or --xla")
    arguments = ["--only", options.only, "--budget-ms", options.budget_ms]
    rounds = []
    for _ in range(options.rounds):
        ours = bench(options.a, arguments)
        theirs = (xla_bench(options.only, float(options.budget_ms) / 1000) if options.xla
                  else bench(options.b, arguments))
        rounds.append((ours, theirs))
    names = [name for name in rounds[0][0] if all(name in a and name in b for a, b in rounds)]
    logs = {"compile_us": [], "run_us": []}
    for name in names:
        ratios = {}
        for key, log in logs.items():
            ratios[key] = statistics.median(b[name][key] / a[name][key] for a, b in rounds)
            log.append(math.log(ratios[key]))
        print(f"{name:44} compile {ratios['compile_us']:8.2f}   run {ratios['run_us']:8.2f}")
    means = {key: math.exp(sum(log) / len(log)) for key, log in logs.items()}
    print(f"geometric mean of {len(names)}: compile {means['compile_us']:.3f}, run {means['run_us']:.3f}")


if __name__ == "__main__":
    main()
