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
  Attributes attributes;
  const auto& dimensions = attributes.emplace<ConvolutionAttributes>();
  RETURN_IF_ERROR(ReadDimLabels(lexer, attributes));
  ConvolutionCoder::WriteDimensions(dimensions, *proto.mutable_convolution_dimension_numbers());
  return absl::OkStatus();
}
void PrintCallDimLabels(const InstructionProto& proto, std::string& out) {
  if (!proto.has_convolution_dimension_numbers()) return;
  ConvolutionAttributes dimensions;
  ConvolutionCoder::ReadDimensions(proto.convolution_dimension_numbers(), dimensions);
  PrintDimLabels(dimensions, out);
}

template <void (InstructionProto::*kSet)(int64_t)>
Status ReadGroups(Lexer& lexer, InstructionProto& proto) {
  ASSIGN_OR_RETURN(const int64_t count, lexer.Integer());
  (proto.*kSet)(count);
  return absl::OkStatus();
}
template <int64_t (InstructionProto::*kGet)() const>
void PrintGroups(const InstructionProto& proto, std::string& out) {
  if ((proto.*kGet)() > 1) absl::StrAppend(&out, (proto.*kGet)());
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
    {"feature_group_count", ReadGroups<&InstructionProto::set_feature_group_count>,
     PrintGroups<&InstructionProto::feature_group_count>},
    {"batch_group_count", ReadGroups<&InstructionProto::set_batch_group_count>,
     PrintGroups<&InstructionProto::batch_group_count>},
    {"operand_precision", ReadCallPrecision, PrintCallPrecision},
};

}  // namespace

absl::Span<const CarriedField> CustomCallFields() { return kFields; }

}  // namespace hlod::hlo::text
