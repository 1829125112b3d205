// Clients, and the entries about them.
#include "client/pjrt/client.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/key_value_store.h"
#include "client/runtime/observe/warnings.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/session.h"
#include "common/base/system/deadlock_detection.h"

namespace hlod::pjrt {
namespace {

absl::StatusOr<std::string> Text(const abi::NamedValue& option) {
  if (option.type == abi::NamedValueType::kString) {
    if (option.value_size == 0) return "";
    RETURN_IF_ERROR(Given(option.string_value, "string_value"));
    return std::string(option.string_value, option.value_size);
  }
  return InvalidArgument("The option %s is not a string.", std::string_view(option.name, option.name_size));
}

// The options of the client that a framework requests.
struct ClientOptions {
  ConnectOptions connect;
  std::optional<AbstractOptions> abstract;
  bool callbacks_in_calls = false;
  int64_t process = 0, processes = 1;  // The number of this process and of all (jax.distributed).
  std::optional<int64_t> devices;      // The number for a private daemon.
};

absl::StatusOr<ClientOptions> ReadClientOptions(absl::Span<const abi::NamedValue> options) {
  ClientOptions client;
  ConnectOptions& read = client.connect;
  // A host callback may take minutes, and an array may be as large as the device. In a private daemon neither
  // holds up anybody else.
  read.daemon_flags = {"--channel-wait-us", "3600000000", "--staging-bytes-max",
                       std::to_string(int64_t{1} << 50)};
  for (const abi::NamedValue& option : options) {
    RETURN_IF_ERROR(Given(option.name, "name"));
    const std::string_view name(option.name, option.name_size);
    if (name == "address") {
      ASSIGN_OR_RETURN(read.address, Text(option));
    } else if (name == "name") {
      ASSIGN_OR_RETURN(read.name, Text(option));
    } else if (name == "token") {
      ASSIGN_OR_RETURN(read.token, Text(option));
    } else if (name == "abstract") {
      ASSIGN_OR_RETURN(const std::string text, Text(option));
      ASSIGN_OR_RETURN(const std::optional<runtime::AbstractRun> run, runtime::ParseAbstractRun(text));
      client.abstract = run.has_value() ? run->options : AbstractOptions();
      client.abstract->end_process = false;
      // A placeholder may be of any size.
      read.daemon_flags.insert(read.daemon_flags.end(),
                               {"--buffer-bytes-max", std::to_string(int64_t{1} << 50)});
    } else if (name == "callbacks_in_calls") {
      if (option.type != abi::NamedValueType::kBool)
        return InvalidArgument("The option callbacks_in_calls is not true or false.");
      client.callbacks_in_calls = option.bool_value;
    } else if (name == "devices") {
      if (option.type != abi::NamedValueType::kInt64)
        return InvalidArgument("The option devices is not a number.");
      client.devices = option.int64_value;
      read.daemon_flags.insert(read.daemon_flags.end(), {"--devices", std::to_string(option.int64_value)});
    } else if (name == "num_nodes" && option.type == abi::NamedValueType::kInt64) {
      client.processes = option.int64_value;
    } else if (name == "node_id" && option.type == abi::NamedValueType::kInt64) {
      client.process = option.int64_value;
    }
  }
  return client;
}

// Connects as one of several processes that run programs together.
absl::StatusOr<hlod::Client> JoinProcesses(const ClientOptions& read, KeyValueStore store) {
  if (read.abstract.has_value()) {
    return Unimplemented("An abstract client is of one process; %d are to run programs together (num_nodes).",
                         read.processes);
  }
  if (!store.Exists()) {
    return InvalidArgument(
        "%d processes are to run programs together (num_nodes), but the framework gives no key-value store: "
        "call jax.distributed.initialize().",
        read.processes);
  }
  if (read.processes > INT_MAX || read.process < 0 || read.process >= read.processes)
    return InvalidArgument("node_id is %d and num_nodes %d.", read.process, read.processes);
  // A process may make several clients with one store, one after the other, and the others make as many.
  constexpr int kGroupsMax = 1000;
  for (int number = 1;; ++number) {
    absl::StatusOr<hlod::Client> client = JoinGroup(store, {.process = static_cast<int>(read.process),
                                                            .processes = static_cast<int>(read.processes),
                                                            .name = absl::StrCat("hlod/", number),
                                                            .connect = read.connect});
    if (!absl::IsAlreadyExists(client.status()) || number == kGroupsMax) return client;
  }
}

// The clients that the frameworks of this process hold, in the order in which they were made.
struct Clients {
  absl::Mutex mu;
  std::vector<std::shared_ptr<Client>> list ABSL_GUARDED_BY(mu);

  static Clients& Get() {
    // Never destroyed, because frameworks do not destroy their clients at exit.
    static auto* const clients = new Clients;
    return *clients;
  }
};

// Says once in the process that a daemon was started for it, or that a running one has another number of
// devices than the environment states.
void SayWhichDaemon(const runtime::Session& session, std::optional<int64_t> stated_devices) {
  const size_t devices = session.daemon().devices.size();
  if (!session.connector().address().starts_with("fd:")) {
    if (!stated_devices.has_value() || *stated_devices == static_cast<int64_t>(devices)) return;
    return runtime::Warn(absl::StrFormat(
        "$HLOD_DEVICES (%d) is ignored: it is for a private daemon, and the running one at %s has %d devices "
        "(hlod --devices).",
        *stated_devices, session.connector().address(), devices));
  }
  runtime::Warn(absl::StrFormat(
      "this process has started a private daemon with %d device%s, which ends with it; $HLOD_ADDRESS names a "
      "running one.",
      session.place().devices, session.place().devices == 1 ? "" : "s"));
}

// Returns the version of the daemon's program. It leaves out the id of the daemon's process, because
// frameworks make the version a part of the names under which they keep programs for later processes.
std::string VersionOf(std::string_view daemon) { return std::string(daemon.substr(0, daemon.find(" pid "))); }

}  // namespace

absl::StatusOr<Client*> Client::Create(absl::Span<const abi::NamedValue> options, KeyValueStore store) {
  SkipDeadlockDetection();  // The plugin's Abseil is its own.
  ASSIGN_OR_RETURN(const ClientOptions read, ReadClientOptions(options));
  ASSIGN_OR_RETURN(hlod::Client runtime, read.processes > 1 ? JoinProcesses(read, store)
                                         : read.abstract.has_value()
                                             ? hlod::ConnectAbstract(*read.abstract, read.connect)
                                             : hlod::Client::Connect(read.connect));
  if (runtime::AbstractSession* const abstract = runtime.internal_session()->options().abstract.get())
    abstract->OfAFramework();
  else SayWhichDaemon(*runtime.internal_session(), read.processes > 1 ? std::nullopt : read.devices);
  auto client = std::make_shared<Client>(std::move(runtime), read.callbacks_in_calls);
  absl::MutexLock lock(&Clients::Get().mu);
  return Clients::Get().list.emplace_back(std::move(client)).get();
}

Client::Client(hlod::Client runtime, bool callbacks_in_calls)
    : runtime_(std::move(runtime)),
      callbacks_in_calls_(callbacks_in_calls),
      version_(VersionOf(runtime_.daemon())),
      place_(PlaceInGroup(runtime_)),
      completions_(std::make_shared<runtime::Completions>(session())),
      topology_(version_) {
  if (const runtime::AbstractSession* const abstract = session()->options().abstract.get()) {
    if (abstract->options().end_process && abstract->options().steps > 0)
      step_end_ = std::make_unique<StepEnd>(abstract->options().steps);
  }
  for (int ordinal = 0; ordinal < runtime_.device_count(); ++ordinal) {
    const int process = ProcessOf(runtime_, ordinal);
    owned_.push_back(std::make_unique<Device>(*this, runtime_.device(ordinal), process));
    Device& device = *owned_.back();
    devices_.push_back(&device);
    topology_.Add(device.description());
    if (!device.is_addressable()) continue;
    addressable_devices_.push_back(&device);
    memories_.insert(memories_.end(), device.memories().begin(), device.memories().end());
  }
}

absl::Status Client::Destroy(Client* client) {
  std::shared_ptr<Client> held;
  {
    absl::MutexLock lock(&Clients::Get().mu);
    auto& list = Clients::Get().list;
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.get() == client; });
    if (found == list.end()) return InvalidArgument("The client was destroyed before.");
    held = std::move(*found);
    list.erase(found);
  }
  // Runs that wait refer to the client.
  held->rendezvous_.Fail(absl::CancelledError("The client ended before all devices had run the program."));
  for (Memory* const memory : held->memories()) memory->DropData();
  return absl::OkStatus();
}

absl::Status Client::CheckOwn(const Device& device) const {
  if (&device.client() != this)
    return InvalidArgument("Device %d belongs to another client.", device.ordinal());
  return device.default_memory().status();
}

std::optional<hlod::Client> Client::Latest() {
  Clients& clients = Clients::Get();
  absl::MutexLock lock(&clients.mu);
  const auto latest = std::find_if(clients.list.rbegin(), clients.list.rend(),
                                   [](const auto& each) { return !each->retired_; });
  if (latest == clients.list.rend()) return std::nullopt;
  return (*latest)->runtime();
}

void Client::RetireAbstract() {
  std::vector<hlod::Client> ended;
  {
    absl::MutexLock lock(&Clients::Get().mu);
    for (const auto& client : Clients::Get().list) {
      if (!IsAbstract(client->runtime()) || client->retired_.exchange(true)) continue;
      ended.push_back(client->runtime());
    }
  }
  for (const hlod::Client& client : ended) {
    runtime::Session& session = *client.internal_session();
    session.options().abstract->End(session, "closed", Caller{}, "");
  }
}

void Client::LeaveGroups(absl::Duration finishing) {
  constexpr absl::Duration kPatience = absl::Seconds(1);
  std::vector<hlod::Client> ended;
  {
    absl::MutexLock lock(&Clients::Get().mu);
    for (const auto& client : Clients::Get().list) {
      if (client->place().processes > 1) ended.push_back(client->runtime());
    }
  }
  const absl::Time deadline = absl::Now() + finishing;
  for (const hlod::Client& client : ended) {
    runtime::Session& session = *client.internal_session();
    v1::Command command;
    command.mutable_ping();  // It is answered after all that was sent before.
    const absl::StatusOr<runtime::Command> sent = session.Send(Caller{}, std::move(command));
    if (sent.ok()) session.Wait(**sent, deadline).IgnoreError();
    client.Close(kPatience).IgnoreError();  // It may be lost already.
  }
}

absl::Status Client::Map(const void* data) {
  absl::MutexLock lock(&mu_);
  if (mapped_.insert(data).second) return absl::OkStatus();
  return absl::AlreadyExistsError("The memory was mapped before.");
}

absl::Status Client::Unmap(const void* data) {
  absl::MutexLock lock(&mu_);
  return mapped_.erase(data) > 0 ? absl::OkStatus() : NotFound("The memory is not mapped.");
}

Device* Client::FindDevice(int64_t id) const {
  return id < 0 || id >= static_cast<int64_t>(devices_.size()) ? nullptr : devices_[static_cast<size_t>(id)];
}

std::shared_ptr<runtime::Completions> Client::CompletionsOf(
    const std::shared_ptr<runtime::Session>& session) {
  if (session == this->session()) return completions_;
  std::vector<std::shared_ptr<runtime::Completions>> lost;  // Destroyed without the lock.
  absl::MutexLock lock(&mu_);
  std::shared_ptr<runtime::Completions>& of = elsewhere_[session];
  if (of != nullptr) return of;
  of = std::make_shared<runtime::Completions>(session);
  // A daemon that has come back has another session.
  for (auto other = elsewhere_.begin(); other != elsewhere_.end();) {
    if (other->first == session || other->first->status().ok()) {
      ++other;
    } else {
      lost.push_back(std::move(other->second));
      other = elsewhere_.erase(other);
    }
  }
  return of;
}

std::shared_ptr<Completion> Client::AwaitedEndOf(const std::shared_ptr<runtime::Session>& session,
                                                 runtime::Command command, Completion::Finish finish) {
  return Completion::Of(session, CompletionsOf(session), std::move(command), Completion::Urgency::kAwaited,
                        std::move(finish));
}

std::shared_ptr<Completion> Client::EndOf(const std::shared_ptr<runtime::Session>& session,
                                          runtime::Command command) {
  return Completion::Of(session, CompletionsOf(session), std::move(command), Completion::Urgency::kLater);
}

namespace {
std::atomic<bool> framework_is_old = false;
}  // namespace

bool FrameworkIsOld() { return framework_is_old; }

absl::Status Serve(abi::Client_Create_Args& args) {
  framework_is_old = args.struct_size < sizeof(args);
  if (args.num_options > 0) RETURN_IF_ERROR(Given(args.create_options, "create_options"));
  ASSIGN_OR_RETURN(args.client, Client::Create({args.create_options, args.num_options}, KeyValueStore(args)));
  return absl::OkStatus();
}

absl::Status Serve(abi::Client_Destroy_Args& args) {
  return args.client == nullptr ? absl::OkStatus() : Client::Destroy(args.client);
}

absl::Status Serve(abi::Client_PlatformName_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  args.platform_name = kPlatformName.data();
  args.platform_name_size = kPlatformName.size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Client_PlatformVersion_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  args.platform_version = args.client->version().data();
  args.platform_version_size = args.client->version().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Client_ProcessIndex_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  args.process_index = args.client->place().process;
  return absl::OkStatus();
}

absl::Status Serve(abi::Client_TopologyDescription_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  args.topology = &args.client->topology();
  return absl::OkStatus();
}

absl::Status Serve(abi::Client_Devices_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  args.devices = args.client->devices().data();
  args.num_devices = args.client->devices().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Client_AddressableDevices_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  args.addressable_devices = args.client->addressable_devices().data();
  args.num_addressable_devices = args.client->addressable_devices().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Client_LookupDevice_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  args.device = args.client->FindDevice(args.id);
  if (args.device != nullptr) return absl::OkStatus();
  return InvalidArgument("Device %d does not exist: the daemon has %d.", args.id,
                         args.client->devices().size());
}

absl::Status Serve(abi::Client_LookupAddressableDevice_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  const std::vector<Device*>& devices = args.client->addressable_devices();
  const int64_t id = args.local_hardware_id;
  if (id < 0 || id >= static_cast<int64_t>(devices.size()))
    return InvalidArgument("Device %d does not exist: the daemon has %d.", id, devices.size());
  args.addressable_device = devices[static_cast<size_t>(id)];
  return absl::OkStatus();
}

absl::Status Serve(abi::Client_AddressableMemories_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  args.addressable_memories = args.client->memories().data();
  args.num_addressable_memories = args.client->memories().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Client_DmaMap_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  RETURN_IF_ERROR(Given(args.data, "data"));
  return args.client->Map(args.data);
}

absl::Status Serve(abi::Client_DmaUnmap_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  RETURN_IF_ERROR(Given(args.data, "data"));
  return args.client->Unmap(args.data);
}

absl::Status Serve(abi::Client_UpdateGlobalProcessInfo_Args& args) {
  // Does nothing, because the daemons know who is there; at an error, frameworks would end the process.
  return Given(args.client, "client");
}

// Device replica * num_partitions + partition runs that partition of that replica.
absl::Status Serve(abi::Client_DefaultDeviceAssignment_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  RETURN_IF_ERROR(Given(args.default_assignment, "default_assignment"));
  const int64_t needed = int64_t{args.num_replicas} * args.num_partitions;
  const auto available = static_cast<int64_t>(args.client->devices().size());
  if (args.num_replicas < 1 || args.num_partitions < 1 || needed > available) {
    return InvalidArgument("num_replicas %d x num_partitions %d needs as many devices; the daemon has %d.",
                           args.num_replicas, args.num_partitions, available);
  }
  if (static_cast<int64_t>(args.default_assignment_size) < needed)
    return InvalidArgument("default_assignment_size is %d; %d are needed.", args.default_assignment_size,
                           needed);
  for (int64_t i = 0; i < needed; ++i) args.default_assignment[i] = static_cast<int>(i);
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
