// Translates ids of one Tables to ids of another, to copy instructions between them.
#pragma once

#include <vector>

#include "common/hlo/module.h"

namespace hlod::hlo {

// Translates each id once. Both Tables must outlive it.
class Translation {
 public:
  Translation(const Tables& from, Tables& to) : from_(from), to_(to) {}

  ShapeId shape(ShapeId id) {
    ShapeId& now = Slot(shapes_, id);
    if (now != kUnknown) return now;
    return now = to_.Intern(from_.shape(id));
  }

  AttributesId attributes(AttributesId id) {
    AttributesId& now = Slot(attributes_, id);
    if (now != kUnknown) return now;
    const Attributes& given = from_.attributes(id);
    if (const auto* constant = std::get_if<ConstantAttributes>(&given)) {
      return now = to_.Intern(
                 Attributes(ConstantAttributes{to_.Intern(from_.shared_literal(constant->literal))}));
    }
    return now = to_.Intern(given);
  }

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;
  static uint32_t& Slot(std::vector<uint32_t>& ids, uint32_t id) {
    if (id >= ids.size()) ids.resize(id + 1, kUnknown);
    return ids[id];
  }

  const Tables& from_;
  Tables& to_;
  std::vector<uint32_t> shapes_, attributes_;
};

}  // namespace hlod::hlo
