// The table of the attributes that the IR models: their names, order and spelling in HLO text, for parser and printer alike.
#include <array>
#include <charconv>
#include <type_traits>

#include "absl/strings/ascii.h"
#include "common/base/strings.h"
#include "common/hlo/codec_internal.h"
#include "common/hlo/text_internal.h"

namespace hlod::hlo::text {
namespace {

using absl::OkStatus;
using absl::Status;
using absl::StrAppend;

// ---- Values by their type: Read(lexer, value) and Print(value, out).

Status Read(Lexer& lexer, int64_t& value) {
  ASSIGN_OR_RETURN(value, lexer.Integer());
  return OkStatus();
}
Status Read(Lexer& lexer, int32_t& value) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const int64_t wide, lexer.Integer());
  if (wide < INT32_MIN || wide > INT32_MAX) return lexer.ErrorAt(at, "%d does not fit 32 bits", wide);
  value = static_cast<int32_t>(wide);
  return OkStatus();
}
Status Read(Lexer& lexer, bool& value) {
  ASSIGN_OR_RETURN(value, lexer.Bool());
  return OkStatus();
}
Status Read(Lexer& lexer, double& value) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size()) return OkStatus();
  return lexer.ErrorAt(at, "\"%s\" is no number", word);
}
Status Read(Lexer& lexer, float& value) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size()) return OkStatus();
  return lexer.ErrorAt(at, "\"%s\" is no number", word);
}
Status Read(Lexer& lexer, Dims& value) {
  ASSIGN_OR_RETURN(value, ReadDims(lexer));
  return OkStatus();
}

void Print(int64_t value, std::string& out) { StrAppend(&out, value); }
void Print(int32_t value, std::string& out) { StrAppend(&out, value); }
void Print(bool value, std::string& out) { out += value ? "true" : "false"; }
template <typename Float>
  requires std::is_floating_point_v<Float>
void Print(Float value, std::string& out) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out.append(buffer, end);
}
void Print(const Dims& value, std::string& out) { out += DimsText(value); }

// Enums: words in the order of their numbers. An empty word is no value.
template <typename Enum>
constexpr std::array<std::string_view, 0> kWords{};
template <>
constexpr std::array<std::string_view, 6> kWords<ComparisonDirection> = {"EQ", "NE", "GE", "GT", "LE", "LT"};
template <>
constexpr std::array<std::string_view, 3> kWords<RandomAlgorithm> = {"rng_default", "rng_three_fry", "rng_philox"};
template <>
constexpr std::array<std::string_view, 3> kWords<RandomDistribution> = {"rng_invalid", "rng_uniform", "rng_normal"};
template <>
constexpr std::array<std::string_view, 4> kWords<FftType> = {"FFT", "IFFT", "RFFT", "IRFFT"};

constexpr std::array<std::string_view, 4> kTransposeWords = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
constexpr std::array<std::string_view, 3> kPrecisionWords = {"default", "high", "highest"};

absl::StatusOr<size_t> ReadOneOf(Lexer& lexer, absl::Span<const std::string_view> words) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return i;
  }
  std::string allowed;
  for (const std::string_view known : words) StrAppend(&allowed, allowed.empty() ? "" : ", ", ToAbsl(known));
  return lexer.ErrorAt(at, "\"%s\" is none of %s", word, allowed);
}

template <typename Enum>
  requires std::is_enum_v<Enum>
Status Read(Lexer& lexer, Enum& value) {
  ASSIGN_OR_RETURN(const size_t index, ReadOneOf(lexer, kWords<Enum>));
  value = static_cast<Enum>(index);
  return OkStatus();
}
template <typename Enum>
  requires std::is_enum_v<Enum>
void Print(Enum value, std::string& out) {
  out += kWords<Enum>[static_cast<size_t>(value)];
}

// slice={[0:4:2], [0:8]}: every stride or none, as XLA prints it.
Status Read(Lexer& lexer, SliceAttributes& value) {
  return ReadList(lexer, "{", "}", [&]() -> Status {
    RETURN_IF_ERROR(lexer.Expect("["));
    ASSIGN_OR_RETURN(const int64_t start, lexer.Integer());
    RETURN_IF_ERROR(lexer.Expect(":"));
    ASSIGN_OR_RETURN(const int64_t limit, lexer.Integer());
    int64_t stride = 1;
    if (lexer.Try(":")) {
      ASSIGN_OR_RETURN(stride, lexer.Integer());
    }
    value.start.push_back(start);
    value.limit.push_back(limit);
    value.stride.push_back(stride);
    return lexer.Expect("]");
  });
}
void Print(const SliceAttributes& value, std::string& out) {
  bool strides = false;
  for (int64_t stride : value.stride) strides |= stride != 1;
  out += '{';
  for (size_t i = 0; i < value.start.size(); ++i) {
    StrAppend(&out, i == 0 ? "" : ", ", "[", value.start[i], ":", value.limit[i]);
    if (strides) StrAppend(&out, ":", value.stride[i]);
    out += ']';
  }
  out += '}';
}

// A word of integers between separators: 1_2_0x0_0, 3x3, -1. Calls read(position, numbers) for each part between 'x'.
template <typename ReadPart>
Status ReadParts(Lexer& lexer, ReadPart read) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  Dims numbers;
  size_t part = 0;
  for (const char* p = word.data();; ++p) {
    const char* const end = word.data() + word.size();
    int64_t number;
    const auto [next, error] = std::from_chars(p, end, number);
    if (error != std::errc()) return lexer.ErrorAt(at, "\"%s\" is no list of integers joined by x and _", word);
    numbers.push_back(number);
    p = next;
    if (p != end && *p == '_') continue;
    if (p != end && *p != 'x') return lexer.ErrorAt(at, "\"%s\" is no list of integers joined by x and _", word);
    RETURN_IF_ERROR(read(at, part++, numbers));
    if (p == end) return OkStatus();
    numbers.clear();
  }
}

// padding=1_2_0x0_0: low_high[_interior] of each dimension; the interiors are printed when one of them is not zero.
Status Read(Lexer& lexer, PadAttributes& value) {
  return ReadParts(lexer, [&](size_t at, size_t, const Dims& n) -> Status {
    if (n.size() != 2 && n.size() != 3) return lexer.ErrorAt(at, "a dimension's padding is low_high or low_high_interior");
    value.dimensions.push_back({n[0], n[1], n.size() == 3 ? n[2] : 0});
    return OkStatus();
  });
}
void Print(const PadAttributes& value, std::string& out) {
  bool interior = false;
  for (const PadDimension& d : value.dimensions) interior |= d.interior != 0;
  for (size_t i = 0; i < value.dimensions.size(); ++i) {
    const PadDimension& d = value.dimensions[i];
    StrAppend(&out, i == 0 ? "" : "x", d.low, "_", d.high);
    if (interior) StrAppend(&out, "_", d.interior);
  }
}

// window={size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=2x2 rhs_dilate=1x1 rhs_reversal=0x1}
struct WindowKey {
  std::string_view name;
  int64_t missing;  // What a dimension has when the key is not there.
  int64_t (*get)(const WindowDimension&);
  void (*set)(WindowDimension&, int64_t);
};
constexpr WindowKey kWindowKeys[] = {
    {"size", INT64_MIN, [](const WindowDimension& d) { return d.size; }, [](WindowDimension& d, int64_t n) { d.size = n; }},
    {"stride", 1, [](const WindowDimension& d) { return d.stride; }, [](WindowDimension& d, int64_t n) { d.stride = n; }},
    {"lhs_dilate", 1, [](const WindowDimension& d) { return d.base_dilation; },
     [](WindowDimension& d, int64_t n) { d.base_dilation = n; }},
    {"rhs_dilate", 1, [](const WindowDimension& d) { return d.window_dilation; },
     [](WindowDimension& d, int64_t n) { d.window_dilation = n; }},
    {"rhs_reversal", 0, [](const WindowDimension& d) -> int64_t { return d.reversal; },
     [](WindowDimension& d, int64_t n) { d.reversal = n != 0; }},
};

Status ReadWindowKey(Lexer& lexer, std::string_view key, size_t key_at, Window& window) {
  const auto* row = std::find_if(std::begin(kWindowKeys), std::end(kWindowKeys), [&](const auto& k) { return k.name == key; });
  const bool pad = key == "pad", size = key == "size";
  if (!pad && row == std::end(kWindowKeys)) {
    return lexer.At(key_at, Unimplemented("window has no \"%s\" in this build", key));
  }
  size_t parts = 0;
  RETURN_IF_ERROR(ReadParts(lexer, [&](size_t at, size_t i, const Dims& n) -> Status {
    parts = i + 1;
    if (size && i == window.size()) window.emplace_back();
    if (i >= window.size()) return lexer.ErrorAt(at, "%s has more than the %d dimensions of the window's size", key, window.size());
    if (n.size() != (pad ? 2u : 1u)) return lexer.ErrorAt(at, "%s has %d numbers for a dimension", key, n.size());
    if (pad) {
      window[i].padding_low = n[0];
      window[i].padding_high = n[1];
    } else {
      row->set(window[i], n[0]);
    }
    return OkStatus();
  }));
  if (parts == window.size()) return OkStatus();
  return lexer.ErrorAt(key_at, "%s has %d dimensions, the window's size %d", key, parts, window.size());
}

Status Read(Lexer& lexer, Window& value) {
  RETURN_IF_ERROR(lexer.Expect("{"));
  while (!lexer.Try("}")) {
    const size_t at = (lexer.SkipBlanks(), lexer.position());
    ASSIGN_OR_RETURN(const std::string_view key, lexer.Name());
    RETURN_IF_ERROR(lexer.Expect("="));
    RETURN_IF_ERROR(ReadWindowKey(lexer, key, at, value));
    lexer.Try(",");
  }
  return OkStatus();
}
void Print(const Window& value, std::string& out) {
  std::string keys;
  auto print_key = [&](std::string_view name, auto differs, auto print) {
    bool any = false;
    for (const WindowDimension& d : value) any |= differs(d);
    if (!any) return;
    StrAppend(&keys, keys.empty() ? "" : " ", ToAbsl(name), "=");
    for (size_t i = 0; i < value.size(); ++i) {
      if (i != 0) keys += 'x';
      print(value[i]);
    }
  };
  for (const WindowKey& key : kWindowKeys) {
    print_key(key.name, [&](const WindowDimension& d) { return key.get(d) != key.missing; },
              [&](const WindowDimension& d) { StrAppend(&keys, key.get(d)); });
    if (key.name != "stride") continue;
    print_key("pad", [](const WindowDimension& d) { return d.padding_low != 0 || d.padding_high != 0; },
              [&](const WindowDimension& d) { StrAppend(&keys, d.padding_low, "_", d.padding_high); });
  }
  StrAppend(&out, "{", keys, "}");
}

// dim_labels=b01f_01io->b01f: for input, kernel and output, which dimension is batch/input feature/output feature or the n-th spatial one.
struct Labels {
  char first, second;  // "bf", "io", "bf"
  int64_t *first_dimension, *second_dimension;
  Dims* spatial;
};
std::array<Labels, 3> LabelsOf(ConvolutionAttributes& a) {
  return {Labels{'b', 'f', &a.input_batch, &a.input_feature, &a.input_spatial},
          Labels{'i', 'o', &a.kernel_input_feature, &a.kernel_output_feature, &a.kernel_spatial},
          Labels{'b', 'f', &a.output_batch, &a.output_feature, &a.output_spatial}};
}

Status ReadLabels(Lexer& lexer, size_t at, std::string_view text, const Labels& labels) {
  labels.spatial->assign(text.size() < 2 ? 0 : text.size() - 2, -1);
  *labels.first_dimension = *labels.second_dimension = -1;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const size_t digit = static_cast<size_t>(c - '0');
    int64_t* const place = c == labels.first                                 ? labels.first_dimension
                           : c == labels.second                              ? labels.second_dimension
                           : absl::ascii_isdigit(c) && digit < labels.spatial->size() ? &(*labels.spatial)[digit]
                                                                             : nullptr;
    if (place == nullptr || *place != -1) {
      return lexer.ErrorAt(at, "\"%s\" does not name each of %c, %c and its spatial dimensions once", text, labels.first,
                           labels.second);
    }
    *place = static_cast<int64_t>(i);
  }
  if (text.size() >= 2) return OkStatus();
  return lexer.ErrorAt(at, "\"%s\" does not name %c and %c", text, labels.first, labels.second);
}

Status ReadDimLabels(Lexer& lexer, Attributes& attributes) {
  auto& a = std::get<ConvolutionAttributes>(attributes);
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  const size_t kernel = word.find('_'), output = word.find("->");
  if (kernel == std::string_view::npos || output == std::string_view::npos || output < kernel) {
    return lexer.ErrorAt(at, "dim_labels are of the form b01f_01io->b01f, not \"%s\"", word);
  }
  const std::array<Labels, 3> labels = LabelsOf(a);
  RETURN_IF_ERROR(ReadLabels(lexer, at, word.substr(0, kernel), labels[0]));
  RETURN_IF_ERROR(ReadLabels(lexer, at, word.substr(kernel + 1, output - kernel - 1), labels[1]));
  return ReadLabels(lexer, at, word.substr(output + 2), labels[2]);
}

void PrintDimLabels(const Attributes& attributes, std::string& out) {
  ConvolutionAttributes a = std::get<ConvolutionAttributes>(attributes);
  static constexpr std::string_view kBefore[] = {"", "_", "->"};
  const std::array<Labels, 3> labels = LabelsOf(a);
  for (size_t i = 0; i < labels.size(); ++i) {
    std::string text(labels[i].spatial->size() + 2, '?');
    auto place = [&text](int64_t dimension, char c) {
      if (dimension >= 0 && dimension < static_cast<int64_t>(text.size())) text[dimension] = c;
    };
    for (size_t d = 0; d < labels[i].spatial->size(); ++d) place((*labels[i].spatial)[d], static_cast<char>('0' + d));
    place(*labels[i].first_dimension, labels[i].first);
    place(*labels[i].second_dimension, labels[i].second);
    StrAppend(&out, ToAbsl(kBefore[i]), text);
  }
}

// Both halves of PrecisionConfig; each alternative that has one prints it as two attributes.
template <typename T>
Status ReadPrecision(Lexer& lexer, Attributes& attributes) {
  auto& operand = std::get<T>(attributes).precision.operand;
  bool all_default = true;
  RETURN_IF_ERROR(ReadList(lexer, "{", "}", [&]() -> Status {
    ASSIGN_OR_RETURN(const size_t value, ReadOneOf(lexer, kPrecisionWords));
    operand.push_back(static_cast<uint8_t>(value));
    all_default &= value == 0;
    return OkStatus();
  }));
  if (all_default) operand.clear();  // The IR's one form of this.
  return OkStatus();
}
template <typename T>
void PrintPrecision(const Attributes& attributes, std::string& out) {
  const auto& operand = std::get<T>(attributes).precision.operand;
  if (operand.empty()) return;
  for (size_t i = 0; i < operand.size(); ++i) {
    StrAppend(&out, i == 0 ? "{" : ",", ToAbsl(kPrecisionWords[std::min<size_t>(operand[i], 2)]));
  }
  out += '}';
}
// dot_bf16_bf16_f32_x3 is ALG_DOT_BF16_BF16_F32_X3 on the wire.
template <typename T>
Status ReadAlgorithm(Lexer& lexer, Attributes& attributes) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  xla::PrecisionConfig::Algorithm algorithm;
  if (!xla::PrecisionConfig::Algorithm_Parse(absl::StrCat("ALG_", absl::AsciiStrToUpper(ToAbsl(word))), &algorithm)) {
    return lexer.At(at, Unimplemented("algorithm \"%s\" is not known to this build", word));
  }
  std::get<T>(attributes).precision.algorithm = static_cast<uint8_t>(algorithm);
  return OkStatus();
}
template <typename T>
void PrintAlgorithm(const Attributes& attributes, std::string& out) {
  const int number = std::get<T>(attributes).precision.algorithm;
  if (number == 0 || !xla::PrecisionConfig::Algorithm_IsValid(number)) return;
  out += absl::AsciiStrToLower(
      xla::PrecisionConfig::Algorithm_Name(static_cast<xla::PrecisionConfig::Algorithm>(number)).substr(4));
}

// result_accuracy={mode=highest} or {tolerance={atol=0,rtol=0,ulps=2}}
Status Read(Lexer& lexer, AccuracyAttributes& value) {
  RETURN_IF_ERROR(lexer.Expect("{"));
  if (lexer.TryWord("mode")) {
    RETURN_IF_ERROR(lexer.Expect("="));
    value.highest = lexer.TryWord("highest");
    if (!value.highest && !lexer.TryWord("default")) return lexer.Expected("highest or default");
    return lexer.Expect("}");
  }
  if (!lexer.TryWord("tolerance")) return lexer.Expected("mode or tolerance");
  RETURN_IF_ERROR(lexer.Expect("="));
  RETURN_IF_ERROR(ReadList(lexer, "{", "}", [&]() -> Status {
    const size_t at = (lexer.SkipBlanks(), lexer.position());
    ASSIGN_OR_RETURN(const std::string_view key, lexer.Name());
    RETURN_IF_ERROR(lexer.Expect("="));
    if (key == "atol") return Read(lexer, value.atol);
    if (key == "rtol") return Read(lexer, value.rtol);
    if (key == "ulps") return Read(lexer, value.ulps);
    return lexer.ErrorAt(at, "\"%s\" is none of atol, rtol, ulps", key);
  }));
  return lexer.Expect("}");
}
void Print(const AccuracyAttributes& value, std::string& out) {
  if (value.highest) {
    out += "{mode=highest}";
    return;
  }
  out += "{tolerance={atol=";
  Print(value.atol, out);
  out += ",rtol=";
  Print(value.rtol, out);
  StrAppend(&out, ",ulps=", value.ulps, "}}");
}

// ---- Rows.

// A row for the member M of T. `kOptional` members are left out where they are as default-constructed.
enum Presence { kRequired, kAlways, kOptional };

template <typename T, typename Member>
T OwnerOf(Member T::*);

template <auto M>
constexpr Field Row(std::string_view name, Presence presence) {
  using T = decltype(OwnerOf(M));
  constexpr auto parse = [](Lexer& lexer, Attributes& attributes) { return Read(lexer, std::get<T>(attributes).*M); };
  if (presence == kOptional) {
    return {name, parse, [](const Attributes& attributes, std::string& out) {
              if (std::get<T>(attributes).*M != T().*M) Print(std::get<T>(attributes).*M, out);
            }};
  }
  return {name, parse, [](const Attributes& attributes, std::string& out) { Print(std::get<T>(attributes).*M, out); },
          presence == kRequired};
}

// A row for all of T.
template <typename T>
constexpr Field WholeRow(std::string_view name, Presence presence) {
  return {name, [](Lexer& lexer, Attributes& attributes) { return Read(lexer, std::get<T>(attributes)); },
          [](const Attributes& attributes, std::string& out) {
            if (!(std::get<T>(attributes) == T())) Print(std::get<T>(attributes), out);
          },
          presence == kRequired};
}

// Quoted strings, bare words.
template <auto M>
Status ReadQuoted(Lexer& lexer, Attributes& attributes) {
  ASSIGN_OR_RETURN(std::get<decltype(OwnerOf(M))>(attributes).*M, lexer.Quoted());
  return OkStatus();
}
template <auto M>
void PrintQuoted(const Attributes& attributes, std::string& out) {
  out += QuotedText(std::get<decltype(OwnerOf(M))>(attributes).*M);
}

// dimensions={0} of the opcodes that have one dimension, and iota_dimension=0.
Status ReadOneDimension(Lexer& lexer, Attributes& attributes) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const Dims dims, ReadDims(lexer));
  if (dims.size() != 1) return lexer.ErrorAt(at, "expected one dimension, found %d", dims.size());
  if (auto* sort = std::get_if<SortAttributes>(&attributes)) {
    sort->dimension = dims[0];
  } else {
    std::get<DimensionsAttributes>(attributes).dimensions = dims;
  }
  return OkStatus();
}
Status ReadBareDimension(Lexer& lexer, Attributes& attributes) {
  ASSIGN_OR_RETURN(const int64_t dimension, lexer.Integer());
  std::get<DimensionsAttributes>(attributes).dimensions = {dimension};
  return OkStatus();
}
void PrintBareDimension(const Attributes& attributes, std::string& out) {
  for (int64_t dimension : std::get<DimensionsAttributes>(attributes).dimensions) StrAppend(&out, dimension);
}
void PrintSortDimension(const Attributes& attributes, std::string& out) {
  StrAppend(&out, "{", std::get<SortAttributes>(attributes).dimension, "}");
}

// Of a custom-call whose text does not say: XLA leaves this one out.
constexpr int32_t kAssumedApiVersion = xla::API_VERSION_ORIGINAL;

Status ReadApiVersion(Lexer& lexer, Attributes& attributes) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  xla::CustomCallApiVersion version;
  if (!xla::CustomCallApiVersion_Parse(std::string(word), &version)) {
    return lexer.At(at, Unimplemented("api_version \"%s\" is not known to this build", word));
  }
  std::get<CustomCallAttributes>(attributes).api_version = version;
  return OkStatus();
}
void PrintApiVersion(const Attributes& attributes, std::string& out) {
  const int version = std::get<CustomCallAttributes>(attributes).api_version;
  if (version == kAssumedApiVersion || !xla::CustomCallApiVersion_IsValid(version)) return;
  out += xla::CustomCallApiVersion_Name(static_cast<xla::CustomCallApiVersion>(version));
}

Status ReadFusionKind(Lexer& lexer, Attributes& attributes) {
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  std::get<FusionAttributes>(attributes).kind = std::string(word);
  return OkStatus();
}
void PrintFusionKind(const Attributes& attributes, std::string& out) { out += std::get<FusionAttributes>(attributes).kind; }

Status ReadTranspose(Lexer& lexer, Attributes& attributes) {
  ASSIGN_OR_RETURN(const size_t value, ReadOneOf(lexer, kTransposeWords));
  std::get<TriangularSolveAttributes>(attributes).transpose_a = static_cast<uint8_t>(value);
  return OkStatus();
}
void PrintTranspose(const Attributes& attributes, std::string& out) {
  out += kTransposeWords[std::min<size_t>(std::get<TriangularSolveAttributes>(attributes).transpose_a, 3)];
}

// One entry an alternative of Attributes; none where there is nothing to say.
template <typename T>
constexpr std::array<Field, 0> kRows{};
template <>
constexpr std::array kRows<DimensionsAttributes> = {Row<&DimensionsAttributes::dimensions>("dimensions", kRequired)};
template <>
constexpr std::array kRows<SortAttributes> = {Field{"dimensions", ReadOneDimension, PrintSortDimension, true},
                                              Row<&SortAttributes::is_stable>("is_stable", kOptional)};
template <>
constexpr std::array kRows<SliceAttributes> = {
    Field{"slice", [](Lexer& lexer, Attributes& a) { return Read(lexer, std::get<SliceAttributes>(a)); },
          [](const Attributes& a, std::string& out) { Print(std::get<SliceAttributes>(a), out); }, true}};
template <>
constexpr std::array kRows<DynamicSliceAttributes> = {Row<&DynamicSliceAttributes::sizes>("dynamic_slice_sizes", kRequired)};
template <>
constexpr std::array kRows<PadAttributes> = {WholeRow<PadAttributes>("padding", kAlways)};
template <>
constexpr std::array kRows<GatherAttributes> = {
    Row<&GatherAttributes::offset_dims>("offset_dims", kRequired),
    Row<&GatherAttributes::collapsed_slice_dims>("collapsed_slice_dims", kRequired),
    Row<&GatherAttributes::start_index_map>("start_index_map", kRequired),
    Row<&GatherAttributes::operand_batching_dims>("operand_batching_dims", kOptional),
    Row<&GatherAttributes::start_indices_batching_dims>("start_indices_batching_dims", kOptional),
    Row<&GatherAttributes::index_vector_dim>("index_vector_dim", kRequired),
    Row<&GatherAttributes::slice_sizes>("slice_sizes", kRequired),
    Row<&GatherAttributes::indices_are_sorted>("indices_are_sorted", kOptional)};
template <>
constexpr std::array kRows<ScatterAttributes> = {
    Row<&ScatterAttributes::update_window_dims>("update_window_dims", kRequired),
    Row<&ScatterAttributes::inserted_window_dims>("inserted_window_dims", kRequired),
    Row<&ScatterAttributes::scatter_dims_to_operand_dims>("scatter_dims_to_operand_dims", kRequired),
    Row<&ScatterAttributes::input_batching_dims>("input_batching_dims", kOptional),
    Row<&ScatterAttributes::scatter_indices_batching_dims>("scatter_indices_batching_dims", kOptional),
    Row<&ScatterAttributes::index_vector_dim>("index_vector_dim", kRequired),
    Row<&ScatterAttributes::indices_are_sorted>("indices_are_sorted", kOptional),
    Row<&ScatterAttributes::unique_indices>("unique_indices", kOptional)};
template <>
constexpr std::array kRows<DotAttributes> = {
    Row<&DotAttributes::lhs_batch>("lhs_batch_dims", kOptional),
    Row<&DotAttributes::lhs_contracting>("lhs_contracting_dims", kAlways),
    Row<&DotAttributes::rhs_batch>("rhs_batch_dims", kOptional),
    Row<&DotAttributes::rhs_contracting>("rhs_contracting_dims", kAlways),
    Field{"algorithm", ReadAlgorithm<DotAttributes>, PrintAlgorithm<DotAttributes>},
    Field{"operand_precision", ReadPrecision<DotAttributes>, PrintPrecision<DotAttributes>}};
template <>
constexpr std::array kRows<WindowAttributes> = {Row<&WindowAttributes::window>("window", kOptional)};
template <>
constexpr std::array kRows<ConvolutionAttributes> = {
    Row<&ConvolutionAttributes::window>("window", kOptional),
    Field{"dim_labels", ReadDimLabels, PrintDimLabels, true},
    Row<&ConvolutionAttributes::feature_group_count>("feature_group_count", kOptional),
    Row<&ConvolutionAttributes::batch_group_count>("batch_group_count", kOptional),
    Field{"algorithm", ReadAlgorithm<ConvolutionAttributes>, PrintAlgorithm<ConvolutionAttributes>},
    Field{"operand_precision", ReadPrecision<ConvolutionAttributes>, PrintPrecision<ConvolutionAttributes>}};
template <>
constexpr std::array kRows<CompareAttributes> = {Row<&CompareAttributes::direction>("direction", kRequired)};
template <>
constexpr std::array kRows<TupleIndexAttributes> = {Row<&TupleIndexAttributes::index>("index", kRequired)};
template <>
constexpr std::array kRows<ReducePrecisionAttributes> = {
    Row<&ReducePrecisionAttributes::exponent_bits>("exponent_bits", kRequired),
    Row<&ReducePrecisionAttributes::mantissa_bits>("mantissa_bits", kRequired)};
template <>
constexpr std::array kRows<TopKAttributes> = {Row<&TopKAttributes::k>("k", kRequired),
                                              Row<&TopKAttributes::largest>("largest", kAlways)};
template <>
constexpr std::array kRows<RngBitGeneratorAttributes> = {
    Row<&RngBitGeneratorAttributes::algorithm>("algorithm", kRequired)};
template <>
constexpr std::array kRows<RngAttributes> = {Row<&RngAttributes::distribution>("distribution", kRequired)};
template <>
constexpr std::array kRows<AccuracyAttributes> = {WholeRow<AccuracyAttributes>("result_accuracy", kOptional)};
template <>
constexpr std::array kRows<CallAttributes> = {Row<&CallAttributes::is_composite>("is_composite", kOptional)};
template <>
constexpr std::array kRows<FusionAttributes> = {Field{"kind", ReadFusionKind, PrintFusionKind, true}};
template <>
constexpr std::array kRows<CustomCallAttributes> = {
    Field{"custom_call_target", ReadQuoted<&CustomCallAttributes::target>, PrintQuoted<&CustomCallAttributes::target>, true},
    Row<&CustomCallAttributes::has_side_effect>("custom_call_has_side_effect", kOptional),
    Field{"api_version", ReadApiVersion, PrintApiVersion}};
template <>
constexpr std::array kRows<BatchNormAttributes> = {Row<&BatchNormAttributes::epsilon>("epsilon", kRequired),
                                                   Row<&BatchNormAttributes::feature_index>("feature_index", kRequired)};
template <>
constexpr std::array kRows<FftAttributes> = {Row<&FftAttributes::type>("fft_type", kRequired),
                                             Row<&FftAttributes::length>("fft_length", kRequired)};
template <>
constexpr std::array kRows<CholeskyAttributes> = {Row<&CholeskyAttributes::lower>("lower", kOptional)};
template <>
constexpr std::array kRows<TriangularSolveAttributes> = {
    Row<&TriangularSolveAttributes::left_side>("left_side", kOptional),
    Row<&TriangularSolveAttributes::lower>("lower", kOptional),
    Row<&TriangularSolveAttributes::unit_diagonal>("unit_diagonal", kOptional),
    Field{"transpose_a", ReadTranspose, PrintTranspose}};

constexpr Field kIotaRows[] = {{"iota_dimension", ReadBareDimension, PrintBareDimension, true}};
constexpr Field kReshapeRows[] = {{"inferred_dimension", ReadBareDimension, PrintBareDimension}};
constexpr Field kOneDimensionRows[] = {
    {"dimensions", ReadOneDimension,
     [](const Attributes& a, std::string& out) { Print(std::get<DimensionsAttributes>(a).dimensions, out); }, true}};

template <size_t... I>
auto MakeTable(std::index_sequence<I...>) {
  return std::array<absl::Span<const Field>, sizeof...(I)>{
      absl::Span<const Field>(kRows<std::variant_alternative_t<I, Attributes>>)...};
}

template <size_t... I>
auto MakeDefaults(std::index_sequence<I...>) {
  return std::array<Attributes, sizeof...(I)>{Attributes(std::variant_alternative_t<I, Attributes>())...};
}

}  // namespace

absl::Span<const Field> FieldsOf(Opcode opcode) {
  static const auto table = MakeTable(std::make_index_sequence<std::variant_size_v<Attributes>>());
  switch (opcode) {
    case kIota:
      return kIotaRows;
    case kReshape:
      return kReshapeRows;
    case kConcatenate:
    case kGetDimensionSize:
    case kSetDimensionSize:
      return kOneDimensionRows;
    default:
      return table[Info(opcode).attributes];
  }
}

absl::Span<const CalleeField> CalleesOf(Opcode opcode, bool pred_selector) {
  static constexpr CalleeField kToApply[] = {{"to_apply", 0}, {"calls", 0}};
  static constexpr CalleeField kCalls[] = {{"calls", 0}, {"to_apply", 0}};
  // The condition prints first, though the body is the first called.
  static constexpr CalleeField kLoop[] = {{"condition", 1}, {"body", 0}};
  static constexpr CalleeField kSelectScatter[] = {{"select", 0}, {"scatter", 1}};
  static constexpr CalleeField kBranches[] = {{"branch_computations", -1}, {"true_computation", 0}, {"false_computation", 1}};
  static constexpr CalleeField kTwoBranches[] = {{"true_computation", 0}, {"false_computation", 1}, {"branch_computations", -1}};
  static constexpr CalleeField kCustom[] = {{"called_computations", -1}, {"to_apply", 0}, {"calls", 0}};
  switch (opcode) {
    case kWhile:
      return kLoop;
    case kSelectAndScatter:
      return kSelectScatter;
    case kConditional:
      return pred_selector ? absl::Span<const CalleeField>(kTwoBranches) : kBranches;
    case kCustomCall:
      return kCustom;
    case kFusion:
    case kAsyncStart:
      return kCalls;
    default:
      return Info(opcode).called == 0 ? absl::Span<const CalleeField>() : kToApply;
  }
}

Attributes DefaultAttributes(Opcode opcode) {
  static const auto defaults = MakeDefaults(std::make_index_sequence<std::variant_size_v<Attributes>>());
  Attributes attributes = defaults[Info(opcode).attributes];
  if (auto* call = std::get_if<CustomCallAttributes>(&attributes)) call->api_version = kAssumedApiVersion;
  return attributes;
}

absl::StatusOr<Dims> ReadDims(Lexer& lexer) {
  Dims dims;
  RETURN_IF_ERROR(ReadList(lexer, "{", "}", [&]() -> Status {
    ASSIGN_OR_RETURN(const int64_t value, lexer.Integer());
    dims.push_back(value);
    return OkStatus();
  }));
  return dims;
}

std::string DimsText(absl::Span<const int64_t> dims) {
  std::string out = "{";
  for (size_t i = 0; i < dims.size(); ++i) StrAppend(&out, i == 0 ? "" : ",", dims[i]);
  return out + "}";
}

}  // namespace hlod::hlo::text
