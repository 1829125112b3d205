// Telling the forms of a module apart.
#include <algorithm>

#include "client/import/import.h"
#include "common/base/status.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"

namespace hlod {
namespace {

// A proto starts with a field tag and is rarely valid UTF-8 text for long; text starts with a word. The first
// control byte decides.
bool LooksLikeText(std::string_view bytes) {
  return std::none_of(
      bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(std::min<size_t>(bytes.size(), 256)),
      [](char c) { return static_cast<uint8_t>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r'; });
}

}  // namespace

absl::StatusOr<std::unique_ptr<hlo::Module>> ReadModule(std::string_view bytes) {
  if (bytes.starts_with("ML\xefR")) {
    return Unimplemented(
        "This is MLIR bytecode, which is not read: its text is, as jax.jit(f).lower(...).as_text() gives it");
  }
  if (!LooksLikeText(bytes)) return hlo::FromSerialized(bytes);
  if (stablehlo::IsStablehloText(bytes)) {
    ASSIGN_OR_RETURN(const stablehlo::Program program, stablehlo::ParseText(bytes));
    return stablehlo::ToHlo(program);
  }
  return hlo::ParseModule(bytes);
}

}  // namespace hlod
