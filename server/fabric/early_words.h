// Words of other daemons about launches whose own offer has not come to this daemon, their leader.
//
// Only the offer that this daemon's own session makes says which daemons have a part in a launch, and for
// which user it is counted: others may know the group, because a pass was shown to them. So each daemon's
// words are counted, charged and timed apart from those of all others, also about the same launch. What one
// says can cost only what it has said itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/base/sha256.h"
#include "server/fabric/crowd.h"
#include "server/fabric/work.h"

namespace hlod::fabric {

// The last word of a daemon about a launch.
struct Said {
  enum class Kind {
    kComing,
    kOffered,
    kOver,  // Taken back, or refused, which the daemon knows.
  } kind = Kind::kComing;
  std::string digest;  // The program's.
  Digest parts{};      // The hash of the parts that it states.
  absl::Status why;    // With kOver.
};

// Returns the hash of an offer's parts.
Digest PartsOf(const v1::LaunchOffer& offer);

// Not thread-safe.
class EarlyWords {
 public:
  // `self` returns the rank of this daemon.
  EarlyWords(const LaunchLimits& limits, Work& work, std::function<uint32_t()> self, Post post,
             NameOf name_of)
      : limits_(limits),
        work_(work),
        self_(std::move(self)),
        post_(std::move(post)),
        name_of_(std::move(name_of)) {}

  // Takes a word of another daemon. If it is beyond the limits, the daemon is refused, and what it says of
  // the launch is over. An error: the daemon broke the protocol.
  absl::Status Hear(uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us);
  // Returns what was said of a launch, by rank, and forgets it: its own offer has come.
  std::map<uint32_t, Said> Take(const LaunchKey& key);
  // Returns a launch of the group of which the daemon has said something.
  std::optional<uint64_t> SequenceOf(uint64_t group, uint32_t rank) const;
  // A daemon is gone: so are its words, and offers of launches in which it has parts are over.
  void OnGone(uint32_t rank, const absl::Status& why, int64_t now_us);
  // The own process of the group has ended: offers of launches of several processes are over.
  void OnLeft(uint64_t group, const absl::Status& why, int64_t now_us);
  // Ends the offers that have waited for too long; `late` returns the reason.
  void Tick(int64_t now_us, absl::FunctionRef<absl::Status(const LaunchKey&, int64_t waited_us)> late);
  // Returns the number of words that are not over.
  size_t size() const;

 private:
  struct Word {
    Said said;
    std::string user;
    std::vector<uint32_t> ranks;  // The daemons with parts, ascending, with kOffered.
    bool separate = false;        // As in the offer.
    int64_t bytes = 0;            // Charged to the user.
    int64_t wait_us = 0;          // The time for which it waits.
    int64_t since_us = 0;         // The time at which it was said.
    int64_t due_us = 0;           // The time in `due_`; 0: none.
  };
  using Words = std::map<uint32_t, Word>;  // By rank.
  // The words of a daemon that are not over, and those that are.
  struct Member {
    Crowd open, over;
  };

  Word* Find(const LaunchKey& key, uint32_t rank);
  // Makes the word of a daemon, for which there must be room.
  Word& Open(const LaunchKey& key, uint32_t rank, const v1::LaunchOffer& offer);
  absl::Status MakeRoom(const LaunchKey& key, uint32_t rank, const std::string& user, int64_t now_us);
  // Changes what is charged for a word. An error: its user has no room there.
  absl::Status Hold(uint32_t rank, Word& word, int64_t bytes);
  void SetDue(const LaunchKey& key, uint32_t rank, Word& word, int64_t due_us);
  // Ends a word that is open, and tells its daemon.
  void Refuse(const LaunchKey& key, uint32_t rank, const absl::Status& why, int64_t now_us);
  // Keeps only that a word, which is open, is over. It may be forgotten at once.
  void End(const LaunchKey& key, uint32_t rank, const absl::Status& why, int64_t now_us);
  void TakeBack(uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us);
  void Erase(const LaunchKey& key, uint32_t rank);

  const LaunchLimits limits_;
  Work& work_;
  const std::function<uint32_t()> self_;
  const Post post_;
  const NameOf name_of_;
  std::map<LaunchKey, Words> words_;
  std::map<uint32_t, Member> members_;
  std::set<std::tuple<int64_t, LaunchKey, uint32_t>> due_;  // The words that Tick ends or forgets, by time.
};

}  // namespace hlod::fabric
