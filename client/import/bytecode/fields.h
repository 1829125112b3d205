// Reads fields that attributes of several dialects share: numbers, lists, elements.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/import/bytecode/source.h"

namespace hlod::stablehlo::bytecode {

// Reads a number of `width` bits: a byte, or a signed number. The bits above `width` are zero.
absl::StatusOr<uint64_t> ReadBits(Stream& in, int width);
// Reads a type and a number of that type: an integer or a bool.
absl::StatusOr<Attribute> ReadIntegerAttribute(Source& source, Stream& in);
absl::StatusOr<Attribute> ReadFloatAttribute(Source& source, Stream& in);
// Reads a tensor's type and its elements.
absl::StatusOr<Attribute> ReadDenseAttribute(Source& source, Stream& in);
// Reads attributes, one after the other, as a list.
absl::StatusOr<Attribute> ReadArrayAttribute(Source& source, Stream& in);
// Reads pairs of a name and an attribute.
absl::StatusOr<Attribute> ReadMapAttribute(Source& source, Stream& in);
absl::StatusOr<Attribute> ReadTextAttribute(Source& source, Stream& in);
// Reads a type as an attribute.
absl::StatusOr<Attribute> ReadTypeAttribute(Source& source, Stream& in);
absl::StatusOr<Integers> ReadIntegers(Stream& in);
// Reads a size and that number of bytes.
absl::StatusOr<std::string_view> ReadBlob(Stream& in);
// Adds an entry to the map. Returns an error when the name exists already.
absl::Status AddAttribute(const Stream& at, std::string name, Attribute attribute, AttributeMap& map);

// A kind of attribute of a dialect, by its code: the function that reads its fields or, for a kind that is
// refused, its name for the error.
struct Kind {
  uint64_t code;
  absl::StatusOr<Attribute> (*read)(Source&, Stream&);
  std::string_view refused = "";
};
absl::StatusOr<Attribute> ReadByKind(absl::Span<const Kind> kinds, std::string_view dialect, uint64_t code,
                                     Source& source, Stream& in);

}  // namespace hlod::stablehlo::bytecode
