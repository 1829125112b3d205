// While a WithGrad exists in this thread, the tape records operations even in a NoGrad scope: an optimizer's
// step runs in such a scope, but the closure that it calls must be recorded.
#pragma once

#include <utility>

#include "client/tensor/autograd/tape.h"

namespace hlod {

class WithGrad {
 public:
  WithGrad() : before_(std::exchange(lazy::GradMode(), true)) {}
  ~WithGrad() { lazy::GradMode() = before_; }
  WithGrad(const WithGrad&) = delete;
  WithGrad& operator=(const WithGrad&) = delete;

 private:
  const bool before_;
};

}  // namespace hlod
