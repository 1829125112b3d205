// Fields that attributes of several dialects have: numbers, lists, elements.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/import/bytecode/source.h"

namespace hlod::stablehlo::bytecode {

// The bits of a number of `width` bits: a byte, or a number with its sign. Above them they are zero.
absl::StatusOr<uint64_t> ReadBits(Stream& in, int width);
// A type and a number of that type: an integer, a bool.
absl::StatusOr<Attribute> ReadIntegerAttribute(Source& source, Stream& in);
absl::StatusOr<Attribute> ReadFloatAttribute(Source& source, Stream& in);
// A tensor's type and its elements.
absl::StatusOr<Attribute> ReadDenseAttribute(Source& source, Stream& in);
// Attributes, one after the other, as a list.
absl::StatusOr<Attribute> ReadArrayAttribute(Source& source, Stream& in);
// Names and attributes.
absl::StatusOr<Attribute> ReadMapAttribute(Source& source, Stream& in);
absl::StatusOr<Attribute> ReadTextAttribute(Source& source, Stream& in);
// A type, as an attribute.
absl::StatusOr<Attribute> ReadTypeAttribute(Source& source, Stream& in);
absl::StatusOr<Integers> ReadIntegers(Stream& in);
// A size and so many bytes.
absl::StatusOr<std::string_view> ReadBlob(Stream& in);
// Adds to a map. Error: the name is there already.
absl::Status AddAttribute(const Stream& at, std::string name, Attribute attribute, AttributeMap& map);

// An attribute of a dialect by its code: what reads its fields, or what those are called that are refused.
struct Kind {
  uint64_t code;
  absl::StatusOr<Attribute> (*read)(Source&, Stream&);
  std::string_view refused = "";
};
absl::StatusOr<Attribute> ReadByKind(absl::Span<const Kind> kinds, std::string_view dialect, uint64_t code,
                                     Source& source, Stream& in);

}  // namespace hlod::stablehlo::bytecode
