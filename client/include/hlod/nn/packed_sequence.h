// Sequences of different lengths: torch.nn.utils.rnn. Lengths are numbers on the host, as in PyTorch.
#pragma once

#include <optional>
#include <vector>

#include "hlod/nn/module.h"

namespace hlod::nn::utils::rnn {

// Sequences without padding, ordered by step: first the elements of step 0 of all sequences, then those of
// step 1 of the sequences that have it, and so on. Sequences are sorted by length, the longest first.
struct PackedSequence {
  Tensor data;                       // [sum of lengths, ...]
  std::vector<int64_t> batch_sizes;  // Per step, the number of sequences that are long enough to have it.
  // The permutation that sorted the sequences by length, and its inverse; empty when the input was sorted.
  std::vector<int64_t> sorted_indices, unsorted_indices;
};

// Packs [length, n, ...], or [n, length, ...] when `batch_first`. Throws unless there are n lengths, each
// from 1 to the input's length. Sequences must be sorted, the longest first, when `enforce_sorted`. A program
// is compiled for each sum of lengths; nn::Recurrent::WithLengths avoids that.
PackedSequence PackPaddedSequence(const Tensor& input, const std::vector<int64_t>& lengths,
                                  bool batch_first = false, bool enforce_sorted = true,
                                  Caller caller = Caller::Here());

struct PaddedSequence {
  Tensor padded;                 // In the order that the sequences had before packing.
  std::vector<int64_t> lengths;  // One per sequence.
};
// Undoes PackPaddedSequence. The padded length is that of the longest sequence, or `total_length`, which must
// not be less.
PaddedSequence PadPackedSequence(const PackedSequence& packed, bool batch_first = false,
                                 Scalar padding_value = 0.0, std::optional<int64_t> total_length = {},
                                 Caller caller = Caller::Here());

// Pads sequences [length, ...] and stacks them as [longest, n, ...], or [n, longest, ...] when `batch_first`.
// Throws when there are none, or when they differ in other sizes than the first.
Tensor PadSequence(const std::vector<Tensor>& sequences, bool batch_first = false, Scalar padding_value = 0.0,
                   Caller caller = Caller::Here());
std::vector<Tensor> UnpadSequence(const Tensor& padded, const std::vector<int64_t>& lengths,
                                  bool batch_first = false, Caller caller = Caller::Here());
PackedSequence PackSequence(const std::vector<Tensor>& sequences, bool enforce_sorted = true,
                            Caller caller = Caller::Here());
std::vector<Tensor> UnpackSequence(const PackedSequence& packed, Caller caller = Caller::Here());

}  // namespace hlod::nn::utils::rnn
