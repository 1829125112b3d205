// Reads numbers by their types, and elements by their bytes.
#include "client/import/bytecode/fields.h"

#include <algorithm>
#include <cstring>

#include "client/import/bytecode/attributes.h"
#include "client/import/bytecode/types.h"
#include "client/import/program/elements.h"

namespace hlod::stablehlo::bytecode {
namespace {

using hlo::PrimitiveType;

// Returns `bits` as the value of an integer of `type`.
int64_t IntegerOf(uint64_t bits, PrimitiveType type) {
  const int unused = 64 - hlo::Info(type).bits;
  if (hlo::IsUnsigned(type)) return static_cast<int64_t>(bits);
  return static_cast<int64_t>(bits << unused) >> unused;
}

double FloatOf(uint64_t bits, PrimitiveType type) {
  double number = 0;
  hlo::VisitType(type, [&]<typename T>() {
    if constexpr (std::is_floating_point_v<T>) {
      T value;
      std::memcpy(&value, &bits, sizeof(T));
      number = value;
    } else if constexpr (hlo::kIsSmallFloat<T>) {
      number = static_cast<double>(T::FromBits(static_cast<typename T::Storage>(bits)));
    }
  });
  return number;
}

}  // namespace

absl::StatusOr<uint64_t> ReadBits(Stream& in, int width) {
  uint64_t bits = 0;
  if (width <= 8) {
    ASSIGN_OR_RETURN(bits, in.Byte());
  } else {
    ASSIGN_OR_RETURN(const int64_t value, in.Signed());
    bits = static_cast<uint64_t>(value);
  }
  return width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

absl::StatusOr<Attribute> ReadIntegerAttribute(Source& source, Stream& in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(const PrimitiveType type, ReadElementType(source, in));
  if (type == hlo::kPred) {
    ASSIGN_OR_RETURN(const uint64_t bits, ReadBits(in, 1));
    return Attribute{.value = bits != 0, .type = type};
  }
  if (!hlo::IsInteger(type)) return before.Error("expected the type of an integer, found %s", Name(type));
  ASSIGN_OR_RETURN(const uint64_t bits, ReadBits(in, hlo::Info(type).bits));
  return Attribute{.value = IntegerOf(bits, type), .type = type};
}

absl::StatusOr<Attribute> ReadFloatAttribute(Source& source, Stream& in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(const PrimitiveType type, ReadElementType(source, in));
  if (!hlo::IsFloat(type)) return before.Error("expected the type of a float, found %s", Name(type));
  ASSIGN_OR_RETURN(const uint64_t bits, ReadBits(in, hlo::Info(type).bits));
  return Attribute{.value = FloatOf(bits, type), .type = type};
}

absl::StatusOr<Attribute> ReadDenseAttribute(Source& source, Stream& in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(const Type type, ReadType(source, in));
  ASSIGN_OR_RETURN(const std::string_view elements, ReadBlob(in));
  if (IsLargeSplat(type) && elements.size() == static_cast<size_t>(hlo::ByteWidth(type.type))) {
    absl::StatusOr<Splat> splat = SplatFromBytes(type, elements);
    RETURN_IF_ERROR(before.ErrorAt(before.position(), splat.status()));
    return Attribute{*std::move(splat)};
  }
  const std::optional<int64_t> size = hlo::ByteSize(type);
  if (size && *size > static_cast<int64_t>(elements.size())) RETURN_IF_ERROR(source.Charge(before, *size));
  absl::StatusOr<hlo::Literal> literal = LiteralFromBytes(type, elements);
  RETURN_IF_ERROR(before.ErrorAt(before.position(), literal.status()));
  return Attribute{*std::move(literal)};
}

absl::StatusOr<Attribute> ReadArrayAttribute(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(std::vector<Attribute> list, ReadAttributes(source, in));
  return Attribute{std::move(list)};
}

absl::StatusOr<Attribute> ReadMapAttribute(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(const size_t count, in.Count("attributes of a dictionary"));
  auto map = std::make_shared<AttributeMap>();
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(std::string name, ReadStringAttribute(source, in));
    ASSIGN_OR_RETURN(Attribute value, ReadAttribute(source, in));
    RETURN_IF_ERROR(AddAttribute(in, std::move(name), std::move(value), *map));
  }
  return Attribute{std::move(map)};
}

absl::StatusOr<Attribute> ReadTextAttribute(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(const std::string_view text, ReadString(source, in));
  return Attribute{std::string(text)};
}

absl::StatusOr<Attribute> ReadTypeAttribute(Source& source, Stream& in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(const TypeEntry* const entry, ReadTypeEntry(source, in));
  return AsAttribute(source, before, *entry);
}

absl::StatusOr<Integers> ReadIntegers(Stream& in) {
  ASSIGN_OR_RETURN(const size_t count, in.Count("integers"));
  Integers integers;
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const int64_t value, in.Signed());
    integers.push_back(value);
  }
  return integers;
}

absl::StatusOr<std::string_view> ReadBlob(Stream& in) {
  ASSIGN_OR_RETURN(const uint64_t size, in.Number());
  return in.Bytes(size, "a blob");
}

absl::Status AddAttribute(const Stream& at, std::string name, Attribute attribute, AttributeMap& map) {
  const auto [entry, is_new] = map.emplace(std::move(name), std::move(attribute));
  if (is_new) return absl::OkStatus();
  return at.Error("the attribute %s occurs twice", entry->first);
}

absl::StatusOr<Attribute> ReadByKind(absl::Span<const Kind> kinds, std::string_view dialect, uint64_t code,
                                     Source& source, Stream& in) {
  const auto kind = std::ranges::find(kinds, code, &Kind::code);
  if (kind == kinds.end()) {
    return in.Refused("attribute %d of the dialect %s is unknown; the artifact was written as %s", code,
                      dialect, source.container.producer);
  }
  if (kind->read == nullptr) return in.Refused("%s (dialect %s) are not supported", kind->refused, dialect);
  return kind->read(source, in);
}

}  // namespace hlod::stablehlo::bytecode
