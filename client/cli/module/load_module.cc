// Reads modules from files, and the options that say how.
#include "client/cli/module/load_module.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/commands.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"

namespace hlod::cli {
namespace {

// An option such as "N=8,3".
struct ArgumentList {
  uint32_t argument = 0;
  std::vector<int64_t> numbers;
  bool ok = false;
};

ArgumentList ParseList(const std::string& text) {
  const std::vector<std::string> sides = absl::StrSplit(text, absl::MaxSplits('=', 1));
  ArgumentList list;
  list.ok = sides.size() == 2 && absl::SimpleAtoi(sides[0], &list.argument);
  std::vector<std::string> numbers;
  if (list.ok) numbers = absl::StrSplit(sides[1], ',', absl::SkipEmpty());
  for (const std::string& number : numbers)
    list.ok = list.ok && absl::SimpleAtoi(number, &list.numbers.emplace_back());
  return list;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path, const ReadOptions& options) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(bytes, options);
  if (module.ok()) return module;
  ErrorDetails error = ErrorOf(module.status());
  // An error in a text begins with its line and column.
  const bool has_place =
      !error.text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(error.text[0]));
  error.text = absl::StrCat(path, has_place ? ":" : ": ", error.text);
  return ToStatus(std::move(error));
}

absl::StatusOr<ReadOptions> ParseReadOptions(const StablehloOptions& options) {
  ReadOptions read;
  read.entry = options.entry.starts_with('@') ? options.entry.substr(1) : options.entry;
  for (const std::string& text : options.sizes) {
    const ArgumentList list = ParseList(text);
    if (!list.ok || std::ranges::any_of(list.numbers, [](int64_t size) { return size < 0; })) {
      return UsageError(absl::StrCat(
          "--size ", text, " is malformed; expected the number of an argument and its sizes, as in 0=8,3."));
    }
    read.sizes[list.argument] = hlo::Dims(list.numbers.begin(), list.numbers.end());
  }
  for (const std::string& text : options.values) {
    ArgumentList list = ParseList(text);
    if (!list.ok) {
      return UsageError(
          absl::StrCat("--value ", text,
                       " is malformed; expected the number of an argument and its integers, as in 1=4,8."));
    }
    read.numbers[list.argument] = std::move(list.numbers);
  }
  return read;
}

}  // namespace hlod::cli
