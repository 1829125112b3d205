"""jax.Array, compiled objects, host callbacks and errors behave on the plugin as JAX's documentation states."""

import gc
import pickle
import threading
import unittest

import jax
import jax.numpy as jnp
import numpy as np

from support import PluginTest, array, cpu, hlod, main

TYPES = (
    """bool int8 int16 int32 uint8 uint16 uint32 float16 bfloat16 float32 complex64 int4 uint4 int2 uint2 float8_e4m3fn float8_e5m2
float8_e4m3fnuz float8_e5m2fnuz float8_e4m3b11fnuz float8_e3m4 float8_e4m3 float8_e8m0fnu float4_e2m1fn""".split()
)


class Arrays(PluginTest):

    def test_values_of_every_type_come_back(self):
        for name in TYPES:
            with self.subTest(name):
                values = np.array([[0, 1, 1, 0, 1], [1, 0, 1, 1, 1]]).astype(jnp.dtype(name))
                back = np.asarray(jax.device_put(values, hlod()))
                self.assertEqual(back.dtype, values.dtype)
                np.testing.assert_array_equal(
                    back.view(np.uint8) if name not in ("bool",) else back,
                    values.view(np.uint8) if name not in ("bool",) else values,
                )

    def test_arrays_of_every_layout_are_sent(self):
        x = np.arange(120, dtype=np.float32).reshape(4, 5, 6)
        for name, view in {
            "transposed": x.T,
            "reversed": x[::-1, :, ::-2],
            "sliced": x[1:3, ::2, 3],
            "broadcast": np.broadcast_to(x[0], (3, 5, 6)),
            "fortran": np.asfortranarray(x),
            "scalar": x[0, 0, 0],
            "empty": x[:0],
        }.items():
            with self.subTest(name):
                np.testing.assert_array_equal(np.asarray(jax.device_put(view, hlod())), view)

    def test_a_host_array_may_change_after_it_was_sent(self):
        for size in (3, 1000, 1_000_000):
            x = np.ones(size, np.float32)
            sent = jnp.array(x)
            x[:] = 7
            self.assertEqual(float(sent.max()), 1.0)

    def test_properties(self):
        x = jax.device_put(array(3, 4), hlod())
        self.assertEqual((x.shape, x.dtype, x.ndim, x.size, x.nbytes, x.itemsize), ((3, 4), np.float32, 2, 12, 48, 4))
        self.assertEqual(x.device, hlod())
        self.assertEqual(x.devices(), {hlod()})
        self.assertTrue(x.is_fully_addressable and x.committed)
        self.assertEqual(x.sharding.memory_kind, "device")
        self.assertEqual(x.block_until_ready() is x and x.is_ready(), True)
        self.assertEqual(len(x), 3)
        self.assertEqual(np.asarray(list(x)).shape, (3, 4))
        self.assertIn("0.", repr(x))
        self.assertEqual(x.tolist(), np.asarray(x).tolist())

    def test_scalars_are_numbers(self):
        x = jnp.float32(2.5)
        self.assertEqual((float(x), int(x), bool(x), x.item(), f"{x:.2f}"), (2.5, 2, True, 2.5, "2.50"))
        self.assertEqual([10, 20, 30][jnp.int32(1)], 20)

    def test_deletion(self):
        x = jnp.ones(3)
        x.delete()
        self.assertTrue(x.is_deleted())
        with self.assertRaisesRegex(RuntimeError, "deleted"):
            x + 1

    def test_copies_between_devices(self):
        x = jax.device_put(array(5), hlod())
        there = jax.device_put(x, cpu())
        back = jax.device_put(there, hlod())
        self.assertEqual((there.device, back.device), (cpu(), hlod()))
        np.testing.assert_array_equal(np.asarray(back), np.asarray(x))
        y = x.copy()
        x.delete()
        self.assertEqual(y.shape, (5,))
        np.testing.assert_array_equal(np.asarray(y), array(5))

    def test_pickle_and_copy_to_host(self):
        x = jnp.arange(5.0)
        x.copy_to_host_async()
        np.testing.assert_array_equal(np.asarray(pickle.loads(pickle.dumps(x))), np.arange(5.0, dtype=np.float32))
        self.assertTrue((jax.device_get({"a": [x, x * 2]})["a"][1] == np.arange(5.0) * 2).all())

    def test_live_arrays_are_given_back(self):
        before = hlod().memory_stats()["bytes_in_use"]
        kept = [jnp.full((1000,), i, jnp.float32) for i in range(200)]
        jax.block_until_ready(kept)
        self.assertGreaterEqual(hlod().memory_stats()["bytes_in_use"], before + 200 * 4000)
        del kept
        gc.collect()
        jnp.zeros(()).block_until_ready()
        self.assertLess(hlod().memory_stats()["bytes_in_use"], before + 200 * 4000)

    def test_memories(self):
        device = hlod()
        self.assertEqual(device.default_memory().kind, "device")
        self.assertIn("pinned_host", {memory.kind for memory in device.addressable_memories()})
        sharding = jax.sharding.SingleDeviceSharding(device, memory_kind="pinned_host")
        x = jax.device_put(array(4), sharding)
        self.assertEqual(x.sharding.memory_kind, "pinned_host")
        np.testing.assert_array_equal(np.asarray(x), array(4))

    def test_devices(self):
        device = hlod()
        self.assertEqual((device.platform, device.process_index, device.id), ("hlod", 0, 0))
        self.assertTrue(device.device_kind)
        self.assertIn("hlod", jax.devices()[0].client.platform_version)

    def test_threads(self):
        function, results = jax.jit(lambda x: (x @ x).sum()), {}
        x = jax.device_put(array(16, 16), hlod())
        expected = float(function(x))

        def work(i):
            results[i] = [float(function(x + 0 * k)) for k in range(20)]

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(len(results), 6)
        for values in results.values():
            np.testing.assert_allclose(values, expected, rtol=1e-5)


class Donation(PluginTest):

    def test_a_donated_argument_is_gone(self):
        x = jax.device_put(array(1000), hlod())
        y = jax.jit(lambda v: v + 1, donate_argnums=0)(x)
        self.assertTrue(x.is_deleted())
        np.testing.assert_allclose(np.asarray(y), array(1000) + 1)
        with self.assertRaisesRegex((RuntimeError, ValueError), "deleted"):
            jax.jit(lambda v: v + 2)(x)

    def test_an_argument_is_not_donated_twice(self):
        x = jax.device_put(array(10), hlod())
        with self.assertRaisesRegex(RuntimeError, "donate the same buffer twice"):
            jax.jit(lambda a, b: (a + 1, b + 1), donate_argnums=(0, 1))(x, x)

    def test_a_step_that_donates_its_state(self):
        step = jax.jit(lambda s: jax.tree.map(lambda v: v * 1.5, s), donate_argnums=0)
        state = {"a": jnp.ones(10), "b": jnp.ones((2, 3))}
        for _ in range(10):
            state = step(state)
        np.testing.assert_allclose(np.asarray(state["b"]), np.full((2, 3), 1.5**10), rtol=1e-5)


class Compiled(PluginTest):

    def test_ahead_of_time(self):
        lowered = jax.jit(lambda x: jnp.sin(x) @ x.T).lower(jax.ShapeDtypeStruct((3, 4), jnp.float32))
        self.assertIn("stablehlo", lowered.as_text())
        compiled = lowered.compile()
        x = array(3, 4)
        np.testing.assert_allclose(np.asarray(compiled(x)), np.sin(x) @ x.T, rtol=1e-4, atol=1e-5)
        self.assertIn("HloModule", compiled.as_text())
        self.assertGreaterEqual(compiled.cost_analysis()["flops"], 2 * 3 * 3 * 4)
        memory = compiled.memory_analysis()
        self.assertEqual((memory.argument_size_in_bytes, memory.output_size_in_bytes), (48, 36))

    def test_executables_are_saved_and_loaded(self):
        from jax.experimental import serialize_executable

        compiled = jax.jit(lambda x: x * 2 + 1).lower(jnp.ones(4)).compile()
        loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
        np.testing.assert_array_equal(np.asarray(loaded(jnp.arange(4.0))), np.arange(4.0) * 2 + 1)

    def test_export(self):
        exported = jax.export.export(jax.jit(jnp.sin), platforms=("cpu", "hlod"))(jax.ShapeDtypeStruct((3,), jnp.float32))
        again = jax.export.deserialize(exported.serialize())
        np.testing.assert_allclose(np.asarray(again.call(array(3))), np.sin(array(3)), rtol=1e-5)

    def test_symbolic_shapes(self):
        (n,) = jax.export.symbolic_shape("n")
        exported = jax.export.export(jax.jit(lambda x: x.sum() / x.shape[0]), platforms=("hlod",))(
            jax.ShapeDtypeStruct((n,), jnp.float32)
        )
        for size in (3, 8):
            np.testing.assert_allclose(float(exported.call(jnp.arange(float(size)))), (size - 1) / 2)


class Callbacks(PluginTest):

    def test_pure_callback(self):
        f = jax.jit(lambda x: jax.pure_callback(lambda v: np.sin(v) * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x) + 1)
        np.testing.assert_allclose(np.asarray(f(array(4))), np.sin(array(4)) * 2 + 1, rtol=1e-5)

    def test_several_operands_and_results(self):
        def host(x, y):
            return np.asarray(x) + np.asarray(y), np.int32(np.asarray(x).size)

        f = jax.jit(
            lambda x, y: jax.pure_callback(
                host, (jax.ShapeDtypeStruct((3,), jnp.float32), jax.ShapeDtypeStruct((), jnp.int32)), x, y
            )
        )
        total, size = f(jnp.arange(3.0), jnp.ones(3))
        self.assertEqual((total.tolist(), int(size)), ([1.0, 2.0, 3.0], 3))

    def test_a_callback_in_a_loop_and_under_vmap(self):
        call = lambda x: jax.pure_callback(
            lambda v: np.asarray(v) + 1, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="sequential"
        )
        self.assertEqual(float(jax.jit(lambda x: jax.lax.fori_loop(0, 5, lambda _, v: call(v), x))(0.0)), 5.0)
        self.assertEqual(jax.jit(jax.vmap(call))(jnp.arange(3.0)).tolist(), [1.0, 2.0, 3.0])

    def test_io_callback_in_order(self):
        seen = []

        def f(x):
            for i in range(4):
                jax.experimental.io_callback(lambda v, i=i: seen.append((i, float(v))), None, x * i, ordered=True)
            return x

        jax.jit(f)(2.0).block_until_ready()
        jax.effects_barrier()
        self.assertEqual(seen, [(i, 2.0 * i) for i in range(4)])

    def test_debug_print_and_callback(self):
        seen = []
        jax.jit(lambda x: (jax.debug.callback(lambda v: seen.append(np.asarray(v).tolist()), x), x * 2)[1])(
            jnp.arange(2.0)
        ).block_until_ready()
        jax.effects_barrier()
        self.assertEqual(seen, [[0.0, 1.0]])

    def test_an_exception_of_a_callback_is_the_callers(self):
        def fail(_):
            raise ValueError("from the host")

        with self.assertRaisesRegex(Exception, "from the host"):
            jax.jit(lambda x: jax.pure_callback(fail, jax.ShapeDtypeStruct((), jnp.float32), x))(1.0).block_until_ready()
        self.assertEqual(float(jax.jit(lambda x: x + 1)(1.0)), 2.0)

    def test_checkify(self):
        from jax.experimental import checkify

        checked = jax.jit(checkify.checkify(lambda x: (checkify.check(x > 0, "x is {x}", x=x), jnp.log(x))[1]))
        self.assertIsNone(checked(2.0)[0].get())
        self.assertIn("x is -1", checked(-1.0)[0].get())


class Errors(PluginTest):

    def test_no_memory(self):
        with self.assertRaisesRegex(Exception, "RESOURCE_EXHAUSTED"):
            jnp.zeros((1 << 42,), jnp.uint8).block_until_ready()
        self.assertEqual(float(jnp.ones(3).sum()), 3.0)

    def test_an_unknown_custom_call_is_named(self):
        with self.assertRaisesRegex(Exception, "nope"):
            jax.jit(lambda x: jax.ffi.ffi_call("nope", jax.ShapeDtypeStruct((3,), jnp.float32))(x))(jnp.ones(3))

    def test_debug_nans(self):
        with jax.debug_nans(True), self.assertRaises(FloatingPointError):
            jnp.log(jnp.float32(-1.0)).block_until_ready()

    def test_a_failing_program_leaves_the_others_alone(self):
        good = jax.jit(lambda x: x * 2)
        for _ in range(3):
            with self.assertRaises(Exception):
                jnp.zeros((1 << 42,), jnp.uint8).block_until_ready()
            self.assertEqual(float(good(2.0)), 4.0)


if __name__ == "__main__":
    main()
