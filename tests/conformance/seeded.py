"""Cases of one JAX function each, over normal numbers that the case's name seeds. The folders that have such cases say how a program is
written; the rest of a case is written here, as ../jax has it.
"""

import pathlib
import shutil
import zlib

import jax
import numpy as np
import pack
from programs import harness, npy

TOLERANCE = {"class": "f32_contraction", "rtol": 1e-4, "atol": 1e-5}


class Cases:
    def __init__(self):
        self._cases = {}

    def case(self, about: str, *shapes):
        """Decorates a function that takes arrays of these shapes, or that returns one."""

        def add(f):
            self._cases[f.__name__] = (about, f, shapes)
            return f

        return add

    def write(self, root: pathlib.Path, write_program) -> None:
        """Writes all cases anew, packed. `write_program(name, f, arguments, folder)` writes the program and returns its results."""
        shutil.rmtree(root, ignore_errors=True)
        for name, (about, f, shapes) in self._cases.items():
            rng = np.random.default_rng(zlib.crc32(name.encode()))
            arguments = [rng.normal(size=s).astype(np.float32) for s in shapes]
            folder = root / name
            folder.mkdir(parents=True)
            results = [np.asarray(r) for r in jax.tree.leaves(write_program(name, f, arguments, folder))]
            for i, array in enumerate(arguments):
                npy.write(folder / f"arg{i}.npy", array)
            for i, array in enumerate(results):
                npy.write(folder / f"out{i}.npy", array)
            (folder / "case.json").write_text(harness.to_json(_record(name, about, arguments, results)))
        pack.pack_all(root)


def _record(name, about, arguments, results):
    describe = lambda a: {"dtype": npy.hlo_name(a), "shape": list(a.shape)}
    return {
        "name": name,
        "about": about,
        "source": "jax",
        "reference": f"XLA CPU of jax {jax.__version__}",
        "parameters": [describe(a) for a in arguments],
        "results": [describe(a) | {"tolerance": TOLERANCE} for a in results],
        "donated": [],
        "opcodes": [],
    }
