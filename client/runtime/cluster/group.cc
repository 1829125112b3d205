// Joins a group. Each process first asks its daemon for its place in the cluster and tells the others. Then
// process 0 connects, and gives each other process the pass for its daemon, by which that one's session is of
// the same client for launches.
//
// Processes of one machine that have private daemons start them here, because a private daemon must know the
// cluster that it is to be in (private_place.h).
#include "hlod/runtime/group.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/runtime/cluster/daemons.h"
#include "client/runtime/cluster/group_part.h"
#include "client/runtime/cluster/private_place.h"
#include "client/runtime/connection/connector.h"
#include "client/runtime/connection/group_daemon.h"
#include "client/runtime/session/session.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"
#include "common/hlo/collectives/collective.h"

namespace hlod {
namespace runtime {
namespace {

constexpr int kProcessesMax = 4096;
// A daemon may learn a little later than its neighbour that a third one has joined.
constexpr absl::Duration kRetryPause = absl::Milliseconds(100);

// The daemon of one process, as it tells the others.
struct Entry {
  std::string cluster;
  Daemons::Member member;
};

// Begins an entry of a process that does not join, with its reason.
constexpr absl::string_view kRefused = "refused: ";

std::string Write(const Entry& entry) {
  return absl::StrJoin({absl::BytesToHexString(entry.cluster), absl::StrCat(entry.member.rank),
                        absl::StrCat(entry.member.devices), absl::StrCat(entry.member.memory_bytes),
                        absl::BytesToHexString(entry.member.name)},
                       " ");
}

// Returns an error for the text of a process that does not join.
absl::Status CheckJoined(const std::string& text, int process) {
  if (!absl::StartsWith(text, kRefused)) return absl::OkStatus();
  return FailedPrecondition("Process %d has not joined: %s", process, text.substr(kRefused.size()));
}

absl::StatusOr<Entry> Read(const std::string& text, int process) {
  RETURN_IF_ERROR(CheckJoined(text, process));
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  Entry entry;
  if (words.size() == 5 && absl::SimpleAtoi(words[1], &entry.member.rank) &&
      absl::SimpleAtoi(words[2], &entry.member.devices) && entry.member.devices > 0 &&
      entry.member.devices <= hlo::kParticipantsMax &&
      absl::SimpleAtoi(words[3], &entry.member.memory_bytes)) {
    entry.cluster = absl::HexStringToBytes(words[0]);
    entry.member.name = absl::HexStringToBytes(words[4]);
    return entry;
  }
  return InvalidArgument("The store's entry of process %d was not written by this version of hlod: \"%s\".",
                         process, absl::CHexEscape(text.substr(0, 100)));
}

class Joining {
 public:
  Joining(GroupStore& store, const GroupOptions& options)
      : store_(store), options_(options), deadline_(absl::Now() + options.timeout) {}

  absl::StatusOr<Client> Run() {
    // Fails at once when the name is in use.
    RETURN_IF_ERROR(store_.Put(Key("process", options_.process), "begins"));
    RETURN_IF_ERROR(Exchange());
    RETURN_IF_ERROR(CheckDaemons());
    if (options_.process == 0) return Begin();
    ASSIGN_OR_RETURN(const std::string pass, Get("pass", options_.process));
    return Connect(absl::HexStringToBytes(pass));
  }

 private:
  std::string Key(const char* what, int process) const {
    return absl::StrCat(options_.name, "/", what, "/", process);
  }
  // Returns what process 0, or another one, has put into the store.
  absl::StatusOr<std::string> Get(const char* what, int process) {
    absl::StatusOr<std::string> value = store_.Get(Key(what, process), deadline_ - absl::Now());
    if (!absl::IsDeadlineExceeded(value.status())) return value;
    return absl::DeadlineExceededError(
        absl::StrFormat("Process %d of %d has not joined the group \"%s\" in %s.",
                        std::string_view(what) == "pass" ? 0 : process, options_.processes, options_.name,
                        absl::FormatDuration(options_.timeout)));
  }

  // Starts the private daemon of this process if it is to have one: process 0's is a coordinator, and the
  // others join it by the address that process 0 gives.
  absl::Status StartOwn() {
    if (options_.processes == 1) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::optional<rpc::Endpoint> running, FindRunning(options_.connect));
    if (running.has_value()) return absl::OkStatus();
    PrivatePlace place = PlaceOnThisMachine();
    std::vector<std::string> role = {"--cluster-size", absl::StrCat(options_.processes)};
    if (options_.process > 0) {
      ASSIGN_OR_RETURN(const std::string text, Get("coordinator", 0));
      RETURN_IF_ERROR(CheckJoined(text, 0));
      ASSIGN_OR_RETURN(const std::string coordinator, CoordinatorFor(place, text));
      role = {"--join", coordinator};
    }
    std::vector<std::string> flags = options_.connect.daemon_flags;
    // Leaves out the warnings of members that have ended: each launch that misses one says so.
    if (std::ranges::find(flags, "--log-level") == flags.end())
      flags.insert(flags.end(), {"--log-level", "error"});
    flags.insert(flags.end(), {"--cluster", kPrivateCluster, "--listen", place.address, "--rank",
                               absl::StrCat(options_.process)});
    flags.insert(flags.end(), role.begin(), role.end());
    ASSIGN_OR_RETURN(own_, GroupDaemon::Start(std::move(flags)));
    own_address_ = WriteCoordinator(place);
    return absl::OkStatus();
  }

  // Returns the facts of this process's daemon, once that is a member of its cluster.
  absl::StatusOr<Entry> OwnEntry() const {
    ASSIGN_OR_RETURN(Client client, ConnectToAsk(options_.connect, own_));
    while (own_ != nullptr && client.internal_session()->daemon().cluster.name().empty()) {
      if (absl::Now() > deadline_) {
        return absl::DeadlineExceededError(
            absl::StrFormat("The private daemon of process %d has not reached the one of process 0 in %s.",
                            options_.process, absl::FormatDuration(options_.timeout)));
      }
      absl::SleepFor(kRetryPause);
      ASSIGN_OR_RETURN(client, ConnectToAsk(options_.connect, own_));
    }
    const DaemonFacts& facts = client.internal_session()->daemon();
    if (facts.cluster.name().empty() && options_.processes > 1) {
      const std::string& address = client.address();
      return FailedPrecondition(
          "The daemon at %s is not in a cluster. Processes run programs together when each has a daemon of "
          "its own and the daemons form a cluster: hlod --cluster NAME --join HOST:PORT (server/README.md), "
          "or, on one machine, HLOD_ADDRESS=private for all of them, which starts the daemons.",
          address);
    }
    return Entry{facts.cluster.name(),
                 {.rank = facts.cluster.rank(),
                  .name = facts.name,
                  .devices = static_cast<int>(facts.devices.size()),
                  .memory_bytes = facts.devices.empty() ? 0 : facts.devices[0].memory_bytes}};
  }

  // Tells the other processes of this one's daemon, and learns theirs.
  absl::Status Exchange() {
    const absl::Status started = StartOwn();
    const absl::StatusOr<Entry> own = started.ok() ? OwnEntry() : started;
    if (options_.process == 0) {
      RETURN_IF_ERROR(store_.Put(Key("coordinator", 0),
                                 own.ok() ? own_address_ : absl::StrCat(kRefused, own.status().message())));
    }
    // A process that cannot join says so, so that nobody waits in vain.
    const std::string told = own.ok() ? Write(*own) : absl::StrCat(kRefused, own.status().message());
    RETURN_IF_ERROR(store_.Put(Key("daemon", options_.process), told));
    RETURN_IF_ERROR(own.status());
    for (int process = 0; process < options_.processes; ++process) {
      if (process == options_.process) {
        entries_.push_back(*own);
        continue;
      }
      ASSIGN_OR_RETURN(const std::string text, Get("daemon", process));
      ASSIGN_OR_RETURN(entries_.emplace_back(), Read(text, process));
    }
    return absl::OkStatus();
  }

  absl::Status CheckDaemons() const {
    for (size_t p = 0; p < entries_.size(); ++p) {
      const Entry& entry = entries_[p];
      if (entry.cluster != entries_[0].cluster) {
        return FailedPrecondition(
            "The daemon of process %d is in the cluster \"%s\", and that of process 0 in \"%s\"; the "
            "processes of a group have daemons of one cluster.",
            p, entry.cluster, entries_[0].cluster);
      }
      for (size_t other = 0; other < p; ++other) {
        if (entries_[other].member.rank != entry.member.rank) continue;
        return FailedPrecondition(
            "Processes %d and %d both use the daemon %s (rank %d); each process of a group needs one of its "
            "own (HLOD_ADDRESS).",
            other, p, entry.member.name, entry.member.rank);
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Client> Connect(std::string pass) const {
    std::vector<Daemons::Member> members;
    int first_device = 0;
    for (size_t p = 0; p < entries_.size(); ++p) {
      if (p < static_cast<size_t>(options_.process)) first_device += entries_[p].member.devices;
      members.push_back(entries_[p].member);
    }
    GroupPart part{.daemons = std::make_shared<Daemons>(members, static_cast<size_t>(options_.process)),
                   .first_device = first_device,
                   .pass = std::move(pass)};
    ASSIGN_OR_RETURN(Client client, ConnectAs(part, options_.connect, own_));
    const v1::ClusterInfo& cluster = client.internal_session()->daemon().cluster;
    const Daemons::Member& own = members[static_cast<size_t>(options_.process)];
    if (cluster.rank() == own.rank && client.internal_session()->place().devices == own.devices)
      return client;
    return FailedPrecondition(
        "The daemon of process %d has changed: it was rank %d with %d devices, and is rank %d with %d.",
        options_.process, own.rank, own.devices, cluster.rank(), client.internal_session()->place().devices);
  }

  // Returns the first process whose daemon is not among `cluster`'s; nullopt if all are.
  std::optional<size_t> Missing(const v1::ClusterInfo& cluster) const {
    for (size_t p = 1; p < entries_.size(); ++p) {
      const auto is_its = [&](const v1::ClusterDaemon& row) { return row.rank() == entries_[p].member.rank; };
      if (std::ranges::none_of(cluster.daemons(), is_its)) return p;
    }
    return std::nullopt;
  }

  // Waits until the daemon of process 0 knows those of all others.
  absl::Status AwaitDaemons() const {
    while (true) {
      ASSIGN_OR_RETURN(const Client client, ConnectToAsk(options_.connect, own_));
      const std::optional<size_t> missing = Missing(client.internal_session()->daemon().cluster);
      if (!missing.has_value()) return absl::OkStatus();
      if (absl::Now() > deadline_) {
        return absl::DeadlineExceededError(absl::StrFormat(
            "The daemon of process 0 has not heard in %s that the one of process %d, %s (rank %d), is in its "
            "cluster.",
            absl::FormatDuration(options_.timeout), *missing, entries_[*missing].member.name,
            entries_[*missing].member.rank));
      }
      absl::SleepFor(kRetryPause);
    }
  }

  // Connects process 0, and gives the others their passes.
  absl::StatusOr<Client> Begin() {
    RETURN_IF_ERROR(AwaitDaemons());
    ASSIGN_OR_RETURN(Client client, Connect(/*pass=*/""));
    const v1::ClusterInfo& cluster = client.internal_session()->daemon().cluster;
    if (const std::optional<size_t> missing = Missing(cluster); missing.has_value())
      return FailedPrecondition("The daemon of process %d has left the cluster.", *missing);
    for (const v1::ClusterDaemon& row : cluster.daemons()) {
      for (size_t p = 1; p < entries_.size(); ++p) {
        if (entries_[p].member.rank != row.rank()) continue;
        RETURN_IF_ERROR(store_.Put(Key("pass", static_cast<int>(p)), absl::BytesToHexString(row.pass())));
      }
    }
    return client;
  }

  GroupStore& store_;
  const GroupOptions& options_;
  const absl::Time deadline_;
  std::shared_ptr<GroupDaemon> own_;     // This process's private daemon; null if it uses a running one.
  std::string own_address_ = "running";  // Process 0 tells it to those that would join its daemon.
  std::vector<Entry> entries_;           // By process.
};

}  // namespace
}  // namespace runtime

absl::StatusOr<Client> JoinGroup(GroupStore& store, const GroupOptions& options) {
  if (options.processes < 1 || options.processes > runtime::kProcessesMax)
    return InvalidArgument("A group of %d processes; it has 1 to %d.", options.processes,
                           runtime::kProcessesMax);
  if (options.process < 0 || options.process >= options.processes)
    return InvalidArgument("Process %d of a group of %d; they count from 0.", options.process,
                           options.processes);
  ASSIGN_OR_RETURN(const std::optional<runtime::AbstractRun> run, runtime::AbstractRunOfEnvironment());
  if (run.has_value()) {
    return MakeError(ErrorKind::kUnimplemented,
                     "An abstract session (HLOD_ABSTRACT, hloctl check) is of one process; this one is to "
                     "join a group.");
  }
  return runtime::Joining(store, options).Run();
}

GroupPlace PlaceInGroup(const Client& client) {
  const runtime::Place& place = client.internal_session()->place();
  if (place.daemons == nullptr || !place.daemons->is_group()) return {.devices = client.device_count()};
  return {.process = place.daemons->ProcessOf(place.first_device),
          .processes = place.daemons->processes(),
          .first_device = place.first_device,
          .devices = place.devices};
}

int ProcessOf(const Client& client, int device) {
  const runtime::Place& place = client.internal_session()->place();
  return place.daemons == nullptr || !place.daemons->is_group() ? 0 : place.daemons->ProcessOf(device);
}

}  // namespace hlod
