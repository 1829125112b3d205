// An event as the framework holds it.
#pragma once

#include <memory>
#include <utility>

#include "client/pjrt/abi/event.h"
#include "client/pjrt/events/completion.h"

namespace hlod::pjrt {

// The framework destroys it, perhaps before it is done, or in its own callback.
class Event {
 public:
  explicit Event(std::shared_ptr<Completion> completion) : completion_(std::move(completion)) {}
  const std::shared_ptr<Completion>& completion() const { return completion_; }

 private:
  const std::shared_ptr<Completion> completion_;
};

}  // namespace hlod::pjrt
