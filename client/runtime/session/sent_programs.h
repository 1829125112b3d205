// Tracks the programs that the daemon should have in its cache, so that sending their digests suffices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "common/base/sha256.h"

namespace hlod::runtime {

struct CommandState;

// Thread-safe.
class SentPrograms {
 public:
  // Returns true when the daemon should have this program: an executable of it exists here (it keeps the
  // command that compiles it), its compilation is known to have succeeded, and too few programs were sent
  // since then for the daemon to have forgotten it.
  bool Knows(const Digest& digest) ABSL_LOCKS_EXCLUDED(mu_);
  // Records that `compile` sends the program.
  void Remember(const Digest& digest, const std::shared_ptr<CommandState>& compile) ABSL_LOCKS_EXCLUDED(mu_);

  // The number of programs remembered. Those whose executables are gone are forgotten before it doubles.
  size_t size() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return programs_.size();
  }

 private:
  struct Sent {
    std::weak_ptr<CommandState> compile;
    int64_t number = 0;  // The number of programs that the session had sent before it.
  };
  static constexpr size_t kPurgeFirst = 64;

  mutable absl::Mutex mu_;
  absl::flat_hash_map<Digest, Sent> programs_ ABSL_GUARDED_BY(mu_);
  int64_t sent_ ABSL_GUARDED_BY(mu_) = 0;
  size_t purge_at_ ABSL_GUARDED_BY(mu_) = kPurgeFirst;
};

}  // namespace hlod::runtime
