// Measures how the time of reading, checking and writing a module grows with its size, in every form:
// nanoseconds per instruction at 1,000, 10,000 and 100,000 instructions. Linear growth is the same figure in
// each column. The limit is the first line, protobuf's own parse of the module's proto.
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "client/import/import.h"
#include "common/hlo/builder.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "tests/bench/engine/measure.h"

namespace hlod::bench {
namespace {

// Returns layers of a network, five instructions per layer: x = tanh(x w) * scale - x.
std::unique_ptr<hlo::Module> Layers(int64_t instructions) {
  auto module = std::make_unique<hlo::Module>("layers");
  hlo::Builder b(*module, "main");
  hlo::Op x = b.Parameter(0, hlo::Shape::Array(hlo::kF32, {8, 128}));
  const hlo::Op w = b.Parameter(1, hlo::Shape::Array(hlo::kF32, {128, 128}));
  const hlo::Op scale = b.Broadcast(b.Constant(0.5f), {8, 128}, {});
  for (int64_t made = 4; made < instructions; made += 5) {
    x = b.Binary(hlo::kSubtract, b.Binary(hlo::kMultiply, b.Unary(hlo::kTanh, b.MatMul(x, w)), scale),
                 b.Unary(hlo::kNegate, x));
  }
  return b.Build(x).ok() ? std::move(module) : nullptr;
}

struct Row {
  const char* what;
  std::function<bool()> run;
};

// Measures every operation on a module, in the order in which the forms are made.
std::vector<double> Measure(int64_t instructions, std::vector<const char*>& names) {
  const auto module = Layers(instructions);
  if (module == nullptr) return {};
  const std::string proto = hlo::Serialize(*module), text = ToText(*module);
  const std::string stablehlo = stablehlo::FromHlo(*module).value_or("");
  xla::HloModuleProto parsed;
  const Row rows[] = {
      {"protobuf parses the proto (the limit)", [&] { return parsed.ParseFromString(proto); }},
      {"read from a proto", [&] { return hlo::FromSerialized(proto).ok(); }},
      {"written as a proto", [&] { return !hlo::Serialize(*module).empty(); }},
      {"proto and back", [&] { return hlo::FromSerialized(hlo::Serialize(*module)).ok(); }},
      {"verified", [&] { return hlo::Verify(*module).ok(); }},
      {"read from HLO text", [&] { return hlo::ParseModule(text).ok(); }},
      {"written as HLO text", [&] { return !ToText(*module).empty(); }},
      {"read from StableHLO, verified", [&] { return ReadModule(stablehlo).ok(); }},
      {"written as StableHLO, verified", [&] { return stablehlo::FromHlo(*module).ok(); }},
  };
  names.clear();
  std::vector<double> figures;
  for (const Row& row : rows) {
    bool ok = true;
    const double us = MedianTime<ProcessorClock>(300'000, 3, [&] { ok = row.run() && ok; });
    if (!ok) std::fprintf(stderr, "%s: failed at %ld instructions\n", row.what, static_cast<long>(instructions));
    names.push_back(row.what);
    figures.push_back(1000 * us / static_cast<double>(instructions));
  }
  return figures;
}

int Main() {
  constexpr int64_t kSizes[] = {1'000, 10'000, 100'000};
  std::vector<const char*> names;
  std::vector<std::vector<double>> columns;
  for (const int64_t size : kSizes) columns.push_back(Measure(size, names));
  std::printf("%-40s %10s %10s %10s   %8s %10s\n", "ns an instruction", "1,000", "10,000", "100,000", "growth",
              "of limit");
  for (size_t row = 0; row < names.size(); ++row) {
    const double small = columns[1][row], large = columns[2][row];
    std::printf("%-40s %10.0f %10.0f %10.0f   %8.2f %10.1f\n", names[row], columns[0][row], small, large,
                large / small, large / columns[2][0]);
  }
  return 0;
}

}  // namespace
}  // namespace hlod::bench

int main() { return hlod::bench::Main(); }
