// A network between this process and a namespace: two TUN devices, and a thread that carries packets between
// them as badly as a test asks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tests/integration/network/namespaces.h"
#include "tests/integration/network/packets.h"

namespace hlod::network {

// The properties of a network in either direction.
struct Conditions {
  absl::Duration delay;          // Delays each packet.
  absl::Duration jitter;         // A random addition to it, which lets packets overtake one another.
  double loss = 0;               // The part of packets that vanish.
  int64_t bytes_per_second = 0;  // 0: without a limit.
  absl::Duration queue = absl::Milliseconds(100);  // A packet that would wait longer for its turn is dropped.
};

enum class Direction { kToDaemon, kToClient };

class Link {
 public:
  // `near` and `far` are addresses of one network of 256: of this process, and of the namespace.
  Link(const Namespace& there, const std::string& name, const std::string& near, const std::string& far);
  ~Link();
  Link(const Link&) = delete;

  void Set(const Conditions& conditions);
  // Packets of a direction vanish, or no longer do.
  void Drop(Direction direction, bool drop);
  void DropAll(bool drop);
  // Packets of both directions wait, or all that waited are carried at once, in order.
  void Hold(bool hold);
  // Forgets all connections, as a NAT or firewall does that was restarted: their packets vanish from now on,
  // or are answered by a reset. New connections are carried.
  void Forget(bool reset);
  // Pulls the cable out of this process's device, or plugs it in.
  void SetUp(bool up) { near_.SetUp(up); }

  // The numbers of packets that were carried, and that vanished for whatever reason.
  int64_t carried() const { return carried_; }
  int64_t vanished() const { return vanished_; }

 private:
  struct Packet {
    absl::Time due;
    uint64_t number = 0;  // Orders those that are due at the same time.
    std::string bytes;
    bool operator<(const Packet& other) const {  // For a queue with the greatest first.
      return due != other.due ? due > other.due : number > other.number;
    }
  };
  struct Way {
    bool drop = false;
    absl::Time free;  // The time at which the last packet has left the sender.
    std::priority_queue<Packet> under_way;
    std::deque<std::string> held;
  };
  // The ports of a connection: the client's and the daemon's.
  using Ports = std::pair<uint16_t, uint16_t>;

  static size_t Index(Direction direction) { return static_cast<size_t>(direction); }
  int Sink(Direction direction) const { return direction == Direction::kToDaemon ? far_.fd() : near_.fd(); }
  void Carry();
  bool ReadOne(Direction direction);
  void Judge(Direction direction, std::string packet) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsKnown(Direction direction, const Segment& segment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Send(Direction direction, std::string packet) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Writes what is due. Returns the time at which the next packet is.
  absl::Time WriteDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Write(Direction direction, const std::string& packet);

  TunDevice near_, far_;
  rpc::Descriptor wake_;
  std::atomic<bool> ending_ = false;
  std::atomic<int64_t> carried_ = 0, vanished_ = 0;
  absl::Mutex mu_;
  Conditions conditions_ ABSL_GUARDED_BY(mu_);
  std::array<Way, 2> ways_ ABSL_GUARDED_BY(mu_);
  bool hold_ ABSL_GUARDED_BY(mu_) = false, reset_ ABSL_GUARDED_BY(mu_) = false;
  std::set<Ports> known_ ABSL_GUARDED_BY(mu_);
  uint64_t number_ ABSL_GUARDED_BY(mu_) = 0;
  std::mt19937 random_ ABSL_GUARDED_BY(mu_);
  std::thread carrier_;
};

}  // namespace hlod::network
