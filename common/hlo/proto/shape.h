// Encodes shapes and literals as messages; their public decoders are in codec.h.
#pragma once

#include "common/hlo/proto/codec.h"

namespace hlod::hlo::codec {

// Encoders write into messages that may already hold unknown fields, which they keep.
void EncodeShape(const Shape& shape, xla::ShapeProto* proto);
void EncodeProgramShape(const ProgramShape& shape, xla::ProgramShapeProto* proto);
absl::StatusOr<ProgramShape> DecodeProgramShape(const xla::ProgramShapeProto& proto);
void EncodeLiteral(const Literal& literal, xla::LiteralProto* proto);

}  // namespace hlod::hlo::codec
