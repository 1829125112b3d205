// Measures the cost of observing: the same steps without an observer, and with one that takes the events and
// drops them. The aims: 10 ns per traced operation, 2% of an execute. The daemon's ledger is always on.
//
//   HLOD_DAEMON=build/dev/bin/hlod build/dev/tests/metering_bench
#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include "hlod/observe/events.h"
#include "hlod/tensors.h"
#include "hlod/testing.h"
#include "tests/bench/cpu_time.h"

namespace hlod {
namespace {

constexpr int kRounds = 31;

struct Dropping : Observer {
  void OnEvent(const Event&) override { ++events; }
  long events = 0;
};

double Median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

struct Comparison {
  double wall = 0, cpu = 0;  // Seconds of one run without an observer; cpu is this process's time.
  double added = 0;          // Processor time that the observer added.
};
// Alternates between the two, so that a machine that slows down slows both.
Comparison Compare(const std::function<void()>& run) {
  run();
  std::vector<double> wall, off, on;
  const auto timed = [&](std::vector<double>& cpu) {
    const double begin = ProcessCpuSeconds();
    run();
    cpu.push_back(ProcessCpuSeconds() - begin);
  };
  for (int round = 0; round < kRounds; ++round) {
    const double begin = SecondsOf(CLOCK_MONOTONIC);
    timed(off);
    wall.push_back(SecondsOf(CLOCK_MONOTONIC) - begin);
    Dropping observer;
    const Observation observation(observer);
    timed(on);
  }
  return {Median(wall), Median(off), Median(on) - Median(off)};
}

int Main() {
  const testing::Daemon daemon = testing::Daemon::Start().value();
  const Client client = daemon.Connect().value();
  const Device device = client.device(0);
  const Tensor start = Ones({8}, {.device = device});
  const Tensor x = Ones({32, 64}, {.device = device}), up = Ones({64, 128}, {.device = device}),
               down = Ones({128, 10}, {.device = device});
  Sync();

  constexpr int kOperations = 10'000, kSteps = 200;
  const Comparison add = Compare([&] {
    Tensor sum = start;
    for (int i = 0; i < kOperations; ++i) sum = sum + start;
    sum = Tensor();
    Sync();
  });
  std::printf("traced operation   %7.1f ns of processor time, observed %+.1f ns (aim 10)\n",
              add.cpu / kOperations * 1e9, add.added / kOperations * 1e9);
  const auto print = [&](const char* what, const Comparison& times) {
    std::printf("%-18s %7.1f us, observed %+.1f us of processor time: %+.1f%% (aim 2%%)\n", what,
                times.wall / kSteps * 1e6, times.added / kSteps * 1e6, times.added / times.wall * 100);
  };
  print("execute, read", Compare([&] {
          for (int i = 0; i < kSteps; ++i) (start + start).ToHost();
        }));
  print("perceptron's step", Compare([&] {
          for (int i = 0; i < kSteps; ++i) {
            const Tensor y = MatMul(Relu(MatMul(x, up)), down);
            Sync();
          }
          Sum(x).Item<float>();
        }));
  return 0;
}

}  // namespace
}  // namespace hlod

int main() { return hlod::Main(); }
