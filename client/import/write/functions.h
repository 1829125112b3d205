// The functions of the text: the entry, as @main, and all computations that are called.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/hlo/module.h"

namespace hlod::stablehlo::write {

class Functions {
 public:
  explicit Functions(const hlo::Module& module) : module_(module) {}

  // Returns "@name", the function of the computation, and queues it for writing.
  const std::string& SymbolOf(hlo::ComputationId id);
  // The queue of called functions that are not written yet, in the order of their first call.
  bool HasNext() const { return next_ < called_.size(); }
  hlo::ComputationId Next() { return called_[next_++]; }

 private:
  const hlo::Module& module_;
  absl::flat_hash_map<hlo::ComputationId, std::string> symbols_;
  absl::flat_hash_set<std::string> taken_ = {"@main"};
  std::vector<hlo::ComputationId> called_;
  size_t next_ = 0;
};

// Returns a name that MLIR accepts without quotes: letters, digits, '_', '.', '$'; not a digit first.
std::string Identifier(std::string_view name);

}  // namespace hlod::stablehlo::write
