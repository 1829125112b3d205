// Appends the instructions of each op, then replaces the target ops of jumps by the positions of their
// instructions.
#include "server/engine/plan/assemble.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "server/engine/run/step_copies.h"
#include "server/engine/tile/kernel.h"

namespace hlod::engine {
namespace {

class CodeWriter {
 public:
  CodeWriter(const FlatProgram& program, const Assignment& assignment)
      : program_(program), assignment_(assignment) {
    code_.base_count = static_cast<int32_t>(2 + program.arguments.size() + program.results.size());
  }

  Code Assemble() {
    position_.reserve(program_.ops.size() + 1);
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      position_.push_back(Here());
      op_ = static_cast<int32_t>(i);
      Append(program_.ops[i], op_);
    }
    // The position of every op is known now, so jumps to ops become jumps to instructions.
    for (CodeInstruction& instruction : code_.instructions) {
      if (instruction.kind == CodeInstruction::Kind::kTest ||
          instruction.kind == CodeInstruction::Kind::kJump) {
        const bool back =
            instruction.kind == CodeInstruction::Kind::kJump && instruction.target < instruction.op;
        // The instruction before a loop's first op is its kLoop.
        instruction.target = position_[instruction.target] - (back ? 1 : 0);
      }
      if (instruction.kind == CodeInstruction::Kind::kLoop)
        instruction.target = position_[program_.loops[program_.ops[instruction.op].control].exit];
    }
    for (int32_t& target : code_.targets) target = position_[target];
    PlaceLoops();
    return std::move(code_);
  }

 private:
  // Makes the places for machine code of the outermost loops that are small enough.
  void PlaceLoops() {
    const LoopSlot* around = nullptr;
    for (int32_t pc = 0; pc < Here(); ++pc) {
      CodeInstruction& loop = code_.instructions[pc];
      if (loop.kind != CodeInstruction::Kind::kLoop) continue;
      if (around == nullptr || pc >= around->end()) around = AddLoop(pc, loop.target);
      loop.loop = around;
    }
  }
  const LoopSlot* AddLoop(int32_t begin, int32_t end) {
    constexpr int64_t kInstructionsMax = 1000, kFrameCode = 512, kInstructionCode = 160;
    constexpr int64_t kNsBetweenChecks = 20'000;
    if (end - begin > kInstructionsMax) return nullptr;
    int64_t ns = 1, bytes = kFrameCode;
    LoopCodeSpace space(kLoopCodeMax);
    bool has_loops = false, is_whole = true;
    for (int32_t pc = begin; pc < end; ++pc) {
      const CodeInstruction& now = code_.instructions[pc];
      ns += now.weight_ns;
      has_loops |= pc > begin && now.kind == CodeInstruction::Kind::kLoop;
      bytes += kInstructionCode + (now.kind == CodeInstruction::Kind::kCopy ? kInstructionCode : 0);
      if (now.kind == CodeInstruction::Kind::kRun && now.step->copies() != nullptr)
        bytes += kInstructionCode * static_cast<int64_t>(now.step->copies()->copies.size());
      const KernelSlot* const slot =
          now.kind == CodeInstruction::Kind::kRun ? LoopProgram(*now.step) : nullptr;
      if (slot == nullptr) continue;
      if (space.Take(*slot)) bytes += slot->code_bytes_max() + slot->table_bytes_max();
      else is_whole = false;
    }
    // Most of the time is spent in the loops inside, which have places of their own if this one has none.
    if (space.is_empty() || (has_loops && !is_whole)) return nullptr;
    const int64_t budget = std::max<int64_t>(1, kNsBetweenChecks / ns);
    return code_.loops.emplace_back(std::make_unique<LoopSlot>(begin, end, bytes, budget)).get();
  }

  int32_t Here() const { return static_cast<int32_t>(code_.instructions.size()); }

  CodeInstruction& Add(CodeInstruction::Kind kind) {
    CodeInstruction& instruction = code_.instructions.emplace_back();
    instruction.kind = kind;
    instruction.weight_ns = 5;
    instruction.op = op_;
    return instruction;
  }

  int32_t AddSlot(const Slot& slot) {
    code_.slots.push_back(slot);
    return static_cast<int32_t>(code_.slots.size()) - 1;
  }
  Slot SlotOf(const BufferLocation& place) const {
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
  int32_t AddSlot(const BufferLocation& place, int64_t bytes) {
    Slot slot = SlotOf(place);
    slot.bytes = bytes;
    return AddSlot(slot);
  }
  int32_t AddSlot(ValueId value) {
    return AddSlot(assignment_.places[assignment_.buffer[value]], program_.values[value].bytes);
  }

  void AppendMoves(int32_t op) {
    for (int32_t c = assignment_.copy_begin[op]; c < assignment_.copy_begin[op + 1]; ++c) {
      const BufferCopy& copy = assignment_.copies[c];
      CodeInstruction& instruction = Add(CodeInstruction::Kind::kCopy);
      instruction.inputs = AddSlot(assignment_.places[copy.from], copy.bytes);
      instruction.outputs = AddSlot(assignment_.places[copy.to], copy.bytes);
      instruction.bytes = copy.bytes;
      instruction.weight_ns = static_cast<int32_t>(std::min<int64_t>(5 + copy.bytes / 10, INT32_MAX));
    }
  }

  void AppendStep(const Op& op, int32_t index) {
    CodeInstruction& run = Add(CodeInstruction::Kind::kRun);
    double bytes = 0;  // A double, because an integer may overflow for a program that will be refused.
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
    run.slots_end = static_cast<int32_t>(code_.slots.size());
    if (assignment_.scratch_offset[index] >= 0)
      run.scratch = AddSlot(Slot{1, assignment_.scratch_offset[index], op.step->scratch_bytes()});
    run.bytes = static_cast<int64_t>(std::min(bytes, 9e18));
    // Assumes 100 operations or 10 bytes per nanosecond; the evaluator takes a thousand times as long.
    double ns = 50 + op.step->flops() / 100 + bytes / 10;
    if (op.step->kind() == StepKind::kReference) ns = 1000 * ns;
    run.weight_ns = static_cast<int32_t>(std::min(ns, 1e9));
  }

  void Append(const Op& op, int32_t index) {
    switch (op.kind) {
      case Op::Kind::kStep: AppendStep(op, index); break;
      case Op::Kind::kLoopBegin:
        AppendMoves(index);
        Add(CodeInstruction::Kind::kLoop);
        break;
      case Op::Kind::kLoopTest: {
        CodeInstruction& test = Add(CodeInstruction::Kind::kTest);
        test.inputs = AddSlot(op.inputs[0]);
        test.target = program_.loops[op.control].exit;
        break;
      }
      case Op::Kind::kLoopBack:
        AppendMoves(index);
        Add(CodeInstruction::Kind::kJump).target = program_.loops[op.control].begin + 1;
        break;
      case Op::Kind::kSwitch: {
        const Switch& branches = program_.switches[op.control];
        CodeInstruction& choice = Add(CodeInstruction::Kind::kSwitch);
        choice.on_pred = branches.on_pred;
        choice.inputs = AddSlot(op.inputs[0]);
        choice.target = static_cast<int32_t>(code_.targets.size());
        choice.count = static_cast<int32_t>(branches.branches.size());
        code_.targets.insert(code_.targets.end(), branches.branches.begin(), branches.branches.end());
        break;
      }
      case Op::Kind::kBranchEnd:
        AppendMoves(index);
        Add(CodeInstruction::Kind::kJump).target = program_.switches[op.control].end;
        break;
      case Op::Kind::kReturn:
        AppendMoves(index);
        Add(CodeInstruction::Kind::kReturn);
        break;
      case Op::Kind::kLoopExit:
      case Op::Kind::kBranchBegin:
      case Op::Kind::kSwitchEnd: break;
    }
  }

  const FlatProgram& program_;
  const Assignment& assignment_;
  Code code_;
  int32_t op_ = 0;                 // The op whose instructions are appended.
  std::vector<int32_t> position_;  // By op, the index of its first instruction.
};

}  // namespace

Code Assemble(const FlatProgram& program, const Assignment& assignment) {
  return CodeWriter(program, assignment).Assemble();
}

}  // namespace hlod::engine
