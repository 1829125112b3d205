// Links, silence, and the changes that the coordinator tells.
#include "server/fabric/membership.h"

#include <algorithm>
#include <utility>

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/base/text/utf8.h"

namespace hlod::fabric {
namespace {

constexpr size_t kDepartedKept = 16;
// The most bytes that are kept of a reason that the coordinator states.
constexpr size_t kWhyMax = 1024;
// The pings per time of silence.
constexpr int64_t kPings = 8;

std::string Seconds(int64_t us) { return absl::StrFormat("%.1f s", static_cast<double>(us) / 1e6); }

}  // namespace

Membership::Membership(MembershipOptions options, Wire& wire, MemberEvents& events)
    : options_(std::move(options)),
      wire_(wire),
      events_(events),
      self_(options_.self),
      size_(options_.size),
      silence_us_(options_.peer_silence_us) {
  if (!coordinates()) return;
  self_.set_rank(0);
  self_.set_joined(++epoch_);
  self_.set_admitted_by(self_.incarnation());
}

void Membership::OnConnected(LinkId link, uint32_t rank, int64_t now_us) {
  greetings_[link] = {.rank = rank, .since_us = now_us};
  v1::PeerMessage message;
  v1::PeerHello& hello = *message.mutable_hello();
  hello.set_protocol(kProtocol);
  hello.set_version(options_.version);
  hello.set_cluster(cluster());
  *hello.mutable_member() = self_;
  hello.set_joins(rank == 0);
  if (rank != 0) {
    hello.set_has_rank(true);
  } else if (options_.rank.has_value() || joined()) {
    // Once it has a rank, it keeps it.
    hello.set_has_rank(true);
    hello.mutable_member()->set_rank(options_.rank.value_or(self_.rank()));
  }
  wire_.Send(link, message);
}

void Membership::OnUnconnected(uint32_t rank, int64_t now_us) {
  calls_[rank] = {.pending = false, .again_us = now_us + options_.connect_again_us};
}

absl::Status Membership::OnMessage(LinkId link, const v1::PeerMessage& message, int64_t now_us) {
  if (const auto made = greetings_.find(link); made != greetings_.end()) {
    const uint32_t rank = made->second.rank;
    greetings_.erase(made);
    OnUnconnected(rank, now_us);  // The call is over, however it ended.
    if (!message.has_welcome()) return InvalidArgument("A daemon that was called sends no welcome.");
    return OnWelcome(link, rank, message.welcome(), now_us);
  }
  const auto known = ranks_.find(link);
  if (known == ranks_.end()) {
    if (message.has_hello()) return OnHello(link, message.hello(), now_us);
    return InvalidArgument("The first message of a link between daemons is not a hello.");
  }
  const uint32_t rank = known->second;
  const absl::Status status = OnMessageOf(rank, message, now_us);
  if (status.ok()) return status;
  const absl::Status broken(status.code(), ToAbsl(absl::StrFormat("%s broke the protocol between daemons: %s",
                                                                  NameOf(rank), FromAbsl(status.message()))));
  if (ranks_.erase(link) > 0) {
    members_.at(rank).link = 0;
    OnLost(rank, std::string(broken.message()), now_us);
  }
  return broken;
}

absl::Status Membership::OnMessageOf(uint32_t rank, const v1::PeerMessage& message, int64_t now_us) {
  Peer& peer = members_.at(rank);
  peer.heard_us = now_us;
  const bool plain =
      message.has_ping() || message.has_pong() || message.body_case() == v1::PeerMessage::BODY_NOT_SET;
  if (message.has_hello() || message.has_welcome()) return InvalidArgument("It greets twice.");
  if ((message.sequence() == 0) != plain)
    return InvalidArgument("Message %d has or lacks a number against the rules.", message.sequence());
  const uint64_t joined = peer.member.joined();
  ASSIGN_OR_RETURN(const std::vector<v1::PeerMessage> due, peer.channel.Take(message, now_us));
  if (message.has_ping()) {
    if (message.ping().round_trip_us() > 0)
      peer.round_trip_us =
          static_cast<int64_t>(std::min<uint64_t>(message.ping().round_trip_us(), 1'000'000'000));
    v1::PeerMessage answer;
    answer.mutable_pong()->set_id(message.ping().id());
    peer.channel.Stamp(answer);
    wire_.Send(peer.link, answer);
  }
  if (message.has_pong()) OnPong(peer, message.pong(), now_us);
  if (!due.empty()) attention_.insert(rank);
  for (const v1::PeerMessage& next : due) {
    RETURN_IF_ERROR(Deliver(rank, next, now_us));
    // The message may have ended the membership.
    const auto still = members_.find(rank);
    if (still == members_.end() || still->second.member.joined() != joined) return absl::OkStatus();
  }
  const auto still = members_.find(rank);
  if (still != members_.end() && still->second.link != 0 && still->second.channel.MustAcknowledge()) {
    v1::PeerMessage acknowledgement;
    still->second.channel.Stamp(acknowledgement);
    wire_.Send(still->second.link, acknowledgement);
  }
  return absl::OkStatus();
}

absl::Status Membership::Deliver(uint32_t rank, const v1::PeerMessage& message, int64_t now_us) {
  if (message.has_change()) {
    if (rank != 0 || coordinates())
      return InvalidArgument("It changes the membership, but does not coordinate.");
    return OnChange(message.change(), now_us);
  }
  if (message.has_unreachable()) return OnUnreachable(rank, message.unreachable(), now_us);
  return events_.OnMessage(rank, message, now_us);
}

absl::Status Membership::OnChange(const v1::MemberChange& change, int64_t now_us) {
  if (change.epoch() < epoch_)
    return InvalidArgument("Its epoch %d comes after epoch %d.", change.epoch(), epoch_);
  if (static_cast<uint32_t>(change.joined_size()) > kMembersMax)
    return InvalidArgument("It adds %d members; a cluster has at most %d.", change.joined_size(),
                           kMembersMax);
  for (const v1::Member& member : change.joined()) RETURN_IF_ERROR(CheckMember(member));
  epoch_ = change.epoch();
  for (const v1::MemberGone& gone : change.gone()) {
    const auto found = members_.find(gone.rank());
    if (gone.rank() == 0 || found == members_.end() || found->second.member.joined() != gone.joined())
      continue;
    std::string why = gone.why();
    ClipWithDots(why, kWhyMax);
    EndLink(found->second, Unavailable("No member any more: %s.", why));
    Remove(gone.rank(), why, now_us);
  }
  for (const v1::Member& member : change.joined()) {
    if (member.rank() == self_.rank()) continue;
    if (member.rank() == 0 || members_.size() >= kMembersMax)
      return InvalidArgument("It adds a member that cannot be.");
    const auto found = members_.find(member.rank());
    if (found != members_.end() && found->second.member.joined() >= member.joined()) continue;
    Add(member, now_us);
  }
  return absl::OkStatus();
}

void Membership::OnPong(Peer& peer, const v1::PeerPong& pong, int64_t now_us) {
  if (pong.id() == ping_) peer.round_trip_us = std::max<int64_t>(1, now_us - pinged_us_);
}

void Membership::OnEnded(LinkId link, const absl::Status& why, int64_t now_us) {
  if (const auto made = greetings_.find(link); made != greetings_.end()) {
    const uint32_t rank = made->second.rank;
    greetings_.erase(made);
    OnUnconnected(rank, now_us);
    // A status other than UNAVAILABLE is an answer.
    if (rank == 0 && epoch_ == 0 && why.code() != absl::StatusCode::kUnavailable) refused_ = why;
    return;
  }
  const auto known = ranks_.find(link);
  if (known == ranks_.end()) return;
  const uint32_t rank = known->second;
  ranks_.erase(known);
  members_.at(rank).link = 0;
  OnLost(rank, why.ok() ? "its connection ended" : absl::StrCat("its connection ended: ", why.message()),
         now_us);
}

void Membership::OnLost(uint32_t rank, const std::string& why, int64_t now_us) {
  Peer& peer = members_.at(rank);
  peer.unlinked_us = now_us;
  peer.lost = why;
  attention_.insert(rank);
  if (rank == 0) orphaned_us_ = now_us;
  // The coordinator is gone at once: if it lives, it has removed this daemon, too, and all that both shared
  // is void. The other members stay.
  if (coordinates() || rank == 0) Remove(rank, why, now_us);
}

void Membership::Bind(Peer& peer, LinkId link, int64_t now_us) {
  if (peer.link != 0) EndLink(peer, Unavailable("Replaced by a newer connection."));
  peer.link = link;
  peer.heard_us = now_us;
  peer.channel.OnLinked(now_us);
  peer.lost.clear();
  peer.reported = false;
  ranks_[link] = peer.member.rank();
  attention_.insert(peer.member.rank());
  Resend(peer);
}

void Membership::EndLink(Peer& peer, const absl::Status& why) {
  if (peer.link == 0) return;
  wire_.End(peer.link, why);
  ranks_.erase(peer.link);
  peer.link = 0;
}

void Membership::Resend(Peer& peer) {
  constexpr size_t kAtOnce = 64;  // The rest follows when these are acknowledged.
  for (size_t i = 0; i < std::min(kAtOnce, peer.channel.waiting().size()); ++i)
    wire_.Send(peer.link, peer.channel.waiting()[i]);
}

void Membership::Send(uint32_t rank, v1::PeerMessage message, int64_t now_us) {
  const auto found = members_.find(rank);
  if (found == members_.end()) return;
  Peer& peer = found->second;
  attention_.insert(rank);
  const v1::PeerMessage* const numbered = peer.channel.Add(std::move(message), now_us);
  if (numbered != nullptr) {
    if (peer.link != 0) wire_.Send(peer.link, *numbered);
    return;
  }
  // A member that acknowledges nothing is as good as silent.
  const std::string why =
      peer.channel.waiting_bytes() + Channel::kMessageBytesMax > Channel::kWaitingBytesMax
          ? absl::StrFormat("it left %d messages unanswered", peer.channel.waiting().size())
          : absl::StrFormat("a message for it would have more than %d bytes", Channel::kMessageBytesMax);
  EndLink(peer, Unavailable("%s: %s.", NameOf(rank), why));
  peer.unlinked_us = now_us - silence_us_;  // Tick removes or reports it.
  if (rank == 0) orphaned_us_ = now_us;
  peer.lost = why;
}

void Membership::Add(const v1::Member& member, int64_t now_us) {
  if (member.rank() == self_.rank()) return;
  if (members_.contains(member.rank())) {
    EndLink(members_.at(member.rank()), Unavailable("Replaced by a newer daemon."));
    Remove(member.rank(), "another daemon has its rank", now_us);
  }
  Peer& peer = members_[member.rank()];
  ++changes_;
  peer.member = member;
  peer.unlinked_us = now_us;
  peer.lost = "not connected yet";
  attention_.insert(member.rank());
  if (member.rank() != 0) calls_.erase(member.rank());
}

void Membership::Remove(uint32_t rank, const std::string& why, int64_t now_us) {
  const auto found = members_.find(rank);
  if (found == members_.end()) return;
  Peer& peer = found->second;
  if (peer.link != 0) EndLink(peer, Unavailable("No member any more: %s.", why));
  const absl::Status gone =
      MakeError(ErrorKind::kLostDaemon, absl::StrFormat("Daemon %s is gone: %s.", NameOf(rank), why));
  departed_.push_back({peer.member, why, now_us});
  if (departed_.size() > kDepartedKept) departed_.pop_front();
  const uint64_t joined = peer.member.joined();
  members_.erase(found);
  attention_.erase(rank);
  ++changes_;
  if (coordinates()) {
    ++epoch_;
    // Nobody needs to hear of a member that was not announced yet.
    auto& news = *news_.mutable_joined();
    news.erase(std::remove_if(news.begin(), news.end(),
                              [joined](const v1::Member& member) { return member.joined() == joined; }),
               news.end());
    v1::MemberGone& row = *news_.add_gone();
    row.set_rank(rank);
    row.set_joined(joined);
    row.set_why(why);
    Announce(now_us);
  }
  events_.OnGone(rank, gone, now_us);
}

void Membership::RemoveAll(const std::string& why, int64_t now_us) {
  while (!members_.empty()) Remove(members_.rbegin()->first, why, now_us);
  calls_.clear();
  attention_.clear();
}

void Membership::Part(const std::string& why) {
  self_.set_joined(0);
  parted_ = why;
  ++changes_;
}

bool Membership::has_coordinator() const {
  if (coordinates()) return true;
  const auto found = members_.find(0);
  return found != members_.end() && found->second.link != 0;
}

uint64_t Membership::device_count() const {
  constexpr uint32_t kMost = 1024;  // The most that is believed of a member.
  uint64_t count = std::min(self_.devices(), kMost);
  for (const auto& [rank, peer] : members_) count += std::min(peer.member.devices(), kMost);
  return count;
}

std::string Membership::NameOf(uint32_t rank) const {
  if (rank == self_.rank()) return absl::StrCat(self_.name(), " (rank ", rank, ")");
  const auto found = members_.find(rank);
  if (found == members_.end()) return absl::StrCat("rank ", rank);
  return absl::StrCat(found->second.member.name(), " (rank ", rank, ")");
}

void Membership::CallAgain(uint32_t rank, const std::string& address, int64_t now_us) {
  Call& call = calls_[rank];
  if (call.pending || now_us < call.again_us) return;
  call.pending = true;
  wire_.Connect(rank, address);
}

// Ends the calls that nobody answers.
void Membership::EndGreetings(int64_t now_us) {
  for (auto next = greetings_.begin(); next != greetings_.end();) {
    const auto [link, greeting] = *next++;
    if (now_us - greeting.since_us <= silence_us_) continue;
    greetings_.erase(link);
    wire_.End(link, Unavailable("The hello of %s got no answer for %s.", self_.name(), Seconds(silence_us_)));
    OnUnconnected(greeting.rank, now_us);
  }
}

void Membership::Tick(int64_t now_us) {
  // A daemon that was stopped has heard nobody, which says nothing about the others.
  const int64_t pause_us = now_us - std::exchange(ticked_us_, now_us);
  if (pause_us > silence_us_ / 4 && pause_us != now_us) {
    for (auto& [rank, peer] : members_) peer.heard_us += pause_us;
  }
  if (coordinates()) {
    Announce(now_us);
    TickCoordinator(now_us);
  } else {
    TickMember(now_us);
  }
  EndGreetings(now_us);
  const std::vector<uint32_t> ranks(attention_.begin(), attention_.end());
  for (const uint32_t rank : ranks) {
    const auto found = members_.find(rank);
    if (found == members_.end() || !TickPeer(rank, found->second, now_us)) attention_.erase(rank);
  }
}

void Membership::TickCoordinator(int64_t now_us) {
  if (now_us - pinged_us_ < silence_us_ / kPings) return;
  pinged_us_ = now_us;
  std::vector<uint32_t> silent;
  for (const auto& [rank, peer] : members_) {
    if (peer.link == 0 || now_us - peer.heard_us > silence_us_) silent.push_back(rank);
  }
  for (const uint32_t rank : silent)
    Remove(rank, absl::StrCat("it was silent for ", Seconds(now_us - members_.at(rank).heard_us)), now_us);
}

void Membership::TickMember(int64_t now_us) {
  const auto coordinator = members_.find(0);
  if (coordinator == members_.end() || coordinator->second.link == 0) {
    if (orphaned_us_ != 0 && now_us - orphaned_us_ > silence_us_) {
      RemoveAll(absl::StrCat("the coordinator has not answered for ", Seconds(now_us - orphaned_us_)),
                now_us);
      Part(absl::StrCat("the coordinator has not answered for ", Seconds(now_us - orphaned_us_)));
      orphaned_us_ = 0;
    }
    return CallAgain(0, options_.join, now_us);
  }
  Peer& peer = coordinator->second;
  if (now_us - peer.heard_us > silence_us_) {
    const std::string why = absl::StrCat("the coordinator was silent for ", Seconds(now_us - peer.heard_us));
    EndLink(peer, Unavailable("This end has heard nothing for %s.", Seconds(now_us - peer.heard_us)));
    RemoveAll(why, now_us);
    return Part(why);
  }
  if (now_us - pinged_us_ < silence_us_ / kPings) return;
  pinged_us_ = now_us;
  v1::PeerMessage message;
  message.mutable_ping()->set_id(++ping_);
  message.mutable_ping()->set_round_trip_us(static_cast<uint64_t>(peer.round_trip_us));
  peer.channel.Stamp(message);
  wire_.Send(peer.link, message);
}

bool Membership::TickPeer(uint32_t rank, Peer& peer, int64_t now_us) {
  if (peer.link == 0) {
    if (coordinates() || rank == 0) return true;
    if (rank < self_.rank()) CallAgain(rank, peer.member.address(), now_us);
    if (!peer.reported && now_us - peer.unlinked_us > silence_us_ && has_coordinator()) {
      peer.reported = true;
      v1::PeerMessage report;
      report.mutable_unreachable()->set_rank(rank);
      Send(0, std::move(report), now_us);
    }
    return true;
  }
  if (peer.channel.StalledFor(now_us) > silence_us_) {
    const std::string why = absl::StrCat("it acknowledged nothing for ", Seconds(silence_us_));
    EndLink(peer, Unavailable("This end got no acknowledgement for %s.", Seconds(silence_us_)));
    OnLost(rank, why, now_us);
    return true;
  }
  if (peer.channel.MustResend(now_us, options_.resend_us)) Resend(peer);
  if (peer.channel.MayAcknowledge()) {
    v1::PeerMessage acknowledgement;
    peer.channel.Stamp(acknowledgement);
    wire_.Send(peer.link, acknowledgement);
  }
  return !peer.channel.waiting().empty();
}

std::vector<Membership::View> Membership::List(int64_t now_us) const {
  std::vector<View> rows;
  if (joined()) rows.push_back({.member = self_, .state = "here"});
  for (const auto& [rank, peer] : members_) {
    rows.push_back({.member = peer.member,
                    .state = peer.link != 0 ? "linked" : peer.lost,
                    .round_trip_us = peer.round_trip_us,
                    .heard_us_ago = peer.link != 0 ? now_us - peer.heard_us : 0,
                    .waiting = peer.channel.waiting().size()});
  }
  std::sort(rows.begin(), rows.end(),
            [](const View& a, const View& b) { return a.member.rank() < b.member.rank(); });
  return rows;
}

}  // namespace hlod::fabric
