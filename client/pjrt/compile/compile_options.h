// The options of a framework's compilation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hlod::pjrt {

struct CompileOptions {
  int replicas = 1, partitions = 1;
  // The device of partition p of replica r is devices[r * partitions + p]. Empty for a portable program.
  std::vector<int> devices;
  bool portable = false;          // Each execution names its device.
  bool tupled_arguments = false;  // True when the program takes its arguments as one tuple.
  std::string serialized;         // The options as the framework passed them.
};

// Reads a serialized CompileOptionsProto. Options that would change the result and that hlod does not have
// are refused by name; options about how the compiler works are ignored.
absl::StatusOr<CompileOptions> ReadCompileOptions(std::string_view bytes);

// Returns the devices of a program, serialized as XLA's DeviceAssignmentProto.
std::string SerializedAssignment(const CompileOptions& options);

}  // namespace hlod::pjrt
