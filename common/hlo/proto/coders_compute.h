// Coders of computing opcodes: contractions, windows, comparisons, random numbers, calls, linear algebra.
#pragma once

#include <algorithm>

#include "common/hlo/proto/coder.h"

namespace hlod::hlo::codec {

inline Window ReadWindow(const xla::Window& proto) {
  Window window;
  window.reserve(proto.dimensions_size());
  for (const auto& d : proto.dimensions()) {
    window.push_back({d.size(), d.stride(), d.padding_low(), d.padding_high(), d.window_dilation(),
                      d.base_dilation(), d.window_reversal()});
  }
  return window;
}

inline void WriteWindow(const Window& window, xla::Window* proto) {
  for (size_t i = 0; i < window.size(); ++i) {
    auto* d = ElementAt(proto->mutable_dimensions(), i);
    d->set_size(window[i].size);
    d->set_stride(window[i].stride);
    d->set_padding_low(window[i].padding_low);
    d->set_padding_high(window[i].padding_high);
    d->set_window_dilation(window[i].window_dilation);
    d->set_base_dilation(window[i].base_dilation);
    d->set_window_reversal(window[i].reversal);
  }
}

// Some writers write DEFAULT entries, others leave them out. The IR has one form: empty when all are DEFAULT,
// else one entry per operand.
inline Status ReadPrecision(In in, Precision& precision) {
  const auto& proto = in.proto.precision_config();
  RETURN_IF_ERROR(CheckEnum(xla::PrecisionConfig::Algorithm_IsValid(proto.algorithm()),
                            "precision_config.algorithm", proto.algorithm()));
  precision.algorithm = static_cast<uint8_t>(proto.algorithm());
  bool all_default = true;
  for (int value : proto.operand_precision()) {
    RETURN_IF_ERROR(CheckEnum(xla::PrecisionConfig::Precision_IsValid(value),
                              "precision_config.operand_precision", value));
    all_default &= value == xla::PrecisionConfig::DEFAULT;
  }
  if (all_default) return OkStatus();
  // Scales and group sizes have no precision.
  const int operands = std::min(2, static_cast<int>(in.operands.size()));
  if (proto.operand_precision_size() > operands) {
    return InvalidArgument("precision_config.operand_precision has %d entries for %d operands",
                           proto.operand_precision_size(), operands);
  }
  precision.operand.assign(proto.operand_precision().begin(), proto.operand_precision().end());
  precision.operand.resize(operands, xla::PrecisionConfig::DEFAULT);
  return OkStatus();
}

inline void WritePrecision(const Precision& precision, xla::PrecisionConfig* proto) {
  proto->set_algorithm(static_cast<xla::PrecisionConfig::Algorithm>(precision.algorithm));
  for (size_t i = 0; i < std::max<size_t>(2, precision.operand.size()); ++i) {
    const int value = i < precision.operand.size() ? precision.operand[i] : 0;
    proto->add_operand_precision(static_cast<xla::PrecisionConfig::Precision>(value));
  }
}

inline void ReadDotDimensions(const xla::DotDimensionNumbers& d, DotAttributes& out) {
  out.lhs_contracting = Read(d.lhs_contracting_dimensions());
  out.rhs_contracting = Read(d.rhs_contracting_dimensions());
  out.lhs_batch = Read(d.lhs_batch_dimensions());
  out.rhs_batch = Read(d.rhs_batch_dimensions());
}
inline void WriteDotDimensions(const DotAttributes& a, xla::DotDimensionNumbers& d) {
  Write(a.lhs_contracting, d.mutable_lhs_contracting_dimensions());
  Write(a.rhs_contracting, d.mutable_rhs_contracting_dimensions());
  Write(a.lhs_batch, d.mutable_lhs_batch_dimensions());
  Write(a.rhs_batch, d.mutable_rhs_batch_dimensions());
}

template <>
struct Coder<DotAttributes> {
  static constexpr std::array kFields{Proto::kDotDimensionNumbersFieldNumber,
                                      Proto::kPrecisionConfigFieldNumber};
  static Status Decode(In in, DotAttributes& out) {
    ReadDotDimensions(in.proto.dot_dimension_numbers(), out);
    return ReadPrecision(in, out.precision);
  }
  static void Encode(const DotAttributes& a, const Tables&, Proto& p) {
    WriteDotDimensions(a, *p.mutable_dot_dimension_numbers());
    WritePrecision(a.precision, p.mutable_precision_config());
  }
};

template <>
struct Coder<RaggedDotAttributes> {
  static constexpr std::array kFields{Proto::kRaggedDotDimensionNumbersFieldNumber,
                                      Proto::kPrecisionConfigFieldNumber};
  static Status Decode(In in, RaggedDotAttributes& out) {
    const auto& d = in.proto.ragged_dot_dimension_numbers();
    ReadDotDimensions(d.dot_dimension_numbers(), out.dot);
    out.lhs_ragged = Read(d.lhs_ragged_dimensions());
    out.rhs_group = Read(d.rhs_group_dimensions());
    return ReadPrecision(in, out.dot.precision);
  }
  static void Encode(const RaggedDotAttributes& a, const Tables&, Proto& p) {
    auto& d = *p.mutable_ragged_dot_dimension_numbers();
    WriteDotDimensions(a.dot, *d.mutable_dot_dimension_numbers());
    Write(a.lhs_ragged, d.mutable_lhs_ragged_dimensions());
    Write(a.rhs_group, d.mutable_rhs_group_dimensions());
    WritePrecision(a.dot.precision, p.mutable_precision_config());
  }
};

template <>
struct Coder<WindowAttributes> {
  static constexpr std::array kFields{Proto::kWindowFieldNumber};
  static Status Decode(In in, WindowAttributes& out) {
    out.window = ReadWindow(in.proto.window());
    return OkStatus();
  }
  static void Encode(const WindowAttributes& a, const Tables&, Proto& p) {
    WriteWindow(a.window, p.mutable_window());
  }
};

template <>
struct Coder<ConvolutionAttributes> {
  static constexpr std::array kFields{Proto::kWindowFieldNumber,
                                      Proto::kConvolutionDimensionNumbersFieldNumber,
                                      Proto::kFeatureGroupCountFieldNumber,
                                      Proto::kBatchGroupCountFieldNumber, Proto::kPrecisionConfigFieldNumber};
  static Status Decode(In in, ConvolutionAttributes& out) {
    if (!in.proto.has_window()) return InvalidArgument("the window is missing");
    if (!in.proto.has_convolution_dimension_numbers()) {
      return InvalidArgument("convolution_dimension_numbers is missing");
    }
    out.window = ReadWindow(in.proto.window());
    ReadDimensions(in.proto.convolution_dimension_numbers(), out);
    // Old writers omit a group count of one.
    out.feature_group_count = in.proto.feature_group_count() == 0 ? 1 : in.proto.feature_group_count();
    out.batch_group_count = in.proto.batch_group_count() == 0 ? 1 : in.proto.batch_group_count();
    return ReadPrecision(in, out.precision);
  }
  static void Encode(const ConvolutionAttributes& a, const Tables&, Proto& p) {
    WriteWindow(a.window, p.mutable_window());
    WriteDimensions(a, *p.mutable_convolution_dimension_numbers());
    p.set_feature_group_count(a.feature_group_count);
    p.set_batch_group_count(a.batch_group_count);
    WritePrecision(a.precision, p.mutable_precision_config());
  }
  static void ReadDimensions(const xla::ConvolutionDimensionNumbers& d, ConvolutionAttributes& out) {
    out.input_batch = d.input_batch_dimension();
    out.input_feature = d.input_feature_dimension();
    out.input_spatial = Read(d.input_spatial_dimensions());
    out.kernel_input_feature = d.kernel_input_feature_dimension();
    out.kernel_output_feature = d.kernel_output_feature_dimension();
    out.kernel_spatial = Read(d.kernel_spatial_dimensions());
    out.output_batch = d.output_batch_dimension();
    out.output_feature = d.output_feature_dimension();
    out.output_spatial = Read(d.output_spatial_dimensions());
  }
  static void WriteDimensions(const ConvolutionAttributes& a, xla::ConvolutionDimensionNumbers& d) {
    d.set_input_batch_dimension(a.input_batch);
    d.set_input_feature_dimension(a.input_feature);
    Write(a.input_spatial, d.mutable_input_spatial_dimensions());
    d.set_kernel_input_feature_dimension(a.kernel_input_feature);
    d.set_kernel_output_feature_dimension(a.kernel_output_feature);
    Write(a.kernel_spatial, d.mutable_kernel_spatial_dimensions());
    d.set_output_batch_dimension(a.output_batch);
    d.set_output_feature_dimension(a.output_feature);
    Write(a.output_spatial, d.mutable_output_spatial_dimensions());
  }
};

template <>
struct Coder<CompareAttributes> {
  static constexpr std::array kFields{Proto::kComparisonDirectionFieldNumber,
                                      Proto::kComparisonTypeFieldNumber};
  static Status Decode(In in, CompareAttributes& out) {
    // Old comparison opcodes include the direction in their name.
    const std::optional<OpcodeSpelling> spelling = ParseOpcodeSpelling(in.proto.opcode());
    const std::string_view name =
        spelling && !spelling->direction.empty() ? spelling->direction : in.proto.comparison_direction();
    const std::optional<ComparisonDirection> direction = ParseDirection(name);
    if (!direction)
      return InvalidArgument("comparison_direction is \"%s\", not EQ, NE, GE, GT, LE or LT", name);
    out.direction = *direction;
    if (in.proto.comparison_type().empty()) {
      if (in.operands.empty())
        return InvalidArgument("a comparison without operands states no comparison_type");
      out.type = DefaultComparisonType(in.operands[0]->type);
      return OkStatus();
    }
    const std::optional<ComparisonType> type = ParseComparisonType(in.proto.comparison_type());
    if (!type) {
      return InvalidArgument("comparison_type is \"%s\", not FLOAT, TOTALORDER, SIGNED or UNSIGNED",
                             in.proto.comparison_type());
    }
    out.type = *type;
    return OkStatus();
  }
  static void Encode(const CompareAttributes& a, const Tables&, Proto& p) {
    p.set_comparison_direction(std::string(DirectionName(a.direction)));
    p.set_comparison_type(std::string(ComparisonTypeName(a.type)));
  }
};

template <>
struct Coder<ReducePrecisionAttributes> {
  static constexpr std::array kFields{Proto::kExponentBitsFieldNumber, Proto::kMantissaBitsFieldNumber};
  static Status Decode(In in, ReducePrecisionAttributes& out) {
    out = {in.proto.exponent_bits(), in.proto.mantissa_bits()};
    return OkStatus();
  }
  static void Encode(const ReducePrecisionAttributes& a, const Tables&, Proto& p) {
    p.set_exponent_bits(a.exponent_bits);
    p.set_mantissa_bits(a.mantissa_bits);
  }
};

template <>
struct Coder<RngBitGeneratorAttributes> {
  static constexpr std::array kFields{Proto::kRngAlgorithmFieldNumber};
  static Status Decode(In in, RngBitGeneratorAttributes& out) {
    const int number = in.proto.rng_algorithm();
    RETURN_IF_ERROR(CheckEnum(xla::RandomAlgorithm_IsValid(number), "rng_algorithm", number));
    out.algorithm = static_cast<RandomAlgorithm>(number);
    return OkStatus();
  }
  static void Encode(const RngBitGeneratorAttributes& a, const Tables&, Proto& p) {
    p.set_rng_algorithm(static_cast<xla::RandomAlgorithm>(a.algorithm));
  }
};

template <>
struct Coder<RngAttributes> {
  static constexpr std::array kFields{Proto::kDistributionFieldNumber};
  static Status Decode(In in, RngAttributes& out) {
    const int number = in.proto.distribution();
    RETURN_IF_ERROR(CheckEnum(xla::RandomDistribution_IsValid(number), "distribution", number));
    out.distribution = static_cast<RandomDistribution>(number);
    return OkStatus();
  }
  static void Encode(const RngAttributes& a, const Tables&, Proto& p) {
    p.set_distribution(static_cast<xla::RandomDistribution>(a.distribution));
  }
};

template <>
struct Coder<RngStateAttributes> {
  static constexpr std::array kFields{Proto::kDeltaFieldNumber};
  static Status Decode(In in, RngStateAttributes& out) {
    out.delta = in.proto.delta();
    return OkStatus();
  }
  static void Encode(const RngStateAttributes& a, const Tables&, Proto& p) { p.set_delta(a.delta); }
};

template <>
struct Coder<AccuracyAttributes> {
  static constexpr std::array kFields{Proto::kResultAccuracyFieldNumber};
  static Status Decode(In in, AccuracyAttributes& out) {
    const auto& accuracy = in.proto.result_accuracy();
    RETURN_IF_ERROR(CheckEnum(xla::ResultAccuracy::Mode_IsValid(accuracy.mode()), "result_accuracy.mode",
                              accuracy.mode()));
    const auto& tolerance = accuracy.tolerance();
    out = {accuracy.mode() == xla::ResultAccuracy::HIGHEST, tolerance.atol(), tolerance.rtol(),
           tolerance.ulps()};
    return OkStatus();
  }
  static void Encode(const AccuracyAttributes& a, const Tables&, Proto& p) {
    if (a == AccuracyAttributes()) return;
    if (a.highest) {
      p.mutable_result_accuracy()->set_mode(xla::ResultAccuracy::HIGHEST);
      return;
    }
    auto& tolerance = *p.mutable_result_accuracy()->mutable_tolerance();
    tolerance.set_atol(a.atol);
    tolerance.set_rtol(a.rtol);
    tolerance.set_ulps(a.ulps);
  }
};

template <>
struct Coder<CallAttributes> {
  static constexpr std::array kFields{Proto::kIsCompositeFieldNumber};
  static Status Decode(In in, CallAttributes& out) {
    out.is_composite = in.proto.is_composite();
    return OkStatus();
  }
  static void Encode(const CallAttributes& a, const Tables&, Proto& p) { p.set_is_composite(a.is_composite); }
};

template <>
struct Coder<FusionAttributes> {
  static constexpr std::array kFields{Proto::kFusionKindFieldNumber};
  static Status Decode(In in, FusionAttributes& out) {
    out.kind = in.proto.fusion_kind();
    return OkStatus();
  }
  static void Encode(const FusionAttributes& a, const Tables&, Proto& p) { p.set_fusion_kind(a.kind); }
};

template <>
struct Coder<CustomCallAttributes> {
  static constexpr std::array kFields{Proto::kCustomCallTargetFieldNumber, Proto::kBackendConfigFieldNumber,
                                      Proto::kBackendConfigPayloadFieldNumber,
                                      Proto::kCustomCallHasSideEffectFieldNumber,
                                      Proto::kCustomCallApiVersionFieldNumber};
  static Status Decode(In in, CustomCallAttributes& out) {
    out.target = in.proto.custom_call_target();
    out.backend_config = in.proto.backend_config();
    out.has_side_effect = in.proto.custom_call_has_side_effect();
    out.api_version = in.proto.custom_call_api_version();
    // Newer writers store a configuration that many calls share only once, in the module.
    const auto& payload = in.proto.backend_config_payload();
    if (payload.payload_source_case() == xla::Payload::kValue) out.backend_config = payload.value();
    if (payload.payload_source_case() == xla::Payload::kId) {
      if (payload.id() < 0 || payload.id() >= in.module.payloads_size()) {
        return InvalidArgument("backend_config_payload is %d, and the module has %d payloads", payload.id(),
                               in.module.payloads_size());
      }
      out.backend_config = in.module.payloads(static_cast<int>(payload.id()));
    }
    return OkStatus();
  }
  static void Encode(const CustomCallAttributes& a, const Tables&, Proto& p) {
    p.set_custom_call_target(a.target);
    p.set_backend_config(a.backend_config);
    p.set_custom_call_has_side_effect(a.has_side_effect);
    p.set_custom_call_api_version(static_cast<xla::CustomCallApiVersion>(a.api_version));
  }
};

template <>
struct Coder<BatchNormAttributes> {
  static constexpr std::array kFields{Proto::kEpsilonFieldNumber, Proto::kFeatureIndexFieldNumber};
  static Status Decode(In in, BatchNormAttributes& out) {
    out = {in.proto.epsilon(), in.proto.feature_index()};
    return OkStatus();
  }
  static void Encode(const BatchNormAttributes& a, const Tables&, Proto& p) {
    p.set_epsilon(a.epsilon);
    p.set_feature_index(a.feature_index);
  }
};

template <>
struct Coder<FftAttributes> {
  static constexpr std::array kFields{Proto::kFftTypeFieldNumber, Proto::kFftLengthFieldNumber};
  static Status Decode(In in, FftAttributes& out) {
    RETURN_IF_ERROR(CheckEnum(xla::FftType_IsValid(in.proto.fft_type()), "fft_type", in.proto.fft_type()));
    out = {static_cast<FftType>(in.proto.fft_type()), Read(in.proto.fft_length())};
    return OkStatus();
  }
  static void Encode(const FftAttributes& a, const Tables&, Proto& p) {
    p.set_fft_type(static_cast<xla::FftType>(a.type));
    Write(a.length, p.mutable_fft_length());
  }
};

template <>
struct Coder<CholeskyAttributes> {
  static constexpr std::array kFields{Proto::kCholeskyOptionsFieldNumber};
  static Status Decode(In in, CholeskyAttributes& out) {
    out.lower = in.proto.cholesky_options().lower();
    return OkStatus();
  }
  static void Encode(const CholeskyAttributes& a, const Tables&, Proto& p) {
    p.mutable_cholesky_options()->set_lower(a.lower);
  }
};

template <>
struct Coder<TriangularSolveAttributes> {
  static constexpr std::array kFields{Proto::kTriangularSolveOptionsFieldNumber};
  static Status Decode(In in, TriangularSolveAttributes& out) {
    const auto& options = in.proto.triangular_solve_options();
    const int transpose = options.transpose_a();
    RETURN_IF_ERROR(CheckEnum(xla::TriangularSolveOptions::Transpose_IsValid(transpose),
                              "triangular_solve_options.transpose_a", transpose));
    out = {options.left_side(), options.lower(), options.unit_diagonal(), static_cast<uint8_t>(transpose)};
    return OkStatus();
  }
  static void Encode(const TriangularSolveAttributes& a, const Tables&, Proto& p) {
    auto& options = *p.mutable_triangular_solve_options();
    options.set_left_side(a.left_side);
    options.set_lower(a.lower);
    options.set_unit_diagonal(a.unit_diagonal);
    options.set_transpose_a(static_cast<xla::TriangularSolveOptions::Transpose>(a.transpose_a));
  }
};

}  // namespace hlod::hlo::codec
