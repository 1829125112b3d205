// A peer that has vanished is noticed; a peer that only sleeps is not taken for one.
#include "common/rpc/keepalive.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "absl/time/clock.h"
#include "common/rpc/shared_memory.h"
#include "tests/support/loopback.h"

namespace hlod::rpc {
namespace {

// The two ends of a TCP connection over the loopback interface.
struct Connection {
  Connection() {
    testing::LoopbackListener listener;
    near = listener.Connect();
    far = listener.Accept();
    fcntl(near.get(), F_SETFL, O_NONBLOCK);
  }
  // Makes the far end's kernel drop all incoming packets, as if its cable had been cut.
  void Cut() {
    sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
    sock_fprog program = {1, &drop};
    ASSERT_EQ(setsockopt(far.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), 0);
  }
  Descriptor near, far;
};

TEST(Keepalive, NoticesAPeerThatVanishedAndNotOneThatSleeps) {
  Connection idle, asleep, full, cut_idle, cut_sending;
  for (const Connection* c : {&idle, &asleep, &full, &cut_idle, &cut_sending})
    EnableKeepalive(c->near.get(), kSilenceMin);
  const std::string bytes(1 << 16, 'x');
  while (send(full.near.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) {
  }
  (void)!send(asleep.near.get(), "x", 1, MSG_NOSIGNAL);
  cut_idle.Cut();
  cut_sending.Cut();
  (void)!send(cut_sending.near.get(), "x", 1, MSG_NOSIGNAL);

  pollfd broken = {cut_idle.near.get(), POLLIN, 0};
  EXPECT_EQ(poll(&broken, 1, 60'000), 1) << "keepalive does not break the idle connection";
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(cut_idle.near.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  EXPECT_EQ(error, ETIMEDOUT);

  const absl::Time end = absl::Now() + absl::Seconds(60);
  while (!IsUnreachable(cut_sending.near.get(), kSilenceMin) && absl::Now() < end)
    absl::SleepFor(absl::Milliseconds(20));  // tidy: the kernel announces no lack of answers.
  EXPECT_TRUE(IsUnreachable(cut_sending.near.get(), kSilenceMin));

  for (const Connection* c : {&idle, &asleep, &full}) {
    EXPECT_FALSE(IsUnreachable(c->near.get(), kSilenceMin));
    pollfd open = {c->near.get(), POLLIN, 0};
    EXPECT_EQ(poll(&open, 1, 0), 0) << "a connection with a living peer broke";
  }
}

}  // namespace
}  // namespace hlod::rpc
