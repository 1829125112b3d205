// reduce-window and select-and-scatter, which slide windows over an array.
#include <algorithm>
#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/evaluator/elements/arithmetic.h"
#include "common/evaluator/elements/indexing.h"
#include "common/evaluator/elements/scalar_function.h"
#include "common/evaluator/rules/rules.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;
using hlo::PrimitiveType;

namespace {

// The array elements that windows cover.
class WindowMap {
 public:
  // Does not make copies: `window` and `array`, the array's dimensions, must outlive it.
  WindowMap(const hlo::Window& window, const Dims& array)
      : window_(window), array_(array), strides_(hlo::RowMajorStrides(array)) {}

  // Calls visit(element) for the array elements in the window at `position`, in row-major order of the
  // window. Padding and the gaps of base dilation are skipped.
  template <typename Visit>
  absl::Status ForEach(Evaluation& evaluation, const Dims& position, Visit visit) const {
    const size_t rank = window_.size();
    Dims first(rank), counts(rank), origin(rank);  // In dilated coordinates, in which the array is [0, last].
    for (size_t d = 0; d < rank; ++d) {
      const hlo::WindowDimension& w = window_[d];
      const int64_t last = (array_[d] - 1) * w.base_dilation;
      origin[d] = position[d] * w.stride - w.padding_low;
      first[d] = origin[d] >= 0 ? 0 : CeilDiv(-origin[d], w.window_dilation);
      const int64_t end = origin[d] > last ? 0 : std::min(w.size, (last - origin[d]) / w.window_dilation + 1);
      counts[d] = std::max<int64_t>(0, end - first[d]);
    }
    for (Odometer at(counts); at.valid(); at.Next()) {
      RETURN_IF_ERROR(evaluation.Tick(1));
      int64_t element = 0;
      bool hole = false;
      for (size_t d = 0; d < rank && !hole; ++d) {
        const hlo::WindowDimension& w = window_[d];
        const int64_t dilated = origin[d] + (first[d] + at[d]) * w.window_dilation;
        hole = dilated % w.base_dilation != 0;
        element += dilated / w.base_dilation * strides_[d];
      }
      if (!hole) RETURN_IF_ERROR(visit(element));
    }
    return absl::OkStatus();
  }

 private:
  const hlo::Window& window_;
  const Dims& array_;
  Dims strides_;
};

}  // namespace

absl::StatusOr<Literal> ReduceWindow(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const size_t count = operands.size() / 2;
  const hlo::Window& window = instruction.attributes<hlo::WindowAttributes>().window;
  ASSIGN_OR_RETURN(ScalarFunction reducer, ScalarFunction::Make(evaluation, instruction.called()[0]));
  std::vector<Literal> results;
  for (size_t k = 0; k < count; ++k) {
    ASSIGN_OR_RETURN(Literal result,
                     evaluation.Allocate(instruction.shape().IsTuple() ? instruction.shape().tuple[k]
                                                                       : instruction.shape()));
    results.push_back(std::move(result));
  }
  const Dims positions = results[0].shape().dims;
  const WindowMap map(window, operands[0].shape().dims);
  const PrimitiveType type = operands[0].shape().type;

  bool done = false;
  absl::Status status;
  if (count == 1 && reducer.binary_opcode().has_value()) {
    VisitCarrier(CarrierOf(type), [&]<typename C>() {
      done = VisitCombiner<C>(*reducer.binary_opcode(), type == hlo::kPred, [&](auto combine) {
        const std::vector<C> input = LoadAs<C>(operands[0]);
        std::vector<C> folded(results[0].element_count(), LoadAs<C>(operands[1])[0]);
        size_t i = 0;
        for (Odometer at(positions); at.valid() && status.ok(); at.Next(), ++i) {
          status = map.ForEach(evaluation, at.index(), [&](int64_t element) {
            folded[i] = combine(folded[i], input[element]);
            return absl::OkStatus();
          });
        }
        StoreAll(folded, results[0]);
      });
    });
  }
  RETURN_IF_ERROR(status);
  if (!done) {
    std::vector<Wide> arguments(2 * count), init(count);
    for (size_t k = 0; k < count; ++k)
      Load(operands[count + k].shape().type, operands[count + k].bytes().data(), 1, init[k].bytes);
    int64_t i = 0;
    for (Odometer at(positions); at.valid(); at.Next(), ++i) {
      for (size_t k = 0; k < count; ++k) arguments[k] = init[k];
      RETURN_IF_ERROR(map.ForEach(evaluation, at.index(), [&](int64_t element) {
        for (size_t k = 0; k < count; ++k) {
          const PrimitiveType t = operands[k].shape().type;
          Load(t, operands[k].bytes().data() + element * hlo::ByteWidth(t), 1, arguments[count + k].bytes);
        }
        return reducer.Call(arguments.data(), arguments.data());
      }));
      for (size_t k = 0; k < count; ++k) {
        const PrimitiveType t = results[k].shape().type;
        Store(t, arguments[k].bytes, 1, results[k].bytes().data() + i * hlo::ByteWidth(t));
      }
    }
  }
  if (instruction.shape().IsTuple()) return Literal::MakeTuple(std::move(results));
  return std::move(results[0]);
}

// Combines each source element into the position that its window selects: the first one that select prefers
// to all later ones.
absl::StatusOr<Literal> SelectAndScatter(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const Literal &operand = operands[0], &source = operands[1], &init = operands[2];
  const hlo::Window& window = instruction.attributes<hlo::WindowAttributes>().window;
  ASSIGN_OR_RETURN(ScalarFunction select, ScalarFunction::Make(evaluation, instruction.called()[0]));
  ASSIGN_OR_RETURN(ScalarFunction scatter, ScalarFunction::Make(evaluation, instruction.called()[1]));
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  const Dims& positions = source.shape().dims;
  const WindowMap map(window, operand.shape().dims);
  const PrimitiveType type = operand.shape().type;
  const int64_t width = hlo::ByteWidth(type);
  const bool sums = scatter.binary_opcode() == hlo::kAdd && CarrierOf(type) == Carrier::kFloat;

  Wide initial;
  Load(init.shape().type, init.bytes().data(), 1, initial.bytes);
  std::vector<Wide> combined(result.element_count(),
                             initial);  // Float sums stay in double until the end.
  constexpr int64_t kNothing = -1;
  int64_t i = 0;
  for (Odometer at(positions); at.valid(); at.Next(), ++i) {
    int64_t selected = kNothing;
    Wide pair[2], keep;
    RETURN_IF_ERROR(map.ForEach(evaluation, at.index(), [&](int64_t element) {
      Load(type, operand.bytes().data() + element * width, 1, pair[1].bytes);
      if (selected != kNothing) {
        RETURN_IF_ERROR(select.Call(pair, &keep));
        if (keep.as<uint64_t>() != 0) return absl::OkStatus();
      }
      selected = element;
      pair[0] = pair[1];
      return absl::OkStatus();
    }));
    if (selected == kNothing) continue;
    Wide terms[2] = {combined[selected]};
    Load(source.shape().type, source.bytes().data() + i * hlo::ByteWidth(source.shape().type), 1,
         terms[1].bytes);
    if (sums) {
      combined[selected] = Wide::Of(terms[0].as<double>() + terms[1].as<double>());
    } else {
      RETURN_IF_ERROR(scatter.Call(terms, &combined[selected]));
    }
  }
  for (int64_t e = 0; e < result.element_count(); ++e)
    Store(type, combined[e].bytes, 1, result.bytes().data() + e * width);
  return result;
}

}  // namespace hlod::evaluator
