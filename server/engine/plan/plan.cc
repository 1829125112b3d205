// The pipeline from a module to a plan, and the plan itself.
#include "server/engine/plan/plan.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/hlo/collectives/channels.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "common/hlo/inference/verifier.h"
#include "common/passes/dynamic/expand_dynamic.h"
#include "common/passes/expand/expand_gpu_calls.h"
#include "common/passes/expand/expand_manual.h"
#include "common/passes/expand/expand_wrappers.h"
#include "common/passes/passes.h"
#include "server/engine/plan/assemble.h"
#include "server/engine/plan/assignment/buffer_assignment.h"
#include "server/engine/plan/compile_memory.h"
#include "server/engine/plan/dump.h"
#include "server/engine/plan/lowering/collective_step.h"
#include "server/engine/plan/lowering/lowering.h"
#include "server/engine/plan/optimised.h"
#include "server/engine/plan/plan_kernels.h"
#include "server/engine/plan/run_profile.h"
#include "server/engine/plan/runnable.h"
#include "server/engine/run/team.h"

namespace hlod::engine {
namespace {

// The assumed time of a step besides its work, and the added time per loop, whose iterations are not counted.
constexpr double kStepUs = 0.3;
constexpr double kLoopUs = 1000;
constexpr double kFlopsPerUs = 1e5;  // 100 GFLOP/s.
constexpr double kBytesPerUs = 1e4;  // 10 GB/s.

// Builds with assertions check the assignment of programs up to this size.
constexpr size_t kCheckedOpsMax = 20'000;

// The part of a plan that the assembler keeps while it translates a step.
struct PlanBody {
  PlanBody(FlatProgram the_program, Assignment the_assignment)
      : program(std::move(the_program)),
        assignment(std::move(the_assignment)),
        code(Assemble(program, assignment)) {}
  PlanBody(const PlanBody&) = delete;
  PlanBody& operator=(const PlanBody&) = delete;

  const FlatProgram program;
  const Assignment assignment;
  const Code code;
};

class PlanImpl final : public Plan {
 public:
  PlanImpl(FlatProgram program, Assignment assignment, int threads, std::shared_ptr<Assembler> assembler)
      : body_(std::make_shared<const PlanBody>(std::move(program), std::move(assignment))),
        threads_(threads),
        kernels_(std::move(assembler), body_, program_, code_) {}

  // Sums up sizes and counts. Returns RESOURCE_EXHAUSTED when a sum overflows.
  absl::Status Account();
  void set_compile_us(int64_t us) { stats_.compile_us = us; }
  void set_participants(const hlo::Participants& participants) { stats_.participants = participants; }
  void set_transfers(bool transfers) { stats_.transfers = transfers; }

  absl::Span<const hlo::Shape> arguments() const override { return program_.arguments; }
  absl::Span<const hlo::Shape> results() const override { return program_.results; }
  absl::Span<const int> aliases() const override { return program_.aliases; }
  const PlanMemory& memory() const override { return memory_; }
  const PlanStats& stats() const override { return stats_; }
  int threads() const override { return threads_; }
  double estimate_us() const override { return estimate_us_; }

  absl::Status Run(absl::Span<const std::byte* const> arguments, absl::Span<std::byte* const> results,
                   std::byte* temporary, RunContext& context) const override {
    if (arguments.size() != program_.arguments.size() || results.size() != program_.results.size()) {
      return InvalidArgument("The program takes %d arguments and %d results, and was given %d and %d.",
                             program_.arguments.size(), program_.results.size(), arguments.size(),
                             results.size());
    }
    kernels_.CountRun(context.assembly);
    return Execute(code_, arguments, results, temporary, TeamOfThisThread(threads_), context,
                   [this, &context] { kernels_.RequestAtOnce(context.assembly); });
  }

  int64_t ReceiveBytes(int participant, absl::FunctionRef<bool(int)> here) const override {
    int64_t most = 0;
    for (const Op& op : program_.ops) {
      if (op.kind == Op::Kind::kStep)
        most = std::max(most, engine::ReceiveBytes(*op.step, participant, here));
    }
    return most;
  }

  int64_t profile_bytes_max() const override { return ProfileBytesMax(code_); }
  RunProfile Profile(const StepTimes& times) const override {
    return MakeRunProfile(program_, assignment_, code_, times);
  }

  void AssembleNow(AssemblyUser* user) const override { kernels_.AssembleNow(user); }
  int64_t kernels() const override { return kernels_.kernels(); }
  int64_t code_bytes_max() const override { return kernels_.code_bytes_max(); }

  std::string Dump() const override { return DumpProgram(program_, assignment_, memory_, stats_); }

 private:
  void CountStep(const Op& op, std::set<std::string>& reference_opcodes, std::set<std::string>& slow);

  const std::shared_ptr<const PlanBody> body_;
  const FlatProgram& program_ = body_->program;
  const Assignment& assignment_ = body_->assignment;
  const Code& code_ = body_->code;
  const int threads_;
  PlanMemory memory_;
  PlanStats stats_;
  double estimate_us_ = 0;
  PlanKernels kernels_;
};

void PlanImpl::CountStep(const Op& op, std::set<std::string>& reference_opcodes,
                         std::set<std::string>& slow) {
  ++stats_.steps;
  stats_.flops += op.step->flops();
  if (!op.slow.empty() && slow.size() < PlanStats::kSlowStepsListed) slow.insert(op.slow);
  switch (op.step->kind()) {
    case StepKind::kFused: ++stats_.fused_steps; break;
    case StepKind::kLibrary: ++stats_.library_steps; break;
    case StepKind::kMovement: ++stats_.movement_steps; break;
    case StepKind::kReference:
      ++stats_.reference_steps;
      if (op.reference_opcode != nullptr) reference_opcodes.emplace(op.reference_opcode);
      break;
  }
}

absl::Status PlanImpl::Account() {
  const auto add = [](int64_t& sum, int64_t bytes) {
    const std::optional<int64_t> total = CheckedAdd(sum, bytes);
    if (!total.has_value())
      return ResourceExhausted("The program's arguments and results overflow in bytes.");
    sum = *total;
    return absl::OkStatus();
  };
  for (const hlo::Shape& argument : program_.arguments) {
    RETURN_IF_ERROR(add(memory_.argument_bytes, hlo::ByteSize(argument).value_or(0)));
  }
  for (size_t r = 0; r < program_.results.size(); ++r) {
    const int64_t bytes = hlo::StoredByteSize(program_.results[r]).value_or(0);
    RETURN_IF_ERROR(add(program_.aliases[r] < 0 ? memory_.output_bytes : memory_.alias_bytes, bytes));
  }
  memory_.temporary_bytes = code_.TableBytes();
  RETURN_IF_ERROR(add(memory_.temporary_bytes, assignment_.arena_bytes));

  stats_.instructions = program_.instructions;
  std::set<std::string> reference_opcodes, slow;
  for (const Op& op : program_.ops) {
    if (op.kind == Op::Kind::kStep) CountStep(op, reference_opcodes, slow);
  }
  stats_.reference_opcodes.assign(reference_opcodes.begin(), reference_opcodes.end());
  stats_.slow_steps.assign(slow.begin(), slow.end());

  double bytes = 0;
  for (const CodeInstruction& instruction : code_.instructions)
    bytes += static_cast<double>(instruction.bytes);
  estimate_us_ = stats_.flops / kFlopsPerUs + bytes / kBytesPerUs +
                 kStepUs * static_cast<double>(stats_.steps) +
                 kLoopUs * static_cast<double>(program_.loops.size());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<PlanImpl>> MakePlan(std::shared_ptr<const hlo::Module> module,
                                                   const CompileOptions& options) {
  const int threads = TeamSize(options.threads);
  passes::PassWatch watch([&options] { return Interrupted(options); });
  const hlo::Participants participants = hlo::ParticipantsOf(*module);
  const bool transfers = hlo::HasTransfers(*module);

  // Makes one flat list of steps over array values.
  ASSIGN_OR_RETURN(FlatProgram program, Lower(std::move(module), options, threads));

  RETURN_IF_ERROR(Interrupted(options));

  // Assigns memory to every value. After this, values do not move.
  ASSIGN_OR_RETURN(Assignment assignment, AssignBuffers(program, &watch));
#ifndef NDEBUG
  if (program.ops.size() <= kCheckedOpsMax) {
    for (int branch = 0; branch < 2; ++branch)
      RETURN_IF_ERROR(CheckAssignment(program, assignment, 2, branch));
  }
#endif

  auto plan =
      std::make_unique<PlanImpl>(std::move(program), std::move(assignment), threads, options.assembler);
  RETURN_IF_ERROR(plan->Account());
  plan->set_participants(participants);
  plan->set_transfers(transfers);
  if (options.assembler != nullptr && options.assembler->options().at_once)
    plan->AssembleNow(options.assembly.get());
  return plan;
}

absl::Status Reserve(const hlo::Module& module, const CompileOptions& options) {
  return options.reserve == nullptr ? absl::OkStatus() : options.reserve(CompileBytes(module));
}

int64_t MicrosecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

absl::Status Interrupted(const CompileOptions& options) {
  const absl::Status verdict = StopCheck::Verdict({options.deadline, options.cancel});
  if (verdict.ok()) return verdict;
  return absl::IsCancelled(verdict) ? Cancelled("The program was cancelled while it was compiled.")
                                    : DeadlineExceeded("The deadline passed while the program was compiled.");
}

absl::StatusOr<std::unique_ptr<Plan>> Compile(const hlo::Module& module, const CompileOptions& options) {
  return Compile(module, options, nullptr);
}

absl::StatusOr<std::unique_ptr<Plan>> Compile(const hlo::Module& given, const CompileOptions& options,
                                              std::shared_ptr<const hlo::Module>* optimised) {
  const auto start = std::chrono::steady_clock::now();

  // All later stages rely on shapes, arity, nesting and aliases.
  if (options.verify) RETURN_IF_ERROR(hlo::Verify(given));

  // Bounded dimensions become static ones, with their sizes as separate values; later stages have no dynamic
  // dimensions.
  std::unique_ptr<hlo::Module> expanded;
  if (passes::HasDynamicDimensions(given)) {
    ASSIGN_OR_RETURN(expanded, passes::ExpandDynamic(given));
    RETURN_IF_ERROR(hlo::Verify(*expanded));
  }
  const hlo::Module& cut = expanded != nullptr ? *expanded : given;
  // The conversions between whole arrays and the parts of partitions become slices and collectives.
  std::unique_ptr<hlo::Module> joined;
  if (hlo::ParticipantsOf(cut).partitions > 1 && passes::HasManualComputations(cut)) {
    ASSIGN_OR_RETURN(joined, passes::ExpandManual(cut));
    RETURN_IF_ERROR(hlo::Verify(*joined));
  }
  const hlo::Module& own = joined != nullptr ? *joined : cut;
  std::unique_ptr<hlo::Module> ported;
  if (passes::HasGpuCalls(own)) {
    ported = passes::ExpandGpuCalls(own);
    RETURN_IF_ERROR(hlo::Verify(*ported));
  }
  const hlo::Module& module = ported != nullptr ? *ported : own;

  // Refuses by name what cannot run, before other work is done.
  RETURN_IF_ERROR(CheckRunnable(module, options.kernels.get()));
  RETURN_IF_ERROR(Reserve(module, options));
  RETURN_IF_ERROR(Interrupted(options));

  passes::PassWatch watch([&options] { return Interrupted(options); });
  // Inlines, folds and simplifies. The cross-check uses the module unchanged.
  std::shared_ptr<const hlo::Module> simplified;
  if (options.reference_only && hlo::ParticipantsOf(module).count() > 1) {
    // Participants meet in steps, so they cannot meet inside a computation that the evaluator runs.
    simplified = passes::ExpandWrappers(module, &watch);
  } else if (options.reference_only) {
    simplified = hlo::Clone(module);
  } else {
    ASSIGN_OR_RETURN(simplified, passes::RunPipeline(module, &watch));
  }
  RETURN_IF_ERROR(Interrupted(options));
  if (optimised != nullptr) *optimised = simplified;

  ASSIGN_OR_RETURN(std::unique_ptr<PlanImpl> plan, MakePlan(std::move(simplified), options));
  plan->set_compile_us(MicrosecondsSince(start));
  return plan;
}

absl::StatusOr<std::unique_ptr<Plan>> PlanOptimised(std::shared_ptr<const hlo::Module> module,
                                                    const CompileOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  if (options.verify)
    RETURN_IF_ERROR(hlo::Verify(*module, {.instructions_max = passes::kInlinedInstructionsMax}));
  RETURN_IF_ERROR(Reserve(*module, options));
  ASSIGN_OR_RETURN(std::unique_ptr<PlanImpl> plan, MakePlan(std::move(module), options));
  plan->set_compile_us(MicrosecondsSince(start));
  return plan;
}

}  // namespace hlod::engine
