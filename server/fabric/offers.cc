// Offers of multi-controller programs: compared by sequence number, digest and parts.
#include "server/fabric/offers.h"

#include <iterator>
#include <limits>
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

// Returns the launch of a user, who has one, that came last.
template <typename Turns>
auto LatestOf(const Turns& turns, const std::string& user) {
  return std::prev(turns.upper_bound({user, std::numeric_limits<uint64_t>::max()}))->second;
}

// Returns about the memory that a launch occupies which waits for its other offers.
int64_t BytesOf(const v1::LaunchOffer& offer) {
  constexpr size_t kFixed = 1024, kOfPart = sizeof(v1::LaunchPart) + 192;  // With places in sets and lists.
  size_t bytes = kFixed + offer.user().size() + static_cast<size_t>(offer.parts_size()) * kOfPart;
  for (const v1::LaunchPart& part : offer.parts())
    bytes += static_cast<size_t>(part.devices_size() + part.participants_size()) * sizeof(uint32_t);
  return static_cast<int64_t>(bytes);
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
  Drop(waiting->first, waiting->second);
  waiting_.erase(waiting);
}

absl::Status Offers::Keep(const Key& key, Waiting& waiting, const v1::LaunchOffer& offer) {
  const int64_t bytes = BytesOf(offer);
  RETURN_IF_ERROR(work_.Charge(offer.user(), bytes));
  waiting.first = offer;
  waiting.bytes = bytes;
  waiting_counts_.Add(key.first, offer.user());
  waiting_turns_[{offer.user(), waiting.turn}] = key;
  return absl::OkStatus();
}

void Offers::Drop(const Key& key, Waiting& waiting) {
  const std::string& user = waiting.first.user();
  work_.Discharge(user, waiting.bytes);
  waiting_counts_.Remove(key.first, user);
  waiting_turns_.erase({user, waiting.turn});
}

void Offers::Remember(const Key& key, Refused refused) {
  if (refused.late.empty()) return;
  if (const auto known = refused_.find(key); known != refused_.end()) Forget(known);
  refused.turn = ++last_turn_;
  refused_counts_.Add(key.first, refused.user);
  refused_turns_[{refused.user, refused.turn}] = key;
  refused_.emplace(key, std::move(refused));
  if (refused_.size() > limits_.offers_max)
    Forget(refused_.find(LatestOf(refused_turns_, refused_counts_.Largest())));
}

void Offers::Forget(std::map<Key, Refused>::iterator refused) {
  refused_counts_.Remove(refused->first.first, refused->second.user);
  refused_turns_.erase({refused->second.user, refused->second.turn});
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
  const auto latest = waiting_.find(LatestOf(waiting_turns_, largest));
  Refuse(latest, error(latest->first.second, largest), now_us);
  return absl::OkStatus();
}

void Offers::RefuseFirst(const Key& key, uint32_t rank, const v1::LaunchOffer& offer, const absl::Status& why,
                         int64_t now_us) {
  if (offer.coming()) return;  // The offer itself will be refused, unless there is room then.
  Refused refused{.why = why, .user = offer.user(), .late = {}, .since_us = now_us};
  for (const v1::LaunchPart& part : offer.parts()) refused.late.insert(part.rank());
  refused.late.erase(rank);
  if (!offer.has_error()) Refuse(rank, offer, why);
  Remember(key, std::move(refused));
}

std::map<Offers::Key, Offers::Waiting>::iterator Offers::Open(const Key& key, uint32_t rank, uint32_t self,
                                                              const v1::LaunchOffer& offer, int64_t now_us) {
  auto found = waiting_.find(key);
  if (found != waiting_.end()) return found;
  Waiting waiting{.first = {}, .first_rank = rank, .offered = {}, .turn = ++last_turn_, .since_us = now_us};
  for (const v1::LaunchPart& part : offer.parts()) waiting.offered[part.rank()] = false;
  absl::Status room = MakeRoom(offer, self, now_us);
  if (room.ok()) room = Keep(key, waiting, offer);
  if (!room.ok()) {
    RefuseFirst(key, rank, offer, room, now_us);
    return waiting_.end();
  }
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
  RETURN_IF_ERROR(CheckUser(offer.user()));
  RETURN_IF_ERROR(CheckParts(offer.digest(), offer.parts(), /*offered=*/true));
  if (offer.group() == 0 || offer.parts(0).rank() != self)
    return InvalidArgument("It offers a launch that this daemon does not lead.");
  const Key key{offer.group(), offer.sequence()};
  if (TakeLate(key, rank, offer)) return std::nullopt;
  if (offer.has_error() && !waiting_.contains(key)) {
    RefuseFirst(key, rank, offer,
                Annotate(ReasonOf(offer.error()), absl::StrCat("preparing on ", name_of_(rank))), now_us);
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
  return Compare(found, rank, offer, now_us);
}

std::optional<LaunchSpec> Offers::Compare(std::map<Key, Waiting>::iterator found, uint32_t rank,
                                          const v1::LaunchOffer& offer, int64_t now_us) {
  const Key key = found->first;
  Waiting& waiting = found->second;
  if (!std::exchange(waiting.begun, true)) {
    Drop(key, waiting);
    if (const absl::Status room = Keep(key, waiting, offer); !room.ok()) {
      waiting_.erase(found);
      RefuseFirst(key, rank, offer, room, now_us);
      return std::nullopt;
    }
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
  // From now on the part of this daemon's own session is charged for it.
  Drop(key, waiting);
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
