// Random tensors. The numbers are a function of the device's seed (ManualSeed) and of how many numbers were
// drawn on the device before; they do not depend on where a trace is cut, nor on the thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "hlod/ops/creation.h"

namespace hlod {
namespace lazy {
struct RandomStream;
}

// Uniform in [0, 1).
Tensor Rand(DimList dims, TensorOptions options = {}, Caller caller = Caller::Here());
// Normal, mean 0 and variance 1.
Tensor Randn(DimList dims, TensorOptions options = {}, Caller caller = Caller::Here());
// Uniform in [low, high), as layers are initialised.
Tensor Uniform(DimList dims, double low, double high, TensorOptions options = {},
               Caller caller = Caller::Here());
// Integers from low to high - 1.
Tensor Randint(int64_t low, int64_t high, DimList dims, TensorOptions options = {},
               Caller caller = Caller::Here());
// 0 to n - 1 in random order.
Tensor Randperm(int64_t n, TensorOptions options = {}, Caller caller = Caller::Here());

// Like x in shape, and in type and device unless the options override them.
Tensor RandLike(const Operand& x, LikeOptions options = {});
Tensor RandnLike(const Operand& x, LikeOptions options = {});
Tensor RandintLike(const Operand& x, int64_t low, int64_t high, LikeOptions options = {});

// 1 with probability p, else 0; the type is p's. Values outside [0, 1] are clamped, NaN is 0.
Tensor Bernoulli(const Operand& p);
Tensor Bernoulli(const Operand& x, double p);  // Has x's shape and type.
// Normal. Mean and standard deviation are numbers or floating tensors whose shapes broadcast; the result has
// their common shape, and of two numbers it is a scalar of f32 on the host. A negative deviation is refused
// when it is a number, and mirrors the distribution in a tensor. Gradients flow to both.
Tensor Normal(const Operand& mean, const Operand& deviation);
Tensor Normal(double mean, double deviation, DimList dims, TensorOptions options = {},
              Caller caller = Caller::Here());
// The exponential distribution of mean 1 / rate; the second form has one element per rate of a tensor.
Tensor Exponential(DimList dims, double rate = 1, TensorOptions options = {}, Caller caller = Caller::Here());
Tensor Exponential(const Operand& rate);
// The number of events at the given rate (the Poisson distribution), in the rate's floating type. A rate that
// is negative or NaN gives NaN. The gradient of the rate is 0, as PyTorch's.
Tensor Poisson(const Operand& rate);
// The gamma distribution of mean concentration / rate (Marsaglia and Tsang 2000) and the beta distribution of
// mean a / (a + b), computed in f64. Parameters are as in Normal(). Those that are not positive give NaN. The
// gradients of concentrations, of a and of b are those of the quantile (PyTorch). A second
// derivative by them throws kArgument.
Tensor Gamma(const Operand& concentration, const Operand& rate = 1);
Tensor Beta(const Operand& a, const Operand& b);
// -log(-log(u)) for uniform u.
Tensor Gumbel(DimList dims, TensorOptions options = {}, Caller caller = Caller::Here());
// Normal with mean 0 and variance 1, conditioned to lie between low and high.
Tensor TruncatedNormal(DimList dims, double low, double high, TensorOptions options = {},
                       Caller caller = Caller::Here());
// Draws classes (s64) along the last dimension by unnormalised log probabilities: `dims` of them per row.
Tensor Categorical(const Operand& logits, DimList dims = {});
// softmax((logits + Gumbel noise) / tau) along a dimension. With `hard`, 1 at its largest element and 0
// elsewhere, with the gradient of the softmax.
Tensor GumbelSoftmax(const Operand& logits, double tau = 1, bool hard = false, int64_t dim = -1);
// Draws `count` positions per row of weights, in proportion to the weights. Without replacement no position
// is drawn twice; when fewer weights are positive, positions of weight 0 follow.
Tensor Multinomial(const Operand& weights, int64_t count, bool replacement = false);

// A separate stream of random numbers, as torch.Generator: inside a GeneratorScope numbers are drawn from it
// instead of from the device's stream. Copies share the stream.
class Generator {
 public:
  // The position in a stream: after it is set again, the same numbers follow.
  struct State {
    uint64_t seed = 0, offset = 0;
    bool operator==(const State&) const = default;
  };

  explicit Generator(uint64_t seed = 67280421310721);  // PyTorch's default.
  // The stream of a device, or of the host, which is used outside of scopes.
  static Generator Of(const Device& device = {});

  void ManualSeed(uint64_t seed);
  uint64_t initial_seed() const { return GetState().seed; }
  State GetState() const;
  void SetState(const State& state);

 private:
  friend class GeneratorScope;
  explicit Generator(std::shared_ptr<lazy::RandomStream> stream) : stream_(std::move(stream)) {}
  std::shared_ptr<lazy::RandomStream> stream_;
};

// While it exists, this thread draws from `generator` on every device. Refused in a traced function, whose
// numbers must differ from call to call: use keys there (hlod/ops/random_key.h).
class GeneratorScope {
 public:
  explicit GeneratorScope(const Generator& generator, Caller caller = Caller::Here());
  ~GeneratorScope();
  GeneratorScope(const GeneratorScope&) = delete;
  GeneratorScope& operator=(const GeneratorScope&) = delete;

 private:
  const std::shared_ptr<lazy::RandomStream> around_;
};

}  // namespace hlod
