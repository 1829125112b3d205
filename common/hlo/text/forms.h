// The text forms of attribute values, by type: Read(lexer, value) and Print(value, out).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/hlo/text/internal.h"

namespace hlod::hlo::text {

absl::Status Read(Lexer& lexer, int64_t& value);
absl::Status Read(Lexer& lexer, int32_t& value);
absl::Status Read(Lexer& lexer, bool& value);
absl::Status Read(Lexer& lexer, double& value);
absl::Status Read(Lexer& lexer, float& value);
absl::Status Read(Lexer& lexer, Dims& value);                // {0,1}
absl::Status Read(Lexer& lexer, SliceAttributes& value);     // {[0:4:2], [0:8]}
absl::Status Read(Lexer& lexer, PadAttributes& value);       // 1_2_0x0_0
absl::Status Read(Lexer& lexer, Window& value);              // {size=3x3 stride=2x2 pad=1_1x1_1}
absl::Status Read(Lexer& lexer, AccuracyAttributes& value);  // {mode=highest}
absl::Status Read(Lexer& lexer, ReplicaGroups& value);  // {{0,1},{2,3}} or [2,2]<=[4] or [2,2]<=[2,2]T(1,0)
absl::Status Read(Lexer& lexer, std::vector<std::pair<int64_t, int64_t>>& value);  // {{0,1},{1,0}}
void Print(int64_t value, std::string& out);
void Print(int32_t value, std::string& out);
void Print(bool value, std::string& out);
void Print(double value, std::string& out);
void Print(float value, std::string& out);
void Print(const Dims& value, std::string& out);
void Print(const SliceAttributes& value, std::string& out);
void Print(const PadAttributes& value, std::string& out);
void Print(const Window& value, std::string& out);
void Print(const AccuracyAttributes& value, std::string& out);
void Print(const ReplicaGroups& value, std::string& out);
void Print(const std::vector<std::pair<int64_t, int64_t>>& value, std::string& out);

// The text b01f_01io->b01f of ConvolutionAttributes.
absl::Status ReadDimLabels(Lexer& lexer, Attributes& attributes);
void PrintDimLabels(const Attributes& attributes, std::string& out);

// The words of operand_precision, in order of their numbers.
inline constexpr std::array<std::string_view, 3> kPrecisionWords = {"default", "high", "highest"};

// Reads the next word and returns its position among `words`.
absl::StatusOr<size_t> ReadOneOf(Lexer& lexer, absl::Span<const std::string_view> words);

// Enums: the words in order of their numbers. An empty word is not a value.
template <typename Enum>
inline constexpr std::array<std::string_view, 0> kWords{};
template <>
inline constexpr std::array<std::string_view, 6> kWords<ComparisonDirection> = {"EQ", "NE", "GE",
                                                                                "GT", "LE", "LT"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<RandomAlgorithm> = {"rng_default", "rng_three_fry",
                                                                            "rng_philox"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<RandomDistribution> = {"rng_invalid", "rng_uniform",
                                                                               "rng_normal"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<FftType> = {"FFT", "IFFT", "RFFT", "IRFFT"};

template <typename Enum>
  requires std::is_enum_v<Enum>
absl::Status Read(Lexer& lexer, Enum& value) {
  ASSIGN_OR_RETURN(const size_t index, ReadOneOf(lexer, kWords<Enum>));
  value = static_cast<Enum>(index);
  return absl::OkStatus();
}
template <typename Enum>
  requires std::is_enum_v<Enum>
void Print(Enum value, std::string& out) {
  out += kWords<Enum>[static_cast<size_t>(value)];
}

}  // namespace hlod::hlo::text
