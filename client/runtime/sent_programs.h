// Which programs the daemon should have in its cache, so that their digests suffice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "common/base/sha256.h"

namespace hlod::internal {

struct CommandState;

// Not thread-safe.
class SentPrograms {
 public:
  // Whether the daemon should have this program: an executable of it is alive here (it keeps the command that
  // compiles it), its compilation is known to have succeeded, and not so many were sent after it that the
  // daemon may have forgotten it.
  bool Knows(const Digest& digest);
  // The command that sends it.
  void Remember(const Digest& digest, const std::shared_ptr<CommandState>& compile);

  // Programs remembered; those whose executables are gone are forgotten before it doubles.
  size_t size() const { return programs_.size(); }

 private:
  struct Sent {
    std::weak_ptr<CommandState> compile;
    int64_t number = 0;  // Counts the programs sent.
  };
  static constexpr size_t kPurgeFirst = 64;

  absl::flat_hash_map<Digest, Sent> programs_;
  int64_t sent_ = 0;
  size_t purge_at_ = kPurgeFirst;
};

}  // namespace hlod::internal
