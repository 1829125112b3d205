// A simulated world for the client library: one program that uses it, daemons one after the other, and a seed
// that decides what the program does, what happens between, and what goes wrong. All on one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hlod/hlod.h"
#include "tests/simulation/model.h"
#include "tests/simulation/runtime/pipe.h"
#include "tests/simulation/seed.h"
#include "tests/simulation/wire.h"
#include "tests/unit/server/session/pipe.h"

namespace hlod::simulation {

class RuntimeWorld {
 public:
  explicit RuntimeWorld(uint64_t seed);
  ~RuntimeWorld();
  // Lets the program make this number of calls, ends the faults, and judges everything. Returns what was
  // wrong.
  std::string Play(int calls);
  uint64_t trace_hash() const { return trace_hash_; }
  int64_t steps() const { return steps_; }
  int64_t resumed() const { return resumed_; }
  int64_t lost() const { return lost_; }

 private:
  struct Value {
    Buffer buffer;
    std::vector<float> expected;
  };
  struct Reading {
    Future<Literal> future;
    std::vector<float> expected;
  };
  struct Compiled {
    Executable executable;
    std::shared_ptr<Program> program;
  };

  void StartDaemon();
  std::shared_ptr<Wire> Connect();
  void Step();
  void Fault();
  void Log(const std::string& what);
  void Wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }

  void OpenSession();
  // Forgets all that a lost session had.
  void Forget();
  // Makes one call of the library, or several.
  void Call();
  void Upload();
  void Compile();
  void Execute();
  void Read(bool wait);
  void AwaitReading();
  // Returns true if it is OK. A session may be lost only with its daemon or its lease.
  bool Check(const absl::Status& status, const char* call);
  void CheckAccount();
  void End();

  Seed seed_;
  const size_t elements_;
  Limits limits_;
  uint64_t epoch_ = 0;
  device::FakeClock clock_;
  session::FakeProcesses processes_;
  std::unique_ptr<device::Devices> devices_;
  std::unique_ptr<session::Registry> registry_;
  std::vector<std::shared_ptr<Wire>> wires_;
  BulkWorld bulk_{seed_,
                  [this] { Step(); },
                  [this]() -> session::Registry& { return *registry_; },
                  [this] { return epoch_; },
                  {}};
  bool faults_ = true;
  bool may_be_lost_ = false;  // The daemon of the session was killed, or its lease may have run out.
  std::optional<Client> client_;
  std::vector<Value> values_;
  std::vector<Reading> readings_;
  std::vector<Compiled> programs_;
  int64_t uploaded_ = 0, executes_ = 0;  // In this session.
  int64_t leaps_ = 0;                    // The leaps of the clock.
  int64_t steps_ = 0, resumed_ = 0, lost_ = 0;
  uint64_t trace_hash_ = 14695981039346656037u;
  std::string wrong_;
};

}  // namespace hlod::simulation
