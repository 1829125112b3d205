// Compares two programs, instruction by instruction.
#include "client/runtime/observe/program_difference.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/text/strings.h"
#include "common/hlo/hash.h"
#include "common/hlo/opcode.h"
#include "common/hlo/text/text.h"

namespace hlod::runtime {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::Module;
using hlo::NodeId;
using MaybeDifference = std::optional<Difference>;

// The length to which an instruction's text is truncated, because constants and attributes may be long.
constexpr size_t kTextMax = 200;

std::string Clipped(std::string text) {
  if (text.size() <= kTextMax) return text;
  text.resize(kTextMax);
  return text + "...";
}

// Returns " (model.cc:12)", or "" for an unknown line.
std::string At(const Instruction& instruction) {
  const hlo::Notes* const notes = instruction.computation().notes(instruction.id());
  if (notes == nullptr || notes->metadata.source_file.empty()) return "";
  return absl::StrCat(" (", ToString(Origin{notes->metadata.source_file, notes->metadata.source_line, ""}),
                      ")");
}

std::string ValueText(const Instruction& constant) {
  const hlo::Literal& literal = constant.literal();
  if (!literal.shape().IsArray() || literal.element_count() > 10) return ToStringNoLayout(literal.shape());
  return absl::StrCat(ToStringNoLayout(literal.shape()), " ", Clipped(hlo::ToText(literal)));
}

// Returns an instruction's short name for the sentence.
std::string Text(const Instruction& instruction, const Module& module) {
  switch (instruction.opcode()) {
    case hlo::kParameter:
      return absl::StrCat("parameter ", instruction.parameter_number(), ", ",
                          ToStringNoLayout(instruction.shape()));
    case hlo::kConstant: return absl::StrCat("the constant ", ValueText(instruction), At(instruction));
    default:
      return absl::StrCat(ToAbsl(hlo::Name(instruction.opcode())), " ", ToStringNoLayout(instruction.shape()),
                          At(instruction));
  }
}

// Returns the instruction's text with its operands and attributes.
std::string FullText(const Instruction& instruction, const Module& module) {
  return absl::StrCat("\"",
                      Clipped(hlo::ToText(instruction, module,
                                          {.metadata = false, .layouts = false, .large_constants = false})),
                      "\"", At(instruction));
}

bool SameShape(const Instruction& a, const Instruction& b) { return Compatible(a.shape(), b.shape()); }

bool SameAttributes(const Instruction& a, const Instruction& b) {
  if (a.opcode() == hlo::kConstant) return a.literal() == b.literal();
  if (a.opcode() == hlo::kParameter) return a.parameter_number() == b.parameter_number();
  return a.attributes() == b.attributes();
}

// Compares opcodes and operands only.
bool SameForm(const Instruction& a, const Instruction& b) {
  return a.opcode() == b.opcode() && a.operands() == b.operands() && a.called().size() == b.called().size();
}

bool SameForm(const Computation& a, const Computation& b) {
  if (a.size() != b.size() || a.root_id() != b.root_id()) return false;
  for (NodeId node = 0; node < a.size(); ++node) {
    if (!SameForm(a[node], b[node])) return false;
  }
  return true;
}

bool Same(const Module& before, const Computation& a, const Module& after, const Computation& b) {
  if (!SameForm(a, b)) return false;
  for (NodeId node = 0; node < a.size(); ++node) {
    if (!SameShape(a[node], b[node]) || !SameAttributes(a[node], b[node])) return false;
    for (size_t i = 0; i < a[node].called().size(); ++i) {
      if (!Same(before, before.computation(a[node].called()[i]), after,
                after.computation(b[node].called()[i])))
        return false;
    }
  }
  return true;
}

std::string MadeAt(absl::Span<const Origin> made, size_t parameter) {
  if (parameter >= made.size() || made[parameter].file.empty()) return "";
  return absl::StrCat(", made at ", ToString(made[parameter]));
}

const hlo::Shape& ParameterShape(const Computation& entry, size_t parameter) {
  return entry[entry.parameters()[parameter]].shape();
}

MaybeDifference Parameters(const Computation& before, const Computation& after,
                           absl::Span<const Origin> made) {
  const size_t common = std::min(before.parameters().size(), after.parameters().size());
  for (size_t i = 0; i < common; ++i) {
    const hlo::Shape &was = ParameterShape(before, i), &is = ParameterShape(after, i);
    if (Compatible(was, is)) continue;
    return Difference{CompileReason::kParameter,
                      absl::StrCat("parameter ", i, " was ", ToStringNoLayout(was), ", now ",
                                   ToStringNoLayout(is), MadeAt(made, i))};
  }
  return std::nullopt;
}

// For programs of different form. Returns true when parameters with equal numbers probably correspond,
// because both programs have as many parameters, with the same ranks, and these are not merely permuted.
bool SameParameters(const Computation& before, const Computation& after) {
  const size_t count = before.parameters().size();
  if (after.parameters().size() != count) return false;
  std::vector<std::string> was, is;
  for (size_t i = 0; i < count; ++i) {
    const hlo::Shape &a = ParameterShape(before, i), &b = ParameterShape(after, i);
    if (a.IsArray() != b.IsArray() || a.rank() != b.rank()) return false;
    was.push_back(ToStringNoLayout(a));
    is.push_back(ToStringNoLayout(b));
  }
  std::sort(was.begin(), was.end());
  std::sort(is.begin(), is.end());
  return was != is;
}

Difference ConstantDifference(const Instruction& was, const Instruction& is) {
  return {CompileReason::kConstant,
          absl::StrCat("the constant ", ValueText(was), At(is), " is now ", ValueText(is))};
}

// For programs of one form: finds the first instruction whose constant (with `constants`), or whose shape or
// attributes, differ.
MaybeDifference Contents(const Module& before, const Module& after, bool constants) {
  const Computation &a = before.entry(), &b = after.entry();
  for (NodeId node = 0; node < a.size(); ++node) {
    const Instruction was = a[node], is = b[node];
    if ((was.opcode() == hlo::kConstant) != constants) continue;
    if (constants) {
      if (was.literal() == is.literal()) continue;
      return ConstantDifference(was, is);
    }
    if (!SameShape(was, is) || !SameAttributes(was, is)) {
      return Difference{CompileReason::kOperation, absl::StrCat("an operation was ", FullText(was, before),
                                                                ", now ", FullText(is, after))};
    }
    for (size_t i = 0; i < was.called().size(); ++i) {
      if (Same(before, before.computation(was.called()[i]), after, after.computation(is.called()[i])))
        continue;
      return Difference{CompileReason::kOperation,
                        absl::StrCat("what ", Text(is, after), " calls has changed")};
    }
  }
  return std::nullopt;
}

// Returns a hash per instruction of the value that it computes. Parameters are hashed by their shapes,
// because their order depends on that of the results.
std::vector<uint64_t> Hashes(const Module& module, const Computation& entry) {
  std::vector<uint64_t> hashes(entry.size());
  const auto mix = [](uint64_t& hash, uint64_t next) {
    hash = (hash ^ next) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  for (NodeId node = 0; node < entry.size(); ++node) {
    const Instruction instruction = entry[node];
    uint64_t hash = static_cast<uint64_t>(instruction.opcode()) + 1;
    mix(hash, HashOf(instruction.shape()));
    if (instruction.opcode() == hlo::kConstant) mix(hash, HashOf(instruction.literal()));
    else if (instruction.opcode() != hlo::kParameter) mix(hash, HashOf(instruction.attributes()));
    for (const NodeId operand : instruction.operands()) mix(hash, hashes[operand]);
    for (const hlo::ComputationId called : instruction.called()) {
      const Computation& callee = module.computation(called);
      mix(hash, Hashes(module, callee)[callee.root_id()]);
    }
    hashes[node] = hash;
  }
  return hashes;
}

std::vector<uint64_t> Results(const Module& module) {
  const Computation& entry = module.entry();
  const std::vector<uint64_t> hashes = Hashes(module, entry);
  if (entry.root().opcode() != hlo::kTuple) return {hashes[entry.root_id()]};
  std::vector<uint64_t> results;
  for (const NodeId operand : entry.root().operands()) results.push_back(hashes[operand]);
  return results;
}

MaybeDifference ResultOrder(const Module& before, const Module& after) {
  std::vector<uint64_t> was = Results(before), is = Results(after);
  if (was == is) return std::nullopt;
  std::sort(was.begin(), was.end());
  std::sort(is.begin(), is.end());
  if (was == is) return Difference{CompileReason::kResult, "the same results come in another order"};
  if (std::includes(was.begin(), was.end(), is.begin(), is.end())) {
    return Difference{CompileReason::kResult,
                      absl::StrCat("of ", was.size(), " results only ", is.size(), " are asked for")};
  }
  if (std::includes(is.begin(), is.end(), was.begin(), was.end())) {
    return Difference{CompileReason::kResult, absl::StrCat("beside the ", was.size(), " results before ",
                                                           is.size() - was.size(), " more are asked for")};
  }
  return std::nullopt;
}

MaybeDifference Form(const Module& before, const Module& after) {
  const Computation &a = before.entry(), &b = after.entry();
  for (NodeId node = 0; node < std::min(a.size(), b.size()); ++node) {
    const Instruction was = a[node], is = b[node];
    if (SameForm(was, is) && SameShape(was, is) && SameAttributes(was, is)) continue;
    if (was.opcode() == hlo::kConstant && is.opcode() == hlo::kConstant) return ConstantDifference(was, is);
    const bool constant = was.opcode() == hlo::kConstant || is.opcode() == hlo::kConstant;
    const bool parameter = was.opcode() == hlo::kParameter || is.opcode() == hlo::kParameter;
    if (constant && parameter) {
      return Difference{CompileReason::kConstant,
                        absl::StrCat(Text(was, before), " has become ", Text(is, after))};
    }
    const bool same_text = was.opcode() == is.opcode() && SameShape(was, is);
    return Difference{CompileReason::kOperation,
                      absl::StrCat(same_text ? FullText(was, before) : Text(was, before), " has become ",
                                   same_text ? FullText(is, after) : Text(is, after))};
  }
  if (a.size() == b.size()) return std::nullopt;
  const bool fewer = b.size() < a.size();
  return Difference{CompileReason::kOperation,
                    fewer ? absl::StrCat(Text(a[b.size()], before), " is not computed any more")
                          : absl::StrCat(Text(b[a.size()], after), " is computed, too")};
}

std::vector<int64_t> Donors(const Module& module) {
  std::vector<int64_t> donors;
  for (const hlo::BufferDonor& donor : module.config.buffer_donors) donors.push_back(donor.parameter_number);
  std::sort(donors.begin(), donors.end());
  donors.erase(std::unique(donors.begin(), donors.end()), donors.end());
  return donors;
}

MaybeDifference Donations(const Module& before, const Module& after) {
  const std::vector<int64_t> was = Donors(before), is = Donors(after);
  std::vector<int64_t> changed;
  std::set_symmetric_difference(was.begin(), was.end(), is.begin(), is.end(), std::back_inserter(changed));
  if (changed.empty()) return std::nullopt;
  const bool now = std::binary_search(is.begin(), is.end(), changed[0]);
  return Difference{
      CompileReason::kDonation,
      absl::StrCat("parameter ", changed[0], now ? " is now donated" : " is not donated any more")};
}

MaybeDifference Options(const Module& before, const Module& after) {
  const auto option = [](std::string text) { return Difference{CompileReason::kOption, std::move(text)}; };
  const hlo::ModuleConfig &was = before.config, &is = after.config;
  if (was.input_output_alias != is.input_output_alias) return option("which results alias parameters");
  if (was.replica_count != is.replica_count || was.partition_count != is.partition_count)
    return option("the number of replicas or partitions");
  if (was.frontend_attributes != is.frontend_attributes) return option("the module's frontend attributes");
  for (NodeId node = 0; node < after.entry().size(); ++node) {
    static const hlo::Notes kNone;
    const hlo::Notes *const a = before.entry().notes(node), *const b = after.entry().notes(node);
    const hlo::Notes &x = a != nullptr ? *a : kNone, &y = b != nullptr ? *b : kNone;
    const std::string which = Text(after.entry()[node], after);
    if (x.sharding != y.sharding) return option(absl::StrCat("the sharding of ", which));
    if (x.frontend_attributes != y.frontend_attributes)
      return option(absl::StrCat("the frontend attributes of ", which));
  }
  if (was.unmodelled != is.unmodelled) return option("a field of the module that this build does not know");
  return std::nullopt;
}

// Says that a program for many sizes was made: the instructions that hold the sizes differ everywhere.
MaybeDifference Sizes(const Module& before, const Module& after) {
  const auto sizes = [](const Module& module) {
    const auto found = module.config.frontend_attributes.find(kSizesUpTo);
    return found == module.config.frontend_attributes.end() ? std::string() : found->second;
  };
  const std::string was = sizes(before), is = sizes(after);
  if (is.empty() || was == is) return std::nullopt;
  return Difference{
      CompileReason::kOperation,
      absl::StrCat("an array grows: the program serves all of its sizes up to ", is, ", the one ",
                   was.empty() ? "before a single size" : "before those up to " + was)};
}

}  // namespace

Difference FirstDifference(const Module& before, const Module& after, absl::Span<const Origin> made) {
  const Computation &a = before.entry(), &b = after.entry();
  if (MaybeDifference found = Sizes(before, after)) return *found;
  if (!SameForm(a, b)) {
    if (MaybeDifference found = ResultOrder(before, after)) return *found;
    if (SameParameters(a, b)) {
      if (MaybeDifference found = Parameters(a, b, made)) return *found;
    }
    if (MaybeDifference found = Form(before, after)) return *found;
    return {CompileReason::kResult, "another instruction is the result"};
  }
  if (MaybeDifference found = Parameters(a, b, made)) return *found;
  if (MaybeDifference found = ResultOrder(before, after)) return *found;
  if (MaybeDifference found = Contents(before, after, /*constants=*/true)) return *found;
  if (MaybeDifference found = Contents(before, after, /*constants=*/false)) return *found;
  if (MaybeDifference found = Donations(before, after)) return *found;
  if (MaybeDifference found = Options(before, after)) return *found;
  return {CompileReason::kNames, "only names and source lines differ"};
}

}  // namespace hlod::runtime
