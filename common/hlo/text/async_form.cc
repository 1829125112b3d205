// Decides which instructions have the short form; parser_instruction.cc reads it.
#include "common/hlo/text/async_form.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/text/strings.h"

namespace hlod::hlo::text {
namespace {

constexpr std::pair<Opcode, std::string_view> kHalves[] = {
    {kAsyncStart, "-start"}, {kAsyncUpdate, "-update"}, {kAsyncDone, "-done"}};

std::string_view SuffixOf(Opcode opcode) {
  for (const auto& [half, suffix] : kHalves) {
    if (half == opcode) return suffix;
  }
  return {};
}

// Returns true when the opcode can be written with "-start" and the other suffixes: the suffixed names are
// not opcodes themselves, and the instruction has no text form of its own.
bool HasShortName(Opcode opcode) {
  if (opcode == kConstant || opcode == kParameter) return false;
  return std::ranges::none_of(kHalves, [&](const auto& half) {
    return ParseOpcode(absl::StrCat(ToAbsl(Name(opcode)), ToAbsl(half.second))).has_value();
  });
}

// Returns true when the computation consists of its parameters in order, and one instruction with those
// operands in that order.
bool IsOneInstruction(const Computation& computation) {
  if (computation.size() == 0 || computation.root_id() != computation.size() - 1) return false;
  const Instruction root = computation.root();
  if (root.operand_count() != computation.size() - 1 || !HasShortName(root.opcode())) return false;
  for (NodeId i = 0; i + 1 < computation.size(); ++i) {
    const bool is_its_parameter =
        computation[i].opcode() == kParameter && computation[i].parameter_number() == static_cast<int64_t>(i);
    if (!is_its_parameter || root.operands()[i] != i) return false;
  }
  return true;
}

}  // namespace

AsyncForms::AsyncForms(const Module& module) : module_(module), folded_(module.computation_count(), false) {
  std::vector<int> callers(module.computation_count(), 0);
  for (ComputationId id = 0; id < module.computation_count(); ++id) {
    const Computation& computation = module.computation(id);
    for (NodeId node = 0; node < computation.size(); ++node) {
      for (const ComputationId called : computation[node].called()) {
        ++callers[called];
        folded_[called] = computation[node].opcode() == kAsyncStart && callers[called] == 1 &&
                          called != module.entry_id() && IsOneInstruction(module.computation(called));
      }
    }
  }
}

std::optional<Instruction> AsyncForms::Wrapped(Instruction half) const {
  while (half.opcode() == kAsyncUpdate || half.opcode() == kAsyncDone) half = half.operand(0);
  if (half.opcode() != kAsyncStart || half.called().empty() || !folded_[half.called()[0]])
    return std::nullopt;
  return module_.computation(half.called()[0]).root();
}

std::string AsyncForms::OpcodeText(Instruction instruction) const {
  const std::string_view suffix = SuffixOf(instruction.opcode());
  const std::optional<Instruction> wrapped = suffix.empty() ? std::nullopt : Wrapped(instruction);
  if (!wrapped) return std::string(Name(instruction.opcode()));
  return absl::StrCat(ToAbsl(Name(wrapped->opcode())), ToAbsl(suffix));
}

}  // namespace hlod::hlo::text
