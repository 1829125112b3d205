// The shuffle of channels: a transpose of groups and the channels within them.
#include "hlod/ops/channel_shuffle.h"

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/shape/movement.h"

namespace hlod {

Tensor ChannelShuffle(const Operand& x, int64_t groups) {
  static constexpr lazy::Operation kOperation = {"ChannelShuffle", "channel_shuffle", lazy::Promotion::kNone,
                                                 "channels in the order of their place in groups"};
  return lazy::Call(kOperation, {x}, [&](lazy::Lowering& l, lazy::Operands o) {
    const Dims dims = l.dims(o[0]);
    if (dims.size() < 3 || groups <= 0 || dims[1] % groups != 0) {
      lazy::Refuse("the channels of shape %s do not divide into %d groups", lazy::ListText(dims), groups);
    }
    Dims split = dims;
    split[1] = dims[1] / groups;
    split.insert(split.begin() + 1, groups);
    return l.Reshape(lazy::MovedDim(l, l.Reshape(o[0], split), 1, 2), dims);
  });
}

}  // namespace hlod
