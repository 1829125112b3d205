// Decodes recorded arguments.
#include "tests/unit/client/tensor/operation/arguments.h"

#include <limits>
#include <sstream>
#include <stdexcept>

namespace hlod {
namespace {

using nlohmann::json;

const json kNull;

[[noreturn]] void Fail(const std::string& text) { throw std::runtime_error(text); }

Scalar DecodeScalar(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_object() && value.contains("complex")) {
    return std::complex<double>(DecodeNumber(value["complex"][0]), DecodeNumber(value["complex"][1]));
  }
  return DecodeNumber(value);
}

PrimitiveType DecodeType(const std::string& name) {
  const std::optional<PrimitiveType> type = hlo::ParsePrimitiveType(name);
  if (!type.has_value()) Fail("unknown type " + name);
  return *type;
}

}  // namespace

bool IsArray(const json& value) { return value.is_object() && value.contains("values"); }

double DecodeNumber(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number()) return value.get<double>();
  const std::string text =
      value.is_object() ? value.at("float").get<std::string>() : value.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return (text == "-inf" ? -1 : 1) * std::numeric_limits<double>::infinity();
}

Literal DecodeLiteral(const json& record) {
  const PrimitiveType type = DecodeType(record.at("type"));
  const std::vector<int64_t> sizes = record.at("dims");
  const json& values = record.at("values");
  const Dims dims(sizes.begin(), sizes.end());
  if (hlo::IsComplex(type)) {
    Literal exact(Shape::Array(hlo::kC128, dims));
    const absl::Span<std::complex<double>> data = exact.data<std::complex<double>>();
    for (size_t i = 0; i < data.size(); ++i) {
      data[i] = {DecodeNumber(values.at(2 * i)), DecodeNumber(values.at(2 * i + 1))};
    }
    return hlo::Convert(exact, type).value();
  }
  if (hlo::IsFloat(type)) {
    Literal exact(Shape::Array(hlo::kF64, dims));
    const absl::Span<double> data = exact.data<double>();
    for (size_t i = 0; i < data.size(); ++i) data[i] = DecodeNumber(values.at(i));
    return hlo::Convert(exact, type).value();
  }
  Literal exact(Shape::Array(hlo::kS64, dims));
  const absl::Span<int64_t> data = exact.data<int64_t>();
  for (size_t i = 0; i < data.size(); ++i) data[i] = values.at(i).get<int64_t>();
  return hlo::Convert(exact, type).value();
}

Arguments::Arguments(const json& record, const std::string& names, const Device& device)
    : positional_(record.at("args")), device_(device) {
  std::vector<std::string> parameters;
  std::istringstream words(names);
  for (std::string word; words >> word;) parameters.push_back(word);
  for (size_t i = 0; i < positional_.size(); ++i) {
    if (i < parameters.size()) given_[parameters[i]] = &positional_[i];
  }
  for (const auto& [name, value] : record.at("kwargs").items()) given_[name] = &value;
  if (parameters.size() < positional_.size())
    given_["argument " + std::to_string(parameters.size())] = nullptr;
}

const json* Arguments::Find(const std::string& name) const {
  const auto found = given_.find(name);
  return found == given_.end() || found->second->is_null() ? nullptr : found->second;
}
bool Arguments::Has(const std::string& name) const { return Find(name) != nullptr; }

const json& Arguments::Json(const std::string& name) {
  used_.insert(name);
  const json* value = Find(name);
  return value == nullptr ? kNull : *value;
}
const json& Arguments::Get(const std::string& name) {
  const json& value = Json(name);
  if (value.is_null()) Fail("argument " + name + " is missing");
  return value;
}

Tensor Arguments::Decode(const json& value) {
  if (!IsArray(value)) Fail("not a tensor: " + value.dump());
  Literal literal = DecodeLiteral(value);
  Tensor tensor = device_ == Device() ? FromLiteral(std::move(literal), Device())
                                      : FromLiteral(std::move(literal), device_);
  if (wanted_.count(&value) != 0) {
    tensor.RequiresGrad_();
    leaves_.emplace(&value, tensor);
  }
  return tensor;
}

Tensor Arguments::Array(const std::string& name) {
  const json& value = Json(name);
  return value.is_null() ? Tensor() : Decode(value);
}
Operand Arguments::Arg(const std::string& name) {
  const json& value = Get(name);
  if (!IsArray(value)) return DecodeScalar(value);
  return tensors_.emplace_back(Decode(value));
}
std::optional<Operand> Arguments::MaybeArg(const std::string& name) {
  if (Json(name).is_null()) return std::nullopt;
  return Arg(name);
}
std::vector<Tensor> Arguments::Arrays(const std::string& name) {
  const json& value = Get(name);
  if (IsArray(value)) return {Decode(value)};
  std::vector<Tensor> list;
  for (const json& one : value) list.push_back(Decode(one));
  return list;
}
std::optional<Scalar> Arguments::MaybeNumber(const std::string& name) {
  const json& value = Json(name);
  if (value.is_null()) return std::nullopt;
  return DecodeScalar(value);
}
Scalar Arguments::Number(const std::string& name, std::optional<Scalar> absent) {
  if (absent.has_value() && !Has(name)) return used_.insert(name), *absent;
  return DecodeScalar(Get(name));
}
double Arguments::Double(const std::string& name, std::optional<double> absent) {
  if (absent.has_value() && !Has(name)) return used_.insert(name), *absent;
  return DecodeNumber(Get(name));
}
int64_t Arguments::Int(const std::string& name, std::optional<int64_t> absent) {
  return MaybeInt(name).value_or(absent.value_or(0)) +
         (absent.has_value() || Has(name) ? 0 : Get(name).get<int64_t>());
}
std::optional<int64_t> Arguments::MaybeInt(const std::string& name) {
  const json& value = Json(name);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number_integer()) Fail(name + " is not an integer: " + value.dump());
  return value.get<int64_t>();
}
bool Arguments::Bool(const std::string& name, std::optional<bool> absent) {
  if (absent.has_value() && !Has(name)) return used_.insert(name), *absent;
  const json& value = Get(name);
  return value.is_boolean() ? value.get<bool>() : value.get<int64_t>() != 0;
}
std::string Arguments::Text(const std::string& name, std::optional<std::string> absent) {
  if (absent.has_value() && !Has(name)) return used_.insert(name), *absent;
  return Get(name).get<std::string>();
}
std::optional<Dims> Arguments::MaybeInts(const std::string& name) {
  const json& value = Json(name);
  if (value.is_null()) return std::nullopt;
  if (value.is_number_integer()) return Dims{value.get<int64_t>()};
  if (!value.is_array()) Fail(name + " is not a list of integers: " + value.dump());
  Dims list;
  for (const json& one : value) list.push_back(one.get<int64_t>());
  return list;
}
Dims Arguments::Ints(const std::string& name, std::optional<Dims> absent) {
  std::optional<Dims> given = MaybeInts(name);
  if (given.has_value()) return *std::move(given);
  if (!absent.has_value()) Get(name);
  return *std::move(absent);
}
std::vector<double> Arguments::Doubles(const std::string& name, std::optional<std::vector<double>> absent) {
  if (absent.has_value() && !Has(name)) return used_.insert(name), *absent;
  const json& value = Get(name);
  if (!value.is_array()) return {DecodeNumber(value)};
  std::vector<double> list;
  for (const json& one : value) list.push_back(DecodeNumber(one));
  return list;
}
std::optional<PrimitiveType> Arguments::Type(const std::string& name) {
  const json& value = Json(name);
  if (value.is_null()) return std::nullopt;
  return DecodeType(value.at("dtype"));
}

std::vector<Tensor> Arguments::RestOfTensors(size_t from) {
  std::vector<Tensor> list;
  for (size_t i = from; i < positional_.size(); ++i) list.push_back(Decode(positional_[i]));
  for (const auto& [name, value] : given_) {
    for (size_t i = from; i < positional_.size(); ++i) {
      if (value == &positional_[i] || value == nullptr) used_.insert(name);
    }
  }
  return list;
}
Dims Arguments::RestOfInts(size_t from) {
  Dims list;
  for (size_t i = from; i < positional_.size(); ++i) list.push_back(positional_[i].get<int64_t>());
  for (const auto& [name, value] : given_) {
    for (size_t i = from; i < positional_.size(); ++i) {
      if (value == &positional_[i] || value == nullptr) used_.insert(name);
    }
  }
  return list;
}

void Arguments::End() const {
  for (const auto& [name, value] : given_) {
    if (used_.count(name) == 0 && (value == nullptr || !value->is_null())) {
      Fail("argument " + name + " was not used" +
           (value == nullptr ? "" : ": " + value->dump().substr(0, 60)));
    }
  }
}

}  // namespace hlod
