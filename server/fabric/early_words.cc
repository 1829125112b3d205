// Words by launch and daemon.
#include "server/fabric/early_words.h"

#include <algorithm>

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"

namespace hlod::fabric {
namespace {

// Returns about the memory that a word occupies, with its places in maps.
int64_t BytesOfWord(const v1::LaunchOffer& offer) {
  constexpr size_t kFixed = 1024;
  return static_cast<int64_t>(kFixed + 2 * offer.user().size() +
                              static_cast<size_t>(offer.parts_size()) * sizeof(uint32_t));
}

}  // namespace

Digest PartsOf(const v1::LaunchOffer& offer) {
  v1::LaunchOffer parts;
  *parts.mutable_parts() = offer.parts();
  return Sha256(parts.SerializeAsString());
}

EarlyWords::Word* EarlyWords::Find(const LaunchKey& key, uint32_t rank) {
  const auto launch = words_.find(key);
  if (launch == words_.end()) return nullptr;
  const auto word = launch->second.find(rank);
  return word == launch->second.end() ? nullptr : &word->second;
}

EarlyWords::Word& EarlyWords::Open(const LaunchKey& key, uint32_t rank, const v1::LaunchOffer& offer) {
  Word& word = words_[key][rank];
  word.user = offer.user();
  word.wait_us = limits_.OfferWaitUs(offer);
  members_[rank].open.Add(key, word.user);
  return word;
}

absl::Status EarlyWords::MakeRoom(const LaunchKey& key, uint32_t rank, const std::string& user,
                                  int64_t now_us) {
  const auto refuse = [&](const LaunchKey& last, const absl::Status& why) {
    Refuse(last, rank, why, now_us);
  };
  return members_[rank].open.MakeRoom(key, user, limits_, name_of_(self_()), refuse);
}

absl::Status EarlyWords::Hold(uint32_t rank, Word& word, int64_t bytes) {
  const Payer payer{.user = word.user, .rank = rank};
  if (bytes > word.bytes) {
    RETURN_IF_ERROR(work_.Charge(payer, bytes - word.bytes));
  } else if (bytes < word.bytes) {
    work_.Discharge(payer, word.bytes - bytes);
  }
  word.bytes = bytes;
  return absl::OkStatus();
}

void EarlyWords::SetDue(const LaunchKey& key, uint32_t rank, Word& word, int64_t due_us) {
  if (word.due_us != 0) due_.erase({word.due_us, key, rank});
  word.due_us = due_us;
  if (due_us != 0) due_.emplace(due_us, key, rank);
}

void EarlyWords::Erase(const LaunchKey& key, uint32_t rank) {
  const auto launch = words_.find(key);
  const auto found = launch->second.find(rank);
  Word& word = found->second;
  SetDue(key, rank, word, 0);
  Hold(rank, word, 0).IgnoreError();
  const auto member = members_.find(rank);
  (word.said.kind == Said::Kind::kOver ? member->second.over : member->second.open).Remove(key);
  if (member->second.open.size() + member->second.over.size() == 0) members_.erase(member);
  launch->second.erase(found);
  if (launch->second.empty()) words_.erase(launch);
}

void EarlyWords::Refuse(const LaunchKey& key, uint32_t rank, const absl::Status& why, int64_t now_us) {
  Word& word = *Find(key, rank);
  // An offer that is only coming gets the reason when it comes.
  if (word.said.kind == Said::Kind::kOffered) post_(rank, MakeOfferRefused(key, why));
  Hold(rank, word, 0).IgnoreError();
  End(key, rank, why, now_us);
}

void EarlyWords::End(const LaunchKey& key, uint32_t rank, const absl::Status& why, int64_t now_us) {
  Word& word = *Find(key, rank);
  word.said.kind = Said::Kind::kOver;
  word.said.why = why;
  word.ranks.clear();
  // The own offer may come as much later.
  SetDue(key, rank, word, now_us + 2 * word.wait_us);
  Member& member = members_.at(rank);
  member.open.Remove(key);
  member.over.Add(key, word.user);
  if (member.over.size() > limits_.offers_max) Erase(member.over.Last(), rank);
}

void EarlyWords::TakeBack(uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us) {
  const LaunchKey key{offer.group(), offer.sequence()};
  absl::Status why = Annotate(ReasonOf(offer.error()), absl::StrCat("preparing on ", name_of_(rank)));
  Word* word = Find(key, rank);
  if (word == nullptr) word = &Open(key, rank, offer);
  // The daemon chooses the length of its reason.
  const auto bytes = BytesOfWord(offer) + static_cast<int64_t>(2 * ErrorFor(why).ByteSizeLong());
  if (!Hold(rank, *word, bytes).ok()) {
    Hold(rank, *word, 0).IgnoreError();
    why =
        MakeError(ErrorKind::kCancelled,
                  absl::StrFormat("%s takes back its part of launch %d of the group, for a reason for which "
                                  "there was no room.",
                                  name_of_(rank), key.second));
  }
  End(key, rank, why, now_us);
}

absl::Status EarlyWords::Hear(uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us) {
  const LaunchKey key{offer.group(), offer.sequence()};
  Word* word = Find(key, rank);
  if (word != nullptr && word->said.kind == Said::Kind::kOver) {
    if (!offer.coming() && !offer.has_error()) post_(rank, MakeOfferRefused(key, word->said.why));
    return absl::OkStatus();
  }
  if (offer.has_error()) {
    TakeBack(rank, offer, now_us);
    return absl::OkStatus();
  }
  if (word != nullptr && word->said.kind == Said::Kind::kOffered)
    return InvalidArgument("It offers launch %d of its group twice.", offer.sequence());
  absl::Status room;
  if (word == nullptr) {
    room = MakeRoom(key, rank, offer.user(), now_us);
    word = &Open(key, rank, offer);
  }
  if (room.ok()) room = Hold(rank, *word, BytesOfWord(offer));
  if (!room.ok()) {
    if (offer.coming()) {
      Erase(key, rank);  // The offer itself will be refused, unless there is room then.
    } else {
      word->said.kind = Said::Kind::kOffered;
      Refuse(key, rank, room, now_us);
    }
    return absl::OkStatus();
  }
  word->said = {.kind = offer.coming() ? Said::Kind::kComing : Said::Kind::kOffered,
                .digest = offer.digest(),
                .parts = PartsOf(offer),
                .why = {}};
  if (offer.coming()) return absl::OkStatus();
  for (const v1::LaunchPart& part : offer.parts()) word->ranks.push_back(part.rank());
  word->separate = offer.separate();
  word->since_us = now_us;
  SetDue(key, rank, *word, now_us + word->wait_us);
  return absl::OkStatus();
}

std::map<uint32_t, Said> EarlyWords::Take(const LaunchKey& key) {
  std::map<uint32_t, Said> all;
  const auto launch = words_.find(key);
  if (launch == words_.end()) return all;
  for (const auto& [rank, word] : launch->second) all[rank] = word.said;
  for (const auto& [rank, said] : all) Erase(key, rank);
  return all;
}

std::optional<uint64_t> EarlyWords::SequenceOf(uint64_t group, uint32_t rank) const {
  for (auto launch = words_.lower_bound({group, 0}); launch != words_.end() && launch->first.first == group;
       ++launch) {
    if (launch->second.contains(rank)) return launch->first.second;
  }
  return std::nullopt;
}

void EarlyWords::OnGone(uint32_t gone, const absl::Status& why, int64_t now_us) {
  std::vector<std::pair<LaunchKey, uint32_t>> of_it, concerned;
  for (const auto& [key, words] : words_) {
    for (const auto& [rank, word] : words) {
      // An offer that names it cannot run, even if the own one, which is to come, does not.
      if (rank == gone) {
        of_it.emplace_back(key, rank);
      } else if (std::ranges::binary_search(word.ranks, gone)) {
        concerned.emplace_back(key, rank);
      }
    }
  }
  for (const auto& [key, rank] : of_it) Erase(key, rank);
  for (const auto& [key, rank] : concerned) Refuse(key, rank, why, now_us);
}

void EarlyWords::OnLeft(uint64_t group, const absl::Status& why, int64_t now_us) {
  std::vector<std::pair<LaunchKey, uint32_t>> concerned;
  for (auto launch = words_.lower_bound({group, 0}); launch != words_.end() && launch->first.first == group;
       ++launch) {
    for (const auto& [rank, word] : launch->second) {
      if (word.separate && word.said.kind == Said::Kind::kOffered)
        concerned.emplace_back(launch->first, rank);
    }
  }
  for (const auto& [key, rank] : concerned) Refuse(key, rank, why, now_us);
}

void EarlyWords::Tick(int64_t now_us,
                      absl::FunctionRef<absl::Status(const LaunchKey&, int64_t waited_us)> late) {
  while (!due_.empty() && std::get<0>(*due_.begin()) < now_us) {
    const auto [due_us, key, rank] = *due_.begin();
    Word& word = *Find(key, rank);
    if (word.said.kind == Said::Kind::kOver) {
      Erase(key, rank);
      continue;
    }
    Refuse(key, rank, late(key, now_us - word.since_us), now_us);
  }
}

size_t EarlyWords::size() const {
  size_t count = 0;
  for (const auto& [rank, member] : members_) count += member.open.size();
  return count;
}

}  // namespace hlod::fabric
