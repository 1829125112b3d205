// Reads a portable artifact into a program.
#include "client/import/bytecode/container.h"
#include "client/import/bytecode/regions.h"
#include "client/import/program/assemble.h"
#include "client/import/program/operation.h"

namespace hlod::stablehlo {

absl::StatusOr<Program> ParseBytecode(std::string_view bytes) {
  ASSIGN_OR_RETURN(bytecode::Container container, bytecode::ReadContainer(bytes));
  bytecode::Source source(std::move(container));
  ASSIGN_OR_RETURN(bytecode::Operations read, bytecode::ReadOperations(source));
  Program program;
  for (Operation& operation : read.operations) RETURN_IF_ERROR(AddToProgram(std::move(operation), program));
  RETURN_IF_ERROR(CheckNames(program));
  program.values = read.values;
  return program;
}

bool IsBytecode(std::string_view bytes) { return bytecode::HasMagic(bytes); }

}  // namespace hlod::stablehlo
