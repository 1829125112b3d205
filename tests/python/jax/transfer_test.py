"""Transfers of arrays to and from the plugin, and what a program that consumes an array leaves of it."""
import gc

import jax
import jax.numpy as jnp
import numpy as np

from support import PluginTest, hlod, main


def put(values):
    return jax.device_put(np.asarray(values), hlod())


class Transfers(PluginTest):

    def test_values_return_as_they_were(self):
        for values in (np.float32(3), np.zeros((0, 3)), np.arange(24).reshape(2, 3, 4), np.ones(100_000), np.array(True)):
            np.testing.assert_array_equal(np.asarray(put(values)), values)

    def test_elements_in_any_order(self):
        values = np.arange(24).reshape(2, 3, 4)
        for view in (values.T, values[:, ::-1, ::2], values[::-1], values.transpose(1, 0, 2), values[:, :1, :],
                     np.broadcast_to(values[0, 0], (5, 4))):
            np.testing.assert_array_equal(np.asarray(put(view)), view)

    def test_large_values_in_any_order(self):
        values = np.arange(600 * 700, dtype=np.int32).reshape(600, 700)
        np.testing.assert_array_equal(np.asarray(put(values.T)), values.T)
        np.testing.assert_array_equal(np.asarray(jax.jit(lambda x: x.T + 1)(put(values))), values.T + 1)

    def test_copy_to_the_host_ahead(self):
        arrays = [put(np.full(50_000, i)) for i in range(4)]
        for array in arrays:
            array.copy_to_host_async()
        for i, array in enumerate(arrays):
            self.assertEqual(np.asarray(array)[-1], i)

    def test_memories(self):
        self.assertEqual([m.kind for m in hlod().addressable_memories()], ["device", "pinned_host", "unpinned_host"])
        self.assertEqual(hlod().default_memory().kind, "device")
        pinned = jax.sharding.SingleDeviceSharding(hlod(), memory_kind="pinned_host")
        array = jax.device_put(put([1, 2]), pinned)
        self.assertEqual(array.sharding.memory_kind, "pinned_host")
        np.testing.assert_array_equal(np.asarray(array), [1, 2])


class Donation(PluginTest):

    def test_a_copy_in_another_memory_survives(self):
        array = put(np.ones(4, np.float32))
        copy = jax.device_put(array, jax.sharding.SingleDeviceSharding(hlod(), memory_kind="pinned_host"))
        jax.jit(lambda x: x + 1, donate_argnums=0)(array).block_until_ready()
        np.testing.assert_array_equal(np.asarray(copy), [1, 1, 1, 1])

    def test_a_read_under_way_survives(self):
        array = put(np.arange(300_000, dtype=np.float32)) + 0
        array.copy_to_host_async()
        jax.jit(lambda x: x * 0, donate_argnums=0)(array).block_until_ready()
        del array
        gc.collect()

    def test_a_step_that_donates_its_state(self):
        step = jax.jit(lambda state: state * 2, donate_argnums=0)
        state = put(np.ones((4, 4), np.float32))
        for _ in range(10):
            state = step(state)
        self.assertEqual(float(state[0, 0]), 1024)


class Programs(PluginTest):

    def test_errors_of_the_daemon(self):
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "RESOURCE_EXHAUSTED"):
            jnp.zeros((1 << 22, 1 << 22), device=hlod()).block_until_ready()
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "nope"):
            jax.ffi.ffi_call("nope", jax.ShapeDtypeStruct((3,), np.float32))(put(np.ones(3, np.float32)))
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "No such compile option: 'foo'"):
            jax.jit(lambda a: a + 1, compiler_options={"foo": 1})(put([1]))

    def test_a_failed_value_fails_what_uses_it(self):
        failed = jnp.zeros((1 << 22, 1 << 22), device=hlod())
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "RESOURCE_EXHAUSTED"):
            (failed[0, 0] + 1).block_until_ready()
        self.assertEqual(int(put(1) + 1), 2)


if __name__ == "__main__":
    main()
