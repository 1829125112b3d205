// Converts notes to and from HloInstructionProto: names, metadata, shardings, and all fields that the IR does
// not model. Also decides which of those fields a module may have that is to run.

#include "common/hlo/proto/notes.h"
#include "common/base/errors/status.h"
#include "common/base/text/utf8.h"
#include "common/hlo/proto/attributes.h"
#include "common/hlo/proto/residue.h"

namespace hlod::hlo::codec {
namespace {

using Proto = xla::HloInstructionProto;

// The fields that this file and the module's decoder read from any instruction.
constexpr int kCommonFields[] = {
    Proto::kNameFieldNumber,
    Proto::kOpcodeFieldNumber,
    Proto::kShapeFieldNumber,
    Proto::kMetadataFieldNumber,
    Proto::kIdFieldNumber,
    Proto::kOperandIdsFieldNumber,
    Proto::kCalledComputationIdsFieldNumber,
    Proto::kControlPredecessorIdsFieldNumber,
    Proto::kShardingFieldNumber,
    Proto::kBackendConfigFieldNumber,
    Proto::kFrontendAttributesFieldNumber,
};

// Fields that never change the computed values, also when a newer writer extends them: descriptions for
// people and tools; hints for schedules, layouts and memory (hlod's buffers are dense row-major, and aliasing
// inside a program is the plan's choice); and shardings, which determine where a value is stored, not its
// contents.
constexpr int kCosmeticFields[] = {
    Proto::kMetadataFieldNumber,
    Proto::kFrontendAttributesFieldNumber,
    Proto::kStatisticsVizFieldNumber,
    Proto::kOriginalValueFieldNumber,
    Proto::kShardingFieldNumber,
    Proto::kParameterReplicationFieldNumber,
    Proto::kBackendConfigPayloadFieldNumber,  // For a custom-call it is an attribute; otherwise it is a hint.
    Proto::kResultAccuracyFieldNumber,        // Only for opcodes that ignore it; otherwise it is modelled.
    Proto::kConstrainLayoutFieldNumber,
    Proto::kOperandShapesWithLayoutFieldNumber,
    Proto::kOutputOperandAliasingFieldNumber,
    Proto::kCustomCallScheduleFieldNumber,
    Proto::kAsyncExecutionThreadFieldNumber,
    Proto::kIsCrossProgramPrefetchFieldNumber,
    Proto::kCrossProgramPrefetchIndexFieldNumber,
    Proto::kConvKindFieldNumber,  // The kind of gradient: a hint for choosing an algorithm.
};

// Returns the part of `proto` that the IR does not model. Metadata is modelled in part; its other fields are
// returned.
Proto Residue(const Proto& proto, Opcode opcode) {
  static const FieldSet common = FieldsOf(kCommonFields);
  static const FieldSet whole = FieldsOf({Proto::kMetadataFieldNumber, Proto::kShardingFieldNumber});
  static const FieldSet metadata =
      FieldsOf({xla::OpMetadata::kOpTypeFieldNumber, xla::OpMetadata::kOpNameFieldNumber,
                xla::OpMetadata::kSourceFileFieldNumber, xla::OpMetadata::kSourceLineFieldNumber});
  Proto rest;
  CopyResidue(proto, common | ModelledFields(opcode), whole, &rest);
  xla::OpMetadata metadata_rest;
  CopyResidue(proto.metadata(), metadata, {}, &metadata_rest);
  if (metadata_rest.ByteSizeLong() != 0) *rest.mutable_metadata() = std::move(metadata_rest);
  return rest;
}

// Returns an error unless a module with these unmodelled fields may run. Known fields on an opcode that does
// not read them are ignored, as in XLA. An error are fields that this build does not know, and the few that
// change the meaning of an opcode.
absl::Status CheckRunnable(const Proto& rest, Opcode opcode) {
  Proto checked = rest;
  for (int number : kCosmeticFields) {
    checked.GetReflection()->ClearField(&checked, Proto::descriptor()->FindFieldByNumber(number));
  }
  if (const std::optional<std::string> path = FirstUnknownField(checked)) {
    return Unimplemented("field %s is not known to this build, and ignoring it could compute something else",
                         *path);
  }
  // jax 0.10 and later put an empty sparsity_config on every convolution; one with contents describes a
  // sparse operand.
  if (checked.has_sparsity_config() && checked.sparsity_config().ByteSizeLong() != 0) {
    return Unimplemented("sparsity_config (field %d) is set: sparse operands are not supported",
                         Proto::kSparsityConfigFieldNumber);
  }
  const bool takes_precision = opcode == kDot || opcode == kScaledDot || opcode == kRaggedDot ||
                               opcode == kConvolution || opcode == kCustomCall;
  if (!takes_precision && checked.precision_config().ByteSizeLong() != 0) {
    return InvalidArgument("precision_config is set on %s, which has none", Name(opcode));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Notes> DecodeNotes(const Proto& proto, Opcode opcode, const DecodeOptions& options) {
  Notes notes;
  notes.name = proto.name();
  const auto& metadata = proto.metadata();
  notes.metadata = {metadata.op_type(), metadata.op_name(), metadata.source_file(), metadata.source_line()};
  for (const auto& [key, value] : proto.frontend_attributes().map())
    notes.frontend_attributes.emplace(key, value);
  if (opcode != kCustomCall) notes.backend_config = proto.backend_config();
  if (proto.has_sharding()) {
    notes.sharding = SerializeDeterministic(proto.sharding());
    // {replicated} has only default values, so it would serialize to no bytes, which in a note means no
    // sharding; therefore its type is written explicitly.
    if (notes.sharding.empty()) notes.sharding.assign("\x08\x00", 2);
  }
  const Proto rest = Residue(proto, opcode);
  notes.unmodelled = SerializeDeterministic(rest);
  if (options.for_execution && !notes.unmodelled.empty()) RETURN_IF_ERROR(CheckRunnable(rest, opcode));
  return notes;
}

void EncodeNotes(const Notes& notes, Proto* proto) {
  // This codec or the text parser wrote `unmodelled` and `sharding`; bytes that do not parse are dropped.
  if (!notes.unmodelled.empty() && !proto->ParseFromString(notes.unmodelled)) proto->Clear();
  if (notes.metadata != Metadata()) {
    auto& metadata = *proto->mutable_metadata();
    metadata.set_op_type(ValidUtf8(notes.metadata.op_type));
    metadata.set_op_name(ValidUtf8(notes.metadata.op_name));
    metadata.set_source_file(ValidUtf8(notes.metadata.source_file));
    metadata.set_source_line(notes.metadata.source_line);
  }
  for (const auto& [key, value] : notes.frontend_attributes) {
    (*proto->mutable_frontend_attributes()->mutable_map())[ValidUtf8(key)] = ValidUtf8(value);
  }
  if (!notes.backend_config.empty()) proto->set_backend_config(notes.backend_config);
  if (!notes.sharding.empty() && !proto->mutable_sharding()->ParseFromString(notes.sharding))
    proto->clear_sharding();
}

}  // namespace hlod::hlo::codec
