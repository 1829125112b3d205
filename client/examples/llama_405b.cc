// A training step of a model of 405 billion parameters: 126 layers as one loop, computed in bf16. Weights,
// gradients and two moments are f32, 16 bytes per parameter. No machine at hand runs it; this command tells
// whether rented chips would:
//   hloctl check --target v5p:128 --steps 2 -- example_llama_405b
// The first Sync() initialises the weights; each further one is a step. The weights are divided among the
// chips, and so are the sequences of a batch.
//   example_llama_405b [--layers 126] [--dim 16384] [--batch 256] [--sequence 2048] [--chips 128] [--steps 1]
//                      [--mesh data=16,model=8]
// With --mesh XLA's partitioner divides the step: "data" divides the batch, and the weights too (FSDP);
// "model" divides heads, hidden units and the vocabulary, and between them the sequence. The check is then of
// one chip:
//   hloctl check --target v5p:128 --steps 2 -- example_llama_405b --mesh data=16,model=8
#include <hlod/optim/train.h>
#include <hlod/tensor/sharding.h>
#include <hlod/tensors.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "hlod/nn/sharder.h"

using hlod::Dims;
using hlod::Tensor;

struct Config {
  int64_t layers = 126, dim = 16384, batch = 256, sequence = 2048, chips = 128, steps = 1;
  int64_t head = 128, vocabulary = 128256;  // The sizes of a head and of the vocabulary.
  hlod::Mesh mesh;                          // Empty: weights are annotated for `chips`.
  int64_t ffn() const { return dim * 13 / 4; }
  int64_t heads() const { return dim / head; }
  int64_t kv_heads() const { return heads() / 16 > 0 ? heads() / 16 : 1; }
};

// The weights of all layers, stacked along a leading dimension.
struct Layers {
  Tensor attention_norm, wq, wk, wv, wo, ffn_norm, gate, up, down;
};
struct Params {
  Tensor embedding;
  Layers layers;
  Tensor norm, output;
};

constexpr std::nullopt_t kWhole = std::nullopt;

// States how a value is divided, if there is a mesh.
Tensor Divided(const Config& c, const Tensor& x, const hlod::PartitionSpec& spec) {
  return c.mesh.empty() ? x : hlod::WithSharding(x, c.mesh, spec);
}

Tensor Bf16(const Tensor& x) { return x.To(hlod::kBF16); }

// Applies rotary position embedding to x [batch, tokens, heads, head]: rotates one half with the other.
Tensor Rotated(const Tensor& x, const Tensor& cosine, const Tensor& sine) {
  const int64_t half = x.size(-1) / 2;
  const Tensor a = x.Narrow(-1, 0, half), b = x.Narrow(-1, half, half);
  return hlod::Cat({a * cosine - b * sine, b * cosine + a * sine}, -1);
}

// Computes one layer; `w` holds its slices of the weights.
Tensor Block(const Config& c, const Layers& w, const Tensor& h) {
  const int64_t batch = h.size(0), tokens = h.size(1), groups = c.heads() / c.kv_heads();
  const hlod::Device where = h.device();
  const auto positions = [&](hlod::PrimitiveType type) {
    return hlod::Arange(0, tokens, 1, {.type = type, .device = where});
  };
  const Tensor frequency = hlod::Exp(hlod::Arange(0, c.head / 2, 1, {.type = hlod::kF32, .device = where}) *
                                     (-2.0 * std::log(500000.0) / static_cast<double>(c.head)));
  const Tensor angle = hlod::Outer(positions(hlod::kF32), frequency).Unsqueeze(1);
  const Tensor cosine = Bf16(hlod::Cos(angle)), sine = Bf16(hlod::Sin(angle));
  const auto norm = [&](const Tensor& y, const Tensor& weight) {
    return Divided(c, hlod::RmsNorm(y, {c.dim}, Bf16(weight), 1e-5), {"data", kWhole, kWhole});
  };
  const auto columns = [&](const Tensor& y, const Tensor& weight) {
    return Divided(c, hlod::MatMul(y, Bf16(weight)), {"data", kWhole, "model"});
  };
  const Tensor x = norm(h, w.attention_norm);
  const auto heads = [&](const Tensor& weight, int64_t count) {
    return columns(x, weight).Reshape({batch, tokens, count, c.head});
  };
  const Tensor q =
      Rotated(heads(w.wq, c.heads()), cosine, sine).Reshape({batch, tokens, c.kv_heads(), groups, c.head});
  const Tensor k = Rotated(heads(w.wk, c.kv_heads()), cosine, sine), v = heads(w.wv, c.kv_heads());
  const Tensor scores =
      hlod::Einsum("bqngd,bknd->bngqk", {q, k}).To(hlod::kF32) * (1 / std::sqrt(static_cast<double>(c.head)));
  const Tensor position = positions(hlod::kS32);
  const Tensor seen = hlod::Ge(position.Unsqueeze(1), position.Unsqueeze(0));
  const Tensor attention = Bf16(hlod::Softmax(hlod::Where(seen, scores, -1e30), -1));
  const Tensor mixed =
      Divided(c, hlod::Einsum("bngqk,bknd->bqngd", {attention, v}).Reshape({batch, tokens, c.dim}),
              {"data", kWhole, "model"});
  const hlod::PartitionSpec by_sequence = {"data", "model", kWhole};
  const Tensor after = Divided(c, h + hlod::MatMul(mixed, Bf16(w.wo)), by_sequence);
  const Tensor y = norm(after, w.ffn_norm);
  const Tensor inner = hlod::Silu(columns(y, w.gate)) * columns(y, w.up);
  return Divided(c, after + hlod::MatMul(inner, Bf16(w.down)), by_sequence);
}

// Each layer's inputs are kept for the gradient; the values within a layer are recomputed.
Tensor Model(const Config& c, const Params& params, const Tensor& tokens) {
  const auto block = hlod::Checkpoint([&c](const Layers& w, const Tensor& x) { return Block(c, w, x); });
  const auto body = [&](const Tensor& x, const Layers& w) { return std::pair(block(w, x), std::tuple<>()); };
  const Tensor first = Divided(c, Bf16(hlod::Embedding(tokens, params.embedding)), {"data", "model", kWhole});
  const Tensor h = hlod::Scan(body, first, params.layers).first;
  const Tensor last =
      Divided(c, hlod::RmsNorm(h, {c.dim}, Bf16(params.norm), 1e-5), {"data", kWhole, kWhole});
  return Divided(c, hlod::MatMul(last, Bf16(params.output)).To(hlod::kF32), {"data", kWhole, "model"});
}

Params MakeParams(const Config& c, const hlod::Device& device) {
  const hlod::nn::SingleAxisSharder sharder(c.chips, /*replicate_unshardable=*/true);
  const auto weight = [&](const Dims& dims, const hlod::PartitionSpec& spec) {
    Tensor w = hlod::Randn(dims, {.device = device}) * 0.02;
    return c.mesh.empty() ? hlod::MarkSharding(w, sharder(dims)) : hlod::MarkSharding(w, c.mesh, spec);
  };
  const hlod::PartitionSpec norms = {kWhole, kWhole}, column = {kWhole, "data", "model"},
                            row = {kWhole, "model", "data"};
  const int64_t n = c.layers, kv = c.kv_heads() * c.head;
  return {weight({c.vocabulary, c.dim}, {"model", "data"}),
          {weight({n, c.dim}, norms), weight({n, c.dim, c.dim}, column), weight({n, c.dim, kv}, column),
           weight({n, c.dim, kv}, column), weight({n, c.dim, c.dim}, row), weight({n, c.dim}, norms),
           weight({n, c.dim, c.ffn()}, column), weight({n, c.dim, c.ffn()}, column),
           weight({n, c.ffn(), c.dim}, row)},
          weight({c.dim}, {kWhole}),
          weight({c.dim, c.vocabulary}, {"data", "model"})};
}

// Returns a batch as a data loader would supply it.
Tensor Batch(const Config& c, int64_t seed, const hlod::Device& device) {
  std::vector<int32_t> ids(static_cast<size_t>(c.batch * c.sequence));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>((static_cast<int64_t>(i) * 7919 + seed) % c.vocabulary);
  const Tensor host = hlod::FromValues<int32_t>(ids, Dims{c.batch, c.sequence});
  if (!c.mesh.empty()) return hlod::ToMesh(host, device, c.mesh, {"data", kWhole});
  Tensor batch = host.To(device);
  return hlod::MarkSharding(batch, hlod::nn::SingleAxisSharder(c.chips, true)(batch.dims()));
}

int main(int argc, char** argv) try {
  Config c;
  const std::map<std::string, int64_t*> flags = {{"--layers", &c.layers}, {"--dim", &c.dim},
                                                 {"--batch", &c.batch},   {"--sequence", &c.sequence},
                                                 {"--chips", &c.chips},   {"--steps", &c.steps}};
  for (int i = 1; i < argc; i += 2) {
    if (std::string(argv[i]) == "--mesh" && i + 1 < argc) {
      c.mesh = hlod::Mesh::Parse(argv[i + 1]).value();
      continue;
    }
    const auto flag = flags.find(argv[i]);
    if (flag == flags.end() || i + 1 == argc || (*flag->second = std::atoll(argv[i + 1])) < 1) {
      std::fprintf(stderr, "llama_405b: %s is not a flag with a number above 0\n", argv[i]);
      return 2;
    }
  }
  const hlod::Device device = hlod::DefaultDevice();
  Params params = MakeParams(c, device);
  const hlod::optim::Optimizer adam = hlod::optim::AdamW(3e-4, 0.1);
  hlod::optim::State state = adam.Init(params);
  hlod::Sync();
  const auto step =
      hlod::MakeTrainStep([&c](const Params& p, const Tensor& tokens) { return Model(c, p, tokens); },
                          [&c](const Tensor& logits, const Tensor& next) {
                            return hlod::CrossEntropy(logits.Reshape({-1, c.vocabulary}), next.Reshape({-1}));
                          },
                          adam);
  Tensor loss;
  for (int64_t i = 0; i < c.steps; ++i) {
    auto result = step(params, state, Batch(c, i, device), Batch(c, i + 1, device));
    params = std::move(result.params);
    state = std::move(result.state);
    loss = result.loss;
    hlod::Sync();
  }
  std::printf("loss %s\n", loss.ToString().c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "llama_405b: %s\n", error.what());
  return 1;
}
