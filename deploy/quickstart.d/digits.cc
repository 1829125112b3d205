// Trains a classifier of handwritten digits on an hlod device, then shows what the daemon counted, and what a
// placeholder is.
//
//   digits [--address ADDRESS] [--data FOLDER] [--epochs N] [--seed N] [--shuffle-labels]
//
// The programs that run on the device, train_step and predict, were lowered by JAX (README.md beside this
// file says what their parameters are); everything else is here.
#include <hlod/hlod.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace {

using hlod::Argument;
using hlod::Buffer;
using hlod::Device;
using hlod::Executable;
using hlod::Shape;

constexpr int kPixels = 64;  // Of an image: 8x8, each 0 to 16.
constexpr int kBatch = 64;   // Images in one step.
constexpr int kWeights = 4;  // w1 b1 w2 b2: the first half of the state; the other is the momentum of each.
constexpr int kState = 2 * kWeights;

struct Options {
  std::string address;  // Empty: the running daemon, or a private one.
  std::string data = "deploy/quickstart.d";
  int epochs = 30;
  int seed = 1;
  bool shuffle_labels = false;
};

Options ParseOptions(std::span<char* const> arguments) {
  Options options;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    const auto value = [&] {
      if (++i == arguments.size()) throw std::invalid_argument(std::string(name) + " wants a value");
      return std::string(arguments[i]);
    };
    if (name == "--address") {
      options.address = value();
    } else if (name == "--data") {
      options.data = value();
    } else if (name == "--epochs") {
      options.epochs = std::max(1, std::stoi(value()));
    } else if (name == "--seed") {
      options.seed = std::stoi(value());
    } else if (name == "--shuffle-labels") {
      options.shuffle_labels = true;
    } else {
      throw std::invalid_argument(
          "digits [--address A] [--data FOLDER] [--epochs N] [--seed N] [--shuffle-labels]");
    }
  }
  return options;
}

// Images, kPixels bytes each, and the digit that each shows.
struct Digits {
  std::vector<uint8_t> pixels;
  std::vector<int32_t> labels;

  void Add(std::span<const uint8_t> image, int32_t label) {
    pixels.insert(pixels.end(), image.begin(), image.end());
    labels.push_back(label);
  }
  int64_t size() const { return std::ssize(labels); }
  std::span<const uint8_t> image(int64_t i) const { return std::span(pixels).subspan(i * kPixels, kPixels); }
};

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The training and the held-out digits. Every fifth block of ten rows is held out, so that each digit is in
// both.
std::pair<Digits, Digits> ReadDigits(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  Digits train, held_out;
  std::array<uint8_t, kPixels> image;
  char comma;
  for (int row = 0, value; in >> value; ++row) {
    for (uint8_t& pixel : image) {
      pixel = static_cast<uint8_t>(value);
      in >> comma >> value;
    }
    ((row / 10) % 5 == 0 ? held_out : train).Add(image, value);  // After the pixels comes the label.
  }
  return {train, held_out};
}

// Weights uniform in +-1/sqrt(inputs), all else zero.
std::vector<Buffer> InitialState(const Device& device, const Executable& train_step, std::mt19937& random) {
  std::vector<Buffer> state;
  for (const Shape& shape : absl::MakeSpan(train_step.argument_shapes()).first(kState)) {
    hlod::Literal values(shape);
    if (state.size() < kWeights && shape.rank() == 2) {
      const float bound = 1 / std::sqrt(static_cast<float>(shape.dims[0]));
      std::uniform_real_distribution<float> weight(-bound, bound);
      for (float& value : values.data<float>()) value = weight(random);
    }
    state.push_back(device.Upload(values).value());
  }
  return state;
}

// One pass over `train` in a new random order. Replaces the state, and returns the last batch's loss. Waits
// for nothing: the steps are sent one after the other, each with results that the one before has yet to
// compute.
Buffer TrainEpoch(const Device& device, const Executable& train_step, const Digits& train,
                  std::vector<Buffer>& state, std::mt19937& random) {
  std::vector<int64_t> order(train.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);

  hlod::ExecuteOptions options;
  for (int i = 0; i < kState; ++i)
    options.donate.push_back(i);  // The old state's memory becomes the new state's.

  Buffer loss;
  for (int64_t start = 0; start + kBatch <= train.size(); start += kBatch) {
    Digits batch;
    for (int64_t row : std::span(order).subspan(start, kBatch))
      batch.Add(train.image(row), train.labels[row]);

    std::vector<Argument> arguments(state.begin(), state.end());
    arguments.emplace_back(device.Upload<uint8_t>(batch.pixels, {kBatch, kPixels}).value());
    arguments.emplace_back(device.Upload<int32_t>(batch.labels, {kBatch}).value());
    state = train_step.Execute(arguments, options).value();
    loss = state.back();
    state.pop_back();
  }
  return loss;
}

// The share of `labels` that `guess`, predict's result, names.
double Accuracy(const Buffer& guess, const std::vector<int32_t>& labels) {
  const hlod::Literal digits = guess.ToLiteral().value();
  int right = 0;
  for (size_t i = 0; i < labels.size(); ++i) right += digits.data<int32_t>()[i] == labels[i];
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

// On a terminal one line that is rewritten; else every tenth epoch a line.
void ShowProgress(int epoch, int epochs, float loss, double accuracy) {
  static const bool terminal = isatty(STDOUT_FILENO);
  const bool last = epoch == epochs;
  if (!terminal && !last && epoch % 10 != 0) return;
  std::printf("%s  epoch %2d/%d  loss %.4f  held-out accuracy %5.1f%%%s", terminal ? "\r" : "", epoch, epochs,
              loss, 100 * accuracy, terminal && !last ? "" : "\n");
  std::fflush(stdout);
}

// "1.4 MB", in powers of ten.
std::string Bytes(int64_t bytes) {
  char text[32];
  if (bytes < 1000) {
    std::snprintf(text, sizeof text, "%d B", static_cast<int>(bytes));
  } else if (bytes < 1'000'000) {
    std::snprintf(text, sizeof text, "%.1f kB", static_cast<double>(bytes) / 1e3);
  } else {
    std::snprintf(text, sizeof text, "%.2f MB", static_cast<double>(bytes) / 1e6);
  }
  return text;
}

// The daemon's account of this session: what crossed, why, and from which line of this program.
void ShowAccount(const hlod::SessionStats& stats) {
  const auto total = [](const char* direction, const hlod::Amount& amount) {
    std::printf("  %-18s %6lld calls  %10s\n", direction, static_cast<long long>(amount.calls),
                Bytes(amount.bytes).c_str());
  };
  std::map<std::tuple<hlod::Direction, hlod::Cause, std::string>, hlod::Amount> lines;
  for (const hlod::LedgerRow& row : stats.rows) {
    hlod::Amount& sum = lines[{hlod::DirectionOf(row.cause), row.cause, hlod::ToString(row.origin)}];
    sum.bytes += row.amount.bytes;
    sum.calls += row.amount.calls;
  }
  std::printf("\nWhat the daemon counted:\n");
  for (const auto& [direction, title, amount] :
       {std::tuple{hlod::Direction::kHostToDevice, "host to device", stats.host_to_device},
        std::tuple{hlod::Direction::kDeviceToHost, "device to host", stats.device_to_host},
        std::tuple{hlod::Direction::kDeviceToDevice, "device to device", stats.device_to_device}}) {
    total(title, amount);
    for (const auto& [line, sum] : lines) {
      if (std::get<0>(line) != direction) continue;
      std::printf("    %-16s %6lld calls  %10s  %s\n", std::string(hlod::Name(std::get<1>(line))).c_str(),
                  static_cast<long long>(sum.calls), Bytes(sum.bytes).c_str(), std::get<2>(line).c_str());
    }
  }
  std::printf("  compiles           %6lld, %.1f ms\n", static_cast<long long>(stats.compiles),
              static_cast<double>(stats.compile_us) / 1e3);
  std::printf("  executes           %6lld, %.1f ms\n", static_cast<long long>(stats.executes),
              static_cast<double>(stats.execute_us) / 1e3);
  std::printf("  peak device memory %s\n", Bytes(stats.peak_bytes).c_str());
}

// A weight of a model that would not fit here: a shape and an identity, no bytes. Reading it must be refused.
bool ShowPlaceholder(const Device& device) {
  const Buffer weight = device.Placeholder(Shape::Array(hlod::hlo::kBF16, {16384, 53248})).value();
  const absl::Status refused = weight.ToLiteral().status();
  std::printf("\nA placeholder for 1.7 GB has no bytes anywhere, and reading it is refused:\n  %s\n",
              std::string(refused.message().data(), refused.message().size()).c_str());
  return hlod::KindOf(refused) == hlod::ErrorKind::kPlaceholder;
}

int Run(const Options& options) {
  auto [train, held_out] = ReadDigits(options.data + "/digits.csv");
  std::mt19937 random(options.seed);
  if (options.shuffle_labels) std::ranges::shuffle(train.labels, random);  // Nothing left to learn.

  const hlod::Client client = hlod::Client::Connect(options.address).value();
  const Device device = client.device(0);
  const Executable train_step = client.CompileSerialized(ReadFile(options.data + "/train_step.pb")).value();
  const Executable predict = client.CompileSerialized(ReadFile(options.data + "/predict.pb")).value();
  std::printf("Training on %lld digits%s, %lld held out, on %s.\n", static_cast<long long>(train.size()),
              options.shuffle_labels ? " with shuffled labels" : "", static_cast<long long>(held_out.size()),
              client.daemon().c_str());

  std::vector<Buffer> state = InitialState(device, train_step, random);
  const Buffer held_out_images = device.Upload<uint8_t>(held_out.pixels, {held_out.size(), kPixels}).value();
  double accuracy = 0;
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    client.StepMark(epoch).IgnoreError();  // The ledger keeps its rows by epoch.
    const Buffer loss = TrainEpoch(device, train_step, train, state, random);
    const std::vector<Buffer> guess =
        predict.Execute({state[0], state[1], state[2], state[3], held_out_images}).value();
    accuracy = Accuracy(guess[0], held_out.labels);
    ShowProgress(epoch, options.epochs, loss.Item<float>().value(), accuracy);
  }
  std::printf("Accuracy on held-out digits: %.1f%%\n", 100 * accuracy);

  ShowAccount(client.Stats().value());
  return ShowPlaceholder(device) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(ParseOptions({argv, static_cast<size_t>(argc)}));
  } catch (const absl::BadStatusOrAccess& error) {  // What value() of an error throws.
    std::fprintf(stderr, "digits: %s\n", hlod::ErrorOf(error.status()).text.c_str());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 1;
  }
}
