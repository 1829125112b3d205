// Calls the plugin as a framework does.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/pjrt/abi/api.h"
#include "gtest/gtest.h"
#include "hlod/testing.h"

extern "C" const hlod::pjrt::abi::Api* GetPjrtApi();

namespace hlod::pjrt {

// Numbers of element types.
inline constexpr int kS32 = 4, kF32 = 11;

inline const abi::Api& api() { return *GetPjrtApi(); }

// Takes an error: returns "" for none, else "CODE: message", and destroys it.
inline std::string Take(Error* error) {
  if (error == nullptr) return "";
  abi::Error_GetCode_Args code = {{sizeof(code), nullptr}, error};
  EXPECT_EQ(api().Error_GetCode(&code), nullptr);
  abi::Error_Message_Args message = {{sizeof(message), nullptr}, error};
  api().Error_Message(&message);
  const std::string text = absl::StatusCodeToString(static_cast<absl::StatusCode>(code.code)) + ": " +
                           std::string(message.message, message.message_size);
  abi::Error_Destroy_Args destroy = {{sizeof(destroy), nullptr}, error};
  api().Error_Destroy(&destroy);
  return text;
}

// Arguments of one entry, with the size that a framework states, among bytes that the plugin must not write.
template <typename Arguments>
class Call {
 public:
  explicit Call(size_t struct_size = sizeof(Arguments)) : size_(struct_size) {
    std::memset(bytes_, kUntouched, sizeof(bytes_));
    std::memset(bytes_, 0, std::min(struct_size, sizeof(Arguments)));
    args().struct_size = struct_size;
  }
  Arguments* operator->() { return &args(); }
  Arguments& args() { return *reinterpret_cast<Arguments*>(bytes_); }

  std::string Try(Error* (*entry)(Arguments*)) {
    const std::string error = Take(entry(&args()));
    for (size_t i = size_; i < sizeof(bytes_); ++i) {
      if (bytes_[i] != kUntouched) return "wrote beyond struct_size";
    }
    return error;
  }
  void Run(Error* (*entry)(Arguments*)) { ASSERT_EQ(Try(entry), ""); }

 private:
  static constexpr unsigned char kUntouched = 0xAB;
  const size_t size_;
  alignas(16) unsigned char bytes_[sizeof(Arguments) + 64];
};

// A daemon and a client of it, by the interface alone.
class PjrtClient : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<testing::Daemon> daemon = testing::Daemon::Start({.flags = {"--devices", "2"}});
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = std::make_unique<testing::Daemon>(*std::move(daemon));
    client_ = Create(sizeof(abi::Client_Create_Args));
    Call<abi::Client_Devices_Args> devices;
    devices->client = client_;
    devices.Run(api().Client_Devices);
    devices_.assign(devices->devices, devices->devices + devices->num_devices);
  }
  void TearDown() override {
    if (client_ != nullptr) Destroy(client_);
  }

  // Connects, as a framework whose arguments have this size.
  Client* Create(size_t struct_size) {
    const std::string address = daemon_->address();
    abi::NamedValue option = {};
    option.struct_size = sizeof(option);
    option.name = "address";
    option.name_size = 7;
    option.type = abi::NamedValueType::kString;
    option.string_value = address.data();
    option.value_size = address.size();
    Call<abi::Client_Create_Args> create(struct_size);
    create->create_options = &option;
    create->num_options = 1;
    EXPECT_EQ(create.Try(api().Client_Create), "");
    return create->client;
  }
  void Destroy(Client* client) {
    Call<abi::Client_Destroy_Args> destroy;
    destroy->client = client;
    destroy.Run(api().Client_Destroy);
  }

  // Uploads to the first device unless another is given.
  Buffer* Upload(const void* data, int type, std::vector<int64_t> dims, std::vector<int64_t> strides = {},
                 Device* device = nullptr) {
    Call<abi::Client_BufferFromHostBuffer_Args> upload;
    upload->client = client_;
    upload->data = data;
    upload->type = abi::BufferType(type);
    upload->dims = dims.data();
    upload->num_dims = dims.size();
    upload->byte_strides = strides.empty() ? nullptr : strides.data();
    upload->num_byte_strides = strides.size();
    upload->device = device == nullptr ? devices_[0] : device;
    EXPECT_EQ(upload.Try(api().Client_BufferFromHostBuffer), "");
    EXPECT_EQ(Await(upload->done_with_host_buffer), "");
    return upload->buffer;
  }

  std::string AwaitOnly(Event* event) {
    Call<abi::Event_Await_Args> await;
    await->event = event;
    return await.Try(api().Event_Await);
  }
  void Destroy(Event* event) {
    Call<abi::Event_Destroy_Args> destroy;
    destroy->event = event;
    destroy.Run(api().Event_Destroy);
  }
  std::string Await(Event* event) {
    std::string error = AwaitOnly(event);
    Destroy(event);
    return error;
  }
  void Destroy(Buffer* buffer) {
    Call<abi::Buffer_Destroy_Args> destroy;
    destroy->buffer = buffer;
    destroy.Run(api().Buffer_Destroy);
  }

  std::string Download(Buffer* buffer, void* out, size_t size) {
    Call<abi::Buffer_ToHostBuffer_Args> download;
    download->src = buffer;
    download->dst = out;
    download->dst_size = size;
    if (std::string error = download.Try(api().Buffer_ToHostBuffer); !error.empty()) return error;
    return Await(download->event);
  }

  // `options` is a serialized CompileOptionsProto.
  std::string TryCompile(std::string text, LoadedExecutable** executable, std::string_view options = {}) {
    abi::Program program = {};
    program.struct_size = sizeof(program);
    program.code = text.data();
    program.code_size = text.size();
    program.format = "mlir";
    program.format_size = 4;
    Call<abi::Client_Compile_Args> compile;
    compile->client = client_;
    compile->program = &program;
    compile->compile_options = options.data();
    compile->compile_options_size = options.size();
    const std::string error = compile.Try(api().Client_Compile);
    *executable = compile->executable;
    return error;
  }

  // Runs the program on `device`; on its own device when that is null.
  std::string TryExecute(LoadedExecutable* executable, std::vector<Buffer*> arguments,
                         std::vector<Buffer*>& results, Event** done,
                         size_t options_size = sizeof(abi::ExecuteOptions), Device* device = nullptr) {
    Call<abi::ExecuteOptions> options(options_size);
    Buffer* const* lists[] = {arguments.data()};
    Buffer** outputs[] = {results.data()};
    Call<abi::LoadedExecutable_Execute_Args> execute;
    execute->executable = executable;
    execute->options = &options.args();
    execute->argument_lists = lists;
    execute->num_devices = 1;
    execute->num_args = arguments.size();
    execute->output_lists = outputs;
    execute->device_complete_events = done;
    execute->execute_device = device;
    return execute.Try(api().LoadedExecutable_Execute);
  }

  std::unique_ptr<testing::Daemon> daemon_;
  Client* client_ = nullptr;
  std::vector<Device*> devices_;
};

}  // namespace hlod::pjrt
