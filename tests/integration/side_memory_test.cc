// The daemon's memory beside that of the devices: one limit for all sessions, and its way back to the system.
#include "absl/time/clock.h"
#include "tests/integration/harness.h"

namespace hlod {
namespace {

class SideMemory : public DaemonTest {};

// Sends pieces of a program whose end never comes; the answer to the last one.
absl::Status SendPieces(RawSession& session, int pieces) {
  v1::Command compile, piece;
  compile.mutable_compile()->set_executable(session.NewHandle());
  compile.mutable_compile()->set_module_bytes(int64_t{200} << 20);
  session.Send(compile);
  piece.mutable_program_chunk()->set_data(std::string(1 << 20, 'x'));
  for (int i = 1; i < pieces; ++i) session.Send(piece);
  return session.Call(piece);
}

TEST_F(SideMemory, WhatASessionLeftBehindGoesBackToTheSystemWhenItHasEnded) {
  StartDaemon({.flags = {"--grace-us", "0"}});
  constexpr int64_t kMiB = 1 << 20;
  const DaemonStats before = Must(daemon_->Stats());
  {
    RawSession session(daemon_->address());
    ASSERT_OK(SendPieces(session, 150));
    const DaemonStats stats = Must(daemon_->Stats());
    EXPECT_GE(stats.side_memory_bytes, before.side_memory_bytes + 150 * kMiB);
    EXPECT_LE(stats.side_memory_bytes, stats.side_memory_bytes_max);
    EXPECT_GE(stats.resident_bytes, before.resident_bytes + 140 * kMiB);
  }
  DaemonStats after = Must(daemon_->Stats());
  const absl::Time end = absl::Now() + absl::Minutes(1);
  while ((after.resident_bytes > before.resident_bytes + 40 * kMiB ||
          after.side_memory_bytes > before.side_memory_bytes) &&
         absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(50));  // tidy: nobody tells a test that pages went back.
    after = Must(daemon_->Stats());
  }
  EXPECT_LE(after.side_memory_bytes, before.side_memory_bytes);
  EXPECT_LE(after.resident_bytes, before.resident_bytes + 40 * kMiB);
}

TEST_F(SideMemory, AllSessionsTogetherHaveOneLimit) {
  StartDaemon({.flags = {"--side-memory", "16MiB"}});
  EXPECT_EQ(Must(daemon_->Stats()).side_memory_bytes_max, 16 << 20);
  RawSession first(daemon_->address()), second(daemon_->address());
  ASSERT_OK(SendPieces(first, 6));
  ASSERT_OK(SendPieces(second, 8));  // Of the program, not of its pieces, is what is refused.
  // The program is answered when its last piece has come: that of the first session fits, the second's does
  // not.
  EXPECT_GE(Must(daemon_->Stats()).side_memory_bytes, 6 << 20);
  EXPECT_LE(Must(daemon_->Stats()).side_memory_bytes, 12 << 20);
  EXPECT_OK(client_->Ping().status());
}

}  // namespace
}  // namespace hlod
