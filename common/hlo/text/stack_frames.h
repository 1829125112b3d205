// The tables of stack frames before a module's computations, which metadata={stack_frame_id=N} points into.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/hlo/text/lexer.h"
#include "proto/xla/hlo.pb.h"

namespace hlod::hlo::text {

// Reads a table if one starts here: FileNames, FunctionNames, FileLocations or StackFrames, with lines `1
// "text"` or `1 {key=value ...}` numbered from 1. Returns false if none starts here.
absl::StatusOr<bool> TryStackFrames(Lexer& lexer, xla::StackFrameIndexProto& index);

// Returns the tables as XLA prints them, each after an empty line; empty for an index without rows.
std::string StackFramesText(const xla::StackFrameIndexProto& index);

}  // namespace hlod::hlo::text
