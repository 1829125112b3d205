// Several clients on one daemon: none can name, read, free or take over another's objects.
#include "common/rpc/shared_memory.h"
#include "tests/integration/support/harness.h"

#include <sys/socket.h>

namespace hlod {
namespace {

class Isolation : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    secret_value_ =
        std::make_unique<Buffer>(Must(client_->device(0).Upload(Literal::Vector<float>({42, 43}))));
    ASSERT_OK(secret_value_->ready().Await());
  }
  void TearDown() override {
    EXPECT_EQ(Must(secret_value_->ToLiteral()), Literal::Vector<float>({42, 43}))
        << "the owner's buffer was touched";
    secret_value_.reset();
  }
  std::unique_ptr<Buffer> secret_value_;
};

// Acceptance row LT10.
TEST_F(Isolation, AnothersHandleIsUnknown) {
  RawSession thief(daemon_->address());
  ASSERT_TRUE(thief.open());
  const uint64_t handle = secret_value_->handle();
  EXPECT_EQ(KindOf(thief.Call(DownloadOf(handle))), ErrorKind::kUnknownHandle);
  EXPECT_EQ(KindOf(thief.Call(FreeOf(handle))), ErrorKind::kUnknownHandle);
  // The thief's executable with the other's buffer. The new handles are larger, so that the stolen handle is
  // not one of its own.
  const uint64_t executable = handle + 100;
  ASSERT_OK(thief.Call(CompileOf(executable, IncrementProgram(2))));
  EXPECT_EQ(KindOf(thief.Call(ExecuteOf(executable, {handle}, {handle + 101}))), ErrorKind::kUnknownHandle);
  EXPECT_OK(thief.Call(UploadOf(handle + 102, Literal::Scalar<float>(1)))) << "the session goes on";
}

TEST_F(Isolation, AForgedSecretOpensNeitherSessionNorBulkNorArena) {
  RawSession thief(daemon_->address());
  ASSERT_TRUE(thief.open());
  v1::Hello hello = RawSession::GoodHello();
  hello.mutable_resume()->set_epoch(client_->epoch());
  hello.mutable_resume()->set_session(client_->session_id());
  hello.mutable_resume()->set_secret(std::string(32, 'x'));
  EXPECT_FALSE(RawSession(daemon_->address(), hello).open());
  hello.mutable_resume()->set_secret(thief.welcome().secret());
  EXPECT_FALSE(RawSession(daemon_->address(), hello).open()) << "its own secret with another's session";
  hello.mutable_resume()->set_secret("");
  EXPECT_FALSE(RawSession(daemon_->address(), hello).open());

  const std::unique_ptr<v1::Bulk::Stub> bulk = v1::Bulk::NewStub(thief.channel());
  v1::TransferId transfer;
  transfer.set_session(client_->session_id());
  transfer.set_secret(thief.welcome().secret());
  transfer.set_command(1);
  {
    grpc::ClientContext context;
    v1::Chunk chunk;
    const std::unique_ptr<grpc::ClientReader<v1::Chunk>> reader = bulk->Download(&context, transfer);
    EXPECT_FALSE(reader->Read(&chunk));
    EXPECT_FALSE(reader->Finish().ok());
  }
  {
    grpc::ClientContext context;
    v1::UploadDone done;
    const std::unique_ptr<grpc::ClientWriter<v1::Chunk>> writer = bulk->Upload(&context, &done);
    v1::Chunk chunk;
    *chunk.mutable_transfer() = transfer;
    chunk.set_data("stolen");
    writer->Write(chunk);
    writer->WritesDone();
    EXPECT_FALSE(writer->Finish().ok());
  }

  ASSERT_FALSE(thief.welcome().arena().socket().empty());
  const rpc::Descriptor socket = Must(rpc::ConnectAbstract(thief.welcome().arena().socket()));
  const std::string forged(32, 'y');
  ASSERT_EQ(send(socket.get(), forged.data(), forged.size(), MSG_NOSIGNAL), 32);
  EXPECT_FALSE(rpc::ReceiveDescriptor(socket.get()).ok());
}

TEST_F(Isolation, SessionsSeeOnlyTheirOwnAccount) {
  const Client other = Must(daemon_->Connect());
  const SessionStats stats = Must(other.Stats());
  EXPECT_EQ(stats.host_to_device, Amount{});
  EXPECT_TRUE(stats.rows.empty());
  EXPECT_EQ(stats.live_bytes, 0);
}

TEST_F(Isolation, TheLibraryRefusesBuffersOfAnotherSession) {
  const Client other = Must(daemon_->Connect());
  const Executable increment = Must(other.CompileText(IncrementProgram(2)));
  EXPECT_EQ(KindOf(increment.Execute({*secret_value_}).status()), ErrorKind::kUnknownHandle);
  const Buffer own = Must(other.device(0).Upload(Literal::Vector<float>({1, 2})));
  const Buffer placeholder = Must(client_->device(0).Placeholder(own.shape()));
  EXPECT_EQ(KindOf(increment.Execute({own}, {.fill = {{0, placeholder}}}).status()),
            ErrorKind::kUnknownHandle);
  EXPECT_TRUE(placeholder.is_placeholder());
}

// A violation of the protocol ends the session that commits it, and no other.
class Violation : public Isolation {
 protected:
  void ExpectEnded(RawSession& session) {
    const absl::Status end = session.Finish();
    EXPECT_EQ(KindOf(end), ErrorKind::kViolation) << end;
  }
};

TEST_F(Violation, HandleZero) {
  RawSession session(daemon_->address());
  session.Send(PlaceholderOf(0, Shape::Scalar(hlo::kF32)));
  ExpectEnded(session);
}

TEST_F(Violation, AHandleThatIsNotLargerThanTheLast) {
  RawSession session(daemon_->address());
  session.Send(PlaceholderOf(5, Shape::Scalar(hlo::kF32)));
  session.Send(PlaceholderOf(5, Shape::Scalar(hlo::kF32)));
  ExpectEnded(session);
}

TEST_F(Violation, ACommandIdThatSkips) {
  RawSession session(daemon_->address());
  session.Send(PlaceholderOf(1, Shape::Scalar(hlo::kF32)), /*id=*/7);
  ExpectEnded(session);
}

TEST_F(Violation, ASecondHello) {
  RawSession session(daemon_->address());
  grpc::ClientContext context;
  const auto stream = v1::Session::NewStub(session.channel())->Connect(&context);
  v1::ClientMessage hello;
  *hello.mutable_hello() = RawSession::GoodHello();
  stream->Write(hello);
  stream->Write(hello);
  v1::ServerMessage message;
  while (stream->Read(&message)) {
  }
  EXPECT_FALSE(stream->Finish().ok());
}

TEST_F(Violation, AClientTooOldOrTooNewIsToldBothRanges) {
  v1::Hello hello = RawSession::GoodHello();
  hello.set_version_min(900);
  hello.set_version_max(901);
  RawSession session(daemon_->address(), hello);
  EXPECT_FALSE(session.open());
  const absl::Status end = session.Finish();
  EXPECT_EQ(KindOf(end), ErrorKind::kVersion) << end;
  EXPECT_NE(std::string(end.message()).find("900"), std::string::npos) << end;
}

}  // namespace
}  // namespace hlod
