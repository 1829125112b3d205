// Derivatives of scans.
//
// A scan instruction loops over dimension 0 of its inputs. Its body maps the slices of one iteration and the
// carries to slices of the stacked outputs and to the next carries:
//
//   body(x_t, h_t) = (y_t, h_t+1)          scan(xs, h_0) = (ys, h_N)
//
// Forward mode (ScanJvp) is one scan of values and tangents together. The rest of this comment is the
// transpose (ScanPuller).
//
// The transpose of a scan is a scan in the other direction. The inputs of an iteration are outputs of the
// transposed one, and vice versa:
//
//   forward                            transposed
//   input xs, one slice per iteration  output: the cotangents of the slices, stacked
//   output ys                          input: the stack of their cotangents
//   carry h_0 -> h_N                   carry: begins as the cotangent of h_N, ends as that of h_0
//
// The body of the transposed scan is the transpose of the body, which AppendVjp builds in a scratch trace. It
// is important that the cotangent of xs is a stacked *output*, because each slice is written once. If xs were
// a carry that the body slices, as in a while loop, each of the N iterations would add to a cotangent of all
// N slices.
//
// The primals that the transposed body needs are provided in one of three ways (residual_primals.cc):
//   slices()      slices of xs, recomputed from or used as they are: xs becomes one more input
//   invariants()  hoisted: computed before the transposed scan, then a carry that stays as it is
//   kept()        saved: the forward scan is extended to stack them as outputs (Stacks), and the stack is an
//                 input. A value that it stacks already is used from there.
//
// Extending the forward scan means that its instruction is replaced in place (ExtendTuple), so the loop still
// runs once. When its tuple has users that are not get-tuple-elements, a second scan runs for the residuals.
//
// Example, with a weight w that is a carry which the body returns unchanged:
//
//   body(x, h, w):  y = tanh(w * h + x);  returns (y, h' = y, w' = w)
//
// For the cotangents ct_ys, ct_hN and none for w_N, the transposed scan is
//
//   inputs ct_ys, ys, hs;  carries ct_h from ct_hN, ct_w from 0, and w, which stays
//   body:  a = ct_y + ct_h             y is output and next carry: its cotangents add up
//          b = a * (1 - y * y)         tanh's slope by its result
//          returns (ct_x = b,  ct_h' = b * w,  ct_w' = ct_w + b * h,  w)
//
// ys is a residual that the forward scan returns already. hs, the stack of the carry at the beginning of each
// iteration, is added to its outputs. The cotangent of xs is the stack of b, those of h_0 and w_0 are the
// last carries.
//
// Two sets are fixpoints. A carry varies when its next value does (Varying repeats until no carry is added).
// A carry has a cotangent when its final value has one, or when an iteration adds to it, as to w above.
// Attempt() builds the transposed body for the carries known so far, and Pull() repeats it when a cotangent
// came out for another one.
#include <algorithm>

#include "client/transform/autodiff/control_rules.h"
#include "client/transform/autodiff/residual_primals.h"

namespace hlod::lazy {
namespace {

struct ScanParts {
  size_t inputs = 0, carries = 0, outputs = 0;
  int64_t length = 0;
  bool reverse = false;
  hlo::ComputationId callee = 0;
};

ScanParts PartsOf(const hlo::Instruction& scan) {
  const auto& attributes = scan.attributes<hlo::ScanAttributes>();
  if (attributes.dimension != 0) {
    Refuse("a scan along dimension %d has no derivative rule", attributes.dimension);
  }
  ScanParts parts;
  parts.carries = static_cast<size_t>(attributes.num_carries);
  parts.inputs = scan.operand_count() - parts.carries;
  parts.outputs = scan.shape().tuple.size() - parts.carries;
  parts.length = scan.operand(0).shape().dims[0];
  parts.reverse = attributes.is_reverse;
  parts.callee = scan.called()[0];
  return parts;
}

// A scan under construction: its inputs and carries, the parameters of the body for them, and the results of
// the body, which is a scratch trace.
struct ScanBuilder {
  Lowering& l;
  const Trace& body;
  std::vector<Op> inputs, carries;  // Nodes of the target computation.
  std::vector<Op> slices, states;   // The body's parameters for these.
  std::vector<Op> outputs, next;    // The body's results: values to be stacked, and the next carries.

  void AddInput(Op input, Op slice) {
    inputs.push_back(input);
    slices.push_back(slice);
  }
  void AddCarry(Op carry, Op state) {
    carries.push_back(carry);
    states.push_back(state);
  }
  // Appends the scan and returns the stacked outputs, then the final carries.
  std::vector<Op> Emit(const char* name, Lowering& inner, int64_t length, bool reverse);
};

std::vector<Op> ScanBuilder::Emit(const char* name, Lowering& inner, int64_t length, bool reverse) {
  const auto parameter = [&](const Shape& shape) {
    return inner.graph.op(inner.graph.ArgumentParameter(shape));
  };
  // A scan instruction has at least one input and one carry.
  if (inputs.empty()) AddInput(l.Full(hlo::kPred, {length}, false), parameter(Shape::Scalar(hlo::kPred)));
  if (carries.empty()) {
    AddCarry(l.Number(hlo::kS32, 0), parameter(Shape::Scalar(hlo::kS32)));
    next.push_back(states.back());
  }
  std::vector<Op> operands = inputs, parameters = slices, results = outputs;
  operands.insert(operands.end(), carries.begin(), carries.end());
  parameters.insert(parameters.end(), states.begin(), states.end());
  results.insert(results.end(), next.begin(), next.end());
  hlo::ScanAttributes attributes;
  attributes.num_carries = static_cast<int64_t>(carries.size());
  attributes.is_reverse = reverse;
  const Op scan =
      l.b.Add(hlo::kScan, operands, attributes, {CalleeOf(name, body, parameters, results, false)});
  return ElementsOf(l, scan, 0, results.size());
}

Shape Stacked(Shape shape, int64_t length) {
  shape.dims.insert(shape.dims.begin(), length);
  return shape;
}

// Returns which parameters of the body vary when those in `varying` do: a carry varies when its next value
// does.
std::vector<bool> Varying(const CalleeBody& body, const ScanParts& parts, std::vector<bool> varying) {
  const Subgraph nowhere{body.computation};
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<bool> active = ActiveNodes(SubgraphOf(body, varying, nowhere, 0));
    for (size_t i = 0; i < parts.carries; ++i) {
      if (varying[parts.inputs + i] || !active[body.outputs[parts.outputs + i]]) continue;
      varying[parts.inputs + i] = changed = true;
    }
  }
  return varying;
}

}  // namespace

Tangents ScanJvp(const JvpArgs& c) {
  const ScanParts parts = PartsOf(c.instruction());
  const std::vector<NodeId> operands = c.Operands();
  const CalleeBody body = BodyOf(parts.callee);
  std::vector<Op> given, values;
  std::vector<bool> varying;
  for (const NodeId operand : operands) {
    given.push_back(c.tangent(operand, 0));
    values.push_back(c.values.Of(operand));
    varying.push_back(!IsZero(given.back()));
  }
  varying = Varying(body, parts, varying);

  Trace scratch(c.l.graph.place, Trace::Kind::kFunction);
  Lowering inner{scratch};
  ScanBuilder draft{c.l, scratch, {}, {}, {}, {}, {}, {}};
  std::vector<Op> parameters, tangents(operands.size());
  const auto parameter = [&](size_t i) {
    return scratch.op(scratch.ArgumentParameter(body.ParameterShape(i)));
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    parameters.push_back(parameter(i));
    if (i < parts.inputs) draft.AddInput(values[i], parameters[i]);
    else draft.AddCarry(values[i], parameters[i]);
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!varying[i]) continue;
    tangents[i] = parameter(i);
    const Op from = IsZero(given[i]) ? Zeros(c.l, c.l.shape(values[i])) : given[i];
    if (i < parts.inputs) draft.AddInput(from, tangents[i]);
    else draft.AddCarry(from, tangents[i]);
  }
  const JvpResult pushed = BodyJvp(inner, body, parameters, tangents, c.part, c.node);
  const auto first_carry = static_cast<ptrdiff_t>(parts.outputs);
  draft.outputs.assign(pushed.values.begin(), pushed.values.begin() + first_carry);
  draft.next.assign(pushed.values.begin() + first_carry, pushed.values.end());
  for (size_t i = 0; i < parts.outputs; ++i) {
    if (!IsZero(pushed.tangents[i])) draft.outputs.push_back(pushed.tangents[i]);
  }
  for (size_t i = 0; i < parts.carries; ++i) {
    if (!varying[parts.inputs + i]) continue;
    const Op tangent = pushed.tangents[parts.outputs + i];
    draft.next.push_back(IsZero(tangent) ? Zeros(inner, body.ParameterShape(parts.inputs + i)) : tangent);
  }
  const size_t outputs = draft.outputs.size();
  const std::vector<Op> all = draft.Emit("scan_jvp", inner, parts.length, parts.reverse);
  std::vector<Op> primal(all.begin(), all.begin() + first_carry);
  primal.insert(primal.end(), all.begin() + static_cast<ptrdiff_t>(outputs),
                all.begin() + static_cast<ptrdiff_t>(outputs + parts.carries));
  c.values.SetElements(c.node, primal);
  Tangents results;
  size_t next_output = parts.outputs, next_carry = outputs + parts.carries;
  for (size_t i = 0; i < parts.outputs; ++i) {
    results.push_back(IsZero(pushed.tangents[i]) ? Op{} : all[next_output++]);
  }
  for (size_t i = 0; i < parts.carries; ++i) {
    results.push_back(varying[parts.inputs + i] ? all[next_carry++] : Op{});
  }
  return results;
}

namespace {

class ScanPuller {
 public:
  explicit ScanPuller(const VjpArgs& c)
      : c_(c), l_(c.l), parts_(PartsOf(c.instruction())), operands_(c.Operands()) {
    const CalleeBody body = BodyOf(parts_.callee);
    for (size_t i = 0; i < operands_.size(); ++i) {
      varying_.push_back(c.is_active(operands_[i]));
      const bool invariant =
          i >= parts_.inputs && body.outputs[parts_.outputs + i - parts_.inputs] == body.parameters[i];
      sources_.push_back(i < parts_.inputs ? ResidualPrimals::Source::kSlice
                         : invariant       ? ResidualPrimals::Source::kInvariant
                                           : ResidualPrimals::Source::kVarying);
    }
    varying_ = Varying(body, parts_, varying_);
    for (size_t i = 0; i < parts_.carries; ++i) {
      carried_.push_back(varying_[parts_.inputs + i] && !IsZero(c.Cotangent(parts_.outputs + i)));
    }
  }

  void Pull() {
    // A carry has a cotangent when its final value has one, or when an iteration adds to it.
    while (!Attempt()) {
    }
  }

 private:
  // Builds the transposed scan for the carries in carried_. If another carry turns out to have a cotangent,
  // adds it to carried_ and returns false without appending the scan.
  bool Attempt() {
    Trace scratch(l_.graph.place, Trace::Kind::kFunction);
    Lowering inner{scratch};
    CalleeBody body = BodyOf(parts_.callee);
    const Subgraph part = SubgraphOf(body, varying_, c_.part, c_.node);
    ResidualPrimals values(inner, body, sources_);
    ScanBuilder draft{l_, scratch, {}, {}, {}, {}, {}, {}};
    std::vector<Op> cotangents(body.outputs.size());
    const std::vector<NodeId> outputs = body.outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const bool is_output = i < parts_.outputs;
      Op given = c_.Cotangent(i);
      if (is_output ? IsZero(given) : !carried_[i - parts_.outputs]) continue;
      const Shape shape = body.OutputShape(i);
      if (IsZero(given)) given = Zeros(l_, shape);
      cotangents[i] = scratch.op(scratch.ArgumentParameter(shape));
      if (is_output) draft.AddInput(given, cotangents[i]);
      else draft.AddCarry(given, cotangents[i]);
    }
    const std::vector<Op> results = AppendVjp(inner, part, values, outputs, cotangents);
    bool expected = true;
    for (size_t i = 0; i < parts_.carries; ++i) {
      if (IsZero(results[parts_.inputs + i]) || carried_[i]) continue;
      carried_[i] = true;
      expected = false;
    }
    if (!expected) return false;
    Emit(inner, body, values, draft, results);
    return true;
  }

  void Emit(Lowering& inner, CalleeBody& body, ResidualPrimals& values, ScanBuilder& draft,
            const std::vector<Op>& results) {
    // The operands whose cotangents are outputs of the transposed scan, and those whose cotangents are
    // carries.
    std::vector<size_t> with_output, with_carry;
    for (size_t i = 0; i < operands_.size(); ++i) {
      const bool is_input = i < parts_.inputs;
      if (is_input && !IsZero(results[i])) {
        draft.outputs.push_back(results[i]);
        with_output.push_back(i);
      } else if (!is_input && carried_[i - parts_.inputs]) {
        draft.next.push_back(IsZero(results[i]) ? Zeros(inner, body.ParameterShape(i)) : results[i]);
        with_carry.push_back(i);
      }
    }
    for (const ResidualPrimals::Residual& taken : values.slices()) {
      const auto number = static_cast<size_t>(body.computation[taken.node].parameter_number());
      draft.AddInput(c_.values.Of(operands_[number]), taken.parameter);
    }
    const std::vector<Op> stacks = Stacks(body, values.kept());
    for (size_t i = 0; i < stacks.size(); ++i) draft.AddInput(stacks[i], values.kept()[i].parameter);
    // Loop-invariant residuals are computed once, before the transposed scan.
    std::vector<Op> outside(operands_.size());
    for (size_t i = parts_.inputs; i < operands_.size(); ++i) {
      if (sources_[i] == ResidualPrimals::Source::kInvariant && !values.invariants().empty()) {
        outside[i] = c_.values.Of(operands_[i]);
      }
    }
    RecomputedPrimals hoisted(l_, body.computation, outside);
    for (const ResidualPrimals::Residual& taken : values.invariants()) {
      draft.AddCarry(hoisted.Of(taken.node), taken.parameter);
      draft.next.push_back(taken.parameter);
    }
    const size_t outputs = draft.outputs.size();
    const std::vector<Op> all = draft.Emit("scan_vjp", inner, parts_.length, !parts_.reverse);
    for (size_t i = 0; i < with_output.size(); ++i) c_.add(operands_[with_output[i]], 0, all[i]);
    for (size_t i = 0; i < with_carry.size(); ++i) c_.add(operands_[with_carry[i]], 0, all[outputs + i]);
  }

  // Makes the forward scan also return `kept`, stacked over its iterations; returns the stacks.
  std::vector<Op> Stacks(CalleeBody& body, const std::vector<ResidualPrimals::Residual>& kept) {
    const auto first_carry = body.outputs.begin() + static_cast<ptrdiff_t>(parts_.outputs);
    std::vector<NodeId> outputs(body.outputs.begin(), first_carry), more;
    std::vector<size_t> index;  // By residual, its index among the outputs.
    for (const ResidualPrimals::Residual& taken : kept) {
      const auto known = std::find(outputs.begin(), outputs.end(), taken.node);
      index.push_back(static_cast<size_t>(known - outputs.begin()));
      if (known != outputs.end()) continue;
      outputs.push_back(taken.node);
      more.push_back(taken.node);
    }
    std::vector<Op> added;
    if (!more.empty()) added = Wide(body, more);
    std::vector<Op> stacks;
    for (const size_t i : index) {
      stacks.push_back(i < parts_.outputs ? c_.values.Element(c_.node, i) : added[i - parts_.outputs]);
    }
    return stacks;
  }

  // Extends the forward scan to stack `more`, nodes of its body, and returns the stacks.
  std::vector<Op> Wide(CalleeBody& body, const std::vector<NodeId>& more) {
    TupleExtension wider;
    wider.at = parts_.outputs;
    wider.added = more.size();
    wider.shape = c_.instruction().shape();
    const auto at = static_cast<ptrdiff_t>(parts_.outputs);
    std::vector<Shape> shapes;
    for (const NodeId node : more) {
      shapes.push_back(Stacked(body.computation[node].shape(), parts_.length));
    }
    wider.shape.tuple.insert(wider.shape.tuple.begin() + at, shapes.begin(), shapes.end());
    body.outputs.insert(body.outputs.begin() + at, more.begin(), more.end());
    wider.called = {CalleeOf("scan_body", body)};
    std::vector<Op> added = c_.values.ExtendTuple(c_.node, wider);
    if (!added.empty()) return added;
    // The scan's tuple has another use and cannot change, so a second scan computes the residuals.
    const hlo::Attributes attributes = c_.instruction().attributes();
    std::vector<Op> operands;
    for (const NodeId operand : operands_) operands.push_back(c_.values.Of(operand));
    const Op scan = l_.b.Add(hlo::kScan, operands, attributes, wider.called);
    return ElementsOf(l_, scan, wider.at, wider.at + wider.added);
  }

  const VjpArgs& c_;
  Lowering& l_;
  const ScanParts parts_;
  const std::vector<NodeId> operands_;
  std::vector<bool> varying_;
  std::vector<ResidualPrimals::Source> sources_;
  std::vector<bool> carried_;
};

}  // namespace

void ScanVjp(const VjpArgs& c) { ScanPuller(c).Pull(); }

}  // namespace hlod::lazy
