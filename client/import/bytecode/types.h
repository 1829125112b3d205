// Reads types of the dialects builtin and vhlo.
#pragma once

#include "absl/status/statusor.h"
#include "client/import/bytecode/source.h"

namespace hlod::stablehlo::bytecode {

// Return a type by its index: the index that `in` holds next, or `index`, which was read at `at`. The result
// is valid as long as the source.
absl::StatusOr<const TypeEntry*> ReadTypeEntry(Source& source, Stream& in);
absl::StatusOr<const TypeEntry*> FindType(Source& source, const Stream& at, uint64_t index);
// Returns a copy of the type of a value, charged to the source's limits.
absl::StatusOr<Type> CopyType(Source& source, const Stream& at, const TypeEntry& entry);
absl::StatusOr<Type> ReadType(Source& source, Stream& in);
// Reads an element type.
absl::StatusOr<hlo::PrimitiveType> ReadElementType(Source& source, Stream& in);
// Returns a copy of the type as an attribute, charged to the source's limits.
absl::StatusOr<Attribute> AsAttribute(Source& source, const Stream& at, const TypeEntry& entry);

}  // namespace hlod::stablehlo::bytecode
