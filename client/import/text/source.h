// What every reader of a part of the text is given: the text, the aliases, the values, and what is counted
// against the limits.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/import/text/aliases.h"
#include "client/import/text/reader.h"
#include "client/import/text/values.h"

namespace hlod::stablehlo::text {

inline constexpr int kMaxNesting = 128;               // Of regions, attributes, types and locations.
inline constexpr int64_t kMaxSplatBytes = 1LL << 30;  // What splats expand to, together.
inline constexpr int64_t kMaxAliasBytes = 1LL << 27;  // The same of uses of aliases.

struct Source {
  explicit Source(std::string_view text) : reader(text), values(reader) {}

  // Count bytes that the text does not have itself. RESOURCE_EXHAUSTED, naming the limit.
  absl::Status CountSplat(size_t at, int64_t bytes);
  absl::Status CountAlias(size_t at, int64_t bytes);
  // The alias that is named, sign and all, with its value, which is read where it is defined. `at` is for
  // errors.
  absl::StatusOr<Alias*> Resolve(std::string_view name, size_t at);

  Reader reader;
  Values values;
  Aliases aliases;
  int depth = 0;
  int64_t splat_bytes = 0, alias_bytes = 0;
};

// While it lives, the text is one level deeper.
class Nested {
 public:
  explicit Nested(Source& source) : source_(source) { ++source.depth; }
  ~Nested() { --source_.depth; }
  Nested(const Nested&) = delete;
  // Error: too deep.
  absl::Status status() const;

 private:
  Source& source_;
};

}  // namespace hlod::stablehlo::text
