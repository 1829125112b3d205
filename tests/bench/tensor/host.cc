// Measures where programs of host tensors are computed faster: by the evaluator in this process, or by a
// daemon at the end of a trip. Prints per operation and number of elements the microseconds of both, their
// ratio, and which one the estimates of client/tensor/value/host_daemon.cc choose. The estimates are right
// where the choice is the faster one, and good enough where the two are within a factor of two.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/tensor/value/host_daemon.h"
#include "hlod/tensors.h"
#include "hlod/testing.h"

namespace hlod {
namespace {

struct Case {
  std::string name;
  std::vector<int64_t> sizes;
  std::function<Tensor(int64_t)> make;  // Makes the operand on the host.
  std::function<Tensor(const Tensor&)> run;
};

Tensor Line(int64_t size) { return Randn({size}); }

std::vector<Case> Cases() {
  const std::vector<int64_t> sizes = {1 << 8, 1 << 12, 1 << 15, 1 << 18};
  const auto square = [](int64_t size) { return Randn({size, size}); };
  return {
      {"add", sizes, Line, [](const Tensor& x) { return x + x; }},
      {"exp", sizes, Line, [](const Tensor& x) { return Exp(x); }},
      {"tanh", sizes, Line, [](const Tensor& x) { return Tanh(x); }},
      {"pow", sizes, Line, [](const Tensor& x) { return Pow(Abs(x), x); }},
      {"to_f64", sizes, Line, [](const Tensor& x) { return x.To(kF64); }},
      {"where", sizes, Line, [](const Tensor& x) { return Where(Gt(x, 0), x, 0); }},
      {"transpose", {16, 64, 256, 512}, square, [](const Tensor& x) { return x.T() + 0; }},
      {"sum", sizes, Line, [](const Tensor& x) { return Sum(x); }},
      {"softmax", {16, 64, 256, 512}, square, [](const Tensor& x) { return Softmax(x, 1); }},
      {"cumsum", sizes, Line, [](const Tensor& x) { return Cumsum(x, 0); }},
      {"sort", sizes, Line, [](const Tensor& x) { return Sort(x).values; }},
      {"gather", sizes, Line, [](const Tensor& x) { return Gather(x, 0, (Abs(x) * 10).To(kS64)); }},
      {"scatter_add", sizes, Line,
       [](const Tensor& x) { return ScatterAdd(x, 0, (Abs(x) * 10).To(kS64), x); }},
      {"fft", {1 << 8, 1 << 12, 1 << 15}, Line, [](const Tensor& x) { return fft::Fft(x); }},
      {"randn", sizes, Line, [](const Tensor& x) { return Randn(x.dims()); }},
      {"matmul", {16, 32, 64, 128, 256}, square, [](const Tensor& x) { return MatMul(x, x); }},
      {"conv",
       {8, 16, 32},
       [](int64_t size) {
         return Randn({1, 4, size, size});
       },
       [](const Tensor& x) {
         return Conv2d(x, Ones({4, 4, 3, 3}, {.device = x.device()}), {}, {.padding = 1});
       }},
      {"max_pool",
       {8, 32, 128},
       [](int64_t size) {
         return Randn({1, 1, size, size});
       },
       [](const Tensor& x) { return MaxPool2d(x, 3); }},
      {"scan",
       {16, 256, 4096},
       Line,
       [](const Tensor& x) {
         return Scan([](const Tensor& sum,
                        const Tensor& y) { return std::pair(sum * 0.5 + y, std::tuple<>()); },
                     Zeros({}, {.device = x.device()}), x)
             .first;
       }},
  };
}

// Returns the median over some rounds of the microseconds of `run`.
double Microseconds(const std::function<void()>& run) {
  constexpr int kRounds = 7;
  run();  // The first run compiles.
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

// Prints a line per case, 1 if a daemon computes it.
int Choose() {
  // Enough is computed first that the daemon has been started.
  for (int i = 0; i < 100 && lazy::HostDaemonPrograms() == 0; ++i)
    MatMul(Randn({192, 192}), Randn({192, 192}));
  for (const Case& one : Cases()) {
    for (const int64_t size : one.sizes) {
      const Tensor x = one.make(size);
      x.ToLiteral();
      const int64_t before = lazy::HostDaemonPrograms();
      one.run(x).ToLiteral();
      std::printf("%d\n", lazy::HostDaemonPrograms() > before ? 1 : 0);
    }
  }
  return 0;
}

std::vector<bool> Chosen(const char* self) {
  std::vector<bool> chosen;
  FILE* const pipe = popen(absl::StrCat(self, " --choose").c_str(), "r");
  for (char line[16]; pipe != nullptr && std::fgets(line, sizeof(line), pipe) != nullptr;)
    chosen.push_back(line[0] == '1');
  if (pipe != nullptr) pclose(pipe);
  return chosen;
}

int Main(const char* self) {
  const std::vector<bool> chosen = Chosen(self);
  setenv("HLOD_HOST_DAEMON", "0", 1);
  const testing::Daemon daemon = testing::Daemon::Start().value();
  const Client client = daemon.Connect().value();
  size_t row = 0;
  int wrong = 0;
  std::printf("%-12s %8s %12s %12s %8s  %s\n", "", "size", "evaluator us", "trip us", "ratio", "chosen");
  for (const Case& one : Cases()) {
    for (const int64_t size : one.sizes) {
      const Tensor x = one.make(size);
      x.ToLiteral();
      const double alone = Microseconds([&] { one.run(x).ToLiteral(); });
      const double trip = Microseconds([&] { one.run(x.To(client.device(0))).ToLiteral(); });
      const bool daemons = row < chosen.size() && chosen[row];
      ++row;
      const double lost = daemons ? trip / alone : alone / trip;
      if (lost > 2) ++wrong;
      std::printf("%-12s %8ld %12.1f %12.1f %8.2f  %s%s\n", one.name.c_str(), static_cast<long>(size), alone,
                  trip, alone / trip, daemons ? "daemon" : "evaluator", lost > 2 ? "  <-- slower" : "");
      std::fflush(stdout);
    }
  }
  std::printf("%d of %zu choices are more than twice as slow as the other way.\n", wrong, row);
  Environment(client).End();
  return 0;
}

}  // namespace
}  // namespace hlod

int main(int argc, char** argv) {
  return argc > 1 && std::strcmp(argv[1], "--choose") == 0 ? hlod::Choose() : hlod::Main(argv[0]);
}
