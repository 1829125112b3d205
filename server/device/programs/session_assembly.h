// A session's turns at the assembler, and its share of the memory for machine code.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "server/device/execution/fair_queue.h"
#include "server/device/memory/side_memory.h"
#include "server/engine/assemble/assembly_job.h"

namespace hlod::device {

// Thread-safe.
class SessionAssembly final : public engine::AssemblyUser {
 public:
  // The number of a session's plans that may wait. Further ones stay interpreted until some are done.
  static constexpr int64_t kWaitingMax = 1024;

  // The queue must exist as long as Submit is called. `share` is a share of the memory for machine code.
  SessionAssembly(FairQueue& queue, uint64_t session, std::shared_ptr<MemoryShare> share)
      : queue_(queue), session_(session), share_(std::move(share)) {}

  void Submit(std::function<void()> work) override {
    const auto place = std::make_shared<const Place>(shared_from_this(), waiting_);
    if (place->number > kWaitingMax) return;
    queue_.Submit(session_, /*expected_us=*/0, [place, work = std::move(work)] { work(); });
  }
  bool Reserve(int64_t bytes) override { return share_->Reserve(bytes, "Machine code").ok(); }
  void Release(int64_t bytes) override { share_->Release(bytes); }

 private:
  // Work that waits or runs, until the queue destroys it.
  struct Place {
    Place(std::shared_ptr<AssemblyUser> user, std::atomic<int64_t>& waiting)
        : user(std::move(user)), waiting(waiting), number(++waiting) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { --waiting; }
    const std::shared_ptr<AssemblyUser> user;  // Keeps `waiting`.
    std::atomic<int64_t>& waiting;
    const int64_t number;
  };

  FairQueue& queue_;
  const uint64_t session_;
  const std::shared_ptr<MemoryShare> share_;
  std::atomic<int64_t> waiting_{0};
};

}  // namespace hlod::device
