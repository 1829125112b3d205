// The frames of the worker's pipe.
#include "client/partition/frame.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "absl/time/clock.h"

namespace hlod::partition {
namespace {

class Frames : public testing::Test {
 protected:
  Frames() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0); }
  ~Frames() override {
    for (const int end : ends_) close(end);
  }
  static absl::Time Soon() { return absl::Now() + absl::Seconds(60); }
  void Send(std::string_view bytes) {
    ASSERT_EQ(write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

  int ends_[2] = {-1, -1};
};

TEST_F(Frames, AreReadAsTheyWereWritten) {
  // More than a socket holds, so that both sides move parts.
  const Frame sent{.header = {{"devices", 8}}, .body = std::string(size_t{5} << 20, '\x80')};
  std::thread writer([&] { EXPECT_TRUE(WriteFrame(ends_[1], sent, Soon()).ok()); });
  const absl::StatusOr<Frame> read = ReadFrame(ends_[0], Soon());
  writer.join();
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->header, sent.header);
  EXPECT_EQ(read->body, sent.body);
}

TEST_F(Frames, HaveTheWorkersLayout) {
  Send(std::string("\x0b\0\0\0\2\0\0\0\0\0\0\0{\"ready\":1}ab", 25));
  const absl::StatusOr<Frame> read = ReadFrame(ends_[0], Soon());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->header.value("ready", 0), 1);
  EXPECT_EQ(read->body, "ab");
}

TEST_F(Frames, CarryNamesInAnyEncoding) {
  ASSERT_TRUE(WriteFrame(ends_[1], {.header = {{"axis", "a\xff"}}, .body = ""}, Soon()).ok());
  const absl::StatusOr<Frame> read = ReadFrame(ends_[0], Soon());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->header.value("axis", ""), "a\xef\xbf\xbd");
}

TEST_F(Frames, OfAnEndedProcessAreAnError) {
  Send("\x0b");
  close(ends_[1]);
  ends_[1] = -1;
  EXPECT_TRUE(absl::IsAborted(ReadFrame(ends_[0], Soon()).status()));
  EXPECT_TRUE(absl::IsAborted(WriteFrame(ends_[0], {.header = {{"a", 1}}, .body = {}}, Soon())));
}

TEST_F(Frames, ThatDoNotComeEndAtTheDeadline) {
  EXPECT_TRUE(absl::IsDeadlineExceeded(ReadFrame(ends_[0], absl::Now()).status()));
}

TEST_F(Frames, BeyondTheLimitsAllocateNothing) {
  Send(std::string("\xff\xff\xff\xff\0\0\0\0\0\0\0\0", 12));
  EXPECT_TRUE(absl::IsDataLoss(ReadFrame(ends_[0], Soon()).status()));
  Send(std::string("\2\0\0\0\0\0\0\0\0\0\1\0", 12));
  EXPECT_TRUE(absl::IsDataLoss(ReadFrame(ends_[0], Soon()).status()));
  Send(std::string("\2\0\0\0\0\0\0\0\0\0\0\0[]", 14));
  EXPECT_TRUE(absl::IsDataLoss(ReadFrame(ends_[0], Soon()).status()));
}

}  // namespace
}  // namespace hlod::partition
