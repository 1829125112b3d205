// Reads an imported while loop as a scan.
//
// JAX, and other frontends, lower scan and fori_loop to a while with a counter in its state. Such a program
// has lost what the transforms need: the number of iterations, without which reverse mode has no bound for
// its residuals, and which arrays are read or written slice by slice. This file finds both again. Lowering
// turns the scan into a while again, so that the same loop runs.
//
// Example: JAX lowers scan(f, c, xs) over N slices to
//
//   state (i = 0, c, xs, ys = zeros)
//   condition: i < N
//   body: x = dynamic-slice(xs, i, 0, ...)                one slice, of size 1 along dimension 0
//         (c', y) = f(c, reshape(x))
//         ys' = dynamic-update-slice(ys, reshape(y), i, 0, ...)
//         (i + 1, c', xs, ys')
//
// FindLoopCounter (common/hlo/analysis/trip_count.h) finds the counter: element 0 begins as the constant 0,
// grows by 1 and is compared with the constant N. Slices then finds that xs is an input and ys an output, and
// AppendSliced writes
//
//   scan(inputs xs; carries i, c), length N
//   body(x, i, c): (c', y) = f(c, x);  returns (y; i + 1, c')
//
//   and the result of the while: (i_N, c_N, xs, the stacked y).
//
// Keeping xs and ys as carries would also be right, but slower: the transpose of a dynamic slice adds to a
// cotangent of the whole array. In a loop of N iterations that is N passes over N slices, for xs and for ys,
// whereas the transposed scan reads or writes each slice once (rules/scan.cc).
//
// An element of the state is an input when the body returns it unchanged and uses it only for dynamic slices.
// It is an output when its only use is a dynamic-update-slice whose result is its next value and has no other
// use. Its initial value is dropped, since the iterations overwrite all of it. In either case
//   - dimension 0 has size N, a slice is one step of it and whole in all other dimensions;
//   - the index is i, or N - 1 - i, as far as AffineOf can tell. It looks through conversions, sums and
//     JAX's select(i < 0, i + N, i). N - 1 - i means a reverse scan. A scan has one direction,
//     that of the first element found; elements of the other direction stay carries.
// The counter must begin at 0 and grow by 1.
//
// Every other loop with a counter becomes a scan, too, with the whole state as carries. Since a scan
// instruction needs an input, it gets one that the body ignores: N times false.
#include "client/transform/functions/counted_loop.h"

#include <algorithm>
#include <map>

#include "absl/container/flat_hash_map.h"

#include "common/hlo/analysis/trip_count.h"
#include "common/hlo/instruction_cloner.h"
#include "common/hlo/literal.h"

namespace hlod::lazy {
namespace {

// The maximum number of iterations of a loop that becomes a scan, because the transpose keeps residuals of
// each.
constexpr int64_t kIterationsMax = int64_t{1} << 20;

std::optional<hlo::LoopCounter> CounterOf(const WhileLoop& loop) {
  const hlo::Module& callees = TraceTables::Get().callees();
  const std::optional<hlo::LoopCounter> counter = hlo::FindLoopCounter(
      loop.computation[loop.init], callees.computation(loop.body), callees.computation(loop.condition));
  return counter.has_value() && counter->iterations <= kIterationsMax ? counter : std::nullopt;
}

// Finds the arrays of the state that the iterations read, or write, slice by slice along dimension 0.
class Slices {
 public:
  // `counter` is the index of the state element that counts from 0 by 1 to `length`.
  Slices(const CalleeBody& body, size_t counter, int64_t length)
      : body_(body), computation_(body.computation), counter_(body.parameters[counter]), length_(length) {
    std::vector<bool> live(computation_.size(), false);
    for (const NodeId output : body.outputs) live[output] = true;
    for (NodeId node = computation_.size(); node-- > 0;) {
      if (!live[node]) continue;
      for (const NodeId operand : computation_[node].operands()) {
        live[operand] = true;
        users_[operand].push_back(node);
      }
    }
    for (size_t i = 0; i < body.parameters.size(); ++i) Look(i);
    // A scan has one direction: elements of the other direction stay in the state.
    for (auto& [element, use] : uses_) {
      if (!reverse_.has_value()) reverse_ = use.reverse;
    }
    std::erase_if(uses_, [&](const auto& entry) { return entry.second.reverse != *reverse_; });
  }

  struct Use {
    bool is_input = false, reverse = false;
    std::vector<NodeId> nodes;  // The dynamic slices, or the only update.
  };
  const std::map<size_t, Use>& uses() const { return uses_; }  // The uses by element of the state.
  bool reverse() const { return reverse_.value_or(false); }

 private:
  // An index of the form factor * counter + offset.
  struct Affine {
    int64_t factor = 0, offset = 0;
  };
  std::optional<Affine> AffineOf(NodeId node, int depth = 0) const {
    constexpr int kDepthMax = 8;
    const hlo::Instruction instruction = computation_[node];
    if (node == counter_) return Affine{1, 0};
    if (const std::optional<int64_t> constant = hlo::IntegerOf(instruction)) return Affine{0, *constant};
    if (depth > kDepthMax || !instruction.shape().dims.empty()) return std::nullopt;
    const absl::Span<const NodeId> operands = instruction.operands();
    switch (instruction.opcode()) {
      case hlo::kConvert:
      case hlo::kCopy: return AffineOf(operands[0], depth + 1);
      case hlo::kSelect: {  // x < 0 ? x + n : x equals x, because x is within bounds.
        const hlo::Instruction test = instruction.operand(0);
        if (test.opcode() != hlo::kCompare || test.operands()[0] != operands[2] ||
            test.attributes<hlo::CompareAttributes>().direction != hlo::ComparisonDirection::kLt ||
            hlo::IntegerOf(test.operand(1)) != 0) {
          return std::nullopt;
        }
        const std::optional<Affine> index = AffineOf(operands[2], depth + 1);
        return index.has_value() && IsInside(*index) ? index : std::nullopt;
      }
      case hlo::kAdd:
      case hlo::kSubtract: {
        const std::optional<Affine> x = AffineOf(operands[0], depth + 1),
                                    y = AffineOf(operands[1], depth + 1);
        if (!x.has_value() || !y.has_value()) return std::nullopt;
        const int64_t sign = instruction.opcode() == hlo::kAdd ? 1 : -1;
        Affine sum;
        if (__builtin_add_overflow(x->factor, sign * y->factor, &sum.factor) ||
            __builtin_mul_overflow(sign, y->offset, &sum.offset) ||
            __builtin_add_overflow(x->offset, sum.offset, &sum.offset)) {
          return std::nullopt;
        }
        return sum;
      }
      default: return std::nullopt;
    }
  }
  // Returns true when the index goes from 0 to the last, or from the last to 0.
  bool IsInside(const Affine& index) const {
    return (index.factor == 1 && index.offset == 0) || (index.factor == -1 && index.offset == length_ - 1);
  }

  // Returns true when slices with these start indices and the sizes `part` visit dimension 0 of an array from
  // its end, false from its beginning, and nullopt when they do not visit it index by index.
  std::optional<bool> DirectionOf(absl::Span<const NodeId> starts, const Dims& dims, const Dims& part) const {
    if (dims.empty() || dims[0] != length_ || part[0] != 1) return std::nullopt;
    for (size_t i = 1; i < dims.size(); ++i) {
      if (part[i] != dims[i] || hlo::IntegerOf(computation_[starts[i]]) != 0) return std::nullopt;
    }
    const std::optional<Affine> index = AffineOf(starts[0]);
    if (!index.has_value() || !IsInside(*index)) return std::nullopt;
    return index->factor == -1;
  }

  // Adds the element of the state to uses_ when it is read or written slice by slice.
  void Look(size_t element) {
    const NodeId parameter = body_.parameters[element];
    const auto users = users_.find(parameter);
    const bool stays = body_.outputs[element] == parameter;
    const auto elsewhere = std::count(body_.outputs.begin(), body_.outputs.end(), parameter);
    if (users == users_.end() || elsewhere != (stays ? 1 : 0)) return;
    const Dims dims = computation_[parameter].shape().dims;
    Use use{stays, false, users->second};
    std::optional<bool> direction;
    for (const NodeId node : use.nodes) {
      const hlo::Instruction user = computation_[node];
      const absl::Span<const NodeId> operands = user.operands();
      const hlo::Opcode wanted = stays ? hlo::kDynamicSlice : hlo::kDynamicUpdateSlice;
      if (user.opcode() != wanted || operands[0] != parameter ||
          std::count(operands.begin(), operands.end(), parameter) != 1) {
        return;
      }
      if (!stays && (body_.outputs[element] != node || use.nodes.size() != 1 || users_.contains(node) ||
                     std::count(body_.outputs.begin(), body_.outputs.end(), node) != 1)) {
        return;
      }
      const Dims part = stays ? user.shape().dims : computation_[operands[1]].shape().dims;
      const std::optional<bool> found = DirectionOf(operands.subspan(stays ? 1 : 2), dims, part);
      if (!found.has_value() || (direction.has_value() && direction != found)) return;
      direction = found;
    }
    use.reverse = *direction;
    uses_[element] = std::move(use);
  }

  const CalleeBody& body_;
  const hlo::Computation& computation_;
  const NodeId counter_;
  const int64_t length_;
  absl::flat_hash_map<NodeId, std::vector<NodeId>> users_;
  std::map<size_t, Use> uses_;
  std::optional<bool> reverse_;
};

// Appends the instructions that are needed here to a computation.
class Appender {
 public:
  explicit Appender(hlo::Computation& to) : to_(to), tables_(to.tables()) {}

  NodeId Falses(int64_t length) {
    const hlo::LiteralId literal =
        tables_.Intern(std::make_shared<const Literal>(Literal::Scalar<bool>(false)));
    const NodeId one = to_.Append(hlo::kConstant, tables_.Intern(Shape::Scalar(hlo::kPred)),
                                  tables_.Intern(hlo::Attributes(hlo::ConstantAttributes{literal})), {});
    return to_.Append(hlo::kBroadcast, tables_.Intern(Shape::Array(hlo::kPred, {length})),
                      tables_.Intern(hlo::Attributes(hlo::DimensionsAttributes{})), {one});
  }
  NodeId Reshape(NodeId x, const Shape& shape) {
    return to_.Append(hlo::kReshape, tables_.Intern(shape),
                      tables_.Intern(hlo::Attributes(hlo::DimensionsAttributes{})), {x});
  }
  NodeId Tuple(const std::vector<NodeId>& elements) {
    std::vector<Shape> shapes;
    for (const NodeId element : elements) shapes.push_back(to_[element].shape());
    return to_.Append(hlo::kTuple, tables_.Intern(Shape::Tuple(std::move(shapes))), 0, elements);
  }
  NodeId Element(NodeId tuple, size_t index) {
    const Shape shape = to_[tuple].shape().tuple[index];
    const hlo::TupleIndexAttributes attributes{static_cast<int64_t>(index)};
    return to_.Append(hlo::kGetTupleElement, tables_.Intern(shape),
                      tables_.Intern(hlo::Attributes(attributes)), {tuple});
  }
  NodeId Scan(const std::vector<NodeId>& operands, const hlo::ScanAttributes& attributes, const Shape& shape,
              hlo::ComputationId body) {
    return to_.Append(hlo::kScan, tables_.Intern(shape), tables_.Intern(hlo::Attributes(attributes)),
                      operands, {{body}});
  }

 private:
  hlo::Computation& to_;
  hlo::Tables& tables_;
};

Shape Sliced(Shape shape) {
  shape.dims.erase(shape.dims.begin());
  return shape;
}

// Appends the loop as a scan with the inputs and outputs found by `slices`; returns a tuple of the loop's
// results.
NodeId AppendSliced(hlo::Computation& to, const WhileLoop& loop, const CalleeBody& body, const Slices& slices,
                    int64_t length) {
  Appender appender(to);
  const absl::Span<const NodeId> state_nodes = to[loop.init].operands();
  const std::vector<NodeId> state(state_nodes.begin(), state_nodes.end());
  // The scan's body takes the slices, then the carries.
  hlo::Computation step(to.shared_tables(), "scan_body");
  Appender in_step(step);
  uint32_t number = 0;
  const auto parameter = [&](const Shape& shape) {
    return step.Append(hlo::kParameter, step.tables().Intern(shape),
                       TraceTables::Get().ParameterNumber(number++), {});
  };
  hlo::InstructionCloner cloner(body.computation, step);
  std::vector<NodeId> operands, outputs, carried;
  std::vector<Shape> results;
  for (const auto& [element, use] : slices.uses()) {
    if (!use.is_input) continue;
    operands.push_back(state[element]);
    const NodeId slice = parameter(Sliced(body.ParameterShape(element)));
    // Reshaped below, when their users are copied.
    for (const NodeId node : use.nodes) cloner.set_node(node, slice);
  }
  if (operands.empty()) {
    operands.push_back(appender.Falses(length));
    parameter(Shape::Scalar(hlo::kPred));
  }
  hlo::ScanAttributes attributes;
  for (size_t i = 0; i < state.size(); ++i) {
    if (slices.uses().contains(i)) continue;
    ++attributes.num_carries;
    operands.push_back(state[i]);
    cloner.set_node(body.parameters[i], parameter(body.ParameterShape(i)));
  }
  absl::flat_hash_map<NodeId, bool> updates;
  for (const auto& [element, use] : slices.uses()) {
    for (const NodeId node : use.nodes) {
      if (!use.is_input) updates[node] = true;
      else cloner.set_node(node, in_step.Reshape(cloner.node(node), body.computation[node].shape()));
    }
  }
  for (NodeId node = 0; node < body.computation.size(); ++node) {
    const bool replaced = cloner.has(node) || updates.contains(node);
    if (replaced || body.computation[node].opcode() == hlo::kParameter) continue;
    // The tuple of parameters is not copied, unlike its elements.
    if (cloner.HasOperands(node)) cloner.Clone(node);
  }
  for (const auto& [element, use] : slices.uses()) {
    if (use.is_input) continue;
    const NodeId update = cloner.node(body.computation[use.nodes[0]].operands()[1]);
    outputs.push_back(in_step.Reshape(update, Sliced(body.ParameterShape(element))));
    results.push_back(body.ParameterShape(element));
  }
  for (size_t i = 0; i < state.size(); ++i) {
    if (slices.uses().contains(i)) continue;
    carried.push_back(cloner.node(body.outputs[i]));
    results.push_back(body.ParameterShape(i));
  }
  const size_t stacked = outputs.size();
  outputs.insert(outputs.end(), carried.begin(), carried.end());
  step.set_root(in_step.Tuple(outputs));
  attributes.is_reverse = slices.reverse();
  const NodeId scan =
      appender.Scan(operands, attributes, Shape::Tuple(std::move(results)), TraceTables::Get().Callee(step));
  // The loop's results in their order.
  std::vector<NodeId> elements;
  size_t next_output = 0, next_carry = stacked;
  for (size_t i = 0; i < state.size(); ++i) {
    const auto use = slices.uses().find(i);
    if (use == slices.uses().end()) elements.push_back(appender.Element(scan, next_carry++));
    else elements.push_back(use->second.is_input ? state[i] : appender.Element(scan, next_output++));
  }
  return appender.Tuple(elements);
}

}  // namespace

std::optional<int64_t> ScanLengthOf(const WhileLoop& loop) {
  const std::optional<hlo::LoopCounter> counter = CounterOf(loop);
  return counter.has_value() ? std::optional<int64_t>(counter->iterations) : std::nullopt;
}

std::optional<hlo::ComputationId> ScanBodyOf(const WhileLoop& loop) {
  try {
    const CalleeBody body = BodyOf(loop.body);
    if (body.single) return std::nullopt;
    Callee callee("scan_body");
    callee.Parameter(Shape::Scalar(hlo::kPred));
    std::vector<NodeId> parameters;
    for (size_t i = 0; i < body.parameters.size(); ++i) {
      parameters.push_back(callee.Parameter(body.ParameterShape(i)));
    }
    return callee.FinishTuple(callee.Append(body.computation, parameters, body.outputs));
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

std::optional<NodeId> AppendAsScan(hlo::Computation& to, const WhileLoop& loop) {
  const std::optional<hlo::LoopCounter> counter = CounterOf(loop);
  const std::optional<hlo::ComputationId> plain = counter.has_value() ? ScanBodyOf(loop) : std::nullopt;
  if (!plain.has_value()) return std::nullopt;
  if (counter->iterations > 0 && counter->begin == 0 && counter->step == 1) {
    const CalleeBody body = BodyOf(loop.body);
    const Slices slices(body, counter->index, counter->iterations);
    if (!slices.uses().empty()) return AppendSliced(to, loop, body, slices, counter->iterations);
  }
  Appender appender(to);
  const hlo::Instruction init = to[loop.init];
  const Shape shape = init.shape();
  std::vector<NodeId> operands(init.operands().begin(), init.operands().end());
  operands.insert(operands.begin(), appender.Falses(counter->iterations));
  hlo::ScanAttributes attributes;
  attributes.num_carries = static_cast<int64_t>(operands.size()) - 1;
  return appender.Scan(operands, attributes, shape, *plain);
}

}  // namespace hlod::lazy
