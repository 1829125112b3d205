// The table of chips, the file with a user's own chips, and the padding of TPUs.
#include "client/analysis/module/chips/chips.h"

#include <toml++/toml.h>

#include <algorithm>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/base/text/edit_distance.h"
#include "common/base/text/strings.h"
#include "common/base/text/toml_text.h"

namespace hlod::analysis {
namespace {

// Returns nullopt when the multiple does not fit an int64.
std::optional<int64_t> RoundUp(int64_t size, int64_t multiple) {
  return CheckedMultiply(CeilDiv(size, multiple), multiple);
}

absl::Status BadKey(const std::string& path, std::string_view chip, std::string_view key,
                    std::string_view why) {
  return InvalidArgument("%s: chips.%s: %s %s", path, chip, key, why);
}

absl::StatusOr<Chip> ReadChip(const std::string& path, std::string_view name, const toml::table& table) {
  struct Number {
    std::string_view key;
    double Chip::* field;
  };
  static constexpr Number kNumbers[] = {{"memory_bytes", &Chip::memory_bytes},
                                        {"usable_bytes", &Chip::usable_bytes},
                                        {"bandwidth", &Chip::bandwidth},
                                        {"flops", &Chip::flops}};
  Chip chip{.name = std::string(name), .source = path};
  for (const auto& [key, node] : table) {
    if (key.str() == "tiled") {
      if (!node.is_boolean()) return BadKey(path, name, key.str(), "is not true or false");
      chip.tiled = *node.value<bool>();
      continue;
    }
    const auto number = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                     [&](const Number& row) { return row.key == key.str(); });
    if (number == std::end(kNumbers)) {
      return BadKey(path, name, key.str(),
                    "is not known: memory_bytes, usable_bytes, bandwidth, flops and tiled are");
    }
    const std::optional<double> value = node.value<double>();
    if (!value.has_value() || !(*value > 0)) return BadKey(path, name, key.str(), "is not a number above 0");
    chip.*(number->field) = *value;
  }
  if (chip.usable_bytes == 0) chip.usable_bytes = chip.memory_bytes;
  for (const Number& number : kNumbers) {
    if (chip.*(number.field) == 0) return BadKey(path, name, number.key, "is missing");
  }
  return chip;
}

constexpr int64_t kChipsMax = 1'000'000;

// Reads "128" or "4x4x8".
bool ReadCount(std::string_view text, Target& target) {
  for (const absl::string_view size : absl::StrSplit(ToAbsl(text), 'x')) {
    int64_t& dimension = target.shape.emplace_back();
    if (!absl::SimpleAtoi(size, &dimension) || dimension < 1 || dimension > kChipsMax) return false;
    target.count *= dimension;
    if (target.count > kChipsMax) return false;
  }
  if (target.shape.size() == 1) target.shape.clear();
  return true;
}

}  // namespace

int64_t BytesOn(const Chip& chip, const hlo::Shape& shape) {
  const int64_t dense = hlo::ByteSize(shape).value_or(0);
  if (!chip.tiled || dense == 0 || shape.dims.empty() || !shape.IsArray()) return dense;
  const int64_t width = dense / std::max<int64_t>(1, hlo::ElementCount(shape).value_or(1));
  if (shape.dims.size() == 1) return RoundUp(dense, 1024).value_or(INT64_MAX);
  const int64_t rows = 8 * std::max<int64_t>(1, 4 / std::max<int64_t>(1, width));
  const size_t last = shape.dims.size() - 1;
  // A factor that does not fit an int64 is -1, with which no product fits.
  std::optional<int64_t> bytes = CheckedMultiply(RoundUp(shape.dims[last - 1], rows).value_or(-1),
                                                 RoundUp(shape.dims[last], 128).value_or(-1));
  for (size_t dim = 0; dim + 1 < last; ++dim) bytes = CheckedMultiply(bytes.value_or(-1), shape.dims[dim]);
  return CheckedMultiply(bytes.value_or(-1), width).value_or(INT64_MAX);
}

std::string_view PaddingText(const Chip& chip) {
  return chip.tiled
             ? "                 each array is padded to tiles of the chip: (8, 128) elements of 32 bits, and of "
               "narrower ones more rows\n"
             : "";
}

absl::StatusOr<std::vector<Chip>> KnownChips(const std::string& path) {
  std::vector<Chip> chips = {
#define HLOD_CHIP(name, memory, usable, bandwidth, flops, tiled, source) \
  {name, memory, usable, bandwidth, flops, tiled, source},
#include "client/analysis/module/chips/chips.inc"
#undef HLOD_CHIP
  };
  if (path.empty()) return chips;
  ASSIGN_OR_RETURN(const std::string text, ReadTomlText(path));
  try {
    const toml::table file = toml::parse(text, path);
    for (const auto& [key, node] : file) {
      if (key.str() != "chips" || !node.is_table())
        return InvalidArgument("%s: %s is not a table [chips.NAME]", path, key.str());
      for (const auto& [name, row] : *node.as_table()) {
        if (!row.is_table()) return InvalidArgument("%s: chips.%s is not a table", path, name.str());
        ASSIGN_OR_RETURN(Chip chip, ReadChip(path, name.str(), *row.as_table()));
        std::erase_if(chips, [&](const Chip& known) { return known.name == chip.name; });
        chips.push_back(std::move(chip));
      }
    }
  } catch (const toml::parse_error& error) {
    return InvalidArgument("%s:%d:%d: %s", path, static_cast<int>(error.source().begin.line),
                           static_cast<int>(error.source().begin.column), error.description());
  }
  return chips;
}

absl::StatusOr<Target> ParseTarget(std::string_view text, const std::vector<Chip>& chips) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  Target target;
  if (colon != text.npos && !ReadCount(text.substr(colon + 1), target)) {
    return InvalidArgument(
        "target %s: \"%s\" is not a number of chips from 1 to %d, nor a torus of them such as 4x4x8", text,
        text.substr(colon + 1), kChipsMax);
  }
  for (const Chip& chip : chips) {
    if (chip.name != name) continue;
    target.chip = chip;
    return target;
  }
  std::vector<std::string> names;
  for (const Chip& chip : chips) names.push_back(chip.name);
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return EditDistance(name, a) < EditDistance(name, b);
  });
  return NotFound("target %s: chip \"%s\" is not known; the nearest are %s and %s of: %s", text, name,
                  names[0], names[std::min<size_t>(1, names.size() - 1)], absl::StrJoin(names, ", "));
}

}  // namespace hlod::analysis
