// Converts dots, convolutions, transforms and linear algebra.
#include <algorithm>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/import/convert/conversion.h"
#include "client/import/convert/dot_algorithms.h"
#include "client/import/program/attribute_text.h"
#include "common/base/text/strings.h"

namespace hlod::stablehlo {
namespace {

using enum hlo::Opcode;
using hlo::PrimitiveType;

bool IsF8(PrimitiveType type) { return hlo::IsFloat(type) && hlo::Info(type).bits == 8; }

uint8_t AlgorithmOf(Conversion& c) {
  if (!c.Has("accumulation_type") || !c.Has("lhs_precision_type")) return 0;
  if (std::holds_alternative<std::monostate>(c.Find("accumulation_type")->value)) return 0;
  const int64_t products = c.Integer("num_primitive_operations", 1);
  const std::string lhs_word = absl::AsciiStrToLower(ToAbsl(c.Text("lhs_precision_type")));
  if (lhs_word.find("tf32") != std::string::npos) return products == 3 ? kTf32Times3 : kTf32;
  const PrimitiveType lhs = c.ElementType("lhs_precision_type"), rhs = c.ElementType("rhs_precision_type"),
                      accumulation = c.ElementType("accumulation_type");
  if (accumulation == hlo::kInvalid && c.Text("accumulation_type") == "none") return 0;
  const bool imprecise = c.Bool("allow_imprecise_accumulation");
  for (const DotAlgorithm& row : kDotAlgorithms) {
    const bool fits =
        row.operands == hlo::kInvalid ? IsF8(lhs) && IsF8(rhs) : lhs == row.operands && rhs == lhs;
    if (fits && accumulation == row.accumulation && products == row.products && imprecise == row.imprecise) {
      return row.number;
    }
  }
  c.Fail(Unimplemented("HLO does not have its algorithm (%s x %s in %s, %d products).",
                       c.Text("lhs_precision_type"), c.Text("rhs_precision_type", false),
                       c.Text("accumulation_type"), products));
  return 0;
}

Values DotGeneral(Conversion& c) {
  hlo::DotAttributes attributes;
  attributes.lhs_contracting = c.Integers("lhs_contracting_dimensions", false);
  attributes.rhs_contracting = c.Integers("rhs_contracting_dimensions", false);
  attributes.lhs_batch = c.Integers("lhs_batching_dimensions", false);
  attributes.rhs_batch = c.Integers("rhs_batching_dimensions", false);
  TakePrecision(c, attributes.precision);
  attributes.precision.algorithm = AlgorithmOf(c);
  return Instruction(c, kDot, c.operands, attributes);
}

Values RaggedDot(Conversion& c) {
  hlo::RaggedDotAttributes attributes;
  attributes.dot.lhs_contracting = c.Integers("lhs_contracting_dimensions", false);
  attributes.dot.rhs_contracting = c.Integers("rhs_contracting_dimensions", false);
  attributes.dot.lhs_batch = c.Integers("lhs_batching_dimensions", false);
  attributes.dot.rhs_batch = c.Integers("rhs_batching_dimensions", false);
  attributes.lhs_ragged = c.Integers("lhs_ragged_dimensions", false);
  attributes.rhs_group = c.Integers("rhs_group_dimensions", false);
  TakePrecision(c, attributes.dot.precision);
  return Instruction(c, kRaggedDot, c.operands, attributes);
}

// Contracts the last dimension of the left operand with the first of the right.
Values Dot(Conversion& c) {
  hlo::DotAttributes attributes;
  attributes.lhs_contracting = {c.shape(0).rank() - 1};
  attributes.rhs_contracting = {0};
  TakePrecision(c, attributes.precision);
  return Instruction(c, kDot, c.operands, attributes);
}

Values Convolution(Conversion& c) { return Convolve(c, c.PairsOf("padding")); }

Values Fft(Conversion& c) {
  static constexpr std::string_view kWords[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  hlo::FftAttributes attributes;
  attributes.type = static_cast<hlo::FftType>(c.Choice("fft_type", kWords, 0));
  attributes.length = c.Integers("fft_length");
  return Instruction(c, kFft, c.operands, attributes);
}

Values Cholesky(Conversion& c) {
  return Instruction(c, kCholesky, c.operands, hlo::CholeskyAttributes{c.Bool("lower")});
}

Values TriangularSolve(Conversion& c) {
  static constexpr std::string_view kWords[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  hlo::TriangularSolveAttributes attributes;
  attributes.left_side = c.Bool("left_side");
  attributes.lower = c.Bool("lower");
  attributes.unit_diagonal = c.Bool("unit_diagonal");
  attributes.transpose_a = static_cast<uint8_t>(c.Choice("transpose_a", kWords, 1));
  return Instruction(c, kTriangularSolve, c.operands, attributes);
}

constexpr Rule kContractionRules[] = {
    {"chlo.ragged_dot", RaggedDot, 3},
    {"stablehlo.cholesky", Cholesky, 1},
    {"stablehlo.convolution", Convolution, 2},
    {"stablehlo.dot", Dot, 2},
    {"stablehlo.dot_general", DotGeneral, 2},
    {"stablehlo.fft", Fft, 1},
    {"stablehlo.triangular_solve", TriangularSolve, 2},
};

}  // namespace

void TakePrecision(Conversion& c, hlo::Precision& precision) {
  static constexpr std::string_view kWords[] = {"DEFAULT", "HIGH", "HIGHEST"};
  const Attribute* const attribute = c.Find("precision_config");
  if (attribute == nullptr) return;
  const auto* const list = std::get_if<std::vector<Attribute>>(&attribute->value);
  if (list == nullptr)
    return c.Fail(
        InvalidArgument("Its precision_config is %s; expected a list of words.", TextOf(*attribute)));
  for (const Attribute& word : *list) {
    const auto found = std::ranges::find(kWords, std::string_view(PlainText(word)));
    if (found == std::end(kWords))
      return c.Fail(InvalidArgument("Its precision_config has %s; expected DEFAULT, HIGH or HIGHEST.",
                                    PlainText(word)));
    precision.operand.push_back(static_cast<uint8_t>(found - std::begin(kWords)));
  }
  // XLA also omits a precision that is all default.
  if (std::ranges::all_of(precision.operand, [](uint8_t p) { return p == 0; })) precision.operand.clear();
}

Values Convolve(Conversion& c, const Pairs& padding) {
  hlo::ConvolutionAttributes attributes;
  attributes.input_batch = c.Integer("input_batch_dimension");
  attributes.input_feature = c.Integer("input_feature_dimension");
  attributes.input_spatial = c.Integers("input_spatial_dimensions", false);
  attributes.kernel_input_feature = c.Integer("kernel_input_feature_dimension");
  attributes.kernel_output_feature = c.Integer("kernel_output_feature_dimension");
  attributes.kernel_spatial = c.Integers("kernel_spatial_dimensions", false);
  attributes.output_batch = c.Integer("output_batch_dimension");
  attributes.output_feature = c.Integer("output_feature_dimension");
  attributes.output_spatial = c.Integers("output_spatial_dimensions", false);
  attributes.feature_group_count = c.Integer("feature_group_count", 1);
  attributes.batch_group_count = c.Integer("batch_group_count", 1);
  TakePrecision(c, attributes.precision);
  const Shape& kernel = c.shape(1);
  Dims sizes;
  for (const int64_t dimension : attributes.kernel_spatial) {
    if (dimension < 0 || dimension >= kernel.rank()) {
      c.Fail(
          InvalidArgument("Its kernel_spatial_dimensions have (%d), but operand 1 (%s) has (%d) dimensions.",
                          dimension, hlo::ToStringNoLayout(kernel), kernel.rank()));
      return {};
    }
    sizes.push_back(kernel.dims[static_cast<size_t>(dimension)]);
  }
  attributes.window =
      MakeWindow(c, sizes, c.Integers("window_strides", false), padding, c.Integers("lhs_dilation", false),
                 c.Integers("rhs_dilation", false), c.Integers("window_reversal", false));
  return Instruction(c, kConvolution, c.Slice(0, 2), attributes);
}

hlo::Window MakeWindow(Conversion& c, const Dims& sizes, const Dims& strides, const Pairs& padding,
                       const Dims& base_dilations, const Dims& window_dilations, const Dims& reversal) {
  const auto fits = [&](size_t count) { return count == 0 || count == sizes.size(); };
  if (!fits(strides.size()) || !fits(padding.size()) || !fits(base_dilations.size()) ||
      !fits(window_dilations.size()) || !fits(reversal.size())) {
    c.Fail(InvalidArgument(
        "Its window has (%d) dimensions, but (%d) strides, (%d) paddings, (%d) base dilations and (%d) "
        "window dilations.",
        sizes.size(), strides.size(), padding.size(), base_dilations.size(), window_dilations.size()));
    return {};
  }
  hlo::Window window(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    window[i].size = sizes[i];
    if (!strides.empty()) window[i].stride = strides[i];
    if (!padding.empty()) std::tie(window[i].padding_low, window[i].padding_high) = padding[i];
    if (!base_dilations.empty()) window[i].base_dilation = base_dilations[i];
    if (!window_dilations.empty()) window[i].window_dilation = window_dilations[i];
    if (!reversal.empty()) window[i].reversal = reversal[i] != 0;
  }
  return window;
}

absl::Span<const Rule> ContractionRules() { return kContractionRules; }

}  // namespace hlod::stablehlo
