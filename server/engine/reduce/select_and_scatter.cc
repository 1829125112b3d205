// select-and-scatter (the gradient of max-pooling): combines each source element into the position that its
// window selects.
#include <algorithm>
#include <cstring>
#include <vector>

#include "server/engine/reduce/reducer_ops.h"
#include "server/engine/reduce/window.h"
#include "server/engine/run/parallel.h"
#include "server/engine/tile/reducer.h"
#include "server/engine/tile/scalar_function.h"

namespace hlod::engine {
namespace {

constexpr int64_t kLanes = 256;

// For each lane l, replaces its choice by its candidate unless select(choice, candidate) is true. The choice
// is operand element best[l] (negative: none), the candidate is element first + l.
using SelectRun = void (*)(const std::byte* operand, int64_t first, int64_t lanes, int64_t* best);
// Sets out[best[l]] = combine(out[best[l]], source[l]).
using ScatterRun = void (*)(std::byte* out, const std::byte* source, int64_t lanes, const int64_t* best);

template <typename T, hlo::ComparisonDirection kDirection>
void SelectWith(const std::byte* operand, int64_t first, int64_t lanes, int64_t* best) {
  const auto* values = reinterpret_cast<const T*>(operand);
  for (int64_t l = 0; l < lanes; ++l) {
    const int64_t candidate = first + l;
    bool keep = false;
    if (best[l] >= 0) {
      const T a = values[best[l]], b = values[candidate];
      if constexpr (kDirection == hlo::ComparisonDirection::kGe) keep = a >= b;
      if constexpr (kDirection == hlo::ComparisonDirection::kGt) keep = a > b;
      if constexpr (kDirection == hlo::ComparisonDirection::kLe) keep = a <= b;
      if constexpr (kDirection == hlo::ComparisonDirection::kLt) keep = a < b;
    }
    best[l] = keep ? best[l] : candidate;
  }
}

template <typename Op>
void ScatterWith(std::byte* out, const std::byte* source, int64_t lanes, const int64_t* best) {
  auto* to = reinterpret_cast<typename Op::Element*>(out);
  const auto* from = reinterpret_cast<const typename Op::Element*>(source);
  for (int64_t l = 0; l < lanes; ++l) {
    if (best[l] >= 0) to[best[l]] = Op::Store(Op::Apply(Op::Load(to[best[l]]), Op::Load(from[l])));
  }
}

// Returns the function for a select computation that compares parameter 0 with parameter 1 by value,
// otherwise null.
SelectRun FindSelect(const hlo::Computation& computation, hlo::PrimitiveType type) {
  using Direction = hlo::ComparisonDirection;
  const hlo::Instruction root = computation.root();
  if (root.opcode() != hlo::kCompare || computation.parameters().size() != 2) return nullptr;
  const auto& compare = root.attributes<hlo::CompareAttributes>();
  if (compare.type != hlo::DefaultComparisonType(type)) return nullptr;
  Direction direction = compare.direction;
  const hlo::NodeId first = computation.parameters()[0], second = computation.parameters()[1];
  if (root.operands()[0] == second && root.operands()[1] == first) {
    direction = direction == Direction::kGe   ? Direction::kLe
                : direction == Direction::kLe ? Direction::kGe
                : direction == Direction::kGt ? Direction::kLt
                : direction == Direction::kLt ? Direction::kGt
                                              : direction;
  } else if (root.operands()[0] != first || root.operands()[1] != second) {
    return nullptr;
  }
  SelectRun found = nullptr;
  hlo::VisitType(type, [&]<typename T>() {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, hlo::BF16> || std::is_same_v<T, hlo::F16>) {
      switch (direction) {
        case Direction::kGe: found = SelectWith<T, Direction::kGe>; break;
        case Direction::kGt: found = SelectWith<T, Direction::kGt>; break;
        case Direction::kLe: found = SelectWith<T, Direction::kLe>; break;
        case Direction::kLt: found = SelectWith<T, Direction::kLt>; break;
        default: break;
      }
    }
  });
  return found;
}

// The select and scatter computations: recognised ones, or functions that run on blocks.
struct Functions {
  SelectRun select = nullptr;
  ScatterRun scatter = nullptr;
  std::unique_ptr<ScalarFunction> general_select, general_scatter;
};

class SelectAndScatterStep final : public Step {
 public:
  SelectAndScatterStep(hlo::Instruction instruction, Functions functions)
      : Step(StepKind::kLibrary, DescribeStep(instruction)),
        functions_(std::move(functions)),
        width_(Width(instruction.shape())) {
    const hlo::Shape& operand = instruction.operand(0).shape();
    const hlo::Shape& source = instruction.operand(1).shape();
    WindowAxes axes = MakeWindowAxes(operand, source, instruction.attributes<hlo::WindowAttributes>().window);
    elements_ = Elements(operand);
    positions_ = WindowPositions(axes);
    // Trailing dimensions that the window does not change are lanes; leading ones are independent problems.
    while (!axes.empty() && axes.back().IsTrivial()) {
      lanes_ *= axes.back().out;
      axes.pop_back();
    }
    size_t leading = 0;
    while (leading < axes.size() && axes[leading].IsTrivial()) problems_ *= axes[leading++].out;
    axes_.assign(axes.begin() + static_cast<ptrdiff_t>(leading), axes.end());
    in_stride_ = out_stride_ = lanes_;
    for (const WindowAxis& axis : axes_) {
      in_stride_ *= axis.in;
      out_stride_ *= axis.out;
      sources_ *= axis.out;
    }
    set_flops(static_cast<double>(problems_ * sources_ * lanes_) * static_cast<double>(positions_));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    const int64_t blocks = (lanes_ + kLanes - 1) / kLanes;
    ParallelRanges(
        context.threads, problems_ * blocks, WorkOf(elements_, positions_),
        [&](int64_t begin, int64_t end, int) {
          StopCheck stop(context.run);
          for (int64_t job = begin; job < end; ++job) {
            const int64_t problem = job / blocks, lane = job % blocks * kLanes;
            if (!RunProblem(inputs, outputs[0], problem, lane, std::min(kLanes, lanes_ - lane), stop)) return;
          }
        });
    return StopCheck::Verdict(context.run);
  }

 private:
  // Returns false when it was interrupted.
  bool RunProblem(const std::byte* const* inputs, std::byte* out, int64_t problem, int64_t lane,
                  int64_t lanes, StopCheck& stop) const {
    const int64_t in_base = problem * in_stride_ + lane;
    for (int64_t row = 0; row < in_stride_ / lanes_; ++row) {
      if (stop.Stops(lanes)) return false;
      for (int64_t l = 0; l < lanes; ++l)
        std::memcpy(out + (in_base + row * lanes_ + l) * width_, inputs[2], width_);
    }
    int64_t index[hlo::kMaxRank] = {};
    for (int64_t s = 0; s < sources_; ++s) {
      int64_t best[kLanes];
      std::fill_n(best, lanes, int64_t{-1});
      WindowWalk position;
      position.Start(axes_.size());
      for (size_t d = 0; d < axes_.size(); ++d) position.Limit(d, axes_[d].Positions(index[d], index[d]));
      for (; position.valid(); position.Next()) {
        if (stop.Stops(lanes)) return false;
        int64_t at = in_base;
        bool inside = true;
        for (size_t d = 0; d < axes_.size() && inside; ++d) {
          const int64_t source = axes_[d].Source(index[d], position[d]);
          inside = source >= 0;
          at += source * axes_[d].in_stride;
        }
        if (inside) Select(inputs[0], at, lanes, best);
      }
      Scatter(out, inputs[1] + (problem * out_stride_ + s * lanes_ + lane) * width_, lanes, best);
      for (size_t d = axes_.size(); d-- > 0;) {
        if (++index[d] < axes_[d].out) break;
        index[d] = 0;
      }
    }
    return true;
  }

  void Select(const std::byte* operand, int64_t first, int64_t lanes, int64_t* best) const {
    if (functions_.select != nullptr) return functions_.select(operand, first, lanes, best);
    if (best[0] < 0) {  // All lanes get their first candidate at the same time.
      for (int64_t l = 0; l < lanes; ++l) best[l] = first + l;
      return;
    }
    alignas(64) std::byte chosen[kLanes * 16], keep[kLanes];
    for (int64_t l = 0; l < lanes; ++l) std::memcpy(chosen + l * width_, operand + best[l] * width_, width_);
    const std::byte* const parameters[] = {chosen, operand + first * width_};
    std::byte* const results[] = {keep};
    functions_.general_select->Run(parameters, results, lanes);
    for (int64_t l = 0; l < lanes; ++l) best[l] = keep[l] != std::byte{0} ? best[l] : first + l;
  }

  void Scatter(std::byte* out, const std::byte* source, int64_t lanes, const int64_t* best) const {
    if (functions_.scatter != nullptr) return functions_.scatter(out, source, lanes, best);
    if (best[0] < 0) return;
    alignas(64) std::byte old[kLanes * 16];
    for (int64_t l = 0; l < lanes; ++l) std::memcpy(old + l * width_, out + best[l] * width_, width_);
    const std::byte* const parameters[] = {old, source};
    std::byte* const results[] = {old};
    functions_.general_scatter->Run(parameters, results, lanes);
    for (int64_t l = 0; l < lanes; ++l) std::memcpy(out + best[l] * width_, old + l * width_, width_);
  }

  Functions functions_;
  int width_;
  WindowAxes axes_;
  int64_t elements_ = 0, positions_ = 1, lanes_ = 1, problems_ = 1, sources_ = 1, in_stride_ = 1,
          out_stride_ = 1;
};

}  // namespace

MaybeStep MakeSelectAndScatterStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  const hlo::PrimitiveType type = instruction.shape().type;
  if (instruction.operand(0).shape().type != type || instruction.operand(1).shape().type != type)
    return nullptr;
  Functions functions;
  functions.select = FindSelect(module.computation(instruction.called()[0]), type);
  VisitReducer(RecogniseReducer(module.computation(instruction.called()[1])), type,
               [&]<typename Op>() { functions.scatter = ScatterWith<Op>; });
  if (functions.select == nullptr) {
    functions.general_select = MakeScalarFunction(module, instruction.called()[0]);
    if (functions.general_select == nullptr) return nullptr;
  }
  if (functions.scatter == nullptr) {
    functions.general_scatter = MakeScalarFunction(module, instruction.called()[1]);
    if (functions.general_scatter == nullptr) return nullptr;
  }
  return std::make_unique<SelectAndScatterStep>(instruction, std::move(functions));
}

}  // namespace hlod::engine
