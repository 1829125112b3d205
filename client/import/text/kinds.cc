// One function per kind, and their table.
#include "client/import/text/kinds.h"

#include <charconv>

#include "absl/strings/str_cat.h"
#include "client/import/text/attributes/attributes.h"
#include "client/import/text/attributes/dense.h"
#include "client/import/text/attributes/structures.h"

namespace hlod::stablehlo::text {
namespace {

// Adds an attribute that was read at position `at`.
absl::Status Add(Source& source, PartialOperation& draft, std::string_view name, size_t at,
                 absl::StatusOr<Attribute> attribute) {
  RETURN_IF_ERROR(attribute.status());
  return Put(source, draft.operation.name, name, *std::move(attribute), at, draft.operation.attributes);
}

template <hlo::PrimitiveType kType>
absl::Status ReadNumber(Source& source, std::string_view name, PartialOperation& draft) {
  const size_t at = source.reader.position();
  ASSIGN_OR_RETURN(const int64_t value, ReadInteger(source.reader, kType));
  return Add(source, draft, name, at, Attribute{.value = value, .type = kType});
}

absl::Status ReadIntegerList(Source& source, std::string_view name, PartialOperation& draft) {
  const size_t at = source.reader.position();
  return Add(source, draft, name, at, ReadIntegers(source));
}

absl::Status ReadBool(Source& source, std::string_view name, PartialOperation& draft) {
  const size_t at = source.reader.position();
  const bool value = source.reader.TryKeyword("true");
  if (!value && !source.reader.TryKeyword("false")) return source.reader.Expected("true or false");
  return Add(source, draft, name, at, Attribute{.value = value, .type = hlo::kPred});
}

absl::Status ReadWord(Source& source, std::string_view name, PartialOperation& draft) {
  const size_t at = source.reader.position();
  ASSIGN_OR_RETURN(const std::string_view word, source.reader.BareWord(name));
  return Add(source, draft, name, at, Attribute{Word{std::string(word)}});
}

absl::Status ReadWordList(Source& source, std::string_view name, PartialOperation& draft) {
  const size_t at = source.reader.position();
  return Add(source, draft, name, at, ReadWords(source));
}

absl::Status ReadText(Source& source, std::string_view name, PartialOperation& draft) {
  const size_t at = source.reader.position();
  ASSIGN_OR_RETURN(std::string text, source.reader.String());
  return Add(source, draft, name, at, Attribute{std::move(text)});
}

absl::Status ReadSymbol(Source& source, std::string_view name, PartialOperation& draft) {
  const size_t at = source.reader.position();
  ASSIGN_OR_RETURN(std::string symbol, source.reader.SymbolName());
  return Add(source, draft, name, at, Attribute{Symbol{std::move(symbol)}});
}

// Reads @name for an attribute that is a string. Old text has "name".
absl::Status ReadSymbolText(Source& source, std::string_view name, PartialOperation& draft) {
  if (source.reader.Peek() == '"') return ReadText(source, name, draft);
  const size_t at = source.reader.position();
  ASSIGN_OR_RETURN(std::string symbol, source.reader.SymbolName());
  return Add(source, draft, name, at, Attribute{std::move(symbol)});
}

absl::Status ReadLiteral(Source& source, std::string_view name, PartialOperation& draft) {
  const size_t at = (source.reader.SkipBlanks(), source.reader.position());
  ASSIGN_OR_RETURN(Attribute value, ReadAttribute(source));
  if (!std::holds_alternative<hlo::Literal>(value.value) && !std::holds_alternative<Splat>(value.value))
    return source.reader.ErrorAt(at, "expected the elements of a tensor: dense<...>");
  return Add(source, draft, name, at, std::move(value));
}

absl::Status ReadConvolution(Source& source, std::string_view name, PartialOperation& draft) {
  const size_t at = source.reader.position();
  return Add(source, draft, name, at, ReadConvolutionDimensions(source));
}

absl::Status ReadDotAlgorithm(Source& source, std::string_view name, PartialOperation& draft) {
  const size_t at = source.reader.position();
  return Add(source, draft, name, at, ReadStructure(source, "stablehlo.dot_algorithm"));
}

// Reads "e5m10".
absl::Status ReadReducedFormat(Source& source, std::string_view name, PartialOperation& draft) {
  const size_t at = (source.reader.SkipBlanks(), source.reader.position());
  ASSIGN_OR_RETURN(const std::string_view word, source.reader.BareWord("a format (e5m10)"));
  const char* const end = word.data() + word.size();
  int32_t exponent = 0, mantissa = 0;
  const std::from_chars_result first = std::from_chars(word.data() + 1, end, exponent);
  const bool has_both = word[0] == 'e' && first.ec == std::errc() && first.ptr != end && *first.ptr == 'm';
  const std::from_chars_result second = std::from_chars(has_both ? first.ptr + 1 : end, end, mantissa);
  if (!has_both || second.ec != std::errc() || second.ptr != end)
    return source.reader.ErrorAt(at, "expected a format (e5m10), found %s", word);
  RETURN_IF_ERROR(Add(source, draft, "exponent_bits", at,
                      Attribute{.value = static_cast<int64_t>(exponent), .type = hlo::kS32}));
  return Add(source, draft, "mantissa_bits", at,
             Attribute{.value = static_cast<int64_t>(mantissa), .type = hlo::kS32});
}

// Reads "[0:4, 1:6:2]".
absl::Status ReadSliceRanges(Source& source, std::string_view name, PartialOperation& draft) {
  Reader& reader = source.reader;
  const size_t at = (reader.SkipBlanks(), reader.position());
  RETURN_IF_ERROR(reader.Expect("["));
  Integers starts, limits, strides;
  while (!reader.Try("]")) {
    if (!starts.empty()) RETURN_IF_ERROR(reader.Expect(","));
    ASSIGN_OR_RETURN(const int64_t start, reader.Integer());
    RETURN_IF_ERROR(reader.Expect(":"));
    ASSIGN_OR_RETURN(const int64_t limit, reader.Integer());
    int64_t stride = 1;
    if (reader.Try(":")) {
      ASSIGN_OR_RETURN(stride, reader.Integer());
    }
    starts.push_back(start);
    limits.push_back(limit);
    strides.push_back(stride);
  }
  const auto add = [&](std::string_view field, Integers& values) {
    return Add(source, draft, field, at, Attribute{.value = std::move(values), .type = hlo::kS64});
  };
  RETURN_IF_ERROR(add("start_indices", starts));
  RETURN_IF_ERROR(add("limit_indices", limits));
  return add("strides", strides);
}

// Reads "[[1, 0], [-1, 2]]" as [n, 2] integers.
absl::StatusOr<Attribute> ReadPadding(Source& source) {
  Reader& reader = source.reader;
  RETURN_IF_ERROR(reader.Expect("["));
  std::vector<int64_t> amounts;
  while (!reader.Try("]")) {
    if (!amounts.empty()) RETURN_IF_ERROR(reader.Expect(","));
    const size_t at = (reader.SkipBlanks(), reader.position());
    ASSIGN_OR_RETURN(const Attribute pair, ReadIntegers(source));
    const Integers& values = std::get<Integers>(pair.value);
    if (values.size() != 2) return reader.ErrorAt(at, "expected a padding of two numbers: [low, high]");
    amounts.insert(amounts.end(), values.begin(), values.end());
  }
  hlo::Literal padding(hlo::Shape::Array(hlo::kS64, {static_cast<int64_t>(amounts.size() / 2), 2}));
  std::copy(amounts.begin(), amounts.end(), padding.data<int64_t>().begin());
  return Attribute{std::move(padding)};
}

// Reads "{stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse =
// [false, false]}".
absl::Status ReadWindow(Source& source, std::string_view name, PartialOperation& draft) {
  Reader& reader = source.reader;
  RETURN_IF_ERROR(reader.Expect("{"));
  for (bool is_first = true; !reader.Try("}"); is_first = false) {
    if (!is_first) RETURN_IF_ERROR(reader.Expect(","));
    const size_t at = (reader.SkipBlanks(), reader.position());
    ASSIGN_OR_RETURN(const std::string_view field,
                     reader.BareWord("stride, pad, lhs_dilate, rhs_dilate, reverse or '}'"));
    RETURN_IF_ERROR(reader.Expect("="));
    if (field == "stride") {
      RETURN_IF_ERROR(Add(source, draft, "window_strides", at, ReadIntegers(source)));
    } else if (field == "pad") {
      RETURN_IF_ERROR(Add(source, draft, "padding", at, ReadPadding(source)));
    } else if (field == "lhs_dilate") {
      RETURN_IF_ERROR(Add(source, draft, "lhs_dilation", at, ReadIntegers(source)));
    } else if (field == "rhs_dilate") {
      RETURN_IF_ERROR(Add(source, draft, "rhs_dilation", at, ReadIntegers(source)));
    } else if (field == "reverse") {
      RETURN_IF_ERROR(Add(source, draft, "window_reversal", at, ReadIntegers(source, hlo::kPred)));
    } else {
      return reader.ErrorAt(at, "expected stride, pad, lhs_dilate, rhs_dilate or reverse, found %s", field);
    }
  }
  return absl::OkStatus();
}

// Shardy's attributes are kept as text of the generic form: `before`, the bracketed text, `after`.
struct ShardyText {
  char bracket;
  std::string_view before, after;
};
constexpr ShardyText kSharding{'<', "#sdy.sharding", ""}, kShardings{'[', "#sdy.sharding_per_value<", ">"},
    kManualAxes{'{', "#sdy<manual_axes", ">"}, kMesh{'<', "#sdy.mesh", ""},
    kAxisList{'{', "#sdy<axis_ref_list", ">"}, kAxisLists{'[', "#sdy<list_of_axis_ref_lists", ">"},
    kAllToAll{'[', "#sdy<all_to_all_param_list", ">"};
template <const ShardyText& kText>
absl::Status ReadShardy(Source& source, std::string_view name, PartialOperation& draft) {
  const size_t at = source.reader.position();
  if (source.reader.Peek() == '#') return Add(source, draft, name, at, ReadAttribute(source));
  ASSIGN_OR_RETURN(const std::string_view body, source.reader.Balanced(kText.bracket));
  return Add(source, draft, name, at,
             Attribute{Word{absl::StrCat(ToAbsl(kText.before), ToAbsl(body), ToAbsl(kText.after))}});
}

struct Kind {
  std::string_view name;
  ReadKind read;
};
constexpr Kind kKinds[] = {
    {"i32", ReadNumber<hlo::kS32>},
    {"i64", ReadNumber<hlo::kS64>},
    {"integers", ReadIntegerList},
    {"bool", ReadBool},
    {"word", ReadWord},
    {"words", ReadWordList},
    {"string", ReadText},
    {"symbol", ReadSymbol},
    {"symbol-text", ReadSymbolText},
    {"literal", ReadLiteral},
    {"convolution", ReadConvolution},
    {"window", ReadWindow},
    {"dot-algorithm", ReadDotAlgorithm},
    {"reduced-format", ReadReducedFormat},
    {"slice-ranges", ReadSliceRanges},
    {"sharding", ReadShardy<kSharding>},
    {"shardings", ReadShardy<kShardings>},
    {"manual-axes", ReadShardy<kManualAxes>},
    {"mesh", ReadShardy<kMesh>},
    {"axis-list", ReadShardy<kAxisList>},
    {"axis-lists", ReadShardy<kAxisLists>},
    {"all-to-all", ReadShardy<kAllToAll>},
};

}  // namespace

ReadKind FindKind(std::string_view kind) {
  for (const Kind& row : kKinds) {
    if (row.name == kind) return row.read;
  }
  return nullptr;
}

}  // namespace hlod::stablehlo::text
