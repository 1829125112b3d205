// One size per dimension of an operation, or one for all dimensions: strides, kernels, paddings.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "hlod/runtime/types.h"

namespace hlod {

class Sizes {
 public:
  template <typename T>
  requires std::is_integral_v<T> Sizes(T all) : values_({static_cast<int64_t>(all)}) {}  // NOLINT: implicit.
  Sizes(std::initializer_list<int64_t> values) : values_(values) {}                      // NOLINT
  Sizes(Dims values) : values_(std::move(values)) {}                                     // NOLINT

  const Dims& values() const { return values_; }

 private:
  Dims values_;
};

}  // namespace hlod
