// A connection to a daemon, as the framework holds it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "client/pjrt/abi/client.h"
#include "client/pjrt/devices/device.h"
#include "client/pjrt/events/completion.h"
#include "client/pjrt/events/worker.h"
#include "client/pjrt/key_value_store.h"
#include "client/pjrt/run/rendezvous.h"
#include "client/pjrt/run/step_end.h"
#include "client/pjrt/topology.h"
#include "hlod/runtime/client.h"
#include "hlod/runtime/group.h"

namespace hlod::pjrt {

// Thread-safe. The framework's reference is one of several: buffers, programs, and callbacks under way have
// others, because frameworks destroy some of them after the client when the process ends. Devices and
// memories live as long as the client.
class Client : public std::enable_shared_from_this<Client> {
 public:
  // Connects, and keeps the framework's reference until Destroy. Understands the options "address", "name"
  // and "token" (strings), "devices" (a number), "callbacks_in_calls" (true or false, see there),
  // "abstract" (the session is abstract; a string as HLOD_ABSTRACT has it), and "node_id" and "num_nodes"
  // (numbers: this process, and the number of processes that find each other by the store and run programs
  // together). Ignores others, which frameworks add.
  static absl::StatusOr<Client*> Create(absl::Span<const abi::NamedValue> options, KeyValueStore store);
  explicit Client(hlod::Client runtime, bool callbacks_in_calls = false);
  // Gives up the framework's reference. INVALID_ARGUMENT when the client was destroyed before.
  static absl::Status Destroy(Client* client);

  const hlod::Client& runtime() const { return runtime_; }
  const std::shared_ptr<runtime::Session>& session() const { return runtime_.internal_session(); }
  const std::string& version() const { return version_; }
  // True when a call that runs a program with callbacks serves them, and returns when the program has ended.
  bool callbacks_in_calls() const { return callbacks_in_calls_; }
  // This process's place among those that run programs together.
  const GroupPlace& place() const { return place_; }
  const std::vector<Device*>& devices() const { return devices_; }  // By ordinal; of all processes.
  const std::vector<Device*>& addressable_devices() const { return addressable_devices_; }
  // The memories of the addressable devices.
  const std::vector<Memory*>& memories() const { return memories_; }
  Topology& topology() { return topology_; }
  // Returns INVALID_ARGUMENT when the device is that of another client.
  absl::Status CheckOwn(const Device& device) const;
  // Returns the device, or null.
  Device* FindDevice(int64_t id) const;

  // Returns the connection of the client that was made last, without the retired ones; nullopt when none is
  // left.
  static std::optional<hlod::Client> Latest();
  // Ends the preflight logs of all abstract clients, which are retired.
  static void RetireAbstract();
  // Ends the sessions of the clients of several processes, once what they have launched has ended; waits for
  // that at most `finishing`.
  static void LeaveGroups(absl::Duration finishing);

  // Map memory of the host that the framework names for faster transfers, and end that. Transfers from and to
  // any memory are equally fast here, so the ranges are only remembered. ALREADY_EXISTS if `data` is mapped;
  // NOT_FOUND, from Unmap, if it is not.
  absl::Status Map(const void* data);
  absl::Status Unmap(const void* data);

  // Runs large downloads.
  Worker& transfers() { return transfers_; }
  // Brings together runs of one participant each.
  Rendezvous& rendezvous() { return rendezvous_; }
  // Null unless the process is to end after some steps.
  StepEnd* step_end() const { return step_end_.get(); }
  // Return a completion for a command of a session of this client, which has one with each daemon of a
  // cluster whose devices it uses. The framework waits for its callbacks (AwaitedEndOf) or not.
  std::shared_ptr<Completion> AwaitedEndOf(const std::shared_ptr<runtime::Session>& session,
                                           runtime::Command command, Completion::Finish finish = nullptr);
  std::shared_ptr<Completion> EndOf(const std::shared_ptr<runtime::Session>& session,
                                    runtime::Command command);

 private:
  std::shared_ptr<runtime::Completions> CompletionsOf(const std::shared_ptr<runtime::Session>& session);

  const hlod::Client runtime_;
  const bool callbacks_in_calls_;
  const std::string version_;
  const GroupPlace place_;
  const std::shared_ptr<runtime::Completions> completions_;
  absl::Mutex mu_;
  // The completions of sessions with other daemons.
  std::map<std::shared_ptr<runtime::Session>, std::shared_ptr<runtime::Completions>> elsewhere_
      ABSL_GUARDED_BY(mu_);
  std::set<const void*> mapped_ ABSL_GUARDED_BY(mu_);
  Worker transfers_;
  Rendezvous rendezvous_;
  std::unique_ptr<StepEnd> step_end_;
  std::vector<std::unique_ptr<Device>> owned_;
  std::vector<Device*> devices_, addressable_devices_;
  std::vector<Memory*> memories_;
  std::atomic<bool> retired_ = false;
  Topology topology_;
};

// Returns true when the process's framework is known to be one of the oldest that the plugin supports.
bool FrameworkIsOld();

}  // namespace hlod::pjrt
