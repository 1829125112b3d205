// Packs a sequence like another packed one.
#pragma once

#include "hlod/nn/packed_sequence.h"

namespace hlod::nn::utils::rnn {

// Packs the steps of [length, n, ...] that `like` has, in its order.
PackedSequence PackedAs(const Tensor& input, const PackedSequence& like, const Caller& caller);

}  // namespace hlod::nn::utils::rnn
