// Buffers, programs and events, as a framework uses them.
#include <signal.h>

#include <atomic>
#include <thread>

#include "absl/synchronization/notification.h"
#include "tests/unit/client/pjrt/driver.h"

namespace hlod::pjrt {
namespace {

constexpr char kDouble[] = R"(
func.func @main(%x: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32> {
  %y = stablehlo.add %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
)";

TEST_F(PjrtClient, ListsDevicesAndMemories) {
  ASSERT_EQ(devices_.size(), 2);
  for (int i = 0; i < 2; ++i) {
    Call<abi::Device_GetDescription_Args> description;
    description->device = devices_[static_cast<size_t>(i)];
    description.Run(api().Device_GetDescription);
    Call<abi::DeviceDescription_Id_Args> id;
    id->device_description = description->device_description;
    id.Run(api().DeviceDescription_Id);
    EXPECT_EQ(id->id, i);
    Call<abi::Device_AddressableMemories_Args> memories;
    memories->device = devices_[static_cast<size_t>(i)];
    memories.Run(api().Device_AddressableMemories);
    ASSERT_EQ(memories->num_memories, 3);
    Call<abi::Memory_Kind_Args> kind;
    kind->memory = memories->memories[0];
    kind.Run(api().Memory_Kind);
    EXPECT_EQ(std::string(kind->kind, kind->kind_size), "device");
  }
  Call<abi::Client_LookupDevice_Args> lookup;
  lookup->client = client_;
  lookup->id = 2;
  EXPECT_NE(lookup.Try(api().Client_LookupDevice).find("Device 2 does not exist"), std::string::npos);
}

// jaxlib 0.4 would write programs in a version of StableHLO that it does not have.
// Frameworks keep compiled programs under names that contain it.
TEST_F(PjrtClient, HasOneVersionInEveryProcess) {
  Call<abi::Client_PlatformVersion_Args> version;
  version->client = client_;
  version.Run(api().Client_PlatformVersion);
  const std::string text(version->platform_version, version->platform_version_size);
  EXPECT_TRUE(text.starts_with("hlod ")) << text;
  EXPECT_EQ(text.find("pid"), std::string::npos) << text;
}

TEST_F(PjrtClient, NamesItsStablehloOnlyToFrameworksThatCompareIt) {
  const auto first_attribute = [] {
    Call<abi::Plugin_Attributes_Args> call;
    EXPECT_EQ(call.Try(api().Plugin_Attributes), "");
    return std::string(call->attributes[0].name, call->attributes[0].name_size);
  };
  Destroy(Create(72));
  EXPECT_EQ(first_attribute(), "stablehlo_minimum_version");
  Destroy(Create(sizeof(abi::Client_Create_Args)));
  EXPECT_EQ(first_attribute(), "stablehlo_current_version");
}

TEST_F(PjrtClient, UploadsInAnyOrderAndDownloads) {
  const int32_t values[] = {1, 2, 3, 4, 5, 6};
  Buffer* const transposed = Upload(values, kS32, {3, 2}, {4, 12});
  int32_t out[6] = {};
  EXPECT_EQ(Download(transposed, out, sizeof(out)), "");
  EXPECT_EQ(std::vector<int32_t>(out, out + 6), (std::vector<int32_t>{1, 4, 2, 5, 3, 6}));
  Buffer* const reversed = Upload(values + 5, kS32, {6}, {-4});
  EXPECT_EQ(Download(reversed, out, sizeof(out)), "");
  EXPECT_EQ(std::vector<int32_t>(out, out + 6), (std::vector<int32_t>{6, 5, 4, 3, 2, 1}));
  int32_t middle[2] = {};
  Call<abi::Buffer_CopyRawToHost_Args> raw;
  raw->buffer = reversed;
  raw->dst = middle;
  raw->offset = 8;
  raw->transfer_size = 8;
  raw.Run(api().Buffer_CopyRawToHost);
  EXPECT_EQ(Await(raw->event), "");
  EXPECT_EQ(middle[0], 4);
  raw->offset = 20;
  EXPECT_NE(raw.Try(api().Buffer_CopyRawToHost).find("8 bytes at 20 are asked for of a buffer that has 24"),
            std::string::npos);
  raw->offset = INT64_MAX;  // The place where it would end is not counted.
  EXPECT_NE(raw.Try(api().Buffer_CopyRawToHost).find("8 bytes at 9223372036854775807 are"),
            std::string::npos);
  EXPECT_NE(Download(reversed, out, 4).find("dst_size is 4"), std::string::npos);
  Destroy(transposed);
  Destroy(reversed);
}

TEST_F(PjrtClient, RunsProgramsForFrameworksOfEveryAge) {
  LoadedExecutable* executable = nullptr;
  ASSERT_EQ(TryCompile(kDouble, &executable), "");
  // The sizes of the options at versions 0.54, 0.75, 0.80 and 0.112, and a later one.
  for (const size_t options_size : {72u, 80u, 112u, 144u, 200u}) {
    const float values[] = {1, 2, 3, 4};
    Buffer* const x = Upload(values, kF32, {4});
    std::vector<Buffer*> results(1);
    Event* done = nullptr;
    ASSERT_EQ(TryExecute(executable, {x}, results, &done, options_size), "") << options_size;
    EXPECT_EQ(Await(done), "");
    float out[4] = {};
    EXPECT_EQ(Download(results[0], out, sizeof(out)), "");
    EXPECT_EQ(out[3], 8);
    // The program consumed its argument.
    Call<abi::Buffer_IsDeleted_Args> deleted;
    deleted->buffer = x;
    deleted.Run(api().Buffer_IsDeleted);
    EXPECT_TRUE(deleted->is_deleted);
    EXPECT_EQ(
        TryExecute(executable, {x}, results, &done),
        "INVALID_ARGUMENT: Invalid buffer passed to Execute() as argument 0 to replica 0: INVALID_ARGUMENT: "
        "Buffer has been deleted or donated.");
    Destroy(x);
    Destroy(results[0]);
  }
  Call<abi::LoadedExecutable_Destroy_Args> destroy;
  destroy->executable = executable;
  destroy.Run(api().LoadedExecutable_Destroy);
}

TEST_F(PjrtClient, DescribesPrograms) {
  LoadedExecutable* loaded = nullptr;
  ASSERT_EQ(TryCompile(kDouble, &loaded), "");
  Call<abi::LoadedExecutable_GetExecutable_Args> get;
  get->loaded_executable = loaded;
  get.Run(api().LoadedExecutable_GetExecutable);
  Call<abi::LoadedExecutable_Destroy_Args> destroy_loaded;
  destroy_loaded->executable = loaded;
  destroy_loaded.Run(api().LoadedExecutable_Destroy);  // The program by itself stays.
  Call<abi::Executable_NumOutputs_Args> outputs;
  outputs->executable = get->executable;
  outputs.Run(api().Executable_NumOutputs);
  EXPECT_EQ(outputs->num_outputs, 1);
  Call<abi::Executable_OutputDimensions_Args> dims;
  dims->executable = get->executable;
  dims.Run(api().Executable_OutputDimensions);
  ASSERT_EQ(dims->dim_sizes[0], 1);
  EXPECT_EQ(dims->dims[0], 4);
  for (const size_t size : {104u, 112u, 144u}) {
    Call<abi::Executable_GetCompiledMemoryStats_Args> memory(size);
    memory->executable = get->executable;
    memory.Run(api().Executable_GetCompiledMemoryStats);
    EXPECT_EQ(memory->argument_size_in_bytes, 16);
    EXPECT_EQ(memory->output_size_in_bytes, 16);
    EXPECT_EQ(memory->alias_size_in_bytes, 16);  // The result is in the argument's memory.
  }
  abi::Program program = {};
  program.struct_size = sizeof(program);
  Call<abi::Executable_OptimizedProgram_Args> optimized;
  optimized->executable = get->executable;
  optimized->program = &program;
  optimized.Run(api().Executable_OptimizedProgram);
  std::string code(program.code_size, '\0');
  program.code = code.data();
  optimized.Run(api().Executable_OptimizedProgram);
  EXPECT_EQ(std::string(program.format, program.format_size), "hlo_with_config");
  Call<abi::Executable_Destroy_Args> destroy;
  destroy->executable = get->executable;
  destroy.Run(api().Executable_Destroy);
}

TEST_F(PjrtClient, RefusesProgramsThatAreWrong) {
  LoadedExecutable* executable = nullptr;
  EXPECT_NE(TryCompile("func.func @main(", &executable).find("INVALID_ARGUMENT"), std::string::npos);
  EXPECT_NE(TryCompile("", &executable), "");
  ASSERT_EQ(TryCompile(kDouble, &executable), "");
  std::vector<Buffer*> results(1);
  Event* done = nullptr;
  EXPECT_NE(TryExecute(executable, {}, results, &done).find("takes 1 arguments; 0 were given"),
            std::string::npos);
  EXPECT_NE(TryExecute(executable, {nullptr}, results, &done).find("is null"), std::string::npos);
  const float values[] = {1, 2};
  Buffer* const small = Upload(values, kF32, {2});
  EXPECT_NE(TryExecute(executable, {small}, results, &done).find("the program takes f32[4]"),
            std::string::npos);
  Destroy(small);
  Call<abi::LoadedExecutable_Destroy_Args> destroy;
  destroy->executable = executable;
  destroy.Run(api().LoadedExecutable_Destroy);
}

TEST_F(PjrtClient, CallsBackOncePerEvent) {
  const float values[] = {1, 2, 3, 4};
  Buffer* const x = Upload(values, kF32, {4});
  std::atomic<int> calls = 0;
  absl::Notification last;
  struct Counter {
    std::atomic<int>& calls;
    absl::Notification& last;
  } counter{calls, last};
  for (int i = 0; i < 50; ++i) {
    Call<abi::Buffer_ReadyEvent_Args> ready;
    ready->buffer = x;
    ready.Run(api().Buffer_ReadyEvent);
    Call<abi::Event_OnReady_Args> on_ready;
    on_ready->event = ready->event;
    on_ready->callback = [](Error* error, void* user) {
      EXPECT_EQ(Take(error), "");
      auto& counted = *static_cast<Counter*>(user);
      if (++counted.calls == 50) counted.last.Notify();
    };
    on_ready->user_arg = &counter;
    on_ready.Run(api().Event_OnReady);
    Destroy(ready->event);  // Also before the callback.
  }
  last.WaitForNotification();
  EXPECT_EQ(calls, 50);
  Destroy(x);
}

TEST_F(PjrtClient, SetsEvents) {
  Call<abi::Event_Create_Args> create;
  create.Run(api().Event_Create);
  Call<abi::Event_IsReady_Args> ready;
  ready->event = create->event;
  ready.Run(api().Event_IsReady);
  EXPECT_FALSE(ready->is_ready);
  Call<abi::Event_Set_Args> set;
  set->event = create->event;
  set->error_code = abi::ErrorCode(13);
  set->error_message = "broken";
  set->error_message_size = 6;
  set.Run(api().Event_Set);
  EXPECT_NE(set.Try(api().Event_Set), "");
  EXPECT_EQ(Await(create->event), "INTERNAL: broken");
}

TEST_F(PjrtClient, PassesAnArgumentsErrorOn) {
  LoadedExecutable* executable = nullptr;
  ASSERT_EQ(TryCompile(kDouble, &executable), "");
  Call<abi::Device_DefaultMemory_Args> memory;
  memory->device = devices_[0];
  memory.Run(api().Device_DefaultMemory);
  const int64_t dims[] = {4};
  Call<abi::Client_CreateErrorBuffer_Args> create;
  create->client = client_;
  create->error_code = abi::ErrorCode(15);
  create->error_message = "gone";
  create->error_message_size = 4;
  create->shape_dims = dims;
  create->shape_num_dims = 1;
  create->shape_element_type = abi::BufferType(kF32);
  create->memory = memory->memory;
  create.Run(api().Client_CreateErrorBuffer);
  std::vector<Buffer*> results(1);
  Event* done = nullptr;
  ASSERT_EQ(TryExecute(executable, {create->buffer}, results, &done), "");
  EXPECT_EQ(Await(done), "DATA_LOSS: gone");
  float out[4];
  EXPECT_EQ(Download(results[0], out, sizeof(out)), "DATA_LOSS: gone");
  Destroy(create->buffer);
  Destroy(results[0]);
  Call<abi::LoadedExecutable_Destroy_Args> destroy;
  destroy->executable = executable;
  destroy.Run(api().LoadedExecutable_Destroy);
}

TEST_F(PjrtClient, SurvivesTheDaemonsDeath) {
  const float values[] = {1, 2, 3, 4};
  Buffer* const x = Upload(values, kF32, {4});
  Buffer* const y = Upload(values, kF32, {4});
  LoadedExecutable* doubled = nullptr;
  ASSERT_EQ(TryCompile(kDouble, &doubled), "");
  daemon_->Kill(SIGKILL);
  // The results of an execution carry the error, before and after the client has noticed.
  for (int i = 0; i < 2; ++i) {
    std::vector<Buffer*> results(1);
    Event* done = nullptr;
    Buffer* const argument = i == 0 ? y : x;
    ASSERT_EQ(TryExecute(doubled, {argument}, results, &done), "");
    EXPECT_NE(Await(done).find("UNAVAILABLE"), std::string::npos);
    Destroy(results[0]);
  }
  Destroy(y);
  float out[4];
  EXPECT_NE(Download(x, out, sizeof(out)).find("UNAVAILABLE"), std::string::npos);
  Call<abi::Buffer_Memory_Args> memory;
  memory->buffer = x;
  memory.Run(api().Buffer_Memory);
  Call<abi::Buffer_Delete_Args> remove;
  remove->buffer = x;
  remove.Run(api().Buffer_Delete);
  Destroy(x);
  LoadedExecutable* executable = nullptr;
  EXPECT_NE(TryCompile(kDouble, &executable).find("UNAVAILABLE"), std::string::npos);
  Call<abi::LoadedExecutable_Destroy_Args> destroy;
  destroy->executable = doubled;
  destroy.Run(api().LoadedExecutable_Destroy);
}

TEST_F(PjrtClient, IsUsedFromManyThreads) {
  LoadedExecutable* executable = nullptr;
  ASSERT_EQ(TryCompile(kDouble, &executable), "");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const float value = static_cast<float>(100 * t + i);
        const float values[] = {value, value, value, value};
        Buffer* const x = Upload(values, kF32, {4});
        std::vector<Buffer*> results(1);
        Event* done = nullptr;
        EXPECT_EQ(TryExecute(executable, {x}, results, &done), "");
        float out[4] = {};
        EXPECT_EQ(Download(results[0], out, sizeof(out)), "");
        EXPECT_EQ(out[2], 2 * value);
        EXPECT_EQ(Await(done), "");
        Destroy(x);
        Destroy(results[0]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Call<abi::LoadedExecutable_Destroy_Args> destroy;
  destroy->executable = executable;
  destroy.Run(api().LoadedExecutable_Destroy);
}

}  // namespace
}  // namespace hlod::pjrt
