// Helpers over a profile that the page and the trace share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "hlod/observe/profile.h"

namespace hlod::report {

using Json = nlohmann::ordered_json;

// Returns "train.cc:88", or "" for an unknown line.
inline std::string LineOf(const Origin& origin) {
  return origin.file.empty() ? "" : absl::StrCat(origin.file, ":", origin.line);
}

// The time of the first event, from which a report counts; 0 without events.
inline double StartOf(const Profile& run) { return run.events.empty() ? 0 : run.events.front().at_us; }

// Calls body(event, what) for each event that is an E, in order.
template <typename E, typename Body>
void ForEach(const Profile& run, Body body) {
  for (const Event& event : run.events) {
    if (const E* const what = std::get_if<E>(&event.what)) body(event, *what);
  }
}

}  // namespace hlod::report
