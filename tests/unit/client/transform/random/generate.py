"""Makes random functions with their derivatives by JAX: generate.py FOLDER --count N --seed S.

Writes FOLDER/NNNN.mlir, what jax.jit lowers function NNNN to; FOLDER/values.bin, all numbers one after the other; and
FOLDER/functions.json, of each function its family, the chain of transforms, and which numbers go in and come out.
With --show I alone, prints function I of that seed: its StableHLO, inputs, and results by JAX, in the types it has and
with floats widened to f64.
"""

import argparse
import json
import pathlib
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

import control
import elementwise
import expressions
import indexing
import networks
import numerics
import products
import reductions
import sweep
import transforms
from arrays import Source

_FAMILIES = [entry for module in (elementwise, indexing, reductions, products, control, expressions, networks)
             for entry in module.FAMILIES]
# Compiled once and run once: optimising would take longer than it saves, and may change what is computed.
_OPTIONS = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True,
            "xla_cpu_enable_fast_min_max": False, "xla_cpu_enable_fast_math": False}


class Values:
    """Arrays in one file."""

    def __init__(self, path):
        self.file, self.offset = open(path, "wb"), 0

    def add(self, x):
        x = np.asarray(x)
        at = self.offset
        self.offset += self.file.write(np.ascontiguousarray(x).tobytes())
        return {"type": x.dtype.name, "dims": list(x.shape), "at": at}


def family_of(seed, i):
    weights = np.array([weight for _, weight in _FAMILIES], dtype=float)
    return _FAMILIES[Source(seed, i, 0).rng.choice(len(_FAMILIES), p=weights / weights.sum())][0]


def _wide(x):
    wider = {"float32": "float64", "bfloat16": "float64", "float16": "float64", "complex64": "complex128"}
    return np.asarray(x).astype(wider.get(np.asarray(x).dtype.name, np.asarray(x).dtype))


class Case:
    def __init__(self, seed, i):
        family = family_of(seed, i)
        self.family = family.__name__
        self.program = family(Source(seed, i, 1))
        reference = self.program.reference or self.program.f
        chain = transforms.random_chain(reference, self.program.varied, self.program.fixed, Source(seed, i, 2))
        self.chain = chain
        self.text = jax.jit(self.program.f, keep_unused=True).lower(self.program.varied, self.program.fixed).as_text()

    def expected(self, wide=False):
        """The program's own results, then those of the chain."""
        of = _wide if wide else np.asarray
        p, c = self.program, self.chain

        value = p.reference or p.f

        def both(varied, fixed, chain_varied, chain_fixed):
            return value(varied, fixed), c.f(chain_varied, chain_fixed)
        arguments = [[of(x) for x in xs] for xs in (p.varied, p.fixed, c.varied, c.fixed)]
        return jax.jit(both).lower(*arguments).compile(_OPTIONS)(*arguments)


def write(folder, count, seed):
    folder.mkdir(parents=True, exist_ok=True)
    values, rows, refused = Values(folder / "values.bin"), [], {}
    for i in range(count):
        try:
            case = Case(seed, i)
            value, results = case.expected()
        except (NotImplementedError, TypeError, ValueError) as error:  # JAX has no such derivative.
            refused.setdefault(f"{family_of(seed, i).__name__}: {str(error).splitlines()[0][:100]}", []).append(i)
            continue
        name = f"{i:05}"
        (folder / f"{name}.mlir").write_text(case.text)
        add = lambda xs: [values.add(x) for x in xs]
        rows.append({"name": name, "family": case.family, "steps": case.chain.steps,
                     "program": {"varied": add(case.program.varied), "fixed": add(case.program.fixed),
                                 "results": add(value)},
                     "varied": add(case.chain.varied), "fixed": add(case.chain.fixed), "results": add(results)})
    values.file.close()
    (folder / "functions.json").write_text(json.dumps({"seed": seed, "count": count, "functions": rows}))
    for reason, which in refused.items():
        print(f"left out ({len(which)}, for instance {which[0]}): {reason}")
    print(f"{len(rows)} functions, {sum(map(len, refused.values()))} left out")


def write_sweep(folder, count, seed):
    """`count` entries of sweep.py in the order of the seed, each with its chains."""
    folder.mkdir(parents=True, exist_ok=True)
    values, rows, entries = Values(folder / "values.bin"), [], list(sweep.entries())
    for i in np.random.default_rng(seed).permutation(len(entries))[:count]:
        name, f, varied, fixed = entries[i]
        file = f"{i:04}"
        (folder / f"{file}.mlir").write_text(jax.jit(f, keep_unused=True).lower(varied, fixed).as_text())
        for letters in sweep.chains(name):
            try:
                chain = sweep.chain_of(name, f, varied, fixed, letters)

                def both(v, x, chain_v, chain_x, f=f, chain=chain):
                    return f(v, x), chain.f(chain_v, chain_x)
                arguments = [[np.asarray(x) for x in xs] for xs in (varied, fixed, chain.varied, chain.fixed)]
                value, results = jax.jit(both).lower(*arguments).compile(_OPTIONS)(*arguments)
            except Exception as error:  # pylint: disable=broad-except
                print(f"left out: {name} {letters}: {str(error).splitlines()[0][:100]}")  # JAX has no such derivative.
                continue
            add = lambda xs: [values.add(x) for x in xs]
            rows.append({"name": f"{name} {letters}", "file": file, "family": "sweep", "steps": chain.steps, "nan_is_free": True,
                         "program": {"varied": add(varied), "fixed": add(fixed), "results": add(value)},
                         "varied": add(chain.varied), "fixed": add(chain.fixed), "results": add(results)})
    values.file.close()
    (folder / "functions.json").write_text(json.dumps({"seed": seed, "count": count, "functions": rows}))
    print(f"{len(rows)} functions of {len(entries)} entries")


def show(seed, i):
    case = Case(seed, i)
    print(case.family, case.chain.steps)
    print(case.text)
    print("varied", case.chain.varied, "\nfixed", case.chain.fixed)
    print("\nresults", *case.expected())
    print("\nwith f64", *case.expected(wide=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int)
    parser.add_argument("--numerics", action="store_true", help="functions of numerics.py instead of all others")
    parser.add_argument("--sweep", action="store_true", help="entries of sweep.py instead of random functions")
    arguments = parser.parse_args()
    if arguments.numerics:
        _FAMILIES[:] = numerics.FAMILIES
    warnings.simplefilter("ignore")
    if arguments.sweep:
        write_sweep(arguments.folder, arguments.count, arguments.seed)
    elif arguments.show is not None:
        show(arguments.seed, arguments.show)
    else:
        write(arguments.folder, arguments.count, arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
