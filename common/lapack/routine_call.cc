// Stores routines in the notes of calls.
#include "common/lapack/routine_call.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/lapack/call.h"
#include "common/lapack/config.h"

namespace hlod::lapack {
namespace {

constexpr char kName[] = "hlod_routine", kAttributes[] = "hlod_routine_attributes";
constexpr int32_t kTypedFfi = 4;  // A CustomCallApiVersion, as in JAX's calls.

}  // namespace

void NameRoutine(hlo::Notes& notes, const hlo::CustomCallAttributes& routine) {
  notes.frontend_attributes[kName] = routine.target;
  notes.frontend_attributes[kAttributes] = routine.backend_config;
}

std::optional<hlo::CustomCallAttributes> RoutineOf(hlo::Instruction call) {
  if (call.opcode() != hlo::kCall) return std::nullopt;
  const hlo::Notes* const notes = call.computation().notes(call.id());
  if (notes == nullptr) return std::nullopt;
  const auto name = notes->frontend_attributes.find(kName);
  if (name == notes->frontend_attributes.end() || !IsTarget(name->second)) return std::nullopt;
  const auto attributes = notes->frontend_attributes.find(kAttributes);
  hlo::CustomCallAttributes routine{
      .target = name->second,
      .backend_config = attributes == notes->frontend_attributes.end() ? "" : attributes->second,
      .api_version = kTypedFfi};
  std::vector<const hlo::Shape*> operands, results;
  for (uint32_t i = 0; i < call.operand_count(); ++i) operands.push_back(&call.operand(i).shape());
  if (call.shape().IsTuple()) {
    for (const hlo::Shape& element : call.shape().tuple) results.push_back(&element);
  } else {
    results.push_back(&call.shape());
  }
  if (!Call::Make(routine.target, operands, results, routine.backend_config).ok()) return std::nullopt;
  return routine;
}

std::optional<ValuesOnly> ValuesOnlyOf(const hlo::CustomCallAttributes& routine) {
  struct Row {
    std::string_view name;
    uint32_t results;
  };
  constexpr Row kRows[] = {
      {"gesdd_ffi", 1 << 1 | 1 << 4}, {"syevd_ffi", 1 << 1 | 1 << 2}, {"heevd_ffi", 1 << 1 | 1 << 2}};
  for (const Row& row : kRows) {
    if (!std::string_view(routine.target).ends_with(row.name) || !IsTarget(routine.target)) continue;
    absl::StatusOr<std::map<std::string, int64_t, std::less<>>> config = ParseConfig(routine.backend_config);
    if (!config.ok()) return std::nullopt;
    (*config)["mode"] = 'N';
    std::vector<std::string> attributes;
    for (const auto& [name, value] : *config)
      attributes.push_back(absl::StrCat(name, " = ", value, " : ui8"));
    ValuesOnly only{row.results, routine};
    only.routine.backend_config = absl::StrCat("{", absl::StrJoin(attributes, ", "), "}");
    return only;
  }
  return std::nullopt;
}

}  // namespace hlod::lapack
