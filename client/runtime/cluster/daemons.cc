// The sessions of one client with several daemons.
#include "client/runtime/cluster/daemons.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/session/session.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/status.h"
#include "common/base/sha256.h"

namespace hlod::runtime {
namespace {

// The time for which a daemon that could not be reached is not called again.
constexpr absl::Duration kPause = absl::Seconds(1);

}  // namespace

Daemons::Daemons(const DaemonFacts& connected, const SessionOptions& options, Reach reach)
    : reach_(std::move(reach)),
      options_(std::make_unique<SessionOptions>(options)),
      cluster_(connected.cluster.name()),
      silence_(absl::Microseconds(static_cast<int64_t>(connected.cluster.peer_silence_us()))),
      devices_(connected.devices) {
  daemons_.push_back({.rank = connected.cluster.rank(),
                      .name = connected.name,
                      .address = "",
                      .pass = "",
                      .first_device = 0,
                      .devices = static_cast<int>(devices_.size())});
  for (const v1::ClusterDaemon& row : connected.cluster.daemons()) {
    Add({.rank = row.rank(),
         .name = row.name(),
         .address = row.address(),
         .pass = row.pass(),
         .devices = static_cast<int>(row.devices())},
        row.memory_bytes());
  }
}

Daemons::Daemons(absl::Span<const Member> processes, size_t own)
    : options_(std::make_unique<SessionOptions>()), is_group_(true), own_(own) {
  for (const Member& member : processes) {
    Add({.rank = member.rank, .name = member.name, .address = "", .pass = "", .devices = member.devices},
        member.memory_bytes);
  }
}

Daemons::~Daemons() = default;

void Daemons::Add(Daemon daemon, int64_t memory_bytes) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  daemon.first_device = static_cast<int>(devices_.size());
  for (int i = 0; i < daemon.devices; ++i)
    devices_.push_back({static_cast<int>(devices_.size()), "cpu", memory_bytes});
  daemons_.push_back(std::move(daemon));
}

void Daemons::SetHome(const std::shared_ptr<Session>& home) {
  home_ = home;
  group_ = home->daemon().cluster.group();
}

int Daemons::processes() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return static_cast<int>(daemons_.size()); }

size_t Daemons::IndexOf(int device) const ABSL_NO_THREAD_SAFETY_ANALYSIS {
  size_t i = 0;  // The ranges of devices do not change.
  while (i + 1 < daemons_.size() && device >= daemons_[i + 1].first_device) ++i;
  return i;
}

uint32_t Daemons::RankOf(int device) const ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return daemons_[IndexOf(device)].rank;
}

int Daemons::OrdinalOf(int device) const ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return device - daemons_[IndexOf(device)].first_device;
}

absl::Status Daemons::LimitAhead(Session& session, const Command& sent) {
  Command oldest;
  {
    absl::MutexLock lock(&ahead_mu_);
    ahead_.push_back(sent);
    if (ahead_.size() <= kAheadMax) return absl::OkStatus();
    oldest = std::move(ahead_.front());
    ahead_.pop_front();
  }
  session.Wait(*oldest).IgnoreError();  // The launch's results have the error.
  return session.status();
}

uint64_t Daemons::NextLaunch(absl::Span<const int> devices) {
  if (!is_group_) return ++launches_[{}];
  std::vector<uint32_t> ranks;
  for (const int device : devices) ranks.push_back(RankOf(device));
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  // Processes that have no part in a launch do not count it, so those of each set of daemons are numbered on
  // their own: below 2^32 for all daemons, and above it, from a number of the set, for some.
  const uint64_t count = ++launches_[ranks];
  if (static_cast<int>(ranks.size()) == processes()) return count;
  uint64_t set = 0;
  const Digest digest =
      Sha256(std::string_view(reinterpret_cast<const char*>(ranks.data()), ranks.size() * sizeof(ranks[0])));
  for (size_t byte = 0; byte < 4; ++byte) set |= uint64_t{digest[byte]} << (32 + 8 * byte);
  return std::max(set, uint64_t{1} << 32) + count;
}

absl::StatusOr<std::shared_ptr<Session>> Daemons::Owner(int device) {
  const size_t index = IndexOf(device);
  // Held until after the lock is released: the destructor of the last session calls Release().
  const std::shared_ptr<Session> home = home_.lock();
  if (home == nullptr) return SessionIsClosed();
  if (index == own_) return home;
  absl::MutexLock lock(&mu_);
  Daemon& daemon = daemons_[index];
  if (is_group_) {
    return MakeError(
        ErrorKind::kArgument,
        absl::StrFormat("Device %d is of process %d of the group, on daemon %s (rank %d), and "
                        "only that process can use it. This is process %d, with devices %d to %d.",
                        device, index, daemon.name, daemon.rank, own_, daemons_[own_].first_device,
                        daemons_[own_].first_device + daemons_[own_].devices - 1));
  }
  if (daemon.session != nullptr && daemon.session->status().ok()) return daemon.session;
  if (absl::Now() - daemon.failed < kPause) return daemon.failure;
  absl::StatusOr<std::shared_ptr<Session>> opened = Open(daemon, *home);
  if (opened.ok()) return daemon.session = *std::move(opened);
  daemon.failed = absl::Now();
  daemon.failure =
      MakeError(ErrorKind::kLostDaemon,
                absl::StrFormat("Device %d is on daemon %s (rank %d), which cannot be used: %s", device,
                                daemon.name, daemon.rank, FromAbsl(opened.status().message())));
  return daemon.failure;
}

absl::StatusOr<std::shared_ptr<Session>> Daemons::Open(const Daemon& daemon, const Session& home) {
  ASSIGN_OR_RETURN(std::unique_ptr<Connector> connector, reach_(daemon.address));
  SessionOptions options = *options_;
  options.daemons = shared_from_this();
  options.first_device = daemon.first_device;
  options.pass = daemon.pass;
  options.daemon = absl::StrFormat("%s (rank %d)", daemon.name, daemon.rank);
  options.patience = silence_;
  options.question = silence_ / 4;
  options.silence = silence_ - options.question;
  ASSIGN_OR_RETURN(std::shared_ptr<Session> session, Session::Open(std::move(connector), options));
  const v1::ClusterInfo& there = session->daemon().cluster;
  if (there.name() != cluster_ || there.rank() != daemon.rank || session->place().devices != daemon.devices ||
      there.group() != group_) {
    return FailedPrecondition(
        "the daemon at %s is rank %d of cluster \"%s\" and has %d devices; expected were rank %d of \"%s\" "
        "and %d devices. Connect again.",
        daemon.address, there.rank(), there.name(), session->place().devices, daemon.rank, cluster_,
        daemon.devices);
  }
  if (home.step != 0) RETURN_IF_ERROR(MarkStep(*session, home.step, {}));
  return session;
}

std::vector<std::shared_ptr<Session>> Daemons::Opened() const {
  std::vector<std::shared_ptr<Session>> opened;
  absl::MutexLock lock(&mu_);
  for (const Daemon& daemon : daemons_) {
    if (daemon.session != nullptr && daemon.session->status().ok()) opened.push_back(daemon.session);
  }
  return opened;
}

void Daemons::Release() {
  std::vector<std::shared_ptr<Session>> released;  // Destroyed without the lock.
  absl::MutexLock lock(&mu_);
  for (Daemon& daemon : daemons_) released.push_back(std::move(daemon.session));
}

}  // namespace hlod::runtime
