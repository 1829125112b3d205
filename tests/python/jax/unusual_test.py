"""Uses of JAX that few programs need: other memories, exports for several platforms, arrays that are deleted early, many threads."""

import concurrent.futures
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax.ad_checkpoint import checkpoint_name
from jax.experimental import sparse
from jax.experimental.compute_on import compute_on
from jax.sharding import SingleDeviceSharding

from support import PluginTest, array, cpu, hlod, main


class Memories(PluginTest):

    def on(self, kind):
        return SingleDeviceSharding(hlod(), memory_kind=kind)

    def test_arrays_move_between_memories(self):
        x = jnp.arange(8.0)
        for kind in ("pinned_host", "unpinned_host", "device"):
            moved = jax.device_put(x, self.on(kind))
            self.assertEqual(moved.sharding.memory_kind, kind)
            back = jax.device_put(moved, self.on("device"))
            self.assertEqual((back.sharding.memory_kind, float(back.sum())), ("device", 28.0))

    def test_programs_take_and_give_arrays_of_the_host(self):
        x = jax.device_put(jnp.arange(4.0), self.on("pinned_host"))
        host = self.on("pinned_host")
        step = jax.jit(lambda v: v + 1, donate_argnums=0, in_shardings=host, out_shardings=host)
        result = step(x)
        self.assertEqual((result.sharding.memory_kind, x.is_deleted()), ("pinned_host", True))
        np.testing.assert_array_equal(np.asarray(result), [1, 2, 3, 4])

    def test_values_go_to_the_host_within_a_program(self):
        f = jax.jit(lambda v: jax.device_put(jax.device_put(v * 2, jax.memory.Space.Host), jax.memory.Space.Device) + 1)
        np.testing.assert_array_equal(np.asarray(f(jnp.arange(3.0))), [1, 3, 5])

    def test_computations_on_the_host(self):
        def f(v):
            with compute_on("device_host"):
                doubled = v * 2
            return doubled + 1

        np.testing.assert_array_equal(np.asarray(jax.jit(f)(jnp.arange(3.0))), [1, 3, 5])

    def test_residuals_are_offloaded(self):
        """d/dv sum(sin(sin v)) = cos(sin v) cos v."""
        policy = jax.checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=[], names_which_can_be_offloaded=["a"], offload_src="device", offload_dst="pinned_host"
        )
        f = jax.checkpoint(lambda v: jnp.sin(checkpoint_name(jnp.sin(v), "a")).sum(), policy=policy)
        v = array(16)
        np.testing.assert_allclose(np.asarray(jax.jit(jax.grad(f))(v)), np.cos(np.sin(v)) * np.cos(v), rtol=1e-5, atol=1e-6)


class Programs(PluginTest):

    def test_an_export_for_several_platforms(self):
        exported = export.export(jax.jit(jnp.sin), platforms=["cpu", "tpu", "hlod"])(jax.ShapeDtypeStruct((8,), np.float32))
        self.assertEqual(exported.platforms, ("cpu", "tpu", "hlod"))
        called = export.deserialize(exported.serialize()).call(array(8))
        np.testing.assert_allclose(np.asarray(called), np.sin(array(8)), rtol=1e-5, atol=1e-6)

    def test_the_costs_of_what_is_not_compiled(self):
        def costs(device):
            with jax.default_device(device):
                return jax.jit(lambda x: jnp.tanh(x @ x)).lower(jax.device_put(array(8, 8), device)).cost_analysis()

        self.assertEqual(costs(hlod()), costs(cpu()))
        self.assertGreaterEqual(costs(hlod())["flops"], 2 * 8**3)

    def test_trees_with_none_and_static_arguments(self):
        f = jax.jit(lambda tree, n, mode: jax.tree.map(lambda v: v * n, tree) if mode is None else tree, static_argnums=1, static_argnames="mode")
        result = f({"a": None, "b": (jnp.ones(2), None)}, 3, mode=None)
        self.assertIsNone(result["a"])
        np.testing.assert_array_equal(np.asarray(result["b"][0]), [3, 3])

    def test_weak_types_stay_weak(self):
        result = jax.jit(lambda v: v * 2)(3.0)
        self.assertTrue(result.weak_type)
        self.assertEqual((result + jnp.bfloat16(1)).dtype, jnp.bfloat16)

    def test_numbers_that_are_too_large(self):
        with self.assertRaises(OverflowError):
            jax.jit(lambda v: v)(2**40)

    def test_sparse_matrices(self):
        dense = np.diag(np.arange(1.0, 5.0, dtype=np.float32))
        for kind in (sparse.BCOO, sparse.BCSR, sparse.CSR, sparse.COO):
            with self.subTest(kind.__name__):
                np.testing.assert_allclose(np.asarray(kind.fromdense(jnp.asarray(dense)) @ jnp.ones((4, 2))), dense @ np.ones((4, 2)), rtol=1e-6)


class Lifetimes(PluginTest):

    def test_an_argument_is_deleted_while_its_program_runs(self):
        x = jnp.full((200, 200), 0.5)
        y = jax.jit(lambda v: lax.fori_loop(0, 20, lambda i, a: a @ v / 100, v))(x)
        x.delete()
        np.testing.assert_allclose(np.asarray(y)[0, 0], 0.5, rtol=1e-4)  # 200 * 0.5 * 0.5 / 100 = 0.5
        with self.assertRaisesRegex(RuntimeError, "deleted"):
            np.asarray(x)

    def test_threads_share_a_function(self):
        f = jax.jit(lambda v, n: (v * n + 1).sum())
        called = jax.jit(lambda v: jax.pure_callback(lambda a: np.asarray(a) + 1, v, v))

        def work(i):
            ones = jnp.ones(1 + i % 4)  # Four shapes: compilations meet, too.
            return [(float(f(ones, i)), float(called(jnp.float32(i)))) for _ in range(5)]

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            results = list(pool.map(work, range(32)))
        self.assertEqual(results, [[((1 + i % 4) * (i + 1.0), i + 1.0)] * 5 for i in range(32)])

    def test_donation_of_what_a_program_does_not_use(self):
        a, b = jnp.ones(4), jnp.ones(5)
        f = functools.partial(jax.jit, donate_argnums=(0, 1))(lambda a, b: a[:2] + b.sum())
        np.testing.assert_array_equal(np.asarray(f(a, b)), [6, 6])


if __name__ == "__main__":
    main()
