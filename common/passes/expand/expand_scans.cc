// Replaces scans by loops. The state of the loop is a counter, the carries, the inputs and the stacks of
// outputs that some instruction reads.
#include <algorithm>

#include "common/hlo/builder.h"
#include "common/passes/copy.h"
#include "common/passes/passes.h"

namespace hlod::passes {

using namespace hlo;

namespace {

// The replacement of one scan.
struct Loop {
  ComputationId condition, body;
};

Dims Without(Dims dims, int64_t dimension) {
  dims.erase(dims.begin() + dimension);
  return dims;
}

// Returns the start of slice `index` in an array of `rank` dimensions.
std::vector<Op> Starts(Builder& b, Op index, int64_t dimension, size_t rank) {
  std::vector<Op> starts(rank, b.Constant(Literal::Scalar<int64_t>(0)));
  starts[static_cast<size_t>(dimension)] = index;
  return starts;
}

Op SliceAt(Builder& b, Op array, Op index, int64_t dimension) {
  const Dims dims = b.shape(array).dims;
  Dims sizes = dims;
  sizes[static_cast<size_t>(dimension)] = 1;
  return b.Reshape(b.DynamicSlice(array, Starts(b, index, dimension, dims.size()), sizes),
                   Without(dims, dimension));
}

Op StoreAt(Builder& b, Op array, Op slice, Op index, int64_t dimension) {
  Dims dims = b.shape(slice).dims;
  dims.insert(dims.begin() + dimension, 1);
  return b.DynamicUpdateSlice(array, b.Reshape(slice, dims), Starts(b, index, dimension, dims.size()));
}

// Returns the shapes of the outputs: the results before the carries.
std::vector<Shape> StacksOf(Instruction instruction) {
  const Shape& shape = instruction.shape();
  const auto carries = static_cast<ptrdiff_t>(instruction.attributes<ScanAttributes>().num_carries);
  if (shape.IsTuple()) return {shape.tuple.begin(), shape.tuple.end() - carries};
  return carries == 0 ? std::vector<Shape>{shape} : std::vector<Shape>{};
}

// Returns, for each scan of a computation and by output, true when some instruction reads its stack.
std::vector<std::vector<bool>> ReadOutputs(const Computation& computation) {
  std::vector<std::vector<bool>> read(computation.size());
  for (NodeId id = 0; id < computation.size(); ++id) {
    const Instruction instruction = computation[id];
    if (instruction.opcode() == kScan) {
      const bool is_root = computation.root_id() == id;
      read[id].assign(StacksOf(instruction).size(), is_root || !instruction.shape().IsTuple());
    }
    for (const NodeId operand : instruction.operands()) {
      std::vector<bool>& outputs = read[operand];
      if (outputs.empty()) continue;
      if (instruction.opcode() != kGetTupleElement) {
        std::fill(outputs.begin(), outputs.end(), true);
        continue;
      }
      const auto index = static_cast<size_t>(instruction.attributes<TupleIndexAttributes>().index);
      if (index < outputs.size()) outputs[index] = true;
    }
  }
  return read;
}

Loop MakeLoop(Instruction instruction, ComputationId called, const std::vector<bool>& read, Module& to) {
  const auto& scan = instruction.attributes<ScanAttributes>();
  const auto carries = static_cast<size_t>(scan.num_carries);
  const size_t inputs = instruction.operand_count() - carries;
  const Shape& shape = instruction.shape();
  Loop loop;
  const std::vector<Shape> stacks = StacksOf(instruction);
  const size_t outputs = stacks.size();
  const int64_t length = instruction.operand(0).shape().dims[static_cast<size_t>(scan.dimension)];

  std::vector<Shape> state = {Shape::Scalar(kS64)};
  for (size_t i = 0; i < carries; ++i)
    state.push_back(instruction.operand(static_cast<uint32_t>(inputs + i)).shape());
  for (size_t i = 0; i < inputs; ++i) state.push_back(instruction.operand(static_cast<uint32_t>(i)).shape());
  for (size_t i = 0; i < outputs; ++i) {
    if (read[i]) state.push_back(stacks[i]);
  }
  for (Shape& part : state) part.layout.reset();
  const Shape tuple = Shape::Tuple(state);

  Builder condition(to, "scan_condition");
  const Op at = condition.GetTupleElement(condition.Parameter(0, tuple), 0);
  static_cast<void>(condition.Build(
      condition.Compare(at, condition.Constant(Literal::Scalar<int64_t>(length)), ComparisonDirection::kLt)));
  loop.condition = condition.id();

  Builder body(to, "scan_body");
  const Op parameter = body.Parameter(0, tuple);
  std::vector<Op> parts;
  for (size_t i = 0; i < state.size(); ++i)
    parts.push_back(body.GetTupleElement(parameter, static_cast<int64_t>(i)));
  const Op one = body.Constant(Literal::Scalar<int64_t>(1));
  const Op index =
      scan.is_reverse ? body.Constant(Literal::Scalar<int64_t>(length - 1)) - parts[0] : parts[0];
  std::vector<Op> arguments;
  for (size_t i = 0; i < inputs; ++i)
    arguments.push_back(SliceAt(body, parts[1 + carries + i], index, scan.dimension));
  for (size_t i = 0; i < carries; ++i) arguments.push_back(parts[1 + i]);
  const Op result = body.Call(arguments, called);
  const auto result_at = [&](size_t i) {
    return shape.IsTuple() ? body.GetTupleElement(result, static_cast<int64_t>(i)) : result;
  };
  parts[0] = parts[0] + one;
  for (size_t i = 0; i < carries; ++i) parts[1 + i] = result_at(outputs + i);
  size_t next = 1 + carries + inputs;
  for (size_t i = 0; i < outputs; ++i) {
    if (!read[i]) continue;
    Op& stack = parts[next++];
    stack = StoreAt(body, stack, result_at(i), index, scan.dimension);
  }
  static_cast<void>(body.Build(body.Tuple(parts)));
  loop.body = body.id();
  return loop;
}

// Appends the loop over the new operands and returns the scan's results.
NodeId AppendLoop(ComputationCopy& copy, Instruction instruction, const Loop* loop,
                  const std::vector<bool>& read) {
  const auto& scan = instruction.attributes<ScanAttributes>();
  const auto carries = static_cast<size_t>(scan.num_carries);
  const absl::InlinedVector<NodeId, 8> operands = copy.operands(instruction);
  const size_t inputs = operands.size() - carries;
  Computation& to = copy.to();
  Tables& tables = copy.tables();
  const auto constant = [&](Literal literal) {
    const ShapeId shape = tables.Intern(literal.shape());
    const LiteralId id = tables.Intern(std::make_shared<const Literal>(std::move(literal)));
    return to.Append(kConstant, shape, tables.Intern(Attributes(ConstantAttributes{id})), {});
  };
  const std::vector<Shape> stacks = StacksOf(instruction);
  const auto zeros = [&](const Shape& stack) {
    const NodeId zero = constant(Literal(Shape::Scalar(stack.type)));
    return to.Append(kBroadcast, tables.Intern(stack), tables.Intern(Attributes(DimensionsAttributes{})),
                     {zero});
  };
  std::vector<NodeId> results;
  if (loop == nullptr) {  // There are no iterations.
    for (const Shape& stack : stacks) results.push_back(zeros(stack));
    results.insert(results.end(), operands.begin() + static_cast<ptrdiff_t>(inputs), operands.end());
  } else {
    std::vector<NodeId> state = {constant(Literal::Scalar<int64_t>(0))};
    state.insert(state.end(), operands.begin() + static_cast<ptrdiff_t>(inputs), operands.end());
    state.insert(state.end(), operands.begin(), operands.begin() + static_cast<ptrdiff_t>(inputs));
    for (size_t i = 0; i < stacks.size(); ++i) {
      if (read[i]) state.push_back(zeros(stacks[i]));
    }
    std::vector<Shape> shapes;
    for (const NodeId part : state) {
      shapes.push_back(to[part].shape());
      shapes.back().layout.reset();
    }
    const ShapeId tuple = tables.Intern(Shape::Tuple(shapes));
    const NodeId init = to.Append(kTuple, tuple, 0, state);
    const ComputationId called[] = {loop->body, loop->condition};
    const NodeId end = to.Append(kWhile, tuple, 0, {init}, called);
    const auto part = [&](size_t i) {
      const Attributes index(TupleIndexAttributes{static_cast<int64_t>(i)});
      return to.Append(kGetTupleElement, tables.Intern(shapes[i]), tables.Intern(index), {end});
    };
    size_t next = 1 + carries + inputs;
    for (size_t i = 0; i < stacks.size(); ++i) results.push_back(read[i] ? part(next++) : zeros(stacks[i]));
    for (size_t i = 0; i < carries; ++i) results.push_back(part(1 + i));
  }
  if (!instruction.shape().IsTuple()) return results[0];
  return copy.Replace(instruction, kTuple, instruction.shape_id(), NoAttributes{}, results);
}

int64_t LengthOf(Instruction scan) {
  return scan.operand(0).shape().dims[static_cast<size_t>(scan.attributes<ScanAttributes>().dimension)];
}

}  // namespace

bool HasScans(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    for (NodeId id = 0; id < module.computation(c).size(); ++id) {
      if (module.computation(c)[id].opcode() == kScan) return true;
    }
  }
  return false;
}

std::unique_ptr<Module> ExpandScans(const Module& module) {
  std::unique_ptr<Module> result = EmptyCopy(module);
  std::vector<ComputationId> computations;
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& from = module.computation(c);
    // Callees come before their callers.
    std::vector<Loop> loops(from.size());
    const std::vector<std::vector<bool>> read = ReadOutputs(from);
    for (NodeId id = 0; id < from.size(); ++id) {
      if (from[id].opcode() != kScan || LengthOf(from[id]) == 0) continue;
      loops[id] = MakeLoop(from[id], computations[from[id].called()[0]], read[id], *result);
    }
    ComputationCopy copy(module, from, AddEmptyCopy(*result, from), computations);
    for (NodeId id = 0; id < from.size(); ++id) {
      const Instruction instruction = from[id];
      if (instruction.opcode() != kScan) copy.set_node(id, copy.Clone(instruction));
      else
        copy.set_node(
            id, AppendLoop(copy, instruction, LengthOf(instruction) == 0 ? nullptr : &loops[id], read[id]));
    }
    copy.to().set_root(copy.node(from.root_id()));
    computations.push_back(result->computation_count() - 1);
  }
  result->set_entry(computations[module.entry_id()]);
  return result;
}

}  // namespace hlod::passes
