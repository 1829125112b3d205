// The functions of the text: the entry is @main, and every computation that is called is one.
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

  // "@name" of the computation as a function, which is to be written now.
  const std::string& SymbolOf(hlo::ComputationId id);
  // In the order in which they were first called, those of which WriteNext was not asked yet.
  bool HasNext() const { return next_ < called_.size(); }
  hlo::ComputationId Next() { return called_[next_++]; }

 private:
  const hlo::Module& module_;
  absl::flat_hash_map<hlo::ComputationId, std::string> symbols_;
  absl::flat_hash_set<std::string> taken_ = {"@main"};
  std::vector<hlo::ComputationId> called_;
  size_t next_ = 0;
};

// A name as MLIR takes it without quotes: letters, digits, '_', '.', '$'; not a digit first.
std::string Identifier(std::string_view name);

}  // namespace hlod::stablehlo::write
