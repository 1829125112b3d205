// The daemon's memory beside the devices' memory: one limit for all sessions, and its return to the system.
#include "absl/time/clock.h"
#include "tests/integration/support/harness.h"

namespace hlod {
namespace {

constexpr int64_t kMiB = 1 << 20;

class SideMemory : public DaemonTest {
 protected:
  // Returns the daemon's stats as soon as `holds` is true of them, or those after a minute.
  DaemonStats Await(const std::function<bool(const DaemonStats&)>& holds) {
    DaemonStats stats = Must(daemon_->Stats());
    for (const absl::Time end = absl::Now() + absl::Minutes(1); !holds(stats) && absl::Now() < end;) {
      absl::SleepFor(absl::Milliseconds(20));  // tidy: nobody tells a test that pages went back.
      stats = Must(daemon_->Stats());
    }
    return stats;
  }
};

// Sends the Compile of a program of `bytes`, and `pieces` pieces of 1 MiB of it. Returns the Compile's id.
uint64_t SendPieces(RawSession& session, int64_t bytes, int pieces) {
  v1::Command compile, piece;
  compile.mutable_compile()->set_executable(session.NewHandle());
  compile.mutable_compile()->set_module_bytes(static_cast<uint64_t>(bytes));
  const uint64_t command = session.Send(compile);
  piece.mutable_program_chunk()->set_data(std::string(kMiB, 'x'));
  for (int i = 0; i < pieces; ++i) session.Send(piece);
  return command;
}

// The memory of connections that requested the stats and have not ended yet.
constexpr int64_t kOfConnections = 20 * kMiB;

TEST_F(SideMemory, WhatASessionLeftBehindGoesBackToTheSystemWhenItHasEnded) {
  StartDaemon({.flags = {"--grace-us", "0"}});
  const DaemonStats before = Must(daemon_->Stats());
  {
    RawSession session(daemon_->address());
    SendPieces(session, 200 * kMiB, 150);  // The end of the program never comes.
    const int64_t held = before.side_memory_bytes + 150 * kMiB;
    const DaemonStats stats = Await([&](const DaemonStats& now) { return now.side_memory_bytes >= held; });
    EXPECT_GE(stats.side_memory_bytes, held);
    EXPECT_LE(stats.side_memory_bytes, stats.side_memory_bytes_max);
    EXPECT_GE(stats.resident_bytes, before.resident_bytes + 140 * kMiB);
  }
  const DaemonStats after = Await([&](const DaemonStats& now) {
    return now.resident_bytes <= before.resident_bytes + 40 * kMiB &&
           now.side_memory_bytes <= before.side_memory_bytes + kOfConnections;
  });
  EXPECT_LE(after.side_memory_bytes, before.side_memory_bytes + kOfConnections);
  EXPECT_LE(after.resident_bytes, before.resident_bytes + 40 * kMiB);
}

TEST_F(SideMemory, AllSessionsTogetherHaveOneLimit) {
  StartDaemon({.flags = {"--side-memory", "128MiB"}});
  EXPECT_EQ(Must(daemon_->Stats()).side_memory_bytes_max, 128 * kMiB);
  RawSession first(daemon_->address()), second(daemon_->address());
  SendPieces(first, 51 * kMiB, 50);
  Await([](const DaemonStats& now) { return now.side_memory_bytes >= 50 * kMiB; });
  // One user may use at most 96 of the 128 MiB.
  const std::optional<v1::Reply> refused = second.Await(SendPieces(second, 50 * kMiB, 50));
  ASSERT_TRUE(refused.has_value());
  EXPECT_NE(refused->error().text().find("side_memory is 134217728"), std::string::npos)
      << refused->error().text();
  EXPECT_LE(Must(daemon_->Stats()).side_memory_bytes, 96 * kMiB + kOfConnections);
  EXPECT_OK(client_->Ping().status());
}

}  // namespace
}  // namespace hlod
