// The rules of instructions with bodies: scan, while, conditional, call. They differentiate the bodies, and
// call what comes of them by an instruction of the same kind.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/transform/autodiff/differentiate.h"
#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {

// Forward mode. The rule gives the tangents of the results, and may take their values from what it appends.
struct PushCase {
  Lowering& l;
  const Subgraph& part;
  NodeId node;
  RecomputedPrimals& values;
  const std::function<Op(NodeId, size_t)>& tangent;  // Of element `index` of a node; absent: zero.

  hlo::Instruction instruction() const { return part.computation[node]; }
  std::vector<NodeId> Operands() const;
};

// Reverse mode. The rule adds the operands' cotangents.
struct PullCase {
  Lowering& l;
  const Subgraph& part;
  NodeId node;
  PrimalValues& values;
  absl::Span<const Op> cotangents;  // Of the elements, as many as there are; absent: zero.
  const std::function<bool(NodeId)>& is_active;
  const std::function<void(NodeId, size_t, Op)>& add;  // To element `index` of a node.

  hlo::Instruction instruction() const { return part.computation[node]; }
  std::vector<NodeId> Operands() const;
  Op Cotangent(size_t element) const { return element < cotangents.size() ? cotangents[element] : Op{}; }
};

using PushRule = Tangents (*)(const PushCase&);
using PullRule = void (*)(const PullCase&);

struct ControlRules {
  PushRule push;
  PullRule pull;
};
// Null where the opcode has no body that is differentiated.
const ControlRules* ControlRulesOf(hlo::Opcode opcode);

// rules/scan.cc, rules/while.cc, rules/conditional.cc, rules/call.cc
Tangents PushScan(const PushCase& c);
void PullScan(const PullCase& c);
Tangents PushWhile(const PushCase& c);
void PullWhile(const PullCase& c);
Tangents PushConditional(const PushCase& c);
void PullConditional(const PullCase& c);
Tangents PushCall(const PushCase& c);
void PullCall(const PullCase& c);

// Which results of a checkpoint its policy keeps; a note of the call. The others are computed again where
// keeping them costs.
void SetKept(hlo::Notes& notes, const std::vector<size_t>& kept);
std::vector<size_t> KeptOf(const hlo::Computation& computation, NodeId call);

// An array that an instruction takes: a node, or an element of one that is a tuple.
struct Leaf {
  NodeId node = 0;
  size_t element = 0;
  bool is_element = false;

  friend bool operator==(const Leaf&, const Leaf&) = default;
};
// Of an operand: itself, the operands of the tuple that it is, or its elements.
std::vector<Leaf> LeavesOf(const hlo::Computation& computation, NodeId operand);
Shape ShapeOf(const hlo::Computation& computation, const Leaf& leaf);
Op ValueOf(PrimalValues& values, const Leaf& leaf);

}  // namespace hlod::lazy
