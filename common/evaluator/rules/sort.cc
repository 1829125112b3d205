// sort by any comparator, and the first k elements of a sort.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "common/base/block_sort.h"
#include "common/base/errors/status.h"
#include "common/evaluator/elements/indexing.h"
#include "common/evaluator/elements/scalar_function.h"
#include "common/evaluator/rules/rules.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;
using hlo::PrimitiveType;

namespace {

// Sorts the lines along the sort's dimension, one after another. Calls the comparator with blocks of pairs.
class Lines {
 public:
  Lines(Evaluation& evaluation, Operands& operands, ScalarFunction less, int64_t length, int64_t stride)
      : evaluation_(evaluation),
        operands_(operands),
        less_(std::move(less)),
        length_(length),
        stride_(stride),
        scratch_(static_cast<size_t>((BlockSorter::ScratchBytes(length) + 7) / 8)) {
    for (size_t k = 0; k < operands.size(); ++k) {
      widths_.push_back(CarrierBytes(CarrierOf(operands[k].shape().type)));
      lines_.emplace_back(static_cast<size_t>(length * widths_[k]));
      for (int side = 0; side < 2; ++side) pairs_.emplace_back(static_cast<size_t>(kBlock * widths_[k]));
    }
    for (const std::vector<std::byte>& block : pairs_) arguments_.push_back(block.data());
  }

  // Sorts the line that begins at element `start`, and writes it to the results.
  absl::Status SortLine(int64_t start, std::vector<Literal>& results) {
    for (size_t k = 0; k < lines_.size(); ++k) {
      const PrimitiveType type = operands_[k].shape().type;
      const int64_t width = hlo::ByteWidth(type);
      const std::byte* const from = operands_[k].bytes().data() + start * width;
      RETURN_IF_ERROR(evaluation_.InBlocks(length_, 4, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          Load(type, from + i * stride_ * width, 1, lines_[k].data() + i * widths_[k]);
      }));
    }
    BlockSorter sorter(reinterpret_cast<std::byte*>(scratch_.data()), length_);
    absl::Status status;
    const auto less = [&](const uint32_t* x, const uint32_t* y, int64_t count, uint8_t* answers) {
      status = Ask(x, y, count, answers);
      return status.ok();
    };
    const auto stops = [&](int64_t count) {
      status = evaluation_.Tick(count);
      return !status.ok();
    };
    if (!sorter.Sort(less, stops)) return status;
    for (size_t k = 0; k < lines_.size(); ++k) {
      const int64_t width = hlo::ByteWidth(operands_[k].shape().type);
      const std::byte* const from = operands_[k].bytes().data() + start * width;
      std::byte* const to = results[k].bytes().data() + start * width;
      RETURN_IF_ERROR(evaluation_.InBlocks(length_, 8, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          std::memcpy(to + i * stride_ * width, from + sorter.order()[i] * stride_ * width, width);
      }));
    }
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kBlock = BlockSorter::kBlock;
  static_assert(kBlock <= ScalarFunction::kBlock);

  absl::Status Ask(const uint32_t* x, const uint32_t* y, int64_t count, uint8_t* answers) {
    for (size_t k = 0; k < lines_.size(); ++k) {
      const auto gather = [&]<int64_t kWidth>(const uint32_t* which, std::vector<std::byte>& to) {
        for (int64_t i = 0; i < count; ++i)
          std::memcpy(to.data() + i * kWidth, lines_[k].data() + which[i] * kWidth, kWidth);
      };
      for (int side = 0; side < 2; ++side) {
        std::vector<std::byte>& to = pairs_[2 * k + side];
        const uint32_t* const which = side == 0 ? x : y;
        if (widths_[k] == 8) gather.template operator()<8>(which, to);
        else gather.template operator()<16>(which, to);
      }
    }
    uint64_t less[kBlock];
    void* const results[] = {less};
    RETURN_IF_ERROR(less_.CallBlock(arguments_.data(), results, count));
    for (int64_t i = 0; i < count; ++i) answers[i] = less[i] != 0 ? 1 : 0;
    return absl::OkStatus();
  }

  Evaluation& evaluation_;
  Operands& operands_;
  ScalarFunction less_;
  const int64_t length_, stride_;
  std::vector<uint64_t> scratch_;
  std::vector<int64_t> widths_;                // The widths of the operands' carriers.
  std::vector<std::vector<std::byte>> lines_;  // The lines by operand.
  std::vector<std::vector<std::byte>> pairs_;  // The two sides of the pairs, by operand.
  std::vector<const void*> arguments_;
};

}  // namespace

absl::StatusOr<Literal> Sort(Evaluation& evaluation, Instruction instruction, Operands operands) {
  ASSIGN_OR_RETURN(ScalarFunction less, ScalarFunction::Make(evaluation, instruction.called()[0]));
  const Dims& dims = operands[0].shape().dims;
  const int64_t dimension = instruction.attributes<hlo::SortAttributes>().dimension;
  std::vector<Literal> results;
  for (size_t k = 0; k < operands.size(); ++k) {
    ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(operands[k].shape()));
    results.push_back(std::move(result));
  }
  // If another dimension is empty, the line may have any length, so no memory is allocated for it.
  const int64_t length = dims.empty() ? 1 : results[0].element_count() == 0 ? 0 : dims[dimension];
  if (length > BlockSorter::kCountMax) {
    return ResourceExhausted("%s: a line of %d elements is longer than %d", instruction.name(), length,
                             BlockSorter::kCountMax);
  }
  const int64_t stride = dims.empty() ? 1 : hlo::RowMajorStrides(dims)[dimension];
  Dims starts = dims;
  if (!starts.empty()) starts[dimension] = std::min<int64_t>(1, length);
  Lines lines(evaluation, operands, std::move(less), length, stride);
  const Dims strides = hlo::RowMajorStrides(dims);
  for (Odometer line(starts); line.valid(); line.Next())
    RETURN_IF_ERROR(lines.SortLine(Offset(line.index(), strides), results));
  if (instruction.shape().IsTuple()) return Literal::MakeTuple(std::move(results));
  return std::move(results[0]);
}

namespace {

// Returns true when the custom-call's comparator selects the largest elements, that is, puts 1 before 0.
absl::StatusOr<bool> WantsLargest(Evaluation& evaluation, Instruction instruction, PrimitiveType type) {
  if (instruction.opcode() == hlo::kTopK) return instruction.attributes<hlo::TopKAttributes>().largest;
  if (instruction.called().empty()) return true;
  const hlo::Computation& comparator = evaluation.module().computation(instruction.called()[0]);
  ASSIGN_OR_RETURN(ScalarFunction before, ScalarFunction::Make(evaluation, instruction.called()[0]));
  std::vector<Wide> arguments(comparator.parameters().size());
  if (arguments.size() < 2)
    return InvalidArgument("The comparator of %s takes fewer than two parameters", instruction.name());
  VisitCarrier(CarrierOf(type),
               [&]<typename C>() { arguments[0] = Wide::Of(C(1)), arguments[1] = Wide::Of(C(0)); });
  std::vector<Wide> answer(Leaves(comparator.root().shape()).size());
  RETURN_IF_ERROR(before.Call(arguments.data(), answer.data()));
  return answer[0].as<uint64_t>() != 0;
}

// Returns a key whose unsigned order is the order of the numbers; floats are in total order, so that NaN is
// beyond infinity.
uint64_t OrderKey(PrimitiveType type, const std::byte* element) {
  Wide value;
  Load(type, element, 1, value.bytes);
  const auto bits = value.as<uint64_t>();
  constexpr uint64_t kSign = uint64_t{1} << 63;
  if (hlo::IsFloat(type)) return (bits & kSign) != 0 ? ~bits : bits | kSign;
  return hlo::IsSigned(type) ? bits ^ kSign : bits;
}

// A key and its position: equal keys are ordered by position.
struct Ranked {
  uint64_t key;
  int64_t place;
  friend bool operator<(const Ranked& a, const Ranked& b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
  }
};

// Sorts like std::sort, but can be interrupted.
absl::Status MergeSort(Evaluation& evaluation, std::vector<Ranked>& elements) {
  const auto n = static_cast<int64_t>(elements.size());
  std::vector<Ranked> merged(elements.size());
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t begin = 0; begin < n; begin += 2 * width) {
      const int64_t end = std::min(begin + 2 * width, n), middle = std::min(begin + width, end);
      RETURN_IF_ERROR(evaluation.Tick(4 * (end - begin)));
      std::merge(elements.begin() + begin, elements.begin() + middle, elements.begin() + middle,
                 elements.begin() + end, merged.begin() + begin);
    }
    elements.swap(merged);
  }
  return absl::OkStatus();
}

}  // namespace

// Returns (values, s32 indices) of the first k along the last dimension; equal ones in order of index.
absl::StatusOr<Literal> TopK(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const Literal& operand = operands[0];
  const hlo::Shape& shape = instruction.shape();
  const PrimitiveType type = operand.shape().type;
  if (!shape.IsTuple() || shape.tuple.size() != 2 || operand.shape().dims.empty() || hlo::IsComplex(type)) {
    return InvalidArgument("%s: top-k of %s gives (values, indices), not %s", instruction.name(),
                           ToStringNoLayout(operand.shape()), ToStringNoLayout(shape));
  }
  Dims wanted = operand.shape().dims;
  const int64_t length = wanted.back(), k = shape.tuple[0].dims.empty() ? 0 : shape.tuple[0].dims.back();
  wanted.back() = k;
  if (k > length || shape.tuple[0].dims != wanted || shape.tuple[1].dims != wanted ||
      shape.tuple[0].type != type || shape.tuple[1].type != hlo::kS32) {
    return InvalidArgument("%s: the first %d of %s cannot be %s", instruction.name(), k,
                           ToStringNoLayout(operand.shape()), ToStringNoLayout(shape));
  }
  ASSIGN_OR_RETURN(const bool largest, WantsLargest(evaluation, instruction, type));
  ASSIGN_OR_RETURN(Literal values, evaluation.Allocate(shape.tuple[0]));
  ASSIGN_OR_RETURN(Literal indices, evaluation.Allocate(shape.tuple[1]));
  const int64_t width = hlo::ByteWidth(type);
  const int64_t lines = k == 0 ? 0 : values.element_count() / k;
  const std::byte* const elements = operand.bytes().data();
  std::vector<Ranked> first;
  for (int64_t line = 0; line < lines; ++line) {
    const std::byte* from = elements + line * length * width;
    // A heap of the first k elements so far, with the last of them on top.
    first.clear();
    RETURN_IF_ERROR(evaluation.InBlocks(length, 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const uint64_t key = OrderKey(type, from + i * width);
        const Ranked candidate{largest ? ~key : key, i};
        if (static_cast<int64_t>(first.size()) == k) {
          if (!(candidate < first.front())) continue;
          std::pop_heap(first.begin(), first.end());
          first.pop_back();
        }
        first.push_back(candidate);
        std::push_heap(first.begin(), first.end());
      }
    }));
    RETURN_IF_ERROR(MergeSort(evaluation, first));
    RETURN_IF_ERROR(evaluation.InBlocks(k, 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t place = first[static_cast<size_t>(i)].place;
        std::memcpy(values.bytes().data() + (line * k + i) * width, from + place * width, width);
        indices.data<int32_t>()[line * k + i] = static_cast<int32_t>(place);
      }
    }));
  }
  std::vector<Literal> both;
  both.push_back(std::move(values));
  both.push_back(std::move(indices));
  return Literal::MakeTuple(std::move(both));
}

}  // namespace hlod::evaluator
