// Offers of multi-controller programs: compared by sequence number, digest and parts.
#include "server/fabric/offers.h"

#include <algorithm>
#include <set>
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

// Returns about the memory that a launch occupies which waits for its other offers.
int64_t BytesOf(const v1::LaunchOffer& offer) {
  constexpr size_t kFixed = 1024, kOfPart = sizeof(v1::LaunchPart) + 320;  // With places in sets and lists.
  size_t bytes = kFixed + offer.user().size() + static_cast<size_t>(offer.parts_size()) * kOfPart;
  for (const v1::LaunchPart& part : offer.parts())
    bytes += static_cast<size_t>(part.devices_size() + part.participants_size()) * sizeof(uint32_t);
  return static_cast<int64_t>(bytes);
}

}  // namespace

// -----------------------------------------------------------------------------------------------------------
// refusing

void Offers::RefuseStranger(const Key& key, uint32_t rank) {
  // Launches come from clients; the daemon has done nothing wrong.
  post_(rank, MakeOfferRefused(key, FailedPrecondition("Launch %d of the group differs: %s offers a part of "
                                                       "it, and the leader's offer names none there. Nothing "
                                                       "has started.",
                                                       key.second, name_of_(rank))));
}

void Offers::Refuse(const v1::LaunchOffer& own, const std::map<uint32_t, Said>& said, const absl::Status& why,
                    int64_t now_us) {
  const Key key{own.group(), own.sequence()};
  std::set<uint32_t> late;
  for (const v1::LaunchPart& part : own.parts()) late.insert(part.rank());
  for (const auto& [rank, word] : said) {
    if (word.kind == Said::Kind::kComing) continue;
    if (word.kind == Said::Kind::kOffered) {
      if (late.contains(rank)) post_(rank, MakeOfferRefused(key, why));
      else RefuseStranger(key, rank);
    }
    late.erase(rank);
  }
  // A part that waits for the last one may come as much later.
  refusals_.Remember(key, why, own.user(), std::move(late), now_us + 2 * limits_.OfferWaitUs(own));
}

void Offers::Refuse(Launches::iterator found, const absl::Status& why, int64_t now_us) {
  Refuse(found->second.own, found->second.said, why, now_us);
  Erase(found);
}

void Offers::Erase(Launches::iterator found) {
  crowd_.Remove(found->first);
  work_.Discharge({found->second.own.user()}, found->second.bytes);
  waiting_.erase(found);
}

// -----------------------------------------------------------------------------------------------------------
// taking

absl::StatusOr<std::optional<LaunchSpec>> Offers::Take(uint32_t rank, const v1::LaunchOffer& offer,
                                                       int64_t now_us) {
  RETURN_IF_ERROR(CheckUser(offer.user()));
  RETURN_IF_ERROR(CheckParts(offer.digest(), offer.parts(), /*offered=*/true));
  if (offer.group() == 0 || offer.parts(0).rank() != self())
    return InvalidArgument("It offers a launch that this daemon does not lead.");
  const Key key{offer.group(), offer.sequence()};
  if (!HasPart(offer, rank)) {
    if (!offer.coming() && !offer.has_error()) RefuseStranger(key, rank);
    return std::nullopt;
  }
  if (refusals_.Answer(rank, offer)) return std::nullopt;
  const auto found = waiting_.find(key);
  if (found == waiting_.end() && rank != self()) {
    if (offer.separate() && !offer.coming() && departures_.Has(self(), key.first)) {
      post_(rank, MakeOfferRefused(key, ProcessHasEnded(name_of_(self()))));
      return std::nullopt;
    }
    RETURN_IF_ERROR(early_.Hear(rank, offer, now_us));
    return std::nullopt;
  }
  if (offer.has_error()) {
    TakeBack(key, rank, offer, now_us);
    return std::nullopt;
  }
  return rank == self() ? TakeOwn(key, offer, now_us) : TakeOther(found, rank, offer, now_us);
}

Offers::Launches::iterator Offers::Open(const Key& key, const v1::LaunchOffer& offer, int64_t now_us) {
  if (const auto found = waiting_.find(key); found != waiting_.end()) return found;
  const int64_t bytes = BytesOf(offer);
  absl::Status room = crowd_.MakeRoom(
      key, offer.user(), limits_, name_of_(self()),
      [&](const Key& last, const absl::Status& why) { Refuse(waiting_.find(last), why, now_us); });
  if (room.ok()) room = work_.Charge({offer.user()}, bytes);
  if (room.ok()) {
    crowd_.Add(key, offer.user());
    return waiting_.emplace(key, Waiting{.own = offer, .said = early_.Take(key), .bytes = bytes}).first;
  }
  if (offer.coming()) return waiting_.end();  // The offer itself will be refused, unless there is room then.
  std::map<uint32_t, Said> said = early_.Take(key);
  said[self()].kind = Said::Kind::kOffered;
  Refuse(offer, said, room, now_us);
  return waiting_.end();
}

void Offers::TakeBack(const Key& key, uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us) {
  const absl::Status why = Annotate(ReasonOf(offer.error()), absl::StrCat("preparing on ", name_of_(rank)));
  const auto found = waiting_.find(key);
  if (found != waiting_.end()) {
    if (!HasPart(found->second.own, rank)) return;
    found->second.said[rank].kind = Said::Kind::kOver;
    return Refuse(found, why, now_us);
  }
  std::map<uint32_t, Said> said = early_.Take(key);  // Only the own part can be the first that is known here.
  said[rank].kind = Said::Kind::kOver;
  Refuse(offer, said, why, now_us);
}

absl::Status Offers::Hear(Waiting& waiting, uint32_t rank, const v1::LaunchOffer& offer) {
  Said& said = waiting.said[rank];
  if (said.kind == Said::Kind::kOffered)
    return InvalidArgument("It offers launch %d of its group twice.", offer.sequence());
  said = {.kind = offer.coming() ? Said::Kind::kComing : Said::Kind::kOffered,
          .digest = offer.digest(),
          .parts = PartsOf(offer),
          .why = {}};
  return absl::OkStatus();
}

void Offers::Begin(Waiting& waiting, int64_t now_us) {
  const bool is_offered = std::ranges::any_of(
      waiting.said, [](const auto& row) { return row.second.kind == Said::Kind::kOffered; });
  if (is_offered && !std::exchange(waiting.begun, true)) waiting.since_us = now_us;
}

absl::StatusOr<std::optional<LaunchSpec>> Offers::TakeOwn(const Key& key, const v1::LaunchOffer& offer,
                                                          int64_t now_us) {
  const auto found = Open(key, offer, now_us);
  if (found == waiting_.end()) return std::nullopt;
  Waiting& waiting = found->second;
  RETURN_IF_ERROR(Hear(waiting, self(), offer));
  waiting.own = offer;
  std::vector<uint32_t> ranks;
  for (const auto& [rank, other] : waiting.said) ranks.push_back(rank);
  for (const uint32_t rank : ranks) {
    if (!Compare(found, rank, now_us)) return std::nullopt;
  }
  for (const v1::LaunchPart& part : offer.parts()) {
    if (offer.coming() || !WaitsInVain(waiting, part.rank())) continue;
    Refuse(found, ProcessHasEnded(name_of_(part.rank())), now_us);
    return std::nullopt;
  }
  Begin(waiting, now_us);
  return Complete(found);
}

absl::StatusOr<std::optional<LaunchSpec>> Offers::TakeOther(Launches::iterator found, uint32_t rank,
                                                            const v1::LaunchOffer& offer, int64_t now_us) {
  RETURN_IF_ERROR(Hear(found->second, rank, offer));
  if (!Compare(found, rank, now_us)) return std::nullopt;
  Begin(found->second, now_us);
  return Complete(found);
}

bool Offers::Compare(Launches::iterator found, uint32_t rank, int64_t now_us) {
  Waiting& waiting = found->second;
  const Said& said = waiting.said.at(rank);
  const v1::LaunchOffer& own = waiting.own;
  if (!HasPart(own, rank)) {
    if (said.kind == Said::Kind::kOffered) RefuseStranger(found->first, rank);
    waiting.said.erase(rank);
    return true;
  }
  if (said.kind == Said::Kind::kOver) {
    Refuse(found, absl::Status(said.why), now_us);
    return false;
  }
  // The own program is not known before the own offer has come.
  if (said.kind == Said::Kind::kComing || own.coming()) return true;
  const Said& first = waiting.said.at(self());
  const bool other_program = said.digest != first.digest;
  if (other_program || said.parts != first.parts) {
    // A process that has caught an error before a launch, and goes on, is one launch behind from then on.
    const char* const advice =
        own.separate()
            ? " All processes must launch the same programs in the same order. If one has left out a "
              "launch, for example after an error that it caught, end all of them and begin again."
            : "";
    Refuse(found,
           FailedPrecondition(
               "Launch %d of the group differs: %s runs program %s, %s program %s%s. Nothing has started.%s",
               found->first.second, name_of_(self()), Short(first.digest), name_of_(rank), Short(said.digest),
               other_program ? "" : " on other devices", advice),
           now_us);
    return false;
  }
  ++waiting.offered;
  return true;
}

std::optional<LaunchSpec> Offers::Complete(Launches::iterator found) {
  const v1::LaunchOffer& own = found->second.own;
  if (found->second.offered < own.parts_size()) return std::nullopt;
  LaunchSpec launch = LaunchOf(own);
  // From now on the part of this daemon's own session is charged for it.
  Erase(found);
  return launch;
}

// -----------------------------------------------------------------------------------------------------------
// time

bool Offers::WaitsInVain(const Waiting& waiting, uint32_t rank) const {
  if (!waiting.own.separate() || !HasPart(waiting.own, rank)) return false;
  const auto said = waiting.said.find(rank);
  return departures_.Has(rank, waiting.own.group()) &&
         (said == waiting.said.end() || said->second.kind == Said::Kind::kComing);
}

void Offers::OnLeft(uint32_t rank, uint64_t group, int64_t now_us) {
  departures_.Note(rank, group);
  const absl::Status why = ProcessHasEnded(name_of_(rank));
  if (rank == self()) early_.OnLeft(group, why, now_us);
  for (auto next = waiting_.lower_bound({group, 0}); next != waiting_.end() && next->first.first == group;) {
    const auto current = next++;
    if (WaitsInVain(current->second, rank)) Refuse(current, why, now_us);
  }
}

void Offers::OnGone(uint32_t gone, const absl::Status& why, int64_t now_us) {
  early_.OnGone(gone, why, now_us);
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto current = next++;
    if (!HasPart(current->second.own, gone)) continue;
    current->second.said[gone].kind = Said::Kind::kOver;  // It is not late.
    Refuse(current, why, now_us);
  }
}

absl::Status Offers::TooLate(const Key& key, int64_t waited_us, const std::vector<uint32_t>& missing) const {
  std::string names, others;
  for (const uint32_t rank : missing) absl::StrAppend(&names, names.empty() ? "" : ", ", name_of_(rank));
  // A member that is somewhere else in its program explains most of these.
  for (const uint32_t rank : missing) {
    std::optional<uint64_t> other = early_.SequenceOf(key.first, rank);
    for (auto launch = waiting_.lower_bound({key.first, 0});
         !other.has_value() && launch != waiting_.end() && launch->first.first == key.first; ++launch) {
      if (launch->second.said.contains(rank)) other = launch->first.second;
    }
    if (!other.has_value()) continue;
    others = absl::StrFormat(" %s has offered launch %d instead.", name_of_(rank), *other);
    break;
  }
  return DeadlineExceeded("Launch %d of the group waited %s for %s.%s", key.second, SecondsOf(waited_us),
                          names, others);
}

void Offers::TickWaiting(Launches::iterator current, int64_t now_us) {
  const Waiting& waiting = current->second;
  const int64_t waited_us = now_us - waiting.since_us;
  if (!waiting.begun || waited_us <= limits_.OfferWaitUs(waiting.own)) return;
  std::vector<uint32_t> missing;
  for (const v1::LaunchPart& part : waiting.own.parts()) {
    if (!waiting.said.contains(part.rank())) missing.push_back(part.rank());
  }
  // If all know of it, the arguments of some are being computed.
  if (!missing.empty()) Refuse(current, TooLate(current->first, waited_us, missing), now_us);
}

void Offers::Tick(int64_t now_us) {
  refusals_.Tick(now_us);
  early_.Tick(now_us,
              [this](const Key& key, int64_t waited_us) { return TooLate(key, waited_us, {self()}); });
  for (auto next = waiting_.begin(); next != waiting_.end();) TickWaiting(next++, now_us);
}

}  // namespace hlod::fabric
