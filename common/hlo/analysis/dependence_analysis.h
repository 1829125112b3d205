// The analysis of dependences: a forward walk that computes, for each array inside each value, the set of
// parameter leaves that it depends on, and a summary of each computation in terms of its own parameters.
//
// Sets are interned and their unions cached, since most instructions depend on the same parameters as their
// operands.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// One flag per leaf, in Leaves() order.
using LeafFlags = std::vector<bool>;

class DependenceAnalysis {
 public:
  // Summarizes every computation of a verified module, which must outlive the analysis.
  explicit DependenceAnalysis(const Module& module);

  // Returns the parameter leaves of computation `c`, all parameters in one row, on which the output leaves in
  // `outputs` or a side effect depend.
  LeafFlags Needed(ComputationId c, const LeafFlags& outputs) const;
  // The dependences of each output leaf separately, with every distinct set stored once, and parameter leaves
  // in ascending order.
  struct OutputSets {
    size_t parameters = 0;
    std::vector<std::vector<uint32_t>> sets;
    std::vector<size_t> set_of;  // The index of the set by output leaf.
  };
  OutputSets OutputsOf(ComputationId c);
  // Returns the state leaves that a loop must carry to compute those in `wanted` and its side effects.
  LeafFlags Carried(Instruction loop, const LeafFlags& wanted) const;
  // Returns true when output leaf i of `c` is parameter leaf i, unchanged: for any trip count, a loop returns
  // such a leaf as it was.
  bool HandsOn(ComputationId c, size_t leaf) const {
    return summaries_[c].outputs[leaf].same_as == static_cast<int64_t>(leaf);
  }
  bool HasEffects(ComputationId c) const { return summaries_[c].has_effects; }
  bool HasEffects(Instruction instruction) const;

  int64_t LeafCount(const Shape& interned);
  // Returns the position of the first leaf that a get-tuple-element reads.
  int64_t FirstLeaf(Instruction get);

 private:
  using SetId = uint32_t;
  using Set = std::vector<uint32_t>;  // Parameter leaves in ascending order.
  static constexpr SetId kEmpty = 0;
  // The set of all leaves: the answer when an exact one would take too much memory or time.
  static constexpr SetId kAll = UINT32_MAX;
  static constexpr int64_t kNoLeaf = -1;

  // The analysis of one leaf of a value.
  struct Leaf {
    SetId set = kEmpty;
    int64_t same_as = kNoLeaf;  // The parameter leaf that it equals, or kNoLeaf.
  };
  using Value = std::vector<Leaf>;  // One Leaf per leaf, in Leaves() order.

  // The dependences of a computation's outputs on its own parameter leaves.
  struct Summary {
    Value outputs;
    SetId effects = kEmpty;  // The parameter leaves that its side effects depend on.
    bool has_effects = false;
    int64_t parameter_leaves = 0;
  };

  SetId Intern(Set set);
  SetId Single(uint32_t leaf) { return Intern({leaf}); }
  SetId Union(SetId a, SetId b);
  SetId UnionAll(std::vector<SetId> sets);
  SetId UnionOf(const Value& value);
  // Returns true when the exact analysis has reached its limits of memory or time.
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
  size_t stored_ = 0;  // The number of members of all sets.
  size_t walked_ = 0;  // The number of members visited so far.
  absl::flat_hash_map<Set, SetId> ids_;
  absl::flat_hash_map<std::pair<SetId, SetId>, SetId> unions_;
  std::vector<Summary> summaries_;  // By computation.
  absl::flat_hash_map<const Shape*, std::unique_ptr<std::vector<int64_t>>> offsets_;
};

}  // namespace hlod::hlo
