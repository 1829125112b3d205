// Telling the forms of a module apart.
#include "client/cli/load_module.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/error.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"

namespace hlod::cli {
namespace {

// A proto starts with a field tag and is rarely valid UTF-8 text for long; text starts with a word. The first
// control byte decides.
bool LooksLikeText(std::string_view bytes) {
  return std::none_of(
      bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(std::min<size_t>(bytes.size(), 256)),
      [](char c) { return static_cast<uint8_t>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r'; });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  if (!LooksLikeText(bytes)) {
    absl::StatusOr<std::unique_ptr<Module>> module = hlo::FromSerialized(bytes);
    return module.ok() ? std::move(module) : Annotate(module.status(), "reading " + path);
  }
  absl::StatusOr<std::unique_ptr<Module>> module = hlo::ParseModule(bytes);
  if (module.ok()) return module;
  ErrorDetails error = ErrorOf(module.status());  // Begins with line and column.
  error.text = absl::StrCat(path, ":", error.text);
  return ToStatus(std::move(error));
}

}  // namespace hlod::cli
