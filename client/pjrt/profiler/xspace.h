// TensorFlow's XSpace: the form of profiles that TensorBoard and Perfetto show.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace hlod::pjrt {

class XSpace {
 public:
  enum class Line { kRuns = 1, kQueue };
  struct Event {
    std::string name, location;
    absl::Time start;
    absl::Duration duration;
  };
  void Add(int device, Line line, Event event) { events_[device][line].push_back(std::move(event)); }
  std::string Serialize() const;

 private:
  std::map<int, std::map<Line, std::vector<Event>>> events_;
};

}  // namespace hlod::pjrt
