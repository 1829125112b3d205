// Measures single operations other than products of small matrices: sorts, transforms, linear algebra,
// running extremes, sampling; on a host tensor and on the device. operations.py compares them with JAX and
// NumPy. Prints {"name": {"host": ms, "device": ms}}, medians of some rounds, the result read each time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "hlod/tensors.h"
#include "hlod/testing.h"

namespace hlod {
namespace {

constexpr int kRounds = 7;

struct Case {
  std::string name;
  std::function<Tensor(const Device&)> make;  // Makes the operand.
  std::function<Tensor(const Tensor&)> run;
};

std::vector<Case> Cases() {
  const auto normal = [](Dims dims) {
    return [dims](const Device& where) { return Randn(dims, {.device = where}); };
  };
  const auto positive = [](Dims dims) {
    return [dims](const Device& where) { return Rand(dims, {.device = where}) + 0.5; };
  };
  const auto symmetric = [](const Device& where) {
    const Tensor x = Randn({100, 100}, {.device = where});
    return x + x.T();
  };
  const auto images = [](const Device& where) { return Rand({4, 3, 32, 32}, {.device = where}) * 2 - 1; };
  constexpr int64_t kLong = 100'000;
  return {
      {"sort", normal({kLong}), [](const Tensor& x) { return Sort(x).values; }},
      {"argsort", normal({kLong}), [](const Tensor& x) { return Argsort(x); }},
      {"topk", normal({kLong}), [](const Tensor& x) { return Topk(x, 100).values; }},
      {"median", normal({kLong}), [](const Tensor& x) { return Median(x); }},
      {"quantile", normal({kLong}), [](const Tensor& x) { return Quantile(x, 0.3); }},
      {"multinomial", positive({kLong}), [](const Tensor& x) { return Multinomial(x, 100); }},
      {"cumsum", normal({kLong}), [](const Tensor& x) { return Cumsum(x, 0); }},
      {"cummax", normal({kLong}), [](const Tensor& x) { return Cummax(x, 0).values; }},
      {"fft", normal({kLong}), [](const Tensor& x) { return fft::Fft(x); }},
      {"matmul_256", normal({256, 256}), [](const Tensor& x) { return MatMul(x, x); }},
      {"matmul_1024", normal({1024, 1024}), [](const Tensor& x) { return MatMul(x, x); }},
      {"conv2d", normal({4, 16, 32, 32}),
       [](const Tensor& x) {
         return Conv2d(x, Ones({16, 16, 3, 3}, {.device = x.device()}), {}, {.padding = 1});
       }},
      {"svdvals", normal({200, 200}), [](const Tensor& x) { return linalg::Svdvals(x); }},
      {"eigvalsh", symmetric, [](const Tensor& x) { return linalg::Eigvalsh(x); }},
      {"inv", normal({200, 200}), [](const Tensor& x) { return linalg::Inv(x); }},
      {"qr", normal({200, 200}), [](const Tensor& x) { return linalg::Qr(x).first; }},
      {"grid_sample", images,
       [](const Tensor& x) {
         return GridSample(x, x.Slice(1, 0, 2).Permute({0, 2, 3, 1}));
       }},
      {"nonzero", normal({kLong}), [](const Tensor& x) { return Nonzero(Gt(x, 0)); }},
      {"randperm", normal({1}), [](const Tensor& x) { return Randperm(kLong, {.device = x.device()}); }},
  };
}

double Milliseconds(const Case& one, const Device& where) {
  const Tensor x = one.make(where);
  one.run(x).ToLiteral();  // The first run compiles.
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    one.run(x).ToLiteral();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

int Main() {
  const testing::Daemon daemon = testing::Daemon::Start().value();
  const Client client = daemon.Connect().value();
  const char* separator = "{";
  for (const Case& one : Cases()) {
    const double device = Milliseconds(one, client.device(0)), host = Milliseconds(one, Device());
    std::printf("%s\n\"%s\": {\"host\": %.4f, \"device\": %.4f}", separator, one.name.c_str(), host, device);
    std::fflush(stdout);
    separator = ",";
  }
  std::puts("}");
  Environment(client).End();
  return 0;
}

}  // namespace
}  // namespace hlod

int main() { return hlod::Main(); }
