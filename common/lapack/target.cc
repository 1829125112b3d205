// Parses and composes the names of custom calls.
#include "common/lapack/target.h"

#include <algorithm>
#include <iterator>

namespace hlod::lapack {
namespace {

constexpr std::string_view kPrefix = "lapack_", kSuffix = "_ffi";

}  // namespace

std::optional<int> TypeIndex(hlo::PrimitiveType type) {
  const auto* const found = std::ranges::find(kTypes, type);
  if (found == std::end(kTypes)) return std::nullopt;
  return static_cast<int>(found - std::begin(kTypes));
}

std::optional<Target> ParseTarget(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  if (name.size() <= kPrefix.size() + kSuffix.size()) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  const size_t type = kTypeLetters.find(name[0]);
  if (type == kTypeLetters.npos) return std::nullopt;
  return Target{name.substr(1), static_cast<int>(type)};
}

std::string TargetName(std::string_view routine, hlo::PrimitiveType type) {
  std::string name(kPrefix);
  name += kTypeLetters[*TypeIndex(type)];
  name += routine;
  name += kSuffix;
  return name;
}

}  // namespace hlod::lapack
