// Counts the bytes that the limits bound.
#include "client/import/text/source.h"

namespace hlod::stablehlo::text {

namespace {

absl::Status Count(const Reader& reader, size_t at, std::string_view what, int64_t bytes, int64_t most,
                   int64_t& counted) {
  if (bytes > most - counted) {
    return reader.At(
        at, ResourceExhausted("this takes %d bytes; %s of a program may expand to at most %d bytes, %d of "
                              "which are in use",
                              bytes, what, most, counted));
  }
  counted += bytes;
  return absl::OkStatus();
}

}  // namespace

absl::Status Source::CheckSplat(size_t at, int64_t bytes) const {
  if (splat_bytes_max == kMaxSplatBytes || bytes <= splat_bytes_max) return absl::OkStatus();
  return reader.At(
      at, ResourceExhausted("this splat takes %d bytes; the limit for attributes other than values is %d",
                            bytes, splat_bytes_max));
}

absl::Status Source::CountSplat(size_t at, int64_t bytes) {
  return Count(reader, at, "splats", bytes, kMaxSplatBytes, splat_bytes);
}

absl::Status Source::CountAlias(size_t at, int64_t bytes) {
  return Count(reader, at, "uses of aliases", bytes, kMaxAliasBytes, alias_bytes);
}

absl::Status Nested::status() const {
  if (source_.depth <= kMaxNesting) return absl::OkStatus();
  return source_.reader.ErrorAt(source_.reader.position(), "the nesting exceeds the limit of %d levels here",
                                kMaxNesting);
}

}  // namespace hlod::stablehlo::text
