// Finds the nearest program, and its first difference.
#include "client/runtime/observe/program_history.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/runtime/observe/program_difference.h"
#include "common/hlo/opcode.h"
#include "common/hlo/proto/codec.h"

namespace hlod::runtime {

uint64_t ProgramHistory::Distance(const Past& a, const Past& b) {
  if (a.form == b.form) return 0;
  uint64_t distance = 0;
  for (size_t i = 0; i < a.opcodes.size(); ++i) {
    distance += a.opcodes[i] > b.opcodes[i] ? a.opcodes[i] - b.opcodes[i] : b.opcodes[i] - a.opcodes[i];
  }
  return distance + 1;
}

CompileCause ProgramHistory::Add(const hlo::Module& module, std::string_view bytes, const Digest& digest,
                                 const Origin& line, absl::Span<const Origin> made, uint64_t path) {
  CompileCause verdict = Compare(module, bytes, digest, line, made);
  verdict.recompiles = Count(line, module.name(), path, verdict.reason);
  return verdict;
}

bool ProgramHistory::TellOnce(const Origin& line) {
  absl::MutexLock lock(&mu_);
  return told_.emplace(line.file, line.line).second;
}

int ProgramHistory::Count(const Origin& line, const std::string& name, uint64_t path, CompileReason reason) {
  if (line.file.empty()) return 0;
  absl::MutexLock lock(&mu_);
  std::tuple<std::string, int, std::string, uint64_t> key(line.file, line.line, name, path);
  if (recompiles_.size() >= kLinesMax && !recompiles_.contains(key)) return 0;
  const auto [entry, first_here] = recompiles_.try_emplace(std::move(key), 0);
  // A line's first program is not a recompile, even if another line has compiled a similar one.
  const bool again = reason == CompileReason::kAgain || (reason != CompileReason::kFirst && !first_here);
  return again ? ++entry->second : 0;
}

std::shared_ptr<ProgramHistory::Past> ProgramHistory::PastOf(const hlo::Module& module,
                                                             std::string_view bytes, const Digest& digest,
                                                             const Origin& line) {
  auto added = std::make_shared<Past>();
  added->name = module.name();
  added->digest = digest;
  added->line = line;
  if (bytes.size() <= kBytesOfOneMax) added->size = bytes.size();
  if (bytes.size() <= kModuleBytesMax) {
    added->module = hlo::Clone(module);
  } else if (added->size > 0) {
    added->bytes = std::string(bytes);
  }
  added->opcodes.resize(hlo::kOpcodeCount);
  const hlo::Computation& entry = module.entry();
  for (hlo::NodeId node = 0; node < entry.size(); ++node) {
    const hlo::Instruction instruction = entry[node];
    const auto opcode = static_cast<size_t>(instruction.opcode());
    ++added->opcodes[opcode];
    added->form = (added->form ^ opcode) * 0x9e3779b97f4a7c15u;
    for (const hlo::NodeId operand : instruction.operands())
      added->form = (added->form ^ (node - operand)) * 0xd6e8feb86659fd93u;
    added->form ^= added->form >> 29;
  }
  return added;
}

std::shared_ptr<const ProgramHistory::Past> ProgramHistory::Nearest(const Past& added) const {
  std::shared_ptr<const Past> nearest;
  uint64_t least = UINT64_MAX;
  for (const std::shared_ptr<const Past>& past : programs_) {
    if (past->digest == added.digest) return past;
    // At equal distance the program with the same name (for a trace, its line) is preferred, then the later
    // one.
    const uint64_t distance = 2 * Distance(*past, added) + (past->name == added.name ? 0 : 1);
    if (distance >= least) continue;
    least = distance;
    nearest = past;
  }
  return nearest;
}

void ProgramHistory::Keep(std::shared_ptr<const Past> added) {
  bytes_ += added->size;
  programs_.push_front(std::move(added));
  while (programs_.size() > kProgramsMax || bytes_ > kBytesMax) {
    bytes_ -= programs_.back()->size;
    programs_.pop_back();
  }
}

CompileCause ProgramHistory::Compare(const hlo::Module& module, std::string_view bytes, const Digest& digest,
                                     const Origin& line, absl::Span<const Origin> made) {
  const std::shared_ptr<const Past> added = PastOf(module, bytes, digest, line);
  std::shared_ptr<const Past> nearest;
  {
    absl::MutexLock lock(&mu_);
    nearest = Nearest(*added);
    Keep(added);
  }
  const auto first = [] {
    return CompileCause{CompileReason::kFirst, "nothing like it was compiled before in this session", ""};
  };
  if (nearest == nullptr) return first();
  const std::string which =
      absl::StrCat("the nearest program is ", nearest->name,
                   nearest->line.file.empty() ? "" : absl::StrCat(", compiled at ", ToString(nearest->line)));
  if (nearest->digest == digest) {
    return {CompileReason::kAgain,
            absl::StrCat("the same program was compiled before, at ", ToString(nearest->line)),
            nearest->name};
  }
  uint64_t instructions = 0;
  for (size_t i = 0; i < added->opcodes.size(); ++i) instructions += added->opcodes[i] + nearest->opcodes[i];
  if (nearest->name != added->name && 2 * Distance(*nearest, *added) > instructions) return first();
  if (nearest->size == 0) {
    return {CompileReason::kOperation,
            absl::StrCat(which, "; it is too large to be kept, so that the difference is not known"),
            nearest->name};
  }
  absl::StatusOr<std::unique_ptr<hlo::Module>> decoded = nullptr;
  if (nearest->module == nullptr) decoded = hlo::FromSerialized(nearest->bytes);
  if (!decoded.ok()) return first();
  const hlo::Module& before = nearest->module != nullptr ? *nearest->module : **decoded;
  Difference difference = FirstDifference(before, module, made);
  return {difference.reason, absl::StrCat(difference.text, "; ", which), nearest->name};
}

}  // namespace hlod::runtime
