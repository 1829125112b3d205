// Checks of layers' arguments that several files share.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "hlod/nn/module.h"

namespace hlod::nn {

// Checks that `values` are one, or one per dimension. `dimensions` names these in the error: "2 dimensions".
inline LayerArgument OneOrOnePer(const char* name, const Sizes& values, int64_t dims,
                                 const std::string& dimensions) {
  const auto count = static_cast<int64_t>(values.values().size());
  return {count == 1 || count == dims, absl::StrCat(name, " has ", count, " values for ", dimensions)};
}

}  // namespace hlod::nn
