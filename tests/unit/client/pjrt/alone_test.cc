// Programs of several replicas that are run on one device at a time, and the lines of what they do.
#include <array>
#include <cstdlib>
#include <string>

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
    abi::Program program = {};
    program.struct_size = sizeof(program);
    program.code = text.data();
    program.code_size = text.size();
    program.format = "mlir";
    program.format_size = 4;
    Call<abi::Client_Compile_Args> compile;
    compile->client = client_;
    compile->program = &program;
    compile->compile_options = kTwoReplicas.data();
    compile->compile_options_size = kTwoReplicas.size();
    EXPECT_EQ(compile.Try(api().Client_Compile), "");
    return compile->executable;
  }

  Buffer* UploadTo(Device* device, const std::array<float, 2>& data) {
    const int64_t dims[] = {2};
    Call<abi::Client_BufferFromHostBuffer_Args> upload;
    upload->client = client_;
    upload->data = data.data();
    upload->type = abi::BufferType(11);  // F32
    upload->dims = dims;
    upload->num_dims = 1;
    upload->device = device;
    EXPECT_EQ(upload.Try(api().Client_BufferFromHostBuffer), "");
    EXPECT_EQ(Await(upload->done_with_host_buffer), "");
    return upload->buffer;
  }

  std::string Execute(LoadedExecutable* executable, Device* device, Buffer* argument, Buffer** result) {
    Call<abi::ExecuteOptions> options;
    Buffer* const arguments[] = {argument};
    Buffer* const* lists[] = {arguments};
    Buffer** outputs[] = {result};
    Call<abi::LoadedExecutable_Execute_Args> execute;
    execute->executable = executable;
    execute->options = &options.args();
    execute->argument_lists = lists;
    execute->num_devices = 1;
    execute->num_args = 1;
    execute->output_lists = outputs;
    execute->execute_device = device;
    return execute.Try(api().LoadedExecutable_Execute);
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

TEST_F(Alone, ReplicasThatExchangeDataAreRunTogether) {
  LoadedExecutable* const executable = Compile(kSumOfBoth);
  Buffer* const x = UploadTo(devices_[1], {3, 5});
  Buffer* y = nullptr;
  EXPECT_EQ(
      Execute(executable, devices_[1], x, &y),
      "UNIMPLEMENTED: sum has 2 participants that work together (all-reduce), and is run on one device at "
      "a time. They run when one call names all their devices; in PyTorch/XLA, "
      "torch_xla.runtime.use_spmd() has it do that.");
  Destroy(x);
  Free(executable);
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
