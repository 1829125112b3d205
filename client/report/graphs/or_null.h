// JSON of figures that a report may not know.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace hlod::report {

// Returns null for nullopt.
template <typename T>
nlohmann::ordered_json OrNull(const std::optional<T>& value) {
  return value.has_value() ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace hlod::report
