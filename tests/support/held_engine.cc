// Reads the variables.
#include "tests/support/held_engine.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"
#include "server/engine/assemble/assembler.h"
#include "server/engine/contraction/cpu_features.h"

namespace hlod::testing {
namespace {

constexpr int kWrongVariable = 2;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

[[maybe_unused]] const bool held = [] {
  const std::string limit = Variable("HLOD_CPU_FEATURES");
  if (limit.empty()) return false;
  const absl::Status status = engine::LimitCpuFeatures(limit);
  if (status.ok()) return true;
  std::fprintf(stderr, "$HLOD_CPU_FEATURES: %s.\n", status.ToString().c_str());
  _exit(kWrongVariable);
}();

// Machine code is made before the first run, so that the tests run it. AVX2 is enough for it.
[[maybe_unused]] const bool assembles = [] {
  const std::string text = Variable("HLOD_ASSEMBLE");
  if (text.empty()) return false;
  const absl::StatusOr<engine::Assembling> when = engine::ParseAssembling(text);
  if (when.ok()) {
    engine::SetDefaultAssembler(engine::MakeAssembler(*when));
    return true;
  }
  std::fprintf(stderr, "$HLOD_ASSEMBLE: %s.\n", when.status().ToString().c_str());
  _exit(kWrongVariable);
}();

}  // namespace

int EngineThreads() {
  int threads = 0;
  return absl::SimpleAtoi(Variable("OMP_NUM_THREADS"), &threads) && threads > 0 ? threads : 2;
}

}  // namespace hlod::testing
