// Compares ways to obtain the program of a model of many layers before its weights exist: by a loop in C++,
// by a scan whose body is traced with zeros as weights, and by a scan over placeholders. The figures are the
// daemon's. A model that fits this machine runs for real; one that does not runs in abstract sessions.
//   example_scan_story [--address ADDRESS]
#include <absl/strings/str_format.h>
#include <hlod/runtime/abstract.h>
#include <hlod/tensors.h>

#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using hlod::Tensor;

constexpr int64_t kLayers = 48, kSize = 256;
constexpr int64_t kManyLayers = 126, kLargeSize = 16384;  // A model that no machine here holds.

struct Layer {
  Tensor w, b;  // The weights of one layer, or of all layers, stacked along a leading dimension.
};

Tensor Apply(const Layer& layer, const Tensor& x) { return hlod::Tanh(hlod::MatMul(x, layer.w) + layer.b); }

Tensor ByScan(const Layer& stacked, const Tensor& x) {
  const auto body = [](const Tensor& h, const Layer& layer) {
    return std::pair(Apply(layer, h), std::tuple<>());
  };
  return hlod::Scan(body, x, stacked).first;
}

Layer Placeholders(const hlod::Dims& in_front, int64_t size, const hlod::Device& device) {
  hlod::Dims w = in_front, b = in_front;
  w.insert(w.end(), {size, size});
  b.push_back(size);
  return {hlod::Placeholder(w, hlod::kF32, device), hlod::Placeholder(b, hlod::kF32, device)};
}

// Sends the program that computes `y` to be compiled and simulated without values: what depends on a
// placeholder is a placeholder, too, and the daemon reports the memory it would take.
void RunAbstractly(const hlod::Client& client, const Tensor& y) {
  std::vector<Tensor> tensors;
  const auto module = hlod::Lower({y}, &tensors);
  const hlod::Executable program = client.Compile(*module).value();
  std::vector<hlod::Argument> arguments;
  for (const Tensor& tensor : tensors) arguments.emplace_back(tensor.ToBuffer());
  static_cast<void>(program.Execute(arguments, {.abstract = true}).value());
}

// Runs one way in its own session and prints a line of what the daemon counted.
void Show(const char* what, const std::string& address,
          const std::function<void(const hlod::Client&, const hlod::Device&, const Tensor&)>& way) {
  hlod::Environment environment(hlod::Client::Connect(address).value());
  const hlod::Device device = environment.device();
  way(environment.client(), device, hlod::Ones({1, kSize}, {.device = device}));
  const hlod::SessionStats stats = environment.client().Stats().value();
  absl::PrintF("  %-26s %12d %14d %14d %9d %9d\n", what, stats.host_to_device.bytes, stats.peak_bytes,
               stats.simulated_peak_bytes,
               stats.compiles + stats.compile_cache_hits + stats.persistent_cache_hits, stats.program_bytes);
  environment.End();
}

void CompareWays(const std::string& address) {
  absl::PrintF("To see the program of %d layers of f32[%d,%d], in bytes:\n", kLayers, kSize, kSize);
  absl::PrintF("  %-26s %12s %14s %14s %9s %9s\n", "", "transferred", "device memory", "would take",
               "programs", "HLO");
  Show("loop over placeholders", address, [](const auto& client, const auto& device, Tensor h) {
    for (int64_t i = 0; i < kLayers; ++i) h = Apply(Placeholders({}, kSize, device), h);
    RunAbstractly(client, h);
  });
  Show("scan, zeros for weights", address, [](const auto& client, const auto& device, const Tensor& x) {
    const auto zeros = [&](const hlod::Dims& dims, int64_t count) {
      return hlod::FromValues(std::vector<float>(static_cast<size_t>(count)), dims).To(device);
    };
    const Layer stacked = {zeros({kLayers, kSize, kSize}, kLayers * kSize * kSize),
                           zeros({kLayers, kSize}, kLayers * kSize)};
    const Tensor h = ByScan(stacked, x);
    hlod::Sync();
  });
  Show("scan over placeholders", address, [](const auto& client, const auto& device, const Tensor& x) {
    RunAbstractly(client, ByScan(Placeholders({kLayers}, kSize, device), x));
  });
}

// Runs one way in an abstract session, in which no large data is sent or allocated, and prints a line of what
// the daemon counted.
void ShowAbstract(const char* what, const std::string& address,
                  const std::function<Tensor(const hlod::Device&, const Tensor&)>& way) {
  hlod::ConnectOptions options;
  options.address = address;
  hlod::Environment environment(hlod::ConnectAbstract({}, options).value());
  const hlod::Device device = environment.device();
  const Tensor h = way(device, hlod::Ones({1, kLargeSize}, {.device = device}));
  hlod::Sync();
  const hlod::SessionStats stats = environment.client().Stats().value();
  absl::PrintF("  %-26s %12d %14d %14d %9d %9d\n", what, stats.host_to_device.bytes, stats.peak_bytes,
               stats.simulated_peak_bytes,
               stats.compiles + stats.compile_cache_hits + stats.persistent_cache_hits, stats.program_bytes);
  environment.End();
}

void CompareWaysOfLargeModel(const std::string& address) {
  absl::PrintF("\nOf 126 layers of f32[16384,16384], 135 GB, in abstract sessions:\n");
  ShowAbstract("loop over placeholders", address, [](const hlod::Device& device, Tensor h) {
    for (int64_t i = 0; i < kManyLayers; ++i) h = Apply(Placeholders({}, kLargeSize, device), h);
    return h;
  });
  ShowAbstract("scan, zeros made there", address, [](const hlod::Device& device, const Tensor& x) {
    const Layer zeros = {hlod::Zeros({kManyLayers, kLargeSize, kLargeSize}, {.device = device}),
                         hlod::Zeros({kManyLayers, kLargeSize}, {.device = device})};
    hlod::Sync();  // Materialises the zeros.
    return ByScan(zeros, x);
  });
  ShowAbstract("scan over placeholders", address, [](const hlod::Device& device, const Tensor& x) {
    return ByScan(Placeholders({kManyLayers}, kLargeSize, device), x);
  });
}

// Shows that reading a tensor without a value throws.
void ShowRefusal(const std::string& address) {
  hlod::DefaultEnvironment().Set({.address = address});
  const hlod::Device device = hlod::DefaultDevice();
  const Layer large = Placeholders({kManyLayers}, kLargeSize, device);
  const Tensor h = ByScan(large, hlod::Ones({1, kLargeSize}, {.device = device}));
  absl::PrintF("\nTheir program has %d characters of HLO. Reading its result is refused:\n",
               hlod::Dump(h, hlod::DumpFormat::kHlo).size());
  try {
    h.ToHost();
  } catch (const hlod::Error& error) {
    absl::PrintF("  %s\n", error.what());
  }
}

int main(int argc, char** argv) try {
  const std::string address = argc == 3 && argv[1] == std::string("--address") ? argv[2] : "";
  CompareWays(address);
  CompareWaysOfLargeModel(address);
  ShowRefusal(address);
} catch (const std::exception& error) {
  absl::FPrintF(stderr, "scan_story: %s\n", error.what());
  return 1;
}
