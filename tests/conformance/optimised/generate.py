"""Writes cases/: HLO as XLA's CPU compiler leaves it (`jax.jit(f).lower(...).compile().as_text()`), where layouts say something: bitcasts
between layouts stand for transposes. With inputs, and what the compiled program gives for them.

    python generate.py

`cases/<name>/` has the module as module.txt, arguments and results as .npy; case.json as ../jax has it.
"""

import os
import pathlib
import re
import shutil
import sys
import zlib

os.environ["XLA_FLAGS"] = "--xla_cpu_enable_fast_math=false --xla_cpu_multi_thread_eigen=false"
os.environ["JAX_PLATFORMS"] = "cpu"

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "jax"))
sys.path.insert(1, str(HERE.parent))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
import pack  # noqa: E402
from programs import harness, npy  # noqa: E402

CASES = {}


def case(about, *shapes):
    def add(f):
        CASES[f.__name__] = (about, f, shapes)
        return f

    return add


def convolution(x, k, dimensions, **options):
    return lax.conv_general_dilated(x, k, options.pop("strides", (1, 1)), "SAME", dimension_numbers=dimensions, **options)


@case("A convolution of images with channels last.", (2, 6, 6, 3), (3, 3, 3, 4))
def convolution_channels_last(x, k):
    return convolution(x, k, ("NHWC", "HWIO", "NHWC"))


@case("A convolution of images with channels first.", (2, 3, 6, 6), (4, 3, 3, 3))
def convolution_channels_first(x, k):
    return convolution(x, k, ("NCHW", "OIHW", "NCHW"))


@case("A convolution of one spatial dimension, channels last, and its transpose.", (2, 9, 3), (3, 3, 4))
def convolution_of_sequences(x, k):
    y = lax.conv_general_dilated(x, k, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
    return y, lax.conv_transpose(x, k, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


@case("A convolution for each channel.", (2, 6, 6, 3), (3, 3, 1, 6))
def convolution_by_channel(x, k):
    return convolution(x, k, ("NHWC", "HWIO", "NHWC"), feature_group_count=3)


@case("The gradient of a strided convolution by both operands.", (2, 6, 6, 3), (3, 3, 3, 4))
def convolution_gradient(x, k):
    return jax.grad(lambda x, k: jnp.sum(jnp.tanh(convolution(x, k, ("NHWC", "HWIO", "NHWC"), strides=(2, 2)))), (0, 1))(x, k)


@case("A product of transposed matrices, transposed.", (4, 6), (4, 5))
def product_of_transposes(a, b):
    return (jnp.sin(a).T @ b).T + 1, (b.T @ a).T


@case("Batched products whose batch dimensions end up inside.", (2, 3, 4, 5), (2, 3, 5, 6))
def batched_products(a, b):
    return jnp.einsum("abcd,abde->ebca", a, b), jnp.einsum("abcd,abde->caeb", a, b)


@case("Attention over heads that are not the first dimension.", (2, 7, 3, 4), (2, 7, 3, 4), (2, 7, 3, 4))
def attention(q, k, v):
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


@case("Reductions of transposed arrays.", (2, 3, 4, 5))
def reductions(a):
    return a.sum((0, 2)).T, jnp.transpose(a, (3, 1, 0, 2)).max(1), jnp.cumsum(a.transpose(2, 0, 1, 3), axis=2)


@case("Sorts along a middle dimension.", (2, 5, 3))
def sorts(a):
    return jnp.sort(a, axis=1).transpose(2, 1, 0), jnp.argsort(a.T, axis=1)


@case("Elements of a transposed array by index, and updates of one.", (4, 3, 5))
def indexed(a):
    t = a.transpose(2, 0, 1)
    return t[jnp.array([0, 3, 1]), :, 1].T, t.at[jnp.array([1, 4])].add(1.5).T


@case("A loop over transposed slices.", (4, 6), (6, 4))
def loop(a, b):
    def step(c, row):
        c = jnp.tanh((b.T @ c.T).T @ b.T + row)
        return c, c.T.sum(0)

    return lax.scan(step, jnp.zeros((2, 6)), a)


@case("A linear system, whose factors LAPACK has column by column.", (4, 4), (4, 3))
def solve(a, b):
    return jnp.linalg.solve(a @ a.T + 5 * jnp.eye(4), b)


def write(name, about, f, shapes):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    arguments = [rng.normal(size=s).astype(np.float32) for s in shapes]
    compiled = jax.jit(f).lower(*arguments).compile()
    results = [np.asarray(r) for r in jax.tree.leaves(compiled(*arguments))]
    folder = HERE / "cases" / name
    folder.mkdir(parents=True)
    # Without the tables of source files, which name where this one lies.
    text = re.sub(r"^FileNames$.*?(?=^(%|ENTRY))", "", compiled.as_text(), flags=re.MULTILINE | re.DOTALL)
    (folder / "module.txt").write_text(re.sub(r" ?stack_frame_id=\d+", "", text))
    for i, array in enumerate(arguments):
        npy.write(folder / f"arg{i}.npy", array)
    for i, array in enumerate(results):
        npy.write(folder / f"out{i}.npy", array)
    tolerance = {"class": "f32_contraction", "rtol": 1e-4, "atol": 1e-5}
    describe = lambda a: {"dtype": npy.hlo_name(a), "shape": list(a.shape)}
    record = {
        "name": name,
        "about": about,
        "source": "jax",
        "reference": f"XLA CPU of jax {jax.__version__}",
        "parameters": [describe(a) for a in arguments],
        "results": [describe(a) | {"tolerance": tolerance} for a in results],
        "donated": [],
        "opcodes": [],
    }
    (folder / "case.json").write_text(harness.to_json(record))


def main():
    shutil.rmtree(HERE / "cases", ignore_errors=True)
    for name, (about, f, shapes) in CASES.items():
        write(name, about, f, shapes)
    pack.pack_all(HERE / "cases")


if __name__ == "__main__":
    main()
