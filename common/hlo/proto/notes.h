// Converts an instruction's notes to and from fields of its message.
#pragma once

#include "common/hlo/proto/codec.h"

namespace hlod::hlo::codec {

// Decodes an instruction's notes; the caller resolves the control predecessors. Errors name the field, not
// the instruction.
absl::StatusOr<Notes> DecodeNotes(const xla::HloInstructionProto& proto, Opcode opcode,
                                  const DecodeOptions& options);
// Encodes the notes except name and control predecessors, over the fields kept in `unmodelled`.
void EncodeNotes(const Notes& notes, xla::HloInstructionProto* proto);

}  // namespace hlod::hlo::codec
