// Looks at the instructions of the entry, each of which must be a part of a manual computation.
#include "client/pjrt/division/by_hand.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/pjrt/compile/notes.h"
#include "common/hlo/opcode.h"
#include "common/hlo/text/shardy.h"

namespace hlod::pjrt {
namespace {

class Recognizer {
 public:
  explicit Recognizer(const ReadProgram& program)
      : program_(program),
        entry_(program.module->entry()),
        meshes_(hlo::ParseMeshes(AttributeOr(program.module->config.frontend_attributes, "xla.sdy.meshes"))) {
  }

  bool Recognizes() const {
    bool any = false;
    for (hlo::NodeId node = 0; node < entry_.size(); ++node) {
      const hlo::Instruction instruction = entry_[node];
      switch (instruction.opcode()) {
        case hlo::Opcode::kParameter:
        case hlo::Opcode::kTuple:
        case hlo::Opcode::kGetTupleElement: break;
        case hlo::Opcode::kCall:
          if (ManualAxes(instruction).empty()) return false;
          break;
        case hlo::Opcode::kCustomCall:
          if (!IsBorder(instruction)) return false;
          any = true;
          break;
        default: return false;
      }
    }
    return any;
  }

 private:
  static std::string Attribute(hlo::Instruction instruction, const char* name) {
    const hlo::Notes* const notes = NotesOf(instruction);
    return notes == nullptr ? "" : AttributeOr(notes->frontend_attributes, name);
  }

  static std::vector<std::string> ManualAxes(hlo::Instruction instruction) {
    return hlo::AxisNames(Attribute(instruction, "xla.sdy.manual_axes"));
  }

  bool IsBorder(hlo::Instruction border) const {
    const std::string& target = border.attributes<hlo::CustomCallAttributes>().target;
    const std::vector<std::string> manual = ManualAxes(border);
    for (const auto& [name, mesh] : meshes_) {
      if (!std::ranges::is_permutation(mesh.axes, manual, {}, &std::pair<std::string, int64_t>::first))
        return false;
    }
    return target == "xla.sdy.LocalToGlobalShape" ||
           (target == "xla.sdy.GlobalToLocalShape" && TakesArguments(border));
  }

  // Returns true when the operands are arguments with the shardings of the manual computation.
  bool TakesArguments(hlo::Instruction border) const {
    const std::string text = Attribute(border, "xla.sdy.in_shardings");
    const std::vector<std::string_view> wanted = hlo::SplitShardings(text);
    if (wanted.size() != border.operand_count()) return false;
    for (uint32_t i = 0; i < border.operand_count(); ++i) {
      const hlo::Instruction operand = border.operand(i);
      if (operand.opcode() != hlo::Opcode::kParameter) return false;
      const auto parameter = static_cast<size_t>(operand.attributes<hlo::ParameterAttributes>().number);
      if (parameter >= program_.argument_shardings.size() ||
          hlo::OpShardingOf(wanted[i], meshes_, operand.shape().dims.size()) !=
              program_.argument_shardings[parameter]) {
        return false;
      }
    }
    return true;
  }

  const ReadProgram& program_;
  const hlo::Computation& entry_;
  const hlo::Meshes meshes_;
};

}  // namespace

bool IsDividedByHand(const ReadProgram& program) { return Recognizer(program).Recognizes(); }

}  // namespace hlod::pjrt
