// Offers of multi-controller programs: compared by sequence number, digest and parts.
#include "server/fabric/offers.h"

#include <algorithm>
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

// Returns true if a daemon has a part in the launch; CheckParts holds.
bool HasPart(const v1::LaunchOffer& offer, uint32_t rank) {
  const auto part =
      std::lower_bound(offer.parts().begin(), offer.parts().end(), rank,
                       [](const v1::LaunchPart& one, uint32_t other) { return one.rank() < other; });
  return part != offer.parts().end() && part->rank() == rank;
}

Digest PartsOf(const v1::LaunchOffer& offer) {
  v1::LaunchOffer parts;
  *parts.mutable_parts() = offer.parts();
  return Sha256(parts.SerializeAsString());
}

// Returns the launch of a user, who has one, that came last.
template <typename Turns>
auto LatestOf(const Turns& turns, uint32_t rank, const std::string& user) {
  return std::prev(turns.upper_bound({rank, user, std::numeric_limits<uint64_t>::max()}))->second;
}

// Returns about the memory that a launch occupies which waits for its other offers.
int64_t BytesOf(const v1::LaunchOffer& offer) {
  constexpr size_t kFixed = 1024, kOfPart = sizeof(v1::LaunchPart) + 320;  // With places in sets and lists.
  size_t bytes = kFixed + offer.user().size() + static_cast<size_t>(offer.parts_size()) * kOfPart;
  for (const v1::LaunchPart& part : offer.parts())
    bytes += static_cast<size_t>(part.devices_size() + part.participants_size()) * sizeof(uint32_t);
  return static_cast<int64_t>(bytes);
}

absl::Status Differs(uint64_t sequence, const std::string& name) {
  // Launches come from clients; the daemon has done nothing wrong.
  return FailedPrecondition(
      "Launch %d of the group differs: %s offers a part of it, and the leader's offer names none there. Nothing "
      "has started.",
      sequence, name);
}

}  // namespace

// -----------------------------------------------------------------------------------------------------------
// refusing

void Offers::Refuse(uint32_t rank, const Key& key, const absl::Status& why) {
  v1::PeerMessage message;
  v1::LaunchOfferRefused& refused = *message.mutable_offer_refused();
  refused.set_group(key.first);
  refused.set_sequence(key.second);
  *refused.mutable_error() = ErrorFor(why);
  post_(rank, std::move(message));
}

void Offers::Refuse(Launches::iterator found, const absl::Status& why, int64_t now_us) {
  const Waiting& waiting = found->second;
  Refusal refused{.why = why, .user = waiting.user, .late = {}, .only = {}, .since_us = now_us};
  if (waiting.own.has_value()) {
    for (const v1::LaunchPart& part : waiting.own->parts()) refused.late.insert(part.rank());
  }
  for (const auto& [rank, said] : waiting.said) {
    if (said.kind == Said::Kind::kOffered) Refuse(rank, found->first, why);
    if (said.kind == Said::Kind::kComing) continue;
    refused.late.erase(rank);
    if (!waiting.own.has_value()) refused.only.insert(rank);
  }
  if (!refused.only.empty()) refused.late.insert(self());
  refusals_.Remember(found->first, std::move(refused));
  Erase(found);
}

void Offers::RefuseFirst(const Key& key, uint32_t rank, const v1::LaunchOffer& offer, const absl::Status& why,
                         int64_t now_us) {
  if (offer.coming()) return;  // The offer itself will be refused, unless there is room then.
  Refusal refused{.why = why, .user = offer.user(), .late = {self()}, .only = {rank}, .since_us = now_us};
  if (rank == self()) {
    refused.only.clear();
    for (const v1::LaunchPart& part : offer.parts()) refused.late.insert(part.rank());
    refused.late.erase(rank);
  }
  if (!offer.has_error()) Refuse(rank, key, why);
  refusals_.Remember(key, std::move(refused));
}

bool Offers::TakeOwnLate(const Key& key, Refusal before, const v1::LaunchOffer& offer, int64_t now_us) {
  const absl::Status& why = before.why;
  std::set<uint32_t>& answered = before.only;
  if (std::ranges::none_of(answered, [&offer](uint32_t rank) { return HasPart(offer, rank); })) return false;
  Refusal refused{.why = why, .user = offer.user(), .late = {}, .only = {}, .since_us = now_us};
  for (const v1::LaunchPart& part : offer.parts()) refused.late.insert(part.rank());
  if (const auto waiting = waiting_.find(key); waiting != waiting_.end()) {
    for (const auto& [rank, said] : waiting->second.said) {
      if (said.kind == Said::Kind::kOffered) Refuse(rank, key, why);
      if (said.kind != Said::Kind::kComing) answered.insert(rank);
    }
    Erase(waiting);
  }
  if (!offer.coming()) {
    if (!offer.has_error()) Refuse(self(), key, why);
    answered.insert(self());
  }
  for (const uint32_t rank : answered) refused.late.erase(rank);
  refusals_.Remember(key, std::move(refused));
  return true;
}

bool Offers::TakeLate(const Key& key, uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us) {
  const Refusal* const refused = refusals_.Find(key);
  if (refused == nullptr || !refused->late.contains(rank)) return false;
  if (!refused->only.empty()) return TakeOwnLate(key, refusals_.Take(key), offer, now_us);
  if (offer.coming()) return true;  // The offer itself gets the reason.
  if (!offer.has_error()) Refuse(rank, key, refused->why);
  refusals_.OnTold(key, rank);
  return true;
}

// -----------------------------------------------------------------------------------------------------------
// counting

void Offers::Count(const Key& key, Waiting& waiting, uint32_t rank, const std::string& user) {
  waiting.rank = rank;
  waiting.user = user;
  counts_[rank].Add(key.first, user);
  turns_[{rank, user, waiting.turn}] = key;
}

void Offers::Uncount(const Key& key, const Waiting& waiting) {
  const auto row = counts_.find(waiting.rank);
  row->second.Remove(key.first, waiting.user);
  if (row->second.all() == 0) counts_.erase(row);
  turns_.erase({waiting.rank, waiting.user, waiting.turn});
}

absl::Status Offers::AddVariant(Waiting& waiting, uint32_t rank, const v1::LaunchOffer& offer,
                                const Digest& parts) {
  if (waiting.own.has_value()) return absl::OkStatus();
  if (rank != self()) {
    DropVariant(waiting, rank);
    // An offer that is only coming is compared when it comes.
    if (offer.coming() || waiting.variants.contains(parts)) return absl::OkStatus();
  }
  // A user whom another daemon names is charged apart from this daemon's own users.
  Variant variant{.ranks = {},
                  .payer = rank == self() ? offer.user() : absl::StrCat(offer.user(), " on ", name_of_(rank)),
                  .bytes = BytesOf(offer)};
  for (const v1::LaunchPart& part : offer.parts()) variant.ranks.push_back(part.rank());
  RETURN_IF_ERROR(work_.Charge(variant.payer, variant.bytes));
  if (rank == self()) Discharge(waiting);
  waiting.variants[parts] = std::move(variant);
  return absl::OkStatus();
}

void Offers::DropVariant(Waiting& waiting, uint32_t rank) {
  const auto before = waiting.said.find(rank);
  if (before == waiting.said.end()) return;
  const auto variant = waiting.variants.find(before->second.parts);
  if (variant == waiting.variants.end()) return;
  const bool is_shared = std::ranges::any_of(waiting.said, [&](const auto& other) {
    return other.first != rank && other.second.parts == before->second.parts;
  });
  if (is_shared) return;
  work_.Discharge(variant->second.payer, variant->second.bytes);
  waiting.variants.erase(variant);
}

void Offers::Discharge(Waiting& waiting) {
  for (const auto& [parts, variant] : waiting.variants) work_.Discharge(variant.payer, variant.bytes);
  waiting.variants.clear();
}

void Offers::Erase(Launches::iterator found) {
  Uncount(found->first, found->second);
  Discharge(found->second);
  waiting_.erase(found);
}

absl::Status Offers::CheckClient(uint32_t rank, const v1::LaunchOffer& offer) const {
  const auto row = counts_.find(rank);
  const size_t own = row == counts_.end() ? 0 : row->second.OfClient(offer.group());
  if (own < limits_.offers_per_client_max) return absl::OkStatus();
  return MakeError(
      ErrorKind::kLimit,
      absl::StrFormat("%s has %d launches of this client already that wait for parts of other daemons; the "
                      "limit is %d. Launch %d is refused: await some before you start more.",
                      name_of_(self()), own, limits_.offers_per_client_max, offer.sequence()));
}

absl::Status Offers::MakeRoom(uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us) {
  RETURN_IF_ERROR(CheckClient(rank, offer));
  if (waiting_.size() < limits_.offers_max) return absl::OkStatus();
  const auto row = counts_.find(rank);
  const size_t of_rank = row == counts_.end() ? 0 : row->second.all();
  const auto most =
      std::ranges::max_element(counts_, {}, [](const auto& counts) { return counts.second.all(); });
  const uint32_t loser = of_rank >= most->second.all() ? rank : most->first;
  const LaunchCounts& counts = counts_.at(loser);
  const std::string largest = counts.Largest();
  const auto error = [&](uint64_t sequence, const std::string& user) {
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("%s has %d launches that wait for parts of other daemons, which is the limit, and %d "
                        "of them are of %s, who has the most. Launch %d of the group is refused.",
                        name_of_(self()), waiting_.size(), counts.OfUser(user), user, sequence));
  };
  if (loser == rank && counts.OfUser(offer.user()) >= counts.OfUser(largest))
    return error(offer.sequence(), offer.user());
  const auto latest = waiting_.find(LatestOf(turns_, loser, largest));
  Refuse(latest, error(latest->first.second, largest), now_us);
  return absl::OkStatus();
}

// -----------------------------------------------------------------------------------------------------------
// taking

Offers::Launches::iterator Offers::Open(const Key& key, uint32_t rank, const v1::LaunchOffer& offer,
                                        const Digest& parts, int64_t now_us) {
  auto found = waiting_.find(key);
  if (found == waiting_.end()) {
    if (const absl::Status room = MakeRoom(rank, offer, now_us); !room.ok()) {
      RefuseFirst(key, rank, offer, room, now_us);
      return waiting_.end();
    }
    found = waiting_.emplace(key, Waiting{.turn = ++last_turn_, .since_us = now_us}).first;
    Count(key, found->second, rank, offer.user());
  }
  // From now on it is counted for this daemon's client if the offer is its own.
  absl::Status room;
  if (rank == self() && found->second.rank != self()) room = CheckClient(self(), offer);
  if (room.ok()) room = AddVariant(found->second, rank, offer, parts);
  if (room.ok()) return found;
  if (rank == self() && !offer.coming()) {
    found->second.own = offer;
    found->second.said[rank].kind = Said::Kind::kOffered;
    Refuse(found, room, now_us);
    return waiting_.end();
  }
  if (found->second.said.empty()) Erase(found);
  RefuseFirst(key, rank, offer, room, now_us);
  return waiting_.end();
}

bool Offers::IsToCome(const Waiting& waiting) {
  return std::ranges::any_of(waiting.said,
                             [](const auto& row) { return row.second.kind != Said::Kind::kTakenBack; });
}

void Offers::TakeBack(const Key& key, uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us) {
  const absl::Status why = Annotate(ReasonOf(offer.error()), absl::StrCat("preparing on ", name_of_(rank)));
  const auto found = waiting_.find(key);
  if (found == waiting_.end()) return RefuseFirst(key, rank, offer, why, now_us);
  Waiting& waiting = found->second;
  if (rank == self() && !waiting.own.has_value()) waiting.own = offer;  // It says who comes late.
  if (waiting.own.has_value() && !HasPart(*waiting.own, rank)) return;
  Said& said = waiting.said[rank];
  said.kind = Said::Kind::kTakenBack;
  said.why = why;
  // Once all that came are taken back, only the reason is kept.
  if (waiting.own.has_value() || !IsToCome(waiting)) Refuse(found, why, now_us);
}

absl::StatusOr<std::optional<LaunchSpec>> Offers::Take(uint32_t rank, const v1::LaunchOffer& offer,
                                                       int64_t now_us) {
  RETURN_IF_ERROR(CheckUser(offer.user()));
  RETURN_IF_ERROR(CheckParts(offer.digest(), offer.parts(), /*offered=*/true));
  if (offer.group() == 0 || offer.parts(0).rank() != self())
    return InvalidArgument("It offers a launch that this daemon does not lead.");
  const Key key{offer.group(), offer.sequence()};
  if (!HasPart(offer, rank)) {
    if (!offer.coming() && !offer.has_error()) Refuse(rank, key, Differs(key.second, name_of_(rank)));
    return std::nullopt;
  }
  if (TakeLate(key, rank, offer, now_us)) return std::nullopt;
  if (offer.has_error()) {
    TakeBack(key, rank, offer, now_us);
    return std::nullopt;
  }
  const Digest parts = PartsOf(offer);
  const auto found = Open(key, rank, offer, parts, now_us);
  if (found == waiting_.end()) return std::nullopt;
  return rank == self() ? TakeOwn(found, offer, parts, now_us) : TakeOther(found, rank, offer, parts, now_us);
}

absl::Status Offers::Hear(Waiting& waiting, uint32_t rank, const v1::LaunchOffer& offer,
                          const Digest& parts) {
  Said& said = waiting.said[rank];
  if (said.kind == Said::Kind::kOffered)
    return InvalidArgument("It offers launch %d of its group twice.", offer.sequence());
  said = {.kind = offer.coming() ? Said::Kind::kComing : Said::Kind::kOffered,
          .digest = offer.digest(),
          .parts = parts,
          .why = {}};
  return absl::OkStatus();
}

absl::StatusOr<std::optional<LaunchSpec>> Offers::TakeOwn(Launches::iterator found,
                                                          const v1::LaunchOffer& offer, const Digest& parts,
                                                          int64_t now_us) {
  Waiting& waiting = found->second;
  RETURN_IF_ERROR(Hear(waiting, self(), offer, parts));
  if (!waiting.own.has_value()) waiting.begun = false;  // The daemons that began it may have no part.
  waiting.own = offer;
  Uncount(found->first, waiting);
  Count(found->first, waiting, self(), offer.user());
  waiting.offered = 0;
  std::vector<uint32_t> ranks;
  for (const auto& [rank, other] : waiting.said) ranks.push_back(rank);
  for (const uint32_t rank : ranks) {
    if (!Compare(found, rank, now_us)) return std::nullopt;
  }
  const bool is_offered = std::ranges::any_of(
      waiting.said, [](const auto& row) { return row.second.kind == Said::Kind::kOffered; });
  if (is_offered && !std::exchange(waiting.begun, true)) waiting.since_us = now_us;
  return Complete(found);
}

absl::StatusOr<std::optional<LaunchSpec>> Offers::TakeOther(Launches::iterator found, uint32_t rank,
                                                            const v1::LaunchOffer& offer, const Digest& parts,
                                                            int64_t now_us) {
  Waiting& waiting = found->second;
  RETURN_IF_ERROR(Hear(waiting, rank, offer, parts));
  if (!offer.coming() && !std::exchange(waiting.begun, true)) waiting.since_us = now_us;
  if (!waiting.own.has_value()) return std::nullopt;
  if (!Compare(found, rank, now_us)) return std::nullopt;
  return Complete(found);
}

bool Offers::Compare(Launches::iterator found, uint32_t rank, int64_t now_us) {
  Waiting& waiting = found->second;
  const Said& said = waiting.said.at(rank);
  const v1::LaunchOffer& own = *waiting.own;
  if (!HasPart(own, rank)) {
    if (said.kind == Said::Kind::kOffered)
      Refuse(rank, found->first, Differs(found->first.second, name_of_(rank)));
    waiting.said.erase(rank);
    return true;
  }
  if (said.kind == Said::Kind::kTakenBack) {
    Refuse(found, absl::Status(said.why), now_us);
    return false;
  }
  // The own program is not known before the own offer has come.
  if (said.kind == Said::Kind::kComing || own.coming()) return true;
  const Said& first = waiting.said.at(self());
  const bool other_program = said.digest != first.digest;
  if (other_program || said.parts != first.parts) {
    Refuse(found,
           FailedPrecondition(
               "Launch %d of the group differs: %s runs program %s, %s program %s%s. Nothing has started.",
               found->first.second, name_of_(self()), Short(first.digest), name_of_(rank), Short(said.digest),
               other_program ? "" : " on other devices"),
           now_us);
    return false;
  }
  ++waiting.offered;
  return true;
}

std::optional<LaunchSpec> Offers::Complete(Launches::iterator found) {
  const v1::LaunchOffer& own = *found->second.own;
  if (found->second.offered < own.parts_size()) return std::nullopt;
  LaunchSpec launch = LaunchOf(own);
  // From now on the part of this daemon's own session is charged for it.
  Erase(found);
  return launch;
}

// -----------------------------------------------------------------------------------------------------------
// time

void Offers::OnGone(uint32_t gone, const absl::Status& why, int64_t now_us) {
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto current = next++;
    Waiting& waiting = current->second;
    waiting.said.erase(gone);
    if (waiting.own.has_value()) {
      if (!HasPart(*waiting.own, gone)) continue;
      waiting.said[gone].kind = Said::Kind::kTakenBack;  // It is not late.
      Refuse(current, why, now_us);
      continue;
    }
    // An offer that names it cannot run, even if the own one, which is to come, does not.
    for (auto other = waiting.said.begin(); other != waiting.said.end();) {
      const auto [rank, said] = *other;
      const auto variant = waiting.variants.find(said.parts);
      const bool concerned = said.kind == Said::Kind::kOffered && variant != waiting.variants.end() &&
                             std::ranges::binary_search(variant->second.ranks, gone);
      if (concerned) Refuse(rank, current->first, why);
      other = concerned ? waiting.said.erase(other) : std::next(other);
    }
    if (waiting.said.empty()) {
      Erase(current);
    } else if (!IsToCome(waiting)) {
      Refuse(current, absl::Status(waiting.said.begin()->second.why), now_us);
    }
  }
}

bool Offers::TickWaiting(Launches::iterator current, int64_t now_us) {
  const Waiting& waiting = current->second;
  if (!waiting.begun || now_us - waiting.since_us <= limits_.prepare_wait_us) return true;
  std::string missing, others;
  if (waiting.own.has_value()) {
    for (const v1::LaunchPart& part : waiting.own->parts()) {
      if (!waiting.said.contains(part.rank()))
        absl::StrAppend(&missing, missing.empty() ? "" : ", ", name_of_(part.rank()));
    }
    if (missing.empty()) return true;  // All know of it; the arguments of some are being computed.
  } else {
    missing = name_of_(self());
  }
  // A member that is somewhere else in its program explains most of these.
  for (auto other = waiting_.lower_bound({current->first.first, 0});
       other != waiting_.end() && other->first.first == current->first.first; ++other) {
    if (other == current || other->second.said.empty()) continue;
    others = absl::StrFormat(" %s has offered launch %d instead.",
                             name_of_(other->second.said.begin()->first), other->first.second);
    break;
  }
  Refuse(current,
         DeadlineExceeded("Launch %d of the group waited %s for %s.%s", current->first.second,
                          SecondsOf(now_us - waiting.since_us), missing, others),
         now_us);
  return false;
}

void Offers::Tick(int64_t now_us) {
  refusals_.Tick(now_us, 2 * limits_.prepare_wait_us);
  for (auto next = waiting_.begin(); next != waiting_.end();) TickWaiting(next++, now_us);
}

}  // namespace hlod::fabric
