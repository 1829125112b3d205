// Opens, resumes and ends sessions.
#include "server/session/registry.h"

#include <malloc.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "common/base/errors/status.h"
#include "common/base/text/printable.h"
#include "common/base/text/utf8.h"
#include "common/rpc/ring.h"
#include "common/rpc/wire.h"
#include "server/session/stats.h"

namespace hlod::session {
namespace {

constexpr size_t kClientNameMax = 128;

}  // namespace

Registry::Registry(device::Devices& devices, const Processes& processes, Options options)
    : devices_(devices),
      processes_(processes),
      options_(std::move(options)),
      started_(devices.clock().Now()),
      memory_return_([] { malloc_trim(0); }, [&devices] { devices.pool().ReturnFree(); }) {}

Registry::~Registry() { EndAll(MakeError(ErrorKind::kLostSession, "The daemon is ending.")); }

absl::StatusOr<std::shared_ptr<Session>> Registry::Open(const v1::Hello& hello, const Peer& peer,
                                                        std::shared_ptr<SessionStream> stream) {
  const uint32_t version = std::min(hello.version_max(), rpc::kVersionMax);
  if (version < std::max(hello.version_min(), rpc::kVersionMin)) {
    return MakeError(
        ErrorKind::kVersion,
        absl::StrFormat("The client speaks protocol versions %d to %d, this daemon %d to %d: %s is too old.",
                        hello.version_min(), hello.version_max(), rpc::kVersionMin, rpc::kVersionMax,
                        hello.version_max() < rpc::kVersionMin ? "the client" : "the daemon"));
  }
  std::shared_ptr<Session> session;
  if (hello.has_resume()) {
    ASSIGN_OR_RETURN(session, Resume(hello.resume()));
    session->OnResume();
  } else {
    if (draining_)
      return MakeError(ErrorKind::kDraining, "The daemon is shutting down and takes no new session.");
    ASSIGN_OR_RETURN(session, Create(hello, peer));
  }
  // A new session that did not get its stream has no client, so it ends.
  absl::Cleanup end_unattached = [&] {
    if (hello.has_resume()) return;
    try {
      End(session, MakeError(ErrorKind::kNoMemory, "The daemon has no memory to open a session."));
    } catch (const std::exception&) {  // The next Tick ends it.
      devices_.failed().Add(session->identity().id);
    }
  };
  v1::Welcome welcome = WelcomeOf(*session, version);
  welcome.set_checksums(hello.checksums());
  ASSIGN_OR_RETURN(const std::shared_ptr<SessionStream> old,
                   session->answers().Attach(std::move(stream), welcome));
  std::move(end_unattached).Cancel();
  if (old != nullptr) old->Finish(Aborted("The session goes on in another stream."));
  spdlog::info("Session {} {}: {} from {}, pid {}.", session->identity().id,
               hello.has_resume() ? "resumed" : "opened", session->identity().client, peer.description,
               session->identity().pid);
  return session;
}

absl::StatusOr<std::shared_ptr<Session>> Registry::Create(const v1::Hello& hello, const Peer& peer) {
  const Limits& limits = devices_.limits();
  device::LaunchClient launches;
  if (options_.admit_client != nullptr) {
    ASSIGN_OR_RETURN(launches, options_.admit_client(hello.pass(), peer.owner));
  }
  launches.separate = hello.separate();
  MutexLock lock(&mu_);
  if (static_cast<int64_t>(sessions_.size()) >= limits.sessions_max) {
    return MakeError(ErrorKind::kLimit, absl::StrFormat("%d sessions are open: the limit sessions_max is %d.",
                                                        sessions_.size(), limits.sessions_max));
  }
  const int64_t owned = std::count_if(sessions_.begin(), sessions_.end(), [&peer](const auto& entry) {
    return entry.second->identity().owner == peer.owner;
  });
  if (owned >= limits.sessions_per_user_max) {
    return MakeError(ErrorKind::kLimit,
                     absl::StrFormat("%d sessions of %s are open: the limit sessions_per_user_max is %d.",
                                     owned, peer.owner, limits.sessions_per_user_max));
  }
  Session::Identity identity;
  identity.id = next_session_++;
  identity.secret = rpc::Secret::Random();
  identity.ring_key = rpc::Secret::Random();
  identity.client = Printable(ClipUtf8(hello.client(), kClientNameMax));
  identity.owner = peer.owner;
  identity.user = peer.user;
  identity.launches = std::move(launches);
  if (peer.local && hello.pid() > 0) {
    // The session ends with this process, which must belong to the same user.
    const std::optional<uint32_t> user = processes_.UserOf(hello.pid());
    if (user.has_value() && *user == peer.user.value_or(*user)) identity.pid = hello.pid();
    if (!user.has_value() && processes_.HasEnded(hello.pid()))
      return MakeError(ErrorKind::kLostSession, absl::StrFormat("Process %d has ended.", hello.pid()));
    if (!identity.user.has_value()) identity.user = user;
  }
  identity.offers_arena = peer.local && !options_.arena_socket.empty() && limits.arena_bytes > 0;
  identity.offers_ring = peer.local && !options_.arena_socket.empty() && OffersRing(identity.user);
  ASSIGN_OR_RETURN(device::MemoryCharge charge,
                   device::MemoryCharge::Take(devices_.side_memory().ShareOf(identity.owner), Session::kBytes,
                                              "A session"));
  absl::Cleanup discard = [this, id = identity.id] { devices_.Discard(id); };
  auto session = std::make_shared<Session>(std::move(identity), devices_, std::move(charge));
  absl::Cleanup forget = [this, &session]()
                             ABSL_NO_THREAD_SAFETY_ANALYSIS { ForgetKeys(session->identity()); };
  AddKeys(session->identity());
  sessions_[session->identity().id] = session;
  std::move(forget).Cancel();
  std::move(discard).Cancel();
  return session;
}

bool Registry::OffersRing(std::optional<uint32_t> user) const {
  if (options_.ring == rpc::RingUse::kOff) return false;
  return options_.ring == rpc::RingUse::kAll || user == geteuid();
}

absl::StatusOr<std::shared_ptr<Session>> Registry::Resume(const v1::Resume& resume) {
  if (resume.epoch() != options_.epoch) {
    return MakeError(ErrorKind::kLostSession,
                     "The daemon was restarted: the session and its buffers are gone.");
  }
  absl::StatusOr<std::shared_ptr<Session>> session = Authenticate(resume.session(), resume.secret());
  // Clients cannot distinguish an unknown session from a wrong secret.
  if (!session.ok())
    return MakeError(ErrorKind::kLostSession, "There is no such session: it ended, or its lease ran out.");
  return session;
}

v1::Welcome Registry::WelcomeOf(const Session& session, uint32_t version) const {
  v1::Welcome welcome;
  welcome.set_version(version);
  welcome.set_epoch(options_.epoch);
  welcome.set_session(session.identity().id);
  welcome.set_secret(session.identity().secret.bytes());
  ForEachLimit([&](std::string_view name, int64_t Limits::* field, std::string_view) {
    v1::Limit& limit = *welcome.add_limits();
    limit.set_name(std::string(name));
    limit.set_value(devices_.limits().*field);
  });
  for (uint32_t i = 0; i < devices_.count(); ++i) {
    v1::DeviceInfo& device = *welcome.add_devices();
    device.set_ordinal(i);
    device.set_kind(devices_.device(i).kind);
    device.set_memory_bytes(devices_.device(i).memory.capacity_bytes());
  }
  if (session.identity().offers_arena) {
    welcome.mutable_arena()->set_socket(options_.arena_socket);
    welcome.mutable_arena()->set_bytes(static_cast<uint64_t>(devices_.limits().arena_bytes));
  }
  if (session.identity().offers_ring) {
    welcome.mutable_ring()->set_socket(options_.arena_socket);
    welcome.mutable_ring()->set_key(session.identity().ring_key.bytes());
    welcome.mutable_ring()->set_bytes(rpc::RingPair::kBytes);
  }
  welcome.set_daemon(options_.daemon);
  if (options_.add_cluster != nullptr) options_.add_cluster(welcome, session.identity().launches);
  return welcome;
}

absl::StatusOr<std::shared_ptr<Session>> Registry::Authenticate(uint64_t session,
                                                                std::string_view secret) const {
  MutexLock lock(&mu_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || !found->second->identity().secret.Equals(secret)) {
    return MakeError(ErrorKind::kAuth, "There is no session with this id and secret.");
  }
  return found->second;
}

void Registry::AddKeys(const Session::Identity& identity) {
  if (identity.offers_arena) keys_[Sha256(identity.secret.bytes())] = {identity.id, false};
  if (identity.offers_ring) keys_[Sha256(identity.ring_key.bytes())] = {identity.id, true};
}

void Registry::ForgetKeys(const Session::Identity& identity) {
  keys_.erase(Sha256(identity.secret.bytes()));
  keys_.erase(Sha256(identity.ring_key.bytes()));
}

Registry::Sharing Registry::FindByKey(std::string_view key) const {
  const Digest digest = Sha256(key);
  MutexLock lock(&mu_);
  const auto owner = keys_.find(digest);
  if (owner == keys_.end()) return {};
  const auto session = sessions_.find(owner->second.session);
  if (session == sessions_.end()) return {};
  return {session->second, owner->second.ring};
}

bool Registry::SharesWith(uint32_t user) const {
  MutexLock lock(&mu_);
  return std::any_of(sessions_.begin(), sessions_.end(), [user](const auto& entry) {
    const Session::Identity& identity = entry.second->identity();
    return (identity.offers_arena || identity.offers_ring) && identity.user.value_or(user) == user;
  });
}

void Registry::End(const std::shared_ptr<Session>& session, const absl::Status& status) {
  {
    MutexLock lock(&mu_);
    if (!sessions_.contains(session->identity().id)) return;
    ending_.push_back(session->shared_session_device());  // It may find no memory: the session goes on.
    ForgetKeys(session->identity());
    sessions_.erase(session->identity().id);
    ++sessions_ended_;
  }
  session->End(status);
  if (status.ok()) {
    spdlog::info("Session {} ended.", session->identity().id);
  } else {
    spdlog::info("Session {} ended: {}", session->identity().id, std::string(status.message()));
  }
}

void Registry::OnBroken(const std::shared_ptr<Session>& session, const SessionStream* stream) {
  if (!session->answers().Detach(stream, devices_.clock().Now())) return;
  const Session::Identity& identity = session->identity();
  const bool dead = identity.pid != 0 && !processes_.UserOf(identity.pid).has_value();
  if (!options_.leases || dead) {
    End(session, MakeError(ErrorKind::kLostSession, "The client is gone."));
  } else {
    spdlog::info("Session {} lost its connection; it is kept for {}.", identity.id,
                 absl::FormatDuration(GraceOf(*session)));
  }
}

absl::Duration Registry::GraceOf(const Session& session) const {
  const absl::Duration grace = absl::Microseconds(devices_.limits().grace_us);
  return session.identity().launches.separate ? std::min(grace, options_.group_return) : grace;
}

void Registry::OnProcessEnded(int64_t pid) {
  for (const std::shared_ptr<Session>& session : List()) {
    if (session->identity().pid == pid)
      End(session, MakeError(ErrorKind::kLostSession, "The client's process ended."));
  }
}

namespace {

// Returns the rows of an ended session with their lines, up to a limit of the lines' bytes.
std::shared_ptr<const Registry::EndedAccount> AccountOf(device::SessionDevice& session_device) {
  constexpr size_t kLineBytesMax = 1 << 20;
  auto ended = std::make_shared<Registry::EndedAccount>();
  ended->session = session_device.session();
  ended->account = session_device.ledger().account(device::Detail::kAll);
  ended->account.samples.clear();
  size_t bytes = 0;
  const auto keep = [&](uint32_t id) {
    if (id == 0 || bytes > kLineBytesMax || ended->lines.contains(id)) return;
    v1::Origin line = LineOf(session_device, id);
    bytes += line.ByteSizeLong();
    ended->lines.emplace(id, std::move(line));
  };
  for (const device::Row& row : ended->account.rows) keep(row.key.origin);
  for (const device::RunRow& row : ended->account.runs) keep(row.key.origin);
  for (const device::CompileRow& row : ended->account.compiles) keep(row.origin);
  return ended;
}

}  // namespace

bool Registry::FoldEnded() {
  std::vector<std::shared_ptr<device::SessionDevice>> over;  // Destroyed after the lock is released.
  MutexLock lock(&mu_);
  over.reserve(ending_.size());  // From kept_ on, nothing may fail: an account must be folded once.
  for (std::shared_ptr<device::SessionDevice>& session_device : ending_) {
    if (session_device.use_count() > 1) continue;
    const std::shared_ptr<const EndedAccount> ended = AccountOf(*session_device);
    kept_.push_front(ended);
    devices_.ledger().FoldTotals(ended->account);
    over.push_back(std::move(session_device));
  }
  std::erase(ending_, nullptr);
  for (; kept_.size() > kEndedKept; kept_.pop_back()) devices_.ledger().FoldRows(kept_.back()->account);
  return !over.empty();
}

void Registry::Tick() {
  const bool freed = freed_.exchange(false);
  const bool ended = FoldEnded() || freed;
  const absl::Time now = devices_.clock().Now();
  bool alone;
  {
    MutexLock lock(&mu_);
    alone = sessions_.empty() && ending_.empty();
  }
  memory_return_.Tick(now, ended, busy() || devices_.queued() > 0, alone);
  for (const std::shared_ptr<Session>& session : List()) Tick(session, now);
}

void Registry::Tick(const std::shared_ptr<Session>& session, absl::Time now) {
  const uint64_t id = session->identity().id;
  try {
    session->Tick(now);
  } catch (const std::exception& e) {
    spdlog::error("What session {} waits for could not be ended: {}", id, e.what());
    devices_.failed().Add(id);
  }
  if (devices_.failed().any() && devices_.failed().Contains(id))
    End(session, MakeError(ErrorKind::kNoMemory, "The daemon found no memory for a step of this session."));
  const absl::Duration grace = GraceOf(*session);
  if (session->answers().LeaseRanOut(now, grace)) {
    End(session, MakeError(ErrorKind::kLostSession, absl::StrFormat("The client did not come back within %s.",
                                                                    absl::FormatDuration(grace))));
  }
}

size_t Registry::size() const {
  MutexLock lock(&mu_);
  return sessions_.size();
}

void Registry::EndAll(const absl::Status& status) {
  for (const std::shared_ptr<Session>& session : List()) End(session, status);
}

std::vector<std::shared_ptr<Session>> Registry::List() const {
  MutexLock lock(&mu_);
  return ListLocked();
}

std::vector<std::shared_ptr<Session>> Registry::ListLocked() const {
  std::vector<std::shared_ptr<Session>> list;
  list.reserve(sessions_.size());
  for (const auto& [id, session] : sessions_) list.push_back(session);
  std::sort(list.begin(), list.end(),
            [](const auto& a, const auto& b) { return a->identity().id < b->identity().id; });
  return list;
}

bool Registry::busy() const {
  const std::vector<std::shared_ptr<Session>> sessions = List();
  return std::any_of(sessions.begin(), sessions.end(), [](const auto& session) { return session->busy(); });
}

Registry::Moment Registry::Snapshot() const {
  MutexLock lock(&mu_);
  return {devices_.ledger().ended(), {kept_.begin(), kept_.end()}, ending_, ListLocked()};
}

device::Account Registry::EndedOf(const Moment& moment) {
  device::Ledger sum;
  sum.Fold(moment.ended);
  for (const std::shared_ptr<device::SessionDevice>& session_device : moment.ending)
    sum.Fold(session_device->ledger().account());
  return sum.ended();
}

Registry::Accounts Registry::AllAccounts() const {
  Moment moment = Snapshot();
  Accounts accounts{std::move(moment.sessions), std::move(moment.kept), std::move(moment.ended)};
  // Running work may still be counted: this is the account at this moment.
  for (const std::shared_ptr<device::SessionDevice>& session_device : moment.ending)
    accounts.kept.insert(accounts.kept.begin(), AccountOf(*session_device));
  return accounts;
}

}  // namespace hlod::session
