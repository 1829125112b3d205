// Offers of multi-controller programs: compared by sequence number, digest and parts.
#include "server/fabric/offers.h"

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "common/base/errors/status.h"
#include "common/rpc/wire.h"

namespace hlod::fabric {
namespace {

bool SameParts(const v1::LaunchOffer& a, const v1::LaunchOffer& b) {
  if (a.parts_size() != b.parts_size()) return false;
  for (int i = 0; i < a.parts_size(); ++i) {
    if (a.parts(i).SerializeAsString() != b.parts(i).SerializeAsString()) return false;
  }
  return true;
}

std::string Short(const std::string& digest) {
  return absl::BytesToHexString(ToAbsl(std::string_view(digest).substr(0, 6)));
}

v1::PrepareLaunch LaunchOf(const v1::LaunchOffer& offer) {
  v1::PrepareLaunch launch;
  launch.set_digest(offer.digest());
  *launch.mutable_parts() = offer.parts();
  launch.set_group(offer.group());
  launch.set_sequence(offer.sequence());
  return launch;
}

}  // namespace

void Offers::Refuse(uint32_t rank, const v1::LaunchOffer& offer, const absl::Status& why) {
  v1::PeerMessage message;
  v1::LaunchOfferRefused& refused = *message.mutable_offer_refused();
  refused.set_group(offer.group());
  refused.set_sequence(offer.sequence());
  *refused.mutable_error() = rpc::ToProto(ErrorOf(why));
  post_(rank, std::move(message));
}

void Offers::Refuse(std::map<Key, Waiting>::iterator waiting, const absl::Status& why, int64_t now_us) {
  Refused refused{.why = why, .late = {}, .since_us = now_us};
  for (const auto& [rank, offered] : waiting->second.offered) {
    if (offered) {
      Refuse(rank, waiting->second.first, why);
    } else {
      refused.late.insert(rank);
    }
  }
  if (!refused.late.empty() && refused_.size() < kOffersMax)
    refused_.insert_or_assign(waiting->first, std::move(refused));
  waiting_.erase(waiting);
}

std::map<Offers::Key, Offers::Waiting>::iterator Offers::Open(const Key& key, uint32_t rank, uint32_t self,
                                                              const v1::LaunchOffer& offer, int64_t now_us) {
  auto found = waiting_.find(key);
  if (found != waiting_.end()) return found;
  if (waiting_.size() >= kOffersMax) {
    Refuse(rank, offer,
           ResourceExhausted("%s has %d offers already, which is the limit.", name_of_(self), kOffersMax));
    return waiting_.end();
  }
  found =
      waiting_.emplace(key, Waiting{.first = offer, .first_rank = rank, .offered = {}, .since_us = now_us})
          .first;
  for (const v1::LaunchPart& part : offer.parts()) found->second.offered[part.rank()] = false;
  return found;
}

absl::StatusOr<std::optional<v1::PrepareLaunch>> Offers::Take(uint32_t rank, uint32_t self,
                                                              const v1::LaunchOffer& offer, int64_t now_us) {
  RETURN_IF_ERROR(CheckParts(offer.digest(), offer.parts()));
  if (offer.group() == 0 || offer.parts(0).rank() != self)
    return InvalidArgument("It offers a launch that this daemon does not lead.");
  const Key key{offer.group(), offer.sequence()};
  if (const auto refused = refused_.find(key);
      refused != refused_.end() && refused->second.late.erase(rank) > 0) {
    Refuse(rank, offer, refused->second.why);
    if (refused->second.late.empty()) refused_.erase(refused);
    return std::nullopt;
  }
  const auto found = Open(key, rank, self, offer, now_us);
  if (found == waiting_.end()) return std::nullopt;
  Waiting& waiting = found->second;
  const auto place = waiting.offered.find(rank);
  if (place == waiting.offered.end()) {
    // Launches come from clients; the daemon has done nothing wrong.
    const absl::Status why = FailedPrecondition(
        "Launch %d of the group differs: %s has a part in it by its own offer only. Nothing "
        "has started.",
        offer.sequence(), name_of_(rank));
    Refuse(rank, offer, why);
    Refuse(found, why, now_us);
    return std::nullopt;
  }
  if (place->second && !offer.has_error())
    return InvalidArgument("It offers launch %d of its group twice.", offer.sequence());
  if (offer.has_error()) {
    waiting.offered.erase(place);
    Refuse(found, Annotate(ReasonOf(offer.error()), absl::StrCat("preparing on ", name_of_(rank))), now_us);
    return std::nullopt;
  }
  if (offer.coming()) {
    waiting.coming.insert(rank);
    return std::nullopt;
  }
  place->second = true;
  if (!std::exchange(waiting.begun, true)) {
    waiting.first = offer;
    waiting.first_rank = rank;
    waiting.since_us = now_us;
  }
  if (offer.digest() != waiting.first.digest() || !SameParts(offer, waiting.first)) {
    Refuse(found,
           FailedPrecondition(
               "Launch %d of the group differs: %s runs program %s, %s program %s%s. Nothing has started.",
               offer.sequence(), name_of_(waiting.first_rank), Short(waiting.first.digest()), name_of_(rank),
               Short(offer.digest()), offer.digest() == waiting.first.digest() ? " on other devices" : ""),
           now_us);
    return std::nullopt;
  }
  for (const auto& [other, offered] : waiting.offered) {
    if (!offered) return std::nullopt;
  }
  waiting_.erase(found);
  return LaunchOf(offer);
}

void Offers::OnGone(uint32_t rank, const absl::Status& why, int64_t now_us) {
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto current = next++;
    const auto place = current->second.offered.find(rank);
    if (place == current->second.offered.end()) continue;
    place->second = false;
    Refuse(current, why, now_us);
  }
}

void Offers::Tick(int64_t now_us) {
  std::erase_if(refused_,
                [&](const auto& row) { return now_us - row.second.since_us > 2 * limits_.prepare_wait_us; });
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto current = next++;
    const Waiting& waiting = current->second;
    if (!waiting.begun || now_us - waiting.since_us <= limits_.prepare_wait_us) continue;
    std::string missing, others;
    for (const auto& [rank, offered] : waiting.offered) {
      if (!offered && !waiting.coming.contains(rank))
        absl::StrAppend(&missing, missing.empty() ? "" : ", ", name_of_(rank));
    }
    if (missing.empty()) continue;  // All know of it; the arguments of some are being computed.
    // A member that is somewhere else in its program explains most of these.
    for (const auto& [key, other] : waiting_) {
      if (key.first != current->first.first || key.second == current->first.second) continue;
      if (!others.empty()) continue;
      others = absl::StrFormat(" %s has offered launch %d instead.", name_of_(other.first_rank), key.second);
    }
    Refuse(current,
           DeadlineExceeded("Launch %d of the group waited %s for %s.%s", current->first.second,
                            SecondsOf(now_us - waiting.since_us), missing, others),
           now_us);
  }
}

}  // namespace hlod::fabric
