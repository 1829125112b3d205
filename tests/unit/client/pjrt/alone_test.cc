// Programs of several replicas that are run on one device at a time, and the lines of what they do.
#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "tests/unit/client/pjrt/driver.h"

extern "C" void hlod_set_line(const char* location);
extern "C" void hlod_find_lines(void* (*python)(), void (*find)());
extern "C" char* hlod_ledger();
extern "C" void hlod_free(char* text);

namespace hlod::pjrt {
namespace {

// A CompileOptionsProto: executable_build_options { num_replicas: 2 }.
constexpr std::string_view kTwoReplicas("\x1a\x02\x20\x02", 4);

constexpr char kTwice[] = R"(module @double {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
})";
constexpr char kSumOfBoth[] = R"(module @sum {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
})";

class Alone : public PjrtClient {
 protected:
  LoadedExecutable* Compile(std::string text) {
    LoadedExecutable* executable = nullptr;
    EXPECT_EQ(TryCompile(std::move(text), &executable, kTwoReplicas), "");
    return executable;
  }

  Buffer* UploadTo(Device* device, std::vector<float> data) {
    return Upload(data.data(), kF32, {static_cast<int64_t>(data.size())}, {}, device);
  }

  std::string Execute(LoadedExecutable* executable, Device* device, Buffer* argument, Buffer** result) {
    std::vector<Buffer*> results = {nullptr};
    std::string error =
        TryExecute(executable, {argument}, results, nullptr, sizeof(abi::ExecuteOptions), device);
    *result = results[0];
    return error;
  }

  void Free(LoadedExecutable* executable) {
    Call<abi::LoadedExecutable_Destroy_Args> destroy;
    destroy->executable = executable;
    destroy.Run(api().LoadedExecutable_Destroy);
  }
};

TEST_F(Alone, EachDeviceRunsOneReplica) {
  LoadedExecutable* const executable = Compile(kTwice);
  for (Device* const device : devices_) {
    Buffer* const x = UploadTo(device, {3, 5});
    Buffer* y = nullptr;
    ASSERT_EQ(Execute(executable, device, x, &y), "");
    std::array<float, 2> out = {};
    EXPECT_EQ(Download(y, out.data(), sizeof(out)), "");
    EXPECT_EQ(out, (std::array<float, 2>{6, 10}));
    Call<abi::Buffer_Device_Args> place;
    place->buffer = y;
    place.Run(api().Buffer_Device);
    EXPECT_EQ(place->device, device);
    Destroy(x);
    Destroy(y);
  }
  Free(executable);
}

// Each device adds its own numbers to the sum of both, over and over: each run waits for the one before it.
TEST_F(Alone, ReplicasThatExchangeDataMeet) {
  LoadedExecutable* const executable = Compile(kSumOfBoth);
  Buffer* x[] = {UploadTo(devices_[0], {3, 5}), UploadTo(devices_[1], {10, 20})};
  for (const size_t device : {0, 1}) {  // The first one is run to the end before the second begins.
    for (int step = 0; step < 3; ++step) {
      Buffer* y = nullptr;
      ASSERT_EQ(Execute(executable, devices_[device], x[device], &y), "");
      Destroy(std::exchange(x[device], y));
    }
  }
  for (Buffer* const sum : x) {
    std::array<float, 2> out = {};
    EXPECT_EQ(Download(sum, out.data(), sizeof(out)), "");
    EXPECT_EQ(out, (std::array<float, 2>{52, 100}));  // 4 * (3 + 10), 4 * (5 + 20).
    Destroy(sum);
  }
  Free(executable);
}

TEST_F(Alone, AProgramThatNeedsNoOthersWaitsForAMeeting) {
  LoadedExecutable* const sum = Compile(kSumOfBoth);
  LoadedExecutable* const twice = Compile(kTwice);
  Buffer* const x[] = {UploadTo(devices_[0], {3, 5}), UploadTo(devices_[1], {10, 20})};
  std::array<Buffer*, 2> met = {}, doubled = {};
  std::array<float, 2> out = {};
  for (const size_t i : {1, 0}) {
    ASSERT_EQ(Execute(sum, devices_[i], x[i], &met[i]), "");
    ASSERT_EQ(Execute(twice, devices_[i], met[i], &doubled[i]), "");
  }
  for (const size_t i : {0, 1}) {
    EXPECT_EQ(Download(doubled[i], out.data(), sizeof(out)), "");
    EXPECT_EQ(out, (std::array<float, 2>{26, 50}));
    for (Buffer* const buffer : {x[i], met[i], doubled[i]}) Destroy(buffer);
  }
  Free(sum);
  Free(twice);
}

// A program as PyTorch/XLA writes it for a device: with the device's place among the others in it.
std::string GatherAt(int device) {
  return absl::StrFormat(R"(module @gather {
  func.func @main(%%arg0: tensor<1xf32>) -> tensor<2xf32> {
    %%zero = stablehlo.constant dense<0.0> : tensor<f32>
    %%0 = stablehlo.pad %%arg0, %%zero, low = [%d], high = [%d], interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %%scale = stablehlo.constant dense<%d.0> : tensor<2xf32>
    %%1 = stablehlo.multiply %%0, %%scale : tensor<2xf32>
    %%2 = "stablehlo.all_reduce"(%%1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%%a: tensor<f32>, %%b: tensor<f32>):
      %%3 = stablehlo.add %%a, %%b : tensor<f32>
      stablehlo.return %%3 : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    return %%2 : tensor<2xf32>
  }
})",
                         device, 1 - device, device + 5);
}

TEST_F(Alone, ProgramsThatDifferInTheDevicesNumberMeet) {
  std::array<Buffer*, 2> results = {};
  for (const int i : {1, 0}) {
    LoadedExecutable* const gather = Compile(GatherAt(i));
    const float value = i == 0 ? 3 : 10;
    Buffer* const x = UploadTo(devices_[i], {value});
    ASSERT_EQ(Execute(gather, devices_[i], x, &results[i]), "");
    Destroy(x);
    Free(gather);
  }
  for (Buffer* const result : results) {
    std::array<float, 2> out = {};
    EXPECT_EQ(Download(result, out.data(), sizeof(out)), "");
    EXPECT_EQ(out, (std::array<float, 2>{15, 60}));
    Destroy(result);
  }
}

TEST_F(Alone, ProgramsThatDifferInTheirStepsAreRefused) {
  const std::string other = absl::StrReplaceAll(kSumOfBoth, {{"stablehlo.add", "stablehlo.multiply"}});
  std::array<Buffer*, 2> results = {};
  for (const size_t i : {0, 1}) {
    LoadedExecutable* const program = Compile(i == 0 ? kSumOfBoth : other);
    Buffer* const x = UploadTo(devices_[i], {3, 5});
    ASSERT_EQ(Execute(program, devices_[i], x, &results[i]), "");
    Destroy(x);
    Free(program);
  }
  for (Buffer* const result : results) {
    std::array<float, 2> out = {};
    const std::string error = Download(result, out.data(), sizeof(out));
    EXPECT_TRUE(
        absl::StrContains(error, "Devices 0 and 1 run different programs together, sum and sum: one has"))
        << error;
    EXPECT_TRUE(absl::StrContains(error, "(add f32[]) where another has")) << error;
    Destroy(result);
  }
}

TEST_F(Alone, AParticipantThatNobodyMeetsFailsWithTheClient) {
  LoadedExecutable* const executable = Compile(kSumOfBoth);
  Buffer* const x = UploadTo(devices_[1], {3, 5});
  Buffer* y = nullptr;
  ASSERT_EQ(Execute(executable, devices_[1], x, &y), "");
  Call<abi::Buffer_ReadyEvent_Args> ready;
  ready->buffer = y;
  ready.Run(api().Buffer_ReadyEvent);
  Free(executable);
  Destroy(std::exchange(client_, nullptr));
  EXPECT_EQ(Await(ready->event), "CANCELLED: The client ended before all devices had run the program.");
  Destroy(x);
  Destroy(y);
}

// Stands for an interpreter in which every thread is at line 7 of model.py.
void* Python() {
  static int state = 0;
  return &state;
}
void FindLine() { hlod_set_line("model.py:7"); }

TEST_F(Alone, LinesAreFoundWhereNoneIsStated) {
  hlod_find_lines(Python, FindLine);
  Buffer* const found = UploadTo(devices_[0], {3, 5});
  hlod_find_lines(nullptr, nullptr);
  Buffer* const unknown = UploadTo(devices_[0], {3, 5});
  Destroy(found);
  Destroy(unknown);
  char* const text = hlod_ledger();
  const std::string ledger = text;
  hlod_free(text);
  const size_t row = ledger.find(R"("file":"model.py","line":7)");
  ASSERT_NE(row, std::string::npos) << ledger;
  EXPECT_EQ(ledger.find("model.py", row + 20), std::string::npos) << ledger;
}

}  // namespace
}  // namespace hlod::pjrt
