"""Foreign functions (jax.ffi): compiled against jaxlib's own headers, called by programs that run in the daemon."""

import ctypes
import functools
import gc
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
#include <memory>
#include <optional>
#include <string>
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
// Counts from `base`, in a state that each program has for itself.
struct Counter {
  static ffi::TypeId id;
  static ffi::TypeInfo info;
  explicit Counter(int32_t next) : next(next) { ++alive; }
  ~Counter() { --alive; }
  int32_t next;
  static int alive;
};
ffi::TypeId Counter::id = {};
ffi::TypeInfo Counter::info = ffi::MakeTypeInfo<Counter>();
int Counter::alive = 0;
static ffi::ErrorOr<std::unique_ptr<Counter>> MakeCounter(int64_t base) { return std::make_unique<Counter>(static_cast<int32_t>(base)); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(make_counter, MakeCounter, ffi::Ffi::BindInstantiate().Attr<int64_t>("base"));
static ffi::Error Count(Counter* counter, ffi::ResultBuffer<ffi::S32> y, int64_t) {
  y->typed_data()[0] = counter->next++;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(count, Count, ffi::Ffi::Bind().Ctx<ffi::State<Counter>>().Ret<ffi::Buffer<ffi::S32>>().Attr<int64_t>("base"));
// Each stage of a call appends its letter.
static std::string stages;
static ffi::Error Prepare() { stages += 'p'; return ffi::Error::Success(); }
static ffi::Error Initialize() { stages += 'i'; return ffi::Error::Success(); }
static ffi::Error Execute(ffi::ResultBuffer<ffi::S32> y) { stages += 'e'; y->typed_data()[0] = 0; return ffi::Error::Success(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(stage_prepare, Prepare, ffi::Ffi::Bind<ffi::ExecutionStage::kPrepare>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(stage_initialize, Initialize, ffi::Ffi::Bind<ffi::ExecutionStage::kInitialize>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(stage_execute, Execute, ffi::Ffi::Bind().Ret<ffi::Buffer<ffi::S32>>());
// The older interface: versions 1, 2 and 3; version 1 with two results.
struct Status { std::optional<std::string> message; };
extern "C" {
void untyped_1(void* out, const void** in) { for (int i = 0; i < 3; ++i) ((float*)out)[i] = 2 * ((const float*)in[0])[i]; }
void untyped_2(void* out, const void** in, Status* status) { untyped_1(out, in); if (((float*)out)[0] < 0) status->message = "below zero"; }
void untyped_3(void* out, const void** in, const char* text, size_t size, Status*) { untyped_1(out, in); ((float*)out)[0] = text[0] == 'h' ? size : 0; }
void untyped_two(void** out, const void** in) { untyped_1(out[0], in); untyped_1(out[1], in + 1); }
void* counter_id() { return &Counter::id; }
void* counter_info() { return &Counter::info; }
int counters() { return Counter::alive; }
const char* stages_of_calls() { return stages.c_str(); }
}
"""


def capsule(address, name=b"xla._CUSTOM_CALL_TARGET"):
    """A function or an address of ctypes as jaxlib takes it."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(address if isinstance(address, int) else ctypes.cast(address, ctypes.c_void_p).value, name, None)


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

    def untyped(self, name, version, types, *arguments, **parameters):
        """The result of a function of the older interface, which is registered for the CPU and for hlod alike."""
        for platform in ("cpu", "hlod"):
            jax.ffi.register_ffi_target(f"test_{name}", capsule(getattr(library(), name)), platform=platform, api_version=0)
        call = jax.ffi.ffi_call(f"test_{name}", types, custom_call_api_version=version, **parameters)
        return jax.block_until_ready(jax.jit(call)(*arguments))

    def test_untyped_functions(self):
        x = np.array([1, 2, 3], np.float32)
        one = jax.ShapeDtypeStruct((3,), np.float32)
        np.testing.assert_array_equal(self.untyped("untyped_1", 1, one, x), 2 * x)
        np.testing.assert_array_equal(self.untyped("untyped_2", 2, one, x), 2 * x)
        np.testing.assert_array_equal(self.untyped("untyped_3", 3, one, x, legacy_backend_config="hello"), [5, 4, 6])
        first, second = self.untyped("untyped_two", 1, (one, one), x, x + 1)
        np.testing.assert_array_equal(first, 2 * x)
        np.testing.assert_array_equal(second, 2 * x + 2)
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "test_untyped_2 failed: below zero"):
            self.untyped("untyped_2", 2, one, -x)
        with self.assertRaisesRegex(NotImplementedError, "api_version=7"):
            jax.ffi.register_ffi_target("test_untyped_7", capsule(library().untyped_1), platform="hlod", api_version=7)

    def test_states_are_each_programs_own(self):
        functions = library()
        functions.counter_id.restype = functions.counter_info.restype = ctypes.c_void_p
        jax.ffi.register_ffi_type(
            "test_counter", {"type_id": capsule(functions.counter_id(), None), "type_info": capsule(functions.counter_info(), None)}, platform="hlod"
        )
        stages = {"instantiate": jax.ffi.pycapsule(functions.make_counter), "execute": jax.ffi.pycapsule(functions.count)}
        jax.ffi.register_ffi_target("test_count", stages, platform="hlod")
        counter = lambda base: jax.jit(
            lambda: jax.ffi.ffi_call("test_count", jax.ShapeDtypeStruct((), np.int32), has_side_effect=True)(base=base)
        )
        four, seven = counter(4), counter(7)
        self.assertEqual([int(f()) for f in (four, four, seven, four, seven)], [4, 5, 7, 6, 8])
        self.assertEqual(functions.counters(), 2)
        del four, seven
        jax.clear_caches()
        gc.collect()
        self.assertEqual(functions.counters(), 0)

    def test_stages_run_in_order(self):
        functions = library()
        stages = {stage: jax.ffi.pycapsule(getattr(functions, f"stage_{stage}")) for stage in ("prepare", "initialize", "execute")}
        jax.ffi.register_ffi_target("test_stages", stages, platform="hlod")
        call = jax.jit(lambda: jax.ffi.ffi_call("test_stages", jax.ShapeDtypeStruct((), np.int32), has_side_effect=True)())
        for _ in range(2):
            call().block_until_ready()
        functions.stages_of_calls.restype = ctypes.c_char_p
        self.assertEqual(functions.stages_of_calls(), b"piepie")


if __name__ == "__main__":
    unittest.main()
