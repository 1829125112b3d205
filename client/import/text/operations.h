// Reads operations and their regions, in the generic form and in each one's pretty form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/program/operation.h"
#include "client/import/text/source.h"

namespace hlod::stablehlo::text {

// An operation that is being read.
struct PartialOperation {
  Operation operation;
  size_t at = 0;                    // The position of its name.
  std::vector<ValueName> names;     // Names of its results; empty: unnamed.
  std::vector<Type> operand_types;  // The stated types; empty if not stated.
};

// A region's argument: its name and type, before it has a number.
struct ArgumentName {
  ValueName name;
  Type type;
  std::string described;  // The name that its location states; may be empty.
};

// Returns the name of the operation that this name means. Those of MHLO, which StableHLO was made from, have
// the same forms as StableHLO's or CHLO's; a few are HLO's alone, and keep their names.
std::string OperationNamed(std::string_view name);

// Reads one operation with its regions and its location.
absl::StatusOr<Operation> ReadOperation(Source& source);

// Read the part after the results' names, in each form.
absl::Status ReadGenericForm(Source& source, PartialOperation& draft);
absl::Status ReadPrettyForm(Source& source, PartialOperation& draft);
// Reads the generic form after the name: "(%a) <{...}> ({...}) {...} : (types) -> types".
absl::Status ReadAfterName(Source& source, PartialOperation& draft);

// Sets the types of the results and numbers them.
absl::Status SetResults(Source& source, PartialOperation& draft, std::vector<Type> types);
// Reads "%a, %b", or an empty list, and adds them to the operands.
absl::Status ReadOperands(Source& source, PartialOperation& draft);
// Reads "(types) -> types" for operands and results.
absl::Status ReadSignature(Source& source, PartialOperation& draft);

// Reads "%name: type" with optional attributes and location.
absl::StatusOr<ArgumentName> ReadArgument(Source& source);
// Reads "{ operations }". The block has these arguments or, when the list is empty, those after its label.
absl::StatusOr<Region> ReadRegion(Source& source, Sight sight, const std::vector<ArgumentName>& arguments);

}  // namespace hlod::stablehlo::text
