// The lines of the program that the daemon knows by number, with the names of the tensors there.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "common/base/errors/error.h"

namespace hlod::runtime {

// Not thread-safe.
class SentOrigins {
 public:
  // Returns the line's id, or 0 when it has none.
  uint32_t Find(std::string_view file, int line, std::string_view function, std::string_view name) const;
  // Returns a new id. REQUIRES: the line has none.
  uint32_t Add(Origin origin, std::string_view name);
  // Returns the line of an id; an unknown one for 0 and for other ids.
  Origin at(uint32_t id) const { return id == 0 || id > origins_.size() ? Origin{} : origins_[id - 1]; }
  int64_t size() const { return static_cast<int64_t>(origins_.size()); }

 private:
  using Key = std::tuple<std::string_view, int, std::string_view, std::string_view>;
  // Id i is at i - 1; the keys of ids_ point into both deques.
  std::deque<Origin> origins_;
  std::deque<std::string> names_;
  absl::flat_hash_map<Key, uint32_t> ids_;
};

}  // namespace hlod::runtime
