// The acceptance rows of devices: where a tensor lives, and what happens when tensors of two devices meet.
#include <thread>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class DeviceRows : public TensorTest {};

// Acceptance row DV1.
TEST_F(DeviceRows, ATensorWithoutADeviceStaysOnTheHost) {
  const SessionStats before = Account();
  const Tensor x = Randn({2}), y = x + x;
  EXPECT_TRUE(y.device().is_host());
  EXPECT_EQ(y.ToVector<float>().size(), 2u);
  const SessionStats after = Account();
  EXPECT_EQ(after.executes, before.executes);
  EXPECT_EQ(after.host_to_device, before.host_to_device);
}

// Acceptance row DV2.
TEST_F(DeviceRows, WithoutNativeHostTensorsATensorLivesOnTheDefaultDevice) {
  DefaultEnvironment() = Environment(*client_);
  const SettingsScope scope({.native_host_tensors = false});
  const Tensor x = FromValues<float>({1, 2}), y = x + Ones({2});
  EXPECT_EQ(x.device(), DefaultDevice());
  EXPECT_EQ(y.device(), DefaultDevice());
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(2, 3));
  EXPECT_EQ(DefaultEnvironment().client().Stats()->executes, 1);
  DefaultEnvironment().End();
}

// Acceptance row DV3.
TEST_F(DeviceRows, ANamedDeviceHolds) {
  for (const bool native : {true, false}) {
    const SettingsScope scope({.native_host_tensors = native});
    EXPECT_EQ(Randn({2}, {.device = device()}).device(), device());
    EXPECT_TRUE(Randn({2}, {.device = Device()}).device().is_host());
  }
}

// Acceptance row DV4.
TEST_F(DeviceRows, MixedDevicesAreAnErrorThatNamesBoth) {
  const Tensor on_device = OnDevice({1, 2}, {2}), on_host = FromValues<float>({3, 4});
  const absl::Status status = Thrown([&] { Add(on_device, on_host); });
  EXPECT_EQ(KindOf(status), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("add (device_rows_test.cc"));
  EXPECT_THAT(last_what_, HasSubstr("argument 1 is on the host"));
  EXPECT_THAT(last_what_, HasSubstr("hlod:0"));
  // The program continues after the error.
  EXPECT_THAT((on_device + on_device).ToVector<float>(), ElementsAre(2, 4));
}

// Acceptance row DV5.
TEST_F(DeviceRows, ImplicitCopiesAreCountedOnceWithTheirLine) {
  const SettingsScope scope({.mixed_devices = MixedDevices::kImplicit});
  const Tensor on_device = OnDevice({1, 2}, {2});
  Tensor on_host = FromValues<float>({3, 4});
  testing::TransferWatch watch(*client_);
  const Tensor sum = on_device + on_host;
  const int line = __LINE__ - 1;
  const Tensor again = on_device * on_host;  // The host tensor was not written in between: one copy.
  EXPECT_THAT(sum.ToVector<float>(), ElementsAre(4, 6));
  EXPECT_EQ(GetTraceStats().implicit_copies, 1);
  EXPECT_EQ(GetTraceStats().implicit_copy_bytes, 8);
  int64_t copies = 0;
  for (const LedgerRow& row : watch.Rows()) {
    if (row.cause != Cause::kImplicitUpload) continue;
    ++copies;
    EXPECT_EQ(row.origin.line, line);
    EXPECT_EQ(row.amount, (Amount{8, 1}));
  }
  EXPECT_EQ(copies, 1);
  on_host += 1;
  EXPECT_THAT((on_device + on_host).ToVector<float>(), ElementsAre(5, 7));
  EXPECT_EQ(GetTraceStats().implicit_copies, 2);
}

// Acceptance row DV6.
TEST_F(DeviceRows, OneElementOfTheHostIsANumberUnderEveryPolicy) {
  const Tensor on_device = OnDevice({1, 2}, {2});
  for (const MixedDevices policy : {MixedDevices::kError, MixedDevices::kWarn, MixedDevices::kImplicit}) {
    const SettingsScope scope({.mixed_devices = policy});
    const SessionStats before = Account();
    EXPECT_THAT((on_device * FromValues<float>({3}, Dims{})).ToVector<float>(), ElementsAre(3, 6));
    EXPECT_EQ(Account().host_to_device, before.host_to_device);
    EXPECT_GT(Account().inline_argument_bytes, before.inline_argument_bytes);
  }
  const SettingsScope strict({.scalar_host_tensors = false});
  EXPECT_EQ(KindOf(Thrown([&] { Mul(on_device, FromValues<float>({3}, Dims{})); })), ErrorKind::kArgument);
}

// Acceptance row DV7.
TEST_F(DeviceRows, CopyBetweenPlacesIsAnExplicitTransfer) {
  Tensor on_device = Zeros({2}, {.device = device()});
  Tensor on_host = FromValues<float>({3, 4});
  on_device.Copy_(on_host);
  EXPECT_THAT(on_device.ToVector<float>(), ElementsAre(3, 4));
  on_device += 1;
  on_host.Copy_(on_device);
  EXPECT_THAT(on_host.ToVector<float>(), ElementsAre(4, 5));
}

// Acceptance row DV8.
TEST_F(DeviceRows, ATensorOfAnEndedEnvironmentSaysWhatToDo) {
  Environment environment(daemon_->Connect().value());
  const Tensor x = Ones({2}, {.device = environment.device()}), kept = x.ToHost();
  environment.End();
  const std::vector<std::function<void()>> uses = {[&] { x.ToHost(); }, [&] { static_cast<void>(x + x); }};
  for (const auto& use : uses) {
    EXPECT_EQ(KindOf(Thrown(use)), ErrorKind::kLostSession);
    EXPECT_THAT(last_what_, HasSubstr("ToHost() before it ends"));
  }
  EXPECT_THAT(kept.ToVector<float>(), ElementsAre(1, 1));
}

// Acceptance row DV9.
TEST_F(DeviceRows, AnOperationWithoutALoweringIsNamedWithTheNearest) {
  const Tensor x = OnDevice({0, 1}, {2});
  // Accepts PyTorch's names with and without their namespaces.
  EXPECT_THAT(Apply("exp", {x * 0}).ToVector<float>(), ElementsAre(1, 1));
  EXPECT_THAT(Apply("nn.functional.relu6", {x * 9}).ToVector<float>(), ElementsAre(0, 6));
  EXPECT_THAT(Apply("aten::add", {x, 2}).ToVector<float>(), ElementsAre(2, 3));
  EXPECT_THAT(Apply("torch.where", {Apply("gt", {x, 0}), x, -1.0}).ToVector<float>(), ElementsAre(-1, 1));
  // lgama is a misspelling; linalg.ldl_factor has none.
  const int line = __LINE__ + 1;
  EXPECT_EQ(KindOf(Thrown([&] { Apply("lgama", {x}); })), ErrorKind::kUnimplemented);
  EXPECT_THAT(last_what_, HasSubstr("no lowering for lgama; the nearest name is lgamma"));
  EXPECT_THAT(last_what_, HasSubstr("device_rows_test.cc:" + std::to_string(line)));
  EXPECT_EQ(KindOf(Thrown([&] { Apply("linalg.ldl_factor", {x}); })), ErrorKind::kUnimplemented);
  EXPECT_THAT(last_what_, HasSubstr("no lowering for linalg.ldl_factor"));
  EXPECT_EQ(KindOf(Thrown([&] { Apply("permute", {x}); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("permute is not called by name: call hlod::Permute"));
  EXPECT_EQ(KindOf(Thrown([&] { Apply("exp", {x, x}); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("exp takes 1 operand, and 2 are given"));
  // The program continues after the error.
  EXPECT_THAT((x + x).ToVector<float>(), ElementsAre(0, 2));
}

// Acceptance row DV10.
TEST_F(DeviceRows, SettingsBelongToAThreadAndScopesRestoreThem) {
  const SettingsScope outer({.mixed_devices = MixedDevices::kWarn});
  try {
    const SettingsScope inner({.mixed_devices = MixedDevices::kImplicit, .closes_unsettled_max = 2});
    EXPECT_EQ(GetSettings().mixed_devices, MixedDevices::kImplicit);
    std::thread([] { EXPECT_EQ(GetSettings().mixed_devices, MixedDevices::kError); }).join();
    throw std::runtime_error("leaves the scope");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(GetSettings().mixed_devices, MixedDevices::kWarn);
  EXPECT_EQ(GetSettings().closes_unsettled_max, 4);
  EXPECT_EQ(KindOf(Thrown([] { SettingsScope({.closes_unsettled_max = 0}); })), ErrorKind::kArgument);
  EXPECT_EQ(GetSettings().closes_unsettled_max, 4);
  // The same seed draws the same numbers on the host and on a device.
  for (const Device& where : {Device(), device()}) {
    ManualSeed(7);
    const std::vector<float> first = Rand({4}, {.device = where}).ToVector<float>();
    ManualSeed(7);
    EXPECT_EQ(Rand({4}, {.device = where}).ToVector<float>(), first);
    EXPECT_NE(Rand({4}, {.device = where}).ToVector<float>(), first);
  }
}

// Acceptance row DV11.
TEST_F(DeviceRows, EverySettingIsPrintedWithItsOrigin) {
  const SettingsScope scope({.mixed_devices = MixedDevices::kImplicit});
  const std::string line = "device_rows_test.cc:" + std::to_string(__LINE__ - 1);
  const std::string text = DefaultEnvironment().Describe();
  EXPECT_THAT(text, HasSubstr("mixed_devices = implicit (" + line + ")"));
  EXPECT_THAT(text, HasSubstr("native_host_tensors = true (default)"));
  EXPECT_THAT(text, HasSubstr("address = "));
  for (const char* name : {"scalar_host_tensors", "closes_unsettled_max", "trace_nodes_max"}) {
    EXPECT_THAT(text, HasSubstr(name));
  }
}

}  // namespace
}  // namespace hlod
