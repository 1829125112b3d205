// Handles in wrong places and orders, members of arguments that are null, and callbacks that fail.
#include <atomic>
#include <thread>

#include "client/pjrt/abi/transfer.h"
#include "tests/unit/client/pjrt/driver.h"

namespace hlod::pjrt {
namespace {

constexpr int kFloat = 11;
constexpr float kOneToFour[] = {1, 2, 3, 4};

constexpr char kSum[] = R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.add %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
)";

// Sends its argument to the host by channel 1, and returns what comes back by channel 2.
constexpr char kCallback[] = R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %s = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %r:2 = "stablehlo.recv"(%s) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %r#0 : tensor<4xf32>
}
)";

class PjrtMisuse : public PjrtClient {
 protected:
  void Destroy(LoadedExecutable* executable) {
    Call<abi::LoadedExecutable_Destroy_Args> destroy;
    destroy->executable = executable;
    destroy.Run(api().LoadedExecutable_Destroy);
  }
  using PjrtClient::Destroy;

  Device* FirstDevice(Client* client) {
    Call<abi::Client_Devices_Args> devices;
    devices->client = client;
    devices.Run(api().Client_Devices);
    return devices->devices[0];
  }
  Memory* MemoryOf(Device* device) {
    Call<abi::Device_DefaultMemory_Args> memory;
    memory->device = device;
    memory.Run(api().Device_DefaultMemory);
    return memory->memory;
  }
  Event* ReadyEvent(Buffer* buffer) {
    Call<abi::Buffer_ReadyEvent_Args> ready;
    ready->buffer = buffer;
    ready.Run(api().Buffer_ReadyEvent);
    return ready->event;
  }
  std::string OnReady(Event* event, void (*callback)(Error*, void*), void* user_arg) {
    Call<abi::Event_OnReady_Args> on_ready;
    on_ready->event = event;
    on_ready->callback = callback;
    on_ready->user_arg = user_arg;
    return on_ready.Try(api().Event_OnReady);
  }

  // Runs kCallback with these functions of the host. Returns the error of its end.
  std::string RunCallback(LoadedExecutable* executable, abi::SendCallback send, abi::RecvCallback receive) {
    Buffer* const x = Upload(kOneToFour, kFloat, {4});
    abi::SendCallbackInfo send_info = {1, nullptr, send};
    abi::RecvCallbackInfo receive_info = {2, nullptr, receive};
    abi::SendCallbackInfo* sends[] = {&send_info};
    abi::RecvCallbackInfo* receives[] = {&receive_info};
    Call<abi::ExecuteOptions> options;
    options->send_callbacks = sends;
    options->recv_callbacks = receives;
    options->num_send_ops = options->num_recv_ops = 1;
    Buffer* const arguments[] = {x};
    Buffer* results[] = {nullptr};
    Buffer* const* lists[] = {arguments};
    Buffer** outputs[] = {results};
    Event* done = nullptr;
    Call<abi::LoadedExecutable_Execute_Args> execute;
    execute->executable = executable;
    execute->options = &options.args();
    execute->argument_lists = lists;
    execute->num_devices = execute->num_args = 1;
    execute->output_lists = outputs;
    execute->device_complete_events = &done;
    std::string error = execute.Try(api().LoadedExecutable_Execute);
    if (error.empty()) {
      error = Await(done);
      float out[4] = {};
      const std::string read = Download(results[0], out, sizeof(out));
      EXPECT_EQ(read, error);
      EXPECT_EQ(out[3], read.empty() ? 4 : 0);
      Destroy(results[0]);
    }
    Destroy(x);
    return error;
  }
};

void FreeChunk(abi::Chunk* chunk) { chunk->deleter(chunk->data, chunk->deleter_arg); }

Error* Takes(abi::Chunk* chunk, Error* (**)(abi::ErrorCode, const char*, size_t), size_t, bool, void*) {
  FreeChunk(chunk);
  return nullptr;
}

std::string AddChunk(CopyToDeviceStream* stream, const void* data, size_t size) {
  abi::Chunk chunk = {const_cast<void*>(data), size, nullptr, nullptr};
  Call<abi::CopyToDeviceStream_AddChunk_Args> add;
  add->stream = stream;
  add->chunk = &chunk;
  std::string error = add.Try(api().CopyToDeviceStream_AddChunk);
  if (error.empty()) {
    Call<abi::Event_Destroy_Args> destroy;
    destroy->event = add->transfer_complete;
    destroy.Run(api().Event_Destroy);
  }
  return error;
}

void Gives(CopyToDeviceStream* stream, void*) {
  EXPECT_EQ(AddChunk(stream, kOneToFour, sizeof(kOneToFour)), "");
  Call<abi::CopyToDeviceStream_Destroy_Args> destroy;
  destroy->stream = stream;
  destroy.Run(api().CopyToDeviceStream_Destroy);
}

TEST_F(PjrtMisuse, BuffersAndProgramsAndEventsOutliveTheirClient) {
  Buffer* const x = Upload(kOneToFour, kFloat, {4});
  LoadedExecutable* executable = nullptr;
  ASSERT_EQ(TryCompile(kSum, &executable), "");
  std::vector<Buffer*> results(1);
  Event* done = nullptr;
  ASSERT_EQ(TryExecute(executable, {x}, results, &done), "");
  Event* const ready = ReadyEvent(results[0]);
  Client* const gone = client_;
  client_ = nullptr;
  Destroy(gone);
  Call<abi::Client_Destroy_Args> again;
  again->client = gone;
  EXPECT_NE(again.Try(api().Client_Destroy).find("was destroyed before"), std::string::npos);
  EXPECT_EQ(Await(done), "");
  float out[4] = {};
  EXPECT_EQ(Download(results[0], out, sizeof(out)), "");
  EXPECT_EQ(out[3], 8);
  Destroy(x);
  Destroy(results[0]);
  Destroy(executable);
  EXPECT_EQ(Await(ready), "");
}

// As at the end of a framework that has lost its handles: the data of memories ends with the client all the
// same.
TEST_F(PjrtMisuse, EndsTheDataOfMemoriesWithTheClient) {
  Buffer* const x = Upload(kOneToFour, kFloat, {4});
  int ended = 0, key = 0;
  struct Head {
    const abi::MemoryFunctions* functions;
  };
  Memory* const memory = MemoryOf(devices_[0]);
  reinterpret_cast<const Head*>(memory)->functions->set_user_data(
      memory, &key, &ended, [](void* data) { ++*static_cast<int*>(data); });
  Destroy(client_);
  client_ = nullptr;
  EXPECT_EQ(ended, 1);
  Destroy(x);
  EXPECT_EQ(ended, 1);
}

TEST_F(PjrtMisuse, RefusesWhatBelongsToAnotherClient) {
  Client* other = Create(sizeof(abi::Client_Create_Args));
  Device* const foreign = FirstDevice(other);
  const int64_t dims[] = {4};
  const auto refused = [](const std::string& text) {
    return text.find("another client") != std::string::npos ? "" : "not refused: " + text;
  };
  Call<abi::Client_BufferFromHostBuffer_Args> upload;
  upload->client = client_;
  upload->data = kOneToFour;
  upload->type = abi::BufferType(kFloat);
  upload->dims = dims;
  upload->num_dims = 1;
  upload->device = foreign;
  EXPECT_EQ(refused(upload.Try(api().Client_BufferFromHostBuffer)), "");
  upload->device = nullptr;
  upload->memory = MemoryOf(foreign);
  EXPECT_EQ(refused(upload.Try(api().Client_BufferFromHostBuffer)), "");
  Call<abi::Client_CreateUninitializedBuffer_Args> uninitialized;
  uninitialized->client = client_;
  uninitialized->shape_dims = dims;
  uninitialized->shape_num_dims = 1;
  uninitialized->shape_element_type = abi::BufferType(kFloat);
  uninitialized->device = foreign;
  EXPECT_EQ(refused(uninitialized.Try(api().Client_CreateUninitializedBuffer)), "");
  Call<abi::Client_CreateErrorBuffer_Args> broken;
  broken->client = client_;
  broken->error_code = abi::ErrorCode(13);
  broken->shape_dims = dims;
  broken->shape_num_dims = 1;
  broken->shape_element_type = abi::BufferType(kFloat);
  broken->memory = MemoryOf(foreign);
  EXPECT_EQ(refused(broken.Try(api().Client_CreateErrorBuffer)), "");

  Buffer* const x = Upload(kOneToFour, kFloat, {4});
  Call<abi::Buffer_CopyToDevice_Args> copy;
  copy->buffer = x;
  copy->dst_device = foreign;
  EXPECT_NE(copy.Try(api().Buffer_CopyToDevice), "");
  LoadedExecutable* executable = nullptr;
  std::swap(client_, other);
  ASSERT_EQ(TryCompile(kSum, &executable), "");
  std::vector<Buffer*> results(1);
  Event* done = nullptr;
  EXPECT_EQ(refused(TryExecute(executable, {x}, results, &done)), "");
  std::swap(client_, other);
  Destroy(x);
  Destroy(executable);
  Destroy(other);
}

TEST_F(PjrtMisuse, RefusesNullsInsideOfTheArgumentsOfExecute) {
  LoadedExecutable* executable = nullptr;
  ASSERT_EQ(TryCompile(kCallback, &executable), "");
  Buffer* const x = Upload(kOneToFour, kFloat, {4});
  Buffer* const arguments[] = {x};
  Buffer* results[] = {nullptr};
  Buffer* const* lists[] = {arguments};
  Buffer** outputs[] = {results};
  abi::SendCallbackInfo send_info = {1, nullptr, nullptr};
  abi::RecvCallbackInfo receive_info = {2, nullptr, nullptr};
  abi::SendCallbackInfo* sends[] = {nullptr};
  abi::RecvCallbackInfo* receives[] = {nullptr};
  Call<abi::ExecuteOptions> options;
  Call<abi::LoadedExecutable_Execute_Args> execute;
  execute->executable = executable;
  execute->options = &options.args();
  execute->argument_lists = lists;
  execute->num_devices = execute->num_args = 1;
  execute->output_lists = outputs;
  const auto refused = [&](std::string_view text) {
    const std::string error = execute.Try(api().LoadedExecutable_Execute);
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  lists[0] = nullptr;
  refused("argument_lists[i] is null");
  lists[0] = arguments;
  outputs[0] = nullptr;
  refused("output_lists[i] is null");
  outputs[0] = results;
  options->num_non_donatable_input_indices = 1;
  refused("non_donatable_input_indices is null");
  options->num_non_donatable_input_indices = 0;
  options->send_callbacks = sends;
  options->num_send_ops = 1;
  refused("send_callbacks[i] is null");
  sends[0] = &send_info;
  refused("send_callback of channel 1 is null");
  send_info.send_callback = Takes;
  options->recv_callbacks = receives;
  options->num_recv_ops = 1;
  refused("recv_callbacks[i] is null");
  receives[0] = &receive_info;
  refused("recv_callback of channel 2 is null");
  Destroy(x);
  Destroy(executable);
}

TEST_F(PjrtMisuse, RefusesNullsInLayoutsAndOptions) {
  Buffer* const x = Upload(kOneToFour, kFloat, {4});
  float out[4];
  abi::Buffer_MemoryLayout layout = {};
  layout.struct_size = sizeof(layout);
  layout.type = abi::LayoutType::kTiled;
  layout.tiled.minor_to_major_size = 1;
  Call<abi::Buffer_ToHostBuffer_Args> download;
  download->src = x;
  download->dst = out;
  download->dst_size = sizeof(out);
  download->host_layout = &layout;
  EXPECT_NE(download.Try(api().Buffer_ToHostBuffer).find("minor_to_major is null"), std::string::npos);
  layout = {};
  layout.struct_size = sizeof(layout);
  layout.type = abi::LayoutType::kStrides;
  layout.strides.num_byte_strides = 1;
  EXPECT_NE(download.Try(api().Buffer_ToHostBuffer).find("byte_strides is null"), std::string::npos);
  Destroy(x);

  abi::NamedValue option = {};
  option.struct_size = sizeof(option);
  option.name_size = 7;
  option.type = abi::NamedValueType::kString;
  option.value_size = 5;
  Call<abi::Client_Create_Args> create;
  create->create_options = &option;
  create->num_options = 1;
  EXPECT_NE(create.Try(api().Client_Create).find("name is null"), std::string::npos);
  option.name = "address";
  EXPECT_NE(create.Try(api().Client_Create).find("string_value is null"), std::string::npos);
  option.type = abi::NamedValueType::kInt64;
  EXPECT_NE(create.Try(api().Client_Create).find("address is not a string"), std::string::npos);
}

TEST_F(PjrtMisuse, RefusesSeveralProcessesWithoutAStore) {
  abi::NamedValue option = {};
  option.struct_size = sizeof(option);
  option.name = "num_nodes";
  option.name_size = 9;
  option.type = abi::NamedValueType::kInt64;
  option.int64_value = 2;
  option.value_size = 1;
  Call<abi::Client_Create_Args> create;
  create->create_options = &option;
  create->num_options = 1;
  EXPECT_THAT(create.Try(api().Client_Create),
              ::testing::HasSubstr("2 processes are to run programs together (num_nodes), but the framework "
                                   "gives no key-value store"));
}

TEST_F(PjrtMisuse, LetsACallbackDestroyItsEvent) {
  struct Seen {
    Event* event;
    int calls;
  };
  const auto destroys = [](Error* error, void* user) {
    EXPECT_EQ(Take(error), "");
    auto& seen = *static_cast<Seen*>(user);
    ++seen.calls;
    Call<abi::Event_Destroy_Args> destroy;
    destroy->event = seen.event;
    destroy.Run(api().Event_Destroy);
  };
  Call<abi::Event_Create_Args> create;
  create.Run(api().Event_Create);
  Seen before = {create->event, 0};
  EXPECT_EQ(OnReady(before.event, destroys, &before), "");
  Call<abi::Event_Set_Args> set;
  set->event = before.event;
  set.Run(api().Event_Set);
  EXPECT_EQ(before.calls, 1);

  Buffer* const x = Upload(kOneToFour, kFloat, {4});
  Seen after = {ReadyEvent(x), 0};
  EXPECT_EQ(AwaitOnly(after.event), "");
  EXPECT_EQ(OnReady(after.event, destroys, &after), "");  // It is ready: called at once.
  EXPECT_EQ(after.calls, 1);
  EXPECT_NE(OnReady(before.event = ReadyEvent(x), nullptr, nullptr).find("callback is null"),
            std::string::npos);
  Destroy(before.event);
  Destroy(x);
}

TEST_F(PjrtMisuse, ReportsCallbacksThatFailAndRunsTheNextProgram) {
  LoadedExecutable* executable = nullptr;
  ASSERT_EQ(TryCompile(kCallback, &executable), "");
  EXPECT_EQ(RunCallback(executable, Takes, Gives), "");
  const abi::SendCallback fails = [](abi::Chunk* chunk, Error* (**make)(abi::ErrorCode, const char*, size_t),
                                     size_t, bool, void*) {
    FreeChunk(chunk);
    return (*make)(abi::ErrorCode(9), "not now", 7);
  };
  EXPECT_EQ(RunCallback(executable, fails, Gives), "FAILED_PRECONDITION: not now");
  const abi::SendCallback throws = [](abi::Chunk* chunk, Error* (**)(abi::ErrorCode, const char*, size_t),
                                      size_t, bool, void*) -> Error* {
    FreeChunk(chunk);
    throw 1;
  };
  EXPECT_NE(RunCallback(executable, throws, Gives).find("an exception of an unknown type"),
            std::string::npos);
  EXPECT_EQ(RunCallback(executable, Takes, Gives), "");
  Destroy(executable);
}

TEST_F(PjrtMisuse, EndsAProgramWhoseValueNeverComes) {
  LoadedExecutable* executable = nullptr;
  ASSERT_EQ(TryCompile(kCallback, &executable), "");
  const abi::RecvCallback cuts_short = [](CopyToDeviceStream* stream, void*) {
    EXPECT_EQ(AddChunk(stream, kOneToFour, 6), "");
    Call<abi::CopyToDeviceStream_Destroy_Args> destroy;
    destroy->stream = stream;
    destroy.Run(api().CopyToDeviceStream_Destroy);
  };
  EXPECT_EQ(RunCallback(executable, Takes, cuts_short),
            "FAILED_PRECONDITION: The stream to channel 2 was destroyed after 6 of 16 bytes.");
  EXPECT_EQ(RunCallback(executable, Takes, Gives), "");
  Destroy(executable);
}

// An empty chunk after the last one must not send the value once more: the next execution would receive it.
TEST_F(PjrtMisuse, SendsAValueOnceHoweverItsChunksCome) {
  LoadedExecutable* executable = nullptr;
  ASSERT_EQ(TryCompile(kCallback, &executable), "");
  const abi::RecvCallback in_pieces = [](CopyToDeviceStream* stream, void*) {
    const float wrong[] = {9, 9, 9, 9};
    EXPECT_NE(AddChunk(stream, nullptr, 4).find("is null"), std::string::npos);
    EXPECT_NE(AddChunk(stream, wrong, ~size_t{0}).find("too large"), std::string::npos);
    EXPECT_EQ(AddChunk(stream, kOneToFour, 6), "");
    EXPECT_NE(AddChunk(stream, wrong, 11).find("too large"), std::string::npos);
    EXPECT_EQ(AddChunk(stream, reinterpret_cast<const char*>(kOneToFour) + 6, 10), "");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(AddChunk(stream, nullptr, 0), "");
    Call<abi::CopyToDeviceStream_Destroy_Args> destroy;
    destroy->stream = stream;
    destroy.Run(api().CopyToDeviceStream_Destroy);
  };
  EXPECT_EQ(RunCallback(executable, Takes, in_pieces), "");
  EXPECT_EQ(RunCallback(executable, Takes, Gives), "");
  Destroy(executable);
}

TEST_F(PjrtMisuse, SharesBuffersAmongThreadsThatDeleteThem) {
  LoadedExecutable* executable = nullptr;
  ASSERT_EQ(TryCompile(kSum, &executable), "");
  for (int round = 0; round < 10; ++round) {
    std::vector<Buffer*> shared;
    for (int i = 0; i < 4; ++i) shared.push_back(Upload(kOneToFour, kFloat, {4}));
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = 0; i < 4; ++i) {
          Buffer* const x = shared[(i + t) % 4];
          std::vector<Buffer*> results(1);
          Event* done = nullptr;
          std::string error = TryExecute(executable, {x}, results, &done);
          float out[4] = {};
          if (error.empty()) {
            EXPECT_EQ(Download(results[0], out, sizeof(out)), "");
            EXPECT_EQ(out[2], 6);
            EXPECT_EQ(Await(done), "");
            Destroy(results[0]);
          }
          if (error.empty()) error = Download(x, out, sizeof(out));
          if (!error.empty()) {
            EXPECT_NE(error.find("deleted or donated"), std::string::npos) << error;
          }
          if (t % 2 == 0 && i == 2) {
            Call<abi::Buffer_Delete_Args> remove;
            remove->buffer = x;
            remove.Run(api().Buffer_Delete);
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (Buffer* const buffer : shared) Destroy(buffer);
  }
  Call<abi::LoadedExecutable_Delete_Args> remove;
  remove->executable = executable;
  remove.Run(api().LoadedExecutable_Delete);
  Buffer* const x = Upload(kOneToFour, kFloat, {4});
  std::vector<Buffer*> results(1);
  Event* done = nullptr;
  EXPECT_NE(TryExecute(executable, {x}, results, &done).find("was deleted"), std::string::npos);
  Destroy(x);
  Destroy(executable);
}

}  // namespace
}  // namespace hlod::pjrt
