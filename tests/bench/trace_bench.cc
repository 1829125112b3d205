// Measures the time per node of a trace: appended raw, and through the builder, which infers its shape. The
// design's aim is 30 ns per node; the first line, a write of the same number of bytes, is the machine's
// limit.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "common/hlo/builder.h"
#include "common/hlo/inference/verifier.h"

namespace hlod::hlo {
namespace {

constexpr int64_t kNodes = 1'000'000;
// A binary operation has six words, and the offset at which they begin.
constexpr size_t kBytesPerNode = 7 * sizeof(uint32_t);

void SetPerNode(benchmark::State& state) {
  state.counters["per_node"] =
      benchmark::Counter(static_cast<double>(kNodes) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void FreshBytes(benchmark::State& state) {
  for (auto _ : state) {
    void* const bytes = std::malloc(kNodes * kBytesPerNode);
    std::memset(bytes, 1, kNodes * kBytesPerNode);
    benchmark::DoNotOptimize(bytes);
    std::free(bytes);
  }
  SetPerNode(state);
}
BENCHMARK(FreshBytes)->Unit(benchmark::kMillisecond);

void RawAppend(benchmark::State& state) {
  for (auto _ : state) {
    Module module("trace");
    Computation& trace = module.AddComputation("trace");
    const ShapeId shape = module.tables().Intern(Shape::Array(kF32, {8, 128}));
    trace.Append(kParameter, shape, module.tables().Intern(Attributes(ParameterAttributes{0})), {});
    for (NodeId node = 0; node < kNodes; ++node) {
      const NodeId operands[] = {node, node};
      trace.Append(kAdd, shape, 0, operands);
    }
    benchmark::DoNotOptimize(trace.size());
  }
  SetPerNode(state);
}
BENCHMARK(RawAppend)->Unit(benchmark::kMillisecond);

void InternShape(benchmark::State& state) {
  Tables tables;
  const Shape shape = Shape::Array(kF32, {8, 128});
  for (auto _ : state) {
    for (int64_t i = 0; i < kNodes; ++i) benchmark::DoNotOptimize(tables.Intern(shape));
  }
  SetPerNode(state);
}
BENCHMARK(InternShape)->Unit(benchmark::kMillisecond);

// Traces through the builder: `step` appends nodes_per_step nodes.
template <typename Step>
void Traced(benchmark::State& state, int64_t nodes_per_step, Step step) {
  for (auto _ : state) {
    Module module("trace");
    Builder b(module, "trace");
    Op x = b.Parameter(0, Shape::Array(kF32, {8, 128}));
    const Op w = b.Parameter(1, Shape::Array(kF32, {128, 128}));
    for (int64_t node = 0; node < kNodes; node += nodes_per_step) x = step(b, x, w);
    if (!b.Build(x).ok()) state.SkipWithError("the trace does not build");
  }
  SetPerNode(state);
}

void BuilderAdd(benchmark::State& state) {
  Traced(state, 1, [](Builder&, Op x, Op) { return x + x; });
}
BENCHMARK(BuilderAdd)->Unit(benchmark::kMillisecond);

void BuilderLayer(benchmark::State& state) {
  Traced(state, 4,
         [](Builder& b, Op x, Op w) { return b.Unary(kTanh, b.MatMul(x, w)) + b.Unary(kNegate, x); });
}
BENCHMARK(BuilderLayer)->Unit(benchmark::kMillisecond);

void VerifyTrace(benchmark::State& state) {
  Module module("trace");
  Builder b(module, "trace");
  Op x = b.Parameter(0, Shape::Array(kF32, {8, 128}));
  for (int64_t node = 0; node < kNodes; ++node) x = x + x;
  if (!b.Build(x).ok()) state.SkipWithError("the trace does not build");
  for (auto _ : state) benchmark::DoNotOptimize(Verify(module).ok());
  SetPerNode(state);
}
BENCHMARK(VerifyTrace)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hlod::hlo

BENCHMARK_MAIN();
