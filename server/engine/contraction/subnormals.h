// Subnormal numbers in products count as zeros, as in XLA's programs: softmaxes and decayed moments are full
// of them, and the processor takes a hundred times as long for each.
#pragma once

#include <cstdint>

namespace hlod::engine {

// While one is in scope, the threads of a team, or this one alone, take subnormal operands as zeros, and make
// zeros of subnormal results.
class WithoutSubnormals {
 public:
  explicit WithoutSubnormals(int threads = 1) : threads_(threads), before_(Control()) {
    SetAll(before_ | kZeros);
  }
  ~WithoutSubnormals() { SetAll(before_); }
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

  void SetAll(uint32_t control) const {
    if (threads_ == 1) return Set(control);
#pragma omp parallel num_threads(threads_)
    Set(control);
  }

  const int threads_;
  const uint32_t before_;
};

}  // namespace hlod::engine
