// Reads fields by the table structures.inc, the drawn dimensions of convolutions, and enumerators.
#include "client/import/text/attributes/structures.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "client/import/text/attributes/attributes.h"
#include "client/import/text/types.h"

namespace hlod::stablehlo::text {
namespace {

enum class FieldKind : uint8_t { kIntegers, kInteger, kBool, kType };
struct Field {
  std::string_view structure, field;
  FieldKind kind;
  std::string_view name;
};
constexpr Field kFields[] = {
#define HLOD_FIELD(structure, field, kind, name) {structure, field, FieldKind::kind, name},
#include "client/import/text/attributes/structures.inc"
#undef HLOD_FIELD
};

// Attributes whose fields become attributes of the operation.
constexpr std::string_view kFlattened[] = {"dot_dimension_numbers", "ragged_dot_dimension_numbers",
                                           "dimension_numbers",     "scatter_dimension_numbers",
                                           "channel_handle",        "algorithm"};

Attribute DefaultOf(FieldKind kind) {
  if (kind == FieldKind::kIntegers) return {.value = Integers(), .type = hlo::kS64};
  if (kind == FieldKind::kInteger) return {.value = int64_t{0}, .type = hlo::kS64};
  if (kind == FieldKind::kBool) return {.value = false, .type = hlo::kPred};
  return {Word{"none"}};
}

absl::StatusOr<Attribute> ReadField(Source& source, FieldKind kind) {
  Reader& reader = source.reader;
  if (kind == FieldKind::kIntegers) return ReadIntegers(source);
  if (kind == FieldKind::kType) return ReadTypeAttribute(source);
  if (kind == FieldKind::kInteger) {
    ASSIGN_OR_RETURN(const int64_t value, reader.Integer());
    return Attribute{.value = value, .type = hlo::kS64};
  }
  const bool value = reader.TryKeyword("true");
  if (!value && !reader.TryKeyword("false")) return reader.Expected("true or false");
  return Attribute{.value = value, .type = hlo::kPred};
}

// The letters of one of the three tensors, and the names of the fields for them and for the spatial
// dimensions.
struct Letters {
  char first, second;
  std::string_view first_field, second_field, spatial_field;
};
constexpr Letters kInput{'b', 'f', "input_batch_dimension", "input_feature_dimension",
                         "input_spatial_dimensions"};
constexpr Letters kKernel{'i', 'o', "kernel_input_feature_dimension", "kernel_output_feature_dimension",
                          "kernel_spatial_dimensions"};
constexpr Letters kOutput{'b', 'f', "output_batch_dimension", "output_feature_dimension",
                          "output_spatial_dimensions"};

// Reads "[b, 0, 1, f]": the field of a letter is its position; spatial dimension d is at the position of d.
absl::Status ReadDrawnDimensions(Source& source, const Letters& letters, AttributeMap& fields) {
  Reader& reader = source.reader;
  const size_t at = (reader.SkipBlanks(), reader.position());
  RETURN_IF_ERROR(reader.Expect("["));
  constexpr int64_t kAbsent = -1;
  Integers spatial;
  std::array<int64_t, 2> lettered = {kAbsent, kAbsent};
  for (int64_t position = 0; !reader.Try("]"); ++position) {
    if (position > 0) RETURN_IF_ERROR(reader.Expect(","));
    int64_t* slot = nullptr;
    const size_t dimension_at = (reader.SkipBlanks(), reader.position());
    if (absl::ascii_isdigit(reader.Peek())) {
      ASSIGN_OR_RETURN(const int64_t dimension, reader.Integer());
      if (dimension >= hlo::kMaxRank)
        return reader.ErrorAt(dimension_at, "a convolution has more than %d dimensions, the limit",
                              hlo::kMaxRank);
      if (static_cast<size_t>(dimension) >= spatial.size()) spatial.resize(dimension + 1, kAbsent);
      slot = &spatial[dimension];
    } else {
      ASSIGN_OR_RETURN(const std::string_view letter, reader.BareWord("a dimension"));
      if (letter.size() == 1 && letter[0] == letters.first) slot = &lettered[0];
      if (letter.size() == 1 && letter[0] == letters.second) slot = &lettered[1];
      if (slot == nullptr) {
        return reader.ErrorAt(dimension_at, "expected %c, %c or the number of a spatial dimension, found %s",
                              letters.first, letters.second, letter);
      }
    }
    if (*slot != kAbsent) return reader.ErrorAt(dimension_at, "this dimension occurs twice");
    *slot = position;
  }
  for (const int64_t position : lettered) {
    if (position == kAbsent)
      return reader.ErrorAt(at, "expected %c and %c among these dimensions", letters.first, letters.second);
  }
  for (size_t i = 0; i < spatial.size(); ++i) {
    if (spatial[i] == kAbsent) return reader.ErrorAt(at, "spatial dimension %d is missing", i);
  }
  fields[std::string(letters.first_field)] = {.value = lettered[0], .type = hlo::kS64};
  fields[std::string(letters.second_field)] = {.value = lettered[1], .type = hlo::kS64};
  fields[std::string(letters.spatial_field)] = {.value = std::move(spatial), .type = hlo::kS64};
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Attribute> ReadStructure(Source& source, std::string_view name) {
  RETURN_IF_ERROR(source.reader.Expect("<"));
  return ReadFields(source, name);
}

absl::StatusOr<Attribute> ReadFields(Source& source, std::string_view name) {
  Reader& reader = source.reader;
  auto fields = std::make_shared<AttributeMap>();
  for (bool is_first = true; !reader.Try(">"); is_first = false) {
    if (!is_first) RETURN_IF_ERROR(reader.Expect(","));
    if (!is_first && reader.Try(">")) break;  // MLIR allows a ',' before the '>'.
    const size_t at = (reader.SkipBlanks(), reader.position());
    ASSIGN_OR_RETURN(const std::string_view word, reader.BareWord("a field"));
    const Field* const field = std::ranges::find_if(
        kFields, [&](const Field& row) { return row.structure == name && row.field == word; });
    if (field == std::end(kFields)) return reader.ErrorAt(at, "%s has no field %s", name, word);
    RETURN_IF_ERROR(reader.Expect("="));
    ASSIGN_OR_RETURN(Attribute value, ReadField(source, field->kind));
    if (!fields->emplace(field->name, std::move(value)).second)
      return reader.ErrorAt(at, "the field %s occurs twice", word);
  }
  for (const Field& field : kFields) {
    if (field.structure == name) fields->try_emplace(std::string(field.name), DefaultOf(field.kind));
  }
  return Attribute{std::move(fields)};
}

absl::StatusOr<Attribute> ReadConvolutionDimensions(Source& source) {
  auto fields = std::make_shared<AttributeMap>();
  RETURN_IF_ERROR(ReadDrawnDimensions(source, kInput, *fields));
  if (!source.reader.TryKeyword("x")) return source.reader.Expected("'x' and the kernel's dimensions");
  RETURN_IF_ERROR(ReadDrawnDimensions(source, kKernel, *fields));
  RETURN_IF_ERROR(source.reader.Expect("->"));
  RETURN_IF_ERROR(ReadDrawnDimensions(source, kOutput, *fields));
  return Attribute{std::move(fields)};
}

absl::StatusOr<Attribute> ReadDialectAttribute(Source& source, std::string_view name, size_t at) {
  Reader& reader = source.reader;
  // mhlo's attributes are those of stablehlo.
  const std::string structure =
      name.starts_with("mhlo.") ? absl::StrCat("stable", ToAbsl(name.substr(1))) : std::string(name);
  if (structure == "stablehlo.conv") {
    RETURN_IF_ERROR(reader.Expect("<"));
    // "raw" and named fields replace the drawing when it cannot express them.
    if (reader.TryKeyword("raw")) return ReadFields(source, structure);
    ASSIGN_OR_RETURN(Attribute dimensions, ReadConvolutionDimensions(source));
    RETURN_IF_ERROR(reader.Expect(">"));
    return dimensions;
  }
  if (std::ranges::any_of(kFields, [&](const Field& row) { return row.structure == structure; }))
    return ReadStructure(source, structure);
  if (reader.Current() == '<') {
    ASSIGN_OR_RETURN(const std::string_view body, reader.Balanced('<'));
    // In "#stablehlo<precision HIGH>" the second word is the value.
    const std::string_view inside = body.substr(1, body.size() - 2);
    const size_t blank = inside.find(' ');
    if (name.find('.') == std::string_view::npos && blank != std::string_view::npos &&
        std::ranges::all_of(inside, [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == ' '; })) {
      return Attribute{Word{std::string(absl::StripAsciiWhitespace(ToAbsl(inside.substr(blank))))}};
    }
  }
  return Attribute{Word{std::string(reader.TextFrom(at))}};
}

bool IsFlattened(std::string_view name) {
  return std::ranges::find(kFlattened, name) != std::end(kFlattened);
}

}  // namespace hlod::stablehlo::text
