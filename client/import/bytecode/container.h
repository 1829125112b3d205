// The container of MLIR bytecode: its sections, and the tables that the others refer to by index.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/bytecode/stream.h"

namespace hlod::stablehlo::bytecode {

inline constexpr uint64_t kNewestVersion = 6;

// What versions of the container brought.
inline constexpr uint64_t kDialectVersions = 1, kIsolatedSections = 2, kUseListOrders = 3,
                          kNoUnknownLocations = 4, kProperties = 5;

struct OperationName {
  std::string_view dialect, name;  // "vhlo", "add_v1".
};

// An attribute or a type, which is read when it is used.
struct Entry {
  std::string_view dialect;
  Stream bytes;
  bool is_custom = false;  // By the dialect's encoding; else it is text.
};

struct Container {
  uint64_t version = 0;
  std::string_view producer;  // "StableHLO_v1.12.1": the version of VHLO too.
  std::vector<std::string_view> strings, dialects;
  std::vector<OperationName> operations;
  std::vector<Entry> attributes, types;
  std::vector<Stream> properties;  // One an operation that has some.
  Stream operations_section;
};

bool HasMagic(std::string_view bytes);
// All of it refers to `bytes`.
absl::StatusOr<Container> ReadContainer(std::string_view bytes);

// A section's id and what it holds.
struct Section {
  uint8_t id = 0;
  Stream bytes;
};
// The section that begins here.
absl::StatusOr<Section> ReadSection(Stream& in);
// The nested section of operations that begins here.
absl::StatusOr<Stream> ReadNestedOperations(Stream& in);

}  // namespace hlod::stablehlo::bytecode
