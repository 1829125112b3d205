// The engine's interface: compiles an HLO module to a plan, and runs the plan on spans of bytes. The engine
// does not depend on sessions, handles or wire formats.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/module.h"
#include "server/engine/assemble/assembler.h"
#include "server/engine/run/run_context.h"

namespace hlod::engine {

class NativeKernels;
struct RunProfile;
struct StepTimes;

struct CompileOptions {
  int threads = 0;              // The size of the OpenMP team; 0: the number of cores.
  bool verify = true;           // False when the caller has just verified the module.
  bool reference_only = false;  // Makes every instruction a reference step, for cross-checks.
  // The kernels for custom-calls whose targets are not hlod's own. Without them such calls cannot be
  // compiled.
  std::shared_ptr<const NativeKernels> kernels = nullptr;
  // Makes machine code of fused steps, at the plan's second run. With null, they stay interpreted.
  std::shared_ptr<Assembler> assembler = DefaultAssembler();
  // The user to whom the code that is made when the plan is compiled is charged. With null, no user is.
  std::shared_ptr<AssemblyUser> assembly = nullptr;
  // Checked between the stages and for each step that is made. Compile then returns DEADLINE_EXCEEDED or
  // CANCELLED.
  absl::Time deadline = absl::InfiniteFuture();
  const std::atomic<bool>* cancel = nullptr;  // Not owned.
  // Called with an estimate of the most bytes that the compilation takes at one time besides the module,
  // before it takes them. Compile returns its error. With null, the memory is not limited.
  std::function<absl::Status(int64_t bytes)> reserve = nullptr;
};

// The bytes that a run needs. Outputs that alias an argument need none.
struct PlanMemory {
  int64_t argument_bytes = 0, output_bytes = 0, alias_bytes = 0, temporary_bytes = 0;
};

struct PlanStats {
  int64_t instructions = 0, steps = 0, fused_steps = 0, library_steps = 0, movement_steps = 0,
          reference_steps = 0;
  std::vector<std::string> reference_opcodes;  // Sorted, without duplicates.
  // The steps that are many times slower than usual, reference steps among them, as "sort (model.cc:12):
  // why". Sorted, without duplicates, at most kSlowStepsListed.
  std::vector<std::string> slow_steps;
  static constexpr size_t kSlowStepsListed = 32;
  hlo::Participants
      participants;        // The number of participants, each of which runs the plan, all at the same time.
  bool transfers = false;  // True when it uses RunContext::channels, so that a run may wait for long.
  int64_t compile_us = 0;
  // Twice the multiply-adds of dots and convolutions, plus one per element of an elementwise result. Loops
  // are counted once.
  double flops = 0;
};

// An immutable compiled program. Run may be called from several threads at once with different memory.
//
// Arguments and results are flat: the array leaves of the entry's parameters and of its root in hlo::Leaves
// order (tokens are leaves without bytes). Each is dense and row-major, takes one byte per element for
// sub-byte types, and is aligned to 64 bytes. A result with dynamic dimensions is stored as
// common/hlo/dynamic/dynamic_result.h says.
class Plan {
 public:
  virtual ~Plan() = default;

  virtual absl::Span<const hlo::Shape> arguments() const = 0;
  virtual absl::Span<const hlo::Shape> results() const = 0;
  // Returns, per result, the argument whose memory it shares, or -1. The caller must pass the same pointer to
  // Run for both; to keep the argument, it passes a copy.
  virtual absl::Span<const int> aliases() const = 0;
  virtual const PlanMemory& memory() const = 0;
  virtual const PlanStats& stats() const = 0;
  // The size of its team.
  virtual int threads() const = 0;
  // The expected duration in microseconds, from FLOPs and bytes. It decides which thread runs the plan.
  virtual double estimate_us() const = 0;

  // Runs the program, as the participant that the context names when there are several. `temporary` has
  // memory().temporary_bytes bytes, aligned to 64; their contents do not matter before or after. Run
  // allocates no memory unless the plan has reference steps. On an error the results are unspecified.
  // `arguments` that no result aliases are only read.
  virtual absl::Status Run(absl::Span<const std::byte* const> arguments, absl::Span<std::byte* const> results,
                           std::byte* temporary, RunContext& context) const = 0;

  // When some participants of a run are in other processes: the bytes that a participant needs for the
  // values of those, aligned to 64 (Elsewhere::spaces).
  virtual int64_t ReceiveBytes(int participant, absl::FunctionRef<bool(int participant)> here) const = 0;

  // Returns a bound on the memory that RunContext::times and the profile made of it take.
  virtual int64_t profile_bytes_max() const = 0;
  // Returns the profile of a run of this plan, which filled `times`.
  virtual RunProfile Profile(const StepTimes& times) const = 0;

  // Assembles the steps that are still interpreted before it returns. The memory of their code is charged to
  // the user, unless that is null. Does nothing without an assembler.
  virtual void AssembleNow(AssemblyUser* user = nullptr) const = 0;
  // The number of programs of its steps that are machine code.
  virtual int64_t kernels() const = 0;
  // The bound on the bytes of its machine code; 0 without an assembler.
  virtual int64_t code_bytes_max() const = 0;

  // Returns one line per step, for people: what it runs, and where its operands are.
  virtual std::string Dump() const = 0;
};

// Compiles a module, which is not kept. Returns INVALID_ARGUMENT from the verifier; UNIMPLEMENTED naming the
// opcode, custom-call target, collective or dynamic dimension that this build cannot run; RESOURCE_EXHAUSTED
// when its memory overflows; the error of `reserve`; CANCELLED and DEADLINE_EXCEEDED as the options say.
absl::StatusOr<std::unique_ptr<Plan>> Compile(const hlo::Module& module, const CompileOptions& options = {});

}  // namespace hlod::engine
