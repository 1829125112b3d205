// Prints ops as lines, indented by loop and branch.
#include "server/engine/plan/dump.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/text/strings.h"

namespace hlod::engine {
namespace {

std::string PlaceText(const BufferLocation& place) {
  switch (place.space) {
    case Space::kTemporary: return absl::StrCat("t+", place.offset);
    case Space::kArgument: return absl::StrCat("a", place.index);
    case Space::kResult: return absl::StrCat("r", place.index);
    case Space::kConstant: return absl::StrCat("c", place.index);
  }
  return "?";
}

const char* KindText(Op::Kind kind) {
  switch (kind) {
    case Op::Kind::kStep: return "step";
    case Op::Kind::kLoopBegin: return "while begin";
    case Op::Kind::kLoopTest: return "while test";
    case Op::Kind::kLoopBack: return "while back";
    case Op::Kind::kLoopExit: return "while exit";
    case Op::Kind::kSwitch: return "conditional";
    case Op::Kind::kBranchBegin: return "branch";
    case Op::Kind::kBranchEnd: return "branch end";
    case Op::Kind::kSwitchEnd: return "conditional end";
    case Op::Kind::kReturn: return "return";
  }
  return "?";
}

}  // namespace

std::string DumpProgram(const FlatProgram& program, const Assignment& assignment, const PlanMemory& memory,
                        const PlanStats& stats) {
  std::string text = absl::StrFormat(
      "plan: %d instructions, %d steps (%d fused, %d library, %d movement, %d reference)\n"
      "memory: arguments %d, results %d, shared %d, temporaries %d bytes\n",
      stats.instructions, stats.steps, stats.fused_steps, stats.library_steps, stats.movement_steps,
      stats.reference_steps, memory.argument_bytes, memory.output_bytes, memory.alias_bytes,
      memory.temporary_bytes);
  const auto places = [&](absl::Span<const ValueId> values) {
    return absl::StrJoin(values, ", ", [&](std::string* out, ValueId value) {
      out->append(PlaceText(assignment.places[assignment.buffer[value]]));
    });
  };
  int depth = 0;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (op.kind == Op::Kind::kLoopExit || op.kind == Op::Kind::kBranchEnd || op.kind == Op::Kind::kSwitchEnd)
      --depth;
    absl::StrAppendFormat(&text, "%5d %s", i, std::string(2 * depth, ' '));
    text += op.kind == Op::Kind::kStep ? op.step->text() : KindText(op.kind);
    if (!op.IsMove()) {
      if (!op.inputs.empty()) absl::StrAppend(&text, "  ", places(op.inputs));
      if (!op.outputs.empty()) absl::StrAppend(&text, " -> ", places(op.outputs));
      if (assignment.scratch_offset[i] >= 0) {
        absl::StrAppendFormat(&text, "  scratch t+%d", assignment.scratch_offset[i]);
      }
    }
    for (int32_t c = assignment.copy_begin[i]; c < assignment.copy_begin[i + 1]; ++c) {
      const BufferCopy& copy = assignment.copies[c];
      absl::StrAppendFormat(&text, "  copy %s -> %s (%d bytes)", PlaceText(assignment.places[copy.from]),
                            PlaceText(assignment.places[copy.to]), copy.bytes);
    }
    text += '\n';
    if (op.kind == Op::Kind::kLoopBegin || op.kind == Op::Kind::kSwitch || op.kind == Op::Kind::kBranchBegin)
      ++depth;
  }
  return text;
}

}  // namespace hlod::engine
