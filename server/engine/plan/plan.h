// The engine's interface: compile an HLO module to a plan, run the plan on spans of bytes. Knows no sessions,
// handles or wire.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/hlo/collective.h"
#include "common/hlo/module.h"
#include "server/engine/run/run_context.h"

namespace hlod::engine {

class NativeKernels;

struct CompileOptions {
  int threads = 0;              // Of the one OpenMP team; 0: as many as there are cores.
  bool verify = true;           // Off when the caller has just verified the module.
  bool reference_only = false;  // Every instruction is a reference step: the cross-check.
  // What runs custom-calls whose targets are not hlod's own; null: nothing does.
  std::shared_ptr<const NativeKernels> kernels = nullptr;
  // Looked at between the stages and for each step that is made: DEADLINE_EXCEEDED, CANCELLED.
  absl::Time deadline = absl::InfiniteFuture();
  const std::atomic<bool>* cancel = nullptr;  // Not owned.
};

// Bytes a run needs. Outputs that alias an argument take none of their own.
struct PlanMemory {
  int64_t argument_bytes = 0, output_bytes = 0, alias_bytes = 0, temporary_bytes = 0;
};

struct PlanStats {
  int64_t instructions = 0, steps = 0, fused_steps = 0, library_steps = 0, movement_steps = 0,
          reference_steps = 0;
  std::vector<std::string> reference_opcodes;  // Sorted, without repeats.
  // Steps many times slower than usual, reference steps among them: "sort (model.cc:12): why". Sorted,
  // without repeats, at most kSlowStepsListed.
  std::vector<std::string> slow_steps;
  static constexpr size_t kSlowStepsListed = 32;
  hlo::Members members;    // Each runs the plan by itself, all at the same time.
  bool transfers = false;  // Uses RunContext::channels, where a run may wait for long.
  int64_t compile_us = 0;
  // Dot and convolution multiply-adds times two, plus one an elementwise element; loops counted once.
  double flops = 0;
};

// An immutable compiled program. Run may be called from several threads at once with different memory.
//
// Arguments and results are flat: the array leaves of the entry's parameters and of its root in hlo::Leaves
// order (tokens are leaves of no bytes). Each is dense, row-major, one byte an element for sub-byte types,
// aligned to 64 bytes. A result with dynamic dimensions is stored as common/hlo/dynamic_result.h says.
class Plan {
 public:
  virtual ~Plan() = default;

  virtual absl::Span<const hlo::Shape> arguments() const = 0;
  virtual absl::Span<const hlo::Shape> results() const = 0;
  // For result i the argument whose memory it shares, or -1. Run must be given the same pointer for both; a
  // caller that may not lose the argument passes a copy of it.
  virtual absl::Span<const int> aliases() const = 0;
  virtual const PlanMemory& memory() const = 0;
  virtual const PlanStats& stats() const = 0;
  // Expected duration from FLOPs and bytes, in microseconds: decides which thread runs it.
  virtual double estimate_us() const = 0;

  // Runs the program; of several members the one that the context says. `temporary` has
  // memory().temporary_bytes bytes, aligned to 64; contents do not matter before or after. No allocation
  // happens inside unless the plan has reference steps. On an error results are unspecified. `arguments` not
  // aliased by a result are only read.
  virtual absl::Status Run(absl::Span<const std::byte* const> arguments, absl::Span<std::byte* const> results,
                           std::byte* temporary, RunContext& context) const = 0;

  // One line a step, for people: what it runs and where its bytes lie.
  virtual std::string Dump() const = 0;
};

// Compiles a module. INVALID_ARGUMENT from the verifier; UNIMPLEMENTED naming opcode, custom-call target,
// collective or dynamic dimension that this build cannot run; RESOURCE_EXHAUSTED when its memory overflows;
// CANCELLED and DEADLINE_EXCEEDED as the options say.
// The module is not kept.
absl::StatusOr<std::unique_ptr<Plan>> Compile(const hlo::Module& module, const CompileOptions& options = {});

}  // namespace hlod::engine
