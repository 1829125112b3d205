// The container of MLIR bytecode: its sections, and the tables that they refer to by index.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/bytecode/stream.h"

namespace hlod::stablehlo::bytecode {

inline constexpr uint64_t kNewestVersion = 6;

// The container versions that introduced these features.
inline constexpr uint64_t kDialectVersions = 1, kIsolatedSections = 2, kUseListOrders = 3,
                          kNoUnknownLocations = 4, kProperties = 5;

struct OperationName {
  std::string_view dialect, name;  // "vhlo", "add_v1".
};

// An attribute or a type, which is parsed at its first use.
struct Entry {
  std::string_view dialect;
  Stream bytes;
  bool is_custom = false;  // True for the dialect's binary encoding, false for text.
};

struct Container {
  uint64_t version = 0;
  std::string_view producer;  // "StableHLO_v1.12.1": also states the version of VHLO.
  std::vector<std::string_view> strings, dialects;
  std::vector<OperationName> operations;
  std::vector<Entry> attributes, types;
  std::vector<Stream> properties;  // One per operation that has properties.
  Stream operations_section;
};

bool HasMagic(std::string_view bytes);
// Reads the sections and tables. The result points into `bytes`.
absl::StatusOr<Container> ReadContainer(std::string_view bytes);

// A section's id and contents.
struct Section {
  uint8_t id = 0;
  Stream bytes;
};
// Reads the section that begins here.
absl::StatusOr<Section> ReadSection(Stream& in);
// Reads the nested section of operations that begins here.
absl::StatusOr<Stream> ReadNestedOperations(Stream& in);

}  // namespace hlod::stablehlo::bytecode
