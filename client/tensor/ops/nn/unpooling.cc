// Max unpooling: stores elements at their recorded positions and zeros elsewhere.
#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/nn/pooling.h"
#include "client/tensor/ops/shape/known.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/nn/pooling.h"

namespace hlod {
namespace {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;

// Returns the spatial sizes of the result: the requested ones, or those that the windows cover.
Dims OutputOf(const Dims& dims, int64_t spatial, const Sizes& kernel, const MaxUnpoolOptions& options) {
  const lazy::Pool pool = lazy::MakePool(spatial, kernel, options.stride, options.padding, 1, false);
  Dims output = options.output_size;
  if (output.empty()) {
    for (int64_t i = 0; i < spatial; ++i) {
      const int64_t number = dims[dims.size() - spatial + i];
      output.push_back((number - 1) * pool.stride[i] - 2 * pool.padding[i] + pool.kernel[i]);
    }
  } else if (output.size() > static_cast<size_t>(spatial)) {  // The whole shape may be passed, too.
    output.erase(output.begin(), output.end() - spatial);
  }
  if (static_cast<int64_t>(output.size()) != spatial) {
    Refuse("the output size %s has not %d dimensions", ListText(options.output_size), spatial);
  }
  for (const int64_t size : output) {
    if (size < 0) Refuse("the output size %s is negative", ListText(output));
  }
  return output;
}

Tensor Unpool(const Operand& x, const Operand& indices, int64_t spatial, const Sizes& kernel,
              const MaxUnpoolOptions& options) {
  return lazy::Call(lazy::ops::MaxUnpool, {x, indices}, [&](Lowering& l, Operands o) {
    lazy::RequireSpatial(l, o[0], spatial);
    const Dims dims = l.dims(o[0]);
    if (l.dims(o[1]) != dims) {
      Refuse("the indices' shape %s is not the tensor's %s", ListText(l.dims(o[1])), ListText(dims));
    }
    const Dims output = OutputOf(dims, spatial, kernel, options);
    lazy::CheckFlatIndices(l, o[1], lazy::Count(output));
    Dims to(dims.begin(), dims.end() - spatial);
    const int64_t planes = lazy::Count(to);
    const int64_t inner = planes == 0 ? 0 : lazy::Count(dims) / planes;
    const Op empty = l.Full(l.type(o[0]), {planes, lazy::Count(output)}, 0);
    const std::vector<Op> parts = {l.Reshape(o[0], {planes, inner}), l.Reshape(o[1], {planes, inner})};
    // When several elements have one position, each receives the gradient of that position, as in PyTorch.
    const Op placed = lazy::OwnDerivative(l, "placed", parts, [&](Operands o) {
      return lazy::ScatterAlong(l, empty, 1, o[1], o[0], lazy::Combine::kSet);
    });
    to.insert(to.end(), output.begin(), output.end());
    return l.Reshape(placed, to);
  });
}

}  // namespace

Tensor MaxUnpool1d(const Operand& x, const Operand& indices, Sizes kernel, MaxUnpoolOptions options) {
  return Unpool(x, indices, 1, kernel, options);
}
Tensor MaxUnpool2d(const Operand& x, const Operand& indices, Sizes kernel, MaxUnpoolOptions options) {
  return Unpool(x, indices, 2, kernel, options);
}
Tensor MaxUnpool3d(const Operand& x, const Operand& indices, Sizes kernel, MaxUnpoolOptions options) {
  return Unpool(x, indices, 3, kernel, options);
}

}  // namespace hlod
