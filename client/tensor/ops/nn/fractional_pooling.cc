// Fractional max pooling (Graham 2014, arXiv:1412.6071): windows of one size whose starts advance by random
// steps, the same for all rows of a plane.
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/value/throw.h"
#include "hlod/ops/arrangement.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/indexing.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/pooling.h"
#include "hlod/ops/random.h"
#include "hlod/ops/reduction.h"
#include "hlod/ops/shape.h"
#include "hlod/tensor/autograd.h"

namespace hlod {
namespace {

using lazy::ListText;
using lazy::Refuse;

// Returns the starts of the windows of one dimension: [n, channels, count], s64. The last window ends with
// the dimension.
Tensor Starts(const Tensor& sample, int64_t size, int64_t kernel, int64_t count) {
  const Device device = sample.device();
  const Tensor last = FullLike(sample, size - kernel, {.type = kS64}).Unsqueeze(-1);
  if (count == 1) return last;
  const double step = static_cast<double>(size - kernel) / static_cast<double>(count - 1);
  const Tensor index = Arange(0, count - 1, 1, {.type = sample.dtype(), .device = device});
  const Tensor u = sample.Unsqueeze(-1);
  const Tensor others = Trunc((index + u) * step).To(kS64) - Trunc(u * step).To(kS64);
  return Cat({others, last}, -1);
}

ValuesAndIndices Pooled(const Operand& input, int64_t spatial, const Sizes& kernel_size,
                        const Sizes& output_size, const Tensor& samples) {
  const CallerScope scope(input.caller());
  const lazy::Operation& operation = lazy::ops::FractionalMaxPool;
  const Tensor& given = lazy::TensorOf(operation, input);
  Dims kernel, output;
  lazy::Explain(operation, {&input, 1}, input.caller(), [&] {
    if (given.rank() != spatial + 1 && given.rank() != spatial + 2) {
      Refuse("shape %s is not [batch, channels] or [channels] and %d dimensions", ListText(given.dims()),
             spatial);
    }
    if (!hlo::IsFloat(given.dtype()))
      Refuse("elements are of a floating type, not %s", hlo::Name(given.dtype()));
    kernel = lazy::SizesFor(kernel_size, spatial, "kernel", 1);
    output = lazy::SizesFor(output_size, spatial, "output", 1);
    for (int64_t i = 0; i < spatial; ++i) {
      const int64_t size = given.size(i - spatial);
      if (output[i] + kernel[i] - 1 > size) {
        Refuse("%d windows of %d elements do not begin at different ones of %d", output[i], kernel[i], size);
      }
    }
  });
  const Tensor x = given.rank() == spatial + 1 ? given.Unsqueeze(0) : given;
  const int64_t batch = x.size(0), channels = x.size(1);
  Tensor u = samples;
  if (!u.defined()) u = Rand({batch, channels, spatial}, {.type = x.dtype(), .device = x.device()});
  lazy::Explain(operation, {&input, 1}, input.caller(), [&] {
    if (u.dims() != Dims{batch, channels, spatial}) {
      Refuse("samples of shape %s are not [%d, %d, %d]", ListText(u.dims()), batch, channels, spatial);
    }
  });
  // The flat positions of each window's elements: [n, channels, outputs..., kernel...].
  Tensor places;
  int64_t windows = 1, elements = 1, plane = 1;
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t size = x.size(2 + i);
    // As in PyTorch, two spatial dimensions take their samples in reverse order, three in order.
    const Tensor sample = u.Select(2, spatial == 2 ? 1 - i : i);
    const Tensor inside = Arange(0, kernel[i], 1, {.type = kS64, .device = x.device()});
    const Tensor at = Starts(sample, size, kernel[i], output[i]).Unsqueeze(-1) + inside;
    Dims shape = {batch, channels};
    shape.insert(shape.end(), 2 * spatial, 1);
    shape[2 + i] = output[i];
    shape[2 + spatial + i] = kernel[i];
    const Tensor placed = at.Reshape(shape);
    places = places.defined() ? places * size + placed : placed;
    windows *= output[i];
    elements *= kernel[i];
    plane *= size;
  }
  places = places.Reshape({batch, channels, windows, elements});
  const Tensor flat = x.Reshape({batch, channels, plane});
  const Tensor seen =
      Gather(flat.Detach(), 2, places.Reshape({batch, channels, windows * elements})).Reshape(places.dims());
  const Tensor chosen = Gather(places, 3, Max(seen, 3, true).indices).Squeeze(3);
  Dims to(given.dims().begin(), given.dims().end() - spatial);
  to.insert(to.end(), output.begin(), output.end());
  return {Gather(flat, 2, chosen).Reshape(to), chosen.Reshape(to)};
}

}  // namespace

ValuesAndIndices FractionalMaxPool2d(const Operand& x, Sizes kernel, Sizes output, const Tensor& samples) {
  return Pooled(x, 2, kernel, output, samples);
}
ValuesAndIndices FractionalMaxPool3d(const Operand& x, Sizes kernel, Sizes output, const Tensor& samples) {
  return Pooled(x, 3, kernel, output, samples);
}

}  // namespace hlod
