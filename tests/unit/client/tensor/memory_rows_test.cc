// The acceptance rows of memory: the error of a full device lists what fills it, and the program goes on.
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

constexpr int64_t kMiB = 1 << 20;

class MemoryRows : public ::testing::Test {
 protected:
  void SetUp() override {
    daemon_ = std::make_unique<testing::Daemon>(
        testing::Daemon::Start({.flags = {"--device-memory", "64MiB"}}).value());
    client_ = std::make_unique<Client>(daemon_->Connect().value());
  }
  void TearDown() override { Environment(*client_).End(); }
  Device device() const { return client_->device(0); }
  // Returns a tensor of `mib` MiB.
  Tensor Large(int64_t mib, double value, Caller caller = Caller::Here()) const {
    return Full({mib * kMiB / 4}, value, {.type = kF32, .device = device()}, caller);
  }
  static std::string Line(int line) { return "memory_rows_test.cc:" + std::to_string(line); }
  // Returns the text of the error that `read` throws, which must be kNoMemory.
  static std::string NoMemory(const std::function<void()>& read) {
    try {
      read();
    } catch (const Error& error) {
      EXPECT_EQ(error.status().code(), absl::StatusCode::kResourceExhausted);
      EXPECT_EQ(KindOf(error.status()), ErrorKind::kNoMemory);
      return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
  }

  std::unique_ptr<testing::Daemon> daemon_;
  std::unique_ptr<Client> client_;
};

// Acceptance row LT11.
TEST_F(MemoryRows, AFullDeviceNamesWhatFillsItAndWhereItWasMade) {
  const Tensor small = Large(1, 1);
  Tensor larger = Large(24, 2);
  const int larger_line = __LINE__ - 1;
  const Tensor large = Large(16, 3);
  const int large_line = __LINE__ - 1;
  Sync();
  ASSERT_TRUE(client_->Sync().ok());  // Waits until all are allocated.
  Tensor wanted = Large(32, 4);
  const std::string message = NoMemory([&] { wanted.ToHost(); });
  EXPECT_THAT(message, HasSubstr(std::to_string(32 * kMiB) + " bytes are wanted"));
  EXPECT_THAT(message,
              HasSubstr(std::to_string(23 * kMiB) + " of " + std::to_string(64 * kMiB) + " are free"));
  // The error lists the largest first, each with the line that made it instead of the line of the Sync() that
  // ran it.
  const std::string first = "f32[6291456], " + std::to_string(24 * kMiB) + " bytes",
                    second = "f32[4194304], " + std::to_string(16 * kMiB) + " bytes";
  EXPECT_THAT(message, HasSubstr(first));
  EXPECT_THAT(message, HasSubstr(Line(larger_line)));
  EXPECT_THAT(message, HasSubstr(second));
  EXPECT_THAT(message, HasSubstr(Line(large_line)));
  EXPECT_LT(message.find(first), message.find(second));

  // Existing tensors are unchanged, and dropping some makes room.
  EXPECT_EQ(wanted.state(), TensorState::kFailed);
  EXPECT_EQ(large[5].Item<float>(), 3);
  NoMemory([&] { Large(32, 4).ToHost(); });
  larger = Tensor();
  wanted = Large(32, 4);
  EXPECT_EQ(wanted[7].Item<float>(), 4);
  EXPECT_EQ(small[0].Item<float>(), 1);
}

// Acceptance row LT11.
TEST_F(MemoryRows, AnUploadThatDoesNotFitIsTheSame) {
  Tensor large = Large(48, 2);
  Sync();
  ASSERT_TRUE(client_->Sync().ok());                        // Waits until all are allocated.
  const Tensor host = Full({6 * kMiB}, 5, {.type = kF32});  // 24 MiB.
  const std::string message = NoMemory([&] { host.To(device()).ToHost(); });
  EXPECT_THAT(message, HasSubstr(std::to_string(24 * kMiB) + " bytes are wanted"));
  EXPECT_THAT(message, HasSubstr(std::to_string(48 * kMiB) + " bytes"));
  large = Tensor();
  EXPECT_EQ(host.To(device())[3].Item<float>(), 5);
}

// A loop that reaches the limit again and again loses neither memory nor the connection.
TEST_F(MemoryRows, MeetingTheLimitCostsNothing) {
  const Tensor kept = Large(40, 1);
  Sync();
  ASSERT_TRUE(client_->Sync().ok());  // Waits until all are allocated.
  const int64_t before = client_->Stats().value().live_bytes;
  for (int i = 0; i < 20; ++i) NoMemory([&] { Large(30, i).ToHost(); });
  EXPECT_EQ(client_->Stats().value().live_bytes, before);
  EXPECT_EQ(kept[0].Item<float>(), 1);
}

}  // namespace
}  // namespace hlod
