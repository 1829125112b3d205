// Shared by the tests of server/device: small devices, a clock that the test advances, programs from text.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "server/device/devices.h"
#include "server/device/session_device.h"

namespace hlod::device {

// Waits until `condition` is true, for at most 20 seconds. Returns false after that.
template <typename Condition>
bool Eventually(const Condition& condition) {
  for (int i = 0; i < 10000; ++i) {
    if (condition()) return true;
    absl::SleepFor(absl::Milliseconds(2));  // tidy: nobody tells a test that a thread let go of memory.
  }
  return condition();
}

class FakeClock : public Clock {
 public:
  absl::Time Now() const override {
    MutexLock lock(&mu_);
    return now_;
  }
  void Advance(absl::Duration by) {
    MutexLock lock(&mu_);
    now_ += by;
  }

 private:
  mutable Mutex mu_;
  absl::Time now_ ABSL_GUARDED_BY(mu_) = absl::FromUnixSeconds(1'700'000'000);
};

inline std::unique_ptr<Devices> MakeDevices(const Clock& clock, const Limits& limits = {},
                                            int64_t device_bytes = 64 << 20, uint32_t count = 1,
                                            std::shared_ptr<CompileCache> compile_cache = nullptr,
                                            int64_t side_bytes = Devices::Options{}.side_bytes) {
  Devices::Options options;
  options.count = count;
  options.device_bytes = device_bytes;
  options.host_bytes = 256 << 20;
  options.side_bytes = side_bytes;
  options.threads = 1;
  options.compile_cache = std::move(compile_cache);
  options.limits = limits;
  return Devices::Create(options, clock).value();
}

inline std::string ProgramOf(std::string_view text) {
  return hlo::Serialize(*hlo::ParseModule(text).value());
}

// c = a + b on f32[4].
inline std::string AddProgram() {
  return ProgramOf(R"(HloModule add
ENTRY main {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  ROOT c = f32[4] add(a, b)
}
)");
}

// Returns a program that doubles its argument, f32[4], in place.
inline std::string DoubleInPlaceProgram() {
  return ProgramOf(R"(HloModule twice, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main {
  a = f32[4] parameter(0)
  ROOT c = f32[4] add(a, a)
}
)");
}

// Returns a program with two results, each of which depends on one argument.
inline std::string SeparateProgram() {
  return ProgramOf(R"(HloModule separate
ENTRY main {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  x = f32[4] add(a, a)
  y = f32[4] multiply(b, b)
  ROOT t = (f32[4], f32[4]) tuple(x, y)
}
)");
}

// Returns a program with this entry and the `cond` and `body` of a while that counts down to zero.
inline std::string WithCountDown(const std::string& name, const std::string& entry) {
  return ProgramOf("HloModule " + name + R"(
body {
  n = s64[] parameter(0)
  one = s64[] constant(1)
  ROOT m = s64[] subtract(n, one)
}
cond {
  n = s64[] parameter(0)
  zero = s64[] constant(0)
  ROOT more = pred[] compare(n, zero), direction=NE
}
)" + entry);
}

// Returns a program that counts down from its argument.
inline std::string LoopProgram() {
  return WithCountDown("spin", R"(ENTRY main {
  n = s64[] parameter(0)
  ROOT w = s64[] while(n), condition=cond, body=body
}
)");
}

}  // namespace hlod::device
