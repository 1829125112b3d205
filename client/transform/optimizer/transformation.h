// A gradient transformation: one link of an optimizer's chain.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "hlod/optim/optim.h"

namespace hlod::optim {

using Tensors = std::vector<Tensor>;

// A list has an element per leaf of the parameters, in order; each transformation defines the layout of its
// state. An undefined update stays undefined, and the state of its parameter does not change.
class Transformation {
 public:
  virtual ~Transformation() = default;
  // The number of lists in the state: one for a link; for a wrapper, also those of the wrapped optimizer.
  virtual size_t part_count() const = 0;
  virtual std::vector<Tensors> InitParts(const Tensors& params) const = 0;
  // Replaces `updates` and returns the next state.
  virtual std::vector<Tensors> UpdateParts(Tensors& updates, absl::Span<const Tensors> state,
                                           const Tensors& params, const ExtraArgs& extra) const = 0;
};

// A transformation that does not wrap an optimizer: its state is one list.
class Link : public Transformation {
 public:
  virtual Tensors Init(const Tensors& params) const = 0;
  // Replaces `updates` and returns the next state.
  virtual Tensors Update(Tensors& updates, const Tensors& state, const Tensors& params) const = 0;
  // Does the same with more arguments, for links that need them.
  virtual Tensors UpdateWith(Tensors& updates, const Tensors& state, const Tensors& params,
                             const ExtraArgs&) const {
    return Update(updates, state, params);
  }

  size_t part_count() const final { return 1; }
  std::vector<Tensors> InitParts(const Tensors& params) const final { return {Init(params)}; }
  std::vector<Tensors> UpdateParts(Tensors& updates, absl::Span<const Tensors> state, const Tensors& params,
                                   const ExtraArgs& extra) const final {
    return {UpdateWith(updates, state[0], params, extra)};
  }
};

// Returns an optimizer of one link of class T.
template <typename T, typename... Args>
Optimizer Make(Args&&... args) {
  return Optimizer({std::make_shared<const T>(std::forward<Args>(args)...)});
}
// Returns a stateless link that computes each update from itself and its parameter.
Optimizer Elementwise(std::function<Tensor(const Tensor& update, const Tensor& param)> f);

// Returns zeros like `param`; a placeholder when `param` is one, so that the state of a model without memory
// needs none.
Tensor ZerosFor(const Tensor& param);
Tensor ZerosFor(const Tensor& param, const Dims& dims);
// Returns the count 0 on the device of the parameters.
Tensor ZeroCount(const Tensors& params);
// Returns count + 1, but at most the largest s32.
Tensor Increment(const Tensor& count);
// Returns |x|^2 per element, real also where x is complex.
Tensor SquaredModulus(const Tensor& x);
// Returns the sum of SquaredModulus over all elements of all defined tensors; undefined when there are none.
Tensor SumOfSquares(const std::vector<Tensor>& tensors);
// Returns zeros of the type of SquaredModulus(param).
Tensor ZeroModuliFor(const Tensor& param);
// Returns the floating type in which a step's numbers (rates, corrections) for parameters of `type` are
// computed: f64 for types of that precision, else f32.
PrimitiveType StepType(PrimitiveType type);
// Returns 1 - x, and -x: of a number a number.
Number OneMinus(const Number& x);
Number Negative(const Number& x);
// Returns decay * average + (1 - decay) * value.
Tensor MovingAverage(const Tensor& average, const Tensor& value, const Number& decay);
// Returns average / (1 - decay^count); the divisor is computed in StepType(), as in Optax.
Tensor BiasCorrected(const Tensor& average, const Number& decay, const Tensor& count);
// Like BiasCorrected, but the divisor is always computed in f64, as in PyTorch.
Tensor ExactlyBiasCorrected(const Tensor& average, double decay, const Tensor& count);

}  // namespace hlod::optim
