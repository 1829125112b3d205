// sort by any comparator, and the k first of a sort.
#include <algorithm>
#include <bit>
#include <numeric>

#include "common/base/status.h"
#include "common/evaluator/indexing.h"
#include "common/evaluator/rules.h"
#include "common/evaluator/scalar_function.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;
using hlo::PrimitiveType;

namespace {

// A stable merge sort of `order`. Unlike the library's it stays in bounds whatever `less` answers, and passes
// on its errors.
template <typename Less>
absl::Status MergeSort(std::vector<int64_t>& order, Less less) {
  std::vector<int64_t> merged(order.size());
  const size_t n = order.size();
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t begin = 0; begin < n; begin += 2 * width) {
      const size_t middle = std::min(begin + width, n), end = std::min(begin + 2 * width, n);
      size_t left = begin, right = middle;
      for (size_t out = begin; out < end; ++out) {
        bool take_right = left == middle;
        if (!take_right && right < end) {
          ASSIGN_OR_RETURN(take_right, less(order[right], order[left]));
        }
        merged[out] = take_right ? order[right++] : order[left++];
      }
    }
    order.swap(merged);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Literal> Sort(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const size_t count = operands.size();
  ASSIGN_OR_RETURN(ScalarFunction less, ScalarFunction::Make(evaluation, instruction.called()[0]));
  const Dims& dims = operands[0].shape().dims;
  const int64_t dimension = instruction.attributes<hlo::SortAttributes>().dimension;
  std::vector<Literal> results;
  for (size_t k = 0; k < count; ++k) {
    ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(operands[k].shape()));
    results.push_back(std::move(result));
  }
  // Beside a dimension of no elements a line may be of any length: nothing is made for it.
  const int64_t length = dims.empty() ? 1 : results[0].element_count() == 0 ? 0 : dims[dimension];
  const int64_t stride = dims.empty() ? 1 : hlo::RowMajorStrides(dims)[dimension];
  Dims lines = dims;
  if (!lines.empty()) lines[dimension] = std::min<int64_t>(1, length);

  std::vector<Wide> values(count * length), arguments(2 * count);
  std::vector<int64_t> order(length);
  const Dims strides = hlo::RowMajorStrides(dims);
  for (Odometer line(lines); line.valid(); line.Next()) {
    const int64_t start = Offset(line.index(), strides);
    for (size_t k = 0; k < count; ++k) {
      const PrimitiveType type = operands[k].shape().type;
      const std::byte* from = operands[k].bytes().data();
      RETURN_IF_ERROR(evaluation.InBlocks(length, 4, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          Load(type, from + (start + i * stride) * hlo::ByteWidth(type), 1, values[k * length + i].bytes);
      }));
    }
    std::iota(order.begin(), order.end(), 0);
    RETURN_IF_ERROR(MergeSort(order, [&](int64_t a, int64_t b) -> absl::StatusOr<bool> {
      for (size_t k = 0; k < count; ++k) {
        arguments[2 * k] = values[k * length + a];
        arguments[2 * k + 1] = values[k * length + b];
      }
      Wide answer;
      RETURN_IF_ERROR(less.Call(arguments.data(), &answer));
      return answer.as<uint64_t>() != 0;
    }));
    for (size_t k = 0; k < count; ++k) {
      const int64_t width = hlo::ByteWidth(operands[k].shape().type);
      RETURN_IF_ERROR(evaluation.InBlocks(length, 8, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          std::memcpy(results[k].bytes().data() + (start + i * stride) * width,
                      operands[k].bytes().data() + (start + order[i] * stride) * width, width);
        }
      }));
    }
  }
  if (instruction.shape().IsTuple()) return Literal::MakeTuple(std::move(results));
  return std::move(results[0]);
}

namespace {

// Whether the custom-call's comparator asks for the largest: whether it puts 1 before 0.
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

// A key whose unsigned order is the numbers' order; floats in their total order, so that NaN is beyond
// infinity.
uint64_t OrderKey(PrimitiveType type, const std::byte* element) {
  Wide value;
  Load(type, element, 1, value.bytes);
  const auto bits = value.as<uint64_t>();
  constexpr uint64_t kSign = uint64_t{1} << 63;
  if (hlo::IsFloat(type)) return (bits & kSign) != 0 ? ~bits : bits | kSign;
  return hlo::IsSigned(type) ? bits ^ kSign : bits;
}

}  // namespace

// (values, s32 indices) of the k first along the last dimension; equal ones in order of index.
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
  std::vector<uint64_t> keys(lines == 0 ? 0 : length);
  std::vector<int64_t> order(keys.size());
  for (int64_t line = 0; line < lines; ++line) {
    const std::byte* from = operand.bytes().data() + line * length * width;
    RETURN_IF_ERROR(evaluation.InBlocks(length, 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const uint64_t key = OrderKey(type, from + i * width);
        keys[i] = largest ? ~key : key;
        order[i] = i;
      }
    }));
    RETURN_IF_ERROR(MergeSort(order, [&](int64_t a, int64_t b) -> absl::StatusOr<bool> {
      RETURN_IF_ERROR(evaluation.Tick(4));
      return keys[a] < keys[b];
    }));
    RETURN_IF_ERROR(evaluation.InBlocks(k, 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        std::memcpy(values.bytes().data() + (line * k + i) * width, from + order[i] * width, width);
        indices.data<int32_t>()[line * k + i] = static_cast<int32_t>(order[i]);
      }
    }));
  }
  std::vector<Literal> both;
  both.push_back(std::move(values));
  both.push_back(std::move(indices));
  return Literal::MakeTuple(std::move(both));
}

}  // namespace hlod::evaluator
