// Reads and prints the attributes by which custom calls state a convolution, as those of cuDNN do: window,
// dimension labels, group counts and precision. They are only carried along.
#include "absl/strings/str_cat.h"
#include "common/base/text/strings.h"
#include "common/hlo/proto/coders_compute.h"
#include "common/hlo/text/forms.h"

namespace hlod::hlo::text {
namespace {

using absl::Status;
using InstructionProto = xla::HloInstructionProto;
using ConvolutionCoder = codec::Coder<ConvolutionAttributes>;

Status ReadCallWindow(Lexer& lexer, InstructionProto& proto) {
  Window window;
  RETURN_IF_ERROR(Read(lexer, window));
  codec::WriteWindow(window, proto.mutable_window());
  return absl::OkStatus();
}
void PrintCallWindow(const InstructionProto& proto, std::string& out) {
  if (proto.has_window()) Print(codec::ReadWindow(proto.window()), out);
}

Status ReadCallDimLabels(Lexer& lexer, InstructionProto& proto) {
  Attributes attributes = ConvolutionAttributes();
  RETURN_IF_ERROR(ReadDimLabels(lexer, attributes));
  ConvolutionCoder::WriteDimensions(std::get<ConvolutionAttributes>(attributes),
                                    *proto.mutable_convolution_dimension_numbers());
  return absl::OkStatus();
}
void PrintCallDimLabels(const InstructionProto& proto, std::string& out) {
  if (!proto.has_convolution_dimension_numbers()) return;
  ConvolutionAttributes dimensions;
  ConvolutionCoder::ReadDimensions(proto.convolution_dimension_numbers(), dimensions);
  PrintDimLabels(dimensions, out);
}

Status ReadFeatureGroups(Lexer& lexer, InstructionProto& proto) {
  ASSIGN_OR_RETURN(const int64_t count, lexer.Integer());
  proto.set_feature_group_count(count);
  return absl::OkStatus();
}
void PrintFeatureGroups(const InstructionProto& proto, std::string& out) {
  if (proto.feature_group_count() > 1) absl::StrAppend(&out, proto.feature_group_count());
}

Status ReadBatchGroups(Lexer& lexer, InstructionProto& proto) {
  ASSIGN_OR_RETURN(const int64_t count, lexer.Integer());
  proto.set_batch_group_count(count);
  return absl::OkStatus();
}
void PrintBatchGroups(const InstructionProto& proto, std::string& out) {
  if (proto.batch_group_count() > 1) absl::StrAppend(&out, proto.batch_group_count());
}

Status ReadCallPrecision(Lexer& lexer, InstructionProto& proto) {
  return ReadList(lexer, "{", "}", [&]() -> Status {
    ASSIGN_OR_RETURN(const size_t value, ReadOneOf(lexer, kPrecisionWords));
    proto.mutable_precision_config()->add_operand_precision(
        static_cast<xla::PrecisionConfig::Precision>(value));
    return absl::OkStatus();
  });
}
void PrintCallPrecision(const InstructionProto& proto, std::string& out) {
  const auto& precision = proto.precision_config().operand_precision();
  bool all_default = true;
  for (const int value : precision) all_default &= value == xla::PrecisionConfig::DEFAULT;
  if (all_default) return;
  for (int i = 0; i < precision.size(); ++i) {
    const size_t value = static_cast<size_t>(precision[i]);
    absl::StrAppend(&out, i == 0 ? "{" : ",",
                    ToAbsl(kPrecisionWords[value < kPrecisionWords.size() ? value : 0]));
  }
  out += '}';
}

constexpr CarriedField kFields[] = {
    {"window", ReadCallWindow, PrintCallWindow},
    {"dim_labels", ReadCallDimLabels, PrintCallDimLabels},
    {"feature_group_count", ReadFeatureGroups, PrintFeatureGroups},
    {"batch_group_count", ReadBatchGroups, PrintBatchGroups},
    {"operand_precision", ReadCallPrecision, PrintCallPrecision},
};

}  // namespace

absl::Span<const CarriedField> CustomCallFields() { return kFields; }

}  // namespace hlod::hlo::text
