// Records the programs that a session has compiled, and finds the one nearest to a new program.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "common/base/errors/compile_reason.h"
#include "common/base/errors/error.h"
#include "common/base/sha256.h"
#include "common/hlo/module.h"

namespace hlod::runtime {

// The explanation of a compile.
struct CompileCause {
  CompileReason reason = CompileReason::kUnsaid;
  std::string text;     // The explanation, as a sentence.
  std::string nearest;  // The name of the nearest program; empty if no other was compiled.
  // The number of recompiles of the line so far that were reached by the same calls, including this one; 0 if
  // this is not a recompile (hlod/observe/graph_report.h).
  int recompiles = 0;
};

// Keeps only the latest programs: small ones as modules, because a program that is compiled for each of many
// shapes is compared with its predecessor every time, and larger ones as bytes, unless they are very large.
// Thread-safe.
class ProgramHistory {
 public:
  // Explains why a program that was not in the cache is compiled now, and records the program. `made` holds
  // the lines that made its arguments, as far as they are known. `path` stands for the calls that lead to the
  // line (CallPath()): programs that a helper compiles for different callers are not recompiles of one
  // another.
  CompileCause Add(const hlo::Module& module, std::string_view bytes, const Digest& digest,
                   const Origin& line, absl::Span<const Origin> made, uint64_t path = 0);
  // Returns true at its first call for a line.
  bool TellOnce(const Origin& line);

 private:
  static constexpr size_t kProgramsMax = 64;
  static constexpr size_t kBytesMax = 32 << 20;        // The limit on the bytes of all programs together.
  static constexpr size_t kModuleBytesMax = 64 << 10;  // The bytes of a larger program are kept instead.
  static constexpr size_t kBytesOfOneMax = 4 << 20;    // The bytes of a larger program are not kept.
  static constexpr size_t kLinesMax = 4096;            // The number of lines and paths that are counted.

  struct Past {
    std::string name;
    Digest digest;
    Origin line;
    size_t size = 0;  // The bytes of the program that are counted; 0 if it is not kept.
    std::unique_ptr<const hlo::Module> module;  // The program, if it is small.
    std::string bytes;                          // The serialized program, if it is kept and not small.
    std::vector<uint32_t> opcodes;              // The number of instructions of the entry, per opcode.
    uint64_t form = 0;                          // The hash of opcodes and operands.
  };
  // Returns the description of a program, as it is kept.
  static std::shared_ptr<Past> PastOf(const hlo::Module& module, std::string_view bytes, const Digest& digest,
                                      const Origin& line);
  // Returns null when no program is kept.
  std::shared_ptr<const Past> Nearest(const Past& added) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Keep(std::shared_ptr<const Past> added) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Does the same as Add, without counting recompiles.
  CompileCause Compare(const hlo::Module& module, std::string_view bytes, const Digest& digest,
                       const Origin& line, absl::Span<const Origin> made);
  // Returns the number of recompiles of programs of this name at the line on this path, including this
  // compile; 0 if it is not a recompile.
  int Count(const Origin& line, const std::string& name, uint64_t path, CompileReason reason);
  // Returns the distance of two programs: 0 when they have the same form.
  static uint64_t Distance(const Past& a, const Past& b);

  absl::Mutex mu_;
  std::list<std::shared_ptr<const Past>> programs_ ABSL_GUARDED_BY(mu_);  // The programs, latest first.
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  // The number of recompiles by file, line, name and path. A line of JAX may have several operations, each a
  // program with a name of its own.
  absl::flat_hash_map<std::tuple<std::string, int, std::string, uint64_t>, int> recompiles_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<std::pair<std::string, int>> told_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::runtime
