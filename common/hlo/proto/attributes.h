// Converts an instruction's attributes to and from fields of its message.
#pragma once

#include "common/hlo/proto/codec.h"
#include "common/hlo/proto/residue.h"

namespace hlod::hlo::codec {

// The inputs of the decoder of an instruction's attributes.
struct AttributesInput {
  const xla::HloInstructionProto& proto;
  Opcode opcode;
  absl::Span<const Shape* const> operands;  // The shapes of the operands.
  Tables& tables;
  const xla::HloModuleProto& module;  // The module's message, for payloads that instructions share.
  const DecodeOptions& options;
};
// Decodes the alternative of Attributes that the opcode's row names. Errors name the field, not the
// instruction.
absl::StatusOr<Attributes> DecodeAttributes(const AttributesInput& input);
void EncodeAttributes(const Attributes& attributes, const Tables& tables, xla::HloInstructionProto* proto);
// Returns the fields of an instruction that the decoder of this opcode's attributes reads.
const FieldSet& ModelledFields(Opcode opcode);

}  // namespace hlod::hlo::codec
