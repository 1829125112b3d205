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
// ScanWriter writes
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
#include "absl/container/flat_hash_set.h"

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

// Writes a loop as a scan with the inputs and outputs found by `slices`.
class ScanWriter {
 public:
  ScanWriter(hlo::Computation& to, const WhileLoop& loop, const CalleeBody& body, const Slices& slices)
      : body_(body),
        slices_(slices),
        appender_(to),
        step_(to.shared_tables(), "scan_body"),
        in_step_(step_),
        cloner_(body.computation, step_) {
    const absl::Span<const NodeId> state = to[loop.init].operands();
    state_.assign(state.begin(), state.end());
  }

  // Returns a tuple of the loop's results.
  NodeId Write(int64_t length) {
    AddInputs(length);
    AddCarries();
    CloneBody();
    std::vector<NodeId> outputs = Outputs();
    const size_t stacked = outputs.size();
    for (size_t i = 0; i < state_.size(); ++i) {
      if (slices_.uses().contains(i)) continue;
      outputs.push_back(cloner_.node(body_.outputs[i]));
      results_.push_back(body_.ParameterShape(i));
    }
    step_.set_root(in_step_.Tuple(outputs));
    attributes_.is_reverse = slices_.reverse();
    return InOrderOfState(appender_.Scan(operands_, attributes_, Shape::Tuple(std::move(results_)),
                                         TraceTables::Get().Callee(step_)),
                          stacked);
  }

 private:
  NodeId Parameter(const Shape& shape) {
    return step_.Append(hlo::kParameter, step_.tables().Intern(shape),
                        TraceTables::Get().ParameterNumber(parameters_++), {});
  }

  // The scan's body takes the slices, then the carries.
  void AddInputs(int64_t length) {
    for (const auto& [element, use] : slices_.uses()) {
      if (!use.is_input) continue;
      operands_.push_back(state_[element]);
      const NodeId slice = Parameter(Sliced(body_.ParameterShape(element)));
      // Reshaped by CloneBody, before their users are copied.
      for (const NodeId node : use.nodes) cloner_.set_node(node, slice);
    }
    if (!operands_.empty()) return;
    operands_.push_back(appender_.Falses(length));
    Parameter(Shape::Scalar(hlo::kPred));
  }

  void AddCarries() {
    for (size_t i = 0; i < state_.size(); ++i) {
      if (slices_.uses().contains(i)) continue;
      ++attributes_.num_carries;
      operands_.push_back(state_[i]);
      cloner_.set_node(body_.parameters[i], Parameter(body_.ParameterShape(i)));
    }
  }

  // Copies the body without the updates of outputs.
  void CloneBody() {
    absl::flat_hash_set<NodeId> updates;
    for (const auto& [element, use] : slices_.uses()) {
      for (const NodeId node : use.nodes) {
        if (!use.is_input) updates.insert(node);
        else cloner_.set_node(node, in_step_.Reshape(cloner_.node(node), body_.computation[node].shape()));
      }
    }
    for (NodeId node = 0; node < body_.computation.size(); ++node) {
      const bool replaced = cloner_.has(node) || updates.contains(node);
      if (replaced || body_.computation[node].opcode() == hlo::kParameter) continue;
      // The tuple of parameters is not copied, unlike its elements.
      if (cloner_.HasOperands(node)) cloner_.Clone(node);
    }
  }

  // Returns the slices that the iteration writes, and adds the shapes of the arrays that they become.
  std::vector<NodeId> Outputs() {
    std::vector<NodeId> outputs;
    for (const auto& [element, use] : slices_.uses()) {
      if (use.is_input) continue;
      const NodeId update = cloner_.node(body_.computation[use.nodes[0]].operands()[1]);
      outputs.push_back(in_step_.Reshape(update, Sliced(body_.ParameterShape(element))));
      results_.push_back(body_.ParameterShape(element));
    }
    return outputs;
  }

  NodeId InOrderOfState(NodeId scan, size_t stacked) {
    std::vector<NodeId> elements;
    size_t next_output = 0, next_carry = stacked;
    for (size_t i = 0; i < state_.size(); ++i) {
      const auto use = slices_.uses().find(i);
      if (use == slices_.uses().end()) elements.push_back(appender_.Element(scan, next_carry++));
      else elements.push_back(use->second.is_input ? state_[i] : appender_.Element(scan, next_output++));
    }
    return appender_.Tuple(elements);
  }

  const CalleeBody& body_;
  const Slices& slices_;
  Appender appender_;
  hlo::Computation step_;
  Appender in_step_;
  hlo::InstructionCloner cloner_;
  std::vector<NodeId> state_, operands_;
  std::vector<Shape> results_;
  hlo::ScanAttributes attributes_;
  uint32_t parameters_ = 0;
};

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
    if (!slices.uses().empty()) return ScanWriter(to, loop, body, slices).Write(counter->iterations);
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
