// Reads attributes of VHLO.
#include <algorithm>
#include <array>
#include <bit>

#include "client/import/bytecode/attributes.h"
#include "client/import/bytecode/fields.h"

namespace hlod::stablehlo::bytecode {
namespace {

using Result = absl::StatusOr<Attribute>;

Result ReadBoolean(Source&, Stream& in) {
  ASSIGN_OR_RETURN(const size_t value, in.Index(2, "the value of a bool"));
  return Attribute{.value = value == 1, .type = hlo::kPred};
}

// Reads the fields of #stablehlo.output_operand_alias<...>.
Result ReadAlias(Source&, Stream& in) {
  ASSIGN_OR_RETURN(Integers of_output, ReadIntegers(in));
  ASSIGN_OR_RETURN(const int64_t operand, in.Signed());
  ASSIGN_OR_RETURN(Integers of_operand, ReadIntegers(in));
  auto fields = std::make_shared<AttributeMap>();
  (*fields)["output_tuple_indices"] = {.value = std::move(of_output), .type = hlo::kS64};
  (*fields)["operand_index"] = {.value = operand, .type = hlo::kS64};
  (*fields)["operand_tuple_indices"] = {.value = std::move(of_operand), .type = hlo::kS64};
  return Attribute{std::move(fields)};
}

Result ReadBounds(Source&, Stream& in) {
  ASSIGN_OR_RETURN(Integers bounds, ReadIntegers(in));
  return Attribute{.value = std::move(bounds), .type = hlo::kS64};
}

// Reads the accuracy that a result must have. hlod does not use it: its results are as accurate as its
// kernels get.
Result ReadAccuracy(Source& source, Stream& in) {
  constexpr int kDoubleBits = 64;
  const Stream before = in;
  ASSIGN_OR_RETURN(const uint64_t absolute, ReadBits(in, kDoubleBits));
  ASSIGN_OR_RETURN(const uint64_t relative, ReadBits(in, kDoubleBits));
  ASSIGN_OR_RETURN(const int64_t ulps, in.Signed());  // The tolerance in units in the last place.
  ASSIGN_OR_RETURN(Attribute mode, ReadAttribute(source, in));
  const double tolerances[] = {std::bit_cast<double>(absolute), std::bit_cast<double>(relative),
                               static_cast<double>(ulps)};
  const auto* const word = std::get_if<Word>(&mode.value);
  const bool by_tolerance = word != nullptr && word->text == "TOLERANCE";
  for (const double tolerance : tolerances) {
    if (tolerance < 0 || (tolerance > 0 && !by_tolerance))
      return before.Error("a result_accuracy has the tolerance %g%s", tolerance,
                          tolerance < 0 ? "" : " without the mode TOLERANCE");
  }
  return mode;
}

constexpr Kind kVhloKinds[] = {
    {1, ReadArrayAttribute},
    {2, ReadBoolean},
    {6, ReadMapAttribute},
    {8, ReadFloatAttribute},
    {9, ReadIntegerAttribute},
    {10, ReadAlias},
    {14, ReadTextAttribute},
    {15, ReadDenseAttribute},
    {17, ReadTypeAttribute},
    {18, ReadBounds},
    {20, ReadAccuracy},
    {21, nullptr, "sub-axes"},
    {22, nullptr, "references to axes"},
    {23, nullptr, "replica groups by the axes of a mesh"},
    {24, nullptr, "axes of a mesh"},
    {25, nullptr, "meshes"},
};

// An enumeration, whose first word has the number `first`.
struct Enumeration {
  uint64_t code;
  std::string_view name;
  uint64_t first;
  std::array<std::string_view, 6> words;
};
constexpr Enumeration kEnumerations[] = {
    {3, "comparison_direction", 0, {"EQ", "NE", "GE", "GT", "LE", "LT"}},
    {4, "comparison_type", 0, {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}},
    {5, "api_version", 0, {"0", "1", "2", "3", "4"}},
    {7, "fft_type", 0, {"FFT", "IFFT", "RFFT", "IRFFT"}},
    {11, "precision", 0, {"DEFAULT", "HIGH", "HIGHEST"}},
    {12, "rng_algorithm", 0, {"DEFAULT", "THREE_FRY", "PHILOX"}},
    {13, "rng_distribution", 1, {"UNIFORM", "NORMAL"}},
    {16, "transpose", 0, {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}},
    {19, "result_accuracy_mode", 0, {"DEFAULT", "HIGHEST", "TOLERANCE"}},
};

Result ReadWord(const Enumeration& enumeration, Stream& in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(const uint64_t value, in.Number());
  const uint64_t place = value - enumeration.first;
  if (place >= enumeration.words.size() || enumeration.words[place].empty())
    return before.Error("%d is not a valid %s", value, enumeration.name);
  return Attribute{Word{std::string(enumeration.words[place])}};
}

}  // namespace

absl::StatusOr<Attribute> ReadVhloAttribute(Source& source, uint64_t code, Stream& in) {
  if (const auto enumeration = std::ranges::find(kEnumerations, code, &Enumeration::code);
      enumeration != std::end(kEnumerations)) {
    return ReadWord(*enumeration, in);
  }
  return ReadByKind(kVhloKinds, "vhlo", code, source, in);
}

}  // namespace hlod::stablehlo::bytecode
