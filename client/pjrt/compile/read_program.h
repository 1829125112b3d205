// Reads the program of a compilation, with the properties that it states of its arguments and results.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/pjrt/buffers/memory_layout.h"
#include "common/hlo/module.h"

namespace hlod::pjrt {

struct ReadProgram {
  std::unique_ptr<hlo::Module> module;
  // One per argument and per result; empty lists for a program that is not StableHLO.
  std::vector<std::string> argument_kinds, result_kinds;       // Kinds of memory; empty: not stated.
  std::vector<DimensionOrder> argument_orders, result_orders;  // Layouts; empty: not stated.
  // Serialized OpShardings; empty: not stated.
  std::vector<std::string> argument_shardings, result_shardings;
};

// Formats: "mlir" (StableHLO as a portable artifact or as text) and "hlo" (HloModuleProto).
absl::StatusOr<ReadProgram> ReadProgramFrom(std::string_view code, std::string_view format);

}  // namespace hlod::pjrt
