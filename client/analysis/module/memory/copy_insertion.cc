// Finds the readers of each parameter in the fused program, and what runs before a result.
#include "client/analysis/module/memory/copy_insertion.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/analysis/module/access.h"
#include "common/hlo/analysis/aliases.h"
#include "common/hlo/flat_signature.h"
#include "common/passes/copy.h"

namespace hlod::analysis {
namespace {

using hlo::Instruction;
using hlo::NodeId;

// The parameters to copy, by instruction of the entry.
struct Copies {
  // The result in whose memory a parameter's own values would be lost, so that all readers read a copy; or
  // kNoNode.
  std::vector<NodeId> for_result;
  std::vector<bool> for_update;  // Parameters that what updates them gets a copy of, each its own.
};

class ArgumentCopies {
 public:
  ArgumentCopies(const hlo::Module& module, const PlacementOptions& options)
      : module_(module),
        entry_(module.entry()),
        placements_(module, options),
        placement_(placements_.of(module.entry_id())),
        donated_(entry_.size(), false) {}

  Copies Find() {
    Copies copies{std::vector<NodeId>(entry_.size(), hlo::Computation::kNoNode), std::vector<bool>(entry_.size(), false)};
    const hlo::FlatSignature signature(entry_);
    const std::vector<int> aliases = hlo::ResolveAliases(module_, signature);
    const Value& results = placement_.value(entry_.root_id());
    for (size_t leaf = 0; leaf < results.size() && leaf < aliases.size(); ++leaf) {
      if (aliases[leaf] < 0 || results[leaf].size() != 1) continue;
      const hlo::FlatSignature::Leaf& argument = signature.arguments[static_cast<size_t>(aliases[leaf])];
      const NodeId parameter = entry_.parameters()[static_cast<size_t>(argument.parameter)];
      donated_[parameter] = true;
      if (!entry_[parameter].shape().IsArray()) continue;
      const NodeId result = placement_.buffers()[static_cast<size_t>(results[leaf][0].buffer)].made;
      if (result != parameter && IsReadBeside(parameter, result)) copies.for_result[parameter] = result;
    }
    for (const NodeId parameter : entry_.parameters())
      copies.for_update[parameter] = !donated_[parameter] && entry_[parameter].shape().IsArray();
    return copies;
  }

  const Placements& placements() const { return placements_; }

 private:
  // Returns true when a step reads the parameter that need not run before the result.
  bool IsReadBeside(NodeId parameter, NodeId result) const {
    std::vector<bool> before(result + 1, false);
    before[result] = true;
    for (NodeId node = result + 1; node-- > 0;) {
      if (!before[node]) continue;
      for (const NodeId operand : entry_[node].operands()) before[operand] = true;
    }
    const BufferId buffer = placement_.value(parameter)[0][0].buffer;
    for (NodeId node = 0; node < entry_.size(); ++node) {
      if (!placement_.runs(node) || (node <= result && before[node])) continue;
      const Sources read = placement_.ReadBy(entry_[node]);
      if (std::ranges::any_of(read, [&](const Source& source) { return source.buffer == buffer; }))
        return true;
    }
    return false;
  }

  const hlo::Module& module_;
  const hlo::Computation& entry_;
  const Placements placements_;
  const Placement& placement_;
  std::vector<bool> donated_;
};

// Appends a copy, which stands at the line of the instruction that needs it.
NodeId Copied(passes::ComputationCopy& copy, NodeId node, Instruction needs_it) {
  return copy.Replace(needs_it, hlo::kCopy, copy.to()[node].shape_id(), hlo::NoAttributes{}, {&node, 1});
}

// Appends the instruction with copies of the parameters that it updates.
NodeId Updating(passes::ComputationCopy& copy, Instruction old, const Copies& copies) {
  std::vector<std::pair<NodeId, NodeId>> before;  // The operands that are copied, and what they were.
  for (uint32_t i = 0; i < old.operand_count(); ++i) {
    const NodeId operand = old.operands()[i];
    if (AccessOf(old, i) != Access::kUpdated || !copies.for_update[operand]) continue;
    before.emplace_back(operand, copy.node(operand));
    copy.set_node(operand, Copied(copy, copy.node(operand), old));
  }
  const NodeId made = copy.Clone(old);
  for (const auto& [operand, node] : before) copy.set_node(operand, node);
  return made;
}

// Appends the tuple that a loop begins with, with copies of the parameters that the loop changes.
NodeId Beginning(passes::ComputationCopy& copy, Instruction loop, const Placements& placements,
                 const Copies& copies) {
  const Instruction tuple = loop.operand(0);
  std::vector<NodeId> elements;
  size_t leaf = 0;
  for (const NodeId operand : tuple.operands()) {
    const bool changes = copies.for_update[operand] && !placements.KeepsLeaf(loop.called()[0], leaf);
    elements.push_back(changes ? Copied(copy, copy.node(operand), loop) : copy.node(operand));
    leaf += hlo::Leaves(copy.to()[copy.node(operand)].shape()).size();
  }
  return copy.Replace(tuple, hlo::kTuple, tuple.shape_id(), hlo::NoAttributes{}, elements);
}

}  // namespace

std::unique_ptr<hlo::Module> WithArgumentCopies(const hlo::Module& canonical,
                                                const PlacementOptions& options) {
  ArgumentCopies arguments(canonical, options);
  const Copies copies = arguments.Find();
  return passes::Rewritten(canonical, nullptr, [&](passes::ComputationCopy& copy, Instruction i) {
    if (&i.computation() != &canonical.entry()) return copy.Clone(i);
    if (i.opcode() == hlo::kParameter) {
      const NodeId parameter = copy.Clone(i);
      const NodeId result = copies.for_result[i.id()];
      return result == hlo::Computation::kNoNode ? parameter : Copied(copy, parameter, canonical.entry()[result]);
    }
    if (i.opcode() == hlo::kScatter || i.opcode() == hlo::kDynamicUpdateSlice)
      return Updating(copy, i, copies);
    if (i.opcode() == hlo::kWhile && i.operand(0).opcode() == hlo::kTuple) {
      const NodeId before = copy.node(i.operands()[0]);
      copy.set_node(i.operands()[0], Beginning(copy, i, arguments.placements(), copies));
      const NodeId made = copy.Clone(i);
      copy.set_node(i.operands()[0], before);
      return made;
    }
    return copy.Clone(i);
  });
}

}  // namespace hlod::analysis
