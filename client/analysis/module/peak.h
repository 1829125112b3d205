// How much memory a module needs at its fullest, without running it: which arrays are alive when, with
// results computed in place of operands that end there, loop states updated in place, and donated arguments
// taken over. The two ends of a bracket: what an ideal compiler fuses is never written to memory, or
// everything is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/analysis/module/placement.h"
#include "client/analysis/module/source_lines.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

// An array that is alive at the peak.
struct Contributor {
  enum class Kind { kArgument, kResult, kTemporary };
  Kind kind = Kind::kTemporary;
  std::string name;     // Of the instruction that makes it: "dot.12".
  std::string op_name;  // Of the program that it comes from, as JAX writes it; may be empty.
  SourceLine source;
  std::string last_use;  // The instruction that it is kept for; empty: it is a result.
  hlo::Shape shape;
  int64_t bytes = 0;
};
std::string_view Name(Contributor::Kind kind);

struct Peak {
  int64_t arguments = 0;
  int64_t results = 0;      // With the tables of tuples.
  int64_t aliased = 0;      // Results that take over an argument's memory.
  int64_t temporaries = 0;  // At their fullest.
  std::string at;           // The instruction where that is.
  std::vector<Contributor> largest;

  int64_t total() const { return arguments + results - aliased + temporaries; }
};

// Constants are not counted: they belong to the program.
Peak PeakOf(const Placements& placements, size_t contributors_max = 20);

// The same of a verified module, from the beginning. The error of a pass, when the module is too large for
// one.
absl::StatusOr<Peak> PeakOf(const hlo::Module& module, const PlacementOptions& options = {});

}  // namespace hlod::analysis
