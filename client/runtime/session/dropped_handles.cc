// Collects handles until one command frees them.
#include "client/runtime/session/dropped_handles.h"

#include <algorithm>

namespace hlod::runtime {
namespace {

constexpr size_t kHandlesPerFree = 32 << 10;
constexpr size_t kHandlesMax = 1024;  // The most handles that wait for another command.

}  // namespace

void DroppedHandles::Add(uint64_t handle, int64_t bytes) {
  handles_.push_back(handle);
  bytes_ += bytes;
}

void DroppedHandles::AddDonated(uint64_t execute, uint64_t handle, int64_t bytes) {
  donated_[execute].push_back({handle, bytes});
}

void DroppedHandles::CommandIsDone(uint64_t command, bool failed) {
  const auto found = donated_.find(command);
  if (found == donated_.end()) return;
  if (failed) {
    for (const Dropped& dropped : found->second) Add(dropped.handle, dropped.bytes);
  }
  donated_.erase(found);
}

bool DroppedHandles::MustFree() const { return handles_.size() >= kHandlesMax || bytes_ >= kBytesMax; }

std::vector<uint64_t> DroppedHandles::Take() {
  const size_t kept = handles_.size() - std::min(handles_.size(), kHandlesPerFree);
  const std::vector<uint64_t> taken(handles_.begin() + static_cast<ptrdiff_t>(kept), handles_.end());
  handles_.resize(kept);
  if (kept == 0) bytes_ = 0;
  return taken;
}

void DroppedHandles::Clear() {
  handles_.clear();
  bytes_ = 0;
  donated_.clear();
}

}  // namespace hlod::runtime
