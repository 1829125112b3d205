// Runs a plan's code.
#include "server/engine/run/code.h"

#include <chrono>
#include <cstring>

#include "absl/time/clock.h"
#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/base/system/cpu.h"
#include "server/engine/run/step_times.h"

namespace hlod::engine {
namespace {

// The estimated work between two reads of the clock, which cost about 40 ns.
constexpr int64_t kCheckIntervalNs = 20'000;

int32_t Select(const CodeInstruction& instruction, const std::byte* selector) {
  if (instruction.on_pred) return selector[0] != std::byte{0} ? 0 : 1;
  int32_t index;
  std::memcpy(&index, selector, sizeof(index));
  return index >= 0 && index < instruction.count ? index : instruction.count - 1;
}

// Checks cancel always, and the clock when enough work has passed.
class Watch {
 public:
  explicit Watch(const RunContext& context)
      : context_(context), timed_(context.deadline != absl::InfiniteFuture()) {}

  bool Ok(int32_t weight_ns) {
    if (IsCancelled(context_)) return false;
    if (!timed_) return true;
    check_in_ns_ -= weight_ns;
    if (check_in_ns_ > 0) return true;
    check_in_ns_ = kCheckIntervalNs;
    return absl::Now() < context_.deadline;
  }

 private:
  const RunContext& context_;
  const bool timed_;
  int64_t check_in_ns_ = 0;
};

using SteadyClock = std::chrono::steady_clock;

int64_t NanosecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now() - start).count();
}

// Calls `run`. When kTimed, adds its time to that of instruction `pc`.
template <bool kTimed, typename Run>
HLOD_ALWAYS_INLINE absl::Status Timed(RunContext& context, int32_t pc, Run&& run) {
  if constexpr (!kTimed) {
    return run();
  } else {
    const SteadyClock::time_point start = SteadyClock::now();
    absl::Status status = run();
    StepTime& time = context.times->instructions[static_cast<size_t>(pc)];
    time.ns += NanosecondsSince(start);
    ++time.runs;
    return status;
  }
}

// The iterations of a loop after which its machine code is wanted, even in the plan's first run.
constexpr int kHotIterations = 1000;

// Runs single instructions for the machine code of a loop.
struct LoopRun : LoopCall {
  LoopRun(const Code& the_code, std::byte** the_table, StepContext& the_context)
      : code(the_code), table(the_table), context(the_context) {
    run = [](LoopCall* call, int32_t at) { return static_cast<LoopRun*>(call)->RunInstruction(at); };
  }

  int32_t RunInstruction(int32_t at) {
    const CodeInstruction& now = code.instructions[at];
    if (now.kind == CodeInstruction::Kind::kCopy) {
      status = CopyBytes(table[now.inputs], table[now.outputs], now.bytes, context.run);
    } else {
      context.scratch = now.scratch == kNoSlot ? nullptr : table[now.scratch];
      status = now.step->Run(table + now.inputs, table + now.outputs, context);
      if (!status.ok()) status = Annotate(std::move(status), "running " + now.step->text());
    }
    return status.ok() ? 0 : -1;
  }

  const Code& code;
  std::byte** const table;
  StepContext& context;
  absl::Status status;
};

// Runs the code on its table of pointers.
template <bool kTimed>
absl::Status ExecuteOn(const Code& code, std::byte** table, int threads, RunContext& context,
                       absl::FunctionRef<void()> hot) {
  StepContext step_context{context, nullptr, threads};
  LoopRun loop(code, table, step_context);
  int iterations = 0;
  Watch watch(context);
  for (int32_t pc = 0;;) {
    const CodeInstruction& now = code.instructions[pc];
    switch (now.kind) {
      case CodeInstruction::Kind::kRun: {
        if (!watch.Ok(now.weight_ns)) return StopCheck::Verdict(context);
        step_context.scratch = now.scratch == kNoSlot ? nullptr : table[now.scratch];
        absl::Status status = Timed<kTimed>(context, pc, [&] {
          return now.step->Run(table + now.inputs, table + now.outputs, step_context);
        });
        if (!status.ok()) return Annotate(std::move(status), "running " + now.step->text());
        ++pc;
        break;
      }
      case CodeInstruction::Kind::kCopy:
        RETURN_IF_ERROR(Timed<kTimed>(context, pc, [&] {
          return CopyBytes(table[now.inputs], table[now.outputs], now.bytes, context);
        }));
        ++pc;
        break;
      case CodeInstruction::Kind::kTest: pc = *table[now.inputs] != std::byte{0} ? pc + 1 : now.target; break;
      case CodeInstruction::Kind::kJump:
        if (now.target <= pc && !watch.Ok(now.weight_ns)) return StopCheck::Verdict(context);
        pc = now.target;
        break;
      case CodeInstruction::Kind::kSwitch:
        pc = code.targets[now.target + Select(now, table[now.inputs])];
        break;
      case CodeInstruction::Kind::kLoop: {
        const LoopSlot::Function function = kTimed || now.loop == nullptr ? nullptr : now.loop->function();
        if (function == nullptr) {
          if (iterations < kHotIterations && ++iterations == kHotIterations) hot();
          ++pc;
          break;
        }
        if (!watch.Ok(static_cast<int32_t>(kCheckIntervalNs))) return StopCheck::Verdict(context);
        loop.budget = now.loop->budget();
        loop.pc = pc;
        pc = function(table, &loop);
        if (pc < 0) return loop.status;
        break;
      }
      case CodeInstruction::Kind::kReturn: return absl::OkStatus();
    }
  }
}

}  // namespace

int64_t Code::TableBytes() const {
  return AlignUp(static_cast<int64_t>((base_count + slots.size()) * sizeof(std::byte*)), kBufferAlignment);
}

absl::Status Execute(const Code& code, absl::Span<const std::byte* const> arguments,
                     absl::Span<std::byte* const> results, std::byte* temporary, int threads,
                     RunContext& context, absl::FunctionRef<void()> hot) {
  // Pointers are resolved once, because loops use the same table in every iteration.
  uintptr_t* const bases = reinterpret_cast<uintptr_t*>(temporary);
  bases[0] = 0;
  bases[1] = reinterpret_cast<uintptr_t>(temporary + code.TableBytes());
  size_t base = 2;
  for (const std::byte* argument : arguments) bases[base++] = reinterpret_cast<uintptr_t>(argument);
  for (std::byte* result : results) bases[base++] = reinterpret_cast<uintptr_t>(result);
  std::byte** const table = reinterpret_cast<std::byte**>(bases + base);
  for (size_t i = 0; i < code.slots.size(); ++i) {
    table[i] = reinterpret_cast<std::byte*>(bases[code.slots[i].base] +
                                            static_cast<uintptr_t>(code.slots[i].offset));
  }

  if (context.times == nullptr) return ExecuteOn<false>(code, table, threads, context, hot);
  context.times->instructions.assign(code.instructions.size(), {});
  const SteadyClock::time_point start = SteadyClock::now();
  absl::Status status = ExecuteOn<true>(code, table, threads, context, hot);
  context.times->ns = NanosecondsSince(start);
  return status;
}

}  // namespace hlod::engine
