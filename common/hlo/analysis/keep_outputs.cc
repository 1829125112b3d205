// Narrows a module to some of its outputs, leaf by leaf.
//
// Removing dead instructions is not enough for this: programs bundle values in tuples, and a single
// instruction that reads one element of a tuple keeps all of its elements alive, through calls, branches and
// loops. An execute without some of its arguments must not compute anything from them, so the unit here is
// the leaf: an array at a path inside nested tuples (hlo::Leaves). A value of the old program becomes a
// vector with one entry per leaf, the new instruction that holds it, or kNone for a leaf that is not needed.
//
// Each computation is treated in two walks, after DependenceAnalysis has summarized, for every computation,
// the parameter leaves that each of its output leaves depends on:
//
//   1. Needs() walks backward from the wanted output leaves and the side effects, and marks the leaves of
//      each instruction that are needed. At a call it asks the callee's summary which arguments these leaves
//      depend on. At a loop it asks for the smallest set of state leaves that is closed under the body and
//      includes those that the condition reads (Carried). A leaf that the body passes on unchanged is the
//      same after the loop as before it, so wanting it does not need the loop (HandedOn).
//   2. Fill() walks forward and appends the needed instructions. Tuples, get-tuple-elements and copies append
//      none: they only rearrange entries. A call becomes a call of a narrowed callee, which takes one tuple
//      of the leaves that it reads and returns one tuple of the leaves that are wanted; likewise branches and
//      loops. Narrow() makes these callees, one per set of leaves, by the same two walks. All other
//      instructions are copied as they are: they need all leaves of their operands, which are put together
//      to tuples again.
//
// For example, the loop below multiplies x by c and, independently of x, adds g * c to g. Its state has the
// leaves i, x, g, c:
//
//   body (s: (s32[], f32[2], f32[2], f32[2])) { ROOT (s.i + 1, s.x * s.c, s.g + s.g * s.c, s.c) }
//   condition (s)                             { ROOT s.i < 3 }
//   ENTRY (p0, p1, p2) {
//     loop = while((0, p0, p1, p2))
//     ROOT (loop.x, loop.g, loop.c)
//   }
//
// Without an argument for p1, the outputs 0 and 2 can be computed: keep = {true, false, true}. Needs() finds
// that x and c of the loop are wanted. c is passed on unchanged. x needs itself and c (by the body), and i
// (by the condition), but not g: the loop carries i, x, c, and p1 is needed by no instruction.
//
//   body (s: (s32[], f32[2], f32[2]))         { ROOT (s.i + 1, s.x * s.c, s.c) }
//   condition (s)                             { ROOT s.i < 3 }
//   ENTRY (p0, p1, p2) {
//     loop = while((0, p0, p2))
//     ROOT (loop.x, p2)
//   }
//
// p1 stays a parameter, so the arguments keep their numbers. With keep = {false, false, true} there would be
// no loop at all. get-tuple-elements of leaves that a loop had to carry, but that nobody reads afterwards,
// are left for RemoveDead.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "common/hlo/analysis/dependence.h"
#include "common/hlo/analysis/dependence_analysis.h"
#include "common/hlo/instruction_cloner.h"

namespace hlod::hlo {
namespace {

constexpr NodeId kNone = Computation::kNoNode;

// A value in a narrowed computation: by leaf of its old shape, the instruction that holds it, or kNone when
// the leaf is not needed.
using Value = std::vector<NodeId>;

bool Any(const LeafFlags& flags) { return std::find(flags.begin(), flags.end(), true) != flags.end(); }

void Merge(LeafFlags& flags, LeafFlags::const_iterator more) {
  for (size_t i = 0; i < flags.size(); ++i, ++more) flags[i] = flags[i] || *more;
}

class Narrower {
 public:
  // REQUIRES: no other thread uses the Tables of the modules.
  Narrower(const Module& from, Module& to) : from_(from), to_(to), analysis_(from) {}

  // Adds the entry: its parameters are unchanged, its result is the tuple of the leaves that `keep` marks.
  void NarrowEntry(const LeafFlags& keep) {
    const Computation& entry = from_.entry();
    Body body(entry, NewComputation(entry), Needs(entry, keep));
    for (const NodeId id : entry.parameters()) {
      const Instruction parameter = entry[id];
      const NodeId now = CloneInstruction(parameter, {}, body.to, ClonedNotes::kAll);
      body.values[id] = TakenApart(body.to, now, body.needs[id]);
    }
    Fill(body);
    SetTupleRoot(body, keep);
    AddComputation(std::move(body.to));
  }

 private:
  // One computation being narrowed.
  struct Body {
    Body(const Computation& from, Computation to, std::vector<LeafFlags> needs)
        : from(from), to(std::move(to)), needs(std::move(needs)), values(from.size()) {}
    const Computation& from;
    Computation to;
    std::vector<LeafFlags> needs;  // By old instruction.
    std::vector<Value> values;     // By old instruction; empty until it is copied.
  };

  Computation NewComputation(const Computation& from) const {
    Computation computation(to_.shared_tables(), from.name());
    computation.config = from.config;
    return computation;
  }

  ComputationId AddComputation(Computation computation) {
    std::string name = computation.name();
    to_.AddComputation(std::move(name)) = std::move(computation);
    return to_.computation_count() - 1;
  }

  // Returns, by instruction, its leaves that are needed for the output leaves in `keep` and for all side
  // effects.
  std::vector<LeafFlags> Needs(const Computation& computation, const LeafFlags& keep) {
    std::vector<LeafFlags> needs;
    for (NodeId id = 0; id < computation.size(); ++id) {
      needs.emplace_back(static_cast<size_t>(analysis_.LeafCount(computation[id].shape())));
    }
    Merge(needs[computation.root_id()], keep.begin());
    for (NodeId id = computation.size(); id-- > 0;) {
      const Instruction instruction = computation[id];
      if (Any(needs[id]) || analysis_.HasEffects(instruction)) NeedOperands(instruction, needs);
    }
    return needs;
  }

  void NeedOperands(Instruction instruction, std::vector<LeafFlags>& needs) {
    const LeafFlags& wanted = needs[instruction.id()];
    const auto operand = [&](size_t i) -> LeafFlags& { return needs[instruction.operands()[i]]; };
    switch (instruction.opcode()) {
      case kTuple: {
        auto flat = wanted.begin();
        for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
          Merge(operand(i), flat);
          flat += static_cast<ptrdiff_t>(operand(i).size());
        }
        return;
      }
      case kGetTupleElement: {
        const auto first = static_cast<size_t>(analysis_.FirstLeaf(instruction));
        for (size_t i = 0; i < wanted.size(); ++i) operand(0)[first + i] = operand(0)[first + i] || wanted[i];
        return;
      }
      case kCopy:
      case kOptBarrier:
      case kDomain: return Merge(operand(0), wanted.begin());
      case kCall:
      case kFusion: {
        const LeafFlags takes = analysis_.Needed(instruction.called()[0], wanted);
        auto flat = takes.begin();
        for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
          Merge(operand(i), flat);
          flat += static_cast<ptrdiff_t>(operand(i).size());
        }
        return;
      }
      case kConditional:
        operand(0).assign(1, true);
        for (size_t branch = 0; branch < instruction.called().size(); ++branch) {
          Merge(operand(branch + 1), analysis_.Needed(instruction.called()[branch], wanted).begin());
        }
        return;
      case kWhile:
        if (MustRun(instruction, wanted)) Merge(operand(0), analysis_.Carried(instruction, wanted).begin());
        return Merge(operand(0), HandedOn(instruction, wanted).begin());
      default:
        for (uint32_t i = 0; i < instruction.operand_count(); ++i) operand(i).assign(operand(i).size(), true);
    }
  }

  // Returns the wanted leaves that a loop passes on unchanged: their values exist before it runs.
  LeafFlags HandedOn(Instruction loop, const LeafFlags& wanted) const {
    LeafFlags handed_on(wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i)
      handed_on[i] = wanted[i] && analysis_.HandsOn(loop.called()[0], i);
    return handed_on;
  }

  // Returns true when the loop must run, for an effect or for a wanted leaf that it changes.
  bool MustRun(Instruction loop, const LeafFlags& wanted) const {
    return analysis_.HasEffects(loop) || HandedOn(loop, wanted) != wanted;
  }

  // Appends the needed instructions of a computation, except its parameters.
  void Fill(Body& body) {
    for (NodeId id = 0; id < body.from.size(); ++id) {
      const Instruction instruction = body.from[id];
      if (instruction.opcode() == kParameter) continue;
      if (Any(body.needs[id]) || analysis_.HasEffects(instruction)) {
        body.values[id] = Copied(body, instruction);
      } else {
        body.values[id].assign(body.needs[id].size(), kNone);
      }
    }
  }

  Value Copied(Body& body, Instruction instruction) {
    const auto operand = [&](size_t i) -> const Value& { return body.values[instruction.operands()[i]]; };
    switch (instruction.opcode()) {
      case kTuple: {
        Value all;
        for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
          all.insert(all.end(), operand(i).begin(), operand(i).end());
        }
        return all;
      }
      case kGetTupleElement: {
        const auto first = operand(0).begin() + analysis_.FirstLeaf(instruction);
        return Value(first, first + static_cast<ptrdiff_t>(body.needs[instruction.id()].size()));
      }
      case kCopy:
      case kOptBarrier:
      case kDomain: return operand(0);
      case kCall:
      case kFusion: return CopiedCall(body, instruction);
      case kConditional: return CopiedConditional(body, instruction);
      case kWhile: return CopiedWhile(body, instruction);
      default: return CopiedWhole(body, instruction);
    }
  }

  Value CopiedCall(Body& body, Instruction call) {
    const LeafFlags& wanted = body.needs[call.id()];
    const LeafFlags takes = analysis_.Needed(call.called()[0], wanted);
    const ComputationId callee = Narrow(call.called()[0], wanted, takes, false);
    Value arguments;
    for (const NodeId id : call.operands()) {
      arguments.insert(arguments.end(), body.values[id].begin(), body.values[id].end());
    }
    const NodeId operands[] = {TupleOf(body.to, arguments, takes)};
    return ElementsOf(body, call, Append(body, call, kCall, CallAttributes{}, operands, {callee}, wanted),
                      wanted);
  }

  Value CopiedConditional(Body& body, Instruction conditional) {
    const LeafFlags& wanted = body.needs[conditional.id()];
    std::vector<NodeId> operands = {body.values[conditional.operands()[0]][0]};
    std::vector<ComputationId> branches;
    for (size_t branch = 0; branch < conditional.called().size(); ++branch) {
      const ComputationId callee = conditional.called()[branch];
      const LeafFlags takes = analysis_.Needed(callee, wanted);
      branches.push_back(Narrow(callee, wanted, takes, false));
      operands.push_back(TupleOf(body.to, body.values[conditional.operands()[branch + 1]], takes));
    }
    const NodeId now = Append(body, conditional, kConditional, NoAttributes{}, operands, branches, wanted);
    return ElementsOf(body, conditional, now, wanted);
  }

  Value CopiedWhile(Body& body, Instruction loop) {
    const LeafFlags& wanted = body.needs[loop.id()];
    const Value& init = body.values[loop.operands()[0]];
    Value result(wanted.size(), kNone);
    if (MustRun(loop, wanted)) {
      const LeafFlags carried = analysis_.Carried(loop, wanted);
      const ComputationId called[] = {Narrow(loop.called()[0], carried, carried, false),
                                      Narrow(loop.called()[1], {true}, carried, true)};
      const NodeId operands[] = {TupleOf(body.to, init, carried)};
      result = ElementsOf(body, loop, Append(body, loop, kWhile, NoAttributes{}, operands, called, carried),
                          carried);
    }
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] && analysis_.HandsOn(loop.called()[0], i)) result[i] = init[i];
    }
    return result;
  }

  // Copies an instruction that takes whole operands and returns a whole result.
  Value CopiedWhole(Body& body, Instruction instruction) {
    std::vector<NodeId> operands;
    std::vector<ComputationId> called;
    for (const NodeId id : instruction.operands()) {
      size_t leaf = 0;
      operands.push_back(PutTogether(body.to, body.from[id].shape(), body.values[id], leaf));
    }
    for (const ComputationId callee : instruction.called()) called.push_back(CopyWhole(callee));
    // Control predecessors are dropped, because they may have been removed; the remaining instructions keep
    // their old order anyway.
    const NodeId now =
        CloneInstruction(instruction, operands, body.to, ClonedNotes::kWithoutControl, {.called = called});
    return TakenApart(body.to, now, body.needs[instruction.id()]);
  }

  // Returns a narrowed `c`, which takes a tuple of the parameter leaves in `takes` and returns a tuple of the
  // output leaves in `keep`. When `bare`, it returns its only output leaf without a tuple.
  ComputationId Narrow(ComputationId c, const LeafFlags& keep, const LeafFlags& takes, bool bare) {
    const auto key = std::make_tuple(c, keep, takes, bare);
    if (const auto found = narrowed_.find(key); found != narrowed_.end()) return found->second;
    const Computation& from = from_.computation(c);
    Body body(from, NewComputation(from), Needs(from, keep));
    body.to.config.is_fusion = false;  // Fusions become calls.
    std::vector<Shape> shapes;
    // For each element of the new parameter, the old parameter and its leaf.
    std::vector<std::pair<NodeId, size_t>> taken;
    size_t flat = 0;
    for (const NodeId id : from.parameters()) {
      const std::vector<ShapeLeaf> leaves = Leaves(from[id].shape());
      body.values[id].assign(leaves.size(), kNone);
      for (size_t i = 0; i < leaves.size(); ++i) {
        if (!takes[flat++]) continue;
        shapes.push_back(*leaves[i].shape);
        taken.emplace_back(id, i);
      }
    }
    Tables& tables = to_.tables();
    const NodeId parameter = body.to.Append(kParameter, tables.Intern(Shape::Tuple(shapes)),
                                            tables.Intern(Attributes(ParameterAttributes{0})), {});
    for (size_t i = 0; i < taken.size(); ++i) {
      const auto [id, leaf] = taken[i];
      if (body.needs[id][leaf])
        body.values[id][leaf] = Get(body.to, parameter, static_cast<int64_t>(i), shapes[i]);
    }
    Fill(body);
    if (bare) {
      body.to.set_root(body.values[from.root_id()][0]);
    } else {
      SetTupleRoot(body, keep);
    }
    return narrowed_[key] = AddComputation(std::move(body.to));
  }

  // Copies a computation unchanged, with the computations that it calls.
  ComputationId CopyWhole(ComputationId c) {
    if (const auto found = whole_.find(c); found != whole_.end()) return found->second;
    const Computation& from = from_.computation(c);
    Computation copy = NewComputation(from);
    InstructionCloner(from, copy, {.callee = [this](ComputationId callee) { return CopyWhole(callee); }})
        .CloneAll();
    return whole_[c] = AddComputation(std::move(copy));
  }

  // Appends an instruction whose result is the tuple of the leaves of `old` marked in `gives`.
  NodeId Append(Body& body, Instruction old, Opcode opcode, const Attributes& attributes,
                absl::Span<const NodeId> operands, absl::Span<const ComputationId> called,
                const LeafFlags& gives) {
    std::vector<Shape> shapes;
    const std::vector<ShapeLeaf> leaves = Leaves(old.shape());
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (gives[i]) shapes.push_back(*leaves[i].shape);
    }
    Tables& tables = to_.tables();
    const NodeId now = body.to.Append(opcode, tables.Intern(Shape::Tuple(std::move(shapes))),
                                      tables.Intern(attributes), operands, called);
    CloneNotes(old, body.to, now, ClonedNotes::kWithoutControl);
    return now;
  }

  // Returns the elements of `tuple`, which holds the leaves marked in `gives`, by leaf of `old`.
  Value ElementsOf(Body& body, Instruction old, NodeId tuple, const LeafFlags& gives) {
    const std::vector<ShapeLeaf> leaves = Leaves(old.shape());
    Value value(leaves.size(), kNone);
    int64_t element = 0;
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (gives[i]) value[i] = Get(body.to, tuple, element++, *leaves[i].shape);
    }
    return value;
  }

  NodeId Get(Computation& to, NodeId tuple, int64_t index, const Shape& shape) {
    const NodeId operands[] = {tuple};
    return to.Append(kGetTupleElement, to_.tables().Intern(shape),
                     to_.tables().Intern(Attributes(TupleIndexAttributes{index})), operands);
  }

  // Appends a tuple of the leaves of `value` marked in `takes`.
  NodeId TupleOf(Computation& to, const Value& value, const LeafFlags& takes) {
    std::vector<NodeId> elements;
    std::vector<Shape> shapes;
    for (size_t i = 0; i < takes.size(); ++i) {
      if (!takes[i]) continue;
      elements.push_back(value[i]);
      shapes.push_back(to[value[i]].shape());
    }
    return to.Append(kTuple, to_.tables().Intern(Shape::Tuple(std::move(shapes))), 0, elements);
  }

  void SetTupleRoot(Body& body, const LeafFlags& keep) {
    body.to.set_root(TupleOf(body.to, body.values[body.from.root_id()], keep));
  }

  // Appends the get-tuple-elements that read the needed leaves of a whole value.
  Value TakenApart(Computation& to, NodeId whole, const LeafFlags& needed) {
    const Shape& shape = to[whole].shape();
    if (!shape.IsTuple()) return {whole};
    const std::vector<ShapeLeaf> leaves = Leaves(shape);
    Value value(leaves.size(), kNone);
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!needed[i]) continue;
      const Shape* at = &shape;
      NodeId node = whole;
      for (const int64_t index : leaves[i].index) {
        at = &at->tuple[index];
        node = Get(to, node, index, *at);
      }
      value[i] = node;
    }
    return value;
  }

  // Appends the tuples that build a value of `shape` from its leaves, starting at `leaf`. REQUIRES: none of
  // them is kNone.
  NodeId PutTogether(Computation& to, const Shape& shape, const Value& value, size_t& leaf) {
    if (!shape.IsTuple()) return value[leaf++];
    std::vector<NodeId> elements;
    for (const Shape& element : shape.tuple) elements.push_back(PutTogether(to, element, value, leaf));
    return to.Append(kTuple, to_.tables().Intern(shape), 0, elements);
  }

  const Module& from_;
  Module& to_;
  DependenceAnalysis analysis_;
  std::map<std::tuple<ComputationId, LeafFlags, LeafFlags, bool>, ComputationId> narrowed_;
  std::map<ComputationId, ComputationId> whole_;
};

}  // namespace

std::unique_ptr<Module> KeepOutputs(const Module& module, const std::vector<bool>& keep) {
  const std::unique_ptr<Module> own = Clone(module);
  auto result = std::make_unique<Module>(module.name(), own->shared_tables());
  result->config = module.config;
  result->config.ClearSignature();  // The results have changed, so the recorded signature does not apply.
  Narrower(*own, *result).NarrowEntry(keep);
  return result;
}

}  // namespace hlod::hlo
