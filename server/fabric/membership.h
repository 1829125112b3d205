// The members of a cluster as one daemon knows them: who they are, its links with them, and what it says to
// them. The coordinator decides who is a member.
//
// It owns no socket, thread or clock: the Wire makes and ends links, and each function gets the time. The
// caller holds one lock around all of it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/fabric/channel.h"

namespace hlod::fabric {

// The version of peer.proto.
inline constexpr uint32_t kProtocol = 1;
// The most members that a cluster may have.
inline constexpr uint32_t kMembersMax = 4096;
// The most bytes of a cluster's or daemon's name, and of an address.
inline constexpr size_t kNameMax = 253;

// Counted by the Wire, from 1.
using LinkId = uint64_t;

// The transport. Its functions only take note: they call nothing of the Membership, now or before they
// return.
class Wire {
 public:
  virtual ~Wire() = default;
  virtual void Send(LinkId link, const v1::PeerMessage& message) = 0;
  // Ends a link, whose end is not reported then. `why` is what the other side learns.
  virtual void End(LinkId link, const absl::Status& why) = 0;
  // Makes a link to a member, or to the coordinator if `rank` is 0, and reports it by OnConnected, or its
  // failure by OnUnconnected.
  virtual void Connect(uint32_t rank, const std::string& address) = 0;
};

// Learns what happens to members. Its functions may send to members.
class MemberEvents {
 public:
  virtual ~MemberEvents() = default;
  // A numbered message of a member. An error ends the member's link: it broke the protocol.
  virtual absl::Status OnMessage(uint32_t rank, const v1::PeerMessage& message, int64_t now_us) = 0;
  virtual void OnGone(uint32_t rank, const absl::Status& why, int64_t now_us) = 0;
};

struct MembershipOptions {
  std::string cluster;           // The name.
  v1::Member self;               // Without rank and epoch, which the coordinator gives.
  std::string version;           // The program's.
  std::string join;              // The coordinator's address; empty: this daemon is the coordinator.
  std::optional<uint32_t> rank;  // Asked for; nullopt: the coordinator chooses.
  uint32_t size = 0;             // The coordinator's: how many members complete the cluster; 0: not stated.
  int64_t peer_silence_us = 10'000'000;
  int64_t resend_us = 1'000'000;  // The time after which messages without acknowledgement are sent again.
  int64_t connect_again_us = 500'000;
};

class Membership {
 public:
  // The references must outlive this object.
  Membership(MembershipOptions options, Wire& wire, MemberEvents& events);

  // The link that Connect(rank) was to make: now this daemon says hello.
  void OnConnected(LinkId link, uint32_t rank, int64_t now_us);
  void OnUnconnected(uint32_t rank, int64_t now_us);
  // A message of a link, which may be one that another daemon has just made. After an error the caller must
  // end the link with that status; its end is not reported.
  absl::Status OnMessage(LinkId link, const v1::PeerMessage& message, int64_t now_us);
  // The link has ended without the Membership's doing.
  void OnEnded(LinkId link, const absl::Status& why, int64_t now_us);
  // Must be called several times per interval of pings.
  void Tick(int64_t now_us);

  // Sends a message to a member. The message is dropped when the member is gone.
  void Send(uint32_t rank, v1::PeerMessage message, int64_t now_us);
  // True when the messages to a member that it has not acknowledged are so few that offers may be added.
  bool HasRoom(uint32_t rank) const {
    const auto found = members_.find(rank);
    return found != members_.end() && found->second.channel.HasRoom();
  }

  // True when this daemon is the coordinator.
  bool coordinates() const { return options_.join.empty(); }
  bool joined() const { return self_.joined() != 0; }
  const v1::Member& self() const { return self_; }
  const std::string& cluster() const { return options_.cluster; }
  uint64_t epoch() const { return epoch_; }
  uint32_t size() const { return size_; }
  int64_t peer_silence_us() const { return silence_us_; }
  // True when the coordinator's link works.
  bool has_coordinator() const;
  bool Has(uint32_t rank) const { return rank == self_.rank() ? joined() : members_.contains(rank); }
  // Returns the number of devices of all members.
  uint64_t device_count() const;
  // Returns another member; null if no other has the rank.
  const v1::Member* MemberOf(uint32_t rank) const {
    const auto found = members_.find(rank);
    return found == members_.end() ? nullptr : &found->second.member;
  }
  // Returns "n3 (rank 2)".
  std::string NameOf(uint32_t rank) const;

  // A member and the state of its link.
  struct View {
    v1::Member member;
    std::string state;  // "here", "linked", or the reason why there is no link.
    int64_t round_trip_us = 0;
    int64_t heard_us_ago = 0;
    size_t waiting = 0;  // Messages that are not acknowledged.
  };
  std::vector<View> List(int64_t now_us) const;  // In the order of ranks.
  // The number of other members, and of links with them.
  size_t others() const { return members_.size(); }
  size_t linked() const { return ranks_.size(); }
  // The last members that went, with the reason.
  struct Departed {
    v1::Member member;
    std::string why;
    int64_t when_us = 0;
  };
  const std::deque<Departed>& departed() const { return departed_; }
  // The reason why this daemon is not a member any more; counts while joined() is false.
  const std::string& parted() const { return parted_; }
  // Counts the changes of the list as this daemon knows it.
  uint64_t changes() const { return changes_; }
  // Says who is missing for a cluster of the stated size; empty when nobody is or no size was stated.
  std::string Missing() const;
  // The reason for which the coordinator refused this daemon; OK if it did not.
  const absl::Status& refused() const { return refused_; }

 private:
  struct Peer {
    v1::Member member;
    LinkId link = 0;  // 0: none.
    int64_t unlinked_us = 0, heard_us = 0;
    int64_t round_trip_us = 0;
    bool reported = false;  // As unreachable.
    std::string lost;       // The reason why there is no link.
    Channel channel;
  };
  // A link that this daemon made and that is not welcome yet.
  struct Greeting {
    uint32_t rank = 0;
    int64_t since_us = 0;
  };
  // The links that this daemon makes to a member.
  struct Call {
    bool pending = false;
    int64_t again_us = 0;
  };

  // The coordinator's side of joining (coordinator.cc).
  absl::Status Admit(LinkId link, const v1::PeerHello& hello, int64_t now_us);
  absl::StatusOr<uint32_t> RankFor(const v1::PeerHello& hello) const;
  void Announce(int64_t now_us);
  absl::Status OnUnreachable(uint32_t rank, const v1::PeerUnreachable& report, int64_t now_us);

  // Greetings (greeting.cc).
  static absl::Status CheckMember(const v1::Member& member);
  absl::Status CheckHello(const v1::PeerHello& hello) const;
  absl::Status OnHello(LinkId link, const v1::PeerHello& hello, int64_t now_us);
  absl::Status OnWelcome(LinkId link, uint32_t rank, const v1::PeerWelcome& welcome, int64_t now_us);
  absl::Status Join(LinkId link, const v1::PeerWelcome& welcome, int64_t now_us);

  absl::Status OnMessageOf(uint32_t rank, const v1::PeerMessage& message, int64_t now_us);
  absl::Status Deliver(uint32_t rank, const v1::PeerMessage& message, int64_t now_us);
  absl::Status OnChange(const v1::MemberChange& change, int64_t now_us);
  void OnPong(Peer& peer, const v1::PeerPong& pong, int64_t now_us);
  void Add(const v1::Member& member, int64_t now_us);
  void Remove(uint32_t rank, const std::string& why, int64_t now_us);
  void RemoveAll(const std::string& why, int64_t now_us);
  void Bind(Peer& peer, LinkId link, int64_t now_us);
  // Notes that this daemon is not a member any more.
  void Part(const std::string& why);
  // The link is gone: the coordinator removes the member, others try again unless it was the coordinator's.
  void OnLost(uint32_t rank, const std::string& why, int64_t now_us);
  void EndLink(Peer& peer, const absl::Status& why);
  void Resend(Peer& peer);
  void TickCoordinator(int64_t now_us);
  void TickMember(int64_t now_us);
  // Returns false when the peer needs no attention until something happens.
  bool TickPeer(uint32_t rank, Peer& peer, int64_t now_us);
  void EndGreetings(int64_t now_us);
  void CallAgain(uint32_t rank, const std::string& address, int64_t now_us);

  const MembershipOptions options_;
  Wire& wire_;
  MemberEvents& events_;
  v1::Member self_;
  uint64_t epoch_ = 0;
  uint32_t size_ = 0;
  int64_t silence_us_;
  std::map<uint32_t, Peer> members_;  // Without this daemon.
  std::map<LinkId, uint32_t> ranks_;  // The links of members.
  std::map<LinkId, Greeting> greetings_;
  std::map<uint32_t, Call> calls_;
  std::set<uint32_t> attention_;  // The members that Tick looks at.
  int64_t orphaned_us_ = 0;  // The time at which the coordinator was lost; 0: it is there, or has never been.
  int64_t ticked_us_ = 0, pinged_us_ = 0;
  uint64_t ping_ = 0;  // The id of the last ping.
  std::deque<Departed> departed_;
  std::string parted_;
  uint64_t changes_ = 0;
  absl::Status refused_;
  v1::MemberChange news_;  // The coordinator's changes that are not announced yet.
};

}  // namespace hlod::fabric
