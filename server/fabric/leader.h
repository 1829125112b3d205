// The launches that this daemon leads: tickets, prepare, start, and their ends.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "server/fabric/work.h"

namespace hlod::fabric {

// A launch to begin.
struct LaunchSpec {
  v1::PrepareLaunch prepare;  // Without launch and ticket.
  uint64_t session = 0, used_us = 0;
  int64_t deadline_us = 0;  // The time at which it must have ended; 0: none.
};

// Not thread-safe.
class Leader {
 public:
  Leader(const LaunchLimits& limits, Work& work, Post post, NameOf name_of)
      : limits_(limits),
        work_(work),
        post_(std::move(post)),
        name_of_(std::move(name_of)),
        last_number_(limits.launches_before) {}

  // Begins a launch, whose end Work::OnOver tells. Returns its number. The caller has checked that the parts
  // are of members. `coordinator`: the coordinator can give a ticket.
  uint64_t Begin(LaunchSpec spec, uint32_t self, bool coordinator, int64_t now_us);
  // Ends a launch before it has started, or cancels it. Does nothing for one that has ended.
  void Cancel(uint64_t number, const absl::Status& why);

  // A daemon takes back its offer. Refuses the launch unless it has started. Returns false if there is none.
  bool TakeBack(uint64_t group, uint64_t sequence, uint32_t rank, const absl::Status& why);

  void OnTicket(const v1::Ticket& ticket, int64_t now_us);
  // A step that a participant reports. An error: it broke the protocol.
  absl::Status OnStep(uint32_t rank, const v1::LaunchStep& step, int64_t now_us);
  void OnGone(uint32_t rank, const absl::Status& why);
  void Tick(bool coordinator, int64_t now_us);
  // Tickets of others are seen in what they send, so that those made without a coordinator come after them.
  void SeeTicket(uint64_t ticket) { last_ticket_ = std::max(last_ticket_, ticket); }

  size_t size() const { return launches_.size(); }
  // The number of the last launch.
  uint64_t last_number() const { return last_number_; }

 private:
  enum class Phase { kTicket, kPreparing, kStarted };
  struct Part {
    bool ready = false, over = false;
    int64_t heard_us = 0;
    std::string behind;  // The launch for which it waits, as it said.
  };
  struct Launch {
    LaunchSpec spec;
    Phase phase = Phase::kTicket;
    int64_t since_us = 0;  // The begin of the phase.
    std::map<uint32_t, Part> parts;
    absl::Status failure;  // The first error of a launch that has started.
  };
  using Launches = std::map<uint64_t, Launch>;

  void Prepare(Launch& launch, uint64_t ticket, int64_t now_us);
  void StartIfReady(Launch& launch, int64_t now_us);
  // End a launch that has not started, and one that has.
  void Refuse(Launches::iterator launch, const absl::Status& why);
  void Fail(Launch& launch, const absl::Status& why);
  void FinishIfOver(Launches::iterator launch);
  absl::Status OnStepOf(Launches::iterator launch, uint32_t rank, const v1::LaunchStep& step, int64_t now_us);
  // Returns an error that says for whom the launch waits if it has waited too long.
  absl::Status CheckTime(const Launch& launch, int64_t now_us) const;
  std::string Missing(const Launch& launch) const;

  const LaunchLimits limits_;
  Work& work_;
  const Post post_;
  const NameOf name_of_;
  uint64_t last_number_, last_ticket_ = 0;
  Launches launches_;
};

}  // namespace hlod::fabric
