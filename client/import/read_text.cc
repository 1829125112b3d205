// Reads StableHLO text into a program.
#include "client/import/program/operation.h"
#include "client/import/text/program.h"

namespace hlod::stablehlo {

absl::StatusOr<Program> ParseText(std::string_view text) {
  text::Source source(text);
  RETURN_IF_ERROR(source.aliases.Find(source.reader));
  return text::ReadProgram(source);
}

bool IsStablehloText(std::string_view text) {
  text::Reader reader(text);
  if (reader.Peek() == '#' || reader.Peek() == '!') return true;
  for (const std::string_view word : {"module", "func.func", "builtin.module", "sdy.mesh"}) {
    if (reader.TryKeyword(word)) return true;
  }
  return reader.Try("\"builtin.module\"") || reader.Try("\"func.func\"");
}

}  // namespace hlod::stablehlo
