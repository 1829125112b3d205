// Every row of the design's table of operations on placeholders, refused by the library and, when a client
// skips its own check, by the daemon.
#include "tests/integration/support/harness.h"

namespace hlod {
namespace {

// The parameter is true when the library's checks are skipped, so that the daemon refuses.
class Placeholder : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    daemon_ = std::make_unique<testing::Daemon>(Must(testing::Daemon::Start()));
    ConnectOptions options;
    options.skip_local_checks = GetParam();
    client_ = std::make_unique<Client>(Must(daemon_->Connect(options)));
    device_ = std::make_unique<Device>(client_->device(0));
  }

  // Expects an error of `kind` that names the shape and the line that made the buffer.
  void ExpectRefused(const absl::Status& status, ErrorKind kind, const Buffer& about, int made_at) {
    ASSERT_FALSE(status.ok());
    const ErrorDetails error = ErrorOf(status);
    EXPECT_EQ(error.kind, kind) << status;
    EXPECT_EQ(error.handle, about.handle()) << status;
    EXPECT_EQ(error.shape, hlo::ToStringNoLayout(about.shape())) << status;
    EXPECT_EQ(error.origin.line, made_at) << status;
    EXPECT_NE(error.text.find("placeholder_test.cc:" + std::to_string(made_at)), std::string::npos)
        << "the line that made it: " << status;
  }
  // Expects the same for a dead buffer, with the line that killed it. The daemon remembers only that line.
  void ExpectDead(const absl::Status& status, ErrorKind kind, const Buffer& about, int made_at,
                  int killed_at) {
    ASSERT_FALSE(status.ok());
    const ErrorDetails error = ErrorOf(status);
    if (!GetParam()) ExpectRefused(status, kind, about, made_at);
    EXPECT_EQ(error.kind, kind) << status;
    EXPECT_EQ(error.handle, about.handle()) << status;
    EXPECT_NE(error.root_command, 0u) << status;
    EXPECT_EQ(error.root_origin.line, killed_at) << status;
    EXPECT_NE(error.text.find("placeholder_test.cc:" + std::to_string(killed_at)), std::string::npos)
        << status;
  }
  int64_t Refusals() {
    const SessionStats stats = Must(client_->Stats());
    return GetParam() ? stats.refused_reads : stats.refused_before_sending;
  }

  std::unique_ptr<testing::Daemon> daemon_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Device> device_;
};

TEST_P(Placeholder, IsCreatedWithoutMemoryOrTransfer) {
  testing::TransferWatch watch(*client_);
  std::vector<Buffer> made;
  for (const PrimitiveType type : {hlo::kF32, hlo::kBF16, hlo::kS8}) {
    for (const Dims& dims : {Dims{1, 2}, Dims{2, 3, 4}, Dims{3, 4, 5, 6}}) {
      made.push_back(Must(device_->Placeholder(Shape::Array(type, dims))));
      EXPECT_TRUE(made.back().is_placeholder());
      EXPECT_EQ(made.back().shape(), Shape::Array(type, dims));
      EXPECT_EQ(made.back().device(), 0);
      EXPECT_NE(made.back().ToString().find("placeholder"), std::string::npos);
    }
  }
  EXPECT_EQ(watch.Check({}), "");
  const SessionStats stats = Must(client_->Stats());
  EXPECT_EQ(stats.placeholders, 9);
  EXPECT_EQ(stats.live_bytes, 0);
  EXPECT_EQ(daemon_->UsedBytes(), 0);
}

TEST_P(Placeholder, OfMoreThanTheDevicesMemoryCostsNothing) {
  const Buffer huge = Must(device_->Placeholder(Shape::Array(hlo::kBF16, {16384, 53248, 126})));
  EXPECT_OK(huge.ready().Await());
  EXPECT_EQ(Must(client_->Stats()).live_bytes, 0);
}

// Acceptance row PH3.
TEST_P(Placeholder, ReadIsRefusedByEveryRouteAndTheSessionGoesOn) {
  const int line = __LINE__ + 1;
  const Buffer p = Must(device_->Placeholder(Shape::Array(hlo::kF32, {2, 3})));
  const int64_t before = Refusals();
  ExpectRefused(p.ToLiteral().status(), ErrorKind::kPlaceholder, p, line);
  EXPECT_EQ(p.ToLiteral().status().code(), absl::StatusCode::kFailedPrecondition);
  std::vector<float> out(6);
  ExpectRefused(p.Download({reinterpret_cast<std::byte*>(out.data()), 24}), ErrorKind::kPlaceholder, p, line);
  ExpectRefused(p.ToLiteralAsync().Await().status(), ErrorKind::kPlaceholder, p, line);
  EXPECT_EQ(Refusals() - before, 4);
  const Buffer scalar = Must(device_->Placeholder(Shape::Scalar(hlo::kF32)));
  ExpectRefused(scalar.Item<float>().status(), ErrorKind::kPlaceholder, scalar, __LINE__ - 1);
  const Buffer x = Must(device_->Upload(Literal::Scalar<float>(1)));
  EXPECT_EQ(Must(x.Item<float>()), 1.0f);
}

TEST_P(Placeholder, LargeReadIsRefusedOnEveryTransport) {
  const int line = __LINE__ + 1;
  const Buffer p = Must(device_->Placeholder(Shape::Array(hlo::kF32, {1'000'000})));
  ExpectRefused(p.ToLiteral().status(), ErrorKind::kPlaceholder, p, line);
  ConnectOptions options;
  options.skip_local_checks = GetParam();
  options.shared_memory = false;
  const Client streaming = Must(daemon_->Connect(options));
  const Buffer q = Must(streaming.device(0).Placeholder(Shape::Array(hlo::kF32, {1'000'000})));
  ExpectRefused(q.ToLiteral().status(), ErrorKind::kPlaceholder, q, __LINE__ - 1);
}

TEST_P(Placeholder, ArgumentOfExecuteIsRefusedNamingTheParameter) {
  const Executable add = Must(client_->CompileText(AddProgram(4)));
  const Buffer x = Must(device_->Upload(Literal(Shape::Array(hlo::kF32, {4}))));
  const int line = __LINE__ + 1;
  const Buffer p = Must(device_->Placeholder(Shape::Array(hlo::kF32, {4})));
  absl::StatusOr<std::vector<Buffer>> sum = add.Execute({x, p});
  const absl::Status status = sum.ok() ? (*sum)[0].ToLiteral().status() : sum.status();
  EXPECT_EQ(sum.ok(), GetParam());
  ExpectRefused(status, ErrorKind::kPlaceholder, p, line);
  EXPECT_NE(std::string(status.message()).find("y"), std::string::npos) << "the parameter's name: " << status;
  EXPECT_EQ(Must(client_->Stats()).executes, 0);
}

TEST_P(Placeholder, AbstractExecuteMakesPlaceholdersOfWhatDependsOnOneAndComputesTheRest) {
  const Executable two = Must(client_->CompileText(kTwoResults));
  const Buffer p = Must(device_->Placeholder(Shape::Array(hlo::kF32, {4})));
  const Buffer q = Must(device_->Upload(Literal::Vector<float>({1, 2, 3, 4})));
  const std::vector<Buffer> results = Must(two.Execute({p, q}, {.abstract = true}));
  EXPECT_TRUE(results[0].is_placeholder());
  EXPECT_FALSE(results[1].is_placeholder());
  EXPECT_EQ(KindOf(results[0].ToLiteral().status()), ErrorKind::kPlaceholder);
  EXPECT_EQ(Must(results[1].ToLiteral()), Literal::Vector<float>({2, 3, 4, 5}));
  const SessionStats stats = Must(client_->Stats());
  EXPECT_GT(stats.simulated_peak_bytes, 0);
  EXPECT_EQ(stats.live_bytes, 2 * 16) << "q and the one result that is real";
}

TEST_P(Placeholder, FilledByAnUploadItIsAnOrdinaryBufferWithTheSameHandle) {
  const Buffer p = Must(device_->Placeholder(Shape::Array(hlo::kF32, {2})));
  const uint64_t handle = p.handle();
  ASSERT_OK(p.Fill(Literal::Vector<float>({5, 6})));
  EXPECT_FALSE(p.is_placeholder());
  EXPECT_EQ(p.handle(), handle);
  EXPECT_EQ(Must(p.ToLiteral()), Literal::Vector<float>({5, 6}));
  const Executable increment = Must(client_->CompileText(IncrementProgram(2)));
  EXPECT_EQ(Must(Must(increment.Execute({p}))[0].ToLiteral()), Literal::Vector<float>({6, 7}));
  bool fill = false;
  for (const LedgerRow& row : Must(client_->Stats()).rows)
    fill |= row.cause == Cause::kPlaceholderFill && row.amount == Amount{8, 1};
  EXPECT_TRUE(fill);
}

TEST_P(Placeholder, FilledByALargeUploadToo) {
  const Buffer p = Must(device_->Placeholder(Shape::Array(hlo::kF32, {400'000})));
  ASSERT_OK(p.Fill(Counting(400'000)));
  EXPECT_TRUE(Must(p.ToLiteral()) == Counting(400'000));
}

TEST_P(Placeholder, FilledByAnExecuteItKeepsItsHandle) {
  const Buffer p = Must(device_->Placeholder(Shape::Array(hlo::kF32, {2})));
  const Buffer x = Must(device_->Upload(Literal::Vector<float>({1, 2})));
  const Executable increment = Must(client_->CompileText(IncrementProgram(2)));
  const std::vector<Buffer> results = Must(increment.Execute({x}, {.fill = {{0, p}}}));
  EXPECT_EQ(results[0].handle(), p.handle());
  EXPECT_EQ(Must(p.ToLiteral()), Literal::Vector<float>({2, 3}));
}

TEST_P(Placeholder, AFillOfAnotherShapeOrOfWhatHasAValueIsRefused) {
  const Buffer p = Must(device_->Placeholder(Shape::Array(hlo::kF32, {2})));
  const absl::Status wrong = p.Fill(Literal::Vector<float>({1, 2, 3}));
  if (GetParam()) {
    EXPECT_FALSE(p.ready().Await().ok());
  } else {
    EXPECT_EQ(KindOf(wrong), ErrorKind::kArgument);
    const Buffer x = Must(device_->Upload(Literal::Vector<float>({1, 2})));
    EXPECT_EQ(KindOf(x.Fill(Literal::Vector<float>({3, 4}))), ErrorKind::kArgument);
    EXPECT_EQ(Must(x.ToLiteral()), Literal::Vector<float>({1, 2}));
  }
}

TEST_P(Placeholder, DeletedItIsDeletedAndNotAPlaceholder) {
  const Buffer p = Must(device_->Placeholder(Shape::Array(hlo::kF32, {2})));
  const int made = __LINE__ - 1;
  ASSERT_OK(p.Delete());
  const int deleted = __LINE__ - 1;
  EXPECT_FALSE(p.is_placeholder());
  ExpectDead(p.ToLiteral().status(), ErrorKind::kDeleted, p, made, deleted);
  EXPECT_EQ(KindOf(p.Delete()), ErrorKind::kDeleted) << "twice";
  EXPECT_EQ(Must(client_->Stats()).placeholders, 0);
}

// Acceptance row LT7.
TEST_P(Placeholder, ADonatedBufferSaysByWhichCommandAtWhichLine) {
  const Executable increment = Must(client_->CompileText(IncrementProgram(2)));
  const Buffer x = Must(device_->Upload(Literal::Vector<float>({1, 2})));
  const int made = __LINE__ - 1;
  const Buffer y = Must(increment.Execute({x}, {.donate = {0}}))[0];
  const int donated = __LINE__ - 1;
  ASSERT_OK(y.ready().Await());
  ExpectDead(x.ToLiteral().status(), ErrorKind::kDonated, x, made, donated);
  absl::StatusOr<std::vector<Buffer>> again = increment.Execute({x}, {.donate = {0}});
  EXPECT_EQ(KindOf(again.ok() ? (*again)[0].ToLiteral().status() : again.status()), ErrorKind::kDonated);
  EXPECT_EQ(Must(y.ToLiteral()), Literal::Vector<float>({2, 3}));
}

TEST_P(Placeholder, ADonatedArgumentSurvivesAnExecuteThatWasRefused) {
  const Executable add = Must(client_->CompileText(AddProgram(2)));
  const Buffer x = Must(device_->Upload(Literal::Vector<float>({1, 2})));
  const Buffer p = Must(device_->Placeholder(Shape::Array(hlo::kF32, {2})));
  absl::StatusOr<Execution> refused = add.Start(std::vector<Argument>{x, p}, {.donate = {0}});
  if (refused.ok()) {
    EXPECT_FALSE(refused->done.Await().ok());
  }
  EXPECT_EQ(Must(x.ToLiteral()), Literal::Vector<float>({1, 2}));
}

TEST_P(Placeholder, TwoOfOneShapeAreTwoAndHandlesAreNeverReused) {
  uint64_t last = 0;
  for (int i = 0; i < 1000; ++i) {
    const Buffer p = Must(device_->Placeholder(Shape::Scalar(hlo::kF32)));
    EXPECT_GT(p.handle(), last);
    last = p.handle();
  }
}

INSTANTIATE_TEST_SUITE_P(RefusedBy, Placeholder, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "TheDaemon" : "TheLibrary"; });

}  // namespace
}  // namespace hlod
