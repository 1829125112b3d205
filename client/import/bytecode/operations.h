// What is known of each operation of an artifact: its name in StableHLO and its attributes, in order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/bytecode/container.h"
#include "client/import/operation.h"

namespace hlod::stablehlo::bytecode {

struct OperationRow {
  std::string_view dialect, name;
  std::string_view attributes;  // Their names, with blanks between; "name?" may be absent.
};
// Null: no such operation is known.
const OperationRow* FindOperation(const OperationName& name);

// "vhlo", "add_v1" is "stablehlo.add"; of "func_v1", "call_v1" and "return_v1" it is func's. `parent` is the
// name of the operation that it stands in, in this form too.
std::string NameInProgram(const OperationRow& row, std::string_view parent);

// Adds an attribute as operation.h has it: lists are Integers. Error: it is there already.
absl::Status AddToOperation(const Stream& at, std::string name, Attribute attribute, Operation& operation);
// Makes symbols of the strings that are names of functions, and takes out what says nothing: defaults that
// StableHLO has no attribute for.
void TidyAttributes(Operation& operation);

}  // namespace hlod::stablehlo::bytecode
