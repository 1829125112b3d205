// Joins the times of a code's instructions with the ops that they come from.
#include "server/engine/plan/run_profile.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "common/base/step_kinds.h"
#include "common/base/text/strings.h"
#include "common/base/text/utf8.h"
#include "common/hlo/primitive_type.h"
#include "server/engine/tile/kernel.h"

namespace hlod::engine {
namespace {

// The bound on the memory of one row: its text, the names of its files, and the row itself.
constexpr int64_t kRowBytesMax =
    512 + static_cast<int64_t>(kStepTextMax) + static_cast<int64_t>(Op::kLinesMax * (kSourceFileMax + 64));

// Returns true when all programs of the step are machine code.
bool IsAssembled(const Step& step) {
  const absl::Span<KernelSlot* const> slots = step.kernel_slots();
  return !slots.empty() && std::all_of(slots.begin(), slots.end(),
                                       [](const KernelSlot* slot) { return slot->kernel() != nullptr; });
}

bool IsWithdrawn(const Step& step) {
  const absl::Span<KernelSlot* const> slots = step.kernel_slots();
  return std::any_of(slots.begin(), slots.end(), [](const KernelSlot* slot) { return slot->withdrawn(); });
}

std::string_view KindName(const Step& step) {
  switch (step.kind()) {
    case StepKind::kFused:
      return IsAssembled(step) ? kAssembledStep : IsWithdrawn(step) ? kWithdrawnStep : kInterpretedStep;
    case StepKind::kLibrary: return kLibraryStep;
    case StepKind::kMovement: return kMovementStep;
    case StepKind::kReference: return kReferenceStep;
  }
  return "";
}

class Profiler {
 public:
  Profiler(const FlatProgram& program, const Assignment& assignment)
      : program_(program), assignment_(assignment) {}

  StepProfile Row(const CodeInstruction& instruction, const StepTime& time) const {
    StepProfile row;
    const Op& op = program_.ops[static_cast<size_t>(instruction.op)];
    row.index = instruction.op;
    row.runs = time.runs;
    row.ns = time.ns;
    for (const SourceLine& line : op.lines)
      row.lines.push_back(absl::StrCat(program_.files[static_cast<size_t>(line.file)], ":", line.line));
    if (instruction.kind == CodeInstruction::Kind::kCopy) {
      row.kind = kCopyStep;
      row.text = CopyText(op.kind);
      row.bytes = 2 * static_cast<double>(instruction.bytes);
      return row;
    }
    row.kind = KindName(*op.step);
    row.text = std::string(ClipUtf8(op.step->text(), kStepTextMax));
    if (op.type != hlo::kInvalid) row.type = std::string(hlo::Name(op.type));
    row.flops = op.step->flops();
    row.bytes = Traffic(op);
    return row;
  }

 private:
  static const char* CopyText(Op::Kind kind) {
    switch (kind) {
      case Op::Kind::kLoopBegin: return "initial value of a loop";
      case Op::Kind::kLoopBack: return "value for the next iteration";
      case Op::Kind::kBranchEnd: return "result of a branch";
      default: return "result of the program";
    }
  }

  // Returns the bytes that a step reads and writes at least.
  double Traffic(const Op& op) const {
    double written = 0;
    for (const ValueId output : op.outputs) written += BytesOf(output);
    if (op.step->kind() == StepKind::kFused && op.part_bytes >= 0)
      return static_cast<double>(op.part_bytes) + written;
    double bytes = 0;
    for (const ValueId input : op.inputs) bytes += BytesOf(input);
    // A movement reads parts of its inputs, but not more than it writes.
    if (op.step->kind() == StepKind::kMovement && op.part_bytes < 0) bytes = std::min(bytes, written);
    bytes += written;
    if (op.part_bytes < 0 || op.inputs.empty() || op.outputs.empty()) return bytes;
    const auto part = static_cast<double>(op.part_bytes);
    const bool in_place = assignment_.buffer[op.inputs[0]] == assignment_.buffer[op.outputs[0]];
    if (op.writes_part && !in_place) return bytes;
    bytes += part - BytesOf(op.inputs[0]);
    return op.writes_part ? bytes + part - BytesOf(op.outputs[0]) : bytes;
  }
  double BytesOf(ValueId value) const { return static_cast<double>(program_.values[value].bytes); }

  const FlatProgram& program_;
  const Assignment& assignment_;
};

}  // namespace

int64_t ProfileBytesMax(const Code& code) {
  const auto count = static_cast<int64_t>(code.instructions.size());
  // The row is in the profile and in the reply.
  return count * static_cast<int64_t>(sizeof(StepTime) + sizeof(int32_t)) +
         2 * kRowBytesMax * std::min(count, static_cast<int64_t>(kProfileStepsMax));
}

RunProfile MakeRunProfile(const FlatProgram& program, const Assignment& assignment, const Code& code,
                          const StepTimes& times) {
  std::vector<int32_t> listed;
  for (size_t i = 0; i < times.instructions.size(); ++i) {
    if (times.instructions[i].runs > 0) listed.push_back(static_cast<int32_t>(i));
  }
  RunProfile profile;
  profile.ns = times.ns;
  const auto time = [&](int32_t i) -> const StepTime& { return times.instructions[static_cast<size_t>(i)]; };
  if (listed.size() > kProfileStepsMax) {
    std::nth_element(listed.begin(), listed.begin() + kProfileStepsMax, listed.end(),
                     [&](int32_t a, int32_t b) { return time(a).ns > time(b).ns; });
    for (size_t i = kProfileStepsMax; i < listed.size(); ++i) profile.other_ns += time(listed[i]).ns;
    profile.other_steps = static_cast<int64_t>(listed.size() - kProfileStepsMax);
    listed.resize(kProfileStepsMax);
    std::sort(listed.begin(), listed.end());
  }
  const Profiler profiler(program, assignment);
  for (const int32_t i : listed)
    profile.steps.push_back(profiler.Row(code.instructions[static_cast<size_t>(i)], time(i)));
  return profile;
}

}  // namespace hlod::engine
