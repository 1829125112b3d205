// The only file that reads the features of the processor.
#include "common/base/system/cpu.h"

#include <sys/utsname.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/errors/status.h"
#include "common/base/system/cpu_limit.h"
#include "common/base/text/strings.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hlod {
namespace {

constexpr std::string_view kLevelNames[] = {"baseline", "avx2", "avx512"};

constexpr int kUnlimited = static_cast<int>(std::size(kLevelNames));
std::atomic<int> limit_in_force{kUnlimited};

CpuLevel FindProcessorLevel() {
#if defined(__x86_64__)
  // A static initializer of a shared object may run before that of the compiler's runtime.
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("popcnt");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (avx2) return avx512 ? CpuLevel::kAvx512 : CpuLevel::kAvx2;
#endif
  return CpuLevel::kBaseline;
}

bool ProcessorHas([[maybe_unused]] CpuExtension extension) {
#if defined(__x86_64__)
  switch (extension) {
    case CpuExtension::kSse42: return __builtin_cpu_supports("sse4.2") != 0;
    case CpuExtension::kF16c: return __builtin_cpu_supports("f16c") != 0;
    case CpuExtension::kVpopcntdq: return __builtin_cpu_supports("avx512vpopcntdq") != 0;
  }
#endif
  return false;
}

// Returns the lowest limit that still permits an extension. SSE4.2 is used for checksums only, which are the
// same on every processor.
int LeastLimit(CpuExtension extension) {
  switch (extension) {
    case CpuExtension::kSse42: return static_cast<int>(CpuLevel::kBaseline);
    case CpuExtension::kF16c: return static_cast<int>(CpuLevel::kAvx2);
    case CpuExtension::kVpopcntdq: return kUnlimited;
  }
  return kUnlimited;
}

}  // namespace

std::string_view Name(CpuLevel level) { return kLevelNames[static_cast<int>(level)]; }

CpuLevel ProcessorCpuLevel() {
  static const CpuLevel level = FindProcessorLevel();
  return level;
}

CpuLevel BestCpuLevel() {
  const int processor = static_cast<int>(ProcessorCpuLevel());
  return static_cast<CpuLevel>(std::min(processor, limit_in_force.load(std::memory_order_relaxed)));
}

bool UsesCpuExtension(CpuExtension extension) {
  return limit_in_force.load(std::memory_order_relaxed) >= LeastLimit(extension) && ProcessorHas(extension);
}

absl::StatusOr<std::optional<CpuLevel>> ParseCpuLimit(std::string_view name, CpuLevel processor) {
  if (name == kNoCpuLimit) return std::nullopt;
  const auto* const found = std::find(std::begin(kLevelNames), std::end(kLevelNames), name);
  const auto level = static_cast<CpuLevel>(found - std::begin(kLevelNames));
  if (level <= processor) return level;
  std::string has(kNoCpuLimit);
  for (int i = 0; i <= static_cast<int>(processor); ++i) absl::StrAppend(&has, ", ", ToAbsl(kLevelNames[i]));
  if (found == std::end(kLevelNames)) return InvalidArgument("\"%s\" is not one of %s", name, has);
  return InvalidArgument("this processor lacks %s; it has %s", name, has);
}

void LimitCpu(std::optional<CpuLevel> limit) {
  limit_in_force = limit.has_value() ? static_cast<int>(*limit) : kUnlimited;
}

std::optional<CpuLevel> CpuLimit() {
  const int limit = limit_in_force.load(std::memory_order_relaxed);
  if (limit == kUnlimited) return std::nullopt;
  return static_cast<CpuLevel>(limit);
}

std::string DescribeCpu() {
  utsname system = {};
  uname(&system);
  const std::optional<CpuLevel> limit = CpuLimit();
  std::string cpu = absl::StrCat(system.machine, " level ", ToAbsl(Name(BestCpuLevel())), " limit ",
                                 ToAbsl(limit.has_value() ? Name(*limit) : kNoCpuLimit));
#if defined(__x86_64__)
  // libm chooses its code by the processor's features and ignores the limit.
  unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) {
    absl::StrAppendFormat(&cpu, " model %08x features %08x %08x", eax, ecx & ~(1U << 27), edx);
  }
#endif
  return cpu;
}

}  // namespace hlod
