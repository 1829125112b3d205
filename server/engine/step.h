// A step: one unit of a plan's work, prepared at compile time, run on raw pointers without allocating.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/hlo/module.h"
#include "server/engine/plan.h"

namespace hlod::engine {

enum class StepKind : uint8_t { kFused, kLibrary, kMovement, kControl, kReference };

// What a step may use while it runs.
struct StepContext {
  RunContext& run;
  std::byte* scratch;  // scratch_bytes() bytes, aligned to 64.
  int threads;         // The OpenMP team's size; steps split work with `#pragma omp parallel for
                       // num_threads(threads)`.
};

// For steps whose work their bytes do not bound: asks now and then, in each thread, whether the run is to
// end.
class Patience {
 public:
  explicit Patience(const RunContext& run) : run_(run) {}
  // Counts `work`, about a nanosecond each; true once the run was cancelled or its deadline has passed.
  bool Ends(int64_t work) {
    if ((left_ -= work) > 0) return false;
    left_ = kLooksEvery;
    return IsOver(run_);
  }
  static bool IsOver(const RunContext& run);
  // CANCELLED or DEADLINE_EXCEEDED when it is, else OK.
  static absl::Status Verdict(const RunContext& run);

 private:
  static constexpr int64_t kLooksEvery = 100'000;
  const RunContext& run_;
  int64_t left_ = kLooksEvery;
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
// step).
using MaybeStep = std::unique_ptr<Step>;

// Each takes the instruction and its module; inputs are the instruction's array operands in order (tuple
// operands do not occur), outputs the array leaves of its result. They never fail on a verified module: null
// means "not this case". dot.cc, convolution.cc: oneDNN. movement.cc and its siblings: contiguous-run fast
// paths.
MaybeStep MakeDotStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
MaybeStep MakeConvolutionStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
// transpose, broadcast, reverse, slice, dynamic-slice, dynamic-update-slice, pad, concatenate, copy, reshape
// and bitcast-convert when they must be materialised, iota.
MaybeStep MakeMovementStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
// gather, scatter (combiners: assign, add, multiply, minimum, maximum, and, or; any other through
// ScalarFunction).
MaybeStep MakeGatherScatterStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
// sort (one or several operands, any comparator; fast for the usual ones), topk and the TopK custom-call.
MaybeStep MakeSortStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
// reduce-window (cumulative ones in linear time), select-and-scatter.
MaybeStep MakeWindowStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
// reduce, of one or several operands, with any reducer: whatever the fused kernels do not take.
MaybeStep MakeReduceStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
// rng-bit-generator (threefry, philox).
MaybeStep MakeRandomStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
