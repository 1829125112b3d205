// Reads attributes into the forms of operation.h: lists of integers, dictionaries, words.
#pragma once

#include "absl/status/statusor.h"
#include "client/import/bytecode/source.h"

namespace hlod::stablehlo::bytecode {

// Return an attribute by its index: the index that `in` holds next, or `index`, which was read at `at`. Dense
// literals stay literals. Each use after the first is charged to the source's limits.
absl::StatusOr<Attribute> ReadAttribute(Source& source, Stream& in);
absl::StatusOr<Attribute> FindAttribute(Source& source, const Stream& at, uint64_t index);
// Reads an attribute that must be a string, of builtin or vhlo.
absl::StatusOr<std::string> ReadStringAttribute(Source& source, Stream& in);
// Reads the indices of attributes and the attribute of each.
absl::StatusOr<std::vector<Attribute>> ReadAttributes(Source& source, Stream& in);
// Reads a dictionary attribute of builtin.
absl::StatusOr<AttributeMap> ReadDictionary(Source& source, Stream& in);

// Read an attribute of one dialect, after its code.
absl::StatusOr<Attribute> ReadBuiltinAttribute(Source& source, uint64_t code, Stream& in);
absl::StatusOr<Attribute> ReadVhloAttribute(Source& source, uint64_t code, Stream& in);
// Returns the text that MLIR prints for the attribute; its consumers parse that text.
absl::StatusOr<Attribute> ReadShardyAttribute(Source& source, uint64_t code, Stream& in);

}  // namespace hlod::stablehlo::bytecode
