// Loops whose turns are written out by the compiler, in every build type, so that small arrays are registers.
#pragma once

#include <utility>

#include "common/base/system/cpu.h"

namespace hlod::engine {

// Calls f(std::integral_constant<int, i>) for each i below kCount. Give the lambda HLOD_INLINE_LAMBDA.
template <int kCount, typename F>
HLOD_ALWAYS_INLINE void Unrolled(const F& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, i>()), ...);
  }
  (std::make_integer_sequence<int, kCount>());
}

#define HLOD_INLINE_LAMBDA __attribute__((always_inline))

}  // namespace hlod::engine
