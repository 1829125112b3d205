// Inference of a small GPT: weights from a safetensors file, a model of nn:: layers, text generated letter by
// letter.
//   example_gpt gpt.d/gpt.safetensors '"License" shall mean' 100
#include <hlod/tensors.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <string>

namespace nn = hlod::nn;
using hlod::Tensor;

constexpr int64_t kSize = 48, kHeads = 4, kLength = 64, kFirst = ' ', kLetters = 95;

Tensor Gelu(const Tensor& x) {  // The tanh approximation, as in GPT-2.
  return 0.5 * x * (1 + hlod::Tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

struct Block : nn::Module {
  using nn::Module::Module;
  nn::LayerNorm norm1{*this, "norm1", {kSize}}, norm2{*this, "norm2", {kSize}};
  nn::MultiheadAttention attention{*this, "attention", kSize, kHeads};
  nn::Linear up{*this, "up", kSize, 4 * kSize}, down{*this, "down", 4 * kSize, kSize};

  Tensor operator()(const Tensor& x) const {
    const Tensor y = norm1(x), z = x + attention(y, y, y, {.is_causal = true});
    return z + down(Gelu(up(norm2(z))));
  }
};

struct Gpt : nn::Module {
  nn::Embedding letters{*this, "letters", kLetters, kSize}, places{*this, "places", kLength, kSize};
  Block block0{*this, "block0"}, block1{*this, "block1"};
  nn::LayerNorm norm{*this, "norm", {kSize}};

  Tensor operator()(const Tensor& tokens) const {
    const Tensor x = letters(tokens) + places.weight;
    return hlod::MatMul(norm(block1(block0(x))), letters.weight.T());
  }
};

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: example_gpt WEIGHTS.safetensors PROMPT LETTERS\n");
    return 2;
  }
  const hlod::NoGrad scope;  // Inference needs no gradients.
  std::string text = argv[2];
  const hlod::Device device = hlod::DefaultDevice();
  Gpt model;
  model.To(device);
  model.LoadStateDict(nn::LoadSafetensors(argv[1]));
  model.Eval();

  for (int remaining = std::atoi(argv[3]); remaining > 0; --remaining) {
    // The window has a fixed length, padded at the end: each step is the same program, so one compile serves
    // all.
    const std::string window = text.substr(text.size() - std::min<size_t>(text.size(), kLength));
    std::vector<int64_t> tokens(kLength, 0);
    for (size_t i = 0; i < window.size(); ++i) tokens[i] = window[i] - kFirst;
    const Tensor logits = model(hlod::FromValues<int64_t>(tokens, hlod::Dims{1, kLength}, device));
    const std::vector<float> scores = logits.ToVector<float>();
    const auto last = scores.begin() + static_cast<std::ptrdiff_t>((window.size() - 1) * kLetters);
    text += static_cast<char>(kFirst + (std::max_element(last, last + kLetters) - last));
  }
  std::printf("%s\n", text.c_str());
  std::fprintf(stderr, "compiled %ld programs\n", static_cast<long>(hlod::GetTraceStats().compiles));
}
