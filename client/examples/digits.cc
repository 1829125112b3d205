// Trains a classifier of handwritten digits, written as with PyTorch, then prints what the daemon counted.
//   example_digits [--address ADDRESS] [--data FOLDER] [--epochs N] [--seed N] [--shuffle-labels]
#include <absl/strings/str_format.h>
#include <hlod/tensors.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nn = hlod::nn;
using hlod::Tensor;

constexpr int64_t kPixels = 64, kBatch = 64;  // An image is 8x8, each pixel 0 to 16.

struct Options {
  std::string address;  // Empty: the running daemon or, without one, a private one.
  std::string data = "client/examples/digits.d";
  int epochs = 30, seed = 1;
  bool shuffle_labels = false;
};

struct Mlp : nn::Module {
  nn::Linear up{*this, "up", kPixels, 128}, down{*this, "down", 128, 10};
  Tensor operator()(const Tensor& images) const { return down(hlod::Relu(up(images.To(hlod::kF32) / 16))); }
};

struct Digits {
  Tensor images, labels;  // u8[n, 64], s64[n]
};

// Returns the digits to learn and those held out: every fifth block of ten lines, so that both parts have
// every digit.
std::pair<Digits, Digits> ReadDigits(const Options& options) {
  std::ifstream in(options.data + "/digits.csv");
  if (!in) throw std::runtime_error("cannot read " + options.data + "/digits.csv");
  std::vector<uint8_t> pixels[2];
  std::vector<int64_t> labels[2];
  char comma;
  for (int row = 0, value; in >> value; ++row) {
    const bool held_out = (row / 10) % 5 == 0;
    for (int i = 0; i < kPixels; ++i, in >> comma >> value) {
      pixels[held_out].push_back(static_cast<uint8_t>(value));
    }
    labels[held_out].push_back(value);  // The label follows the pixels.
  }
  if (options.shuffle_labels) {  // Shuffled labels leave nothing to learn.
    std::ranges::shuffle(labels[0], std::mt19937(static_cast<unsigned>(options.seed)));
  }
  const auto digits = [&](int part) {
    const auto count = static_cast<int64_t>(labels[part].size());
    return Digits{hlod::FromValues(pixels[part], hlod::Dims{count, kPixels}), hlod::FromValues(labels[part])};
  };
  return {digits(0), digits(1)};
}

// Prints the progress: on a terminal in one line that is overwritten, elsewhere a line every tenth epoch.
void ShowProgress(int epoch, int epochs, double loss, double accuracy) {
  static const bool terminal = isatty(STDOUT_FILENO) != 0;
  const bool last = epoch == epochs;
  if (terminal || last || epoch % 10 == 0) {
    absl::PrintF("%s  epoch %2d/%d  loss %.4f  held-out accuracy %5.1f%%%s", terminal ? "\r" : "", epoch,
                 epochs, loss, accuracy, terminal && !last ? "" : "\n");
  }
  if (last) absl::PrintF("Accuracy on held-out digits: %.1f%%\n", accuracy);
  std::fflush(stdout);
}

void Train(const Options& options, const hlod::Device& device) {
  const auto [train, held_out] = ReadDigits(options);
  const Digits test = {held_out.images.To(device), held_out.labels.To(device)};
  Mlp model;
  model.To(device);
  hlod::Adam adam(model.Parameters(), {.lr = 3e-3});

  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    const Tensor order = hlod::Randperm(train.labels.size(0));  // On the host, like the digits.
    Tensor loss;
    for (int64_t start = 0; start + kBatch <= order.size(0); start += kBatch) {
      const Tensor rows = order.Narrow(0, start, kBatch);
      const Tensor x = hlod::IndexSelect(train.images, 0, rows).To(device);
      const Tensor y = hlod::IndexSelect(train.labels, 0, rows).To(device);
      loss = hlod::CrossEntropy(model(x), y);
      loss.Backward();
      adam.Step();
      adam.ZeroGrad();
      hlod::Sync();  // One execute. It does not wait: the next batch is prepared meanwhile.
    }
    const hlod::NoGrad scope;
    const Tensor right = hlod::Eq(hlod::Argmax(model(test.images), 1), test.labels);
    const double accuracy = 100 * hlod::Mean(right.To(hlod::kF32)).Item<double>();  // Only a read waits.
    ShowProgress(epoch, options.epochs, loss.Item<double>(), accuracy);
  }
}

// Prints the daemon's statistics of this session: the bytes transferred, the causes, and the lines of this
// program that caused them.
void ShowAccount() {
  const hlod::SessionStats stats = hlod::DefaultEnvironment().client().Stats().value();
  absl::PrintF("\nWhat the daemon counted:\n");
  const auto show = [&](hlod::Direction direction, const char* title, const hlod::Amount& amount) {
    absl::PrintF("  %-18s %6d calls %8d bytes\n", title, amount.calls, amount.bytes);
    std::map<std::pair<std::string, std::string>, hlod::Amount> lines;  // Added up over steps.
    for (const hlod::LedgerRow& row : stats.rows) {
      if (hlod::DirectionOf(row.cause) != direction) continue;
      hlod::Amount& line = lines[{std::string(hlod::Name(row.cause)), hlod::ToString(row.origin)}];
      line.calls += row.amount.calls;
      line.bytes += row.amount.bytes;
    }
    for (const auto& [line, sum] : lines) {
      absl::PrintF("    %-16s %6d calls %8d bytes  %s\n", line.first, sum.calls, sum.bytes, line.second);
    }
  };
  show(hlod::Direction::kHostToDevice, "host to device", stats.host_to_device);
  show(hlod::Direction::kDeviceToHost, "device to host", stats.device_to_host);
  show(hlod::Direction::kDeviceToDevice, "device to device", stats.device_to_device);
  absl::PrintF("  programs compiled  %6d in %.1f ms, found compiled %d\n", stats.compiles,
               static_cast<double>(stats.compile_us) / 1e3,
               stats.compile_cache_hits + stats.persistent_cache_hits);
  absl::PrintF("  executes           %6d in %.1f ms\n", stats.executes,
               static_cast<double>(stats.execute_us) / 1e3);
  absl::PrintF("  device memory      %6d bytes at most\n", stats.peak_bytes);
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--shuffle-labels") {
      options.shuffle_labels = true;
    } else if (i + 1 == argc) {
      throw std::invalid_argument(name + " is not an option, or wants a value");
    } else if (name == "--address") {
      options.address = argv[++i];
    } else if (name == "--data") {
      options.data = argv[++i];
    } else if (name == "--epochs") {
      options.epochs = std::stoi(argv[++i]);
    } else if (name == "--seed") {
      options.seed = std::stoi(argv[++i]);
    } else {
      throw std::invalid_argument(name + " is not an option");
    }
  }
  return options;
}

int main(int argc, char** argv) try {
  const Options options = ParseOptions(argc, argv);
  hlod::DefaultEnvironment().Set({.address = options.address});
  hlod::ManualSeed(static_cast<uint64_t>(options.seed));
  Train(options, hlod::DefaultDevice());
  ShowAccount();
} catch (const std::exception& error) {
  absl::FPrintF(stderr, "digits: %s\n", error.what());
  return 1;
}
