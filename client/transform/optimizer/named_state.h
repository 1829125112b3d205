// Tensors of an optimizer's state that users get by name.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/tensor/value/limits.h"
#include "client/transform/optimizer/transformation.h"

namespace hlod::optim {

// Returns the tensor called `name` in the state of a chain with a link of class T, whose first list begins
// with the tensors of T::Names(), in this order. Throws when there is none, naming those that exist; `what`
// is such a tensor's kind.
template <typename T>
Tensor& NamedTensor(const Optimizer& optimizer, State& state, const std::string& name, const char* what,
                    const char* operation, const Caller& caller) {
  std::vector<std::string> known;
  size_t part = 0;
  for (const auto& link : optimizer.chain()) {
    if (const auto* named = dynamic_cast<const T*>(link.get()); named != nullptr) {
      const std::vector<std::string> names = named->Names();
      const auto found = std::find(names.begin(), names.end(), name);
      if (found != names.end() && part < state.parts.size()) {
        return state.parts[part].at(static_cast<size_t>(found - names.begin()));
      }
      known.insert(known.end(), names.begin(), names.end());
    }
    part += link->part_count();
  }
  RequireThat(false,
              absl::StrCat("there is no ", what, " \"", name,
                           "\"; there are: ", known.empty() ? "none" : absl::StrJoin(known, ", ")),
              operation, caller);
  return state.parts[0][0];
}

}  // namespace hlod::optim
