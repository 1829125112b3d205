// Counts the bytes that the limits bound.
#include "client/import/bytecode/source.h"

namespace hlod::stablehlo::bytecode {

absl::Status Source::Charge(const Stream& at, int64_t bytes) {
  if (bytes > kMaxExpandedBytes - expanded_bytes) {
    return at.ErrorAt(at.position(),
                      ResourceExhausted("this takes %d bytes; splats and repeated uses may expand to "
                                        "at most %d bytes, %d of which are in use",
                                        bytes, kMaxExpandedBytes, expanded_bytes));
  }
  expanded_bytes += bytes;
  return absl::OkStatus();
}

absl::Status Nested::Check(const Stream& at) const {
  if (source_.depth <= kMaxNesting) return absl::OkStatus();
  return at.Error("the nesting exceeds the limit of %d levels here, or refers to itself", kMaxNesting);
}

absl::StatusOr<std::string_view> ReadString(Source& source, Stream& in) {
  const std::vector<std::string_view>& strings = source.container.strings;
  ASSIGN_OR_RETURN(const size_t index, in.Index(strings.size(), "string"));
  return strings[index];
}

}  // namespace hlod::stablehlo::bytecode
