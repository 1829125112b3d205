// Programs and bytes to the daemon and back, over every transport.
#include <signal.h>
#include <stdlib.h>

#include <thread>

#include "absl/time/clock.h"
#include "tests/integration/support/harness.h"

namespace hlod {
namespace {

// A way for a client to reach its daemon.
struct Way {
  std::string name;
  bool tcp, shared_memory;
};

class RoundTrip : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    daemon_ = std::make_unique<testing::Daemon>(Must(testing::Daemon::Start({.tcp = GetParam().tcp})));
    ConnectOptions options;
    options.shared_memory = GetParam().shared_memory;
    client_ = std::make_unique<Client>(
        Must(GetParam().tcp ? daemon_->ConnectTcp(options) : daemon_->Connect(options)));
  }
  std::unique_ptr<testing::Daemon> daemon_;
  std::unique_ptr<Client> client_;
};

TEST_P(RoundTrip, AddsTwoVectors) {
  const Device device = client_->device(0);
  const Executable add = Must(client_->CompileText(AddProgram(4)));
  const Buffer x = Must(device.Upload(Literal::Vector<float>({1, 2, 3, 4})));
  const Buffer y = Must(device.Upload(Literal::Vector<float>({10, 20, 30, 40})));
  const std::vector<Buffer> sum = Must(add.Execute({x, y}));
  ASSERT_EQ(sum.size(), 1u);
  EXPECT_EQ(Must(sum[0].ToLiteral()), Literal::Vector<float>({11, 22, 33, 44}));
}

// A token orders programs: it is a result of one and an argument of the next, and has no bytes.
TEST_P(RoundTrip, TokensPassFromProgramToProgram) {
  const Executable start =
      Must(client_->CompileText("ENTRY e {\n t = token[] after-all()\n x = f32[] constant(2)\n"
                                " ROOT r = (token[], f32[]) tuple(t, x)\n}\n"));
  const Executable next =
      Must(client_->CompileText("ENTRY e {\n t = token[] parameter(0)\n x = f32[] parameter(1)\n"
                                " u = token[] after-all(t)\n y = f32[] add-dependency(x, u)\n"
                                " ROOT r = (f32[], token[]) tuple(y, u)\n}\n"));
  const std::vector<Buffer> first = Must(start.Execute({}));
  ASSERT_EQ(first.size(), 2u);
  EXPECT_TRUE(first[0].shape().IsToken());
  const std::vector<Buffer> second = Must(next.Execute({first[0], first[1]}));
  EXPECT_EQ(Must(second[0].ToLiteral()), Literal::Scalar<float>(2));
  EXPECT_EQ(Must(second[1].ToLiteral()), Literal(Shape::Token()));
  const Buffer made = Must(client_->device(0).Upload(Literal(Shape::Token())));
  EXPECT_EQ(Must(Must(next.Execute({made, first[1]}))[0].ToLiteral()), Literal::Scalar<float>(2));
  // An array in the place of a token is the program's mistake.
  EXPECT_EQ(next.Execute({first[1], first[1]}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(RoundTrip, BytesOfEverySizeComeBackAsTheyWere) {
  for (const int64_t n : {0, 1, 16384, 16385, 700'001, 5'000'000, 20'000'000}) {
    const Literal value = Counting(n);
    testing::TransferWatch watch(*client_);
    const Buffer buffer = Must(client_->device(0).Upload(value));
    EXPECT_TRUE(Must(buffer.ToLiteral()) == value) << n;
    EXPECT_EQ(watch.Check({.host_to_device = {n * 4, 1}, .device_to_host = {n * 4, 1}}), "") << n;
    EXPECT_OK(buffer.Delete());
  }
}

TEST_P(RoundTrip, StagedUploadsArriveAndAsynchronousReadsAnswerInAnyOrder) {
  const Device device = client_->device(0);
  const int64_t n = 600'000;
  StagedUpload staged = Must(device.Stage(Shape::Array(hlo::kF32, {n})));
  const Literal value = Counting(n);
  std::copy(value.data<float>().begin(), value.data<float>().end(), staged.data<float>().begin());
  const Buffer large = Must(staged.Commit());
  EXPECT_FALSE(staged.Commit().ok()) << "once only";
  const Buffer small = Must(device.Upload(Literal::Scalar<float>(7)));
  const Future<Literal> first = large.ToLiteralAsync();
  const Future<Literal> second = small.ToLiteralAsync();
  EXPECT_EQ(Must(second.Await()), Literal::Scalar<float>(7));
  EXPECT_TRUE(Must(first.Await()) == value);
}

TEST_P(RoundTrip, TheValueOfAFutureIsTakenOnce) {
  // Sizes for three transfers: inline, one piece, sixteen pieces.
  for (const int64_t elements : {1, 20'000, 4'000'000}) {
    const Buffer buffer = Must(client_->device(0).Upload(Counting(elements)));
    const Future<Literal> value = buffer.ToLiteralAsync(), copy = value;
    EXPECT_EQ(Must(value.Await()), Counting(elements));
    for (const Future<Literal>& again : {value, copy}) {
      EXPECT_TRUE(again.Ready());
      const absl::Status taken = again.Await().status();
      EXPECT_EQ(taken.code(), absl::StatusCode::kFailedPrecondition) << taken;
      EXPECT_EQ(taken.message(), "The value of this future was taken already.");
    }
    EXPECT_OK(buffer.ready().Await());
  }
}

TEST_P(RoundTrip, AChainOfExecutesNeedsNoAnswerInBetween) {
  const Executable increment = Must(client_->CompileText(IncrementProgram(8)));
  Buffer x = Must(client_->device(0).Upload(Literal(Shape::Array(hlo::kF32, {8}))));
  for (int i = 0; i < 300; ++i) x = Must(increment.Execute({x}, {.donate = {0}}))[0];
  EXPECT_EQ(Must(x.ToLiteral()).data<float>()[7], 300.0f);
}

TEST_P(RoundTrip, LiteralsRideInTheCommandAndAreNoUploads) {
  const Executable add = Must(client_->CompileText(AddProgram(2)));
  testing::TransferWatch watch(*client_);
  const std::vector<Buffer> sum =
      Must(add.Execute({Literal::Vector<float>({1, 2}), Literal::Vector<float>({3, 4})}));
  EXPECT_EQ(Must(sum[0].ToLiteral()), Literal::Vector<float>({4, 6}));
  EXPECT_EQ(watch.Check({.device_to_host = {8, 1}}), "");
  EXPECT_EQ(Must(client_->Stats()).inline_argument_bytes, 16);
}

TEST_P(RoundTrip, AProgramOfManyChunksCompilesAndIsShippedOnce) {
  Module module("large");
  hlo::Builder b(module, "main");
  const hlo::Op x = b.Parameter(0, Shape::Array(hlo::kF32, {1'500'000}), "x");
  ASSERT_OK(b.Build(x + b.Constant(Counting(1'500'000))));
  const Executable first = Must(client_->Compile(module));
  ASSERT_OK(first.ready().Await());
  const int64_t shipped = Must(client_->Stats()).program_bytes;
  EXPECT_GT(shipped, 6'000'000);
  const Executable second = Must(client_->Compile(module));
  const Buffer argument = Must(client_->device(0).Upload(Counting(1'500'000)));
  const Literal sum = Must(Must(second.Execute({argument}))[0].ToLiteral());
  EXPECT_EQ(sum.data<float>()[1001], 2002.0f);
  EXPECT_EQ(Must(client_->Stats()).program_bytes, shipped) << "the second time only its digest travels";
}

INSTANTIATE_TEST_SUITE_P(All, RoundTrip,
                         ::testing::Values(Way{"UnixArena", false, true}, Way{"UnixStream", false, false},
                                           Way{"TcpArena", true, true}, Way{"TcpStream", true, false}),
                         [](const auto& info) { return info.param.name; });

class Session : public DaemonTest {};

TEST_F(Session, ItemReadsOneElementAndIsCountedAsAScalarRead) {
  const Buffer x = Must(client_->device(0).Upload(Literal::Scalar<float>(2.5f)));
  EXPECT_EQ(Must(x.Item<float>()), 2.5f);
  EXPECT_FALSE(x.Item<int32_t>().ok());
  bool found = false;
  for (const LedgerRow& row : Must(client_->Stats()).rows)
    found |= row.cause == Cause::kScalarRead && row.amount == Amount{4, 1};
  EXPECT_TRUE(found);
}

TEST_F(Session, LedgerRowsNameTheLineAndTheStep) {
  ASSERT_OK(client_->StepMark(5));
  const Buffer x = Must(client_->device(0).Upload(Literal::Scalar<float>(1)));
  const int line = __LINE__ - 1;
  const SessionStats stats = Must(client_->Stats());
  ASSERT_EQ(stats.rows.size(), 1u);
  EXPECT_EQ(stats.rows[0].step, 5u);
  EXPECT_EQ(stats.rows[0].origin.line, line);
  EXPECT_TRUE(stats.rows[0].origin.file.ends_with("round_trip_test.cc"));
}

TEST_F(Session, ThreadsShareOneClient) {
  const Executable add = Must(client_->CompileText(AddProgram(4)));
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const float v = static_cast<float>(t * 100 + i);
        const Buffer x = Must(client_->device(0).Upload(Literal::Vector<float>({v, v, v, v})));
        const std::vector<Buffer> sum = Must(add.Execute({x, x}));
        right += Must(sum[0].ToLiteral()).data<float>()[2] == 2 * v;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 200);
}

TEST_F(Session, DescribeTellsWhatTheProgramNeeds) {
  const Executable add = Must(client_->CompileText(AddProgram(1024)));
  const CompileResult result = Must(add.Describe());
  EXPECT_EQ(result.argument_bytes, 8192);
  EXPECT_EQ(result.output_bytes, 4096);
  EXPECT_EQ(result.reference_steps, 0);
  EXPECT_EQ(result.digest.size(), 64u);
}

TEST_F(Session, DroppedBuffersAndClosedSessionsGiveTheirMemoryBack) {
  {
    const Buffer a = Must(client_->device(0).Upload(Counting(100'000)));
    ASSERT_OK(a.ready().Await());
    EXPECT_EQ(daemon_->UsedBytes(), 400'000);
  }
  EXPECT_TRUE(daemon_->WaitForUsedBytes(0, kPatience)) << daemon_->UsedBytes();
  const Buffer b = Must(client_->device(0).Upload(Counting(1000)));
  EXPECT_OK(client_->Close());
  EXPECT_TRUE(daemon_->WaitForUsedBytes(0, kPatience)) << daemon_->UsedBytes();
  EXPECT_FALSE(b.ToLiteral().ok());
}

TEST_F(Session, TheLastOwnersEndFreesEverythingWithoutGoodbyeFromTheProgram) {
  Buffer kept;
  {
    const Client other = Must(daemon_->Connect());
    kept = Must(other.device(0).Upload(Counting(1000)));
  }
  EXPECT_EQ(Must(kept.ToLiteral()).data<float>()[999], 999.0f) << "a buffer keeps its session";
  kept = Buffer();
  EXPECT_TRUE(daemon_->WaitForUsedBytes(0, kPatience)) << daemon_->UsedBytes();
}

TEST(PrivateDaemon, StartsForOneClientAndEndsWithIt) {
  // A folder without a daemon.
  char folder[] = "/tmp/hlod-no-daemon-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  setenv("XDG_RUNTIME_DIR", folder, 1);
  unsetenv("HLOD_ADDRESS");
  int pid = 0;
  {
    const Client client = Must(Client::Connect());
    const size_t at = client.daemon().find("pid ");
    ASSERT_NE(at, std::string::npos) << client.daemon();
    pid = std::stoi(client.daemon().substr(at + 4));
    EXPECT_EQ(kill(pid, 0), 0);
    const Buffer x = Must(client.device(0).Upload(Counting(300'000)));
    EXPECT_EQ(Must(x.ToLiteral()).data<float>()[5], 5.0f);
  }
  const absl::Time deadline = absl::Now() + absl::Seconds(5);
  while (kill(pid, 0) == 0 && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(5));  // tidy: a poll.
  EXPECT_NE(kill(pid, 0), 0) << "the private daemon still runs";
  rmdir(folder);
}

}  // namespace
}  // namespace hlod
