// Shared by the integration tests: programs, one daemon per test, and a client that speaks the wire without
// the library.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "common/base/errors/status.h"
#include "common/hlo/proto/codec.h"
#include "hlod/hlod.h"
#include "hlod/testing.h"
#include "proto/hlod/v1/bulk.grpc.pb.h"
#include "proto/hlod/v1/session.grpc.pb.h"
#include "tests/integration/support/forever.h"

namespace hlod {

inline ::testing::AssertionResult IsOk(const char* expression, const absl::Status& status) {
  if (status.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << expression << " is " << status;
}
#define ASSERT_OK(expr) ASSERT_PRED_FORMAT1(::hlod::IsOk, expr)
#define EXPECT_OK(expr) EXPECT_PRED_FORMAT1(::hlod::IsOk, expr)

// The time that a test waits, on a busy machine, for events that take moments.
inline constexpr absl::Duration kPatience = absl::Seconds(30);

// Returns the value; ends the test with the error when there is none.
template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) {
    ADD_FAILURE() << value.status();
    std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
    std::abort();
  }
  return *std::move(value);
}

// Sets an environment variable for one test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (before_.has_value()) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

// f32[n] x, y -> x + y
std::string AddProgram(int64_t n);
// f32[n] x -> x + 1; reuses the argument's memory when it is donated.
std::string IncrementProgram(int64_t n);
// f32[4] p, q -> (p + 1, q + 1): each result depends on one parameter.
inline constexpr std::string_view kTwoResults = R"(HloModule two

ENTRY main {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  one = f32[] constant(1)
  ones = f32[4] broadcast(one), dimensions={}
  a = f32[4] add(p, ones)
  b = f32[4] add(q, ones)
  ROOT r = (f32[4], f32[4]) tuple(a, b)
}
)";

// Returns 0, 1, 2, ...
Literal Counting(int64_t n);

// A test with one daemon and one client of its own.
class DaemonTest : public ::testing::Test {
 protected:
  void SetUp() override { StartDaemon({}); }
  void StartDaemon(testing::DaemonOptions options);

  std::unique_ptr<testing::Daemon> daemon_;
  std::unique_ptr<Client> client_;
};

// Speaks hlod.v1 directly, to send what a hostile or careless client might send.
class RawSession {
 public:
  // Connects and sends Hello, which the test may change.
  explicit RawSession(const std::string& address, const v1::Hello& hello = GoodHello());
  ~RawSession();
  static v1::Hello GoodHello();

  bool open() const { return open_; }
  const v1::Welcome& welcome() const { return welcome_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // Sends a command under the next id, or under `id`. Returns the id.
  uint64_t Send(v1::Command command, uint64_t id = 0);
  // Sends a message as it is. Returns false when the stream has ended.
  bool SendMessage(const v1::ClientMessage& message) { return stream_->Write(message); }
  // Reads until the command is answered or settled without an answer; nullopt when the stream ended.
  std::optional<v1::Reply> Await(uint64_t command);
  // Sends and awaits. Returns the reply's error as a status, or the stream's when it ended.
  absl::Status Call(v1::Command command, v1::Reply* reply = nullptr);
  // Ends the stream from this side and returns the daemon's status.
  absl::Status Finish();
  v1::TransferId TransferOf(uint64_t command) const;
  uint64_t NewHandle() { return ++last_handle_; }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Session::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ClientMessage, v1::ServerMessage>> stream_;
  v1::Welcome welcome_;
  bool open_ = false;
  std::optional<absl::Status> finished_;
  uint64_t last_command_ = 0, last_handle_ = 0, settled_ = 0;
  std::vector<v1::Reply> replies_;
};

// Return an Upload of inline bytes, a Compile of a program and an Execute, ready to Send.
v1::Command UploadOf(uint64_t handle, const Literal& value);
v1::Command CompileOf(uint64_t handle, std::string_view text);
v1::Command ExecuteOf(uint64_t executable, const std::vector<uint64_t>& arguments,
                      const std::vector<uint64_t>& results);
v1::Command DownloadOf(uint64_t handle);
v1::Command FreeOf(uint64_t handle);
v1::Command PlaceholderOf(uint64_t handle, const Shape& shape);

}  // namespace hlod
