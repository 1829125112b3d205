// The findings of `hloctl doctor`.
#pragma once

#include <string>
#include <vector>

namespace hlod::cli {

// kNote: it works, but slower, or only in part.
enum class Grade { kGood, kNote, kWrong };

struct Finding {
  Grade grade = Grade::kGood;
  std::string what;    // "memory"
  std::string found;   // "23.4 GiB, 21.0 GiB available"
  std::string advice;  // Empty when there is nothing to do.
};

// Return findings about the machine: processor, memory, limits of this user.
std::vector<Finding> ExamineMachine();
// Returns the finding about jaxlib, which divides programs over meshes.
Finding ExaminePartitioner();

}  // namespace hlod::cli
