// Programs by their digest: sent once, and again when the daemon has forgotten them.
#include <gtest/gtest.h>

#include "client/runtime/session/session.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/error.h"
#include "tests/unit/client/runtime/fake_daemon.h"

namespace hlod::runtime {
namespace {

class CompileByDigest : public ::testing::Test {
 protected:
  ~CompileByDigest() override { daemon_->End(); }
  std::shared_ptr<Session> Open() {
    return Session::Open(std::make_unique<FakeConnector>(daemon_),
                         {.name = "test", .skip_local_checks = true})
        .value();
  }
  static Executable Compile(const std::shared_ptr<Session>& session, const std::string& program) {
    return CompileBytes(session, nullptr, program, /*describe=*/false, {}).value();
  }
  v1::Command Last() const { return daemon_->commands().back(); }
  v1::Compile LastCompile() const {
    v1::Compile last;
    for (const v1::Command& command : daemon_->commands()) {
      if (command.has_compile()) last = command.compile();
    }
    return last;
  }
  const std::shared_ptr<FakeDaemon> daemon_ = std::make_shared<FakeDaemon>();
};

TEST_F(CompileByDigest, AProgramOfALivingExecutableTravelsAsItsDigest) {
  const std::shared_ptr<Session> session = Open();
  const Executable first = Compile(session, "program");
  EXPECT_EQ(Last().compile().module(), "program");
  session->Drain();
  const Executable second = Compile(session, "program");
  EXPECT_EQ(Last().compile().digest().size(), 32u);
}

TEST_F(CompileByDigest, ADigestThatTheDaemonDoesNotKnowIsFollowedByTheBytes) {
  const std::shared_ptr<Session> session = Open();
  const Executable first = Compile(session, "program");
  session->Drain();
  daemon_->on_command = [](const v1::Command& command, FakePipe& pipe) {
    v1::ServerMessage message = FakeDaemon::Failure(command.id(), "No program with the digest is cached");
    message.mutable_replies(0)->mutable_error()->set_code(static_cast<int>(absl::StatusCode::kNotFound));
    message.mutable_replies(0)->mutable_error()->set_kind(static_cast<int>(ErrorKind::kNone));
    pipe.Answer(std::move(message));
  };
  const Executable second = Compile(session, "program");
  const uint64_t unknown = Last().compile().executable();
  daemon_->on_command = FakeDaemon::Settle;
  session->Drain();
  ASSERT_TRUE(second.Execute({}).ok());
  const v1::Compile again = LastCompile();
  EXPECT_EQ(again.module(), "program");
  EXPECT_NE(again.executable(), unknown);
  EXPECT_EQ(Last().execute().executable(), again.executable());
  ASSERT_TRUE(second.Execute({}).ok());
  EXPECT_EQ(LastCompile().executable(), again.executable()) << "sent once";
  EXPECT_EQ(Last().execute().executable(), again.executable());
}

TEST_F(CompileByDigest, AProgramThatManyCameAfterIsSentAgainBeforeTheDaemonForgetsIt) {
  const std::shared_ptr<Session> session = Open();
  const Executable first = Compile(session, "program");
  for (int i = 0; i < 33'000; ++i) Compile(session, std::to_string(i));
  session->Drain();
  daemon_->messages.clear();
  const Executable second = Compile(session, "program");
  EXPECT_EQ(Last().compile().module(), "program");
}

TEST(ProgramsSent, ThoseWhoseExecutablesAreGoneAreForgotten) {
  SentPrograms programs;
  Digest kept_digest = {}, digest = {};
  kept_digest[0] = 1;
  digest[0] = 2;
  const Command kept = std::make_shared<CommandState>();
  kept->done = true;
  programs.Remember(kept_digest, kept);
  for (int i = 0; i < 10'000; ++i) {
    digest[1] = static_cast<uint8_t>(i);
    digest[2] = static_cast<uint8_t>(i >> 8);
    programs.Remember(digest, std::make_shared<CommandState>());
    ASSERT_LE(programs.size(), 65u);
  }
  EXPECT_TRUE(programs.Knows(kept_digest));
  EXPECT_FALSE(programs.Knows(digest));
}

}  // namespace
}  // namespace hlod::runtime
