// The line of the user's program that an instruction comes from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/hlo/module.h"

namespace hlod::analysis {

struct SourceLine {
  std::string file;  // Empty when it is not known.
  int line = 0;
  bool operator==(const SourceLine&) const = default;
};
// "src/model.py:41", or empty.
std::string ToString(const SourceLine& line);
// Returns the line without the folder, as reports on runs name lines: "model.py:41"; may be empty.
std::string ShortText(const SourceLine& line);

// Finds the lines of a module's instructions. XLA states them in two ways: by source_file and source_line in
// the instruction's metadata, or, as today's JAX does, by stack_frame_id there and a table of stack frames in
// the module. The innermost frame of a stack is used: JAX leaves its own frames out.
class SourceLines {
 public:
  explicit SourceLines(const hlo::Module& module);
  SourceLine Of(const hlo::Notes& notes) const;

 private:
  std::vector<SourceLine> frames_;  // The lines by stack_frame_id - 1.
};

}  // namespace hlod::analysis
