// A simulated world: daemons one after the other, their clients, the connections between them, and a seed
// that decides what happens next and what goes wrong.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/client.h"
#include "tests/simulation/seed.h"
#include "tests/simulation/wire.h"
#include "tests/unit/server/session/pipe.h"

namespace hlod::simulation {

struct WorldOptions {
  uint64_t seed = 1;
  int steps = 400;    // The number of steps with faults and new commands; then all commands must be answered.
  bool show = false;  // Prints each step.
};

class World {
 public:
  explicit World(const WorldOptions& options);
  ~World();
  // Plays until everything is over. Returns what was wrong; empty if nothing.
  std::string Play();
  // A hash of all that happened.
  uint64_t trace_hash() const { return trace_hash_; }
  int64_t steps() const { return steps_; }
  const std::vector<std::unique_ptr<Client>>& clients() const { return clients_; }
  // The number of commands that were answered, by whether they succeeded.
  const std::vector<std::string>& trace() const { return trace_; }

 private:
  void StartDaemon();
  void Step(bool faults);
  void StepClient(bool faults);
  void StepNetwork();
  void StepFault();
  void StepTime(bool faults);
  void Heal();
  // Ends all sessions in an order of the seed.
  void End();
  void Connect(Client& client);
  void Log(const std::string& what);
  // Checks what must hold at any moment, and what must hold when nothing is under way.
  void Check();
  void CheckEnds();
  void CheckQuiet();
  void CheckAccount(session::Session& session, const Client& client);
  void Wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }
  bool quiet();

  const WorldOptions options_;
  Seed seed_;
  Traits traits_;
  Limits limits_;
  int64_t device_bytes_ = 0;
  uint64_t epoch_ = 0;
  device::FakeClock clock_;
  session::FakeProcesses processes_;
  std::unique_ptr<device::Devices> devices_;
  std::unique_ptr<session::Registry> registry_;
  // By session of this daemon, the time since which it has been without a connection; nullopt while it has
  // one.
  std::map<uint64_t, std::optional<absl::Time>> detached_since_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::shared_ptr<Wire>> wires_;  // The ones that the daemon knows.
  int64_t steps_ = 0;
  uint64_t trace_hash_ = 14695981039346656037u;
  std::vector<std::string> trace_;
  std::string wrong_;
};

}  // namespace hlod::simulation
