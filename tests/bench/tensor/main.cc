// Measures the cost of tracing: an operation recorded, a cached step closed and sent, a read. The limits
// beside them: a node appended to an arena, and the bare round trip of the same connection (Ping).
#include <benchmark/benchmark.h>

#include <memory>

#include "common/hlo/builder.h"
#include "hlod/tensors.h"
#include "hlod/testing.h"

namespace hlod {
namespace {

struct Connection {
  testing::Daemon daemon = testing::Daemon::Start().value();
  Client client = daemon.Connect().value();
};
Connection& TheConnection() {
  static auto* const connection = new Connection;  // Ends with the process, like its daemon.
  return *connection;
}
Device TheDevice() { return TheConnection().client.device(0); }

void SetPer(benchmark::State& state, const char* what, int64_t count) {
  state.counters[what] =
      benchmark::Counter(static_cast<double>(count) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// The limit: the time that the builder takes for a node.
void ArenaNode(benchmark::State& state) {
  constexpr int kNodes = 10'000;
  for (auto _ : state) {
    Module module("trace");
    hlo::Builder b(module, "trace");
    hlo::Op x = b.Parameter(0, Shape::Array(kF32, {8}));
    for (int i = 0; i < kNodes; ++i) x = x + x;
    benchmark::DoNotOptimize(x.id);
  }
  SetPer(state, "per_node", kNodes);
}
BENCHMARK(ArenaNode);

// A public binary operation on tensors: promotion, source line, a tensor created and dropped.
void PublicAdd(benchmark::State& state) {
  constexpr int kOperations = 10'000;
  const Tensor start = Ones({8}, {.device = TheDevice()});
  Sync();
  for (auto _ : state) {
    Tensor x = start;
    for (int i = 0; i < kOperations; ++i) x = x + start;
    benchmark::DoNotOptimize(x.impl());
    x = Tensor();
    Sync();
  }
  SetPer(state, "per_operation", kOperations);
}
BENCHMARK(PublicAdd);

// A step of 10,000 operations that is in the cache: recorded, found, sent, awaited.
void CachedStep(benchmark::State& state) {
  const auto operations = static_cast<int>(state.range(0));
  const Tensor start = Ones({1}, {.device = TheDevice()});
  Sync();
  for (auto _ : state) {
    Tensor x = start;
    for (int i = 0; i < operations; ++i) x = x + start;
    benchmark::DoNotOptimize(x.Item<float>());
  }
  SetPer(state, "per_operation", operations);
}
BENCHMARK(CachedStep)->Arg(10)->Arg(10'000)->Unit(benchmark::kMicrosecond);

// Computes x = x + 1 and reads x in each step. Also reports the round trip of the connection alone.
void AddAndRead(benchmark::State& state) {
  Tensor x = Zeros({}, {.device = TheDevice()});
  for (auto _ : state) {
    x = x + 1;
    benchmark::DoNotOptimize(x.Item<float>());
  }
}
BENCHMARK(AddAndRead)->Unit(benchmark::kMicrosecond)->UseRealTime();

void Ping(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(TheConnection().client.Ping().ok());
}
BENCHMARK(Ping)->Unit(benchmark::kMicrosecond)->UseRealTime();

// A multilayer perceptron's forward step without a read: recorded, sent, throttled.
void MlpStep(benchmark::State& state) {
  const Device device = TheDevice();
  const Tensor x = Ones({32, 64}, {.device = device}), up = Ones({64, 128}, {.device = device}),
               down = Ones({128, 10}, {.device = device});
  Sync();
  for (auto _ : state) {
    const Tensor y = MatMul(Relu(MatMul(x, up)), down);
    Sync();
  }
}
BENCHMARK(MlpStep)->Unit(benchmark::kMicrosecond)->UseRealTime();

// The evaluator computes host tensors.
void HostAdd(benchmark::State& state) {
  const Tensor x = Ones({8}) + 0;
  for (auto _ : state) benchmark::DoNotOptimize((x + x).impl());
}
BENCHMARK(HostAdd);

}  // namespace
}  // namespace hlod

BENCHMARK_MAIN();
