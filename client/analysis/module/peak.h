// The peak memory of a module, without running it: the arrays that are alive at the same time. Results are
// computed in place of operands that end there, loop states are updated in place, and donated arguments are
// taken over. The peak is computed twice: without fusion, and with it, so that values that an ideal compiler
// would fuse are never written to memory (PlacementOptions::fused).
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
  std::string name;     // The instruction that makes it: "dot.12".
  std::string op_name;  // The user's operation, as JAX writes it; may be empty.
  SourceLine source;
  std::string last_use;  // The instruction that last uses it; empty for arguments and results.
  hlo::Shape shape;
  int64_t bytes = 0;
};
std::string_view Name(Contributor::Kind kind);

struct Peak {
  int64_t arguments = 0;    // The bytes of arguments, with the tables of tuples.
  int64_t results = 0;      // The bytes of results, with the tables of tuples.
  int64_t aliased = 0;      // Results that take over an argument's memory.
  int64_t temporaries = 0;  // The maximum of bytes alive at one instruction.
  std::string at;           // The instruction at which that is.
  std::vector<Contributor> largest;

  int64_t total() const { return arguments + results - aliased + temporaries; }
};

// Computes the peak. Constants are not counted: they belong to the program.
Peak PeakOf(const Placements& placements, size_t contributors_max = 20);

// Computes the peak of a verified module, with its placements. Returns the error of a pass that finds the
// module too large.
absl::StatusOr<Peak> PeakOf(const hlo::Module& module, const PlacementOptions& options = {});

}  // namespace hlod::analysis
