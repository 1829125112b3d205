// Numbers lines from 1 in the order in which they are sent.
#include "client/runtime/session/sent_origins.h"

#include <utility>

namespace hlod::runtime {

uint32_t SentOrigins::Find(std::string_view file, int line, std::string_view function,
                           std::string_view name) const {
  const auto found = ids_.find(Key(file, line, function, name));
  return found == ids_.end() ? 0 : found->second;
}

uint32_t SentOrigins::Add(Origin origin, std::string_view name) {
  const Origin& kept = origins_.emplace_back(std::move(origin));
  const std::string& kept_name = names_.emplace_back(name);
  const auto id = static_cast<uint32_t>(origins_.size());
  ids_.emplace(Key(kept.file, kept.line, kept.function, kept_name), id);
  return id;
}

}  // namespace hlod::runtime
