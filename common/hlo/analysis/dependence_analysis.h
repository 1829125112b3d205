// Inside the analysis of dependences: a forward walk that gives each array inside each value the set of
// parameter leaves it is made from, and a summary of each computation in terms of its own parameters.
//
// Sets are interned and their unions remembered, since most instructions depend on what their operands
// already depend on.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// One flag a leaf, in Leaves() order.
using LeafFlags = std::vector<bool>;

class DependenceAnalysis {
 public:
  // Summarizes every computation of a verified module, which must outlive the analysis.
  explicit DependenceAnalysis(const Module& module);

  // The parameter leaves of computation `c`, all parameters in a row, that the output leaves in `outputs`
  // depend on, or a side effect.
  LeafFlags Needed(ComputationId c, const LeafFlags& outputs) const;
  // The same for each output leaf on its own: each distinct set once, parameter leaves ascending.
  struct OutputSets {
    size_t parameters = 0;
    std::vector<std::vector<uint32_t>> sets;
    std::vector<size_t> set_of;  // By output leaf.
  };
  OutputSets OutputsOf(ComputationId c);
  // The state leaves that a loop must carry so that those in `wanted`, and its side effects, come out right.
  LeafFlags Carried(Instruction loop, const LeafFlags& wanted) const;
  // Whether output leaf i of `c` is parameter leaf i, unchanged: a loop hands such a leaf on whatever its
  // trip count.
  bool HandsOn(ComputationId c, size_t leaf) const {
    return summaries_[c].outputs[leaf].same_as == static_cast<int64_t>(leaf);
  }
  bool HasEffects(ComputationId c) const { return summaries_[c].has_effects; }
  bool HasEffects(Instruction instruction) const;

  int64_t LeafCount(const Shape& interned);
  // The first leaf of what a get-tuple-element gets.
  int64_t FirstLeaf(Instruction get);

 private:
  using SetId = uint32_t;
  using Set = std::vector<uint32_t>;  // Parameter leaves, ascending.
  static constexpr SetId kEmpty = 0;
  // Every leaf: what is said when being exact would take too much room or time.
  static constexpr SetId kAll = UINT32_MAX;
  static constexpr int64_t kNoLeaf = -1;

  // What is known of one leaf of a value.
  struct Leaf {
    SetId set = kEmpty;
    int64_t same_as = kNoLeaf;  // The parameter leaf that it is, unchanged.
  };
  using Value = std::vector<Leaf>;  // In Leaves() order.

  // What a computation's outputs are made from, in terms of its own parameter leaves.
  struct Summary {
    Value outputs;
    SetId effects = kEmpty;  // What its side effects depend on.
    bool has_effects = false;
    int64_t parameter_leaves = 0;
  };

  SetId Intern(Set set);
  SetId Single(uint32_t leaf) { return Intern({leaf}); }
  SetId Union(SetId a, SetId b);
  SetId UnionAll(std::vector<SetId> sets);
  SetId UnionOf(const Value& value);
  // Whether being exact has taken as much room or time as it may.
  bool Exhausted() const;
  SetId Substitute(SetId set, const Value& arguments);
  Leaf Substitute(const Leaf& leaf, const Value& arguments);
  void Mark(SetId set, LeafFlags& flags) const;

  const std::vector<int64_t>& Offsets(const Shape& interned);
  Summary Summarize(const Computation& computation);
  void AddEffect(Summary& summary, SetId set);
  Value Evaluate(Instruction instruction, const std::vector<Value>& values, Summary& summary);
  Value EvaluateCall(Instruction instruction, const std::vector<Value>& values, Summary& summary);
  Value EvaluateConditional(Instruction instruction, const std::vector<Value>& values, Summary& summary);
  Value EvaluateWhile(Instruction instruction, const Value& init, Summary& summary);
  Value EvaluateAny(Instruction instruction, const std::vector<Value>& values, Summary& summary);
  Value Mixed(Instruction loop, Value state, Summary& summary);

  const Module& module_;
  std::vector<Set> sets_;
  size_t stored_ = 0;  // Members of all sets together.
  size_t walked_ = 0;  // Members that were looked at.
  absl::flat_hash_map<Set, SetId> ids_;
  absl::flat_hash_map<std::pair<SetId, SetId>, SetId> unions_;
  std::vector<Summary> summaries_;  // By computation.
  absl::flat_hash_map<const Shape*, std::unique_ptr<std::vector<int64_t>>> offsets_;
};

}  // namespace hlod::hlo
