// The programs that a session has compiled: what a new one is nearest to.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "common/base/compile_reason.h"
#include "common/base/error.h"
#include "common/base/sha256.h"
#include "common/hlo/module.h"

namespace hlod::internal {

// Why a program is compiled.
struct Verdict {
  CompileReason reason = CompileReason::kUnsaid;
  std::string text;     // A sentence.
  std::string nearest;  // The name of the nearest program; empty: there is none.
  int recompiles = 0;   // Of the line so far, this one included; 0: this is none (hlod/graph_report.h).
};

// Bounded: the latest programs, the bytes of those that are not large. Thread-safe.
class ProgramHistory {
 public:
  // Why a program is compiled now that was not found, and remembers it. `made`: the lines that made its
  // arguments, as far as they are known.
  Verdict Add(const hlo::Module& module, std::string_view bytes, const Digest& digest, const Origin& line,
              absl::Span<const Origin> made);

 private:
  static constexpr size_t kProgramsMax = 64;
  static constexpr size_t kBytesMax = 32 << 20;      // Of all of them ...
  static constexpr size_t kBytesOfOneMax = 4 << 20;  // ... and of one whose bytes are kept.
  static constexpr size_t kLinesMax = 4096;          // Whose recompiles are counted.

  struct Past {
    std::string name;
    Digest digest;
    Origin line;
    std::string bytes;              // Empty: too many.
    std::vector<uint32_t> opcodes;  // How many instructions of the entry have each.
    uint64_t form = 0;              // Hash of opcodes and operands.
  };
  // The same, without counting.
  Verdict Compare(const hlo::Module& module, std::string_view bytes, const Digest& digest, const Origin& line,
                  absl::Span<const Origin> made);
  // The line's recompiles, this one among them if it is one.
  int Count(const Origin& line, CompileReason reason);
  // How far two are from one another: 0 when they have the same form.
  static uint64_t Distance(const Past& a, const Past& b);

  absl::Mutex mu_;
  std::list<std::shared_ptr<const Past>> programs_ ABSL_GUARDED_BY(mu_);  // The latest first.
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<std::pair<std::string, int>, int> recompiles_ ABSL_GUARDED_BY(mu_);  // By line.
};

}  // namespace hlod::internal
