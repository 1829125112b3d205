// Reads the top level of the text: aliases, resources, operations.
#include "client/import/text/program.h"

#include "client/import/program/assemble.h"

namespace hlod::stablehlo::text {
absl::StatusOr<Program> ReadProgram(Source& source) {
  Reader& reader = source.reader;
  Program program;
  while (!reader.AtEnd()) {
    const char next = reader.Peek();
    if (next == '#' || next == '!') {
      const size_t at = reader.position();
      RETURN_IF_ERROR(reader.NameAfter(next, "an alias").status());
      const std::string_view name = reader.TextFrom(at);
      RETURN_IF_ERROR(reader.Expect("="));
      // Definitions were found at the beginnings of lines. A definition elsewhere must be refused, or this
      // loop would never end.
      const Alias* const found = source.aliases.Get(name);
      if (found == nullptr || found->at != reader.position())
        return reader.ErrorAt(at, "the definition of %s does not begin a line", name);
      ASSIGN_OR_RETURN(const Alias* const alias, source.Resolve(name, at));
      reader.Rewind(alias->end);
    } else if (reader.Try("{-#")) {
      RETURN_IF_ERROR(source.aliases.ReadResources(reader));
    } else {
      ASSIGN_OR_RETURN(Operation operation, ReadOperation(source));
      RETURN_IF_ERROR(AddToProgram(std::move(operation), program));
    }
  }
  RETURN_IF_ERROR(CheckNames(program));
  program.values = source.values.count();
  return program;
}

}  // namespace hlod::stablehlo::text
