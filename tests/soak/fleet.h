// The client processes of a soak: started, killed, replaced, and asked to end.
#pragma once

#include <sys/types.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace hlod::soak {

// Runs one client until SIGTERM: `soak_daemon --client KIND NUMBER UNIX-ADDRESS TCP-ADDRESS FOLDER RATE
// ROUNDS`. ROUNDS 0: without end. Returns its exit code.
int RunClient(const std::vector<std::string>& words);

struct FleetOptions {
  std::string unix_address, tcp_address, folder;
  double rate = 1;                       // Rounds per second of each client.
  std::vector<std::string> jax_command;  // The program of a client of JAX; empty: there are none.
};

class Fleet {
 public:
  explicit Fleet(FleetOptions options);
  ~Fleet();  // Kills all.
  Fleet(const Fleet&) = delete;

  // Starts `count` clients, of the kinds in turn; each ends by itself after `rounds` unless that is 0.
  void Start(int count, int rounds);
  // The number of kinds.
  int kinds() const;
  // Kills one client whose kind is mortal, never a kind's first one, and starts another in its place.
  void KillOne(std::mt19937& random);
  // Returns a sentence for each client that has ended although nobody killed it.
  std::vector<std::string> Died();
  // Waits until all have ended after their rounds. Returns a sentence for each that failed or did not end.
  std::vector<std::string> AwaitAll(absl::Duration timeout);
  // Sends SIGTERM and waits.
  std::vector<std::string> EndAll(absl::Duration timeout);
  // Returns the own memory of each kind's first client, which is never killed.
  std::map<std::string, int64_t> OwnMemoryOfFirst() const;
  int killed() const { return killed_; }

 private:
  struct Member {
    pid_t pid = -1;
    std::string kind;
    int number = 0;
    bool mortal = false;
  };
  std::string KindOf(int number) const;
  Member Launch(int number, int rounds);
  static std::string Reap(Member& member, int options);

  const FleetOptions options_;
  std::vector<Member> members_;
  int killed_ = 0, generations_ = 0;
};

}  // namespace hlod::soak
