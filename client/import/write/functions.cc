// Names each function after its computation.
#include "client/import/write/functions.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace hlod::stablehlo::write {

const std::string& Functions::SymbolOf(hlo::ComputationId id) {
  const auto [found, added] = symbols_.try_emplace(id);
  if (!added) return found->second;
  called_.push_back(id);
  const std::string name = absl::StrCat("@", Identifier(module_.computation(id).name()));
  std::string unique = name;
  for (int i = 1; !taken_.insert(unique).second; ++i) unique = absl::StrCat(name, "_", i);
  found->second = std::move(unique);
  return found->second;
}

std::string Identifier(std::string_view name) {
  std::string identifier(name);
  for (char& c : identifier) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.' && c != '$') c = '_';
  }
  if (identifier.empty() || absl::ascii_isdigit(static_cast<unsigned char>(identifier[0])))
    identifier.insert(0, "_");
  return identifier;
}

}  // namespace hlod::stablehlo::write
