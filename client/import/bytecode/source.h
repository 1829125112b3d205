// The state that all readers of an artifact share: the tables, and the sums that the limits bound.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/bytecode/container.h"
#include "client/import/program/operation.h"

namespace hlod::stablehlo::bytecode {

inline constexpr int kMaxNesting = 128;  // The limit on levels of regions, attributes, types and locations.
// The limit on the bytes of expanded splats and repeated uses.
inline constexpr int64_t kMaxExpandedBytes = 1LL << 30;

// A type of the artifact's table. An element type (f32), which is not the type of a value, is kept as a
// scalar. A Word names a type that hlod has no values of, and that occurs in attributes alone.
struct TypeEntry {
  std::variant<Type, FunctionType, Word> value;
  bool is_element = false;
  int64_t bytes = 0;  // The size of a copy, without the Type object itself.
};

struct Source {
  explicit Source(Container tables)
      : container(std::move(tables)),
        types(container.types.size()),
        locations(container.attributes.size()),
        is_used(container.attributes.size()) {}

  // Counts bytes that expansion adds to those of the artifact. Returns RESOURCE_EXHAUSTED, naming the limit.
  absl::Status Charge(const Stream& at, int64_t bytes);

  Container container;
  std::vector<std::optional<TypeEntry>> types;  // The types by index; nullopt: not read yet.
  // The locations by index of attributes; nullopt: not read yet.
  std::vector<std::optional<Location>> locations;
  std::vector<bool> is_used;  // By attribute, true if it was read before.
  int depth = 0;
  int64_t expanded_bytes = 0;
};

// Counts one level of nesting while it exists.
class Nested {
 public:
  explicit Nested(Source& source) : source_(source) { ++source_.depth; }
  ~Nested() { --source_.depth; }
  Nested(const Nested&) = delete;
  // Returns an error when the nesting is too deep, which also ends cycles of references.
  absl::Status Check(const Stream& at) const;

 private:
  Source& source_;
};

// Reads the index of a string and returns the string.
absl::StatusOr<std::string_view> ReadString(Source& source, Stream& in);

}  // namespace hlod::stablehlo::bytecode
