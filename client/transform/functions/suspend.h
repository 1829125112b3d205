// Suspends autocast while a transform records, because its instructions have the types of the forward
// computation.
#pragma once

#include <utility>

#include "client/tensor/dispatch/autocast.h"

namespace hlod::lazy {

class AutocastSuspension {
 public:
  AutocastSuspension() : before_(std::exchange(autocast_active, false)) {}
  ~AutocastSuspension() { autocast_active = before_; }
  AutocastSuspension(const AutocastSuspension&) = delete;
  AutocastSuspension& operator=(const AutocastSuspension&) = delete;

 private:
  const bool before_;
};

}  // namespace hlod::lazy
