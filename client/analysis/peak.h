// How much memory a module needs at its fullest, without running it: which arrays are alive when, with
// results computed in place of operands that end there, loop states updated in place, and donated arguments
// taken over. The two ends of a bracket: what an ideal compiler fuses is never written to memory, or
// everything is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

struct PeakOptions {
  // Elementwise chains, broadcasts and their like are computed where they are used.
  bool fused = true;
  // What an array takes in the device's memory; null: its dense payload (hlo::ByteSize).
  std::function<int64_t(const hlo::Shape&)> bytes;
  size_t contributors_max = 20;
};

// An array that is alive at the peak.
struct Contributor {
  enum class Kind { kArgument, kResult, kTemporary };
  Kind kind = Kind::kTemporary;
  std::string name;      // Of the instruction that makes it: "dot.12".
  std::string op_name;   // Of the program that it comes from, as JAX writes it; may be empty.
  std::string source;    // "model.py:41", or empty.
  std::string last_use;  // The instruction that it is kept for; empty: it is a result.
  hlo::Shape shape;
  int64_t bytes = 0;
};

struct Peak {
  int64_t arguments = 0, results = 0;
  int64_t aliased = 0;      // Results that take over an argument's memory.
  int64_t temporaries = 0;  // At their fullest.
  std::string at;           // The instruction where that is.
  double traffic = 0;       // Bytes read and written, loops times their trip counts where these are known.
  std::vector<Contributor> largest;

  int64_t total() const { return arguments + results - aliased + temporaries; }
};

// Of a verified module. Constants are not counted: they belong to the program. The error of a pass, when the
// module is too large for one.
absl::StatusOr<Peak> PeakOf(const hlo::Module& module, const PeakOptions& options = {});

}  // namespace hlod::analysis
