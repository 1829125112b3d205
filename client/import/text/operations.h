// Operations and their regions, in the generic form and in each one's pretty form.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/operation.h"
#include "client/import/text/source.h"

namespace hlod::stablehlo::text {

// An operation while it is read.
struct Draft {
  Operation operation;
  size_t at = 0;                    // Where its name stands.
  std::vector<ValueName> names;     // Of its results; none: not named.
  std::vector<Type> operand_types;  // As stated; empty: not stated.
};

// A region's argument: its name and type, before it has a number.
struct ArgumentName {
  ValueName name;
  Type type;
};

// One operation with all that is in it, and its location.
absl::StatusOr<Operation> ReadOperation(Source& source);

// What follows the results' names, in each form.
absl::Status ReadGenericForm(Source& source, Draft& draft);
absl::Status ReadPrettyForm(Source& source, Draft& draft);
// The generic form after its name: "(%a) <{...}> ({...}) {...} : (types) -> types".
absl::Status ReadAfterName(Source& source, Draft& draft);

// The types of the results, which have their numbers now.
absl::Status SetResults(Source& source, Draft& draft, std::vector<Type> types);
// "%a, %b", maybe none, added to the operands.
absl::Status ReadOperands(Source& source, Draft& draft);
// "(types) -> types" for operands and results.
absl::Status ReadSignature(Source& source, Draft& draft);

// "%name: type" and what may stand behind it.
absl::StatusOr<ArgumentName> ReadArgument(Source& source);
// "{ operations }", whose block has these arguments, or, when there is none of them, those after its label.
absl::StatusOr<Region> ReadRegion(Source& source, Sight sight, const std::vector<ArgumentName>& arguments);

}  // namespace hlod::stablehlo::text
