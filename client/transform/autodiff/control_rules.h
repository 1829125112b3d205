// The rules of instructions with bodies: scan, while, conditional, call. A rule differentiates the bodies,
// and appends an instruction of the same kind that calls the differentiated ones.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/transform/autodiff/differentiate.h"
#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {

// Forward mode: the rule returns the tangents of the results. Where it appends an instruction that computes
// the results as well, it sets them in `values`.
struct PushCase {
  Lowering& l;
  const Subgraph& part;
  NodeId node;
  RecomputedPrimals& values;
  const std::function<Op(NodeId, size_t)>& tangent;  // Returns that of an element of a node; absent: zero.

  hlo::Instruction instruction() const { return part.computation[node]; }
  std::vector<NodeId> Operands() const;
};

// Reverse mode: the rule hands the operands' cotangents to `add`.
struct PullCase {
  Lowering& l;
  const Subgraph& part;
  NodeId node;
  PrimalValues& values;
  absl::Span<const Op> cotangents;  // One per element of the result; absent or missing at the end: zero.
  const std::function<bool(NodeId)>& is_active;        // True when a node's cotangent is of use.
  const std::function<void(NodeId, size_t, Op)>& add;  // Adds to the cotangent of an element of a node.

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
// Returns null for an opcode without a body to differentiate.
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

// Stores in a checkpoint call's notes which of its results its policy keeps. The others are computed again
// where keeping them costs memory.
void SetKept(hlo::Notes& notes, const std::vector<size_t>& kept);
std::vector<size_t> KeptOf(const hlo::Computation& computation, NodeId call);

// An array that an instruction takes: a node, or an element of a node that is a tuple.
struct Leaf {
  NodeId node = 0;
  size_t element = 0;
  bool is_element = false;

  friend bool operator==(const Leaf&, const Leaf&) = default;
};
// Returns the arrays of an operand: itself; when it is a tuple instruction, that one's operands; else the
// elements of the tuple that it returns.
std::vector<Leaf> LeavesOf(const hlo::Computation& computation, NodeId operand);
Shape ShapeOf(const hlo::Computation& computation, const Leaf& leaf);
Op ValueOf(PrimalValues& values, const Leaf& leaf);

}  // namespace hlod::lazy
