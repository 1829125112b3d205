"""Writes what jax.export's Exported.serialize() gives for functions whose results are worked out by hand in exported_test.cc.

    python generate.py    # needs the packages jax and flatbuffers
"""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
HERE = pathlib.Path(__file__).resolve().parent


def array(*shape, dtype="float32"):
    return jax.ShapeDtypeStruct(shape, dtype)


def write(name, exported, **options):
    (HERE / f"{name}.exported").write_bytes(exported.serialize(**options))


def main():
    # A size that is a symbol, a tree of arguments whose keys are sorted, and two platforms.
    def affine(p, x):
        return {"y": x @ p["w"] + p["b"], "rows": x.shape[0]}

    (rows,) = export.symbolic_shape("rows")
    write("symbolic", export.export(jax.jit(affine), platforms=["tpu", "cpu"])({"w": array(3, 2), "b": array(2)}, array(rows, 3)))

    # Arguments that nothing uses, a branch for each platform, and the function's own derivative beside it.
    def by_platform(unused, x, pair):
        return jax.lax.platform_dependent(x, cpu=lambda x: x * 2, default=lambda x: x * 3) + pair[1]

    write(
        "platforms",
        export.export(jax.jit(by_platform), platforms=["tpu", "cuda", "cpu"])(array(2, 3), array(2), (array(4, dtype="int8"), array())),
        vjp_order=1,
    )
    write("one_platform", export.export(jax.jit(lambda x: x + 1))(array(2, dtype="int32")))
    write("no_cpu", export.export(jax.jit(by_platform), platforms=["tpu", "cuda"])(array(2, 3), array(2), (array(4), array())))
    # A key of random numbers is two words, also where nothing uses it.
    key = jax.eval_shape(lambda: jax.random.key(0))
    write("key", export.export(jax.jit(lambda k, x: x * 2))(key, array(2)))


if __name__ == "__main__":
    main()
