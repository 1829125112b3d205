// The difference of two texts, line by line.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace hlod::analysis::torch_xla {

// The lines of the old text that are gone and the lines of the new text that were added, in order.
struct LineDifference {
  struct Change {
    bool added = false;
    std::string line;
  };
  std::vector<Change> changes;
};

// Returns the fewest changes that turn `before` into `after`. For long texts, everything between their common
// beginning and end counts as changed. Lines are compared by their `key`, so that numbers which only count
// lines do not make them different.
LineDifference DifferenceOf(const std::vector<std::string>& before, const std::vector<std::string>& after,
                            const std::function<std::string(const std::string&)>& key);

}  // namespace hlod::analysis::torch_xla
