// Times multiply-adds that stay in registers, and copies of several sizes.
#include "server/engine/run/machine_speed.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>

#include "common/base/errors/status.h"
#include "server/engine/run/cpu_dispatch.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/team.h"

namespace hlod::engine {
namespace {

// Independent sums per thread: more than the latency of a multiply-add times its rate, and few enough for
// the registers of AVX2.
constexpr int kSums = 12;

float Baseline(int64_t rounds) {
  constexpr int kLanes = 4;
  float sums[kSums][kLanes] = {};
  for (int64_t round = 0; round < rounds; ++round) {
    for (auto& sum : sums) {
#pragma omp simd
      for (int lane = 0; lane < kLanes; ++lane) sum[lane] = sum[lane] * 0.5F + 1.0F;
    }
  }
  return sums[0][0] + sums[kSums - 1][1];
}

#if defined(__x86_64__)
__attribute__((target(HLOD_AVX2_FEATURES))) float Avx2(int64_t rounds) {
  const __m256 half = _mm256_set1_ps(0.5F), one = _mm256_set1_ps(1.0F);
  __m256 sums[kSums];
  for (__m256& sum : sums) sum = one;
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = _mm256_fmadd_ps(sums[i], half, one);
  }
  for (int i = 1; i < kSums; ++i) sums[0] = _mm256_add_ps(sums[0], sums[i]);
  return _mm256_cvtss_f32(sums[0]);
}

__attribute__((target(HLOD_AVX512_FEATURES))) float Avx512(int64_t rounds) {
  const __m512 half = _mm512_set1_ps(0.5F), one = _mm512_set1_ps(1.0F);
  __m512 sums[kSums];
  for (__m512& sum : sums) sum = one;
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = _mm512_fmadd_ps(sums[i], half, one);
  }
  for (int i = 1; i < kSums; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
  return _mm512_cvtss_f32(sums[0]);
}
#endif

struct MultiplyAdds {
  float (*run)(int64_t rounds);
  int lanes;
};

MultiplyAdds BestMultiplyAdds() {
#if defined(__x86_64__)
  switch (BestCpuLevel()) {
    case CpuLevel::kAvx512: return {&Avx512, 16};
    case CpuLevel::kAvx2: return {&Avx2, 8};
    case CpuLevel::kBaseline: break;
  }
#endif
  return {&Baseline, 4};
}

double Seconds(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Returns the shortest time of `repeats` calls, in seconds; 0 when the run has to stop.
template <typename Body>
double Shortest(int repeats, const RunContext& run, Body&& body) {
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    if (StopCheck::MustStop(run)) return 0;
    const auto start = std::chrono::steady_clock::now();
    body();
    best = std::min(best, Seconds(start));
  }
  return best;
}

// Divides `count` items over a team, however few operations they are.
template <typename Body>
void OnTeam(int threads, int64_t count, Body&& body) {
  ParallelRanges(threads, count, kParallelElementsMin, std::forward<Body>(body));
}

}  // namespace

absl::StatusOr<MachineSpeed> MeasureMachineSpeed(absl::Span<std::byte> memory, int threads,
                                                 const RunContext& run) {
  MachineSpeed speed;
  speed.threads = TeamOfThisThread(threads);

  constexpr int64_t kRounds = 100'000;  // About 0.4 ms.
  constexpr int kRepeats = 20;
  const MultiplyAdds kernel = BestMultiplyAdds();
  std::atomic<float> kept{0};  // Keeps the compiler from leaving the loop out.
  const double seconds = Shortest(kRepeats, run, [&] {
    OnTeam(speed.threads, speed.threads, [&](int64_t, int64_t, int) { kept = kernel.run(kRounds); });
  });
  if (seconds == 0) return StopCheck::Verdict(run);
  speed.f32_flops = 2.0 * kSums * kernel.lanes * static_cast<double>(kRounds * speed.threads) / seconds;

  for (int64_t bytes = 128 << 10; bytes <= static_cast<int64_t>(memory.size()); bytes *= 4) {
    const int64_t half = bytes / 2;
    // The first call touches the pages.
    const int repeats = static_cast<int>(std::clamp<int64_t>((64 << 20) / bytes, 3, 50));
    const double copied = Shortest(repeats, run, [&] {
      OnTeam(speed.threads, half, [&](int64_t begin, int64_t end, int) {
        std::memcpy(memory.data() + half + begin, memory.data() + begin, static_cast<size_t>(end - begin));
      });
    });
    if (copied == 0) return StopCheck::Verdict(run);
    speed.copies.push_back({bytes, static_cast<double>(bytes) / copied});
  }
  return speed;
}

}  // namespace hlod::engine
