// The links' thread, and the state that all links share.
#include "server/grpc/peer_links.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/base/text/printable.h"
#include "server/device/execution/fair_queue.h"
#include "server/grpc/grpc_server.h"
#include "server/grpc/outgoing_link.h"

namespace hlod::grpc_server {
namespace {

constexpr std::chrono::milliseconds kTickOfLinks{20};
constexpr uint32_t kTriedMax = 10'000;
constexpr absl::Duration kTryPatience = absl::Seconds(60);
// The time after which the log names a daemon that is called and has not been reached.
constexpr int64_t kSlowCallUs = 3'000'000;

fabric::MembershipOptions MembershipOptionsOf(const ClusterOptions& options, const std::string& version,
                                              const std::string& address, uint64_t incarnation,
                                              const std::string& pass_key, device::Devices& devices) {
  fabric::MembershipOptions membership;
  membership.cluster = options.name;
  membership.version = version;
  membership.join = options.join;
  membership.rank = options.rank;
  membership.size = options.size;
  membership.peer_silence_us = absl::ToInt64Microseconds(options.peer_silence);
  membership.self.set_name(options.daemon);
  membership.self.set_address(address);
  membership.self.set_incarnation(incarnation);
  membership.self.set_devices(static_cast<uint32_t>(devices.count()));
  membership.self.set_pass_key(pass_key);
  membership.self.set_memory_bytes(devices.device(0).memory.capacity_bytes());
  return membership;
}

bool IsNumeric(const std::string& host) {
  in6_addr address;  // Has room for either kind.
  return inet_pton(AF_INET, host.c_str(), &address) == 1 || inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

// The digest of launches without work.
const std::string& DigestOfNothing() {
  static const auto* const digest = new std::string(32, '\0');
  return *digest;
}

}  // namespace

PeerLinks::PeerLinks(ClusterOptions options, PeerCredentials credentials, std::string version,
                     std::string address, uint64_t incarnation, device::Devices& devices)
    : options_(std::move(options)),
      address_(std::move(address)),
      credentials_(std::move(credentials)),
      side_memory_(devices.side_memory()),
      shares_(side_memory_),
      parts_(std::make_shared<LaunchParts>(*this, credentials_, devices.side_memory().ShareOf("daemons"))),
      group_(MembershipOptionsOf(options_, version, address_, incarnation, pass_key_.Public(), devices),
             fabric::LaunchLimits{.launches_before = incarnation % 1'000 * 1'000'000}, *this, *this) {
  devices.SetLaunches(parts_);
}

PeerLinks::~PeerLinks() {
  Stop();
  parts_->Stop();
}

int64_t PeerLinks::Now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void PeerLinks::Start() {
  {
    MutexLock lock(&mu_);
    LogChanges();
  }
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), "peers");
}

void PeerLinks::Stop() {
  parts_->Stop();
  if (!thread_.joinable()) return;
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    for (const auto& [id, call] : std::exchange(incoming_, {}))
      call->Finish(Unavailable("Its daemon is ending."));
    outgoing_.clear();
    for (const auto& [link, owned] : links_) link->Cancel();
    over_changed_.SignalAll();
  }
  thread_.join();
  queue_.Shutdown();
  void* tag;
  bool ok;
  while (queue_.Next(&tag, &ok)) {
  }
}

void PeerLinks::Run() {
  const device::FairQueue::NoneHere no_programs;
  int64_t next_tick_us = 0;
  for (;;) {
    void* tag = nullptr;
    bool ok = false;
    const auto got = queue_.AsyncNext(&tag, &ok, std::chrono::system_clock::now() + kTickOfLinks);
    {
      MutexLock lock(&mu_);
      if (got == grpc::CompletionQueue::GOT_EVENT) {
        const auto* const operation = static_cast<OutgoingLink::Operation*>(tag);
        OnEvent(*operation->link, operation->event, ok);
      }
      if (stopping_ && links_.empty()) return;
      if (!stopping_ && Now() >= next_tick_us) {
        Tick();
        next_tick_us = Now() + std::chrono::microseconds(kTickOfLinks).count();
      }
    }
    parts_->RunJobs();
  }
}

void PeerLinks::OnEvent(OutgoingLink& link, LinkEvent event, bool ok) {
  link.OnEvent(event, ok);
  switch (event) {
    case LinkEvent::kStarted:
      link.started = true;
      if (!ok || stopping_) {
        link.Finish();
        break;
      }
      link.id = ++last_link_;
      outgoing_[link.id] = &link;
      link.Read();
      group_.OnConnected(link.id, link.rank(), Now());
      break;
    case LinkEvent::kRead:
      if (ok && link.id != 0) {
        OnRead(link);
      } else {
        link.Finish();
      }
      break;
    case LinkEvent::kWritten: break;
    case LinkEvent::kFinished: OnFinished(link); break;
  }
  Settle();
  if (link.idle()) links_.erase(&link);
}

void PeerLinks::OnRead(OutgoingLink& link) {
  absl::Status status;
  if (!link.checked && !credentials_.certificate.empty() && !is_abstract())
    status = CheckDaemon(*link.peer(), options_.name, "");
  link.checked = true;
  const fabric::LinkId id = link.id;
  if (!status.ok()) {
    group_.OnEnded(id, status, Now());
  } else {
    status = group_.OnLinkMessage(id, link.message(), Now());
  }
  if (status.ok() && link.id != 0) return link.Read();
  if (!status.ok()) {
    spdlog::warn("The link with {} is ended: {}", rpc::ToString(link.address()),
                 Printable(FromAbsl(status.message())));
  }
  outgoing_.erase(id);
  link.id = 0;
  link.Cancel();
}

void PeerLinks::OnFinished(OutgoingLink& link) {
  absl::Status why = link.status();
  if (why.ok()) why = Unavailable("the other side ended it");
  if (link.id == 0) {
    if (stopping_ || link.checked) return;  // It was ended here.
    group_.OnUnconnected(link.rank(), Now());
    if (link.rank() == 0)
      SetProblem(absl::StrFormat("The coordinator at %s cannot be reached: %s", rpc::ToString(link.address()),
                                 FromAbsl(why.message())));
    return;
  }
  if (stopping_) return;
  const fabric::LinkId id = link.id;
  outgoing_.erase(id);
  link.id = 0;
  if (link.rank() == 0)
    SetProblem(absl::StrFormat("The coordinator at %s ended the link: %s", rpc::ToString(link.address()),
                               FromAbsl(why.message())));
  group_.OnEnded(id, why, Now());
}

void PeerLinks::SetProblem(const std::string& why) {
  const std::string printable = Printable(why);
  if (stopping_ || problem_ == printable) return;
  problem_ = printable;
  spdlog::warn("{}", printable);
}

void PeerLinks::LogSlowCalls() {
  for (const auto& [link, owned] : links_) {
    if (link->started || link->slow || Now() - link->called_us <= kSlowCallUs) continue;
    link->slow = true;
    const rpc::Endpoint& address = link->address();
    std::string trouble = "it does not answer";
    if (!IsNumeric(address.host)) {
      trouble = absl::StrFormat("the name \"%s\" is still being resolved, or its host does not answer",
                                address.host);
    }
    trouble = absl::StrFormat("at %s has not been reached for %s: %s; it is tried further.",
                              rpc::ToString(address), fabric::SecondsOf(kSlowCallUs), trouble);
    if (link->rank() == 0) {
      SetProblem(absl::StrCat("The coordinator ", trouble));
    } else {
      spdlog::warn("Rank {} {}", link->rank(), Printable(trouble));
    }
  }
}

void PeerLinks::Tick() {
  LogSlowCalls();
  for (const uint32_t rank : std::exchange(unconnected_, {})) group_.OnUnconnected(rank, Now());
  for (const v1::LaunchOffer& news : parts_->TakeNews(Now())) group_.Offer(news, Now()).IgnoreError();
  group_.Tick(Now());
  Settle();
}

void PeerLinks::Settle() {
  while (!prepared_.empty() || !started_.empty()) {
    if (!prepared_.empty()) {
      const auto [launch, attempt] = std::move(prepared_.front());
      prepared_.pop_front();
      group_.OnPrepared(launch, attempt, absl::OkStatus(), Now());
    } else {
      const v1::LaunchId launch = std::move(started_.front());
      started_.pop_front();
      group_.OnDone(launch, absl::OkStatus(), Now());
    }
  }
  LogChanges();
  const fabric::Membership& membership = group_.membership();
  if (membership.has_coordinator()) problem_.clear();
  if (membership.refused().ok() || refused_ || stopping_) return;
  refused_ = true;
  options_.on_refused(membership.refused());
}

void PeerLinks::LogChanges() {
  const fabric::Membership& membership = group_.membership();
  if (membership.changes() == logged_changes_) return;
  std::map<uint32_t, v1::Member> now;
  for (const fabric::Membership::View& row : membership.List(Now())) now[row.member.rank()] = row.member;
  for (const auto& [rank, member] : logged_) {
    const auto found = now.find(rank);
    if (found != now.end() && found->second.joined() == member.joined()) continue;
    std::string why = "it left";
    for (const fabric::Membership::Departed& departed : membership.departed()) {
      if (departed.member.incarnation() == member.incarnation()) why = departed.why;
    }
    if (rank != membership.self().rank()) {
      spdlog::warn("Daemon {} (rank {}) is gone: {}.", Printable(member.name()), rank, Printable(why));
    } else if (!membership.joined()) {
      spdlog::warn("This daemon is not a member of cluster \"{}\" any more: {}.", options_.name,
                   Printable(membership.parted()));
    }
  }
  for (const auto& [rank, member] : now) {
    const auto found = logged_.find(rank);
    if (found != logged_.end() && found->second.joined() == member.joined()) continue;
    if (rank == membership.self().rank()) {
      spdlog::info("Member of cluster \"{}\" with rank {}, epoch {}.", options_.name, rank,
                   membership.epoch());
    } else {
      spdlog::info("Daemon {} at {} is a member with rank {}.", Printable(member.name()),
                   Printable(member.address()), rank);
    }
  }
  logged_ = std::move(now);
  logged_changes_ = membership.changes();
}

fabric::LinkId PeerLinks::AddIncoming(std::shared_ptr<Call> call) {
  MutexLock lock(&mu_);
  if (stopping_) {
    call->Finish(Unavailable("This daemon is ending."));
    return 0;
  }
  const fabric::LinkId id = ++last_link_;
  incoming_[id] = std::move(call);
  return id;
}

absl::Status PeerLinks::OnIncoming(fabric::LinkId link, const v1::PeerMessage& message) {
  absl::Status status;
  {
    MutexLock lock(&mu_);
    if (!incoming_.contains(link)) return Unavailable("The link has ended.");
    status = group_.OnLinkMessage(link, message, Now());
    if (!status.ok()) {
      spdlog::warn("A daemon's link is ended: {}", Printable(FromAbsl(status.message())));
      incoming_.erase(link);
    }
    Settle();
  }
  parts_->RunJobs();
  return status;
}

void PeerLinks::OnIncomingEnded(fabric::LinkId link) {
  {
    MutexLock lock(&mu_);
    if (incoming_.erase(link) == 0 || stopping_) return;
    group_.OnEnded(link, absl::OkStatus(), Now());
    Settle();
  }
  parts_->RunJobs();
}

void PeerLinks::Send(fabric::LinkId link, const v1::PeerMessage& message) {
  if (const auto made = outgoing_.find(link); made != outgoing_.end()) return made->second->Write(message);
  if (const auto taken = incoming_.find(link); taken != incoming_.end())
    taken->second->Write(ToByteBuffer(message));
}

void PeerLinks::End(fabric::LinkId link, const absl::Status& why) {
  if (const auto made = outgoing_.find(link); made != outgoing_.end()) {
    made->second->id = 0;
    made->second->checked = true;
    made->second->Cancel();
    outgoing_.erase(made);
  }
  if (const auto taken = incoming_.find(link); taken != incoming_.end()) {
    taken->second->Finish(why);
    incoming_.erase(taken);
  }
}

void PeerLinks::Connect(uint32_t rank, const std::string& address) {
  absl::StatusOr<rpc::Endpoint> endpoint = rpc::ParseEndpoint(address);
  const bool by_tcp = endpoint.ok() && endpoint->kind == rpc::Endpoint::Kind::kTcp &&
                      (!credentials_.certificate.empty() || endpoint->IsLoopback());
  const bool fits = endpoint.ok() && (is_abstract() ? endpoint->IsAbstract() : by_tcp);
  if (!fits) {
    // The machine learns it at its next look, for it may not be called back from here.
    unconnected_.push_back(rank);
    spdlog::warn("Rank {} is not called at {}: {}.", rank, Printable(address),
                 is_abstract() ? "this daemon has an abstract address, and so must the others"
                               : "links beyond the loopback interface are TCP with TLS");
    return;
  }
  const absl::StatusOr<PeerChannel> channel = PeerChannel::To(*endpoint, credentials_);
  if (!channel.ok()) {
    unconnected_.push_back(rank);
    if (rank == 0)
      SetProblem(absl::StrCat("The coordinator cannot be reached: ", channel.status().message()));
    return;
  }
  auto link =
      std::make_unique<OutgoingLink>(rank, *std::move(endpoint), channel->get(), credentials_.token, queue_);
  OutgoingLink* const key = link.get();
  key->called_us = Now();
  links_[key] = std::move(link);
}

void PeerLinks::Use(absl::FunctionRef<void(fabric::Group&, int64_t now_us)> f) {
  MutexLock lock(&mu_);
  if (stopping_) return;
  f(group_, Now());
  Settle();
}

void PeerLinks::Prepare(const v1::PrepareLaunch& launch, uint64_t attempt) {
  if (launch.group() != 0) return parts_->Prepare(launch, attempt);
  trials_[{launch.launch().leader(), launch.launch().number()}] = attempt;
  prepared_.emplace_back(launch.launch(), attempt);
}

void PeerLinks::Release(const v1::LaunchId& launch, const absl::Status& why) {
  if (trials_.erase({launch.leader(), launch.number()}) == 0) parts_->Release(launch, why);
}

void PeerLinks::Start(const v1::LaunchId& launch) {
  if (trials_.erase({launch.leader(), launch.number()}) == 0) return parts_->Start(launch);
  started_.push_back(launch);
}

void PeerLinks::OnOver(uint64_t number, bool, const absl::Status& status) {
  if (!trying_) return;
  over_[number] = status;
  over_changed_.SignalAll();
}

absl::StatusOr<device::LaunchClient> PeerLinks::AdmitClient(const std::string& pass,
                                                            const std::string& user) {
  if (pass.empty()) {
    const uint64_t client = RandomClient();
    return device::LaunchClient{
        .group = GroupOf(pass_key_.Public(), client),
        .user = user,
        .passes = std::make_shared<device::GivenPasses>(client, side_memory_.ShareOf(user))};
  }
  v1::SessionPass given;
  if (!given.ParseFromString(pass)) return MakeError(ErrorKind::kAuth, "Hello.pass is not a pass.");
  std::string key;
  bool is_here = false;
  {
    MutexLock lock(&mu_);
    const fabric::Membership& membership = group_.membership();
    is_here = given.cluster() == membership.cluster() && given.for_rank() == membership.self().rank() &&
              given.for_name() == membership.self().name();
    for (const fabric::Membership::View& view : membership.List(Now())) {
      if (view.member.incarnation() == given.incarnation()) key = view.member.pass_key();
    }
  }
  if (key.empty()) {
    return MakeError(ErrorKind::kAuth,
                     "The daemon that gave the session its pass is not a member of the cluster now.");
  }
  ASSIGN_OR_RETURN(const uint64_t group, CheckPass(given, key));
  if (!is_here) {
    return MakeError(ErrorKind::kAuth, absl::StrFormat("The session's pass is for daemon %s (rank %d).",
                                                       Printable(given.for_name()), given.for_rank()));
  }
  if (given.user().size() > fabric::kNameMax) {
    return MakeError(ErrorKind::kAuth,
                     absl::StrFormat("The user's name in Hello.pass has %d bytes; the limit is %d.",
                                     given.user().size(), fabric::kNameMax));
  }
  return device::LaunchClient{.group = group, .user = given.user(), .passes = nullptr};
}

void PeerLinks::AddCluster(v1::Welcome& welcome, const device::LaunchClient& client) {
  v1::SessionPass pass;
  pass.set_user(client.user);
  pass.set_cluster(options_.name);
  {
    MutexLock lock(&mu_);
    const fabric::Membership& membership = group_.membership();
    if (!membership.joined()) return;
    pass.set_incarnation(membership.self().incarnation());
    v1::ClusterInfo& cluster = *welcome.mutable_cluster();
    cluster.set_group(client.group);
    cluster.set_name(options_.name);
    cluster.set_rank(membership.self().rank());
    cluster.set_peer_silence_us(static_cast<uint64_t>(membership.peer_silence_us()));
    for (const fabric::Membership::View& view : membership.List(Now())) {
      if (view.member.rank() == membership.self().rank()) continue;
      v1::ClusterDaemon& row = *cluster.add_daemons();
      row.set_rank(view.member.rank());
      row.set_name(view.member.name());
      row.set_address(view.member.address());
      row.set_devices(view.member.devices());
      row.set_memory_bytes(view.member.memory_bytes());
    }
  }
  // A pass that others have got hold of ends with the daemon that gave it.
  if (client.passes == nullptr) return;
  AddPasses(pass_key_, std::move(pass), *client.passes, *welcome.mutable_cluster());
}

v1::Cluster PeerLinks::Describe() {
  MutexLock lock(&mu_);
  const fabric::Membership& membership = group_.membership();
  const int64_t now = Now();
  v1::Cluster cluster;
  cluster.set_name(options_.name);
  *cluster.mutable_self() = membership.self();
  cluster.set_epoch(membership.epoch());
  cluster.set_size(membership.size());
  cluster.set_join(options_.join);
  cluster.set_peer_silence_us(static_cast<uint64_t>(membership.peer_silence_us()));
  cluster.set_missing(membership.Missing());
  cluster.set_problem(problem_);
  for (const fabric::Membership::View& view : membership.List(now)) {
    v1::ClusterMember& row = *cluster.add_members();
    *row.mutable_member() = view.member;
    row.set_state(view.state);
    row.set_round_trip_us(view.round_trip_us);
    row.set_silent_us(view.heard_us_ago);
  }
  for (const fabric::Membership::Departed& departed : membership.departed()) {
    v1::DepartedMember& row = *cluster.add_departed();
    *row.mutable_member() = departed.member;
    row.set_why(departed.why);
    row.set_us_ago(now - departed.when_us);
  }
  return cluster;
}

absl::StatusOr<v1::TriedLaunches> PeerLinks::TryLaunches(uint32_t count) {
  if (count < 1 || count > kTriedMax)
    return InvalidArgument("The number of launches to try (%d) is not from 1 to %d.", count, kTriedMax);
  MutexLock lock(&mu_);
  if (std::exchange(trying_, true))
    return ResourceExhausted("This daemon is trying launches for another caller.");
  v1::TriedLaunches tried;
  absl::Status status;
  const absl::Time patience = absl::Now() + kTryPatience;
  for (uint32_t i = 0; i < count && status.ok(); ++i) {
    fabric::LaunchSpec spec;
    spec.prepare.set_digest(DigestOfNothing());
    for (const fabric::Membership::View& row : group_.membership().List(Now())) {
      v1::LaunchPart& part = *spec.prepare.add_parts();
      part.set_rank(row.member.rank());
    }
    tried.set_daemons(static_cast<uint32_t>(spec.prepare.parts_size()));
    const int64_t begun = Now();
    const absl::StatusOr<uint64_t> number = group_.Launch(std::move(spec), begun);
    if (!number.ok()) {
      status = number.status();
      break;
    }
    Settle();
    while (!over_.contains(*number) && !stopping_ && absl::Now() < patience)
      over_changed_.WaitFor(&mu_, std::chrono::milliseconds(100));
    const auto over = over_.find(*number);
    if (over == over_.end()) {
      status = DeadlineExceeded("Launch %d of %d has not ended after %s.", i + 1, count,
                                FromAbsl(absl::FormatDuration(kTryPatience)));
      group_.Cancel(*number, status, Now());
    } else {
      status = over->second;
      tried.add_launch_us(Now() - begun);
    }
    over_.clear();
  }
  trying_ = false;
  if (!status.ok()) return status;
  return tried;
}

}  // namespace hlod::grpc_server
