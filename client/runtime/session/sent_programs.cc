// A program is forgotten when it is looked up after its executables are gone, or when many others were sent.
#include "client/runtime/session/sent_programs.h"

#include <algorithm>

#include "client/runtime/session/session.h"

namespace hlod::runtime {
namespace {

// The number of programs remembered here; the daemon remembers twice as many digests per session.
constexpr int64_t kProgramsRemembered = 32 << 10;

}  // namespace

bool SentPrograms::Knows(const Digest& digest) {
  absl::MutexLock lock(&mu_);
  const auto found = programs_.find(digest);
  if (found == programs_.end()) return false;
  const Command compile = found->second.compile.lock();
  if (compile == nullptr) {
    programs_.erase(found);
    return false;
  }
  return sent_ - found->second.number < kProgramsRemembered &&
         compile->done.load(std::memory_order_acquire) && compile->status.ok();
}

void SentPrograms::Remember(const Digest& digest, const Command& compile) {
  absl::MutexLock lock(&mu_);
  // A weak pointer keeps the memory of its object.
  if (programs_.size() >= purge_at_) {
    absl::erase_if(programs_, [](const auto& program) { return program.second.compile.expired(); });
    purge_at_ = std::max(kPurgeFirst, 2 * programs_.size());
  }
  programs_[digest] = {.compile = compile, .number = ++sent_};
}

}  // namespace hlod::runtime
