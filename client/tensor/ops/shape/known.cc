// Checks of values that are known at trace time.
#include "client/tensor/ops/shape/known.h"

#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/value/host.h"

namespace hlod::lazy {

std::optional<int64_t> Outside(const Literal& values, int64_t first, int64_t limit,
                               std::optional<int64_t> allowed) {
  const absl::StatusOr<Literal> wide = hlo::Convert(values, hlo::kS64);
  if (!wide.ok()) throw Refusal{wide.status()};
  for (const int64_t value : wide->data<int64_t>()) {
    if ((value < first || value >= limit) && value != allowed) return value;
  }
  return std::nullopt;
}

std::shared_ptr<const Literal> KnownValue(Lowering& l, Op x) {
  if (l.graph.kind != Trace::Kind::kHost) return nullptr;
  const Parameter* const parameter = l.graph.ParameterAt(x.id);
  if (parameter == nullptr) return Evaluate(l.graph, {x.id})[0];
  return parameter->literal != nullptr ? parameter->literal : parameter->value->literal();
}

std::optional<Literal> KnownValue(const Tensor& x, const Caller& caller) {
  if (x.state() != TensorState::kHost) return std::nullopt;
  return x.ToLiteral(caller);
}

void CheckIndices(Lowering& l, Op index, int64_t dim, int64_t size, FromEnd from_end) {
  RequireIndex(l, index);
  const std::shared_ptr<const Literal> known = KnownValue(l, index);
  if (known == nullptr) return;
  const auto outside = Outside(*known, from_end == FromEnd::kYes ? -size : 0, size);
  if (outside) Refuse("index %d is out of range for dimension %d of size %d", *outside, dim, size);
}

void CheckFlatIndices(Lowering& l, Op index, int64_t size, FromEnd from_end) {
  RequireIndex(l, index);
  const std::shared_ptr<const Literal> known = KnownValue(l, index);
  if (known == nullptr) return;
  const auto outside = Outside(*known, from_end == FromEnd::kYes ? -size : 0, size);
  if (outside) Refuse("index %d is out of range for a tensor of %d elements", *outside, size);
}

}  // namespace hlod::lazy
