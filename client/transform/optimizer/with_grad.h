// While one exists in this thread, operations are remembered for Backward() also inside of a NoGrad scope:
// what a closure of an optimizer computes.
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
