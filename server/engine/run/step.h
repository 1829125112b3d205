// A step: one unit of a plan's work, prepared at compile time, run on raw pointers without allocating.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/hlo/module.h"
#include "server/engine/run/run_context.h"

namespace hlod::engine {

enum class StepKind : uint8_t { kFused, kLibrary, kMovement, kControl, kReference };

// What a step may use while it runs.
struct StepContext {
  RunContext& run;
  std::byte* scratch;  // scratch_bytes() bytes, aligned to 64.
  int threads;         // The OpenMP team's size; steps split work with `#pragma omp parallel for
                       // num_threads(threads)`.
};

// Immutable after construction; Run may be called from several threads at once with different memory.
class Step {
 public:
  virtual ~Step() = default;
  virtual StepKind kind() const = 0;
  // Short text for Plan::Dump: "dot f32[64,128]x[128,10]".
  virtual std::string Describe() const = 0;
  // Temporary bytes of its own, part of the plan's temporaries.
  virtual int64_t scratch_bytes() const { return 0; }
  virtual double flops() const { return 0; }
  // Whether output `o` may be given the memory of input `i` (equal bytes): the step reads each element of i
  // before, or as, it writes that place of o. The plan then works in place.
  virtual bool MayShare(int output, int input) const { return false; }
  // Runs on dense row-major buffers: one pointer an input and an output, in the order the step was made for.
  virtual absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                           StepContext& context) const = 0;
};

// A factory's answer: a step, or null when it has none for this case (the plan falls back to a reference
// step). Each factory takes the instruction and its module; inputs are the instruction's array operands in
// order (tuple operands do not occur), outputs the array leaves of its result. They never fail on a verified
// module.
using MaybeStep = std::unique_ptr<Step>;

}  // namespace hlod::engine
