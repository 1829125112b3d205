// What two texts differ in, line by line.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace hlod::analysis {

// Lines of the old text that are gone and of the new one that were not there, in order.
struct LineDifference {
  struct Change {
    bool added = false;
    std::string line;
  };
  std::vector<Change> changes;
};

// The least changes between two texts, beyond what they share at the beginning and the end; of long ones all
// of that. Lines are compared by `key` of them, so that numbers which only count lines do not make them
// different.
LineDifference DifferenceOf(const std::vector<std::string>& before, const std::vector<std::string>& after,
                            const std::function<std::string(const std::string&)>& key);

}  // namespace hlod::analysis
