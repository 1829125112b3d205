// The coordinator's side of membership: who may join with which rank, and what the others learn.
#include <algorithm>
#include <utility>

#include "common/base/errors/status.h"
#include "server/fabric/membership.h"

namespace hlod::fabric {

absl::StatusOr<uint32_t> Membership::RankFor(const v1::PeerHello& hello) const {
  const uint32_t most = size_ == 0 ? kMembersMax : size_;
  if (!hello.has_rank()) {
    uint32_t rank = 1;
    while (members_.contains(rank)) ++rank;
    if (rank < most) return rank;
    return ResourceExhausted("Cluster \"%s\" is complete: it has its %d members.", cluster(), most);
  }
  const uint32_t rank = hello.member().rank();
  if (rank == 0) {
    return AlreadyExists("Rank 0 of cluster \"%s\" is its coordinator, %s at %s.", cluster(), self_.name(),
                         self_.address());
  }
  if (rank >= most) {
    return InvalidArgument("Rank %d is too large for cluster \"%s\": it has %d members, with ranks from 0.",
                           rank, cluster(), most);
  }
  const auto found = members_.find(rank);
  if (found != members_.end() && found->second.member.incarnation() != hello.member().incarnation()) {
    return AlreadyExists("Rank %d of cluster \"%s\" is taken by %s at %s: two daemons have the same --rank.",
                         rank, cluster(), found->second.member.name(), found->second.member.address());
  }
  return rank;
}

absl::Status Membership::Admit(LinkId link, const v1::PeerHello& hello, int64_t now_us) {
  // A daemon that calls again has lost its link before this side noticed.
  for (const auto& [rank, peer] : members_) {
    if (peer.member.incarnation() != hello.member().incarnation()) continue;
    // All members know the incarnations of all, and the name is what a certificate vouches for.
    if (peer.member.name() != hello.member().name()) {
      return AlreadyExists("Daemon \"%s\" states the incarnation of %s at %s, which is a member.",
                           hello.member().name(), NameOf(rank), peer.member.address());
    }
    Remove(rank, "it joined again", now_us);
    break;
  }
  ASSIGN_OR_RETURN(const uint32_t rank, RankFor(hello));
  v1::Member member = hello.member();
  member.set_rank(rank);
  member.set_joined(++epoch_);
  member.set_admitted_by(self_.incarnation());
  *news_.add_joined() = member;
  Add(member, now_us);
  Peer& peer = members_.at(rank);
  Bind(peer, link, now_us);
  v1::PeerMessage message;
  v1::PeerWelcome& welcome = *message.mutable_welcome();
  *welcome.mutable_member() = self_;
  *welcome.mutable_you() = member;
  welcome.set_epoch(epoch_);
  welcome.set_size(size_);
  welcome.set_peer_silence_us(static_cast<uint64_t>(silence_us_));
  *welcome.add_members() = self_;
  for (const auto& [other, entry] : members_) *welcome.add_members() = entry.member;
  wire_.Send(link, message);
  return absl::OkStatus();
}

void Membership::Announce(int64_t now_us) {
  if (news_.joined_size() == 0 && news_.gone_size() == 0) return;
  v1::PeerMessage message;
  *message.mutable_change() = std::exchange(news_, {});
  message.mutable_change()->set_epoch(epoch_);
  // New members know some of it already.
  for (const auto& [rank, peer] : members_) Send(rank, message, now_us);
}

absl::Status Membership::OnUnreachable(uint32_t rank, const v1::PeerUnreachable& report, int64_t now_us) {
  if (!coordinates()) return InvalidArgument("It takes this daemon for the coordinator.");
  const auto other = members_.find(report.rank());
  if (other == members_.end() || report.rank() == rank) return absl::OkStatus();
  const uint32_t removed = std::max(rank, report.rank()), kept = std::min(rank, report.rank());
  std::string why = absl::StrFormat("it had no link with %s for %.1f s", NameOf(kept),
                                    static_cast<double>(silence_us_) / 1e6);
  EndLink(members_.at(removed), Unavailable("Removed from the cluster: %s.", why));
  Remove(removed, why, now_us);
  return absl::OkStatus();
}

std::string Membership::Missing() const {
  std::string text;
  if (size_ == 0 || !joined()) return text;
  uint32_t missing = 0;
  constexpr uint32_t kNamed = 8;
  for (uint32_t rank = 0; rank < size_; ++rank) {
    if (Has(rank)) continue;
    if (++missing <= kNamed) absl::StrAppend(&text, missing == 1 ? "rank " : ", ", rank);
  }
  if (missing > kNamed) absl::StrAppend(&text, " and ", missing - kNamed, " more");
  return text;
}

}  // namespace hlod::fabric
