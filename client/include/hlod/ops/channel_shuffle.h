// Channels in another order.
#pragma once

#include "hlod/tensor/operand.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// [N, g C, ...] as [N, C g, ...]: of `groups` groups of channels the first of each, then the second of each,
// ... nn.functional.channel_shuffle.
Tensor ChannelShuffle(const Operand& x, int64_t groups);

}  // namespace hlod
