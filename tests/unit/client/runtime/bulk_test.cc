// Bulk streams on which nothing moves: they are given up when their connection is gone, and repeated.
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/transfer/transfer.h"
#include "tests/unit/client/runtime/fake_daemon.h"

namespace hlod::runtime {
namespace {

// A bulk channel whose attempts are functions of a test.
class FakeBulk : public BulkChannel {
 public:
  using Attempt = std::function<absl::Status(int number, BulkWatch watch)>;
  explicit FakeBulk(Attempt attempt) : attempt_(std::move(attempt)) {}
  absl::Status Upload(const v1::TransferId&, absl::Span<const std::byte>, int64_t, absl::Time,
                      BulkWatch watch) override {
    return attempt_(++attempts, watch);
  }
  absl::Status Download(const v1::TransferId&, absl::Span<std::byte>, absl::Time, BulkWatch watch) override {
    return attempt_(++attempts, watch);
  }
  int attempts = 0;

 private:
  const Attempt attempt_;
};

absl::Status StandStill(BulkWatch watch) {
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  while (watch(absl::Seconds(3)) && absl::Now() < deadline)
    absl::SleepFor(absl::Milliseconds(1));  // tidy: a watch is asked now and then.
  return absl::UnavailableError("given up");
}

class Bulk : public ::testing::Test {
 protected:
  // The daemon never settles the upload, so that the stream alone says that it is done.
  Bulk() {
    daemon_->may_stall = true;
    daemon_->on_command = [](const v1::Command& command, FakePipe& pipe) {
      if (!command.has_upload()) Answer(command, pipe);
    };
  }
  ~Bulk() override { daemon_->End(); }
  static void Answer(const v1::Command& command, FakePipe& pipe) {
    if (command.has_goodbye()) return FakeDaemon::Settle(command, pipe);
    v1::ServerMessage answer;
    answer.add_replies()->set_command(command.id());
    answer.mutable_replies(0)->mutable_pong();
    pipe.Answer(std::move(answer));
  }
  absl::Status Upload(FakeBulk::Attempt attempt) {
    bulk_ = std::make_shared<FakeBulk>(std::move(attempt));
    daemon_->bulk = bulk_;
    session_ = Session::Open(std::make_unique<FakeConnector>(daemon_), {.name = "test"}).value();
    UploadRequest request;
    return StreamTransfer().Upload(*session_, request, std::vector<std::byte>(8), {}).status();
  }

  const std::shared_ptr<FakeDaemon> daemon_ = std::make_shared<FakeDaemon>();
  std::shared_ptr<FakeBulk> bulk_;
  std::shared_ptr<Session> session_;
};

// gRPC carries the stream over a connection of its own, where the daemon waits for the declaration of the
// upload. That was lost with the session's connection, which nobody polls.
TEST_F(Bulk, AStreamWhoseSessionHasLostItsConnectionIsRepeatedOnTheNext) {
  EXPECT_TRUE(Upload([this](int number, BulkWatch watch) {
                if (number > 1) return absl::OkStatus();
                daemon_->pipe->End(absl::UnavailableError("reset"));
                return StandStill(watch);
              }).ok());
  EXPECT_EQ(bulk_->attempts, 2);
  EXPECT_EQ(daemon_->connections, 2);
}

// A NAT that has forgotten the connection told the daemon, and tells the client only when it sends something.
TEST_F(Bulk, AStreamThatStandsStillAsksTheDaemonSoThatAResetComes) {
  daemon_->on_command = [this](const v1::Command& command, FakePipe& pipe) {
    if (command.has_upload()) return;
    if (daemon_->connections == 1) return pipe.End(absl::UnavailableError("reset"));
    Answer(command, pipe);
  };
  EXPECT_TRUE(Upload([](int number, BulkWatch watch) {
                return number > 1 ? absl::OkStatus() : StandStill(watch);
              }).ok());
  EXPECT_EQ(bulk_->attempts, 2);
  EXPECT_EQ(daemon_->connections, 2);
}

TEST_F(Bulk, AStreamThatStandsStillBeforeABusyDaemonIsWaitedFor) {
  EXPECT_TRUE(Upload([](int, BulkWatch watch) {
                for (int i = 0; i < 100; ++i) {
                  if (!watch(absl::Seconds(i))) return absl::InternalError("given up");
                }
                return absl::OkStatus();
              }).ok());
  EXPECT_EQ(bulk_->attempts, 1);
  EXPECT_EQ(daemon_->connections, 1);
  EXPECT_GT(daemon_->messages.size(), 10u) << "The daemon is asked again and again.";
}

TEST_F(Bulk, AStreamIsRepeatedForAsLongAsConnectionsBreakAndTheSessionResumes) {
  EXPECT_TRUE(Upload([this](int number, BulkWatch) {
                if (number > 12) return absl::OkStatus();
                daemon_->pipe->End(absl::UnavailableError("reset"));
                return absl::UnavailableError("reset");
              }).ok());
  EXPECT_EQ(bulk_->attempts, 13);
}

// The daemon has every byte, and its answer was lost.
TEST_F(Bulk, AnUploadThatIsDoneIsNotRepeated) {
  daemon_->on_command = FakeDaemon::Settle;
  EXPECT_TRUE(Upload([](int, BulkWatch) { return absl::UnavailableError("reset"); }).ok());
  EXPECT_EQ(bulk_->attempts, 1);
}

// The stream has waited in vain for the declaration.
TEST_F(Bulk, AnUploadThatTheDaemonDoesNotKnowYetIsRepeated) {
  EXPECT_TRUE(Upload([](int number, BulkWatch) {
                return number > 1 ? absl::OkStatus() : MakeError(ErrorKind::kPending, "not declared");
              }).ok());
  EXPECT_EQ(bulk_->attempts, 2);
}

// gRPC has carried the stream to a daemon that was restarted, before the session has noticed it.
TEST_F(Bulk, AStreamToADaemonThatWasRestartedIsALostSession) {
  bulk_ = std::make_shared<FakeBulk>([this](int, BulkWatch) {
    daemon_->epoch = 8;
    daemon_->pipe->End(absl::UnavailableError("reset"));
    return MakeError(ErrorKind::kAuth, "There is no session with this id and secret.");
  });
  daemon_->bulk = bulk_;
  daemon_->on_command = [](const v1::Command& command, FakePipe& pipe) {
    if (!command.has_download()) return Answer(command, pipe);
    v1::ServerMessage answer;
    answer.add_replies()->set_command(command.id());
    answer.mutable_replies(0)->mutable_download()->set_stream(true);
    pipe.Answer(std::move(answer));
  };
  session_ = Session::Open(std::make_unique<FakeConnector>(daemon_), {.name = "test"}).value();
  std::vector<std::byte> out(8);
  const absl::Status status = DownloadOnStream(session_, 1, Cause::kDownload, absl::MakeSpan(out), 0, {})
                                  ->Await(absl::InfiniteFuture());
  EXPECT_EQ(KindOf(status), ErrorKind::kLostSession) << status;
}

// The fake daemon does not settle the upload, as one that has refused the stream before it knew whose it was.
TEST_F(Bulk, ARefusalIsReportedAtOnceWhereTheUploadGoesOnWaiting) {
  const absl::Status status = Upload([](int, BulkWatch) { return MakeError(ErrorKind::kLimit, "refused"); });
  EXPECT_EQ(KindOf(status), ErrorKind::kLimit) << status;
  EXPECT_EQ(bulk_->attempts, 1);
}

TEST_F(Bulk, ARefusalWhoseUploadHasFailedIsReportedByTheBuffer) {
  daemon_->on_command = FakeDaemon::Settle;
  EXPECT_TRUE(Upload([](int, BulkWatch) { return MakeError(ErrorKind::kLimit, "refused"); }).ok());
  EXPECT_EQ(bulk_->attempts, 1);
}

}  // namespace
}  // namespace hlod::runtime
