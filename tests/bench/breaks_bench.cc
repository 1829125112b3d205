// Compares the savings that the report of breaks promises with measured ones: a step with an Item(), a print
// and a HostFunction(), unchanged and with each of them removed. The aim is a factor of at most 1.5 between
// the two.
//
//   HLOD_DAEMON=build/dev/bin/hlod build/dev/tests/bench/breaks_bench [SIZE] [STEPS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "hlod/observe/graph_report.h"
#include "hlod/tensors.h"
#include "hlod/testing.h"
#include "hlod/transform/foreign.h"

namespace hlod {
namespace {

struct Breaks {
  bool item = true, print = true, host_function = true;
};

Tensor Twice(const Tensor& x) {
  return HostFunction(
      "twice", [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] + in[0]}; }, {x})[0];
}

Tensor Layer(const Tensor& x, const Tensor& w) { return Tanh(MatMul(x, w)); }

size_t Step(Tensor& x, const Tensor& w, const Breaks& breaks) {
  size_t printed = 0;
  x = Layer(x, w);
  if (breaks.item) printed += Sum(x).Item<float>() > 0;
  x = Layer(x, w);
  if (breaks.print) printed += Narrow(x, 0, 0, 1).ToString().size();
  x = Layer(x, w);
  x = breaks.host_function ? Twice(x) : x + x;
  x = Layer(x, w);
  Sync();
  return printed;
}

double Run(const Client& client, Tensor& x, const Tensor& w, const Breaks& breaks, int steps) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) Step(x, w, breaks);
  if (!client.Sync().ok()) std::abort();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int Main(int64_t size, int steps) {
  const testing::Daemon daemon = testing::Daemon::Start().value();
  const Client client = daemon.Connect().value();
  Tensor x = Full({size, size}, 0.5, {.device = client.device(0)});
  const Tensor w = Full({size, size}, 1.0 / static_cast<double>(size), {.device = client.device(0)});
  // Each short round runs all variants in turn: a slow phase of the machine affects a whole round, and
  // cancels in its differences.
  constexpr int kRounds = 25;
  struct Variant {
    const char* removed;
    TraceCause cause;
    Breaks breaks;
    std::vector<double> saved_us;  // By round, compared with the run just before that has all breaks.
  };
  Variant variants[] = {{"nothing", TraceCause::kSync, {}, {}},
                        {"item", TraceCause::kItem, {.item = false}, {}},
                        {"print", TraceCause::kPrint, {.print = false}, {}},
                        {"host_function", TraceCause::kHostFunction, {.host_function = false}, {}}};
  for (const Variant& variant : variants) Run(client, x, w, variant.breaks, 3);  // Compiles all variants.
  std::vector<double> predicted[3], whole;
  for (int round = 0; round < kRounds; ++round) {
    Run(client, x, w, {}, steps);  // The first run after a report is slower than the next ones.
    for (Variant& variant : variants) {
      whole.push_back(Run(client, x, w, {}, steps));
      variant.saved_us.push_back(whole.back() - Run(client, x, w, variant.breaks, steps));
    }
    const GraphReport report = ReportGraphs([&] { Run(client, x, w, {}, steps); });
    for (int i = 0; i < 3; ++i) {
      for (const BreakRow& row : report.breaks) {
        if (row.cause == variants[i + 1].cause) predicted[i].push_back(row.saves_us);
      }
    }
    if (round + 1 == kRounds) std::printf("%s\n", ToText(report).c_str());
  }
  std::printf("%d steps of %lld x %lld: %.0f us\n", steps, static_cast<long long>(size),
              static_cast<long long>(size), Median(whole));
  std::printf("without nothing        measured %8.0f us: what the machine makes of no difference\n",
              Median(variants[0].saved_us));
  for (int i = 0; i < 3; ++i) {
    const double measured = Median(variants[i + 1].saved_us);
    const double promised = Median(predicted[i]);
    std::printf("without %-14s promised %8.0f us, measured %8.0f us, a factor of %.2f (aim 1.5)\n",
                variants[i + 1].removed, promised, measured,
                std::max(promised, measured) / std::min(promised, measured));
  }
  return 0;
}

}  // namespace
}  // namespace hlod

int main(int argc, char** argv) {
  return hlod::Main(argc > 1 ? std::atoll(argv[1]) : 256, argc > 2 ? std::atoi(argv[2]) : 10);
}
