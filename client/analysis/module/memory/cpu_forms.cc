// One rule per opcode; a copy stands for the instructions that move elements to another layout.
#include "client/analysis/module/memory/cpu_forms.h"

#include <utility>

#include "common/passes/copy.h"

namespace hlod::analysis {
namespace {

using hlo::Instruction;
using hlo::NodeId;

bool IsNarrowFloat(hlo::PrimitiveType type) { return type == hlo::kBF16 || type == hlo::kF16; }

NodeId Moved(passes::ComputationCopy& copy, Instruction of, NodeId node) {
  return copy.Replace(of, hlo::kCopy, copy.to()[node].shape_id(), hlo::NoAttributes{}, {node});
}

NodeId Converted(passes::ComputationCopy& copy, Instruction of, NodeId node, hlo::PrimitiveType type) {
  hlo::Shape shape = copy.to()[node].shape();
  if (shape.type == type) return node;
  shape.type = type;
  return copy.Replace(of, hlo::kConvert, copy.tables().Intern(shape), hlo::NoAttributes{}, {node});
}

// Appends an instruction in place of `old`, with copies before and after.
NodeId BetweenCopies(passes::ComputationCopy& copy, Instruction old) {
  const NodeId read = Moved(copy, old, copy.node(old.operands()[0]));
  const NodeId made =
      copy.Replace(old, old.opcode(), old.shape_id(), old.attributes<hlo::CollectiveAttributes>(), {read});
  return Moved(copy, old, made);
}

NodeId WideDot(passes::ComputationCopy& copy, Instruction dot) {
  hlo::Shape wide = dot.shape();
  wide.type = hlo::kF32;
  const NodeId lhs = Converted(copy, dot, copy.node(dot.operands()[0]), hlo::kF32),
               rhs = Converted(copy, dot, copy.node(dot.operands()[1]), hlo::kF32);
  const NodeId made = copy.Replace(dot, hlo::kDot, copy.tables().Intern(wide),
                                   dot.attributes<hlo::DotAttributes>(), {lhs, rhs});
  return Converted(copy, dot, made, dot.shape().type);
}

bool IsDivided(Instruction i) { return i.operand_count() == 1 && i.shape().IsArray(); }

}  // namespace

std::unique_ptr<hlo::Module> WithCpuForms(const hlo::Module& module) {
  return passes::Rewritten(module, nullptr, [](passes::ComputationCopy& copy, Instruction i) {
    switch (i.opcode()) {
      case hlo::kDot:
        if (IsNarrowFloat(i.shape().type)) return WideDot(copy, i);
        break;
      case hlo::kAllGather:
        if (IsDivided(i) && i.attributes<hlo::CollectiveAttributes>().dimensions[0] != 0)
          return BetweenCopies(copy, i);
        break;
      case hlo::kAllToAll:
        if (IsDivided(i)) return BetweenCopies(copy, i);
        break;
      default: break;
    }
    return copy.Clone(i);
  });
}

}  // namespace hlod::analysis
