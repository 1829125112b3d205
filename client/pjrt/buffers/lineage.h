// The executions from which a placeholder results, for the error of reading it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "hlod/runtime/buffer.h"
#include "hlod/runtime/caller.h"

namespace hlod::pjrt {

class Buffer;
class CompiledProgram;

// An execution one of whose results is a placeholder.
struct LineageStep {
  static constexpr size_t kNone = static_cast<size_t>(-1);

  std::shared_ptr<const CompiledProgram> program;
  size_t result = 0;
  Caller line;
  // The first placeholder among the arguments that the result depends on; kNone when there is none, because
  // the result is a placeholder for its size.
  size_t argument = kNone;
  std::string argument_text;  // "f32[8,4], made at train.py:7"
};

// The executions, latest first. Longer histories are cut off, so that the history of a loop does not grow.
using Lineage = std::vector<LineageStep>;

// Returns the lineage of each result of an execution, in their order; null for a result that has a value.
// `arguments` are the framework's buffers, `results` the execution's.
std::vector<std::shared_ptr<const Lineage>> LineagesOf(const std::shared_ptr<const CompiledProgram>& program,
                                                       absl::Span<Buffer* const> arguments,
                                                       absl::Span<const hlod::Buffer> results,
                                                       const Caller& line);

// Returns a line for each execution, with the operations between its argument and its result.
std::string ToString(const Lineage& lineage);

}  // namespace hlod::pjrt
