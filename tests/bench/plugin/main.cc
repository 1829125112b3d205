// The plugin's time for tiny programs, beside an echo on a bare gRPC stream in the same run. The calls are
// those of jaxlib: a callback for the end of each execution, and one that wakes the thread that waits for a
// result. The plugin starts a private daemon.
//
//   [HLOD_DAEMON=DAEMON] plugin_bench [--repeats N] [LIBRARY]
//
// DAEMON and LIBRARY are those of this build unless they are given. This program must not contain hlod's
// library itself: its messages would be registered twice with protobuf.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "client/pjrt/abi/api.h"
#include "tests/bench/wire/bare_peer.h"
#include "tests/bench/wire/report.h"

namespace hlod::bench {
namespace {

namespace abi = pjrt::abi;

constexpr int kF32 = 11;  // PJRT_Buffer_Type_F32
constexpr char kAddOne[] = R"(
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %y = stablehlo.add %x, %one : tensor<f32>
  return %y : tensor<f32>
}
)";

// Calls an entry; ends the program when it fails. Returns its arguments with the results.
template <typename Arguments>
Arguments Run(pjrt::Error* (*entry)(Arguments*), Arguments arguments) {
  arguments.struct_size = sizeof(arguments);
  if (entry(&arguments) == nullptr) return arguments;
  std::fprintf(stderr, "An entry of the plugin failed.\n");
  std::exit(1);
}

class Plugin {
 public:
  // Starts a private daemon.
  explicit Plugin(const std::string& library) : api_(Load(library)) {
    abi::Client_Create_Args create = {};
    client_ = Run(api_.Client_Create, create).client;
    abi::Client_Devices_Args devices = {};
    devices.client = client_;
    device_ = Run(api_.Client_Devices, devices).devices[0];
    executable_ = Compile(kAddOne);
    one_ = Upload(1);
  }
  ~Plugin() {
    Destroy(one_);
    abi::LoadedExecutable_Destroy_Args executable = {};
    executable.executable = executable_;
    Run(api_.LoadedExecutable_Destroy, executable);
    abi::Client_Destroy_Args client = {};
    client.client = client_;
    Run(api_.Client_Destroy, client);
  }

  pjrt::Buffer* one() const { return one_; }
  pjrt::Buffer* Execute(pjrt::Buffer* x) const {
    abi::ExecuteOptions options = {};
    options.struct_size = sizeof(options);
    options.call_location = "bench.py:1";
    pjrt::Buffer* const arguments[] = {x};
    pjrt::Buffer* const* const lists[] = {arguments};
    pjrt::Buffer* result = nullptr;
    pjrt::Buffer** const results[] = {&result};
    pjrt::Event* done = nullptr;
    abi::LoadedExecutable_Execute_Args execute = {};
    execute.executable = executable_;
    execute.options = &options;
    execute.argument_lists = lists;
    execute.num_devices = 1;
    execute.num_args = 1;
    execute.output_lists = results;
    execute.device_complete_events = &done;
    Run(api_.LoadedExecutable_Execute, execute);
    Tell(done, nullptr);
    return result;
  }
  void Await(pjrt::Buffer* buffer) const {
    abi::Buffer_ReadyEvent_Args ready = {};
    ready.buffer = buffer;
    Await(Run(api_.Buffer_ReadyEvent, ready).event);
  }
  float Read(pjrt::Buffer* buffer) const {
    float value = 0;
    abi::Buffer_ToHostBuffer_Args read = {};
    read.src = buffer;
    read.dst = &value;
    read.dst_size = sizeof(value);
    Await(Run(api_.Buffer_ToHostBuffer, read).event);
    return value;
  }
  void Destroy(pjrt::Buffer* buffer) const {
    abi::Buffer_Destroy_Args destroy = {};
    destroy.buffer = buffer;
    Run(api_.Buffer_Destroy, destroy);
  }

 private:
  static const abi::Api& Load(const std::string& path) {
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    using Get = const abi::Api* (*)();
    const auto get = library == nullptr ? nullptr : reinterpret_cast<Get>(dlsym(library, "GetPjrtApi"));
    if (get != nullptr) return *get();
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  // Has the event's end told, destroys the event then, and notifies unless that is null.
  void Tell(pjrt::Event* event, absl::Notification* notification) const {
    struct Told {
      const abi::Api& api;
      pjrt::Event* event;
      absl::Notification* notification;
    };
    abi::Event_OnReady_Args on_ready = {};
    on_ready.event = event;
    on_ready.user_arg = new Told{api_, event, notification};
    on_ready.callback = [](pjrt::Error* error, void* user_arg) {
      if (error != nullptr) std::exit(1);
      const std::unique_ptr<Told> told(static_cast<Told*>(user_arg));
      abi::Event_Destroy_Args destroy = {};
      destroy.event = told->event;
      Run(told->api.Event_Destroy, destroy);
      if (told->notification != nullptr) told->notification->Notify();
    };
    Run(api_.Event_OnReady, on_ready);
  }
  void Await(pjrt::Event* event) const {
    absl::Notification done;
    Tell(event, &done);
    done.WaitForNotification();
  }
  pjrt::LoadedExecutable* Compile(std::string text) const {
    abi::Program program = {};
    program.struct_size = sizeof(program);
    program.code = text.data();
    program.code_size = text.size();
    program.format = "mlir";
    program.format_size = std::strlen(program.format);
    abi::Client_Compile_Args compile = {};
    compile.client = client_;
    compile.program = &program;
    return Run(api_.Client_Compile, compile).executable;
  }
  pjrt::Buffer* Upload(float value) const {
    abi::Client_BufferFromHostBuffer_Args upload = {};
    upload.client = client_;
    upload.data = &value;
    upload.type = abi::BufferType(kF32);
    upload.device = device_;
    upload = Run(api_.Client_BufferFromHostBuffer, upload);
    Await(upload.done_with_host_buffer);
    return upload.buffer;
  }

  const abi::Api& api_;
  pjrt::Client* client_;
  pjrt::Device* device_;
  pjrt::LoadedExecutable* executable_;
  pjrt::Buffer* one_;
};

// Returns the median time of a call, in microseconds.
double MedianMicroseconds(int count, const std::function<void()>& call) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const double start = Now();
    call();
    times.push_back((Now() - start) * 1e6);
  }
  return Median(times);
}

void Measure(const Plugin& plugin, BareStream& echo, int repeats) {
  const grpc::Slice bytes(std::string(64, 'x'));
  const grpc::ByteBuffer message(&bytes, 1);
  constexpr int kCount = 2000, kChain = 1000;
  const auto bare = [&] {
    return MedianMicroseconds(kCount, [&] {
      echo.Read();
      echo.Write(message);
      echo.Next();
      echo.Next();
    });
  };
  const auto row = [&](const char* what, const char* aim, const std::function<double()>& ours) {
    ours();
    Print(what, Interleave(repeats, ours, bare), "us", "bare stream echo", aim);
  };
  row("plugin, execute and wait", "<= 1.5", [&] {
    return MedianMicroseconds(kCount, [&] {
      pjrt::Buffer* const y = plugin.Execute(plugin.one());
      plugin.Await(y);
      plugin.Destroy(y);
    });
  });
  row("plugin, execute and read", "<= 1.5", [&] {
    return MedianMicroseconds(kCount, [&] {
      pjrt::Buffer* const y = plugin.Execute(plugin.one());
      if (plugin.Read(y) != 2) std::exit(1);
      plugin.Destroy(y);
    });
  });
  row("plugin, dispatch", "-", [&] {
    std::vector<pjrt::Buffer*> results;
    const double median =
        MedianMicroseconds(kChain, [&] { results.push_back(plugin.Execute(plugin.one())); });
    plugin.Await(results.back());
    for (pjrt::Buffer* const each : results) plugin.Destroy(each);
    return median;
  });
  row("plugin, each of 1,000 chained", "-", [&] {
    const double start = Now();
    pjrt::Buffer* y = plugin.Execute(plugin.one());
    for (int i = 1; i < kChain; ++i) {
      pjrt::Buffer* const next = plugin.Execute(y);
      plugin.Destroy(std::exchange(y, next));
    }
    plugin.Await(y);
    plugin.Destroy(y);
    return (Now() - start) * 1e6 / kChain;
  });
}

}  // namespace
}  // namespace hlod::bench

int main(int argc, char** argv) {
  using namespace hlod::bench;  // NOLINT
  if (argc == 3 && std::strcmp(argv[1], "--bare-server") == 0) {
    RunBareServer(argv[2]);
    return 0;
  }
  const std::filesystem::path build =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  setenv("HLOD_DAEMON", (build / "bin/hlod").c_str(), /*overwrite=*/0);
  int repeats = 5;
  std::string library = build / "lib/libpjrt_hlod.so";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--repeats") == 0 && i + 1 < argc) {
      repeats = std::atoi(argv[++i]);
    } else {
      library = argv[i];
    }
  }
  const std::string path = "/tmp/hlod-bench-" + std::to_string(getpid()) + ".sock";
  {
    const BarePeer peer("unix:" + path);
    const Plugin plugin(library);
    BareStream echo(peer.address(), "/bare/Echo");
    Measure(plugin, echo, repeats);
  }
  unlink(path.c_str());
}
