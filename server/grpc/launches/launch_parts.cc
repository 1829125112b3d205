// Carries out what the group machine wants of the executes.
#include "server/grpc/launches/launch_parts.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <string>

#include "absl/time/clock.h"
#include "common/base/errors/error.h"
#include "common/base/errors/exceptions.h"
#include "common/base/errors/status.h"
#include "server/device/execution/fair_queue.h"

namespace hlod::grpc_server {
namespace {

// A part that waits for its arguments for longer is announced to the others, which then wait for it.
constexpr int64_t kAnnounceUs = 1'000'000;
// The most parts that are announced at once, and the most participants of these: the others wait meanwhile.
constexpr size_t kNewsMax = 64, kNewsParticipantsMax = 8192;

absl::Status HasEnded() {
  return MakeError(ErrorKind::kCancelled, "The execute of this part has ended already.");
}

absl::Status DaemonIsEnding() { return MakeError(ErrorKind::kLostDaemon, "The daemon is ending."); }

bool Same(const v1::LaunchId& a, const v1::LaunchId& b) {
  return a.leader() == b.leader() && a.number() == b.number();
}

}  // namespace

LaunchParts::LaunchParts(MachineUser& machine, PeerCredentials credentials,
                         std::shared_ptr<device::MemoryShare> early)
    : machine_(&machine),
      carriers_(std::move(credentials), std::move(early)),
      thread_([this] { RunRest(); }) {
  pthread_setname_np(thread_.native_handle(), "launches");
}

LaunchParts::~LaunchParts() { Stop(); }

void LaunchParts::Stop() {
  {
    MutexLock lock(&machine_mu_);
    machine_ = nullptr;
  }
  std::map<Key, Entry> entries;
  {
    MutexLock lock(&mu_);
    if (std::exchange(stopping_, true)) return;
    entries = std::exchange(entries_, {});
    keys_.clear();
    changed_.SignalAll();
  }
  thread_.join();  // It runs the jobs that are left.
  const device::FairQueue::NoneHere no_programs;
  carriers_.Stop(DaemonIsEnding());
  for (const auto& [key, entry] : entries) {
    if (entry.phase == Entry::Phase::kStarted) {
      entry.part->Cancel(DaemonIsEnding());
    } else {
      entry.part->Release();
      entry.part->Refuse(DaemonIsEnding());
    }
  }
}

bool LaunchParts::Stopping() {
  MutexLock lock(&mu_);
  return stopping_;
}

bool LaunchParts::RunJob() {
  std::function<void()> job;
  {
    MutexLock lock(&mu_);
    if (running_ || jobs_.empty()) return false;
    running_ = true;
    job = std::move(jobs_.front());
    jobs_.pop_front();
  }
  bool done = true;
  try {
    job();
    job = nullptr;                     // Without the lock: it may be the last that refers to a session.
  } catch (const std::exception& e) {  // For example bad_alloc.
    spdlog::error("A step of a launch is tried again: {}", e.what());
    done = false;
  }
  MutexLock lock(&mu_);
  if (done) {
    running_ = false;
  } else {  // The jobs are run in their order, so the others wait for it.
    failed_ = std::move(job);
  }
  if (stopping_ || !done) changed_.SignalAll();
  return done;
}

void LaunchParts::RunJobs() {
  // The end of a part may let another execute run, and all daemons wait for what this thread does next.
  const device::FairQueue::NoneHere no_programs;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kJobsMax && std::chrono::steady_clock::now() - begin <= kJobsTime; ++i) {
    if (!RunJob()) return;
  }
  MutexLock lock(&mu_);
  if (jobs_.empty()) return;
  left_ = true;
  changed_.SignalAll();
}

void LaunchParts::RunRest() {
  const device::FairQueue::NoneHere no_programs;
  for (;;) {
    bool failed;
    {
      MutexLock lock(&mu_);
      while (failed_ == nullptr && !(left_ && !running_) && !(stopping_ && !running_)) changed_.Wait(&mu_);
      left_ = false;
      failed = failed_ != nullptr;
      if (!failed && stopping_ && jobs_.empty()) return;
    }
    if (failed) TryAgain();
    while (RunJob()) {
    }
  }
}

void LaunchParts::TryAgain() {
  std::function<void()> job;
  {
    MutexLock lock(&mu_);
    job = std::move(failed_);
    failed_ = nullptr;
  }
  for (int tries = 1; job != nullptr; ++tries) {
    try {
      job();
      job = nullptr;
    } catch (const std::exception& e) {
      if (tries < kTriesMax && !Stopping()) {
        absl::SleepFor(absl::Milliseconds(10));
        continue;
      }
      spdlog::error("A step of a launch is given up: {}", e.what());
      job = nullptr;
    }
  }
  MutexLock lock(&mu_);
  running_ = false;
  if (stopping_) changed_.SignalAll();
}

void LaunchParts::Post(std::function<void()> job) {
  if (stopping_) return;
  jobs_.push_back(std::move(job));
}

void LaunchParts::UseMachine(absl::FunctionRef<void(fabric::Group&, int64_t)> f) {
  MutexLock lock(&machine_mu_);
  if (machine_ != nullptr) machine_->Use(f);
}

void LaunchParts::UseMachineAndRun(absl::FunctionRef<void(fabric::Group&, int64_t)> f) {
  UseMachine(f);
  RunJobs();
}

LaunchParts::Key LaunchParts::KeyOf(const device::LaunchPart& part) {
  return {part.request().group, part.request().sequence};
}

v1::LaunchOffer LaunchParts::OfferOf(const device::LaunchPart& part) {
  const device::LaunchRequest& request = part.request();
  v1::LaunchOffer offer;
  offer.set_group(request.group);
  offer.set_sequence(request.sequence);
  offer.set_user(request.user);
  offer.set_separate(request.separate);
  offer.set_digest(std::string(Digest().size(), '\0'));
  std::map<uint32_t, v1::LaunchPart> parts;
  for (size_t i = 0; i < request.ranks.size(); ++i) {
    v1::LaunchPart& part = parts[request.ranks[i]];
    part.add_devices(request.devices[i]);
    part.add_participants(static_cast<uint32_t>(i));
  }
  for (auto& [rank, part] : parts) {
    part.set_rank(rank);
    *offer.add_parts() = std::move(part);
  }
  return offer;
}

LaunchParts::Entry* LaunchParts::Find(const v1::LaunchId& launch) {
  const auto key = keys_.find({launch.leader(), launch.number()});
  const auto found = key == keys_.end() ? entries_.end() : entries_.find(key->second);
  return found == entries_.end() ? nullptr : &found->second;
}

// -----------------------------------------------------------------------------------------------------------
// from the executes

absl::StatusOr<uint32_t> LaunchParts::FindRank(absl::Span<const uint32_t> ranks) {
  std::vector<uint32_t> distinct(ranks.begin(), ranks.end());
  std::ranges::sort(distinct);
  const auto rest = std::ranges::unique(distinct);
  distinct.erase(rest.begin(), rest.end());
  absl::StatusOr<uint32_t> rank = DaemonIsEnding();
  UseMachine([&rank, &distinct](fabric::Group& group, int64_t) {
    const fabric::Membership& membership = group.membership();
    if (!membership.joined()) {
      rank = FailedPrecondition("The daemon is not a member of its cluster now.");
      return;
    }
    rank = membership.self().rank();
    const auto stranger = std::ranges::find_if(distinct, [&](uint32_t r) { return !membership.Has(r); });
    if (stranger != distinct.end())
      rank = MakeError(
          ErrorKind::kLostDaemon,
          absl::StrFormat("Cluster \"%s\" has no member with rank %d now.", membership.cluster(), *stranger));
  });
  return rank;
}

void LaunchParts::Add(const std::shared_ptr<device::LaunchPart>& part) {
  absl::Status why = InvalidArgument("Launch %d of the group was sent twice.", part->request().sequence);
  {
    MutexLock lock(&mu_);
    if (stopping_) {
      why = DaemonIsEnding();
    } else if (entries_.emplace(KeyOf(*part), Entry{.part = part, .launch = {}}).second) {
      fresh_.push_back(KeyOf(*part));
      return;
    }
  }
  part->Refuse(why);
}

std::vector<v1::LaunchOffer> LaunchParts::TakeNews(int64_t now_us) {
  std::vector<v1::LaunchOffer> news;
  size_t participants = 0;
  MutexLock lock(&mu_);
  for (const Key& key : std::exchange(fresh_, {})) coming_.emplace_back(now_us, key);
  while (!coming_.empty() && now_us - coming_.front().first >= kAnnounceUs && news.size() < kNewsMax &&
         participants <= kNewsParticipantsMax) {
    const auto found = entries_.find(coming_.front().second);
    coming_.pop_front();
    if (found == entries_.end() || found->second.phase != Entry::Phase::kComing) continue;
    participants += found->second.part->request().ranks.size();
    news.push_back(OfferOf(*found->second.part));
    news.back().set_coming(true);
  }
  return news;
}

void LaunchParts::Offer(const std::shared_ptr<device::LaunchPart>& part, const Digest& program) {
  absl::Status status = DaemonIsEnding();
  {
    MutexLock lock(&mu_);
    const auto found = entries_.find(KeyOf(*part));
    if (!stopping_ && (found == entries_.end() || found->second.part != part)) return;  // Refused meanwhile.
    if (!stopping_) {
      found->second.phase = Entry::Phase::kOffered;
      found->second.digest.assign(program.begin(), program.end());
    }
  }
  v1::LaunchOffer offer = OfferOf(*part);
  offer.set_digest(std::string(program.begin(), program.end()));
  UseMachineAndRun([&](fabric::Group& group, int64_t now_us) { status = group.Offer(offer, now_us); });
  if (status.ok()) return;
  {
    MutexLock lock(&mu_);
    entries_.erase(KeyOf(*part));
  }
  part->Refuse(status);
}

void LaunchParts::TakeBack(const std::shared_ptr<device::LaunchPart>& part, const absl::Status& why) {
  {
    MutexLock lock(&mu_);
    const auto found = entries_.find(KeyOf(*part));
    if (found == entries_.end() || found->second.part != part) return;
    if (found->second.phase == Entry::Phase::kStarted) return;
    // A part that is being prepared is refused by the leader.
    if (found->second.phase != Entry::Phase::kPreparing) entries_.erase(found);
  }
  v1::LaunchOffer offer = OfferOf(*part);
  *offer.mutable_error() = fabric::ErrorFor(why);
  // If it cannot be told, the others are not members any more.
  UseMachineAndRun([&](fabric::Group& group, int64_t now_us) { group.Offer(offer, now_us).IgnoreError(); });
}

void LaunchParts::Leave(uint64_t group) {
  try {
    UseMachineAndRun([group](fabric::Group& machine, int64_t now_us) { machine.Leave(group, now_us); });
  } catch (const std::exception& e) {  // Without memory: the others wait until their parts are too late.
    spdlog::error("The end of a session is not told to the other daemons: {}", e.what());
  }
}

// -----------------------------------------------------------------------------------------------------------
// from the machine

bool LaunchParts::IsOffered(const Entry& entry, const v1::PrepareLaunch& launch) {
  if (entry.phase != Entry::Phase::kOffered &&
      (entry.phase != Entry::Phase::kPreparing || !Same(entry.launch, launch.launch())))
    return false;
  const v1::LaunchOffer offer = OfferOf(*entry.part);
  return launch.launch().leader() == offer.parts(0).rank() && launch.digest() == entry.digest &&
         fabric::SameParts(launch.parts(), offer.parts());
}

void LaunchParts::Prepare(const v1::PrepareLaunch& launch, uint64_t attempt) {
  const v1::LaunchId id = launch.launch();
  const auto report = [this, id, attempt](const absl::Status& status) {
    UseMachineAndRun(
        [&](fabric::Group& group, int64_t now_us) { group.OnPrepared(id, attempt, status, now_us); });
  };
  MutexLock lock(&mu_);
  const Key key{launch.group(), launch.sequence()};
  const auto found = entries_.find(key);
  // A launch of an earlier execute, which was cancelled meanwhile, must not be taken for that of a later one.
  if (found == entries_.end() || !IsOffered(found->second, launch))
    return Post([report] { report(HasEnded()); });
  found->second.phase = Entry::Phase::kPreparing;
  found->second.launch = id;
  keys_[{id.leader(), id.number()}] = key;
  Post([this, part = found->second.part, id, report, why = absl::OkStatus()]() mutable {
    if (Stopping()) return;
    try {
      if (why.ok()) {
        OpenCarrier(*part, id);
        return part->Prepare(report);
      }
    } catch (const std::exception& e) {  // Without a report the launch would hold its devices for ever.
      why = ExceptionError("The launch could not be prepared", e);
    }
    report(why);  // If this fails, only this is tried again.
  });
}

void LaunchParts::OpenCarrier(const device::LaunchPart& part, const v1::LaunchId& launch) {
  LaunchCarrier::Peers peers;
  absl::Duration patience = absl::Seconds(1);
  UseMachine([&](fabric::Group& group, int64_t) {
    const fabric::Membership& membership = group.membership();
    patience += absl::Microseconds(membership.peer_silence_us());
    for (const uint32_t rank : part.request().ranks) {
      const v1::Member* const member = rank == part.request().rank ? nullptr : membership.MemberOf(rank);
      if (member == nullptr) continue;
      CarryPeer& peer = peers[rank];
      peer.name = membership.NameOf(rank);
      peer.address = member->address();
      peer.member = member->name();
      ++peer.participants;
    }
  });
  std::shared_ptr<LaunchCarrier> carrier =
      carriers_.Open(launch, part.request().rank, std::move(peers), patience);
  MutexLock lock(&mu_);
  if (Entry* const entry = Find(launch)) entry->carrier = std::move(carrier);
}

void LaunchParts::Release(const v1::LaunchId& launch, const absl::Status&) {
  MutexLock lock(&mu_);
  Entry* const entry = Find(launch);
  if (entry == nullptr) return;
  Post([this, part = entry->part, launch] {
    part->Release();
    carriers_.Close(launch);
  });
}

bool LaunchParts::IsWanted(const v1::LaunchId& launch) {
  MutexLock lock(&mu_);
  const Entry* const entry = Find(launch);
  return entry != nullptr && entry->part->IsWanted();
}

void LaunchParts::Start(const v1::LaunchId& launch) {
  MutexLock lock(&mu_);
  Entry* const entry = Find(launch);
  const auto done = [this, launch](const absl::Status& status) {
    {
      MutexLock locked(&mu_);
      const auto key = keys_.find({launch.leader(), launch.number()});
      if (key != keys_.end()) {
        entries_.erase(key->second);
        keys_.erase(key);
      }
    }
    carriers_.Close(launch);
    UseMachineAndRun([&](fabric::Group& group, int64_t now_us) { group.OnDone(launch, status, now_us); });
  };
  if (entry == nullptr) return Post([done] { done(HasEnded()); });
  entry->phase = Entry::Phase::kStarted;
  Post([this, part = entry->part, carrier = entry->carrier, done, why = absl::OkStatus()]() mutable {
    if (Stopping()) {
      part->Release();
      return part->Refuse(DaemonIsEnding());
    }
    try {
      if (why.ok()) return part->Start(carrier, done);
    } catch (const std::exception& e) {  // The others would wait for this part for ever.
      why = ExceptionError("The launch could not start", e);
    }
    done(why);  // If this fails, only this is tried again.
  });
}

void LaunchParts::Cancel(const v1::LaunchId& launch, const absl::Status& why) {
  MutexLock lock(&mu_);
  Entry* const entry = Find(launch);
  if (entry == nullptr) return;
  Post([part = entry->part, carrier = entry->carrier, why] {
    part->Cancel(why);
    if (carrier != nullptr) carrier->Fail(why);
  });
}

void LaunchParts::OnOfferRefused(uint64_t group, uint64_t sequence, const v1::LaunchId& refused,
                                 const absl::Status& why) {
  MutexLock lock(&mu_);
  const auto found = entries_.find({group, sequence});
  if (found == entries_.end()) return;
  // The end of an earlier execute's launch is not that of a later one.
  const Entry& entry = found->second;
  const bool offered = entry.phase == Entry::Phase::kOffered;
  const bool preparing =
      entry.phase == Entry::Phase::kPreparing && (refused.number() == 0 || Same(entry.launch, refused));
  if (!offered && !preparing) return;
  Post([this, part = found->second.part, launch = found->second.launch, why] {
    carriers_.Close(launch);
    part->Refuse(why);
  });
  keys_.erase({found->second.launch.leader(), found->second.launch.number()});
  entries_.erase(found);
}

}  // namespace hlod::grpc_server
