// One function per alternative of the variant. Dictionaries are in the order of their keys, as in MLIR.
#include "client/import/program/attribute_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/import/program/dense_text.h"
#include "common/base/text/strings.h"
#include "common/hlo/text/text.h"

namespace hlod::stablehlo {
namespace {

// Bounds nested lists and dictionaries: the readers allow this depth and no more.
constexpr int kDepthMax = 64;

std::string FloatText(double value, hlo::PrimitiveType type) {
  const bool single = type != hlo::kF64;
  const auto same = [&](const std::string& text) {
    const double back = std::strtod(text.c_str(), nullptr);
    return single ? static_cast<float>(back) == static_cast<float>(value) : back == value;
  };
  std::string text = absl::StrFormat("%.6e", value);
  if (!same(text)) text = absl::StrFormat("%.*g", single ? 9 : 17, value);
  // Without a point the number would be an integer.
  if (text.find('.') == text.npos) text = absl::StrFormat("%.*e", single ? 8 : 16, value);
  return text;
}

std::string KeyText(const std::string& key) {
  const bool bare = !key.empty() && std::ranges::all_of(key, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '$';
  });
  return bare && std::isdigit(static_cast<unsigned char>(key[0])) == 0 ? key : Quoted(key);
}

std::string Typed(std::string text, hlo::PrimitiveType type) {
  return type == hlo::kInvalid ? text : absl::StrCat(text, " : ", ElementTypeText(type));
}

std::string ListText(const Attribute& attribute, int depth);

std::string MapText(const AttributeMap& attributes, int depth) {
  if (depth > kDepthMax) return "{...}";
  std::vector<std::string> entries;
  for (const auto& [key, value] : attributes) {
    const bool says_nothing = std::holds_alternative<std::monostate>(value.value);
    entries.push_back(says_nothing ? KeyText(key)
                                   : absl::StrCat(KeyText(key), " = ", ListText(value, depth + 1)));
  }
  return absl::StrCat("{", absl::StrJoin(entries, ", "), "}");
}

struct Printer {
  const Attribute& attribute;
  int depth;

  std::string operator()(std::monostate) const { return "unit"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return Typed(absl::StrCat(value), attribute.type); }
  std::string operator()(double value) const {
    return Typed(FloatText(value, attribute.type), attribute.type);
  }
  std::string operator()(const std::string& text) const { return Quoted(text); }
  std::string operator()(const Word& word) const { return word.text; }
  std::string operator()(const Symbol& symbol) const { return absl::StrCat("@", symbol.name); }
  std::string operator()(const Integers& values) const {
    const std::string type = ElementTypeText(attribute.type == hlo::kInvalid ? hlo::kS64 : attribute.type);
    if (values.empty()) return absl::StrCat("array<", type, ">");
    return absl::StrCat("array<", type, ": ", absl::StrJoin(values, ", "), ">");
  }
  std::string operator()(const hlo::Literal& literal) const { return DenseText(literal); }
  std::string operator()(const Splat& splat) const { return DenseText(splat); }
  std::string operator()(const Type& type) const { return TypeText(type); }
  std::string operator()(const FunctionType& type) const {
    const auto append = [](std::string* out, const Type& one) { out->append(TypeText(one)); };
    return absl::StrCat("(", absl::StrJoin(type.inputs, ", ", append), ") -> (",
                        absl::StrJoin(type.results, ", ", append), ")");
  }
  std::string operator()(const std::vector<Attribute>& list) const {
    if (depth > kDepthMax) return "[...]";
    return absl::StrCat("[",
                        absl::StrJoin(list, ", ",
                                      [&](std::string* out, const Attribute& element) {
                                        out->append(ListText(element, depth + 1));
                                      }),
                        "]");
  }
  std::string operator()(const std::shared_ptr<AttributeMap>& map) const {
    return map == nullptr ? "{}" : MapText(*map, depth);
  }
};

std::string ListText(const Attribute& attribute, int depth) {
  return std::visit(Printer{attribute, depth}, attribute.value);
}

}  // namespace

std::string ElementTypeText(hlo::PrimitiveType type) {
  if (type == hlo::kPred) return "i1";
  if (hlo::IsSigned(type)) return absl::StrCat("i", hlo::Info(type).bits);
  if (hlo::IsUnsigned(type)) return absl::StrCat("ui", hlo::Info(type).bits);
  if (hlo::IsComplex(type)) return absl::StrCat("complex<f", hlo::Info(type).bits / 2, ">");
  const std::string name(hlo::Name(type));
  return name.starts_with("f8") || name.starts_with("f6") || name.starts_with("f4")
             ? absl::StrCat(name.substr(0, 2), absl::AsciiStrToUpper(name.substr(2)))
             : name;
}

std::string TypeText(const Type& type) {
  if (type.IsToken()) return "!stablehlo.token";
  if (type.IsTuple()) {
    return absl::StrCat(
        "tuple<",
        absl::StrJoin(type.tuple, ", ",
                      [](std::string* out, const Type& element) { *out += TypeText(element); }),
        ">");
  }
  if (!type.IsArray()) return hlo::ToStringNoLayout(type);
  std::string text = "tensor<", bounds;
  bool is_bounded = false;
  for (int i = 0; i < type.rank(); ++i) {
    const bool is_dynamic = type.IsDynamic(i), has_bound = is_dynamic && type.dims[i] != hlo::kUnboundedSize;
    is_bounded |= has_bound;
    absl::StrAppend(&text, is_dynamic ? "?" : absl::StrCat(type.dims[i]), "x");
    absl::StrAppend(&bounds, i > 0 ? ", " : "", has_bound ? absl::StrCat(type.dims[i]) : "?");
  }
  text += ElementTypeText(type.type);
  if (is_bounded) absl::StrAppend(&text, ", #stablehlo.bounds<", bounds, ">");
  return text + ">";
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const unsigned char c : text) {
    if (c == '\\') {
      quoted += "\\\\";
    } else if (c == '"' || c < 0x20 || c >= 0x7f) {
      absl::StrAppendFormat(&quoted, "\\%02X", c);
    } else {
      quoted += static_cast<char>(c);
    }
  }
  return quoted + "\"";
}

std::string TextOf(const Attribute& attribute) { return ListText(attribute, 0); }
std::string TextOf(const AttributeMap& attributes) { return MapText(attributes, 0); }

std::string PlainText(const Attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute.value)) return *text;
  if (const auto* symbol = std::get_if<Symbol>(&attribute.value)) return symbol->name;
  return TextOf(attribute);
}

}  // namespace hlod::stablehlo
