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

// Forward mode: the rule returns the tangents of the results. A rule that appends an instruction which also
// computes the results sets them in `values`.
struct JvpArgs {
  Lowering& l;
  const Subgraph& part;
  NodeId node;
  RecomputedPrimals& values;
  const std::function<Op(NodeId, size_t)>& tangent;  // Returns that of an element of a node; absent: zero.

  hlo::Instruction instruction() const { return part.computation[node]; }
  std::vector<NodeId> Operands() const;
};

// Reverse mode: the rule passes the operands' cotangents to `add`.
struct VjpArgs {
  Lowering& l;
  const Subgraph& part;
  NodeId node;
  PrimalValues& values;
  // One cotangent per element of the result; absent, or beyond the end of the list: zero.
  absl::Span<const Op> cotangents;
  const std::function<bool(NodeId)>& is_active;        // True when a node's cotangent is of use.
  const std::function<void(NodeId, size_t, Op)>& add;  // Adds to the cotangent of an element of a node.

  hlo::Instruction instruction() const { return part.computation[node]; }
  std::vector<NodeId> Operands() const;
  Op Cotangent(size_t element) const { return element < cotangents.size() ? cotangents[element] : Op{}; }
};

using JvpRule = Tangents (*)(const JvpArgs&);
using VjpRule = void (*)(const VjpArgs&);

struct ControlRules {
  JvpRule jvp;
  VjpRule vjp;
};
// Returns null for an opcode without a body to differentiate.
const ControlRules* ControlRulesOf(hlo::Opcode opcode);

// Defined in rules/scan.cc, rules/while.cc, rules/conditional.cc, rules/call.cc.
Tangents ScanJvp(const JvpArgs& c);
void ScanVjp(const VjpArgs& c);
Tangents WhileJvp(const JvpArgs& c);
void WhileVjp(const VjpArgs& c);
Tangents ConditionalJvp(const JvpArgs& c);
void ConditionalVjp(const VjpArgs& c);
Tangents CallJvp(const JvpArgs& c);
void CallVjp(const VjpArgs& c);

// Stores, in a checkpoint call's notes, which of its results its policy keeps. The others are recomputed when
// keeping them costs memory.
void SetKept(hlo::Notes& notes, const std::vector<size_t>& kept);
std::vector<size_t> KeptOf(const hlo::Computation& computation, NodeId call);

// An array operand of an instruction: a node, or an element of a node that is a tuple.
struct Leaf {
  NodeId node = 0;
  size_t element = 0;
  bool is_element = false;

  friend bool operator==(const Leaf&, const Leaf&) = default;
};
// Returns the arrays of an operand: the operand itself; the operands of a tuple instruction; or the elements
// of any other node with a tuple shape.
std::vector<Leaf> LeavesOf(const hlo::Computation& computation, NodeId operand);
Shape ShapeOf(const hlo::Computation& computation, const Leaf& leaf);
Op ValueOf(PrimalValues& values, const Leaf& leaf);

}  // namespace hlod::lazy
