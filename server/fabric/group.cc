// Who gets which message.
#include "server/fabric/group.h"

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/rpc/wire.h"

namespace hlod::fabric {

Group::Group(MembershipOptions options, const LaunchLimits& limits, Wire& wire, Work& work)
    : work_(work),
      outbox_(work),
      membership_(options, wire, *this),
      leader_(
          limits, work, [this](uint32_t rank, v1::PeerMessage m) { Post(rank, std::move(m)); },
          [this](uint32_t rank) { return membership_.NameOf(rank); }),
      participant_(
          options.self.devices(), limits, work,
          [this](uint32_t rank, v1::PeerMessage m) { Post(rank, std::move(m)); },
          [this](uint32_t rank) { return membership_.NameOf(rank); }),
      offers_(
          limits, work, [this] { return self(); },
          [this](uint32_t rank, v1::PeerMessage m) { Post(rank, std::move(m)); },
          [this](uint32_t rank) { return membership_.NameOf(rank); }) {}

void Group::Post(uint32_t rank, v1::PeerMessage message) {
  if (rank == self()) {
    to_self_.push_back(std::move(message));
  } else {
    membership_.Send(rank, std::move(message), now_us_);
  }
}

void Group::SendLeft() {
  for (auto next = left_.begin(); next != left_.end();) {
    auto& [rank, groups] = *next;
    while (!groups.empty() && (rank == self() || membership_.HasRoom(rank))) {
      v1::PeerMessage message;
      message.mutable_left()->set_group(groups.extract(groups.begin()).value());
      Post(rank, std::move(message));
    }
    next = groups.empty() ? left_.erase(next) : std::next(next);
  }
}

void Group::SendOffers() {
  if (outbox_.empty()) return;
  for (const uint32_t rank : outbox_.ranks()) {
    while (membership_.HasRoom(rank)) {
      std::optional<v1::LaunchOffer> offer = outbox_.Next(rank);
      if (!offer.has_value()) break;
      v1::PeerMessage message;
      *message.mutable_offer() = *std::move(offer);
      Post(rank, std::move(message));
    }
  }
}

void Group::Settle(int64_t now_us) {
  SendOffers();
  SendLeft();
  for (;;) {
    leader_.BeginNext(membership_.has_coordinator(), now_us);
    if (to_self_.empty()) return;
    const v1::PeerMessage message = std::move(to_self_.front());
    to_self_.pop_front();
    OnMessage(self(), message, now_us).IgnoreError();
  }
}

absl::Status Group::OnLinkMessage(LinkId link, const v1::PeerMessage& message, int64_t now_us) {
  now_us_ = now_us;
  const absl::Status status = membership_.OnMessage(link, message, now_us);
  Settle(now_us);
  return status;
}

void Group::OnEnded(LinkId link, const absl::Status& why, int64_t now_us) {
  now_us_ = now_us;
  membership_.OnEnded(link, why, now_us);
  Settle(now_us);
}

void Group::Tick(int64_t now_us) {
  now_us_ = now_us;
  membership_.Tick(now_us);
  leader_.Tick(membership_.has_coordinator(), now_us);
  participant_.Tick(now_us);
  offers_.Tick(now_us);
  Settle(now_us);
}

absl::Status Group::OnMessage(uint32_t rank, const v1::PeerMessage& message, int64_t now_us) {
  now_us_ = now_us;
  switch (message.body_case()) {
    case v1::PeerMessage::kTicketRequest: {
      if (!membership_.coordinates())
        return InvalidArgument("It asks this daemon, which does not coordinate, for a ticket.");
      const v1::TicketRequest& request = message.ticket_request();
      RETURN_IF_ERROR(CheckUser(request.user()));
      const uint64_t used_us = claims_.Believe(rank, request.used_us(), membership_.device_count(), now_us);
      if (used_us > 0) tickets_.Charge(rank, request.session(), request.user(), used_us);
      if (request.number() == 0) return absl::OkStatus();
      claims_.OnTicket(rank, now_us);
      v1::PeerMessage answer;
      answer.mutable_ticket()->set_number(request.number());
      answer.mutable_ticket()->set_ticket(
          tickets_.Next(rank, request.session(), request.user(), request.ahead_us(), request.seen()));
      Post(rank, std::move(answer));
      return absl::OkStatus();
    }
    case v1::PeerMessage::kTicket:
      if (rank != 0) return InvalidArgument("It gives a ticket, but does not coordinate.");
      leader_.OnTicket(message.ticket(), now_us);
      return absl::OkStatus();
    case v1::PeerMessage::kPrepare: return OnPrepare(rank, message.prepare(), now_us);
    case v1::PeerMessage::kStep: {
      const v1::LaunchStep& step = message.step();
      switch (step.kind()) {
        case v1::LaunchStep::YIELD:
        case v1::LaunchStep::PASS:
        case v1::LaunchStep::RESUME:
        case v1::LaunchStep::START:
        case v1::LaunchStep::ABORT:
        case v1::LaunchStep::CANCEL: return participant_.OnStep(rank, step, now_us);
        default: break;
      }
      if (step.launch().leader() != self())
        return InvalidArgument("It answers launch %d of rank %d here.", step.launch().number(),
                               step.launch().leader());
      return leader_.OnStep(rank, step, now_us);
    }
    case v1::PeerMessage::kOffer: {
      const v1::LaunchOffer& offer = message.offer();
      if (offer.has_error() &&
          leader_.TakeBack(offer.group(), offer.sequence(), rank, ReasonOf(offer.error())))
        return absl::OkStatus();
      ASSIGN_OR_RETURN(std::optional<LaunchSpec> launch, offers_.Take(rank, offer, now_us));
      if (launch.has_value()) leader_.Take(*std::move(launch), self(), now_us);
      return absl::OkStatus();
    }
    case v1::PeerMessage::kLeft:
      offers_.OnLeft(rank, message.left().group(), now_us);
      return absl::OkStatus();
    case v1::PeerMessage::kOfferRefused: return OnOfferRefused(rank, message.offer_refused());
    default: return InvalidArgument("It sends a message that this daemon does not know.");
  }
}

absl::Status Group::OnPrepare(uint32_t rank, const v1::PrepareLaunch& prepare, int64_t now_us) {
  leader_.SeeTicket(prepare.ticket());
  if (prepare.group() != 0 && prepare.launch().leader() == rank) {
    const auto offer = offered_.find({prepare.group(), prepare.sequence()});
    if (offer == offered_.end() || offer->second != rank) {
      Post(rank,
           MakeStep(prepare.launch(), v1::LaunchStep::REFUSED,
                    MakeError(ErrorKind::kCancelled,
                              absl::StrFormat("%s does not offer launch %d of the group to %s (any more).",
                                              membership_.NameOf(self()), prepare.sequence(),
                                              membership_.NameOf(rank)))));
      return absl::OkStatus();
    }
    offered_.erase(offer);
  }
  return participant_.OnPrepare(rank, self(), prepare, now_us);
}

absl::Status Group::OnOfferRefused(uint32_t rank, const v1::LaunchOfferRefused& refused) {
  const auto offer = offered_.find({refused.group(), refused.sequence()});
  if (offer == offered_.end()) return absl::OkStatus();  // It has been taken back.
  if (offer->second != rank)
    return InvalidArgument("It refuses an offer that was made to %s.", membership_.NameOf(offer->second));
  offered_.erase(offer);
  work_.OnOfferRefused(refused.group(), refused.sequence(), {}, ReasonOf(refused.error()));
  return absl::OkStatus();
}

void Group::OnGone(uint32_t rank, const absl::Status& why, int64_t now_us) {
  now_us_ = now_us;
  claims_.Forget(rank);
  leader_.OnGone(rank, why);
  participant_.OnGone(rank, why, now_us);
  offers_.OnGone(rank, why, now_us);
  outbox_.Drop(rank);
  left_.erase(rank);
  for (auto next = offered_.begin(); next != offered_.end();) {
    const auto current = next++;
    if (current->second != rank) continue;
    work_.OnOfferRefused(current->first.first, current->first.second, {}, why);
    offered_.erase(current);
  }
}

absl::Status Group::CheckMembers(const google::protobuf::RepeatedPtrField<v1::LaunchPart>& parts) const {
  if (!membership_.joined()) {
    return FailedPrecondition("Daemon %s is not a member of cluster \"%s\" now.", membership_.self().name(),
                              membership_.cluster());
  }
  for (const v1::LaunchPart& part : parts) {
    if (membership_.Has(part.rank())) continue;
    return MakeError(ErrorKind::kLostDaemon, absl::StrFormat("Cluster \"%s\" has no member with rank %d now.",
                                                             membership_.cluster(), part.rank()));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Group::Launch(LaunchSpec spec, int64_t now_us) {
  now_us_ = now_us;
  RETURN_IF_ERROR(CheckParts(spec.prepare.digest(), spec.prepare.parts(), spec.prepare.group() != 0));
  RETURN_IF_ERROR(CheckMembers(spec.prepare.parts()));
  const uint64_t number = leader_.Take(std::move(spec), self(), now_us);
  Settle(now_us);
  return number;
}

void Group::Cancel(uint64_t number, const absl::Status& why, int64_t now_us) {
  now_us_ = now_us;
  leader_.Cancel(number, why);
  Settle(now_us);
}

absl::Status Group::Offer(const v1::LaunchOffer& offer, int64_t now_us) {
  now_us_ = now_us;
  RETURN_IF_ERROR(CheckParts(offer.digest(), offer.parts(), /*offered=*/true));
  RETURN_IF_ERROR(CheckMembers(offer.parts()));
  const std::pair key(offer.group(), offer.sequence());
  if (offer.has_error()) {
    offered_.erase(key);
  } else if (!offer.coming() && !offered_.emplace(key, offer.parts(0).rank()).second) {
    return InvalidArgument("Launch %d of the group is offered twice.", offer.sequence());
  }
  const uint32_t leader = offer.parts(0).rank();
  if (leader == self()) {
    v1::PeerMessage message;
    *message.mutable_offer() = offer;
    Post(leader, std::move(message));
  } else {
    outbox_.Add(leader, offer);
  }
  Settle(now_us);
  return absl::OkStatus();
}

void Group::Leave(uint64_t group, int64_t now_us) {
  now_us_ = now_us;
  if (!membership_.joined()) return;
  for (const Membership::View& view : membership_.List(now_us)) {
    std::set<uint64_t>& groups = left_[view.member.rank()];
    if (groups.size() < kLeftMax) groups.insert(group);
  }
  Settle(now_us);
}

void Group::OnPrepared(const v1::LaunchId& launch, uint64_t attempt, const absl::Status& status,
                       int64_t now_us) {
  now_us_ = now_us;
  participant_.OnPrepared(launch, attempt, status, now_us);
  Settle(now_us);
}

void Group::OnDone(const v1::LaunchId& launch, const absl::Status& status, int64_t now_us) {
  now_us_ = now_us;
  participant_.OnDone(launch, status, now_us);
  Settle(now_us);
}

}  // namespace hlod::fabric
