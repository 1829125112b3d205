// The sweeps under tests/conformance/sweep/data: every opcode over every type that XLA's CPU backend
// supports, with its results. See sweep/README.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/literal.h"

namespace hlod::testing {

// kExact: equal bits, but any NaN matches a NaN, and a zero of the same sign matches a subnormal number,
// which XLA's CPU backend flushes. kNear: the design's tolerance for the type; zeros have the same sign.
// kSum: that tolerance relative to the largest element, too, since terms cancel.
enum class SweepRule { kExact, kNear, kSum };

struct SweepResult {
  std::string name;
  SweepRule rule = SweepRule::kExact;
  hlo::Literal expected;
};

// One module. Its results are the leaves of its root.
struct SweepModule {
  std::string name, text;
  std::vector<hlo::Literal> arguments;
  std::vector<SweepResult> results;
};

// Reads the modules of a family ("dot"), in the file's order.
absl::StatusOr<std::vector<SweepModule>> LoadSweep(std::string_view family);
// Returns the names of all families, sorted.
std::vector<std::string> SweepFamilies();

// Returns a description of the difference, or an empty string.
std::string SweepDifference(const hlo::Literal& got, const SweepResult& want);

}  // namespace hlod::testing
