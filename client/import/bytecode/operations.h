// The table of operations of an artifact: the name in StableHLO and the attributes, in order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/bytecode/container.h"
#include "client/import/program/operation.h"

namespace hlod::stablehlo::bytecode {

struct OperationRow {
  std::string_view dialect, name;
  std::string_view attributes;  // The attributes' names, separated by blanks; "name?" may be absent.
};
// Returns null for an unknown operation.
const OperationRow* FindOperation(const OperationName& name);

// Returns "stablehlo.add" for "vhlo", "add_v1", and func's names for "func_v1", "call_v1" and "return_v1".
// `parent` is the converted name of the enclosing operation.
std::string NameInProgram(const OperationRow& row, std::string_view parent);

// Adds an attribute in the form of operation.h: lists are Integers. Returns an error when the name exists
// already.
absl::Status AddToOperation(const Stream& at, std::string name, Attribute attribute, Operation& operation);
// Converts strings that name functions to symbols, and removes attributes that hold only a default for which
// StableHLO has no attribute.
void TidyAttributes(Operation& operation);

}  // namespace hlod::stablehlo::bytecode
