// Parses and prints whole numbers with a unit.
#include "common/base/text/size.h"

#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"

namespace hlod {
namespace {

struct SizeUnit {
  std::string_view name;
  int64_t bytes;
};
constexpr SizeUnit kUnits[] = {{"TiB", int64_t{1} << 40},
                               {"GiB", int64_t{1} << 30},
                               {"MiB", int64_t{1} << 20},
                               {"KiB", int64_t{1} << 10},
                               {"TB", 1'000'000'000'000},
                               {"GB", 1'000'000'000},
                               {"MB", 1'000'000},
                               {"KB", 1'000},
                               {"B", 1}};

}  // namespace

absl::StatusOr<int64_t> ParseSize(std::string_view text) {
  std::string_view number = text;
  int64_t unit = 1;
  for (const SizeUnit& row : kUnits) {
    if (number.size() > row.name.size() && number.ends_with(row.name)) {
      unit = row.bytes;
      number.remove_suffix(row.name.size());
      break;
    }
  }
  int64_t count = 0;
  std::optional<int64_t> bytes;
  const bool digits = !number.empty() && number.find_first_not_of("0123456789") == number.npos;
  if (absl::SimpleAtoi(ToAbsl(number), &count)) bytes = CheckedMultiply(count, unit);
  if (!bytes.has_value() && digits) return InvalidArgument("%s is too large a number", text);
  if (!bytes.has_value())
    return InvalidArgument("\"%s\" is not a whole number, such as 4096, 64MiB or 16GiB", text);
  return *bytes;
}

std::string FormatSize(int64_t bytes) {
  for (const SizeUnit& row : kUnits) {
    if (row.name.size() == 3 && bytes >= row.bytes && bytes % row.bytes == 0)
      return absl::StrCat(bytes / row.bytes, ToAbsl(row.name));
  }
  return absl::StrCat(bytes);
}

}  // namespace hlod
