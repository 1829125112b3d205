// The launches that this daemon leads: tickets, prepare, start, and their ends.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "server/fabric/work.h"

namespace hlod::fabric {

// Not thread-safe.
class Leader {
 public:
  Leader(const LaunchLimits& limits, Work& work, Post post, NameOf name_of)
      : limits_(limits),
        work_(work),
        post_(std::move(post)),
        name_of_(std::move(name_of)),
        last_number_(limits.launches_before) {}

  // Takes a launch, whose end Work::OnOver tells. Returns its number. The caller has checked that the parts
  // are of members.
  uint64_t Take(LaunchSpec spec, uint32_t self, int64_t now_us);
  // Begins the launches for which there is room, in the order in which each client's came; the next one is of
  // the client that has waited longest since it came or one of its launches began. To be called after every
  // event. `coordinator`: the coordinator can give tickets.
  void BeginNext(bool coordinator, int64_t now_us);
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
  void SeeTicket(uint64_t ticket) { last_ticket_ = std::max(last_ticket_, std::min(ticket, kTicketMax)); }

  size_t size() const { return launches_.size(); }
  // The number of the last launch.
  uint64_t last_number() const { return last_number_; }

 private:
  enum class Phase { kQueued, kTicket, kPreparing, kStarted };
  struct Part {
    size_t devices = 0;
    bool ready = false, over = false;
    bool passed = false;  // It lets others pass until no other part is missing.
    int64_t heard_us = 0;
    int64_t ready_us = 0;  // The time since which it is ready.
    std::string behind;  // The launch for which it waits, as it said.
  };
  struct Launch {
    LaunchSpec spec;
    Phase phase = Phase::kQueued;
    int64_t since_us = 0;  // The begin of the phase.
    std::map<uint32_t, Part> parts;
    absl::Status failure;  // The first error of a launch that has started.
    uint64_t used_us = 0;  // The device time of the parts that have ended, or were held before.
  };
  // The device time that a client's launches use, as their daemons say.
  struct Use {
    std::string user;
    uint64_t untold_us = 0;              // The coordinator does not know of it yet.
    uint64_t expected_us = kExpectedUs;  // That of its last launch.
    static constexpr uint64_t kExpectedUs = 100'000;
  };
  using Launches = std::map<uint64_t, Launch>;

  // Returns the device time of a part for some time.
  static uint64_t DeviceTime(const Part& part, int64_t us);
  // Adds a launch to its client's queue.
  void Enqueue(uint64_t group, uint64_t number);
  void Begin(Launch& launch, bool coordinator, int64_t now_us);
  // Tells the coordinator what launches have used whose clients begin no further one.
  void TellUses();
  bool HasRoom(const LaunchSpec& spec) const;
  // Waits for no ticket any more: the coordinator is gone.
  void ForgetTickets();
  // Forgets a launch that is over.
  void Erase(Launches::iterator launch);
  void Prepare(Launch& launch, uint64_t ticket, int64_t now_us);
  // Lets a part that is ready give its devices back, and counts the time for which it had them.
  void GiveBack(Launch& launch, uint32_t rank, v1::LaunchStep::Kind kind, int64_t now_us);
  // Starts the launch, or lets the parts that were passed take their places again if no other is missing.
  void GoOn(Launch& launch, int64_t now_us);
  // End a launch that has not started, and one that has.
  void Refuse(Launches::iterator launch, const absl::Status& why);
  void Fail(Launch& launch, const absl::Status& why);
  void FinishIfOver(Launches::iterator launch);
  // Counts device time for the client of a launch that has ended.
  void Charge(const Launch& launch, uint64_t used_us);
  absl::Status OnStepOf(Launches::iterator launch, uint32_t rank, const v1::LaunchStep& step, int64_t now_us);
  // Returns an error that says for whom the launch waits if it has waited too long.
  absl::Status CheckTime(const Launch& launch, int64_t now_us) const;
  std::string Missing(const Launch& launch) const;

  const LaunchLimits limits_;
  Work& work_;
  const Post post_;
  const NameOf name_of_;
  uint64_t last_number_, last_ticket_ = 0;
  int64_t now_us_ = 0;  // The time of the last event.
  Launches launches_;
  // The launches whose time Tick checks: those that have begun, or have a deadline.
  std::set<uint64_t> timed_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> offered_;  // By group and sequence, the number.
  // The launches of a client that have not begun, and the client's place among those that have such launches.
  struct Queue {
    uint64_t turn = 0;
    std::deque<uint64_t> numbers;
  };
  std::map<uint64_t, Queue> queued_;    // By client.
  std::map<uint64_t, uint64_t> turns_;  // The clients of `queued_` by turn: the one that began last is last.
  uint64_t last_turn_ = 0;
  LaunchCounts begun_;
  std::map<uint64_t, Use> uses_;  // By client.
  // The launches for which a ticket was asked that has not come; they may have ended since.
  std::set<uint64_t> tickets_due_;
  bool may_begin_ = false;  // There may be room for a launch that is queued.
};

}  // namespace hlod::fabric
