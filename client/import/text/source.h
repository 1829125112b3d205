// The state that all readers of a text share: the text, the aliases, the values, and the sums that the limits
// bound.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/import/text/aliases.h"
#include "client/import/text/reader.h"
#include "client/import/text/values.h"

namespace hlod::stablehlo::text {

inline constexpr int kMaxNesting = 128;  // The limit on levels of regions, attributes, types and locations.
// The limit on the bytes of all expanded splats together.
inline constexpr int64_t kMaxSplatBytes = 1LL << 30;
// The limit on the bytes of a splat that lists dimensions, groups or similar.
inline constexpr int64_t kMaxListBytes = 8 << 20;
// The limit on the bytes of all uses of aliases together.
inline constexpr int64_t kMaxAliasBytes = 1LL << 27;

struct Source {
  explicit Source(std::string_view text) : reader(text), values(reader) {}

  // Returns RESOURCE_EXHAUSTED when a splat is too large for the attribute that is being read.
  absl::Status CheckSplat(size_t at, int64_t bytes) const;
  // Count bytes that expansion adds to those of the text. Return RESOURCE_EXHAUSTED, naming the limit.
  absl::Status CountSplat(size_t at, int64_t bytes);
  absl::Status CountAlias(size_t at, int64_t bytes);
  // Returns the alias `name`, including its sign, with its value, which is read where it is defined. `at` is
  // the position for errors.
  absl::StatusOr<Alias*> Resolve(std::string_view name, size_t at);

  Reader reader;
  Values values;
  Aliases aliases;
  int depth = 0;
  int64_t splat_bytes = 0, alias_bytes = 0;
  int64_t splat_bytes_max = kMaxSplatBytes;  // The limit for the attribute being read.
};

// Counts one level of nesting while it exists.
class Nested {
 public:
  explicit Nested(Source& source) : source_(source) { ++source.depth; }
  ~Nested() { --source_.depth; }
  Nested(const Nested&) = delete;
  // Returns an error when the nesting is too deep.
  absl::Status status() const;

 private:
  Source& source_;
};

}  // namespace hlod::stablehlo::text
