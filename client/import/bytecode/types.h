// Types of the dialects builtin and vhlo.
#pragma once

#include "absl/status/statusor.h"
#include "client/import/bytecode/source.h"

namespace hlod::stablehlo::bytecode {

// The type of an index: the next one, or `index`, which was read at `at`. Valid until the source is gone.
absl::StatusOr<const TypeEntry*> ReadTypeEntry(Source& source, Stream& in);
absl::StatusOr<const TypeEntry*> FindType(Source& source, const Stream& at, uint64_t index);
// The type of a value. A copy is counted.
absl::StatusOr<Type> CopyType(Source& source, const Stream& at, const TypeEntry& entry);
absl::StatusOr<Type> ReadType(Source& source, Stream& in);
// An element type: what one number is.
absl::StatusOr<hlo::PrimitiveType> ReadElementType(Source& source, Stream& in);
// Counts a copy of the type, and makes an attribute of it.
absl::StatusOr<Attribute> AsAttribute(Source& source, const Stream& at, const TypeEntry& entry);

}  // namespace hlod::stablehlo::bytecode
