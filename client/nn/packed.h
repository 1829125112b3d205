// Packs a sequence like another packed one.
#pragma once

#include "hlod/nn/packed_sequence.h"

namespace hlod::nn::utils::rnn {

// Packs `input`, [length, n, ...], with the lengths and the order of `like`.
PackedSequence PackedAs(const Tensor& input, const PackedSequence& like, const Caller& caller);

}  // namespace hlod::nn::utils::rnn
