// Traces a model of the size of Llama 3.1 405B forward and backward on placeholders: seconds, memory of this
// process, bytes that moved, and the module, beside the aims of 5 s and 200 MB. Two steps of a small model (2
// layers) show the part that does not depend on the number of layers.
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include "hlod/testing.h"
#include "tests/unit/client/transform/llama.h"

namespace hlod {
namespace {

double Seconds(const std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

// Returns this process's resident memory in MB, now or ("VmHWM:") at its peak.
double Memory(const std::string& what) {
  std::ifstream status("/proc/self/status");
  std::string key;
  double kilobytes = 0;
  while (status >> key) {
    if (key == what) status >> kilobytes;
  }
  return kilobytes / 1024;
}

void Measure(const llama::Config& config, int64_t tokens, Client& client) {
  const Device device = client.device(0);
  std::vector<int64_t> ids(static_cast<size_t>(tokens));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i * 7919 % config.vocabulary);
  const Tensor input = FromValues<int64_t>(ids, Dims{tokens}, device);
  const Tensor next = FromValues<int64_t>(ids, Dims{tokens}, device);
  const SessionStats before = client.Stats().value();
  const double memory = Memory("VmRSS:");
  const auto start = std::chrono::steady_clock::now();
  const llama::Params params =
      llama::MakeParams(config, [&](const Dims& dims) { return Placeholder(dims, config.type, device); });
  const auto step = ValueAndGrad([&](const llama::Params& p, const Tensor& x, const Tensor& y) {
    return llama::Loss(config, p, x, y, CheckpointPolicy::Nothing());
  });
  const auto [loss, gradient] = step(params, input, next);
  const double traced = Seconds(start);
  std::vector<Tensor> results = Leaves(gradient);
  results.push_back(loss);
  const auto module = Lower(results);
  const double lowered = Seconds(start) - traced;
  const SessionStats after = client.Stats().value();
  std::printf(
      "%4lld layers: traced in %.3f s (aim 5), lowered in %.3f s, %.0f MB more (aim 200), %lld bytes to the "
      "device, %lld from it, %lld instructions in one module of %u computations\n",
      static_cast<long long>(config.layers), traced, lowered, Memory("VmHWM:") - memory,
      static_cast<long long>(after.host_to_device.bytes - before.host_to_device.bytes),
      static_cast<long long>(after.device_to_host.bytes - before.device_to_host.bytes),
      static_cast<long long>(module->instruction_count()), module->computation_count());
}

int Main() {
  const testing::Daemon daemon = testing::Daemon::Start().value();
  Client client = daemon.Connect().value();
  llama::Config small = llama::Config::Of405B();
  small.layers = 2;
  Measure(small, 8192, client);
  Measure(llama::Config::Of405B(), 8192, client);
  return 0;
}

}  // namespace
}  // namespace hlod

int main() { return hlod::Main(); }
