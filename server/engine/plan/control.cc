// Assembling ops into instructions, and the loop over them.
#include "server/engine/plan/control.h"

#include <algorithm>
#include <cstring>

#include "absl/time/clock.h"
#include "common/base/arithmetic.h"
#include "common/base/status.h"

namespace hlod::engine {
namespace {

// Estimated work between two looks at the clock, each of which costs about 40 ns.
constexpr int64_t kCheckIntervalNs = 20'000;

class Assembler {
 public:
  Assembler(const Program& program, const Assignment& assignment)
      : program_(program), assignment_(assignment) {
    code_.base_count = static_cast<int32_t>(2 + program.arguments.size() + program.results.size());
  }

  Code Assemble() {
    position_.reserve(program_.ops.size() + 1);
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      position_.push_back(Here());
      Append(program_.ops[i], static_cast<int32_t>(i));
    }
    // Every op's position is known: jumps to ops become jumps to instructions.
    for (Instruction& instruction : code_.instructions) {
      if (instruction.kind == Instruction::Kind::kTest || instruction.kind == Instruction::Kind::kJump) {
        instruction.target = position_[instruction.target];
      }
    }
    for (int32_t& target : code_.targets) target = position_[target];
    return std::move(code_);
  }

 private:
  int32_t Here() const { return static_cast<int32_t>(code_.instructions.size()); }

  Instruction& Add(Instruction::Kind kind) {
    Instruction& instruction = code_.instructions.emplace_back();
    instruction.kind = kind;
    instruction.weight_ns = 5;
    return instruction;
  }

  int32_t AddSlot(const Slot& slot) {
    code_.slots.push_back(slot);
    return static_cast<int32_t>(code_.slots.size()) - 1;
  }
  Slot SlotOf(const Place& place) const {
    switch (place.space) {
      case Space::kTemporary: return {1, place.offset};
      case Space::kArgument: return {2 + place.index, 0};
      case Space::kResult: return {static_cast<int32_t>(2 + program_.arguments.size()) + place.index, 0};
      case Space::kConstant:
        return {0, static_cast<int64_t>(
                       reinterpret_cast<intptr_t>(program_.constants[place.index]->bytes().data()))};
    }
    return {};
  }
  int32_t AddSlot(ValueId value) { return AddSlot(SlotOf(assignment_.places[assignment_.buffer[value]])); }

  void AppendMoves(int32_t op) {
    for (int32_t c = assignment_.copy_begin[op]; c < assignment_.copy_begin[op + 1]; ++c) {
      const BufferCopy& copy = assignment_.copies[c];
      Instruction& instruction = Add(Instruction::Kind::kCopy);
      instruction.inputs = AddSlot(SlotOf(assignment_.places[copy.from]));
      instruction.outputs = AddSlot(SlotOf(assignment_.places[copy.to]));
      instruction.bytes = copy.bytes;
      instruction.weight_ns = static_cast<int32_t>(std::min<int64_t>(5 + copy.bytes / 10, INT32_MAX));
    }
  }

  void AppendStep(const Op& op, int32_t index) {
    Instruction& run = Add(Instruction::Kind::kRun);
    double bytes = 0;  // A program that will be refused may overflow an integer.
    run.step = op.step.get();
    run.inputs = static_cast<int32_t>(code_.slots.size());
    for (ValueId input : op.inputs) {
      AddSlot(input);
      bytes += static_cast<double>(program_.values[input].bytes);
    }
    run.outputs = static_cast<int32_t>(code_.slots.size());
    for (ValueId output : op.outputs) {
      AddSlot(output);
      bytes += static_cast<double>(program_.values[output].bytes);
    }
    if (assignment_.scratch_offset[index] >= 0)
      run.scratch = AddSlot(Slot{1, assignment_.scratch_offset[index]});
    run.bytes = static_cast<int64_t>(std::min(bytes, 9e18));
    // 100 operations or 10 bytes a nanosecond; the evaluator takes a thousand times as long.
    double ns = 50 + op.step->flops() / 100 + bytes / 10;
    if (op.step->kind() == StepKind::kReference) ns = 1000 * ns;
    run.weight_ns = static_cast<int32_t>(std::min(ns, 1e9));
  }

  void Append(const Op& op, int32_t index) {
    switch (op.kind) {
      case Op::Kind::kStep: AppendStep(op, index); break;
      case Op::Kind::kLoopBegin: AppendMoves(index); break;
      case Op::Kind::kLoopTest: {
        Instruction& test = Add(Instruction::Kind::kTest);
        test.inputs = AddSlot(op.inputs[0]);
        test.target = program_.loops[op.control].exit;
        break;
      }
      case Op::Kind::kLoopBack:
        AppendMoves(index);
        Add(Instruction::Kind::kJump).target = program_.loops[op.control].begin + 1;
        break;
      case Op::Kind::kSwitch: {
        const Switch& branches = program_.switches[op.control];
        Instruction& choice = Add(Instruction::Kind::kSwitch);
        choice.on_pred = branches.on_pred;
        choice.inputs = AddSlot(op.inputs[0]);
        choice.target = static_cast<int32_t>(code_.targets.size());
        choice.count = static_cast<int32_t>(branches.branches.size());
        code_.targets.insert(code_.targets.end(), branches.branches.begin(), branches.branches.end());
        break;
      }
      case Op::Kind::kBranchEnd:
        AppendMoves(index);
        Add(Instruction::Kind::kJump).target = program_.switches[op.control].end;
        break;
      case Op::Kind::kReturn:
        AppendMoves(index);
        Add(Instruction::Kind::kReturn);
        break;
      case Op::Kind::kLoopExit:
      case Op::Kind::kBranchBegin:
      case Op::Kind::kSwitchEnd: break;
    }
  }

  const Program& program_;
  const Assignment& assignment_;
  Code code_;
  std::vector<int32_t> position_;  // Of an op's first instruction.
};

int32_t Select(const Instruction& instruction, const std::byte* selector) {
  if (instruction.on_pred) return selector[0] != std::byte{0} ? 0 : 1;
  int32_t index;
  std::memcpy(&index, selector, sizeof(index));
  return index >= 0 && index < instruction.count ? index : instruction.count - 1;
}

// Looks at cancel always, at the clock when enough work has gone by.
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

}  // namespace

int64_t Code::TableBytes() const {
  return AlignUp(static_cast<int64_t>((base_count + slots.size()) * sizeof(std::byte*)), kBufferAlignment);
}

Code Assemble(const Program& program, const Assignment& assignment) {
  return Assembler(program, assignment).Assemble();
}

absl::Status Execute(const Code& code, absl::Span<const std::byte* const> arguments,
                     absl::Span<std::byte* const> results, std::byte* temporary, int threads,
                     RunContext& context) {
  // Pointers are resolved once: loops come back to the same table.
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

  StepContext step_context{context, nullptr, threads};
  Watch watch(context);
  for (int32_t pc = 0;;) {
    const Instruction& now = code.instructions[pc];
    switch (now.kind) {
      case Instruction::Kind::kRun: {
        if (!watch.Ok(now.weight_ns)) return StopCheck::Verdict(context);
        step_context.scratch = now.scratch == kNone ? nullptr : table[now.scratch];
        absl::Status status = now.step->Run(table + now.inputs, table + now.outputs, step_context);
        if (!status.ok()) return Annotate(std::move(status), "running " + now.step->Describe());
        ++pc;
        break;
      }
      case Instruction::Kind::kCopy:
        std::memcpy(table[now.outputs], table[now.inputs], static_cast<size_t>(now.bytes));
        ++pc;
        break;
      case Instruction::Kind::kTest: pc = *table[now.inputs] != std::byte{0} ? pc + 1 : now.target; break;
      case Instruction::Kind::kJump:
        if (now.target <= pc && !watch.Ok(now.weight_ns)) return StopCheck::Verdict(context);
        pc = now.target;
        break;
      case Instruction::Kind::kSwitch: pc = code.targets[now.target + Select(now, table[now.inputs])]; break;
      case Instruction::Kind::kReturn: return absl::OkStatus();
    }
  }
}

}  // namespace hlod::engine
