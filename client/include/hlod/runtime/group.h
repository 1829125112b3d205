// Programs of several processes, each with a daemon of its own: the daemons form a cluster, and every process
// runs its part of each program (multi-controller). jax.distributed works in this way through the plugin.
//
//   hlod::FolderStore store("/shared/run-17");                    // Which all processes reach.
//   hlod::Client client = hlod::JoinGroup(store, {.process = rank, .processes = 4}).value();
//   const hlod::GroupPlace place = hlod::PlaceInGroup(client);    // Which devices are this process's own.
//
// The client's devices are those of all daemons, numbered in the order of the processes and the same for all
// of them. A process uploads, reads and frees on its own devices only. All processes compile the same
// programs, and start those that have participants on several daemons in the same order; each gives the
// arguments of its own participants, in their order, and has their results (Executable::ExecuteParticipants).
// The daemons compare what the processes start: if the programs or their devices differ, all of them fail,
// and nothing has run.
//
// A process that ends takes its daemon's buffers of this client with it, and the launches that wait for it
// fail in the other processes, which go on. A call that is refused in one process, for its arguments, fails
// in all. A process that is 512 launches ahead of another one waits in Execute.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hlod/runtime/client.h"

namespace hlod {

// Keys and values that all processes of a group reach. Used by one thread at a time.
class GroupStore {
 public:
  virtual ~GroupStore() = default;
  // Sets the value of a key. ALREADY_EXISTS when it has one.
  virtual absl::Status Put(const std::string& key, const std::string& value) = 0;
  // Returns the value of a key; waits while it has none. DEADLINE_EXCEEDED after `timeout`.
  virtual absl::StatusOr<std::string> Get(const std::string& key, absl::Duration timeout) = 0;
};

// Keeps each value in a file of a folder, which must exist and which the processes share. Every user who can
// read the folder can take part in the group.
class FolderStore : public GroupStore {
 public:
  explicit FolderStore(std::string folder) : folder_(std::move(folder)) {}
  absl::Status Put(const std::string& key, const std::string& value) override;
  absl::StatusOr<std::string> Get(const std::string& key, absl::Duration timeout) override;

 private:
  const std::string folder_;
};

struct GroupOptions {
  int process = 0;    // This process, counted from 0.
  int processes = 1;  // All of them, at most 4096.
  // The group's name, with which its keys in the store begin. Groups of one store have different names.
  std::string name = "group";
  absl::Duration timeout = absl::Minutes(5);  // The most time to wait for the other processes.
  ConnectOptions connect;  // For this process's daemon: one of a cluster, or "private" (on one machine).
};

// Connects to this process's daemon and waits for all processes of the group. INVALID_ARGUMENT for a process
// that is not in 0 .. processes - 1; FAILED_PRECONDITION when the daemons are not of one cluster, or two
// processes have the same one; DEADLINE_EXCEEDED naming the process that did not come; else as
// Client::Connect. An abstract session (HLOD_ABSTRACT) has no groups: kind unimplemented.
absl::StatusOr<Client> JoinGroup(GroupStore& store, const GroupOptions& options);

// A process's part of a group.
struct GroupPlace {
  int process = 0, processes = 1;
  int first_device = 0, devices = 0;  // The client's devices that this process may use.
};
// Returns the place of the client's process; 0 of 1, with all devices, for a client without a group.
GroupPlace PlaceInGroup(const Client& client);
// Returns the process that has the device; 0 for a client without a group.
int ProcessOf(const Client& client, int device);

}  // namespace hlod
