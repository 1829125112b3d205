// An instruction's notes as fields of its message.
#pragma once

#include "common/hlo/proto/codec.h"

namespace hlod::hlo::codec {

// What an instruction's notes hold; `predecessors` are resolved by the caller. Errors name the field, not the
// instruction.
absl::StatusOr<Notes> DecodeNotes(const xla::HloInstructionProto& proto, Opcode opcode,
                                  const DecodeOptions& options);
// Everything of the notes but for name and control predecessors, written over the fields kept in
// `unmodelled`.
void EncodeNotes(const Notes& notes, xla::HloInstructionProto* proto);

}  // namespace hlod::hlo::codec
