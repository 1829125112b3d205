// Runs a program interpreted and as machine code, which must have the same bits: a module, text or proto; or
// a random program, whose seed, dimensions and size are the first bytes of any other input.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/system/cpu.h"
#include "common/base/system/cpu_limit.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "gtest/gtest.h"
#include "server/engine/assemble/assembler.h"
#include "server/engine/plan/plan.h"
#include "tests/unit/server/engine/plan_testing.h"
#include "tests/unit/server/engine/assemble/random_programs.h"

namespace hlod::engine {
namespace {

constexpr int64_t kMemory = 4 << 20;
constexpr double kSlowUs = 20'000;

absl::StatusOr<std::vector<hlo::Literal>> RunWithin(absl::Duration time, const Plan& plan,
                                                    const std::vector<hlo::Literal>& arguments) {
  RunContext context;
  context.deadline = absl::Now() + time;
  return RunPlan(plan, arguments, context);
}

void Compare(const hlo::Module& module) {
  static const auto assembler = std::make_shared<Assembler>(Assembler::Options{});
  const auto interpreted = Compile(module, {.threads = 2, .verify = false, .assembler = nullptr});
  if (!interpreted.ok()) return;
  const PlanMemory& memory = (*interpreted)->memory();
  if (memory.argument_bytes > kMemory || memory.output_bytes > kMemory || memory.temporary_bytes > kMemory)
    return;
  if ((*interpreted)->estimate_us() > kSlowUs) return;
  const auto assembled = Compile(module, {.threads = 2, .verify = false, .assembler = assembler});
  if (!assembled.ok()) std::abort();
  (*assembled)->AssembleNow();
  std::vector<hlo::Literal> arguments;
  std::mt19937 random(1);
  for (const hlo::Shape& shape : (*interpreted)->arguments())
    arguments.push_back(shape.IsArray() ? SpecialValues(shape, random) : hlo::Literal(shape));
  const auto expected = RunWithin(absl::Seconds(1), **interpreted, arguments);
  if (!expected.ok()) return;
  // Far more time than the machine code of a program needs that is interpreted in a second.
  const auto actual = RunWithin(absl::Seconds(60), **assembled, arguments);
  if (!actual.ok()) {
    std::fprintf(stderr, "%s\n%s\n%s", actual.status().ToString().c_str(), hlo::ToText(module).c_str(),
                 (*assembled)->Dump().c_str());
    std::abort();
  }
  for (size_t r = 0; r < expected->size(); ++r) {
    if (!(*expected)[r].shape().IsArray() || SameBits((*actual)[r], (*expected)[r])) continue;
    std::fprintf(stderr, "result %zu: %s\n%s\n%s", r, FirstDifference((*actual)[r], (*expected)[r]).c_str(),
                 hlo::ToText(module).c_str(), (*assembled)->Dump().c_str());
    std::abort();
  }
}

// Compares on every instruction set that this process may use.
void Try(const hlo::Module& module) {
  if (!hlo::Verify(module).ok()) return;
  const std::optional<CpuLevel> before = CpuLimit();
  const CpuLevel best = BestCpuLevel();
  for (const CpuLevel level : {CpuLevel::kAvx2, CpuLevel::kAvx512}) {
    if (level > best) continue;
    LimitCpu(level);
    Compare(module);
    LimitCpu(before);
  }
}

std::unique_ptr<hlo::Module> RandomModule(const uint8_t* data, size_t size) {
  uint8_t bytes[8] = {};
  if (size > 0) std::memcpy(bytes, data, std::min(size, sizeof(bytes)));
  uint32_t seed;
  std::memcpy(&seed, bytes, sizeof(seed));
  RandomPrograms programs(seed);
  const std::vector<int64_t> dims = {bytes[4] % 70, 1 + bytes[5]};
  const int count = 1 + bytes[6] % 24, kind = bytes[7] % 4;
  if (kind == 3) return programs.MakeLoop({dims[1]}, count / 3 + 1, bytes[4] % 8, (bytes[4] & 1) != 0);
  return programs.Make(dims, count, dims[0] == 0 ? 0 : kind);
}

}  // namespace
}  // namespace hlod::engine

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  GTEST_FLAG_SET(throw_on_failure, true);  // Fails when memory was overrun.
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hlod::hlo;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto module = bytes.starts_with("HloModule")
                    ? ParseModule(bytes, {.literal_bytes_max = 1 << 20})
                    : FromSerialized(bytes, {.for_execution = true, .literal_bytes_max = 1 << 20});
  if (module.ok()) hlod::engine::Try(**module);
  else if (size <= 64) hlod::engine::Try(*hlod::engine::RandomModule(data, size));
  return 0;
}
