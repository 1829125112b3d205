// Packing is one gather of rows, whose numbers are computed here from the lengths.
//
// With lengths 3, 1, 2 the sorted order is 0, 2, 1, the batch sizes are 3, 2, 1, and the rows of [3, 3, ...]
// that are packed are (step, sequence): 00 02 01, 10 12, 20.
#include "hlod/nn/packed_sequence.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "client/nn/packed.h"
#include "client/tensor/value/throw.h"
#include "common/base/text/count.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/indexing.h"
#include "hlod/ops/joining.h"

namespace hlod::nn::utils::rnn {
namespace {

using Numbers = std::vector<int64_t>;

[[noreturn]] void Refused(std::string text, const char* operation, const Caller& caller) {
  lazy::Throw(ErrorKind::kArgument, std::move(text), operation, caller);
}

// Returns which sequence of the input is the i-th of the packed ones.
int64_t SourceOf(const PackedSequence& packed, int64_t i) {
  return packed.sorted_indices.empty() ? i : packed.sorted_indices[static_cast<size_t>(i)];
}

// Throws for a PackedSequence that packing cannot have made.
void Check(const PackedSequence& packed, const char* operation, const Caller& caller) {
  const Numbers& sizes = packed.batch_sizes;
  if (sizes.empty() || sizes.back() < 1 || !std::ranges::is_sorted(sizes, std::greater<>()) ||
      std::reduce(sizes.begin(), sizes.end()) != packed.data.size(0)) {
    Refused(absl::StrCat("the batch sizes do not fall from step to step, or are not of the ",
                         packed.data.size(0), " rows that are packed"),
            operation, caller);
  }
  if (packed.sorted_indices.empty()) return;
  Numbers places(static_cast<size_t>(sizes[0])), sorted = packed.sorted_indices;
  std::iota(places.begin(), places.end(), 0);
  std::ranges::sort(sorted);
  if (sorted != places) Refused("the sorted indices are not an order of the sequences", operation, caller);
}

Tensor RowsOf(const Tensor& x, const Numbers& rows, const Caller& caller) {
  return IndexSelect({x, caller}, 0, FromValues<int64_t>(rows, {}, x.device(), caller));
}

Tensor TimeMajor(const Tensor& x, bool batch_first) { return batch_first ? x.Transpose(0, 1) : x; }

// Returns the length of each sequence, in the order before packing.
Numbers LengthsOf(const PackedSequence& packed) {
  Numbers lengths(static_cast<size_t>(packed.batch_sizes[0]));
  for (const int64_t size : packed.batch_sizes) {
    for (int64_t i = 0; i < size; ++i) ++lengths[static_cast<size_t>(SourceOf(packed, i))];
  }
  return lengths;
}

void CheckLengths(const Tensor& input, const Numbers& lengths, bool batch_first, const char* operation,
                  const Caller& caller) {
  if (input.rank() < 2) {
    Refused(absl::StrCat("the input has ", input.rank(), " dimensions, and sequences have at least 2"),
            operation, caller);
  }
  const int64_t steps = input.size(batch_first ? 1 : 0), count = input.size(batch_first ? 0 : 1);
  if (static_cast<int64_t>(lengths.size()) != count || count == 0) {
    Refused(absl::StrCat("the list has ", CountText(static_cast<int64_t>(lengths.size()), "length"), " for ",
                         CountText(count, "sequence")),
            operation, caller);
  }
  for (const int64_t length : lengths) {
    if (length < 1 || length > steps) {
      Refused(absl::StrCat("the length ", length, " is not between 1 and the input's ", steps), operation,
              caller);
    }
  }
}

Numbers SizesOf(const std::vector<Tensor>& sequences, const char* operation, const Caller& caller) {
  if (sequences.empty()) Refused("there are no sequences", operation, caller);
  Numbers lengths;
  for (const Tensor& sequence : sequences) {
    const Dims &dims = sequence.dims(), &first = sequences[0].dims();
    if (dims.empty() || !std::equal(dims.begin() + 1, dims.end(), first.begin() + 1, first.end())) {
      Refused(absl::StrCat("sequence ", lengths.size(), " is ", hlo::ToStringNoLayout(sequence.shape()),
                           ", the first ", hlo::ToStringNoLayout(sequences[0].shape()),
                           ": they may differ in the first size only"),
              operation, caller);
    }
    lengths.push_back(dims[0]);
  }
  return lengths;
}

}  // namespace

PackedSequence PackedAs(const Tensor& input, const PackedSequence& like, const Caller& caller) {
  const int64_t count = input.size(1);
  Numbers rows;
  for (size_t step = 0; step < like.batch_sizes.size(); ++step) {
    for (int64_t i = 0; i < like.batch_sizes[step]; ++i) {
      rows.push_back(static_cast<int64_t>(step) * count + SourceOf(like, i));
    }
  }
  PackedSequence packed = like;
  packed.data = RowsOf(input.Flatten(0, 1), rows, caller);
  return packed;
}

PackedSequence PackPaddedSequence(const Tensor& input, const Numbers& lengths, bool batch_first,
                                  bool enforce_sorted, Caller caller) {
  const CallerScope scope(caller);
  constexpr const char* kOperation = "pack_padded_sequence";
  CheckLengths(input, lengths, batch_first, kOperation, caller);
  PackedSequence order;
  Numbers sorted = lengths;
  if (enforce_sorted) {
    if (!std::ranges::is_sorted(lengths, std::greater<>())) {
      Refused("the lengths do not fall; enforce_sorted = false takes them in any order", kOperation, caller);
    }
  } else {
    order.sorted_indices.resize(lengths.size());
    order.unsorted_indices.resize(lengths.size());
    std::iota(order.sorted_indices.begin(), order.sorted_indices.end(), 0);
    const auto length_of = [&](int64_t i) { return lengths[static_cast<size_t>(i)]; };
    std::ranges::stable_sort(order.sorted_indices, std::greater<>(), length_of);
    for (size_t i = 0; i < sorted.size(); ++i) {
      const auto from = static_cast<size_t>(order.sorted_indices[i]);
      order.unsorted_indices[from] = static_cast<int64_t>(i);
      sorted[i] = lengths[from];
    }
  }
  for (int64_t step = 0; step < sorted[0]; ++step) {
    order.batch_sizes.push_back(std::ranges::count_if(sorted, [&](int64_t length) { return length > step; }));
  }
  return PackedAs(TimeMajor(input, batch_first), order, caller);
}

PaddedSequence PadPackedSequence(const PackedSequence& packed, bool batch_first, Scalar padding_value,
                                 std::optional<int64_t> total_length, Caller caller) {
  const CallerScope scope(caller);
  constexpr const char* kOperation = "pad_packed_sequence";
  Check(packed, kOperation, caller);
  const auto longest = static_cast<int64_t>(packed.batch_sizes.size());
  const int64_t steps = total_length.value_or(longest), count = packed.batch_sizes[0];
  if (steps < longest) {
    Refused(absl::StrCat("total_length is ", steps, ", and the longest sequence has ", longest, " steps"),
            kOperation, caller);
  }
  // A row of padding is appended to the packed rows.
  Dims dims = packed.data.dims();
  const int64_t padding_row = std::exchange(dims[0], 1);
  const Tensor padding =
      Full(dims, padding_value, {.type = packed.data.dtype(), .device = packed.data.device()}, caller);
  Numbers rows(static_cast<size_t>(steps * count), padding_row);
  int64_t row = 0;
  for (int64_t step = 0; step < longest; ++step) {
    for (int64_t i = 0; i < packed.batch_sizes[static_cast<size_t>(step)]; ++i) {
      rows[static_cast<size_t>(step * count + SourceOf(packed, i))] = row++;
    }
  }
  dims.insert(dims.begin(), steps);
  dims[1] = count;
  const Tensor padded = RowsOf(Cat({packed.data, padding}, 0, caller), rows, caller).Reshape(dims);
  return {TimeMajor(padded, batch_first), LengthsOf(packed)};
}

Tensor PadSequence(const std::vector<Tensor>& sequences, bool batch_first, Scalar padding_value,
                   Caller caller) {
  const CallerScope scope(caller);
  const Numbers lengths = SizesOf(sequences, "pad_sequence", caller);
  const int64_t longest = std::ranges::max(lengths);
  std::vector<Tensor> padded;
  for (const Tensor& sequence : sequences) {
    Dims missing = sequence.dims();
    missing[0] = longest - missing[0];
    const TensorOptions like = {.type = sequence.dtype(), .device = sequence.device()};
    padded.push_back(missing[0] == 0 ? sequence : Cat({sequence, Full(missing, padding_value, like)}));
  }
  return Stack(padded, batch_first ? 0 : 1);
}

std::vector<Tensor> UnpadSequence(const Tensor& padded, const Numbers& lengths, bool batch_first,
                                  Caller caller) {
  const CallerScope scope(caller);
  CheckLengths(padded, lengths, batch_first, "unpad_sequence", caller);
  std::vector<Tensor> sequences;
  for (size_t i = 0; i < lengths.size(); ++i) {
    sequences.push_back(padded.Select(batch_first ? 0 : 1, static_cast<int64_t>(i)).Narrow(0, 0, lengths[i]));
  }
  return sequences;
}

PackedSequence PackSequence(const std::vector<Tensor>& sequences, bool enforce_sorted, Caller caller) {
  const CallerScope scope(caller);
  const Numbers lengths = SizesOf(sequences, "pack_sequence", caller);
  return PackPaddedSequence(PadSequence(sequences), lengths, false, enforce_sorted, caller);
}

std::vector<Tensor> UnpackSequence(const PackedSequence& packed, Caller caller) {
  const CallerScope scope(caller);
  const PaddedSequence padded = PadPackedSequence(packed, true, 0.0, {}, caller);
  return UnpadSequence(padded.padded, padded.lengths, true, caller);
}

}  // namespace hlod::nn::utils::rnn
