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

// Lists are of the leaves of the parameters, in order; the state's layout is the transformation's own. An
// undefined update stays undefined, and what the state has for its parameter stays as it is.
class Transformation {
 public:
  virtual ~Transformation() = default;
  // How many lists the state has: of a link one, of a wrapper also those of the optimizer in it.
  virtual size_t part_count() const = 0;
  virtual std::vector<Tensors> InitParts(const Tensors& params) const = 0;
  // Replaces `updates`, and gives the next state.
  virtual std::vector<Tensors> UpdateParts(Tensors& updates, absl::Span<const Tensors> state,
                                           const Tensors& params) const = 0;
};

// A transformation of its own: its state is one list.
class Link : public Transformation {
 public:
  virtual Tensors Init(const Tensors& params) const = 0;
  // Replaces `updates`, and gives the next state.
  virtual Tensors Update(Tensors& updates, const Tensors& state, const Tensors& params) const = 0;

  size_t part_count() const final { return 1; }
  std::vector<Tensors> InitParts(const Tensors& params) const final { return {Init(params)}; }
  std::vector<Tensors> UpdateParts(Tensors& updates, absl::Span<const Tensors> state,
                                   const Tensors& params) const final {
    return {Update(updates, state[0], params)};
  }
};

// An optimizer of one link.
template <typename T, typename... Args>
Optimizer Make(Args&&... args) {
  return Optimizer({std::make_shared<const T>(std::forward<Args>(args)...)});
}
// A link that remembers nothing: each update from itself and its parameter.
Optimizer Elementwise(std::function<Tensor(const Tensor& update, const Tensor& param)> f);

// Zeros like `param`: a placeholder when it is one, so that a state of a large model is as free as the model.
Tensor ZerosFor(const Tensor& param);
Tensor ZerosFor(const Tensor& param, const Dims& dims);
// The count 0 on the device of the parameters.
Tensor ZeroCount(const Tensors& params);
// count + 1, which stays at the largest s32.
Tensor Increment(const Tensor& count);
// |x|^2 of each element, real also where x is complex; and zeros of its type.
Tensor SquaredModulus(const Tensor& x);
Tensor ZeroModuliFor(const Tensor& param);
// The floating type that numbers of a step (rates, corrections) are computed in for what is of `type`: f64
// for what has its digits, else f32.
PrimitiveType StepType(PrimitiveType type);
// decay * average + (1 - decay) * value.
Tensor MovingAverage(const Tensor& average, const Tensor& value, double decay);
// average / (1 - decay^count); the divisor is computed in StepType(), as Optax does.
Tensor BiasCorrected(const Tensor& average, double decay, const Tensor& count);
// The same with the divisor computed in f64 whatever the average is, as PyTorch does.
Tensor ExactlyBiasCorrected(const Tensor& average, double decay, const Tensor& count);

}  // namespace hlod::optim
