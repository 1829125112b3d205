// A client to be killed: crash_client ADDRESS upload|upload_stream|execute|idle|leave. Prints "ready" when it
// is in the middle of that; `leave` then ends without closing its session.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "absl/time/clock.h"
#include "hlod/hlod.h"

namespace {

constexpr char kForever[] = R"(HloModule forever

cond {
  p = s32[] parameter(0)
  ROOT t = pred[] constant(true)
}

body {
  p = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT n = s32[] add(p, one)
}

ENTRY main {
  x = s32[] parameter(0)
  ROOT w = s32[] while(x), condition=cond, body=body
}
)";

void Ready() {
  std::puts("ready");
  std::fflush(stdout);
}

int Main(const char* address, const char* mode) {
  hlod::ConnectOptions options;
  options.address = address;
  options.shared_memory = std::strcmp(mode, "upload_stream") != 0;
  const hlod::Client client = hlod::Client::Connect(options).value();
  const hlod::Device device = client.device(0);
  const hlod::Literal value(hlod::Shape::Array(hlod::hlo::kF32, {4'000'000}));
  const hlod::Buffer held = device.Upload(value).value();
  if (!held.ready().Await().ok()) return 1;
  if (std::strncmp(mode, "upload", 6) == 0) {
    // Uploads without end: wherever the signal falls, one is under way.
    for (int i = 0;; ++i) {
      const hlod::Buffer next = device.Upload(value).value();
      if (i == 2) Ready();
    }
  }
  if (std::strcmp(mode, "execute") == 0) {
    const hlod::Executable forever = client.CompileText(kForever).value();
    const hlod::Buffer x = device.Upload(hlod::Literal::Scalar<int32_t>(0)).value();
    const hlod::Execution execution = forever.Start(std::vector<hlod::Argument>{x}).value();
    execution.done.Await(absl::Milliseconds(100)).IgnoreError();
    Ready();
    execution.done.Await().IgnoreError();
  }
  Ready();
  if (std::strcmp(mode, "leave") == 0) return 0;
  absl::SleepFor(absl::Hours(1));  // tidy: it waits to be killed.
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return argc == 3 ? Main(argv[1], argv[2]) : 2; }
