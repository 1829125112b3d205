// What is counted against the limits.
#include "client/import/text/source.h"

namespace hlod::stablehlo::text {

absl::Status Source::Charge(size_t at, int64_t bytes) {
  if (bytes > kMaxExpandedBytes - expanded_bytes) {
    return reader.At(at,
                     ResourceExhausted("this takes %d bytes; splats and aliases of a program expand to at "
                                       "most %d bytes, %d of which are in use",
                                       bytes, kMaxExpandedBytes, expanded_bytes));
  }
  expanded_bytes += bytes;
  return absl::OkStatus();
}

absl::Status Nested::status() const {
  if (source_.depth <= kMaxNesting) return absl::OkStatus();
  return source_.reader.ErrorAt(source_.reader.position(), "more than %d levels are nested here",
                                kMaxNesting);
}

}  // namespace hlod::stablehlo::text
