// Offers of multi-controller programs: compared by sequence number, digest and parts.
#include "server/fabric/offers.h"

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "common/base/errors/status.h"

namespace hlod::fabric {
namespace {

std::string Short(const std::string& digest) {
  return absl::BytesToHexString(ToAbsl(std::string_view(digest).substr(0, 6)));
}

LaunchSpec LaunchOf(const v1::LaunchOffer& offer) {
  LaunchSpec launch;
  launch.prepare.set_digest(offer.digest());
  *launch.prepare.mutable_parts() = offer.parts();
  launch.prepare.set_group(offer.group());
  launch.prepare.set_sequence(offer.sequence());
  launch.session = offer.group();
  launch.user = offer.user();
  return launch;
}

// Returns the row of a user that came last.
template <typename Rows, typename UserOf>
typename Rows::iterator LatestOf(Rows& rows, const std::string& user, UserOf user_of) {
  auto latest = rows.end();
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    if (user_of(row->second) == user && (latest == rows.end() || row->second.turn > latest->second.turn))
      latest = row;
  }
  return latest;
}

}  // namespace

void Offers::Refuse(uint32_t rank, const v1::LaunchOffer& offer, const absl::Status& why) {
  v1::PeerMessage message;
  v1::LaunchOfferRefused& refused = *message.mutable_offer_refused();
  refused.set_group(offer.group());
  refused.set_sequence(offer.sequence());
  *refused.mutable_error() = ErrorFor(why);
  post_(rank, std::move(message));
}

void Offers::Refuse(std::map<Key, Waiting>::iterator waiting, const absl::Status& why, int64_t now_us) {
  const v1::LaunchOffer& first = waiting->second.first;
  Refused refused{.why = why, .user = first.user(), .late = {}, .since_us = now_us};
  for (const auto& [rank, offered] : waiting->second.offered) {
    if (offered) {
      Refuse(rank, first, why);
    } else {
      refused.late.insert(rank);
    }
  }
  Remember(waiting->first, std::move(refused));
  waiting_counts_.Remove(first.group(), first.user());
  waiting_.erase(waiting);
}

void Offers::Remember(const Key& key, Refused refused) {
  if (refused.late.empty()) return;
  if (const auto known = refused_.find(key); known != refused_.end()) Forget(known);
  refused.turn = ++turns_;
  refused_counts_.Add(key.first, refused.user);
  refused_.emplace(key, std::move(refused));
  if (refused_.size() > limits_.offers_max) {
    const auto user_of = [](const Refused& row) -> const std::string& { return row.user; };
    Forget(LatestOf(refused_, refused_counts_.Largest(), user_of));
  }
}

void Offers::Forget(std::map<Key, Refused>::iterator refused) {
  refused_counts_.Remove(refused->first.first, refused->second.user);
  refused_.erase(refused);
}

absl::Status Offers::MakeRoom(const v1::LaunchOffer& offer, uint32_t self, int64_t now_us) {
  if (const size_t own = waiting_counts_.OfClient(offer.group()); own >= limits_.offers_per_client_max) {
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("%s has %d launches of this client already that wait for parts of other daemons; the "
                        "limit is %d. Launch %d is refused: await some before you start more.",
                        name_of_(self), own, limits_.offers_per_client_max, offer.sequence()));
  }
  if (waiting_.size() < limits_.offers_max) return absl::OkStatus();
  const auto error = [&](uint64_t sequence, const std::string& user) {
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("%s has %d launches that wait for parts of other daemons, which is the limit, and %d "
                        "of them are of %s, who has the most. Launch %d of the group is refused.",
                        name_of_(self), waiting_.size(), waiting_counts_.OfUser(user), user, sequence));
  };
  const std::string largest = waiting_counts_.Largest();
  if (waiting_counts_.OfUser(offer.user()) >= waiting_counts_.OfUser(largest))
    return error(offer.sequence(), offer.user());
  const auto user_of = [](const Waiting& row) -> const std::string& { return row.first.user(); };
  const auto latest = LatestOf(waiting_, largest, user_of);
  Refuse(latest, error(latest->first.second, largest), now_us);
  return absl::OkStatus();
}

std::map<Offers::Key, Offers::Waiting>::iterator Offers::Open(const Key& key, uint32_t rank, uint32_t self,
                                                              const v1::LaunchOffer& offer, int64_t now_us) {
  auto found = waiting_.find(key);
  if (found != waiting_.end()) return found;
  Waiting waiting{.first = offer, .first_rank = rank, .offered = {}, .turn = ++turns_, .since_us = now_us};
  for (const v1::LaunchPart& part : offer.parts()) waiting.offered[part.rank()] = false;
  // An offer with an error is refused at once, so it needs no room.
  const absl::Status room = offer.has_error() ? absl::OkStatus() : MakeRoom(offer, self, now_us);
  if (!room.ok()) {
    if (offer.coming())
      return waiting_.end();  // The offer itself will be refused, unless there is room then.
    Refused refused{.why = room, .user = offer.user(), .late = {}, .since_us = now_us};
    for (const auto& [other, offered] : waiting.offered) refused.late.insert(other);
    refused.late.erase(rank);
    Refuse(rank, offer, room);
    Remember(key, std::move(refused));
    return waiting_.end();
  }
  waiting_counts_.Add(offer.group(), offer.user());
  return waiting_.emplace(key, std::move(waiting)).first;
}

bool Offers::TakeLate(const Key& key, uint32_t rank, const v1::LaunchOffer& offer) {
  const auto refused = refused_.find(key);
  if (refused == refused_.end() || !refused->second.late.contains(rank)) return false;
  if (offer.coming()) return true;  // The offer itself gets the reason.
  Refuse(rank, offer, refused->second.why);
  refused->second.late.erase(rank);
  if (refused->second.late.empty()) Forget(refused);
  return true;
}

absl::StatusOr<std::optional<LaunchSpec>> Offers::Take(uint32_t rank, uint32_t self,
                                                       const v1::LaunchOffer& offer, int64_t now_us) {
  RETURN_IF_ERROR(CheckParts(offer.digest(), offer.parts()));
  if (offer.group() == 0 || offer.parts(0).rank() != self)
    return InvalidArgument("It offers a launch that this daemon does not lead.");
  const Key key{offer.group(), offer.sequence()};
  if (TakeLate(key, rank, offer)) return std::nullopt;
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
    waiting_counts_.Remove(key.first, waiting.first.user());
    waiting.first = offer;
    waiting_counts_.Add(key.first, waiting.first.user());
    waiting.first_rank = rank;
    waiting.since_us = now_us;
  }
  if (offer.digest() != waiting.first.digest() || !SameParts(offer.parts(), waiting.first.parts())) {
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
  waiting_counts_.Remove(key.first, waiting.first.user());
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
  for (auto next = refused_.begin(); next != refused_.end();) {
    const auto current = next++;
    if (now_us - current->second.since_us > 2 * limits_.prepare_wait_us) Forget(current);
  }
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
    for (auto other = waiting_.lower_bound({current->first.first, 0});
         other != waiting_.end() && other->first.first == current->first.first; ++other) {
      if (other == current) continue;
      others = absl::StrFormat(" %s has offered launch %d instead.", name_of_(other->second.first_rank),
                               other->first.second);
      break;
    }
    Refuse(current,
           DeadlineExceeded("Launch %d of the group waited %s for %s.%s", current->first.second,
                            SecondsOf(now_us - waiting.since_us), missing, others),
           now_us);
  }
}

}  // namespace hlod::fabric
