// Builds dictionaries of attributes from MLIR's text.
#include "client/pjrt/ffi/attributes.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "client/import/import.h"
#include "client/import/program/attribute_text.h"
#include "common/base/errors/status.h"

namespace hlod::pjrt::ffi {
namespace {

using hlo::PrimitiveType;

// Appends a number in the form of its type, whose bytes are little-endian.
absl::Status AppendInteger(int64_t value, PrimitiveType type, std::string& bytes) {
  const PrimitiveType stated = type == hlo::kInvalid ? hlo::kS64 : type;
  if (hlo::IsFloat(stated) || hlo::IsComplex(stated))
    return InvalidArgument("The attribute %d is not of type %s.", value, hlo::Info(stated).name);
  bytes.append(reinterpret_cast<const char*>(&value), static_cast<size_t>(hlo::ByteWidth(stated)));
  return absl::OkStatus();
}

absl::Status AppendFloat(double value, PrimitiveType type, std::string& bytes) {
  if (type == hlo::kF64 || type == hlo::kInvalid) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  } else if (type == hlo::kF32) {
    const auto narrow = static_cast<float>(value);
    bytes.append(reinterpret_cast<const char*>(&narrow), sizeof(narrow));
  } else {
    return Unimplemented("A number of type %s as an attribute of a foreign function.", hlo::Info(type).name);
  }
  return absl::OkStatus();
}

std::string_view DenseBytes(const hlo::Literal& literal) {
  return {reinterpret_cast<const char*>(literal.bytes().data()), literal.bytes().size()};
}

// Returns the bytes of all elements of an array of one repeated element.
absl::StatusOr<std::string> Repeated(const stablehlo::Splat& splat, const std::string& name) {
  constexpr int64_t kBytesMax = int64_t{1} << 30;
  const std::optional<int64_t> size = hlo::ByteSize(splat.type);
  if (!size.has_value() || *size > kBytesMax) {
    return Unimplemented("The attribute %s of a foreign function is %s, which has more than %d bytes.", name,
                         hlo::ToString(splat.type), kBytesMax);
  }
  const std::string_view element = DenseBytes(splat.element);
  std::string bytes;
  bytes.reserve(static_cast<size_t>(*size));
  while (bytes.size() < static_cast<size_t>(*size)) bytes += element;
  return bytes;
}

}  // namespace

ByteSpan* CallAttributes::Keep(std::string_view text) {
  const std::string& kept = *KeepBytes(std::string(text));
  return &spans_.emplace_back(ByteSpan{kept.data(), kept.size()});
}

absl::Status CallAttributes::Add(const std::string& name, const stablehlo::Attribute& attribute,
                                 Dictionary& dictionary) {
  const auto add = [&](AttributeType type, void* value) {
    dictionary.names.push_back(Keep(name));
    dictionary.types.push_back(type);
    dictionary.values.push_back(value);
    return absl::OkStatus();
  };
  const auto scalar = [&](PrimitiveType type, std::string bytes) {
    return add(AttributeType::kScalar,
               &scalars_.emplace_back(Scalar{static_cast<int>(type), KeepBytes(std::move(bytes))->data()}));
  };
  const auto array = [&](PrimitiveType type, size_t size, std::string bytes) {
    return add(AttributeType::kArray, &arrays_.emplace_back(Array{static_cast<int>(type), size,
                                                                  KeepBytes(std::move(bytes))->data()}));
  };
  std::string bytes;
  if (const bool* const truth = std::get_if<bool>(&attribute.value))
    return scalar(hlo::kPred, std::string(1, *truth ? '\1' : '\0'));
  if (const int64_t* const number = std::get_if<int64_t>(&attribute.value)) {
    RETURN_IF_ERROR(AppendInteger(*number, attribute.type, bytes));
    return scalar(attribute.type == hlo::kInvalid ? hlo::kS64 : attribute.type, std::move(bytes));
  }
  if (const double* const number = std::get_if<double>(&attribute.value)) {
    RETURN_IF_ERROR(AppendFloat(*number, attribute.type, bytes));
    return scalar(attribute.type == hlo::kInvalid ? hlo::kF64 : attribute.type, std::move(bytes));
  }
  if (const std::string* const text = std::get_if<std::string>(&attribute.value))
    return add(AttributeType::kString, Keep(*text));
  if (const auto* const numbers = std::get_if<stablehlo::Integers>(&attribute.value)) {
    for (const int64_t number : *numbers) RETURN_IF_ERROR(AppendInteger(number, attribute.type, bytes));
    return array(attribute.type == hlo::kInvalid ? hlo::kS64 : attribute.type, numbers->size(),
                 std::move(bytes));
  }
  if (const auto* const literal = std::get_if<hlo::Literal>(&attribute.value)) {
    return array(literal->shape().type, static_cast<size_t>(*hlo::ElementCount(literal->shape())),
                 std::string(DenseBytes(*literal)));
  }
  if (const auto* const splat = std::get_if<stablehlo::Splat>(&attribute.value)) {
    ASSIGN_OR_RETURN(std::string repeated, Repeated(*splat, name));
    return array(splat->type.type, static_cast<size_t>(*hlo::ElementCount(splat->type)), std::move(repeated));
  }
  if (const stablehlo::AttributeMap* const map = stablehlo::MapOf(&attribute)) {
    ASSIGN_OR_RETURN(Attributes* const inner, Add(*map));
    return add(AttributeType::kDictionary, inner);
  }
  return Unimplemented("The attribute %s = %s of a foreign function.", name, stablehlo::TextOf(attribute));
}

absl::StatusOr<Attributes*> CallAttributes::Add(const stablehlo::AttributeMap& map) {
  Dictionary& dictionary = dictionaries_.emplace_back();
  // The map is in the order of names, in which handlers look names up.
  for (const auto& [name, attribute] : map) {
    const auto* const numbers = std::get_if<stablehlo::Integers>(&attribute.value);
    if (name == kAliases && numbers != nullptr) {
      aliases_ = *numbers;
    } else {
      RETURN_IF_ERROR(Add(name, attribute, dictionary));
    }
  }
  Attributes& attributes = dictionary.attributes;
  attributes.struct_size = sizeof(attributes);
  attributes.size = static_cast<int64_t>(dictionary.names.size());
  attributes.types = dictionary.types.data();
  attributes.names = dictionary.names.data();
  attributes.values = dictionary.values.data();
  return &attributes;
}

absl::StatusOr<std::unique_ptr<CallAttributes>> CallAttributes::Read(std::string_view text) {
  auto read = std::make_unique<CallAttributes>();
  const std::string program = "module attributes {config = " + std::string(text.empty() ? "{}" : text) +
                              "} {\n  func.func public @main() {\n    return\n  }\n}\n";
  ASSIGN_OR_RETURN(const stablehlo::Program parsed, stablehlo::ParseText(program));
  const stablehlo::AttributeMap* const map = stablehlo::MapOf(stablehlo::Find(parsed.attributes, "config"));
  if (map == nullptr)
    return InvalidArgument("The attributes of a foreign function are not a dictionary: %s.", text);
  ASSIGN_OR_RETURN(read->root_, read->Add(*map));
  return read;
}

}  // namespace hlod::pjrt::ffi
