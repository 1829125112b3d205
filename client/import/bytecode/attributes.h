// Attributes as operation.h has them: lists of integers, dictionaries, words.
#pragma once

#include "absl/status/statusor.h"
#include "client/import/bytecode/source.h"

namespace hlod::stablehlo::bytecode {

// The attribute of an index: the next one, or `index`, which was read at `at`. Dense literals stay literals.
// Uses after the first are counted.
absl::StatusOr<Attribute> ReadAttribute(Source& source, Stream& in);
absl::StatusOr<Attribute> FindAttribute(Source& source, const Stream& at, uint64_t index);
// One that is a string; as builtin's and vhlo's are.
absl::StatusOr<std::string> ReadStringAttribute(Source& source, Stream& in);
// The indices of attributes, each read.
absl::StatusOr<std::vector<Attribute>> ReadAttributes(Source& source, Stream& in);
// A dictionary of builtin.
absl::StatusOr<AttributeMap> ReadDictionary(Source& source, Stream& in);

// The attributes of one dialect: the code was read, its fields follow.
absl::StatusOr<Attribute> ReadBuiltinAttribute(Source& source, uint64_t code, Stream& in);
absl::StatusOr<Attribute> ReadVhloAttribute(Source& source, uint64_t code, Stream& in);
// As the text that MLIR prints: what reads them reads text.
absl::StatusOr<Attribute> ReadShardyAttribute(Source& source, uint64_t code, Stream& in);

}  // namespace hlod::stablehlo::bytecode
