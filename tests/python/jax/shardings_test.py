"""Results of annotated programs are divided as on eight devices of JAX's own CPU. Runs with HLOD_DEVICES=8."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

from support import PluginTest, array, integers, main


def mesh_on(platform, axis_type=AxisType.Auto):
    return Mesh(np.array(jax.devices(platform)).reshape(4, 2), ("x", "y"), axis_types=(axis_type,) * 2)


def division(result):
    """The parts of an array, and its sharding's spec where it has one."""
    parts = [(shard.index, shard.replica_id) for shard in result.addressable_shards]
    return str(getattr(result.sharding, "spec", "")), parts, result.committed, result.sharding.memory_kind


OPERATIONS = {
    "elementwise": lambda v: jnp.sin(v) * 2 + jnp.where(v > 0, v, 0),
    "a transpose": lambda v: v.T,
    "sums": lambda v: (v.sum(0), v.sum(1), v.sum(), v.mean((0, 1), keepdims=True)),
    "products": lambda v: (v @ v, v @ v.T, jnp.einsum("ij,ik->jk", v, v), jnp.outer(v[0], v[1])),
    "reshapes": lambda v: (v.reshape(64), v.reshape(4, 2, 8), v.reshape(2, 32), v.reshape(16, 4)),
    "slices": lambda v: (v[0], v[:, 3], v[:3], v[::2], lax.dynamic_slice(v, (1, 1), (4, 4)), v.ravel()[:10]),
    "joins": lambda v: (jnp.concatenate([v, v], 1), jnp.stack([v, v]), jnp.tile(v, (2, 2)), jnp.pad(v, 1)),
    "sorts": lambda v: (jnp.sort(v, 0), jnp.argsort(v, 1), lax.top_k(v, 2), jnp.argmax(v, 1), jnp.cumsum(v, 0)),
    "gathers": lambda v: (v[jnp.array([1, 2, 5])], v.at[jnp.array([1, 2])].add(1.0), v.at[2].set(0.0)),
    "values from nothing": lambda v: (jnp.zeros((8, 8)), jnp.zeros_like(v), lax.broadcasted_iota(jnp.int32, (8, 8), 0), 1),
    "random numbers": lambda v: jax.random.normal(jax.random.key(0), (8, 8)) + v,
    "loops": lambda v: lax.scan(lambda c, x: (c + x, c * x), v[0], v),
    "conditions": lambda v: lax.cond(v[0, 0] > 0, lambda v: v + 1, lambda v: v - 1, v),
    "a gradient": jax.grad(lambda v: jnp.sin(v @ v).sum()),
    "a convolution": lambda v: lax.conv(v[None, None], jnp.ones((1, 1, 3, 3)), (1, 1), "SAME"),
    "factorisations": lambda v: (jnp.linalg.cholesky(v @ v.T + 8 * jnp.eye(8)), jnp.linalg.inv(v + 8 * jnp.eye(8))),
    "transforms": lambda v: jnp.fft.fft(v).real,
    # XLA simplifies these before it decides.
    "a reshape and its inverse": lambda v: v.reshape(-1).reshape(8, 8),
    "a transpose of a row": lambda v: (jnp.concatenate([v[3:4].T] * 2, 1), jnp.pad(v[3:4].T, ((0, 0), (0, 1)))),
    "a constant condition": lambda v: jnp.where(True, v, v.T.reshape(8, 8)),
    "other types": lambda v: (v.astype(jnp.bfloat16), v + 1j, lax.bitcast_convert_type(v, jnp.uint8)),
}


class Shardings(PluginTest):

    def setUp(self):
        super().setUp()
        self.assertEqual((jax.device_count(), jax.device_count("cpu")), (8, 8), "run with HLOD_DEVICES=8 and eight CPU devices")

    def same_division(self, function, *arguments):
        """Asserts that function(mesh, *arguments) returns arrays of the same values and parts on both platforms."""
        expected, actual = (jax.tree.leaves(function(mesh_on(p), *arguments)) for p in ("cpu", "hlod"))
        self.assertEqual(len(expected), len(actual))
        for wanted, got in zip(expected, actual):
            self.assertEqual(division(wanted), division(got))
            self.close(np.asarray(wanted), np.asarray(got), 1e-3, 1e-3)

    def test_results_of_operations(self):
        for name, operation in OPERATIONS.items():
            for spec in (P("x", "y"), P(("y", "x")), P(None, "y")):
                with self.subTest(name, spec=spec):
                    place = lambda mesh: jax.device_put(array(8, 8), NamedSharding(mesh, spec))
                    self.same_division(lambda mesh: jax.jit(operation)(place(mesh)))

    def test_loops_that_close_over_an_array(self):
        loops = {
            "fori_loop": lambda a, b: lax.fori_loop(0, 3, lambda i, c: c * 2 + b, a),
            "while_loop": lambda a, b: lax.while_loop(lambda c: c[0, 0] < 9, lambda c: c * 2 + b, a),
            "scan": lambda a, b: lax.scan(lambda c, _: (c * 2 + b, None), a, None, length=3)[0],
        }
        for name, loop in loops.items():
            for a, b in ((P("x", "y"), P("y")), (P(), P("x")), (P("y"), P("x"))):
                with self.subTest(name, a=a, b=b):
                    place = lambda mesh, spec: jax.device_put(abs(array(8, 8)) + 1, NamedSharding(mesh, spec))
                    self.same_division(lambda mesh: jax.jit(loop)(place(mesh, a), place(mesh, b)))

    def test_constraints_reach_arguments(self):
        def run(mesh, x):
            step = jax.jit(lambda v: lax.with_sharding_constraint(v * 2, NamedSharding(mesh, P("x"))).T)
            compiled = step.lower(x).compile()
            (argument,), _ = compiled.input_shardings
            return jax.device_put(x, argument), compiled(x)

        self.same_division(run, array(8, 8))

    def test_open_dimensions_of_results(self):
        for spec in (P(P.UNCONSTRAINED, None), P("y", P.UNCONSTRAINED)):
            self.same_division(
                lambda mesh: jax.jit(lambda v: lax.with_sharding_constraint(v.T, NamedSharding(mesh, spec)))(
                    jax.device_put(array(8, 8), NamedSharding(mesh, P("x")))
                )
            )

    def test_parts_that_a_program_leaves_over_several_meshes(self):
        devices = lambda mesh: mesh.devices.ravel()
        self.same_division(
            lambda mesh: [
                jax.jit(lambda v: v.T @ v)(jax.device_put(array(8, 8), NamedSharding(Mesh(some.reshape(2, 2), ("a", "b")), P("a", "b"))))
                for some in (devices(mesh)[2:6], devices(mesh)[[3, 1, 0, 7]])
            ]
        )

    def test_explicit_axes(self):
        def run(mesh):
            explicit = Mesh(mesh.devices, mesh.axis_names, axis_types=(AxisType.Explicit,) * 2)
            with jax.set_mesh(explicit):
                x = jax.device_put(array(8, 8), P("x", "y"))
                return jax.jit(lambda v: (v * 2, v.T, v.sum(0), jnp.einsum("ij,kj->ik", v, v, out_sharding=P("x", None))))(x)

        self.same_division(run)

    def test_parts_of_shard_map_beside_automatic_axes(self):
        def run(mesh):
            x = jax.device_put(array(8, 8), NamedSharding(mesh, P("x", "y")))
            f = jax.shard_map(lambda v: lax.psum(v, "x"), mesh=mesh, in_specs=P("x"), out_specs=P(), axis_names={"x"})
            return jax.jit(f)(x), jax.jit(lambda v: f(v).sum(0))(x)

        self.same_division(run)

    def test_small_floats_in_shard_map(self):
        # The types of a shard_map's parts are MLIR's own, and not StableHLO's.
        names = "e3m4 e4m3 e4m3b11fnuz e4m3fn e4m3fnuz e5m2 e5m2fnuz e8m0fnu"
        for name in [f"float8_{name}" for name in names.split()] + ["float4_e2m1fn"]:
            with self.subTest(name):

                def run(mesh):
                    x = jax.device_put(2.0 ** integers(8, 8, low=0, high=3), NamedSharding(mesh, P("x", "y"))).astype(name)
                    f = jax.shard_map(lambda v: (v, v.astype(np.float32) * 2), mesh=mesh, in_specs=P("x"), out_specs=P("x"))
                    small, wide = jax.jit(f)(x)
                    return small.astype(np.float32), wide

                self.same_division(run)

    def test_inspections(self):
        def heard(mesh):
            seen = []
            hear = lambda value: jax.debug.inspect_array_sharding(value, callback=lambda sharding: seen.append(str(sharding)))

            def f(v):
                hear(v.T)
                hear(v.reshape(4, 16))
                hear(v.sum())
                _, rows = lax.scan(lambda carry, row: (carry, (hear(row), row * carry)[1]), 2.0, v)
                return rows @ v

            x = jax.device_put(array(8, 8), NamedSharding(mesh, P("x", "y")))
            hear(x)
            np.testing.assert_allclose(np.asarray(jax.jit(f)(x)), 2 * array(8, 8) @ array(8, 8), rtol=1e-4, atol=1e-4)
            return sorted(seen)

        self.assertEqual(heard(mesh_on("cpu")), heard(mesh_on("hlod")))
        self.assertEqual(len(heard(mesh_on("hlod"))), 5)

    def test_operations_that_divide_themselves(self):
        """The partition functions hear the same shardings, and their parts make the same wholes: rows, and sums over columns."""

        def run(mesh):
            told = []

            @custom_partitioning
            def scaled(x, factor):
                return x * factor, x.sum(1)

            def parts_of_scaled(mesh, operands, results):
                told.extend(str(leaf.sharding.spec) for leaf in jax.tree.leaves((operands, results)))
                rows = NamedSharding(mesh, P("x", None))
                of_parts = lambda x, factor: (x * factor, x.sum(1))
                return mesh, of_parts, (rows, NamedSharding(mesh, P("x"))), (rows, NamedSharding(mesh, P()))

            scaled.def_partition(partition=parts_of_scaled, sharding_rule="i j, -> i j, i")

            @functools.partial(custom_partitioning, static_argnums=(2,))
            def product(a, b, name):
                return a @ b

            def parts_of_product(name, mesh, operands, result):
                told.append(name)
                of_parts = lambda a, b: lax.psum(a @ b, "y")
                places = NamedSharding(mesh, P(None, "y")), NamedSharding(mesh, P("y", None))
                return mesh, of_parts, NamedSharding(mesh, P()), places

            product.def_partition(partition=parts_of_product, sharding_rule="i k, k j -> i j")
            x = jax.device_put(array(8, 8), NamedSharding(mesh, P("x", "y")))
            results = jax.jit(lambda x: (scaled(x, 3.0), product(x, x.T, "by columns"), jnp.sin(scaled(x * 2, 1.0)[0])))(x)
            heard.append(told)
            return results

        heard = []
        self.same_division(run)
        self.assertEqual(heard[0], heard[1])

    def test_the_lowered_program_stays_as_it_was(self):
        x = jax.device_put(array(8, 8), NamedSharding(mesh_on("hlod"), P("x", "y")))
        lowered = jax.jit(lambda v: v.T).lower(x)
        text = lowered.as_text()
        lowered.compile()
        self.assertEqual(lowered.as_text(), text)


if __name__ == "__main__":
    main()
