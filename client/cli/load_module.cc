// Modules by the names of their files.
#include "client/cli/load_module.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/commands.h"
#include "common/base/error.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace hlod::cli {

absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path, const ReadOptions& options) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(bytes, options);
  if (module.ok()) return module;
  ErrorDetails error = ErrorOf(module.status());
  // Of a text it begins with line and column.
  const bool has_place =
      !error.text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(error.text[0]));
  error.text = absl::StrCat(path, has_place ? ":" : ": ", error.text);
  return ToStatus(std::move(error));
}

absl::StatusOr<ArgumentSizes> ParseSizes(const std::vector<std::string>& texts) {
  ArgumentSizes sizes;
  for (const std::string& text : texts) {
    const std::vector<std::string> sides = absl::StrSplit(text, absl::MaxSplits('=', 1));
    uint32_t argument = 0;
    bool ok = sides.size() == 2 && absl::SimpleAtoi(sides[0], &argument);
    hlo::Dims dims;
    std::vector<std::string> numbers;
    if (ok) numbers = absl::StrSplit(sides[1], ',', absl::SkipEmpty());
    for (const std::string& number : numbers) {
      ok = ok && absl::SimpleAtoi(number, &dims.emplace_back()) && dims.back() >= 0;
    }
    if (!ok) {
      return UsageError(
          absl::StrCat("--size ", text, " is not the number of an argument and its sizes, as in 0=8,3."));
    }
    sizes[argument] = std::move(dims);
  }
  return sizes;
}

}  // namespace hlod::cli
