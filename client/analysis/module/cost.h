// The cost of a module, without running it: floating-point operations, transcendental functions and bytes
// read and written, by the definitions of XLA's HloCostAnalysis. It differs on purpose in two ways: a loop's
// body counts as often as it runs, and an unknown cost is listed instead of counted as -1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/analysis/module/source_lines.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

struct Cost {
  double flops = 0;            // A multiplication and an addition count as two.
  double transcendentals = 0;  // Results of exp, log, tanh, power and the like.
  double bytes = 0;            // The bytes of operands and results of every instruction or fusion.

  Cost& operator+=(const Cost& other) {
    flops += other.flops;
    transcendentals += other.transcendentals;
    bytes += other.bytes;
    return *this;
  }
  Cost operator*(double times) const { return {flops * times, transcendentals * times, bytes * times}; }
  friend bool operator==(const Cost&, const Cost&) = default;
};

// An instruction that computes.
struct CostContributor {
  std::string name;     // "dot.12".
  std::string op_name;  // The user's operation, as JAX writes it; may be empty.
  SourceLine source;
  hlo::Shape shape;
  double flops = 0;  // Over all iterations of the loops that contain it.
};

struct ModuleCost {
  Cost total;                              // The cost with loop bodies counted once per iteration.
  Cost once;                               // The cost with loop bodies counted once, as in XLA.
  std::vector<std::string> unknown_loops;  // Whiles without a known trip count, counted once.
  // The targets of custom-calls, whose costs are unknown; sorted, unique.
  std::vector<std::string> unknown_calls;
  std::vector<CostContributor> largest;    // The instructions with most operations, most first.
};
ModuleCost CostOf(const hlo::Module& module, size_t contributors_max = 20);

// Returns true when an instruction computes transcendental functions.
bool IsTranscendental(hlo::Instruction instruction);

}  // namespace hlod::analysis
