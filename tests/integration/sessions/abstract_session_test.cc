// Abstract sessions: large arrays are placeholders, small ones are real, and a run is otherwise the same.
#include "hlod/runtime/abstract.h"

#include <algorithm>

#include "tests/integration/support/harness.h"

namespace hlod {
namespace {

constexpr int64_t kSmall = 16, kLarge = 1024;  // Elements of f32, around real_bytes_max of 1 KiB.

class AbstractSession : public ::testing::Test {
 protected:
  void SetUp() override { daemon_ = std::make_unique<testing::Daemon>(Must(testing::Daemon::Start())); }

  Client Connect(AbstractOptions abstract = {}) {
    abstract.real_bytes_max = 1024;
    ConnectOptions options;
    options.address = daemon_->address();
    return Must(ConnectAbstract(abstract, options));
  }
  static Buffer Upload(const Client& client, int64_t count) {
    return Must(client.device(0).Upload<float>(std::vector<float>(static_cast<size_t>(count), 2), {count}));
  }

  std::unique_ptr<testing::Daemon> daemon_;
};

TEST_F(AbstractSession, LargeUploadsAreNotSent) {
  const Client client = Connect();
  EXPECT_TRUE(IsAbstract(client));
  EXPECT_FALSE(IsAbstract(Must(daemon_->Connect())));
  testing::TransferWatch watch(client);
  const Buffer small = Upload(client, kSmall), large = Upload(client, kLarge);
  EXPECT_FALSE(small.is_placeholder());
  EXPECT_TRUE(large.is_placeholder());
  EXPECT_EQ(Must(small.ToLiteral()).data<float>()[3], 2);
  EXPECT_EQ(watch.Check({.host_to_device = {4 * kSmall, 1}, .device_to_host = {4 * kSmall, 1}}), "");
  const SessionStats stats = Must(client.Stats());
  EXPECT_EQ(stats.live_bytes, 4 * kSmall);
  EXPECT_EQ(stats.simulated_live_bytes, 4 * (kSmall + kLarge)) << "as if it had been sent";
}

TEST_F(AbstractSession, StagedUploadsAndFillsAreNotSentEither) {
  const Client client = Connect();
  testing::TransferWatch watch(client);
  StagedUpload staged = Must(client.device(0).Stage(Shape::Array(hlo::kF32, {kLarge})));
  for (float& value : staged.data<float>()) value = 1;
  EXPECT_TRUE(Must(staged.Commit()).is_placeholder());
  const Buffer placeholder = Must(client.device(0).Placeholder(Shape::Array(hlo::kF32, {kLarge})));
  ASSERT_OK(placeholder.Fill(Literal(Shape::Array(hlo::kF32, {kLarge}))));
  EXPECT_TRUE(placeholder.is_placeholder());
  const Buffer little = Must(client.device(0).Placeholder(Shape::Array(hlo::kF32, {kSmall})));
  ASSERT_OK(little.Fill(Literal(Shape::Array(hlo::kF32, {kSmall}))));
  EXPECT_FALSE(little.is_placeholder());
  EXPECT_EQ(watch.Check({.host_to_device = {4 * kSmall, 1}}), "");
}

TEST_F(AbstractSession, AnUploadOfTheWrongSizeIsRefusedAsEver) {
  const Client client = Connect();
  const std::vector<float> values(kLarge);
  const auto bytes = absl::MakeConstSpan(reinterpret_cast<const std::byte*>(values.data()), 4 * kLarge);
  const absl::Status status = client.device(0).Upload(bytes, Shape::Array(hlo::kF32, {kLarge + 1})).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kArgument) << status;
}

// One program's results: one that depends on a placeholder, one computed from a large array, a large one, and
// one that is none of these.
TEST_F(AbstractSession, ResultsAreRealAsFarAsTheyAreSmall) {
  const Client client = Connect();
  const Executable program = Must(client.CompileText(R"(
HloModule parts
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  given = f32[1024] parameter(0)
  little = f32[16] parameter(1)
  zero = f32[] constant(0)
  of_given = f32[] reduce(given, zero), dimensions={0}, to_apply=sum
  large = f32[1024] iota(), iota_dimension=0
  of_large = f32[] reduce(large, zero), dimensions={0}, to_apply=sum
  of_little = f32[] reduce(little, zero), dimensions={0}, to_apply=sum
  ROOT all = (f32[], f32[1024], f32[], f32[]) tuple(of_given, large, of_large, of_little)
})"));
  // The execute does not ask to be abstract: the session is.
  const std::vector<Buffer> results = Must(program.Execute({Upload(client, kLarge), Upload(client, kSmall)}));
  EXPECT_TRUE(results[0].is_placeholder());
  EXPECT_TRUE(results[1].is_placeholder());
  EXPECT_TRUE(results[2].is_placeholder()) << "1,024 numbers are not made for one";
  EXPECT_FALSE(results[3].is_placeholder());
  EXPECT_EQ(Must(results[3].Item<float>()), 2 * kSmall);
  for (const Buffer& result : results) EXPECT_OK(result.ready().Await());
  // The daemon does the same for results that do not depend on a placeholder.
  const Executable again = Must(client.CompileText(R"(
HloModule made
ENTRY main {
  large = f32[1024] iota(), iota_dimension=0
  little = f32[4] slice(large), slice={[0:4]}
  one = f32[] constant(1)
  ROOT all = (f32[1024], f32[4], f32[]) tuple(large, little, one)
})"));
  const std::vector<Buffer> made = Must(again.Execute({}));
  EXPECT_TRUE(made[0].is_placeholder());
  EXPECT_TRUE(made[1].is_placeholder());
  EXPECT_EQ(Must(made[2].Item<float>()), 1);
  ASSERT_OK(made[0].ready().Await());
  // The daemon decides: it refuses to read a placeholder, too.
  const absl::Status read = made[0].ToLiteral().status();
  EXPECT_EQ(KindOf(read), ErrorKind::kPlaceholder) << read;
  EXPECT_LT(Must(client.Stats()).peak_bytes, 4 * kLarge);
}

TEST_F(AbstractSession, AReadIsRefusedUnlessStandInsAreWanted) {
  const absl::Status refused = Upload(Connect(), kLarge).ToLiteral().status();
  EXPECT_EQ(KindOf(refused), ErrorKind::kPlaceholder) << refused;
  EXPECT_EQ(Must(Upload(Connect({.stand_in = StandIn::kZeros}), kLarge).ToLiteral()).data<float>()[7], 0);
  EXPECT_EQ(Must(Upload(Connect({.stand_in = StandIn::kOnes}), kLarge).ToLiteral()).data<float>()[7], 1);
  const Client random = Connect({.stand_in = StandIn::kRandom});
  const Literal numbers = Must(Upload(random, kLarge).ToLiteral());
  const absl::Span<const float> values = numbers.data<float>();
  EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](float x) { return x >= 0 && x <= 1; }));
  EXPECT_NE(values[0], values[1]);
  const Buffer scalar = Must(random.device(0).Placeholder(Shape::Array(hlo::kS32, {})));
  EXPECT_EQ(Must(scalar.Item<int32_t>()), 0) << "a whole number below 1";
}

TEST_F(AbstractSession, OptionsThatMakeNoSenseAreRefused) {
  AbstractOptions options;
  options.steps = -1;
  const absl::Status status = ConnectAbstract(options, {.address = daemon_->address()}).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kArgument) << status;
  options = {.log = "/nowhere/at/all"};
  const absl::Status record = ConnectAbstract(options, {.address = daemon_->address()}).status();
  EXPECT_NE(record.message().find("/nowhere/at/all"), absl::string_view::npos) << record;
}

// A client that skips its own checks may send this.
TEST_F(AbstractSession, TheDaemonChecksWhichResultsAreAbsent) {
  RawSession session(daemon_->address());
  const uint64_t program = session.NewHandle();
  ASSERT_OK(session.Call(CompileOf(program, kTwoResults)));
  const uint64_t p = session.NewHandle(), q = session.NewHandle();
  ASSERT_OK(session.Call(UploadOf(p, Counting(4))));
  ASSERT_OK(session.Call(UploadOf(q, Counting(4))));
  const auto run = [&](bool abstract, const std::vector<uint32_t>& absent, uint64_t* second = nullptr) {
    const uint64_t a = session.NewHandle(), b = session.NewHandle();
    if (second != nullptr) *second = b;
    v1::Command command = ExecuteOf(program, {p, q}, {a, b});
    command.mutable_execute()->set_abstract(abstract);
    for (const uint32_t i : absent) command.mutable_execute()->add_absent(i);
    const uint64_t sent = session.Send(std::move(command));
    const std::optional<v1::Reply> reply = session.Await(sent);
    return reply.has_value() && reply->has_error() ? reply->error().text() : std::string();
  };
  EXPECT_NE(run(false, {0}).find("the execute is not abstract"), std::string::npos);
  EXPECT_NE(run(true, {2}).find("names result 2 of 2"), std::string::npos);
  EXPECT_NE(run(true, {0, 0, 0}).find("names 3 results of 2"), std::string::npos);
  uint64_t second = 0;
  EXPECT_EQ(run(true, {0}, &second), "");
  v1::Reply value;
  ASSERT_OK(session.Call(DownloadOf(second), &value));
  const absl::Status first = session.Call(DownloadOf(second - 1));
  EXPECT_EQ(KindOf(first), ErrorKind::kPlaceholder) << first;
}

}  // namespace
}  // namespace hlod
