// A model with the parts of Llama 3.1, of any dimensions, for tests and benchmarks of tracing.
#pragma once

#include <cmath>
#include <vector>

#include "hlod/tensors.h"

namespace hlod::llama {

struct Config {
  int64_t layers, dim, ffn, heads, kv_heads, vocabulary;
  PrimitiveType type = kBF16;

  static Config Of405B() { return {126, 16384, 53248, 128, 8, 128256}; }
  int64_t head_dim() const { return dim / heads; }
};

struct Layer {
  Tensor attention_norm, wq, wk, wv, wo, ffn_norm, gate, up, down;
};
struct Params {
  Tensor embedding;
  std::vector<Layer> layers;
  Tensor norm, output;
};

// Makes all weights; `make` is called once per weight with its dimensions.
template <typename Make>
Params MakeParams(const Config& c, Make make) {
  Params params{make(Dims{c.vocabulary, c.dim}), {}, make(Dims{c.dim}), make(Dims{c.dim, c.vocabulary})};
  const int64_t kv = c.kv_heads * c.head_dim();
  for (int64_t i = 0; i < c.layers; ++i) {
    params.layers.push_back({make(Dims{c.dim}), make(Dims{c.dim, c.dim}), make(Dims{c.dim, kv}),
                             make(Dims{c.dim, kv}), make(Dims{c.dim, c.dim}), make(Dims{c.dim}),
                             make(Dims{c.dim, c.ffn}), make(Dims{c.dim, c.ffn}), make(Dims{c.ffn, c.dim})});
  }
  return params;
}

// Applies rotary position embedding to x [tokens, heads, head_dim]: rotates the two halves of the last
// dimension.
inline Tensor Rotated(const Tensor& x, const Tensor& cosine, const Tensor& sine) {
  const int64_t half = x.size(-1) / 2;
  const Tensor a = x.Narrow(-1, 0, half), b = x.Narrow(-1, half, half);
  return Cat({a * cosine - b * sine, b * cosine + a * sine}, -1);
}

inline Tensor Block(const Config& c, const Layer& w, const Tensor& h) {
  const int64_t tokens = h.size(0), groups = c.heads / c.kv_heads, size = c.head_dim();
  const Device where = h.device();
  const Tensor frequency =
      Exp(Arange(0, size / 2, 1, {.type = kF32, .device = where}) * (-2.0 * std::log(500000.0) / size));
  const Tensor angle = Outer(Arange(0, tokens, 1, {.type = kF32, .device = where}), frequency).Unsqueeze(1);
  const Tensor cosine = Cos(angle).To(c.type), sine = Sin(angle).To(c.type);
  const Tensor x = RmsNorm(h, {c.dim}, w.attention_norm, 1e-5);
  const Tensor q = Rotated(MatMul(x, w.wq).Reshape({tokens, c.heads, size}), cosine, sine)
                       .Reshape({tokens, c.kv_heads, groups, size});
  const Tensor k = Rotated(MatMul(x, w.wk).Reshape({tokens, c.kv_heads, size}), cosine, sine);
  const Tensor v = MatMul(x, w.wv).Reshape({tokens, c.kv_heads, size});
  const Tensor scores =
      Einsum("qngd,knd->ngqk", {q, k}).To(kF32) * (1 / std::sqrt(static_cast<double>(size)));
  const Tensor position = Arange(0, tokens, 1, {.type = kS32, .device = where});
  const Tensor seen = Ge(position.Unsqueeze(1), position.Unsqueeze(0));
  const Tensor weights = Softmax(Where(seen, scores, -1e30), -1).To(c.type);
  const Tensor mixed = Einsum("ngqk,knd->qngd", {weights, v}).Reshape({tokens, c.dim});
  const Tensor after = h + MatMul(mixed, w.wo);
  const Tensor y = RmsNorm(after, {c.dim}, w.ffn_norm, 1e-5);
  return after + MatMul(Silu(MatMul(y, w.gate)) * MatMul(y, w.up), w.down);
}

// Returns the mean cross entropy of each token's successor: `tokens` is [n], `next` is [n].
inline Tensor Loss(const Config& c, const Params& params, const Tensor& tokens, const Tensor& next,
                   const CheckpointPolicy& policy) {
  const Tensor h = Embedding(tokens, params.embedding);
  const auto block = Checkpoint([&c](const Layer& w, const Tensor& x) { return Block(c, w, x); }, policy);
  const Tensor out = RmsNorm(ScanLayers(block, params.layers, h), {c.dim}, params.norm, 1e-5);
  return CrossEntropy(MatMul(out, params.output).To(kF32), next);
}

}  // namespace hlod::llama
