"""Foreign functions (jax.ffi): compiled against jaxlib's own headers, called by programs that run in the daemon."""

import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
import unittest

import jax
import jax.numpy as jnp
import numpy as np

import support

SOURCE = r"""
#include <atomic>
#include <cstdint>
#include <string_view>
#include "xla/ffi/api/ffi.h"
namespace ffi = xla::ffi;
static std::atomic<int> instantiated = 0;
struct State {
  static ffi::TypeId id;
  static ffi::TypeInfo info;
  int64_t scale;
};
// y = scale * x + sum(offsets), and the number of elements.
static ffi::Error Affine(ffi::Buffer<ffi::F32> x, float scale, ffi::Span<const int64_t> offsets, std::string_view mode, bool negate,
                         ffi::ResultBuffer<ffi::F32> y, ffi::ResultBuffer<ffi::S32> count) {
  if (mode == "fail") return ffi::Error::InvalidArgument("asked to fail");
  float offset = 0;
  for (int64_t o : offsets) offset += static_cast<float>(o);
  for (size_t i = 0; i < x.element_count(); ++i) y->typed_data()[i] = (negate ? -1 : 1) * scale * x.typed_data()[i] + offset;
  count->typed_data()[0] = static_cast<int32_t>(x.element_count());
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(affine, Affine, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Attr<float>("scale")
    .Attr<ffi::Span<const int64_t>>("offsets").Attr<std::string_view>("mode").Attr<bool>("negate")
    .Ret<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::S32>>());
// Adds 1 where its operand lies.
static ffi::Error Increment(ffi::Buffer<ffi::F32>, ffi::ResultBuffer<ffi::F32> y) {
  for (size_t i = 0; i < y->element_count(); ++i) y->typed_data()[i] += 1;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(increment, Increment, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
// Has no operand.
static ffi::Error Seven(ffi::ResultBuffer<ffi::S32> y) { y->typed_data()[0] = 7; return ffi::Error::Success(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(seven, Seven, ffi::Ffi::Bind().Ret<ffi::Buffer<ffi::S32>>());
"""


@functools.lru_cache(maxsize=None)
def library():
    folder = tempfile.mkdtemp()
    source, shared = os.path.join(folder, "functions.cc"), os.path.join(folder, "functions.so")
    with open(source, "w") as file:
        file.write(SOURCE)
    command = [shutil.which("g++"), "-std=c++17", "-O0", "-shared", "-fPIC", "-I", jax.ffi.include_dir(), source, "-o", shared]
    subprocess.run(command, check=True)
    functions = ctypes.CDLL(shared)
    for name in ("affine", "increment", "seven"):
        jax.ffi.register_ffi_target(f"test_{name}", jax.ffi.pycapsule(getattr(functions, name)), platform="hlod")
    jax.ffi.register_ffi_target("test_of_cpu", jax.ffi.pycapsule(functions.increment), platform="cpu")
    shutil.rmtree(folder)
    return functions


@unittest.skipUnless(shutil.which("g++"), "needs a C++ compiler")
class ForeignFunctionTest(support.PluginTest):
    def setUp(self):
        super().setUp()
        library()

    def affine(self, x, mode="go", negate=False):
        types = (jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct((), np.int32))
        return jax.ffi.ffi_call("test_affine", types)(
            x, scale=np.float32(3), offsets=np.array([1, 2], np.int64), mode=mode, negate=negate
        )

    def test_operands_attributes_and_results(self):
        x = support.array(3, 4)
        y, count = jax.jit(self.affine)(x)
        np.testing.assert_allclose(y, 3 * x + 3, rtol=1e-6)
        self.assertEqual(int(count), 12)
        negated = jax.jit(functools.partial(self.affine, negate=True))(x)[0]
        np.testing.assert_allclose(negated, -3 * x + 3, rtol=1e-6)

    def test_in_a_loop_beside_other_work(self):
        x = jnp.arange(4, dtype=jnp.float32)
        run = jax.jit(lambda x: jax.lax.fori_loop(0, 5, lambda i, x: self.affine(x)[0] - 2 * x, x))
        expected = np.arange(4, dtype=np.float32)
        for _ in range(5):
            expected = 3 * expected + 3 - 2 * expected
        np.testing.assert_allclose(run(x), expected, rtol=1e-6)

    def test_results_in_an_operands_memory(self):
        x = support.array(5)
        call = jax.ffi.ffi_call("test_increment", jax.ShapeDtypeStruct(x.shape, x.dtype), input_output_aliases={0: 0})
        np.testing.assert_allclose(jax.jit(call)(x), x + 1, rtol=1e-6)

    def test_without_operands_and_of_the_cpu(self):
        seven = jax.ffi.ffi_call("test_seven", jax.ShapeDtypeStruct((), np.int32))
        self.assertEqual(int(jax.jit(seven)()), 7)
        x = support.array(5)
        of_cpu = jax.ffi.ffi_call("test_of_cpu", jax.ShapeDtypeStruct(x.shape, x.dtype), input_output_aliases={0: 0})
        np.testing.assert_allclose(jax.jit(of_cpu)(x), x + 1, rtol=1e-6)

    def test_errors_are_the_programs(self):
        with self.assertRaisesRegex(Exception, "asked to fail"):
            jax.block_until_ready(jax.jit(functools.partial(self.affine, mode="fail"))(support.array(2)))

    def test_untyped_functions_are_refused(self):
        with self.assertRaisesRegex(NotImplementedError, "api_version=0"):
            jax.ffi.register_ffi_target("test_untyped", jax.ffi.pycapsule(library().seven), platform="hlod", api_version=0)


if __name__ == "__main__":
    unittest.main()
