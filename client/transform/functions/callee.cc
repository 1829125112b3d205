// Builds the computations that instructions with bodies call, and takes them apart.
#include "client/transform/functions/callee.h"

#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/trace/copy_nodes.h"
#include "common/hlo/instruction_cloner.h"

namespace hlod::lazy {

NodeId Callee::Parameter(const Shape& shape) {
  return computation_.Append(hlo::kParameter, Intern(shape),
                             TraceTables::Get().ParameterNumber(parameters_++), {});
}

std::vector<NodeId> Callee::Parameters(const std::vector<Shape>& shapes, bool tupled) {
  std::vector<NodeId> parameters;
  if (tupled) {
    const NodeId tuple = Parameter(Shape::Tuple(shapes));
    for (size_t i = 0; i < shapes.size(); ++i) parameters.push_back(Element(tuple, static_cast<int64_t>(i)));
  } else {
    for (const Shape& shape : shapes) parameters.push_back(Parameter(shape));
  }
  return parameters;
}

NodeId Callee::Element(NodeId tuple, int64_t index) {
  const Shape shape = computation_[tuple].shape().tuple[static_cast<size_t>(index)];
  return computation_.Append(hlo::kGetTupleElement, Intern(shape), Intern(hlo::TupleIndexAttributes{index}),
                             {tuple});
}

std::vector<NodeId> Callee::Append(const hlo::Computation& from, absl::Span<const NodeId> parameters,
                                   absl::Span<const NodeId> outputs) {
  const std::vector<NodeId> copy_of =
      CopyNodes(from, from.size(), InPlaceOfParameters(parameters), AppendingTo(computation_, from));
  std::vector<NodeId> results;
  for (const NodeId output : outputs) results.push_back(copy_of[output]);
  return results;
}

NodeId Callee::Constant(Literal literal) {
  const hlo::ShapeId shape = Intern(literal.shape());
  const hlo::LiteralId id = computation_.tables().Intern(std::make_shared<const Literal>(std::move(literal)));
  return computation_.Append(hlo::kConstant, shape, Intern(hlo::ConstantAttributes{id}), {});
}

NodeId Callee::Zeros(const Shape& shape) {
  const NodeId zero = Constant(NumberLiteral(shape.type, 0));
  if (shape.dims.empty()) return zero;
  return computation_.Append(hlo::kBroadcast, Intern(shape), Intern(hlo::DimensionsAttributes{}), {zero});
}

NodeId Callee::AddConstant(NodeId x, Literal literal) {
  return computation_.Append(hlo::kAdd, computation_[x].shape_id(), 0, {x, Constant(std::move(literal))});
}

hlo::ComputationId Callee::FinishTuple(const std::vector<NodeId>& elements) {
  std::vector<Shape> shapes;
  for (const NodeId element : elements) shapes.push_back(computation_[element].shape());
  return Finish(computation_.Append(hlo::kTuple, Intern(Shape::Tuple(std::move(shapes))), 0, elements));
}

hlo::ComputationId Callee::Finish(NodeId root) {
  computation_.set_root(root);
  return TraceTables::Get().Callee(computation_);
}

CalleeBody BodyOf(hlo::ComputationId id) {
  const hlo::Computation& from = TraceTables::Get().callees().computation(id);
  hlo::Tables& tables = *TraceTables::Get().tables();
  CalleeBody body{hlo::Computation(TraceTables::Get().tables(), from.name()), {}, {}};
  hlo::Computation& to = body.computation;
  const auto append_parameter = [&](hlo::ShapeId shape) {
    const auto number = static_cast<uint32_t>(body.parameters.size());
    body.parameters.push_back(
        to.Append(hlo::kParameter, shape, TraceTables::Get().ParameterNumber(number), {}));
    return body.parameters.back();
  };
  const hlo::Instruction root = from.root();
  body.tupled = from.parameters().size() == 1 && from[from.parameters()[0]].shape().IsTuple();
  body.single = root.shape().IsArray();
  // Parameters come first, in order, since later nodes refer to them.
  std::vector<NodeId> parameters;
  for (const NodeId parameter : from.parameters()) {
    const Shape shape = from[parameter].shape();
    if (shape.IsArray()) {
      parameters.push_back(append_parameter(from[parameter].shape_id()));
      continue;
    }
    if (!body.tupled) Refuse("a computation that takes several tuples has no rule");
    for (const Shape& element : shape.tuple) {
      if (!element.IsArray()) Refuse("a computation that takes a tuple in a tuple has no rule");
      append_parameter(tables.Intern(element));
    }
    parameters.push_back(to.Append(hlo::kTuple, from[parameter].shape_id(), 0, body.parameters));
  }
  const bool drop_root = root.opcode() == hlo::kTuple && from.root_id() + 1 == from.size();
  const auto parameter_of = InPlaceOfParameters(parameters);
  const auto given = [&](NodeId node, const hlo::Instruction& instruction) {
    const bool element = instruction.opcode() == hlo::kGetTupleElement && body.tupled &&
                         instruction.operand(0).opcode() == hlo::kParameter;
    if (!element) return parameter_of(node, instruction);
    const auto index = static_cast<size_t>(instruction.attributes<hlo::TupleIndexAttributes>().index);
    return std::optional<NodeId>(body.parameters[index]);
  };
  const NodeId limit = from.size() - (drop_root ? 1 : 0);
  const std::vector<NodeId> copy_of = CopyNodes(from, limit, given, AppendingTo(to, from));
  if (body.single) {
    body.outputs = {copy_of[from.root_id()]};
  } else if (root.opcode() == hlo::kTuple) {
    for (const NodeId operand : root.operands()) body.outputs.push_back(copy_of[operand]);
  } else {
    for (size_t i = 0; i < root.shape().tuple.size(); ++i) {
      const hlo::TupleIndexAttributes index{static_cast<int64_t>(i)};
      body.outputs.push_back(to.Append(hlo::kGetTupleElement, tables.Intern(root.shape().tuple[i]),
                                       tables.Intern(hlo::Attributes(index)), {copy_of[from.root_id()]}));
    }
  }
  for (const NodeId output : body.outputs) {
    if (!to[output].shape().IsArray()) Refuse("a computation that gives a tuple in a tuple has no rule");
  }
  return body;
}

hlo::ComputationId CalleeOf(const char* name, const CalleeBody& body) {
  Callee callee(name);
  std::vector<Shape> shapes;
  for (size_t i = 0; i < body.parameters.size(); ++i) shapes.push_back(body.ParameterShape(i));
  const std::vector<NodeId> parameters = callee.Parameters(shapes, body.tupled);
  return callee.FinishTuple(callee.Append(body.computation, parameters, body.outputs));
}

namespace {

std::vector<NodeId> AppendScratch(Callee& callee, const Trace& scratch, absl::Span<const Op> parameters,
                                  absl::Span<const Op> outputs, bool tupled) {
  const Function function = Extract(scratch, Ids(parameters), Ids(outputs));
  std::vector<Shape> shapes;
  for (const Op parameter : parameters) shapes.push_back(scratch.computation()[parameter.id].shape());
  return callee.Append(function, callee.Parameters(shapes, tupled));
}

}  // namespace

hlo::ComputationId CalleeOf(const char* name, const Trace& scratch, absl::Span<const Op> parameters,
                            absl::Span<const Op> outputs, bool tupled) {
  Callee callee(name);
  return callee.FinishTuple(AppendScratch(callee, scratch, parameters, outputs, tupled));
}

hlo::ComputationId PlainCalleeOf(const char* name, const Trace& scratch, absl::Span<const Op> parameters,
                                 Op output, bool tupled) {
  Callee callee(name);
  return callee.Finish(
      AppendScratch(callee, scratch, parameters, absl::MakeConstSpan(&output, 1), tupled)[0]);
}

bool ExtendTuple(hlo::Computation& computation, NodeId node, const TupleExtension& wider) {
  for (NodeId user = node + 1; user < computation.size(); ++user) {
    const hlo::Instruction instruction = computation[user];
    if (instruction.opcode() == hlo::kGetTupleElement) continue;
    const absl::Span<const NodeId> operands = instruction.operands();
    if (std::find(operands.begin(), operands.end(), node) != operands.end()) return false;
  }
  hlo::Tables& tables = computation.tables();
  hlo::Computation wide(computation.shared_tables(), computation.name());
  for (NodeId id = 0; id < computation.size(); ++id) {
    const hlo::Instruction instruction = computation[id];
    hlo::ShapeId shape = instruction.shape_id();
    hlo::AttributesId attributes = instruction.attributes_id();
    absl::Span<const hlo::ComputationId> called = instruction.called();
    if (id == node) {
      shape = tables.Intern(wider.shape);
      called = wider.called;
    } else if (instruction.opcode() == hlo::kGetTupleElement && instruction.operands()[0] == node) {
      const int64_t index = instruction.attributes<hlo::TupleIndexAttributes>().index;
      if (index >= static_cast<int64_t>(wider.at)) {
        const hlo::TupleIndexAttributes moved{index + static_cast<int64_t>(wider.added)};
        attributes = tables.Intern(hlo::Attributes(moved));
      }
    }
    hlo::CloneInstruction(instruction, instruction.operands(), wide, hlo::ClonedNotes::kAll,
                          {.shape = shape, .attributes = attributes, .called = called});
    if (id == node && wider.mark) wider.mark(wide.mutable_notes(id));
  }
  computation = std::move(wide);
  return true;
}

std::vector<Op> ElementsOf(Lowering& l, Op tuple, size_t begin, size_t end) {
  std::vector<Op> elements;
  for (size_t i = begin; i < end; ++i) {
    elements.push_back(l.b.GetTupleElement(tuple, static_cast<int64_t>(i)));
  }
  return elements;
}

Shape TupleOf(Lowering& l, absl::Span<const Op> elements) {
  std::vector<Shape> shapes;
  for (const Op element : elements) shapes.push_back(l.shape(element));
  return Shape::Tuple(std::move(shapes));
}

}  // namespace hlod::lazy
