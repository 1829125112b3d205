// Flash attention as a kernel: computes softmax(q k^T) v in blocks, so that the whole matrix of scores never
// exists. Each step processes a block of queries and a block of keys, and keeps three values for the next:
// the largest score of each query so far and, relative to it, the sum of the weights and the weighted sum of
// the values.
#include <hlod/tensors.h>

#include <cmath>
#include <cstdio>

using hlod::Dims, hlod::Tensor;

struct Softmax {  // The state of a softmax over the scores seen so far; its leaves are the kernel's scratch.
  Tensor maximum, sum, weighted;
};

// q, k and v are [heads, length, size].
Tensor FlashAttention(const Tensor& q, const Tensor& k, const Tensor& v, bool is_causal, int64_t block) {
  const int64_t heads = q.size(0), queries = q.size(1), keys = k.size(1), size = q.size(2);
  const hlod::BlockSpec of_queries({hlod::kSqueezed, block, size},
                                   [](int64_t head, int64_t i, int64_t) { return Dims{head, i, 0}; });
  const hlod::BlockSpec of_keys({hlod::kSqueezed, block, size},
                                [](int64_t head, int64_t, int64_t j) { return Dims{head, j, 0}; });

  const auto body = [=](const Tensor& q, const Tensor& k, const Tensor& v, Tensor& out, Tensor& maximum,
                        Tensor& sum, Tensor& weighted) {
    const Tensor i = hlod::ProgramId(1), j = hlod::ProgramId(2);
    const Tensor places = hlod::Arange(0, block, 1, {.type = hlod::kS32, .device = q.device()});
    const Tensor row = (i * block + places).Unsqueeze(1), column = (j * block + places).Unsqueeze(0);

    const auto look = [&](const Softmax& before) {
      // Positions behind the last key are masked, and those above the diagonal of a causal mask.
      const Tensor seen = is_causal ? (column < keys) & (column <= row) : column < keys;
      const Tensor scores = hlod::Where(seen, hlod::MatMul(q, k.T()) / std::sqrt(size), -1e30);
      const Tensor maximum = hlod::Maximum(before.maximum, hlod::Amax(scores, {1}, /*keepdim=*/true));
      const Tensor weights = hlod::Exp(scores - maximum), scale = hlod::Exp(before.maximum - maximum);
      return Softmax{maximum, before.sum * scale + hlod::Sum(weights, {1}, /*keepdim=*/true),
                     before.weighted * scale + hlod::MatMul(weights, v)};
    };
    const auto pass = [](const Softmax& before) { return before; };

    // The first block of keys starts each block of queries anew. Later blocks above the diagonal are skipped.
    const Tensor first = j == 0;
    Softmax softmax = {hlod::Where(first, -1e30, maximum), hlod::Where(first, 0, sum),
                       hlod::Where(first, 0, weighted)};
    softmax = is_causal ? hlod::Cond(j <= i, look, pass, softmax) : look(softmax);
    maximum = softmax.maximum, sum = softmax.sum, weighted = softmax.weighted;
    out = weighted / sum;  // The result of the last step is final.
  };

  const auto blocks = [&](int64_t length) { return (length + block - 1) / block; };
  const auto scratch = [&](int64_t columns) { return hlod::Shape::Array(hlod::kF32, {block, columns}); };
  const hlod::Kernel attention("flash_attention",
                               {.grid = {heads, blocks(queries), blocks(keys)},
                                .in = {of_queries, of_keys, of_keys},
                                .out = {{q.shape(), of_queries}},
                                .scratch = {scratch(1), scratch(1), scratch(size)}},
                               body);
  return attention({q, k, v});
}

int main() {
  const hlod::Device device = hlod::DefaultDevice();
  constexpr int64_t kHeads = 4, kLength = 1000, kSize = 64, kBlock = 128;  // The last blocks are not full.
  hlod::ManualSeed(1);
  const auto random = [&] { return hlod::Randn({kHeads, kLength, kSize}, {.device = device}); };
  const Tensor q = random(), k = random(), v = random();
  hlod::Sync();
  const auto peak = [] { return hlod::DefaultEnvironment().client().Stats().value().peak_bytes; };
  const auto inputs = static_cast<double>(3 * q.numel() * 4);
  std::printf("q, k, v: %ld heads, %ld tokens, %ld numbers each: %.1f MB\n", static_cast<long>(kHeads),
              static_cast<long>(kLength), static_cast<long>(kSize), inputs / 1e6);

  for (const bool is_causal : {false, true}) {
    const char* const mask = is_causal ? "causal" : "full";
    const Tensor by_blocks = FlashAttention(q, k, v, is_causal, kBlock);
    const Tensor result = by_blocks.ToHost();
    if (!is_causal) std::printf("peak by blocks: %.1f MB\n", static_cast<double>(peak()) / 1e6);
    const Tensor plain = hlod::ScaledDotProductAttention(q, k, v, {.is_causal = is_causal}).ToHost();
    if (!is_causal) std::printf("peak of the plain form: %.1f MB\n", static_cast<double>(peak()) / 1e6);
    const double difference = hlod::Amax(hlod::Abs(result - plain)).Item<double>();
    std::printf("%s: largest difference %.1e (%s)\n", mask, difference,
                difference < 1e-5 ? "equal" : "WRONG");
  }

  // The same kernel on placeholders: a sequence of a million tokens, whose scores would take 4 TB per head.
  const Tensor long_q = hlod::Placeholder({32, 1 << 20, 128}, hlod::kF32, device);
  const Tensor abstract = FlashAttention(long_q, long_q, long_q, /*is_causal=*/true, 1 << 13);
  std::printf("%s\n", abstract.Describe().c_str());
}
