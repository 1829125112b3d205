// Writes dots, convolutions, transforms and solvers.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/import/convert/dot_algorithms.h"
#include "client/import/program/attribute_text.h"
#include "client/import/write/draft.h"

namespace hlod::stablehlo::write {
namespace {

using enum hlo::Opcode;

// Adds precision_config unless both operands have the default.
void Precision(const hlo::Precision& precision, AttributeMap& attributes) {
  static constexpr std::string_view kWords[] = {"DEFAULT", "HIGH", "HIGHEST"};
  if (std::ranges::all_of(precision.operand, [](uint8_t level) { return level == 0; })) return;
  std::vector<Attribute> levels;
  for (const uint8_t level : precision.operand)
    levels.push_back(Enum("precision", kWords[std::min<uint8_t>(level, 2)]));
  attributes["precision_config"] = {std::move(levels)};
}

// Adds the algorithm of PrecisionConfig's number in StableHLO's form.
void Algorithm(hlo::Instruction dot, uint8_t number, AttributeMap& attributes) {
  const auto put = [&](std::string_view lhs, std::string_view rhs, std::string_view accumulation,
                       int64_t products, bool imprecise) {
    attributes["algorithm"] = Structure("stablehlo.dot_algorithm")
                                  .Field("lhs_precision_type", lhs)
                                  .Field("rhs_precision_type", rhs)
                                  .Field("accumulation_type", accumulation)
                                  .Field("lhs_component_count", "1")
                                  .Field("rhs_component_count", "1")
                                  .Field("num_primitive_operations", absl::StrCat(products))
                                  .Field("allow_imprecise_accumulation", imprecise ? "true" : "false")
                                  .Done();
  };
  if (number == kTf32 || number == kTf32Times3)
    return put("tf32", "tf32", "f32", number == kTf32 ? 1 : 3, false);
  for (const DotAlgorithm& row : kDotAlgorithms) {
    if (row.number != number) continue;
    const auto type = [&](uint32_t i) {
      return ElementTypeText(row.operands == hlo::kInvalid ? dot.operand(i).shape().type : row.operands);
    };
    put(type(0), type(1), ElementTypeText(row.accumulation), row.products, row.imprecise);
  }
}

void Dot(hlo::Instruction instruction, AttributeMap& attributes) {
  const auto& dot = instruction.attributes<hlo::DotAttributes>();
  attributes["dot_dimension_numbers"] = Structure("stablehlo.dot")
                                            .Field("lhs_batching_dimensions", dot.lhs_batch)
                                            .Field("rhs_batching_dimensions", dot.rhs_batch)
                                            .Field("lhs_contracting_dimensions", dot.lhs_contracting)
                                            .Field("rhs_contracting_dimensions", dot.rhs_contracting)
                                            .Done();
  Precision(dot.precision, attributes);
  Algorithm(instruction, dot.precision.algorithm, attributes);
}

void RaggedDot(hlo::Instruction instruction, AttributeMap& attributes) {
  const auto& ragged = instruction.attributes<hlo::RaggedDotAttributes>();
  attributes["ragged_dot_dimension_numbers"] =
      Structure("chlo.ragged_dot")
          .Field("lhs_batching_dimensions", ragged.dot.lhs_batch)
          .Field("rhs_batching_dimensions", ragged.dot.rhs_batch)
          .Field("lhs_contracting_dimensions", ragged.dot.lhs_contracting)
          .Field("rhs_contracting_dimensions", ragged.dot.rhs_contracting)
          .Field("lhs_ragged_dimensions", ragged.lhs_ragged)
          .Field("rhs_group_dimensions", ragged.rhs_group)
          .Done();
}

// Returns "[b, f, 0, 1]": the dimension at each position.
std::string Drawn(char first, int64_t first_at, char second, int64_t second_at, const hlo::Dims& spatial) {
  std::vector<std::string> names(spatial.size() + 2);
  names[static_cast<size_t>(first_at)] = first;
  names[static_cast<size_t>(second_at)] = second;
  for (size_t i = 0; i < spatial.size(); ++i) names[static_cast<size_t>(spatial[i])] = absl::StrCat(i);
  return absl::StrCat("[", absl::StrJoin(names, ", "), "]");
}

void Convolution(hlo::Instruction instruction, AttributeMap& attributes) {
  const auto& c = instruction.attributes<hlo::ConvolutionAttributes>();
  attributes["dimension_numbers"] = {Word{
      absl::StrCat("#stablehlo.conv<", Drawn('b', c.input_batch, 'f', c.input_feature, c.input_spatial), "x",
                   Drawn('i', c.kernel_input_feature, 'o', c.kernel_output_feature, c.kernel_spatial), "->",
                   Drawn('b', c.output_batch, 'f', c.output_feature, c.output_spatial), ">")}};
  attributes["feature_group_count"] = Number(c.feature_group_count);
  attributes["batch_group_count"] = Number(c.batch_group_count);
  hlo::Dims strides, base, window;
  std::vector<hlo::Dims> padding;
  std::string reversal;
  for (const hlo::WindowDimension& dimension : c.window) {
    strides.push_back(dimension.stride);
    base.push_back(dimension.base_dilation);
    window.push_back(dimension.window_dilation);
    padding.push_back({dimension.padding_low, dimension.padding_high});
    absl::StrAppend(&reversal, reversal.empty() ? ": " : ", ", dimension.reversal ? "true" : "false");
  }
  Precision(c.precision, attributes);
  if (c.window.empty()) return;
  attributes["window_strides"] = Numbers(strides);
  attributes["padding"] = Rows(padding);
  attributes["lhs_dilation"] = Numbers(base);
  attributes["rhs_dilation"] = Numbers(window);
  attributes["window_reversal"] = {Word{absl::StrCat("array<i1", reversal, ">")}};
}

void Fft(hlo::Instruction instruction, AttributeMap& attributes) {
  static constexpr std::string_view kWords[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  const auto& fft = instruction.attributes<hlo::FftAttributes>();
  attributes["fft_type"] = Enum("fft_type", kWords[static_cast<size_t>(fft.type)]);
  attributes["fft_length"] = Numbers(fft.length);
}

void Cholesky(hlo::Instruction instruction, AttributeMap& attributes) {
  attributes["lower"] = Bool(instruction.attributes<hlo::CholeskyAttributes>().lower);
}

void TriangularSolve(hlo::Instruction instruction, AttributeMap& attributes) {
  static constexpr std::string_view kWords[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  const auto& solve = instruction.attributes<hlo::TriangularSolveAttributes>();
  attributes["left_side"] = Bool(solve.left_side);
  attributes["lower"] = Bool(solve.lower);
  attributes["unit_diagonal"] = Bool(solve.unit_diagonal);
  attributes["transpose_a"] = Enum("transpose", kWords[std::min<uint8_t>(solve.transpose_a, 3)]);
}

constexpr Row kContractionRows[] = {
    {kDot, "stablehlo.dot_general", Dot},
    {kRaggedDot, "chlo.ragged_dot", RaggedDot},
    {kConvolution, "stablehlo.convolution", Convolution},
    {kFft, "stablehlo.fft", Fft},
    {kCholesky, "stablehlo.cholesky", Cholesky},
    {kTriangularSolve, "stablehlo.triangular_solve", TriangularSolve},
};

}  // namespace

absl::Span<const Row> ContractionRows() { return kContractionRows; }

}  // namespace hlod::stablehlo::write
