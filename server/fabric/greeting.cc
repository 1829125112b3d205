// Greetings: how a link begins, and everything for which a daemon is refused.
#include <utility>

#include "common/base/errors/status.h"
#include "server/fabric/membership.h"

namespace hlod::fabric {
namespace {

constexpr size_t kPassKeyBytes = 32;  // The length of Ed25519's keys.

absl::Status CheckName(std::string_view what, const std::string& name) {
  if (name.empty()) return InvalidArgument("The %s of a daemon is empty.", what);
  if (name.size() > kNameMax) {
    return InvalidArgument("The %s of a daemon has %d bytes; the limit is %d.", what, name.size(), kNameMax);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Membership::CheckMember(const v1::Member& member) {
  RETURN_IF_ERROR(CheckName("name", member.name()));
  RETURN_IF_ERROR(CheckName("address", member.address()));
  if (!member.pass_key().empty() && member.pass_key().size() != kPassKeyBytes) {
    return InvalidArgument("The key for passes of daemon %s has %d bytes instead of %d.", member.name(),
                           member.pass_key().size(), kPassKeyBytes);
  }
  if (member.incarnation() == 0) return InvalidArgument("Daemon %s states no incarnation.", member.name());
  return absl::OkStatus();
}

namespace {

absl::Status CheckVersions(const std::string& cluster, const std::string& ours, const std::string& name,
                           uint32_t protocol, const std::string& theirs) {
  if (protocol != kProtocol) {
    return FailedPrecondition(
        "Daemon %s speaks version %d of the protocol between daemons; cluster \"%s\" speaks version %d.",
        name, protocol, cluster, kProtocol);
  }
  if (theirs != ours) {
    return FailedPrecondition("Daemon %s is \"%s\"; the daemons of cluster \"%s\" are \"%s\".", name, theirs,
                              cluster, ours);
  }
  return absl::OkStatus();
}

// True for the same daemon since the same time it joined: only then do both sides number their messages
// alike.
bool IsSame(const v1::Member& a, const v1::Member& b) {
  return a.incarnation() == b.incarnation() && a.joined() == b.joined() && a.admitted_by() == b.admitted_by();
}

}  // namespace

absl::Status Membership::CheckHello(const v1::PeerHello& hello) const {
  RETURN_IF_ERROR(CheckMember(hello.member()));
  if (hello.cluster() != cluster()) {
    return FailedPrecondition("The daemon at %s belongs to cluster \"%s\", not to \"%s\".", self_.address(),
                              cluster(), hello.cluster().substr(0, kNameMax));
  }
  RETURN_IF_ERROR(CheckVersions(cluster(), options_.version, hello.member().name(), hello.protocol(),
                                hello.version().substr(0, kNameMax)));
  if (hello.member().incarnation() == self_.incarnation())
    return InvalidArgument("Daemon %s calls itself: --join names its own address.", self_.name());
  return absl::OkStatus();
}

absl::Status Membership::OnHello(LinkId link, const v1::PeerHello& hello, int64_t now_us) {
  RETURN_IF_ERROR(CheckHello(hello));
  const v1::Member& caller = hello.member();
  if (hello.joins()) {
    if (coordinates()) return Admit(link, hello, now_us);
    return FailedPrecondition("Daemon %s at %s is not the coordinator of cluster \"%s\": join %s.",
                              self_.name(), self_.address(), cluster(), options_.join);
  }
  if (caller.rank() <= self_.rank())
    return InvalidArgument("Daemon %s calls a member with a higher rank.", caller.name());
  const auto found = members_.find(caller.rank());
  if (found == members_.end() || !IsSame(found->second.member, caller)) {
    return Unavailable("Daemon %s does not know %s as a member yet.", self_.name(), caller.name());
  }
  v1::PeerMessage message;
  *message.mutable_welcome()->mutable_member() = self_;
  *message.mutable_welcome()->mutable_you() = caller;
  message.mutable_welcome()->set_epoch(epoch_);
  wire_.Send(link, message);
  Bind(found->second, link, now_us);
  return absl::OkStatus();
}

absl::Status Membership::OnWelcome(LinkId link, uint32_t rank, const v1::PeerWelcome& welcome,
                                   int64_t now_us) {
  if (rank == 0) return Join(link, welcome, now_us);
  const auto found = members_.find(rank);
  if (found == members_.end() || !IsSame(found->second.member, welcome.member()) ||
      !IsSame(self_, welcome.you())) {
    return Unavailable("Daemon %s is not the member that was called.", welcome.member().name());
  }
  Bind(found->second, link, now_us);
  return absl::OkStatus();
}

absl::Status Membership::Join(LinkId link, const v1::PeerWelcome& welcome, int64_t now_us) {
  if (welcome.member().rank() != 0)
    return InvalidArgument("The coordinator says it has another rank than 0.");
  if (static_cast<uint32_t>(welcome.members_size()) > kMembersMax || welcome.you().rank() == 0 ||
      welcome.you().joined() == 0 || welcome.you().incarnation() != self_.incarnation())
    return InvalidArgument("The coordinator's welcome is not for this daemon.");
  for (const v1::Member& member : welcome.members()) RETURN_IF_ERROR(CheckMember(member));
  RemoveAll("this daemon has joined again", now_us);
  self_.set_rank(welcome.you().rank());
  self_.set_joined(welcome.you().joined());
  self_.set_admitted_by(welcome.you().admitted_by());
  epoch_ = welcome.epoch();
  size_ = welcome.size();
  if (welcome.peer_silence_us() > 0) silence_us_ = static_cast<int64_t>(welcome.peer_silence_us());
  orphaned_us_ = 0;
  ++changes_;
  for (const v1::Member& member : welcome.members()) {
    Add(member, now_us);
    // It has not gone: this daemon was away.
    std::erase_if(departed_, [&](const Departed& row) {
      return row.when_us == now_us && row.member.incarnation() == member.incarnation();
    });
  }
  const auto coordinator = members_.find(0);
  if (coordinator == members_.end()) return InvalidArgument("The coordinator does not list itself.");
  Bind(coordinator->second, link, now_us);
  return absl::OkStatus();
}

}  // namespace hlod::fabric
