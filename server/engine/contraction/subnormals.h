// Subnormal numbers in products count as zeros, as in XLA's programs: softmaxes and decayed moments are full
// of them, and the processor takes a hundred times as long for each.
#pragma once

#include <cstdint>

namespace hlod::engine {

// While one is in scope, this thread takes subnormal operands as zeros, and makes zeros of subnormal results;
// so do the threads of its team in the loops that it begins (run/team.h).
class WithoutSubnormals {
 public:
  WithoutSubnormals() : before_(Control()) { Set(before_ | kZeros); }
  ~WithoutSubnormals() { Set(before_); }
  WithoutSubnormals(const WithoutSubnormals&) = delete;
  WithoutSubnormals& operator=(const WithoutSubnormals&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr uint32_t kZeros = 1u << 15 | 1u << 6;  // The bits for results and for operands.
  static uint32_t Control() { return __builtin_ia32_stmxcsr(); }
  static void Set(uint32_t control) { __builtin_ia32_ldmxcsr(control); }
#else
  static constexpr uint32_t kZeros = 0;
  static uint32_t Control() { return 0; }
  static void Set(uint32_t) {}
#endif

  const uint32_t before_;
};

}  // namespace hlod::engine
