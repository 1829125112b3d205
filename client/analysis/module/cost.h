// What a module costs, without running it: floating-point operations, transcendental functions and bytes read
// and written, by the definitions of XLA's HloCostAnalysis. Differences, on purpose: a loop's body counts as
// often as it runs, and what is not known is listed instead of counted as -1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/analysis/module/source_lines.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

struct Cost {
  double flops = 0;            // A multiplication and an addition are two.
  double transcendentals = 0;  // Elements of exp, log, tanh, power and their like.
  double bytes = 0;            // Operands and results of every instruction, or fusion.

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
  std::string op_name;  // Of the program that it comes from, as JAX writes it; may be empty.
  SourceLine source;
  hlo::Shape shape;
  double flops = 0;  // All iterations of the loops that it is in.
};

struct ModuleCost {
  Cost total;                              // Loops times their trip counts.
  Cost once;                               // Loop bodies once, as XLA counts them.
  std::vector<std::string> unknown_loops;  // Names of whiles whose trip count is not known: counted once.
  std::vector<std::string> unknown_calls;  // Targets of custom-calls: not counted. Each once, sorted.
  std::vector<CostContributor> largest;    // By operations, most first.
};
ModuleCost CostOf(const hlo::Module& module, size_t contributors_max = 20);

// Whether an instruction computes such functions.
bool IsTranscendental(hlo::Instruction instruction);

}  // namespace hlod::analysis
