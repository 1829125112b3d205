// Splits at commas, then at the equals sign. A colon separates a number from its type.
#include "common/lapack/config.h"

#include <functional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"

namespace hlod::lapack {

absl::StatusOr<std::map<std::string, int64_t, std::less<>>> ParseConfig(std::string_view text) {
  std::map<std::string, int64_t, std::less<>> config;
  absl::string_view inside = absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size()));
  if (inside.empty()) return config;
  const auto malformed = [&] {
    return InvalidArgument("The backend_config (%s) is not a dictionary of numbers and booleans", text);
  };
  if (!absl::ConsumePrefix(&inside, "{") || !absl::ConsumeSuffix(&inside, "}")) return malformed();
  for (absl::string_view entry : absl::StrSplit(inside, ',', absl::SkipWhitespace())) {
    const std::vector<absl::string_view> sides = absl::StrSplit(entry, absl::MaxSplits('=', 1));
    if (sides.size() != 2) return malformed();
    const absl::string_view name = absl::StripAsciiWhitespace(sides[0]);
    const std::vector<absl::string_view> parts = absl::StrSplit(sides[1], absl::MaxSplits(':', 1));
    const absl::string_view value = absl::StripAsciiWhitespace(parts[0]);
    int64_t number = value == "true" ? 1 : 0;
    if (value != "true" && value != "false" && !absl::SimpleAtoi(value, &number)) return malformed();
    config[std::string(name)] = number;
  }
  return config;
}

absl::StatusOr<std::map<std::string, int64_t, std::less<>>> ParseEighConfig(std::string_view text) {
  if (!text.starts_with("0,") && !text.starts_with("1,")) {
    return InvalidArgument("The backend_config (%s) is not \"lower,sorted,sweeps,tolerance\"", text);
  }
  return std::map<std::string, int64_t, std::less<>>{{"mode", 'V'}, {"uplo", text[0] == '1' ? 'L' : 'U'}};
}

}  // namespace hlod::lapack
