// Tracks nested regions and their values.
#include "client/import/bytecode/values.h"

namespace hlod::stablehlo::bytecode {
namespace {

constexpr ValueId kMaxValues = 1 << 26;

}  // namespace

void Values::Open(uint64_t count, bool is_isolated) {
  const uint64_t first = is_isolated || regions_.empty() ? 0 : regions_.back().first + regions_.back().count;
  regions_.push_back({.first = first, .count = count, .is_isolated = is_isolated, .defined = {}});
}

absl::Status Values::Close(const Stream& at) {
  const OpenRegion& region = regions_.back();
  if (region.defined.size() != region.count)
    return at.Error("a region defines %d values, but states %d", region.defined.size(), region.count);
  regions_.pop_back();
  return absl::OkStatus();
}

absl::StatusOr<ValueId> Values::Define(const Stream& at, const TypeEntry* type) {
  const ValueId id = count();
  if (id == kMaxValues) return at.Error("the program has more than %d values", kMaxValues);
  RETURN_IF_ERROR(DefineAs(at, id));
  types_.push_back(type);
  return id;
}

absl::Status Values::DefineAs(const Stream& at, ValueId id) {
  OpenRegion& region = regions_.back();
  if (region.defined.size() == region.count)
    return at.Error("a region defines more than the %d values that it states", region.count);
  region.defined.push_back(id);
  return absl::OkStatus();
}

absl::StatusOr<ValueId> Values::Use(const Stream& at, uint64_t number) const {
  for (size_t i = regions_.size(); i > 0; --i) {
    const OpenRegion& region = regions_[i - 1];
    if (number >= region.first) {
      if (number - region.first < region.defined.size()) return region.defined[number - region.first];
      break;
    }
    if (region.is_isolated) break;
  }
  return at.Error("value %d is not defined before its use here", number);
}

}  // namespace hlod::stablehlo::bytecode
