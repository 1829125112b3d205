// The orders of the group machine to parts of launches: those of an earlier launch do not reach a later part.
#include "server/grpc/launches/launch_parts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "server/device/memory/side_memory.h"
#include "tests/unit/server/fabric/no_work.h"

namespace hlod::grpc_server {
namespace {

struct NoWire : fabric::Wire {
  void Send(fabric::LinkId, const v1::PeerMessage&) override {}
  void End(fabric::LinkId, const absl::Status&) override {}
  void Connect(uint32_t, const std::string&) override {}
};

// A machine that is the only member of its cluster.
struct Machine : MachineUser {
  static fabric::MembershipOptions Options() {
    fabric::MembershipOptions options;
    options.cluster = "ci";
    options.self.set_name("n0");
    options.self.set_address("n0:1");
    options.self.set_incarnation(1);
    options.self.set_devices(4);
    return options;
  }
  void Use(absl::FunctionRef<void(fabric::Group&, int64_t)> f) override { f(group, 1); }
  NoWire wire;
  fabric::NoWork work;  // The machine takes offers, and gives its orders to nobody.
  fabric::Group group{Options(), {}, wire, work};
};

struct Part : device::LaunchPart {
  explicit Part(uint64_t sequence, std::vector<uint32_t> ranks = {0}) {
    of.group = 7;
    of.sequence = sequence;
    of.user = "a";
    of.devices.assign(ranks.size(), 0);
    for (uint32_t i = 0; i < ranks.size(); ++i) of.devices[i] = i;
    of.ranks = std::move(ranks);
  }
  const device::LaunchRequest& request() const override { return of; }
  void Prepare(Report report) override {
    ++prepared;
    if (on_prepare != nullptr) on_prepare();
  }
  void Release() override {
    if (++released <= failures && std::this_thread::get_id() != owner) throw std::bad_alloc();
  }
  bool IsWanted() const override { return false; }
  void Start(std::shared_ptr<Carrier>, Report) override { ++started; }
  void Cancel(const absl::Status&) override { ++cancelled; }
  void Refuse(const absl::Status&) override { ++refused; }
  device::LaunchRequest of;
  std::function<void()> on_prepare;
  const std::thread::id owner = std::this_thread::get_id();
  std::atomic<int> failures = 0;  // The first calls of Release that find no memory, on other threads.
  std::atomic<int> prepared = 0, released = 0, started = 0, cancelled = 0, refused = 0;
};

class Parts : public ::testing::Test {
 protected:
  static v1::LaunchId Id(uint64_t number) {
    v1::LaunchId id;
    id.set_number(number);
    return id;
  }
  // The launch of a part whose program has the digest `digest`.
  v1::PrepareLaunch Launch(uint64_t number, uint64_t sequence, char digest) {
    v1::PrepareLaunch launch;
    *launch.mutable_launch() = Id(number);
    launch.set_group(7);
    launch.set_sequence(sequence);
    launch.set_digest(std::string(32, digest));
    v1::LaunchPart& row = *launch.add_parts();
    row.add_devices(0);
    row.add_participants(0);
    return launch;
  }
  std::shared_ptr<Part> Add(uint64_t sequence) {
    auto part = std::make_shared<Part>(sequence);
    parts.Add(part);
    return part;
  }
  void Offer(const std::shared_ptr<Part>& part, char digest) {
    Digest program;
    program.fill(static_cast<Digest::value_type>(digest));
    parts.Offer(part, program);
  }
  void Prepare(const v1::PrepareLaunch& launch) {
    parts.Prepare(launch, 1);
    parts.RunJobs();
  }

  device::SideMemory memory{1 << 20};
  Machine machine;
  LaunchParts parts{machine, {}, memory.ShareOf("daemons")};
};

TEST_F(Parts, OnlyWhatIsOfferedIsPrepared) {
  const std::shared_ptr<Part> part = Add(1);
  Prepare(Launch(1, 1, 'p'));
  EXPECT_EQ(part->prepared, 0) << "its program may still be compiled";
  Offer(part, 'p');
  Prepare(Launch(1, 1, 'q'));
  EXPECT_EQ(part->prepared, 0) << "another program";
  v1::PrepareLaunch other = Launch(1, 1, 'p');
  other.mutable_parts(0)->set_devices(0, 1);
  Prepare(other);
  EXPECT_EQ(part->prepared, 0) << "another device";
  other = Launch(1, 1, 'p');
  other.mutable_launch()->set_leader(3);
  Prepare(other);
  EXPECT_EQ(part->prepared, 0) << "another leader";
  Prepare(Launch(1, 1, 'p'));
  EXPECT_EQ(part->prepared, 1);
  Prepare(Launch(2, 1, 'p'));
  EXPECT_EQ(part->prepared, 1) << "another launch while this one is prepared";
  parts.Release(Id(1), absl::OkStatus());
  Prepare(Launch(1, 1, 'p'));
  EXPECT_EQ(part->prepared, 2) << "an earlier launch was first";
  EXPECT_EQ(part->released, 1);
  EXPECT_EQ(part->refused, 0);
}

TEST_F(Parts, TheEndOfAnotherLaunchRefusesNothing) {
  const std::shared_ptr<Part> part = Add(1);
  parts.OnOfferRefused(7, 1, Id(1), absl::CancelledError("It was cancelled."));
  parts.RunJobs();
  EXPECT_EQ(part->refused, 0) << "it is not offered yet";
  Offer(part, 'p');
  Prepare(Launch(2, 1, 'p'));
  parts.OnOfferRefused(7, 1, Id(1), absl::CancelledError("It was cancelled."));
  parts.RunJobs();
  EXPECT_EQ(part->refused, 0);
  parts.OnOfferRefused(7, 1, Id(2), absl::CancelledError("It was cancelled."));
  parts.RunJobs();
  EXPECT_EQ(part->refused, 1);
}

// Stop comes while a job runs and others wait.
TEST_F(Parts, NothingIsPreparedAfterStop) {
  const std::shared_ptr<Part> first = Add(1), second = Add(2);
  Offer(first, 'p');
  Offer(second, 'p');
  std::thread stopping;
  first->on_prepare = [&] {
    stopping = std::thread([this] { parts.Stop(); });
    // Once Stop has begun, parts are refused.
    for (uint64_t sequence = 3; Add(sequence)->refused == 0; ++sequence) std::this_thread::yield();
  };
  parts.Prepare(Launch(1, 1, 'p'), 1);
  parts.Prepare(Launch(2, 2, 'p'), 2);
  parts.RunJobs();
  stopping.join();
  EXPECT_EQ(first->prepared, 1);
  EXPECT_EQ(second->prepared, 0);
  EXPECT_EQ(first->refused, 1);
  EXPECT_EQ(second->refused, 1);
}

// A thread that serves links does a few of many jobs, and no further one after one that takes long.
TEST_F(Parts, AThreadThatComesWithMuchToDoGoesOnSoon) {
  std::vector<std::shared_ptr<Part>> all;
  std::atomic<int> here = 0, done = 0;
  const std::thread::id self = std::this_thread::get_id();
  for (uint64_t sequence = 1; sequence <= 200; ++sequence) {
    all.push_back(Add(sequence));
    Offer(all.back(), 'p');
    all.back()->on_prepare = [&] {
      if (std::this_thread::get_id() == self) ++here;
      ++done;
    };
  }
  for (uint64_t sequence = 1; sequence <= 200; ++sequence) parts.Prepare(Launch(sequence, sequence, 'p'), 1);
  parts.RunJobs();
  EXPECT_LE(here, LaunchParts::kJobsMax);
  while (done < 200) std::this_thread::yield();
  const std::shared_ptr<Part> slow = Add(201), next = Add(202);
  Offer(slow, 'p');
  Offer(next, 'p');
  here = 0;
  slow->on_prepare = [&] {
    if (std::this_thread::get_id() == self) here = 1;
    const auto end = std::chrono::steady_clock::now() + 2 * LaunchParts::kJobsTime;
    while (std::chrono::steady_clock::now() < end) {
    }
    ++done;
  };
  next->on_prepare = [&] {
    EXPECT_TRUE(here == 0 || std::this_thread::get_id() != self);
    ++done;
  };
  parts.Prepare(Launch(201, 201, 'p'), 1);
  parts.Prepare(Launch(202, 202, 'p'), 1);
  parts.RunJobs();
  while (done < 202) std::this_thread::yield();
}

// A job without memory is tried again, by another thread, and those after it wait for it.
TEST_F(Parts, WhatFindsNoMemoryIsDoneLaterAndInOrder) {
  const std::shared_ptr<Part> first = Add(1), second = Add(2);
  Offer(first, 'p');
  Offer(second, 'p');
  Prepare(Launch(1, 1, 'p'));
  first->failures = 3;
  std::atomic<bool> done = false;
  second->on_prepare = [&] {
    EXPECT_EQ(first->released, 4);
    done = true;
  };
  parts.Release(Id(1), absl::OkStatus());
  parts.Prepare(Launch(2, 2, 'p'), 1);
  std::thread([this] { parts.RunJobs(); }).join();
  while (!done) std::this_thread::yield();
}

TEST_F(Parts, WhatNeverFindsMemoryDoesNotKeepTheDaemonFromEnding) {
  const std::shared_ptr<Part> part = Add(1);
  Offer(part, 'p');
  Prepare(Launch(1, 1, 'p'));
  part->failures = 1 << 30;
  parts.Release(Id(1), absl::OkStatus());
  std::thread([this] { parts.RunJobs(); }).join();
  EXPECT_GE(part->released, 1);
  parts.Stop();
  EXPECT_EQ(part->refused, 1);
}

TEST_F(Parts, RanksOfNoMembersAreRefused) {
  EXPECT_TRUE(parts.FindRank({{0, 0, 0}}).ok());
  EXPECT_EQ(parts.FindRank({{0, 5, 7}}).status().message(), "Cluster \"ci\" has no member with rank 5 now.");
}

TEST_F(Parts, NewsComeInBoundedNumbersAndEachOnce) {
  for (uint64_t sequence = 1; sequence <= 100; ++sequence) Add(sequence);
  EXPECT_EQ(parts.TakeNews(1).size(), 0u);
  size_t all = 0;
  for (int64_t tick = 0; tick < 5; ++tick) {
    const size_t now = parts.TakeNews(3'000'000 + tick).size();
    EXPECT_LE(now, 64u);
    all += now;
  }
  EXPECT_EQ(all, 100u);
}

}  // namespace
}  // namespace hlod::grpc_server
