// A step: one unit of a plan's work, prepared at compile time, which runs on raw pointers without allocating.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/hlo/module.h"
#include "server/engine/run/run_context.h"

namespace hlod::engine {

class KernelSlot;
struct StepCopies;

enum class StepKind : uint8_t { kFused, kLibrary, kMovement, kReference };

// The resources that a step may use while it runs.
struct StepContext {
  RunContext& run;
  std::byte* scratch;  // Memory of Step::scratch_bytes() bytes, aligned to 64.
  int threads;         // The OpenMP team's size; steps split work with `#pragma omp parallel for
                       // num_threads(threads)`.
};

// A step does not change after its factory has made it, except that its programs may become machine code; subclasses differ only in how they run. Run may be
// called from several threads at once with different memory.
class Step {
 public:
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  StepKind kind() const { return kind_; }
  // Short text for Plan::Dump: "dot f32[64,128]x[128,10]".
  const std::string& text() const { return text_; }
  // The temporary bytes that this step needs, which are part of the plan's temporaries.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  double flops() const { return flops_; }
  // The reason why it uses a general method, many times slower than is usual for its opcode; empty if it does
  // not.
  const std::string& slow_reason() const { return slow_reason_; }
  // Returns true when output `output` may have the memory of input `input` (which has equal bytes): the step
  // reads each element of the input before or while it writes that element of the output. Then the plan works
  // in place.
  bool MayShare(int output, int input) const {
    return std::find(shared_.begin(), shared_.end(), std::pair(output, input)) != shared_.end();
  }

  // The places for machine code of the programs that the step interprets.
  virtual absl::Span<KernelSlot* const> kernel_slots() const { return {}; }

  // The copies that are all that the step does, if it is so small that a loop's machine code makes them
  // itself; else null.
  const StepCopies* copies() const { return copies_.get(); }

  // Runs on dense row-major buffers: one pointer per input and output, in the order in which the factory
  // defined them. Checks cancel and deadline at least every 10 ms (StopCheck).
  virtual absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                           StepContext& context) const = 0;

 protected:
  Step(StepKind kind, std::string text) : text_(std::move(text)), kind_(kind) {}
  // The following are for constructors and factories.
  void set_text(std::string text) { text_ = std::move(text); }
  void set_scratch_bytes(int64_t bytes) { scratch_bytes_ = bytes; }
  void set_flops(double flops) { flops_ = flops; }
  void set_slow_reason(std::string reason) { slow_reason_ = std::move(reason); }
  void set_copies(std::shared_ptr<const StepCopies> copies) { copies_ = std::move(copies); }
  void Share(int output, int input) { shared_.emplace_back(output, input); }

 private:
  std::string text_, slow_reason_;
  std::shared_ptr<const StepCopies> copies_;
  StepKind kind_;
  int64_t scratch_bytes_ = 0;
  double flops_ = 0;
  absl::InlinedVector<std::pair<int, int>, 1> shared_;  // Pairs of output and input.
};

// The result of a factory: a step, or null if it has none for this case (then the plan uses a reference
// step). Each factory takes the instruction and its module. Inputs are the instruction's array operands in
// order (tuple operands do not occur), or what StepReads names instead; outputs are the array leaves of its
// result. Factories never fail on a verified module.
using MaybeStep = std::unique_ptr<Step>;

}  // namespace hlod::engine
