// Runs any module, text or proto, through the engine: it is refused, or it runs within its memory; and when
// it has no floats, its results are the evaluator's.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "gtest/gtest.h"
#include "server/engine/plan/plan.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

constexpr int64_t kMemory = 4 << 20;
constexpr double kSlowUs = 20'000;

bool OnlyIntegers(const hlo::Module& module) {
  for (hlo::ComputationId c = 0; c < module.computation_count(); ++c) {
    const hlo::Computation& computation = module.computation(c);
    for (hlo::NodeId id = 0; id < computation.size(); ++id) {
      for (const hlo::ShapeLeaf& leaf : hlo::Leaves(computation[id].shape())) {
        if (!hlo::IsInteger(leaf.shape->type) && leaf.shape->type != hlo::kPred) return false;
      }
    }
  }
  return true;
}

std::vector<hlo::Literal> Arguments(const Plan& plan) {
  std::vector<hlo::Literal> arguments;
  for (const hlo::Shape& shape : plan.arguments()) {
    arguments.push_back(shape.IsArray() ? Sample(shape, static_cast<uint32_t>(arguments.size() + 1))
                                        : hlo::Literal(shape));
  }
  return arguments;
}

absl::StatusOr<std::vector<hlo::Literal>> RunWithinASecond(const Plan& plan,
                                                           const std::vector<hlo::Literal>& arguments) {
  RunContext context;
  context.deadline = absl::Now() + absl::Seconds(1);
  return RunPlan(plan, arguments, context);
}

void Try(const hlo::Module& module) {
  if (!hlo::Verify(module).ok()) return;
  const auto plan = Compile(module, {.threads = 2, .verify = false});
  if (!plan.ok()) return;
  const PlanMemory& memory = (*plan)->memory();
  if (memory.argument_bytes > kMemory || memory.output_bytes > kMemory || memory.temporary_bytes > kMemory)
    return;
  if ((*plan)->estimate_us() > kSlowUs) return;
  const std::vector<hlo::Literal> arguments = Arguments(**plan);
  const auto results = RunWithinASecond(**plan, arguments);
  if (!results.ok() || !OnlyIntegers(module)) return;
  const auto reference = Compile(module, {.threads = 1, .verify = false, .reference_only = true});
  if (!reference.ok()) return;
  const auto expected = RunWithinASecond(**reference, arguments);
  if (!expected.ok()) return;
  for (size_t i = 0; i < results->size(); ++i) {
    if (!(*results)[i].shape().IsArray()) continue;
    const std::string difference = Difference((*results)[i], (*expected)[i], 0, 0);
    if (difference.empty()) continue;
    std::fprintf(stderr, "result %zu: %s\n%s", i, difference.c_str(), (*plan)->Dump().c_str());
    std::abort();
  }
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
  return 0;
}
