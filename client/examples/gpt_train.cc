// Trains a small GPT on the letters of a text file, then generates text: layers as one scan, mixed precision,
// AdamW, one program per step. The text is uploaded once; batches are cut from it on the device.
//   example_gpt_train [--text FILE] [--steps N] [--layers N] [--size N] [--letters N] [--mesh data=2,model=2]
// With --mesh the batch is divided along data, and the weights along data (FSDP) and model (tensor
// parallelism): the same step, on a daemon of as many devices.
#include <absl/strings/str_format.h>
#include <hlod/tensor/sharding.h>
#include <hlod/tensors.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace optim = hlod::optim;
using hlod::Tensor;

constexpr int64_t kBatch = 16, kLength = 64, kHeads = 4;

struct Layer {  // The weights of all layers, stacked along dimension 0.
  Tensor norm1, query_key_value, out, norm2, up, down;
};
struct Params {
  Tensor letters, places;
  Layer layers;
  Tensor norm;
};

Params InitialParams(int64_t alphabet, int64_t layers, int64_t size, const hlod::Device& device) {
  const auto ones = [&](const hlod::Dims& dims) { return hlod::Ones(dims, {.device = device}); };
  const auto normal = [&](const hlod::Dims& dims, double deviation) {
    return deviation * hlod::Randn(dims, {.device = device});
  };
  const double in = 1 / std::sqrt(static_cast<double>(size)),
               deep = in / std::sqrt(2.0 * static_cast<double>(layers));
  return {.letters = normal({alphabet, size}, in),
          .places = normal({kLength, size}, in),
          .layers = {.norm1 = ones({layers, size}),
                     .query_key_value = normal({layers, size, 3 * size}, in),
                     .out = normal({layers, size, size}, deep),
                     .norm2 = ones({layers, size}),
                     .up = normal({layers, size, 4 * size}, in),
                     .down = normal({layers, 4 * size, size}, deep / 2)},
          .norm = ones({size})};
}

// Divides the weights as Megatron does along model, and along data as well.
void Divide(Params& params, const hlod::Mesh& mesh) {
  Layer& w = params.layers;
  for (Tensor* column : {&w.query_key_value, &w.up})
    hlod::MarkSharding(*column, mesh, {std::nullopt, "data", "model"});
  for (Tensor* row : {&w.out, &w.down}) hlod::MarkSharding(*row, mesh, {std::nullopt, "model", "data"});
  hlod::MarkSharding(params.letters, mesh, {std::nullopt, "data"});
  hlod::MarkSharding(params.places, mesh, {std::nullopt, "data"});
}

Tensor Block(const Layer& w, const Tensor& x) {
  const int64_t batch = x.size(0), size = x.size(-1);
  const Tensor joined = hlod::MatMul(hlod::RmsNorm(x, {size}, w.norm1), w.query_key_value);
  const auto heads = [&](int64_t i) {
    return joined.Narrow(-1, i * size, size).Reshape({batch, kLength, kHeads, size / kHeads}).Transpose(1, 2);
  };
  const Tensor mixed = hlod::ScaledDotProductAttention(heads(0), heads(1), heads(2), {.is_causal = true});
  const Tensor y = x + hlod::MatMul(mixed.Transpose(1, 2).Reshape({batch, kLength, size}), w.out);
  const Tensor inner = hlod::Gelu(hlod::MatMul(hlod::RmsNorm(y, {size}, w.norm2), w.up));
  return y + hlod::MatMul(inner, w.down);
}

// Returns the scores of the letter that follows each of `tokens`, s64[batch, length].
Tensor Model(const Params& params, const Tensor& tokens) {
  const hlod::Autocast autocast(hlod::kBF16);  // Products are computed in bf16, sums in f32.
  const auto block = hlod::Checkpoint(Block, hlod::CheckpointPolicy::Dots());
  const auto body = [&](const Tensor& x, const Layer& layer) {
    return std::pair(block(layer, x), std::tuple<>());
  };
  const Tensor x = hlod::Embedding(tokens, params.letters) + params.places;
  const Tensor y = hlod::Scan(body, x, params.layers).first;
  return hlod::MatMul(hlod::RmsNorm(y, {x.size(-1)}, params.norm), params.letters.T());
}

Tensor Loss(const Tensor& scores, const Tensor& target) {
  return hlod::CrossEntropy(scores.Flatten(0, 1).To(hlod::kF32), target.Flatten());
}

struct Options {
  std::string text = "LICENSE";
  hlod::Mesh mesh;  // Empty: one device.
  int64_t steps = 600, layers = 4, size = 128, letters = 300;
};

// A text as numbers, and the letter of each number.
struct Text {
  explicit Text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    if (static_cast<int64_t>(all.size()) <= kLength) throw std::runtime_error(path + " has no text to learn");
    const std::set<char> used(all.begin(), all.end());
    alphabet.assign(used.begin(), used.end());
    for (const char letter : all) tokens.push_back(static_cast<int64_t>(alphabet.find(letter)));
  }
  std::string alphabet;
  std::vector<int64_t> tokens;
};

using Clock = std::chrono::steady_clock;
double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

Params Train(const Options& options, const Text& text, const hlod::Device& device) {
  const auto alphabet = static_cast<int64_t>(text.alphabet.size());
  Params params = InitialParams(alphabet, options.layers, options.size, device);
  if (!options.mesh.empty()) Divide(params, options.mesh);
  const optim::Optimizer optimizer =
      optim::Chain({optim::ClipByGlobalNorm(1),
                    optim::AdamW(optim::WarmupCosineDecay(0, 3e-3, options.steps / 10, options.steps),
                                 /*weight_decay=*/0.1)});
  optim::State state = optimizer.Init(params);
  const auto step = hlod::MakeTrainStep(Model, Loss, optimizer);
  const Tensor tokens = hlod::FromValues(text.tokens).To(device);
  const Tensor offsets = hlod::Arange(0, kLength, 1, {.device = device});
  const int64_t starts = tokens.size(0) - kLength;

  const auto begun = Clock::now();
  double first = 0;
  for (int64_t i = 1; i <= options.steps; ++i) {
    const Tensor at = hlod::Randint(0, starts, {kBatch, 1}, {.device = device}) + offsets;
    Tensor now = hlod::Take(tokens, at), next = hlod::Take(tokens, at + 1);
    if (!options.mesh.empty()) {
      hlod::MarkSharding(now, options.mesh, {"data", std::nullopt});
      hlod::MarkSharding(next, options.mesh, {"data", std::nullopt});
    }
    auto result = step(params, state, now, next);
    params = std::move(result.params);
    state = std::move(result.state);
    hlod::Sync();  // One execute; only a read waits.
    if (i == 1 || i == options.steps || i % (options.steps / 10 + 1) == 0) {
      absl::PrintF("step %4d  loss %.3f\n", i, result.loss.Item<double>());
      std::fflush(stdout);
    }
    if (i == 1) first = Seconds(begun);
  }
  absl::PrintF("first step %.3f s, then %.2f steps a second\n", first,
               static_cast<double>(options.steps - 1) / (Seconds(begun) - first));
  return params;
}

// Returns the first letters of the text, continued: each letter is drawn by the scores of the window before
// it.
std::string Write(const Options& options, const Text& text, const Params& params,
                  const hlod::Device& device) {
  const auto next = hlod::Jit([](const Params& p, const Tensor& window) {
    const Tensor scores = Model(p, window).Select(1, -1).To(hlod::kF32);
    const Tensor letter = hlod::Multinomial(hlod::Softmax(scores / 0.7, -1), 1);
    return std::pair(letter, hlod::Cat({window.Narrow(1, 1, kLength - 1), letter}, 1));
  });
  const std::vector<int64_t> start(text.tokens.begin(), text.tokens.begin() + kLength);
  Tensor window = hlod::FromValues(start, hlod::Dims{1, kLength}).To(device), letter;
  std::vector<Tensor> written = {window};
  for (int64_t i = 0; i < options.letters; ++i) {
    std::tie(letter, window) = next(params, window);
    written.push_back(letter);
    hlod::Sync();
  }
  std::string result;
  for (const int64_t token : hlod::Cat(written, 1).ToVector<int64_t>()) {
    result += text.alphabet[static_cast<size_t>(token)];
  }
  return result;
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  const std::map<std::string, int64_t*> numbers = {{"--steps", &options.steps},
                                                   {"--layers", &options.layers},
                                                   {"--size", &options.size},
                                                   {"--letters", &options.letters}};
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const auto number = numbers.find(name);
    if (i + 1 == argc || (name != "--text" && name != "--mesh" && number == numbers.end())) {
      throw std::invalid_argument(name + " is not an option, or wants a value");
    }
    if (name == "--text") options.text = argv[i + 1];
    else if (name == "--mesh") options.mesh = hlod::Mesh::Parse(argv[i + 1]).value();
    else *number->second = std::max<int64_t>(1, std::stoll(argv[i + 1]));
  }
  return options;
}

int main(int argc, char** argv) try {
  const Options options = ParseOptions(argc, argv);
  const Text text(options.text);
  const hlod::Device device = hlod::DefaultDevice();
  const Params params = Train(options, text, device);
  absl::PrintF("\n%s\n", Write(options, text, params, device));
} catch (const std::exception& error) {
  absl::FPrintF(stderr, "gpt_train: %s\n", error.what());
  return 1;
}
