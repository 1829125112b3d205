// Sequences of several lengths: torch.nn.utils.rnn. Lengths are numbers of the host, as PyTorch's are.
#pragma once

#include <optional>
#include <vector>

#include "hlod/nn/module.h"

namespace hlod::nn::utils::rnn {

// The steps of all sequences without padding: of the first step the elements of all sequences, of the second
// those of the sequences that have one, ... Sequences are sorted by length, the longest first.
struct PackedSequence {
  Tensor data;                       // [sum of lengths, ...]
  std::vector<int64_t> batch_sizes;  // Per step, the number of sequences that are long enough to have it.
  // The permutation that sorted the sequences by length, and its inverse; empty when they came sorted.
  std::vector<int64_t> sorted_indices, unsorted_indices;
};

// Packs [length, n, ...], or [n, length, ...] when `batch_first`; throws unless there is a length for each of
// the n, from 1 to the input's. They must be sorted, the longest first, when `enforce_sorted`. A program
// compiles for each sum of lengths: nn::Recurrent::WithLengths does not.
PackedSequence PackPaddedSequence(const Tensor& input, const std::vector<int64_t>& lengths,
                                  bool batch_first = false, bool enforce_sorted = true,
                                  Caller caller = Caller::Here());

struct PaddedSequence {
  Tensor padded;                 // In the order before packing.
  std::vector<int64_t> lengths;  // One per sequence.
};
// The reverse. The length is that of the longest sequence, or `total_length`, which must not be less.
PaddedSequence PadPackedSequence(const PackedSequence& packed, bool batch_first = false,
                                 Scalar padding_value = 0.0, std::optional<int64_t> total_length = {},
                                 Caller caller = Caller::Here());

// Sequences [length, ...] beside each other: [longest, n, ...], or [n, longest, ...]. Throws when there are
// none, or when they differ in more than their first size.
Tensor PadSequence(const std::vector<Tensor>& sequences, bool batch_first = false, Scalar padding_value = 0.0,
                   Caller caller = Caller::Here());
std::vector<Tensor> UnpadSequence(const Tensor& padded, const std::vector<int64_t>& lengths,
                                  bool batch_first = false, Caller caller = Caller::Here());
PackedSequence PackSequence(const std::vector<Tensor>& sequences, bool enforce_sorted = true,
                            Caller caller = Caller::Here());
std::vector<Tensor> UnpackSequence(const PackedSequence& packed, Caller caller = Caller::Here());

}  // namespace hlod::nn::utils::rnn
