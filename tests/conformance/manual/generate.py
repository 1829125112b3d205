"""Writes cases/: programs with computations by hand (shard_map, pmap), as JAX hands them to XLA, and what XLA's CPU backend with eight
devices gives for whole arrays.

    python generate.py

`cases/<name>/` has the program as `module.pb` (the HLO that JAX lowers to, which names no number of partitions), `module.mlir` (StableHLO
with Shardy's operations) and, where jax.export takes it, `module.mlirbc`; whole arguments and results as .npy; case.json as ../jax has it.
"""

import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 --xla_cpu_enable_fast_math=false"
os.environ["JAX_PLATFORMS"] = "cpu"

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "jax"))
sys.path.insert(1, str(HERE.parent))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import export  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402
from seeded import Cases  # noqa: E402

CASES = Cases()
case = CASES.case


def mesh(**axes):
    count = int(np.prod(list(axes.values())))
    return Mesh(np.array(jax.devices()[:count]).reshape(*axes.values()), tuple(axes))


@case("A sum over all partitions, of rows.", (8, 3))
def sum_of_rows():
    return jax.shard_map(lambda x: jax.lax.psum(x * 2, "i"), mesh=mesh(i=4), in_specs=P("i"), out_specs=P())


@case("What comes from whole arrays, and goes to them.", (8, 6), (6,))
def between_whole_arrays():
    inner = jax.shard_map(
        lambda x, y: x + y * jax.lax.axis_index("i"), mesh=mesh(i=2), in_specs=(P(None, "i"), P("i")), out_specs=P(None, "i")
    )
    return lambda x, y: jnp.sin(inner(jnp.cos(x), y[::-1])).T + 1


@case("Two axes, each along a dimension, and rows exchanged for columns.", (8, 16))
def two_axes():
    def f(x):
        return jax.lax.psum(x, "a"), jax.lax.all_to_all(x, "b", 1, 0, tiled=True), jax.lax.psum_scatter(x, "b", scatter_dimension=0, tiled=True)

    return jax.shard_map(f, mesh=mesh(a=2, b=4), in_specs=P("a", "b"), out_specs=(P(None, "b"), P(("a", "b"), None), P(("a", "b"), None)))


@case("A dimension that is cut along two axes, in the other order than the mesh's.", (16, 4))
def axes_in_another_order():
    return jax.shard_map(
        lambda x: x * (1 + jax.lax.axis_index("a") + 10 * jax.lax.axis_index("b")),
        mesh=mesh(a=2, b=4),
        in_specs=P(("b", "a")),
        out_specs=P(("b", "a")),
    )


@case("Columns before rows: the mesh's second axis cuts the first dimension.", (8, 4, 2))
def transposed_axes():
    return jax.shard_map(
        lambda x: jax.lax.ppermute(x, "b", [(i, (i + 1) % 4) for i in range(4)]), mesh=mesh(a=2, b=4), in_specs=P("b", "a"), out_specs=P("b", "a")
    )


@case("Partitions that have the same part.", (4, 4), (4,))
def replicated():
    return jax.shard_map(
        lambda x, y: (jax.lax.pmean(x, "b") + y, x.sum(0, keepdims=True)),
        mesh=mesh(a=2, b=2, c=2),
        in_specs=(P("b"), P()),
        out_specs=(P(), P("b")),
    )


@case("One axis by hand, the other left to a partitioner.", (8, 4))
def one_axis_by_hand():
    return jax.shard_map(
        lambda x: jax.lax.all_gather(x * 3, "a").sum(0), mesh=mesh(a=2, b=2), in_specs=P("a", None), out_specs=P(None, None), axis_names={"a"}, check_vma=False
    )


@case("A ring: products of blocks as they pass by, in a loop.", (8, 8), (8, 4))
def ring_product():
    def f(x, y):
        n, own = 4, jax.lax.axis_index("i")

        def step(k, carry):
            total, y = carry
            block = (own + k) % n
            total += jax.lax.dynamic_slice(x, (0, block * 2), (2, 2)) @ y
            return total, jax.lax.ppermute(y, "i", [(i, (i - 1) % n) for i in range(n)])

        total = jax.lax.pcast(jnp.zeros((2, 4)), "i", to="varying")
        return jax.lax.fori_loop(0, n, step, (total, y))[0]

    return jax.shard_map(f, mesh=mesh(i=4), in_specs=(P("i"), P("i")), out_specs=P("i"))


@case("pmap: a step of gradient descent with a mean of gradients.", (4, 8, 3), (4, 16, 8))
def mapped_step():
    def step(w, x):
        loss, g = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
        return w - 0.1 * jax.lax.pmean(g, "i"), jax.lax.pmean(loss, "i")

    return jax.pmap(step, axis_name="i", devices=jax.devices()[:4])


@case("The gradient of a loss that partitions compute together.", (8, 4), (4, 6))
def gradient():
    loss = jax.shard_map(lambda x, w: jax.lax.psum(jnp.sum(jnp.tanh(x @ w)), "i"), mesh=mesh(i=4), in_specs=(P("i"), P()), out_specs=P())
    return jax.grad(loss, (0, 1))


def write_program(name, f, arguments, folder):
    function = f()
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    lowered = jitted.lower(*arguments)
    (folder / "module.pb").write_bytes(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())
    (folder / "module.mlir").write_text(lowered.as_text())
    try:
        (folder / "module.mlirbc").write_bytes(export.export(jitted)(*arguments).mlir_module_serialized)
    except Exception as error:
        print(name, "is not exported:", str(error).splitlines()[0])
    return jitted(*arguments)


if __name__ == "__main__":
    CASES.write(HERE / "cases", write_program)
