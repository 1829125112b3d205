// Channels in another order.
#pragma once

#include "hlod/tensor/operand.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// Reorders [N, g C, ...] to [N, C g, ...]: the first channel of each of `groups` groups, then the second of
// each, and so on. nn.functional.channel_shuffle.
Tensor ChannelShuffle(const Operand& x, int64_t groups);

}  // namespace hlod
