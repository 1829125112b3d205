// oneDNN primitives that run without allocations of ours and from several threads at once.
//
// A primitive is created at compile time, with a scratchpad that its user provides. Its memory objects, which
// name the buffers, can serve one run at a time; so each primitive keeps a few sets of them, claimed by an
// atomic flag. The remaining allocations are libdnnl's own: 2.6.3 makes about six small ones in each
// dnnl_primitive_execute.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/hlo/primitive_type.h"
#include "common/hlo/shape.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace hlod::engine {

// Returns the only CPU engine.
const dnnl::engine& OneDnnEngine();

// Returns oneDNN's name of an element type that it supports on the CPU (f32, bf16, s32, s8, u8), else
// nullopt.
std::optional<dnnl::memory::data_type> OneDnnType(hlo::PrimitiveType type);

// Returns a strided description; strides are in elements.
dnnl::memory::desc OneDnnDesc(absl::Span<const int64_t> dims, absl::Span<const int64_t> strides,
                              dnnl::memory::data_type type);

// Returns attributes for a scratchpad that the user provides.
dnnl::primitive_attr OneDnnAttributes();

// Returns true when oneDNN uses all of an instruction set. Its numbers are bit sets, and the highest, AVX2
// with VNNI, does not include AVX-512.
bool OneDnnHas(dnnl::cpu_isa set);

// Returns true when this thread is inside libdnnl, so that its allocations are not ours.
bool InsideOneDnn();

// Sets the team that oneDNN uses on this thread, while it exists. A primitive must run with the team size
// that it was created for.
class ScopedTeam {
 public:
  explicit ScopedTeam(int threads);
  ~ScopedTeam();

 private:
  int before_;
};

class OneDnnPrimitive {
 public:
  struct Argument {
    int index;  // DNNL_ARG_SRC, ...
    dnnl::memory::desc desc;
  };
  // Takes ownership of `primitive`. `scratch` is the primitive descriptor's scratchpad_desc().
  OneDnnPrimitive(dnnl::primitive primitive, std::vector<Argument> arguments,
                  const dnnl::memory::desc& scratch, int threads, std::string implementation);

  int64_t scratch_bytes() const { return scratch_bytes_; }
  // libdnnl's name of the chosen kernel: "brg:avx512_core".
  const std::string& implementation() const { return implementation_; }

  // Runs the primitive. `pointers` are in the order of the constructor's arguments. Must be called on a
  // thread that has a team of the right size, or runs on RunWithTeam's. Returns INTERNAL when libdnnl
  // refuses.
  absl::Status Run(absl::Span<std::byte* const> pointers, std::byte* scratch) const;

 private:
  struct Slot {
    std::atomic_flag busy;
    std::vector<dnnl::memory> memories;
    std::vector<dnnl_exec_arg_t> args;
  };
  std::unique_ptr<Slot> MakeSlot() const;
  absl::Status RunHere(absl::Span<std::byte* const> pointers, std::byte* scratch) const;
  absl::Status RunSlot(Slot& slot, absl::Span<std::byte* const> pointers, std::byte* scratch) const;

  dnnl::primitive primitive_;
  std::vector<Argument> arguments_;  // The last one is the scratchpad.
  int64_t scratch_bytes_;
  int threads_;
  std::string implementation_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

// Runs `make`, which creates primitives and may throw. Returns its result, or a default value (null, false)
// when it threw.
template <typename Make>
auto TryOneDnn(int threads, Make&& make) -> decltype(make()) {
  ScopedTeam team(threads);
  try {
    return std::forward<Make>(make)();
  } catch (const dnnl::error&) {
    return {};
  }
}

}  // namespace hlod::engine
