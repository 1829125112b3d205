"""Programs of several devices: jax.pmap, jax.shard_map, and arrays that are spread over a mesh. Runs with HLOD_DEVICES=8."""

import collections
import functools
import os
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import io_callback
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from support import PluginTest, array, main


class Devices(PluginTest):

    def setUp(self):
        super().setUp()
        self.assertEqual(jax.device_count(), 8, "run with HLOD_DEVICES=8")
        self.mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))

    def sharded(self, x, *spec):
        return jax.device_put(x, NamedSharding(self.mesh, P(*spec)))

    def test_arrays_are_spread_and_gathered(self):
        x = array(8, 6)
        for spec in (("x", "y"), ("y",), (None, "y"), (("x", "y"),), ()):
            with self.subTest(spec):
                spread = self.sharded(x, *spec)
                np.testing.assert_array_equal(np.asarray(spread), x)
                self.assertEqual(len(spread.addressable_shards), 8)
        self.assertEqual(self.sharded(x, "x", "y").addressable_shards[3].data.shape, (2, 3))

    def test_annotations_divide_the_work_as_on_xla(self):
        # tanh(x @ w1) @ w2 with the hidden units over y: each device has 4 of 8 rows' parts, and half of the units.
        f = jax.jit(jax.grad(lambda w1, w2, x: jnp.sum(jnp.tanh(x @ w1) @ w2), argnums=(0, 1)))
        w1, w2, x = array(16, 64) / 1e3, array(64, 16) / 1e3, array(32, 16) / 1e3
        divided = self.sharded(w1, None, "y"), self.sharded(w2, "y", None), self.sharded(x, "x", None)
        compiled = f.lower(*divided).compile()
        self.assertEqual([s.spec for s in compiled.output_shardings], [P(None, "y"), P("y")])
        self.assertIn("(f32[16,32], f32[32,16], f32[8,16])->(f32[16,32], f32[32,16])", compiled.as_text().replace("{1,0}", ""))
        hidden = np.tanh(x @ w1)
        ones = np.ones((32, 16), np.float32)
        got1, got2 = f(*divided)
        np.testing.assert_allclose(got1, x.T @ ((ones @ w2.T) * (1 - hidden**2)), rtol=1e-4, atol=1e-9)
        np.testing.assert_allclose(got2, hidden.T @ ones, rtol=1e-4)

    def test_the_text_of_a_program_over_a_mesh_has_its_collectives(self):
        x = self.sharded(array(8, 8), "x", "y")
        text = lambda f, **options: jax.jit(f, **options).lower(x).compile().as_text()
        self.assertIn("all-reduce(", text(lambda v: v.sum()))
        self.assertIn("all-gather(", text(lambda v: v, out_shardings=NamedSharding(self.mesh, P())))
        other = Mesh(np.array(jax.devices()).reshape(2, 4), ("a", "b"))
        self.assertIn("all-to-all(", text(lambda v: lax.with_sharding_constraint(v, NamedSharding(self.mesh, P("y", "x")))))
        twice = lambda v: lax.with_sharding_constraint(v, NamedSharding(other, P("b", "a"))) @ v
        self.assertIn("all-", text(twice))
        np.testing.assert_allclose(np.asarray(jax.jit(twice)(x)), array(8, 8) @ array(8, 8), rtol=1e-4, atol=1e-5)

    def test_a_program_that_cannot_be_divided_says_so_once(self):
        program = """
            import jax, numpy as np
            from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
            mesh = Mesh(np.array(jax.devices()), ("x",))
            x = jax.device_put(np.arange(8.0, dtype=np.float32), NamedSharding(mesh, P("x")))
            by_hand = jax.shard_map(lambda v: jax.lax.psum(v, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
            print(jax.jit(by_hand)(x)[0], jax.jit(lambda v: v.sum())(x), jax.jit(lambda v: v.max())(x))
        """
        environment = {**os.environ, "HLOD_PYTHON": "/nowhere/python3"}
        ran = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=environment, text=True, capture_output=True, timeout=120)
        self.assertEqual(ran.stdout, "28.0 28.0 7.0\n", ran.stderr)
        said = [line for line in ran.stderr.splitlines() if line.startswith("hlod: Programs for several devices")]
        self.assertEqual(len(said), 1, ran.stderr)
        self.assertRegex(said[0], "Programs for several devices are computed whole on each device, because .*/nowhere/python3 cannot be started")

    def test_each_device_computes(self):
        for device in jax.devices():
            x = jax.device_put(array(4), device)
            y = jax.jit(lambda v: v * 2)(x)
            self.assertEqual(y.devices(), {device})
            np.testing.assert_array_equal(np.asarray(y), array(4) * 2)

    def test_an_array_goes_from_device_to_device(self):
        x = jax.device_put(array(1000), jax.devices()[1])
        for device in jax.devices():
            x = jax.device_put(x, device)
            self.assertEqual(x.devices(), {device})
        np.testing.assert_array_equal(np.asarray(x), array(1000))

    def test_pmap(self):
        x = array(8, 3)
        np.testing.assert_allclose(np.asarray(jax.pmap(jnp.sin)(x)), np.sin(x), rtol=1e-5)
        np.testing.assert_allclose(
            np.asarray(jax.pmap(lambda v: v - lax.pmean(v, "i"), axis_name="i")(x)), x - x.mean(0), rtol=1e-4, atol=1e-5
        )

    def test_pmap_over_groups(self):
        x, halves = np.arange(8.0, dtype=np.float32), [[0, 1, 2, 3], [4, 5, 6, 7]]
        sums = jax.pmap(lambda v: lax.psum(v, "i", axis_index_groups=halves), axis_name="i")(x)
        np.testing.assert_array_equal(np.asarray(sums), [6] * 4 + [22] * 4)
        pairs = [[0, 2], [1, 3], [4, 6], [5, 7]]
        gathered = jax.pmap(lambda v: lax.all_gather(v, "i", axis_index_groups=pairs), axis_name="i")(x)
        np.testing.assert_array_equal(np.asarray(gathered), [pairs[0], pairs[1]] * 2 + [pairs[2], pairs[3]] * 2)
        uneven = [[6], [0, 7, 3], [1, 2, 4, 5]]  # A reduction's groups may have several sizes.
        sums = jax.pmap(lambda v: lax.psum(v, "i", axis_index_groups=uneven), axis_name="i")(x)
        np.testing.assert_array_equal(np.asarray(sums), [10, 12, 12, 10, 12, 12, 6, 10])

    def test_collectives_under_shard_map(self):
        x = array(8, 6)
        run = lambda f, spec, out: np.asarray(
            jax.jit(jax.shard_map(f, mesh=self.mesh, in_specs=spec, out_specs=out, check_vma=False))(x)
        )
        np.testing.assert_allclose(
            run(lambda v: lax.psum(v, "x"), P("x", None), P(None, None)), x.reshape(4, 2, 6).sum(0), rtol=1e-5, atol=1e-6
        )
        np.testing.assert_allclose(
            run(lambda v: lax.pmax(v, ("x", "y")), P("x", "y"), P(None, None)), x.reshape(4, 2, 2, 3).max((0, 2)), rtol=1e-6
        )
        np.testing.assert_array_equal(run(lambda v: lax.all_gather(v, "x", tiled=True), P("x", None), P(None, None)), x)
        np.testing.assert_array_equal(
            run(lambda v: lax.ppermute(v, "x", [(i, (i + 1) % 4) for i in range(4)]), P("x", None), P("x", None)), np.roll(x, 2, 0)
        )
        np.testing.assert_allclose(
            run(lambda v: lax.psum_scatter(v, "x", scatter_dimension=0, tiled=True), P(None, None), P("x", None)), x * 4, rtol=1e-5
        )
        np.testing.assert_array_equal(
            run(lambda v: v * 0 + lax.axis_index("x"), P("x", None), P("x", None)),
            np.repeat(np.arange(4.0), 2)[:, None] * np.ones((1, 6)),
        )
        np.testing.assert_array_equal(
            run(lambda v: lax.all_to_all(v, "y", 0, 1, tiled=True), P(None, "y"), P("y", None)), x
        )

    def test_a_step_that_is_parallel_in_data(self):
        x, y, w = array(16, 4), array(16, 2, seed=1), array(4, 2, seed=2)

        @functools.partial(jax.shard_map, mesh=self.mesh, in_specs=(P(), P("x"), P("x")), out_specs=P(), check_vma=False)
        def step(w, x, y):
            gradient = jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
            return w - 0.1 * lax.pmean(gradient, "x")

        expected = w - 0.1 * (2 * x.T @ (x @ w - y) / y.size)
        np.testing.assert_allclose(np.asarray(jax.jit(step)(w, x, y)), expected, rtol=1e-4, atol=1e-5)

    def test_callbacks_of_a_divided_program_are_made_once(self):
        seen = []

        def f(x):
            jax.debug.callback(lambda total: seen.append(float(total)), x.sum())
            return x + jax.pure_callback(lambda total: np.float32(total) * 2, jax.ShapeDtypeStruct((), jnp.float32), x.sum())

        x = array(8, 6)
        compiled = jax.jit(f).lower(self.sharded(x, "x", "y")).compile()
        self.assertIn("f32[2,3]", compiled.as_text().splitlines()[0])
        self.assertIn("all-reduce", compiled.as_text())
        np.testing.assert_allclose(np.asarray(compiled(self.sharded(x, "x", "y"))), x + x.sum() * 2, rtol=1e-4, atol=1e-4)
        jax.effects_barrier()
        self.assertEqual(len(seen), 1)

    def test_callbacks_in_order_over_a_mesh(self):
        seen = []
        note = lambda i, row: seen.append((int(i), row.shape))

        def f(x):
            for i in range(3):
                io_callback(note, None, i, x[i], ordered=True)
            return x * 2

        x = self.sharded(array(8, 6), "x", "y")
        for _ in range(2):
            np.testing.assert_array_equal(np.asarray(jax.jit(f)(x)), array(8, 6) * 2)
        jax.effects_barrier()
        self.assertEqual(seen, [(0, (6,)), (1, (6,)), (2, (6,))] * 2)

    def test_callbacks_of_parts_are_made_by_each(self):
        seen = []
        f = lambda v: (jax.debug.callback(lambda part: seen.append(np.asarray(part).shape), v), v)[1]
        jax.jit(jax.shard_map(f, mesh=self.mesh, in_specs=P("x", "y"), out_specs=P("x", "y")))(array(8, 6)).block_until_ready()
        jax.effects_barrier()
        self.assertEqual(seen, [(2, 3)] * 8)

    def test_callbacks_of_parts_in_a_program_that_is_divided_automatically(self):
        """With partitioned=True each device calls with its part, as on JAX's CPU; in a loop, in each iteration."""
        seen = []
        part = lambda *values: seen.append(tuple(np.shape(value) for value in values))

        def f(v):
            jax.debug.callback(part, v.T, v.sum(0), partitioned=True)
            jax.debug.callback(part, partitioned=True)
            jax.debug.callback(part, v)
            return lax.scan(lambda total, row: (total + row.sum(), jax.debug.callback(part, row, total, partitioned=True)), 0.0, v)[0]

        x = self.sharded(array(8, 6), "x", "y")
        for _ in range(2):
            np.testing.assert_allclose(np.asarray(jax.jit(f)(x)), array(8, 6).sum(), rtol=1e-4)
        jax.effects_barrier()
        expected = {((3, 2), (3,)): 8, (): 8, ((8, 6),): 1, ((3,), ()): 64}
        self.assertEqual(collections.Counter(seen), {shapes: 2 * times for shapes, times in expected.items()})

    def test_callbacks_in_order_under_shard_map(self):
        """Each device has its own order."""
        seen = []

        def f(v):
            for i in range(3):
                io_callback(lambda at, i: seen.append((int(at), int(i))), None, lax.axis_index(("x", "y")), i, ordered=True)
            return v * 2

        by_hand = jax.shard_map(f, mesh=self.mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))
        x = self.sharded(array(8, 6), "x", "y")
        np.testing.assert_allclose(np.asarray(jax.jit(lambda v: by_hand(v + 1).sum(0))(x)), ((array(8, 6) + 1) * 2).sum(0), rtol=1e-4)
        jax.effects_barrier()
        self.assertEqual([[i for at, i in seen if at == device] for device in range(8)], [[0, 1, 2]] * 8)


class Annotated(Devices):
    """Programs that are only annotated: XLA would cut them up, and the results are the same."""

    def test_a_product_over_a_mesh(self):
        a, b = self.sharded(array(8, 4), "x", None), self.sharded(array(4, 6), None, "y")
        product = jax.jit(lambda a, b: a @ b, out_shardings=NamedSharding(self.mesh, P("x", "y")))(a, b)
        np.testing.assert_allclose(np.asarray(product), array(8, 4) @ array(4, 6), rtol=1e-4, atol=1e-5)

    def test_constraints_and_reductions(self):
        x = self.sharded(array(8, 6), "x", "y")
        f = jax.jit(lambda v: lax.with_sharding_constraint(jnp.sin(v), NamedSharding(self.mesh, P("y", None))).sum(1))
        np.testing.assert_allclose(np.asarray(f(x)), np.sin(array(8, 6)).sum(1), rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    main()
