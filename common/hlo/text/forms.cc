// Reads and prints the values of attributes.
#include "common/hlo/text/forms.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "absl/strings/ascii.h"
#include "common/base/text/strings.h"

namespace hlod::hlo::text {

using absl::OkStatus;
using absl::Status;
using absl::StrAppend;

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
  return lexer.ErrorAt(at, "\"%s\" is not a number", word);
}
Status Read(Lexer& lexer, float& value) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size()) return OkStatus();
  return lexer.ErrorAt(at, "\"%s\" is not a number", word);
}
Status Read(Lexer& lexer, Dims& value) {
  ASSIGN_OR_RETURN(value, ReadDims(lexer));
  return OkStatus();
}

void Print(int64_t value, std::string& out) { StrAppend(&out, value); }
void Print(int32_t value, std::string& out) { StrAppend(&out, value); }
void Print(bool value, std::string& out) { out += value ? "true" : "false"; }
void Print(double value, std::string& out) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out.append(buffer, end);
}
void Print(float value, std::string& out) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out.append(buffer, end);
}
void Print(const Dims& value, std::string& out) { out += DimsText(value); }

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

// Reads slice={[0:4:2], [0:8]}. XLA prints either every stride or none.
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

namespace {

// Reads a word of integers and separators, such as 1_2_0x0_0, 3x3 or -1. Calls read(position, part number,
// numbers) for each part between 'x'.
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
    if (error != std::errc())
      return lexer.ErrorAt(at, "\"%s\" is not a list of integers joined by x and _", word);
    numbers.push_back(number);
    p = next;
    if (p != end && *p == '_') continue;
    if (p != end && *p != 'x')
      return lexer.ErrorAt(at, "\"%s\" is not a list of integers joined by x and _", word);
    RETURN_IF_ERROR(read(at, part++, numbers));
    if (p == end) return OkStatus();
    numbers.clear();
  }
}

}  // namespace

// Reads padding=1_2_0x0_0, which is low_high[_interior] per dimension. Interiors are printed when one is not
// zero.
Status Read(Lexer& lexer, PadAttributes& value) {
  return ReadParts(lexer, [&](size_t at, size_t, const Dims& n) -> Status {
    if (n.size() != 2 && n.size() != 3)
      return lexer.ErrorAt(at, "a dimension's padding is low_high or low_high_interior");
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

namespace {

// A key in window={size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=2x2 rhs_dilate=1x1 rhs_reversal=0x1}.
struct WindowKey {
  std::string_view name;
  std::optional<int64_t> missing;  // The value per dimension when the key is missing, if it may be.
  int64_t (*get)(const WindowDimension&);
  void (*set)(WindowDimension&, int64_t);
};
constexpr WindowKey kWindowKeys[] = {
    {"size", std::nullopt, [](const WindowDimension& d) { return d.size; },
     [](WindowDimension& d, int64_t n) { d.size = n; }},
    {"stride", 1, [](const WindowDimension& d) { return d.stride; },
     [](WindowDimension& d, int64_t n) { d.stride = n; }},
    {"lhs_dilate", 1, [](const WindowDimension& d) { return d.base_dilation; },
     [](WindowDimension& d, int64_t n) { d.base_dilation = n; }},
    {"rhs_dilate", 1, [](const WindowDimension& d) { return d.window_dilation; },
     [](WindowDimension& d, int64_t n) { d.window_dilation = n; }},
    {"rhs_reversal", 0, [](const WindowDimension& d) -> int64_t { return d.reversal; },
     [](WindowDimension& d, int64_t n) { d.reversal = n != 0; }},
};

Status ReadWindowKey(Lexer& lexer, std::string_view key, size_t key_at, Window& window) {
  const auto* row = std::find_if(std::begin(kWindowKeys), std::end(kWindowKeys),
                                 [&](const auto& k) { return k.name == key; });
  const bool pad = key == "pad";
  if (!pad && row == std::end(kWindowKeys)) {
    return lexer.At(key_at, Unimplemented("window has no \"%s\" in this build", key));
  }
  size_t parts = 0;
  const bool first = window.empty();
  RETURN_IF_ERROR(ReadParts(lexer, [&](size_t at, size_t i, const Dims& n) -> Status {
    parts = i + 1;
    if (first && i == window.size()) window.emplace_back();
    if (i >= window.size())
      return lexer.ErrorAt(at, "%s has more than the %d dimensions of the keys before it", key,
                           window.size());
    if (n.size() != (pad ? 2u : 1u))
      return lexer.ErrorAt(at, "%s has %d numbers for a dimension", key, n.size());
    if (key == "rhs_reversal" && n[0] != 0 && n[0] != 1)
      return lexer.ErrorAt(at, "rhs_reversal is 0 or 1, not %d", n[0]);
    if (pad) {
      window[i].padding_low = n[0];
      window[i].padding_high = n[1];
    } else {
      row->set(window[i], n[0]);
    }
    return OkStatus();
  }));
  if (parts == window.size()) return OkStatus();
  return lexer.ErrorAt(key_at, "%s has %d dimensions, the keys before it %d", key, parts, window.size());
}

}  // namespace

Status Read(Lexer& lexer, Window& value) {
  RETURN_IF_ERROR(lexer.Expect("{"));
  bool sized = false;
  const size_t begin = lexer.position();
  while (!lexer.Try("}")) {
    const size_t at = (lexer.SkipBlanks(), lexer.position());
    ASSIGN_OR_RETURN(const std::string_view key, lexer.Name());
    RETURN_IF_ERROR(lexer.Expect("="));
    RETURN_IF_ERROR(ReadWindowKey(lexer, key, at, value));
    sized |= key == "size";
    lexer.Try(",");
  }
  if (value.empty() || sized) return OkStatus();
  return lexer.ErrorAt(begin, "the window has no size");
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
    print_key(
        key.name, [&](const WindowDimension& d) { return key.get(d) != key.missing; },
        [&](const WindowDimension& d) { StrAppend(&keys, key.get(d)); });
    if (key.name != "stride") continue;
    print_key(
        "pad", [](const WindowDimension& d) { return d.padding_low != 0 || d.padding_high != 0; },
        [&](const WindowDimension& d) { StrAppend(&keys, d.padding_low, "_", d.padding_high); });
  }
  StrAppend(&out, "{", keys, "}");
}

namespace {

// The labels in dim_labels=b01f_01io->b01f, for input, kernel and output: which dimension is the batch or
// input feature, the output feature, or the n-th spatial one.
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
    int64_t* const place = c == labels.first    ? labels.first_dimension
                           : c == labels.second ? labels.second_dimension
                           : absl::ascii_isdigit(c) && digit < labels.spatial->size()
                               ? &(*labels.spatial)[digit]
                               : nullptr;
    if (place == nullptr || *place != -1) {
      return lexer.ErrorAt(at, "\"%s\" does not name each of %c, %c and its spatial dimensions once", text,
                           labels.first, labels.second);
    }
    *place = static_cast<int64_t>(i);
  }
  if (text.size() >= 2) return OkStatus();
  return lexer.ErrorAt(at, "\"%s\" does not name %c and %c", text, labels.first, labels.second);
}

}  // namespace

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
    for (size_t d = 0; d < labels[i].spatial->size(); ++d)
      place((*labels[i].spatial)[d], static_cast<char>('0' + d));
    place(*labels[i].first_dimension, labels[i].first);
    place(*labels[i].second_dimension, labels[i].second);
    StrAppend(&out, ToAbsl(kBefore[i]), text);
  }
}

// Reads result_accuracy={mode=highest} or {tolerance={atol=0,rtol=0,ulps=2}}.
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

}  // namespace hlod::hlo::text
