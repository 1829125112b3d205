// What the files of the codec share: one coder for each kind of message, and the account of what no coder has
// a place for.
#pragma once

#include <bitset>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/hlo/proto/codec.h"
#include "google/protobuf/message.h"

namespace hlod::hlo::codec {

// Field numbers of one message that the IR has a place for.
using FieldSet = std::bitset<128>;

// Copies into `to` what `from` says outside the `modelled` fields, and the unknown fields at any depth inside
// those; nothing of the `dropped` ones. An empty sub-message says nothing, unless it is one of a list.
void CopyResidue(const google::protobuf::Message& from, const FieldSet& modelled, const FieldSet& dropped,
                 google::protobuf::Message* to);
// The set of these field numbers.
FieldSet FieldsOf(absl::Span<const int> numbers);
// The path of some unknown field at any depth ("window.dimensions.77"), or nothing.
std::optional<std::string> FirstUnknownField(const google::protobuf::Message& message);
// Bytes that are the same for equal messages in this build, maps included.
std::string SerializeDeterministic(const google::protobuf::Message& message);

// Encoders write into messages that may already hold unknown fields, and leave those alone.
void EncodeShape(const Shape& shape, xla::ShapeProto* proto);
void EncodeProgramShape(const ProgramShape& shape, xla::ProgramShapeProto* proto);
absl::StatusOr<ProgramShape> DecodeProgramShape(const xla::ProgramShapeProto& proto);
void EncodeLiteral(const Literal& literal, xla::LiteralProto* proto);

// What the decoder of an instruction's attributes may look at.
struct AttributesInput {
  const xla::HloInstructionProto& proto;
  Opcode opcode;
  absl::Span<const Shape* const> operands;  // Their shapes.
  Tables& tables;
  const xla::HloModuleProto& module;  // For the payloads that instructions share.
  const DecodeOptions& options;
};
// The alternative of Attributes that the opcode's row names. Errors name the field, not the instruction.
absl::StatusOr<Attributes> DecodeAttributes(const AttributesInput& input);
void EncodeAttributes(const Attributes& attributes, const Tables& tables, xla::HloInstructionProto* proto);
// The fields of an instruction that the decoder of this opcode's attributes reads.
const FieldSet& ModelledFields(Opcode opcode);

// What an instruction's notes hold; `predecessors` are resolved by the caller. Errors name the field, not the
// instruction.
absl::StatusOr<Notes> DecodeNotes(const xla::HloInstructionProto& proto, Opcode opcode,
                                  const DecodeOptions& options);
// Everything of the notes but for name and control predecessors, written over the fields kept in
// `unmodelled`.
void EncodeNotes(const Notes& notes, xla::HloInstructionProto* proto);

// An opcode under its own or an old spelling, with the comparison that old comparison opcodes had in their
// name.
struct OpcodeSpelling {
  Opcode opcode;
  std::string_view direction;  // "EQ"...; empty but for old comparisons.
};
std::optional<OpcodeSpelling> ParseOpcodeSpelling(std::string_view name);

// "LT" and "TOTALORDER" as the proto and the text spell them.
std::string_view DirectionName(ComparisonDirection direction);
std::string_view ComparisonTypeName(ComparisonType type);
std::optional<ComparisonDirection> ParseDirection(std::string_view name);
std::optional<ComparisonType> ParseComparisonType(std::string_view name);

}  // namespace hlod::hlo::codec
