// The group machine of one daemon: its membership and its launches, as one state that messages, ends of links
// and the time change. It knows no gRPC, no thread and no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/fabric/leader.h"
#include "server/fabric/membership.h"
#include "server/fabric/offers.h"
#include "server/fabric/outbox.h"
#include "server/fabric/participant.h"
#include "server/fabric/tickets.h"
#include "server/fabric/work.h"

namespace hlod::fabric {

// Not thread-safe. Times are of one clock that never goes back.
class Group : public MemberEvents {
 public:
  // The references must outlive this object.
  Group(MembershipOptions options, const LaunchLimits& limits, Wire& wire, Work& work);

  // Take the reports of the Wire (see Membership).
  void OnConnected(LinkId link, uint32_t rank, int64_t now_us) {
    membership_.OnConnected(link, rank, now_us);
  }
  void OnUnconnected(uint32_t rank, int64_t now_us) { membership_.OnUnconnected(rank, now_us); }
  absl::Status OnLinkMessage(LinkId link, const v1::PeerMessage& message, int64_t now_us);
  void OnEnded(LinkId link, const absl::Status& why, int64_t now_us);
  void Tick(int64_t now_us);

  // Begins a launch led by this daemon and returns its number. FAILED_PRECONDITION if a part is of no member.
  absl::StatusOr<uint64_t> Launch(LaunchSpec spec, int64_t now_us);
  void Cancel(uint64_t number, const absl::Status& why, int64_t now_us);
  // Offers a launch that other daemons offer, too. The machine prepares it like any other, or calls
  // Work::OnOfferRefused. With `coming` the offer itself follows later; with `error` it is taken back, and
  // the others are refused.
  absl::Status Offer(const v1::LaunchOffer& offer, int64_t now_us);
  // A session of the group has ended here: nobody waits for its parts in launches of several processes.
  void Leave(uint64_t group, int64_t now_us);
  // An attempt of Work::Prepare has ended.
  void OnPrepared(const v1::LaunchId& launch, uint64_t attempt, const absl::Status& status, int64_t now_us);
  // The part of a started launch has ended on this daemon.
  void OnDone(const v1::LaunchId& launch, const absl::Status& status, int64_t now_us);

  const Membership& membership() const { return membership_; }
  const Leader& leader() const { return leader_; }
  const Participant& participant() const { return participant_; }
  const Offers& offers() const { return offers_; }

  absl::Status OnMessage(uint32_t rank, const v1::PeerMessage& message, int64_t now_us) override;
  void OnGone(uint32_t rank, const absl::Status& why, int64_t now_us) override;

 private:
  void Post(uint32_t rank, v1::PeerMessage message);
  // Delivers what this daemon has sent to itself, and sends the offers for which there is room.
  void Settle(int64_t now_us);
  void SendOffers();
  void SendLeft();
  // Only what was offered to that leader is prepared, and refused.
  absl::Status OnPrepare(uint32_t rank, const v1::PrepareLaunch& prepare, int64_t now_us);
  absl::Status OnOfferRefused(uint32_t rank, const v1::LaunchOfferRefused& refused);
  absl::Status CheckMembers(const google::protobuf::RepeatedPtrField<v1::LaunchPart>& parts) const;
  uint32_t self() const { return membership_.self().rank(); }

  Work& work_;
  int64_t now_us_ = 0;
  std::deque<v1::PeerMessage> to_self_;
  Outbox outbox_;
  // The groups whose end members are to be told of when there is room, by rank. A client can end many
  // sessions; beyond this number the others wait until their launches are too late.
  static constexpr size_t kLeftMax = 4096;
  std::map<uint32_t, std::set<uint64_t>> left_;
  // The leaders of this daemon's offers that are not answered yet, by group and sequence.
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> offered_;
  Membership membership_;
  Tickets tickets_;
  Claims claims_;
  Leader leader_;
  Participant participant_;
  Offers offers_;
};

}  // namespace hlod::fabric
