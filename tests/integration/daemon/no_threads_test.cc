// A daemon to which the system gives no thread: connections are closed, and it goes on and ends as usual.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "common/base/system/temporary_folder.h"
#include "tests/integration/support/harness.h"
#include "tests/integration/support/process.h"

namespace hlod {
namespace {

class NoThreads : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "A sanitizer's own library must be the first that is loaded.";
#endif
    const ScopedVariable preload("LD_PRELOAD", Beside("refused_threads.so"));
    ASSERT_TRUE(std::filesystem::exists(Beside("refused_threads.so")));
    const ScopedVariable file("HLOD_TEST_NO_THREADS", file_);
    daemon_.emplace(std::vector<std::string>{Beside("../bin/hlod"), "--listen", "unix:" + socket_,
                                             "--compile-cache", "none"});
    ASSERT_NE(daemon_->ReadLine().find("listening"), std::string::npos);
  }
  void Refuse() { std::ofstream(file_) << "no threads"; }
  void Allow() { std::filesystem::remove(file_); }
  // Connects, and waits until the daemon closes the connection.
  void ExpectClosed() {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{.sun_family = AF_UNIX};
    std::strncpy(address.sun_path, socket_.c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0) << std::strerror(errno);
    char byte;
    EXPECT_LE(read(fd, &byte, 1), 0) << "The daemon does not speak first.";
    close(fd);
  }
  void ExpectEnds() {
    daemon_->Send(SIGTERM);
    EXPECT_EQ(daemon_->WaitForExit(kPatience), 0);
  }

  const TemporaryFolder folder_ = Must(TemporaryFolder::Make("no-threads-test"));
  const std::string socket_ = folder_.path() + "/s", file_ = folder_.path() + "/none";
  std::optional<Process> daemon_;
};

TEST_F(NoThreads, SigtermEndsTheDaemonInOrder) {
  Refuse();
  ExpectEnds();
}

TEST_F(NoThreads, ForTheFirstConnectionTheDaemonEndsInOrder) {
  Refuse();
  ExpectClosed();
  ExpectClosed();
  ExpectEnds();
}

TEST_F(NoThreads, ForAMomentCostsThoseWhoConnectedThen) {
  Refuse();
  ExpectClosed();
  Allow();
  ConnectOptions options;
  options.address = "unix:" + socket_;
  options.timeout = kPatience;
  {
    const Client client = Must(Client::Connect(options));
    EXPECT_OK(Must(client.device(0).Upload(Literal(Shape::Array(hlo::kF32, {4})))).ToLiteral().status());
    Refuse();
    ExpectClosed();
    // The client that has a thread goes on.
    EXPECT_OK(Must(client.device(0).Upload(Literal(Shape::Array(hlo::kF32, {4})))).ToLiteral().status());
  }
  ExpectEnds();
}

}  // namespace
}  // namespace hlod
