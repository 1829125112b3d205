// Tracks definitions, uses and regions.
#include "client/import/text/values.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace hlod::stablehlo::text {
absl::StatusOr<ValueId> Values::Number(int count, size_t at) {
  const int64_t first = static_cast<int64_t>(types_.size());
  // Each value has a type in the text: a larger claimed number is refused before memory is allocated.
  const int64_t most = std::min<int64_t>(reader_.text().size(), std::numeric_limits<ValueId>::max());
  if (count > most - first)
    return reader_.ErrorAt(at, "%d more values than a text of this size can have", count);
  types_.resize(types_.size() + count);
  return static_cast<ValueId>(first);
}

size_t Values::FirstWhere(bool (*ends)(Sight)) const {
  for (size_t i = regions_.size(); i > 0; --i) {
    if (ends(regions_[i - 1].sight)) return i;
  }
  return 0;
}

absl::Status Values::Define(const ValueName& name, ValueId first) {
  const Definition definition{.first = first, .count = name.count, .at = name.at, .region = regions_.size()};
  const auto [found, is_new] = names_.try_emplace(name.name, definition);
  if (!is_new) {
    if (found->second.region >= FirstWhere([](Sight sight) { return sight != Sight::kOuter; })) {
      const LineAndColumn before = reader_.Place(found->second.at);
      return reader_.ErrorAt(name.at, "%%%s is defined twice; the first definition is at %d:%d", name.name,
                             before.line, before.column);
    }
  }
  if (!regions_.empty())
    regions_.back().before.emplace_back(name.name, is_new ? std::nullopt : std::optional(found->second));
  found->second = definition;
  return absl::OkStatus();
}

absl::StatusOr<ValueId> Values::ReadUse() {
  const size_t at = (reader_.SkipBlanks(), reader_.position());
  ASSIGN_OR_RETURN(const std::string_view name, reader_.NameAfter('%', "a value (%name)"));
  int index = 0;
  const bool is_indexed = reader_.Current() == '#';
  if (is_indexed) {
    ASSIGN_OR_RETURN(const std::string_view digits, reader_.NameAfter('#', "a number after '#'"));
    const char* const end = digits.data() + digits.size();
    if (const auto [next, error] = std::from_chars(digits.data(), end, index);
        error != std::errc() || next != end || index < 0) {
      return reader_.ErrorAt(at, "%%%s#%s: expected a result's number after '#'", name, digits);
    }
  }
  const auto found = names_.find(name);
  if (found == names_.end() ||
      found->second.region < FirstWhere([](Sight sight) { return sight == Sight::kNothing; })) {
    return reader_.ErrorAt(at, "%%%s is not defined before its use here", name);
  }
  if (index >= found->second.count) {
    return reader_.ErrorAt(at, "%%%s#%d: %%%s has %d values", name, index, name, found->second.count);
  }
  return found->second.first + index;
}

void Values::Open(Sight sight) { regions_.push_back({.sight = sight}); }

void Values::Close() {
  std::vector<std::pair<std::string_view, std::optional<Definition>>>& before = regions_.back().before;
  for (size_t i = before.size(); i > 0; --i) {
    auto& [name, definition] = before[i - 1];
    if (definition) {
      names_[name] = *definition;
    } else {
      names_.erase(name);
    }
  }
  regions_.pop_back();
}

}  // namespace hlod::stablehlo::text
