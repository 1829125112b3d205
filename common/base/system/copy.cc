// Uses non-temporal stores: a payload in transit should neither read its destination first nor displace the
// caches.
#include "common/base/system/copy.h"

#include <cstdint>
#include <cstring>

#include "common/base/system/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hlod {
namespace {

constexpr size_t kStreamBytesMin = 512 << 10;  // The size below which copying through the caches is faster.

#if defined(__x86_64__)
__attribute__((target("avx2"))) void Stream(std::byte* to, const std::byte* from, size_t bytes) {
  const size_t head = -reinterpret_cast<uintptr_t>(to) & 31;
  std::memcpy(to, from, head);
  to += head, from += head, bytes -= head;
  for (; bytes >= 128; bytes -= 128, to += 128, from += 128) {
    const auto* source = reinterpret_cast<const __m256i*>(from);
    auto* target = reinterpret_cast<__m256i*>(to);
    const __m256i a = _mm256_loadu_si256(source), b = _mm256_loadu_si256(source + 1);
    const __m256i c = _mm256_loadu_si256(source + 2), d = _mm256_loadu_si256(source + 3);
    _mm256_stream_si256(target, a);
    _mm256_stream_si256(target + 1, b);
    _mm256_stream_si256(target + 2, c);
    _mm256_stream_si256(target + 3, d);
  }
  _mm_sfence();
  std::memcpy(to, from, bytes);
}
#endif

}  // namespace

void CopyBytes(std::byte* to, const std::byte* from, size_t bytes) {
#if defined(__x86_64__)
  if (bytes >= kStreamBytesMin && BestCpuLevel() >= CpuLevel::kAvx2) return Stream(to, from, bytes);
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace hlod
