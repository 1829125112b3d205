// The checker: a machine whose memory holds the names of values instead of their bytes.
#include <iterator>
#include <map>
#include <utility>

#include "common/base/errors/status.h"
#include "server/engine/plan/assignment/buffer_assignment.h"
#include "server/engine/run/code.h"

namespace hlod::engine {
namespace {

constexpr int64_t kOpsMax = 1'000'000;  // The number of ops after which every loop exits at its next test.
constexpr ValueId kGarbage = -2;

struct Range {
  std::pair<Space, int32_t> memory;
  int64_t begin = 0, end = 0;
  bool Overlaps(const Range& other) const {
    return memory == other.memory && begin < other.end && other.begin < end;
  }
  bool Same(const Range& other) const {
    return memory == other.memory && begin == other.begin && end == other.end;
  }
};

class Machine {
 public:
  Machine(const FlatProgram& program, const Assignment& assignment, int iterations, int branch)
      : program_(program),
        assignment_(assignment),
        iterations_(iterations),
        branch_(branch),
        turn_(program.loops.size(), 0) {
    for (size_t a = 0; a < program.arguments.size(); ++a) writable_argument_.push_back(false);
    for (int alias : program.aliases) {
      if (alias >= 0) writable_argument_[alias] = true;
    }
  }

  absl::Status Run() {
    for (ValueId argument : program_.argument_values) Put(RangeOf(argument), argument);
    for (size_t v = 0; v < program_.values.size(); ++v) {
      const Value& value = program_.values[v];
      if (value.space == Space::kConstant) Put(RangeOf(static_cast<ValueId>(v)), static_cast<ValueId>(v));
      if (value.space == Space::kTemporary) continue;
      const BufferLocation& place = assignment_.places[assignment_.buffer[v]];
      if (value.bytes > 0 &&
          (place.space != value.space || place.index != value.index || place.offset != 0)) {
        return Internal("Value %d does not lie where it has to.", static_cast<int>(v));
      }
    }
    int64_t played = 0;
    for (int32_t pc = 0; pc < static_cast<int32_t>(program_.ops.size()); ++played) {
      exhausted_ = played > kOpsMax;
      ASSIGN_OR_RETURN(pc, Play(pc));
    }
    return absl::OkStatus();
  }

 private:
  Range RangeOfPlace(const BufferLocation& place, int64_t bytes) const {
    return {{place.space, place.space == Space::kTemporary ? 0 : place.index},
            place.offset,
            place.offset + bytes};
  }
  Range RangeOf(ValueId value) const {
    return RangeOfPlace(assignment_.places[assignment_.buffer[value]], program_.values[value].bytes);
  }

  void Put(const Range& range, ValueId tag) {
    if (range.begin == range.end) return;
    std::map<int64_t, std::pair<int64_t, ValueId>>& memory = memory_[range.memory];
    auto at = memory.upper_bound(range.begin);
    if (at != memory.begin() && std::prev(at)->second.first > range.begin) --at;
    while (at != memory.end() && at->first < range.end)
      at = memory.erase(at);  // A value that is partly overwritten is lost.
    memory[range.begin] = {range.end, tag};
  }
  ValueId Get(const Range& range) const {
    const auto memory = memory_.find(range.memory);
    if (memory == memory_.end()) return kGarbage;
    const auto at = memory->second.find(range.begin);
    if (at == memory->second.end() || at->second.first != range.end) return kGarbage;
    return at->second.second;
  }

  absl::Status Expect(int32_t pc, ValueId value) const {
    if (program_.values[value].bytes == 0) return absl::OkStatus();
    const ValueId found = Get(RangeOf(value));
    if (found == value) return absl::OkStatus();
    return Internal("Op %d reads value %d where value %d lies.", pc, value, found);
  }
  absl::Status MayWrite(int32_t pc, const Range& range) const {
    const auto [space, index] = range.memory;
    if (range.begin == range.end) return absl::OkStatus();
    if (space == Space::kConstant || (space == Space::kArgument && !writable_argument_[index])) {
      return Internal("Op %d writes what is only to be read.", pc);
    }
    if (space == Space::kTemporary &&
        (range.begin < 0 || range.end > assignment_.arena_bytes || range.begin % kBufferAlignment != 0)) {
      return Internal("Op %d writes at %d..%d of an arena of %d bytes.", pc, range.begin, range.end,
                      assignment_.arena_bytes);
    }
    return absl::OkStatus();
  }

  absl::Status PlayMoves(int32_t pc, const Op& op) {
    for (ValueId input : op.inputs) RETURN_IF_ERROR(Expect(pc, input));
    for (int32_t c = assignment_.copy_begin[pc]; c < assignment_.copy_begin[pc + 1]; ++c) {
      const BufferCopy& copy = assignment_.copies[c];
      const Range from = RangeOfPlace(assignment_.places[copy.from], copy.bytes);
      const Range to = RangeOfPlace(assignment_.places[copy.to], copy.bytes);
      if (from.Overlaps(to)) return Internal("Op %d copies memory onto itself.", pc);
      RETURN_IF_ERROR(MayWrite(pc, to));
      Put(to, Get(from));
    }
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      const ValueId found = Get(RangeOf(op.outputs[k]));
      if (found != op.inputs[k]) {
        return Internal("Op %d moves value %d into value %d, which then holds %d.", pc, op.inputs[k],
                        op.outputs[k], found);
      }
    }
    for (ValueId output : op.outputs) Put(RangeOf(output), output);
    return absl::OkStatus();
  }

  absl::Status PlayStep(int32_t pc, const Op& op) {
    std::vector<Range> written;
    for (ValueId input : op.inputs) RETURN_IF_ERROR(Expect(pc, input));
    for (size_t o = 0; o < op.outputs.size(); ++o) {
      const Range range = RangeOf(op.outputs[o]);
      RETURN_IF_ERROR(MayWrite(pc, range));
      for (size_t i = 0; i < op.inputs.size(); ++i) {
        const Range input = RangeOf(op.inputs[i]);
        if (!range.Overlaps(input)) continue;
        if (!range.Same(input) || !op.step->MayShare(static_cast<int>(o), static_cast<int>(i))) {
          return Internal("Op %d writes output %d over input %d.", pc, static_cast<int>(o),
                          static_cast<int>(i));
        }
      }
      for (const Range& other : written) {
        if (range.Overlaps(other)) return Internal("Op %d writes two outputs to one place.", pc);
      }
      written.push_back(range);
    }
    if (assignment_.scratch_offset[pc] >= 0) {
      const int64_t offset = assignment_.scratch_offset[pc];
      const Range scratch{{Space::kTemporary, 0}, offset, offset + op.step->scratch_bytes()};
      RETURN_IF_ERROR(MayWrite(pc, scratch));
      for (ValueId input : op.inputs) written.push_back(RangeOf(input));
      for (const Range& other : written) {
        if (scratch.Overlaps(other)) return Internal("The scratch memory of op %d overlaps an operand.", pc);
      }
      Put(scratch, kGarbage);
    } else if (op.step->scratch_bytes() > 0) {
      return Internal("Op %d has no scratch memory.", pc);
    }
    for (ValueId output : op.outputs) Put(RangeOf(output), output);
    return absl::OkStatus();
  }

  // Runs one op symbolically, and returns the position of the next one.
  absl::StatusOr<int32_t> Play(int32_t pc) {
    const Op& op = program_.ops[pc];
    if (op.IsMove()) {
      RETURN_IF_ERROR(PlayMoves(pc, op));
    } else if (op.kind == Op::Kind::kStep) {
      RETURN_IF_ERROR(PlayStep(pc, op));
    } else {
      for (ValueId input : op.inputs) RETURN_IF_ERROR(Expect(pc, input));
    }
    switch (op.kind) {
      case Op::Kind::kLoopBegin: turn_[op.control] = 0; return pc + 1;
      case Op::Kind::kLoopTest:
        return exhausted_ || turn_[op.control] == iterations_ ? program_.loops[op.control].exit : pc + 1;
      case Op::Kind::kLoopBack: ++turn_[op.control]; return program_.loops[op.control].begin + 1;
      case Op::Kind::kSwitch: {
        const Switch& branches = program_.switches[op.control];
        return branches.branches[(branch_ + switches_played_++) % branches.branches.size()];
      }
      case Op::Kind::kBranchEnd: return program_.switches[op.control].end;
      default: return pc + 1;
    }
  }

  const FlatProgram& program_;
  const Assignment& assignment_;
  const int iterations_, branch_;
  std::vector<int> turn_;
  std::vector<bool> writable_argument_;
  std::map<std::pair<Space, int32_t>, std::map<int64_t, std::pair<int64_t, ValueId>>> memory_;
  int switches_played_ = 0;
  bool exhausted_ = false;
};

}  // namespace

absl::Status CheckAssignment(const FlatProgram& program, const Assignment& assignment, int iterations,
                             int branch) {
  return Machine(program, assignment, iterations, branch).Run();
}

}  // namespace hlod::engine
