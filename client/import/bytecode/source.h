// What every reader of a part of an artifact is given: the tables, and what is counted against the limits.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/bytecode/container.h"
#include "client/import/operation.h"

namespace hlod::stablehlo::bytecode {

inline constexpr int kMaxNesting = 128;                  // Of regions, attributes, types and locations.
inline constexpr int64_t kMaxExpandedBytes = 1LL << 30;  // What splats and repeated uses expand to.

// A type of the artifact's table. An element type (f32) is not the type of a value, and is kept as a scalar;
// a Word names a type that hlod has no values of, which only attributes have.
struct TypeEntry {
  std::variant<Type, FunctionType, Word> value;
  bool is_element = false;
  int64_t bytes = 0;  // What a copy takes beside the type itself.
};

struct Source {
  explicit Source(Container tables)
      : container(std::move(tables)),
        types(container.types.size()),
        locations(container.attributes.size()),
        is_used(container.attributes.size()) {}

  // Counts bytes that the artifact does not have itself. RESOURCE_EXHAUSTED, naming the limit.
  absl::Status Charge(const Stream& at, int64_t bytes);

  Container container;
  std::vector<std::optional<TypeEntry>> types;     // Those that were read.
  std::vector<std::optional<Location>> locations;  // Of attributes that are one and were read.
  std::vector<bool> is_used;                       // An attribute each: it was read before.
  int depth = 0;
  int64_t expanded_bytes = 0;
};

// While it lives, what is read is one level deeper.
class Nested {
 public:
  explicit Nested(Source& source) : source_(source) { ++source_.depth; }
  ~Nested() { --source_.depth; }
  Nested(const Nested&) = delete;
  // Error: too deep. So ends a cycle of references, too.
  absl::Status Check(const Stream& at) const;

 private:
  Source& source_;
};

// The index of a string, and the string.
absl::StatusOr<std::string_view> ReadString(Source& source, Stream& in);

}  // namespace hlod::stablehlo::bytecode
