"""Writes cases/: HLO as XLA's CPU compiler leaves it (`jax.jit(f).lower(...).compile().as_text()`), where layouts say something: bitcasts
between layouts stand for transposes. With inputs, and what the compiled program gives for them.

    python generate.py

`cases/<name>/` has the module as module.txt, arguments and results as .npy; case.json as ../jax has it.
"""

import os
import pathlib
import re
import sys

os.environ["XLA_FLAGS"] = "--xla_cpu_enable_fast_math=false --xla_cpu_multi_thread_eigen=false"
os.environ["JAX_PLATFORMS"] = "cpu"

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "jax"))
sys.path.insert(1, str(HERE.parent))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402
from seeded import Cases  # noqa: E402

CASES = Cases()
case = CASES.case


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


def write_program(_, f, arguments, folder):
    compiled = jax.jit(f).lower(*arguments).compile()
    # Without the tables of source files, which name where this one lies.
    text = re.sub(r"^FileNames$.*?(?=^(%|ENTRY))", "", compiled.as_text(), flags=re.MULTILINE | re.DOTALL)
    (folder / "module.txt").write_text(re.sub(r" ?stack_frame_id=\d+", "", text))
    return compiled(*arguments)


if __name__ == "__main__":
    CASES.write(HERE / "cases", write_program)
