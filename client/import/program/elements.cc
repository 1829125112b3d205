// Converts bytes to literals, and literals to integers.
#include "client/import/program/elements.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "common/base/errors/status.h"

namespace hlod::stablehlo {
namespace {

using hlo::Literal;

// The largest size of an array to which a repeated element is expanded. Attributes other than the values of
// constants are smaller.
constexpr int64_t kExpandedBytesMax = 1 << 20;

// Makes every byte a valid value: elements below 8 bits and bools do not use all bits of their byte.
void Clean(Literal& literal) {
  hlo::VisitType(literal.shape().type, [&]<typename T>() {
    if constexpr (std::is_same_v<T, bool> || hlo::kIsSmallInt<T>) {
      for (T& value : literal.data<T>()) {
        int8_t byte;
        std::memcpy(&byte, &value, 1);
        if constexpr (std::is_same_v<T, bool>) byte = byte != 0;
        const T clean = static_cast<T>(byte);
        std::memcpy(&value, &clean, 1);
      }
    } else if constexpr (hlo::kIsSmallFloat<T>) {
      const int bits = hlo::Info(hlo::kPrimitiveTypeOf<T>).bits;
      if (bits >= 8) return;
      for (T& value : literal.data<T>()) value = T::FromBits(value.bits() & ((1 << bits) - 1));
    }
  });
}

// Returns a list whose elements are all integers of one type, or all bools, as Integers; else nullopt.
std::optional<Attribute> AsIntegers(const std::vector<Attribute>& list) {
  if (list.empty()) return std::nullopt;
  Integers integers;
  for (const Attribute& element : list) {
    if (element.type != list[0].type) return std::nullopt;
    if (const auto* integer = std::get_if<int64_t>(&element.value)) {
      integers.push_back(*integer);
    } else if (const auto* flag = std::get_if<bool>(&element.value)) {
      integers.push_back(*flag);
    } else {
      return std::nullopt;
    }
  }
  return Attribute{.value = std::move(integers), .type = list[0].type};
}

}  // namespace

Integers ElementsOf(const Literal& literal) {
  Integers integers;
  hlo::VisitType(literal.shape().type, [&]<typename T>() {
    if constexpr (std::is_integral_v<T>) integers.assign(literal.data<T>().begin(), literal.data<T>().end());
    if constexpr (hlo::kIsSmallInt<T>) {
      for (const T value : literal.data<T>()) integers.push_back(static_cast<int>(value));
    }
  });
  return integers;
}

absl::StatusOr<Literal> LiteralFromBytes(const Type& type, std::string_view bytes) {
  const std::optional<int64_t> size = hlo::ByteSize(type), count = hlo::ElementCount(type);
  if (!type.IsArray() || type.HasDynamicDimension() || !size || !count)
    return InvalidArgument("literals of the type %s are not supported", hlo::ToString(type));
  const bool is_whole = bytes.size() == static_cast<uint64_t>(*size);
  const bool is_packed =
      type.type == hlo::kPred && !is_whole && bytes.size() == (static_cast<uint64_t>(*count) + 7) / 8;
  const bool is_splat = bytes.size() == static_cast<size_t>(hlo::ByteWidth(type.type));
  if (!is_whole && !is_packed && !is_splat)
    return InvalidArgument("%d bytes do not fit the elements of %s", bytes.size(), hlo::ToString(type));
  ASSIGN_OR_RETURN(Literal literal, Literal::Make(type, INT64_MAX));
  if (*count == 0) return literal;
  if (is_packed) {
    for (int64_t i = 0; i < *count; ++i) literal.data<bool>()[i] = ((bytes[i / 8] >> (i % 8)) & 1) != 0;
    return literal;
  }
  std::memcpy(literal.bytes().data(), bytes.data(), bytes.size());
  if (!is_whole) RepeatFirst(literal);
  Clean(literal);
  return literal;
}

bool IsLargeSplat(const Type& type) {
  if (!type.IsArray() || type.HasDynamicDimension()) return false;
  return hlo::ByteSize(type).value_or(0) > kExpandedBytesMax;
}

absl::StatusOr<Splat> SplatFromBytes(const Type& type, std::string_view bytes) {
  ASSIGN_OR_RETURN(Literal element, LiteralFromBytes(Type::Scalar(type.type), bytes));
  return Splat{std::move(element), type};
}

bool IsOneValue(const Literal& literal) {
  const auto width = static_cast<size_t>(hlo::ByteWidth(literal.shape().type));
  const absl::Span<const std::byte> bytes = literal.bytes();
  return bytes.size() >= width && std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0;
}

void RepeatFirst(Literal& literal) {
  const size_t width = hlo::ByteWidth(literal.shape().type);
  std::byte* const data = literal.bytes().data();
  const size_t size = literal.bytes().size();
  for (size_t filled = width; filled < size; filled *= 2)
    std::memcpy(data + filled, data, std::min(filled, size - filled));
}

void MakeIntegers(Attribute& attribute) {
  if (const auto* literal = std::get_if<Literal>(&attribute.value)) {
    const hlo::PrimitiveType type = literal->shape().type;
    if (literal->shape().rank() == 1 && (hlo::IsInteger(type) || type == hlo::kPred))
      attribute = {.value = ElementsOf(*literal), .type = type};
  } else if (auto* list = std::get_if<std::vector<Attribute>>(&attribute.value)) {
    for (Attribute& element : *list) MakeIntegers(element);
    if (std::optional<Attribute> integers = AsIntegers(*list)) attribute = *std::move(integers);
  } else if (auto* map = std::get_if<std::shared_ptr<AttributeMap>>(&attribute.value)) {
    for (auto& [name, element] : **map) MakeIntegers(element);
  }
}

}  // namespace hlod::stablehlo
