// Executes whose participants run on several daemons (launches): what a device and the cluster ask of each
// other. Each daemon has a part of a launch. All parts start, or none does: then nothing has happened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/sha256.h"
#include "common/base/system/carrier.h"
#include "common/base/system/mutex.h"
#include "server/device/memory/side_memory.h"

namespace hlod::device {

// The passes that a daemon gives a client for the others, kept as long as its session if there is room: each
// is signed once then, however often the client connects again. Thread-safe.
struct GivenPasses {
  // The passes are charged to `owner`, the client's share of the side memory. Without room they are not kept,
  // and signed again when the client connects again. Null: they are not charged.
  explicit GivenPasses(uint64_t number, std::shared_ptr<MemoryShare> owner = nullptr)
      : client(number), charge(std::move(owner)) {}
  const uint64_t client;  // The number of the client here, from which its group is made.
  Mutex mu;
  std::map<std::pair<uint32_t, std::string>, std::string> by_member ABSL_GUARDED_BY(mu);  // By rank and name.
  int64_t bytes ABSL_GUARDED_BY(mu) = 0;  // The size of `by_member`, which `charge` has.
  MemoryCharge charge ABSL_GUARDED_BY(mu);
};

// The client of a session as all daemons of the cluster know it. Sessions with several daemons that have
// equal ones are of one client: the daemon that gave it the number vouches for it.
struct LaunchClient {
  uint64_t group = 0;     // 0: without a cluster.
  std::string user;       // The user for whom the client's launches are counted.
  bool separate = false;  // The client is of several processes, of which each launches its part.
  // The passes that this daemon gives the client. Null: another daemon gave the client's pass, and this one
  // gives no further pass.
  std::shared_ptr<GivenPasses> passes = nullptr;
};

// The launch of which an execute is a part.
struct LaunchRequest {
  uint64_t group = 0, sequence = 0;  // Equal in all parts of a launch, and in no other launch.
  std::string user;                  // The client's.
  bool separate = false;             // True if each part is of a process of its own, and may come much later.
  std::vector<uint32_t> ranks, devices;  // By participant of the program: its daemon, and the device there.
  std::vector<size_t> own;               // The participants of this daemon, ascending.
  uint32_t rank = 0;                     // This daemon.
};

// The part of this daemon. The cluster calls its functions one at a time, on a thread that holds no lock.
class LaunchPart {
 public:
  using Report = std::function<void(const absl::Status&)>;
  virtual ~LaunchPart() = default;
  virtual const LaunchRequest& request() const = 0;
  // Begins to take the devices and the memory. `prepared` is called when the part holds all of it, or with
  // the reason why it cannot; perhaps not at all after Release.
  virtual void Prepare(Report prepared) = 0;
  // Gives back what Prepare took. The part may be prepared again.
  virtual void Release() = 0;
  // Runs the part, which is prepared; by `carrier` it meets the others. `done` is called when it has ended.
  virtual void Start(std::shared_ptr<Carrier> carrier, Report done) = 0;
  // Returns true if work of other sessions waits for a device that Prepare has taken. May be called with a
  // lock held, at any time.
  virtual bool IsWanted() const = 0;
  // Makes a started part end soon, with an error.
  virtual void Cancel(const absl::Status& why) = 0;
  // The launch is refused. The execute fails, and its arguments are as before.
  virtual void Refuse(const absl::Status& why) = 0;
};

// The launches of a daemon in a cluster. Thread-safe; only FindRank may be called with a lock held.
class Launches {
 public:
  virtual ~Launches() = default;
  // Returns the rank of this daemon in its cluster; an error while it is not a member, or if one of `ranks`
  // is of no member.
  virtual absl::StatusOr<uint32_t> FindRank(absl::Span<const uint32_t> ranks) = 0;
  // A part has arrived; it may have to wait for its arguments.
  virtual void Add(const std::shared_ptr<LaunchPart>& part) = 0;
  // The arguments are settled: the part can be prepared when all others can. The parts must be of equal
  // programs.
  virtual void Offer(const std::shared_ptr<LaunchPart>& part, const Digest& program) = 0;
  // The part will not run. The others are refused, unless the launch has started. Has no effect for a part
  // that is over.
  virtual void TakeBack(const std::shared_ptr<LaunchPart>& part, const absl::Status& why) = 0;
  // A session of the group has ended: launches of several processes do not wait for its parts any more.
  virtual void Leave(uint64_t group) = 0;
};

}  // namespace hlod::device
