// Permutations and choices from explicit keys, as JAX makes them: by sorts with random u32 keys, repeated
// until equal keys hardly matter.
#include <algorithm>
#include <cmath>
#include <limits>

#include "client/tensor/ops/random/key_operations.h"
#include "client/tensor/ops/random/key_words.h"
#include "client/tensor/value/throw.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/cumulative.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/indexing.h"
#include "hlod/ops/math.h"
#include "hlod/ops/random_key.h"
#include "hlod/ops/sorting.h"

namespace hlod::random {
namespace {

using lazy::Explain;
using lazy::Refuse;

// Sorts x along `dim` by random keys. n elements that are sorted r times have 2^(32 r) keys; the number of
// rounds is the least with 2^(32 r) >= n^3.
Tensor Shuffled(const Operand& key, Tensor x, int64_t dim) {
  const double most = std::numeric_limits<uint32_t>::max();
  const auto size = static_cast<double>(std::max<int64_t>(1, x.numel()));
  const int rounds = static_cast<int>(std::ceil(3 * std::log(size) / std::log(most)));
  Tensor next = *key.tensor();
  for (int i = 0; i < rounds; ++i) {
    const Tensor both = Split(next);
    next = both[0];
    x = TakeAlongDim(x, Argsort(Bits(both[1], x.dims()), dim), dim);
  }
  return x;
}

Tensor Counted(const Operand& key, int64_t n) {
  return Arange(0, n, 1, {.type = kS64, .device = key.tensor()->device()});
}

// Returns the positions among `count` that are drawn.
Tensor Positions(const Operand& key, int64_t count, const Dims& dims, bool replace, const Tensor& p) {
  int64_t draws = 1;
  for (const int64_t size : dims) draws *= size;
  Explain(ops::Choice, {&key, 1}, key.caller(), [&] {
    lazy::CheckDrawn(dims);
    if (count <= 0 && draws > 0) Refuse("there is nothing to choose from: its size is %d", count);
    if (!replace && draws > count) {
      Refuse("%d elements cannot be taken from %d without putting them back", draws, count);
    }
    if (p.defined() && p.dims() != Dims{count}) {
      Refuse("p has the shape %s; it has a probability for each of %d", lazy::ListText(p.dims()), count);
    }
    if (p.defined()) lazy::BitsFor(p.dtype());
  });
  if (draws == 0) return Zeros(dims, {.type = kS64, .device = key.tensor()->device()});
  if (!p.defined()) {
    if (replace) return Randint(key, dims, 0, count).To(kS64);
    return Shuffled(key, Counted(key, count), 0).Slice(0, 0, draws).Reshape(dims);
  }
  if (replace) {
    const Tensor sums = Cumsum(p, 0);
    const Tensor drawn = sums.Select(0, -1) * (1 - Uniform(key, dims, 0, 1, p.dtype()));
    return Searchsorted(sums, drawn);
  }
  const Tensor noisy = Gumbel(key, {count}, p.dtype()) + Log(p);
  return Topk(noisy, draws).indices.Reshape(dims);
}

}  // namespace

Tensor Permutation(const Operand& key, int64_t n) {
  const CallerScope scope(key.caller());
  lazy::TensorOf(ops::Permutation, key);
  Explain(ops::Permutation, {&key, 1}, key.caller(), [&] {
    if (n < 0) Refuse("the number of elements (%d) is negative", n);
  });
  return Shuffled(key, Counted(key, n), 0);
}

Tensor Permutation(const Operand& key, const Tensor& x, int64_t dim, bool independent) {
  const CallerScope scope(key.caller());
  lazy::TensorOf(ops::Permutation, key);
  int64_t at = 0;
  Explain(ops::Permutation, {&key, 1}, key.caller(), [&] {
    if (x.rank() == 0) Refuse("a scalar has no elements to permute");
    at = lazy::WrapDim(dim, x.rank());
  });
  if (independent || x.rank() == 1) return Shuffled(key, x, at);
  return IndexSelect(x, at, Shuffled(key, Counted(key, x.size(at)), 0));
}

Tensor Choice(const Operand& key, int64_t n, DimList dims, const ChoiceOptions& options) {
  const CallerScope scope(key.caller());
  lazy::TensorOf(ops::Choice, key);
  return Positions(key, n, lazy::Copied(dims), options.replace, options.p);
}

Tensor Choice(const Operand& key, const Tensor& x, DimList dims, const ChoiceOptions& options) {
  const CallerScope scope(key.caller());
  lazy::TensorOf(ops::Choice, key);
  int64_t at = 0;
  Explain(ops::Choice, {&key, 1}, key.caller(), [&] {
    if (x.rank() == 0) Refuse("a scalar has no elements to choose from: take a number as an integer");
    at = lazy::WrapDim(options.dim, x.rank());
  });
  Dims result(x.dims().begin(), x.dims().begin() + at);
  result.insert(result.end(), dims.begin(), dims.end());
  result.insert(result.end(), x.dims().begin() + at + 1, x.dims().end());
  if (!options.replace && !options.p.defined() && x.size(at) > 0) {
    int64_t draws = 1;
    for (const int64_t size : dims) draws *= size;
    Explain(ops::Choice, {&key, 1}, key.caller(), [&] {
      lazy::CheckDrawn(lazy::Copied(dims));
      if (draws > x.size(at)) {
        Refuse("%d elements cannot be taken from %d without putting them back", draws, x.size(at));
      }
    });
    return Permutation(key, x, at).Slice(at, 0, draws).Reshape(result);
  }
  const Tensor positions = Positions(key, x.size(at), lazy::Copied(dims), options.replace, options.p);
  return IndexSelect(x, at, positions.Reshape({-1})).Reshape(result);
}

}  // namespace hlod::random
