// Dependences between leaves: a forward walk that gives each array inside each value the set of parameter leaves it is made from.
//
// Sets are interned and their unions remembered, since most instructions depend on what their operands already depend on.
#include "common/hlo/dependence.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace hlod::hlo {
namespace {

using SetId = uint32_t;
using Set = std::vector<uint32_t>;  // Parameter leaves, ascending.
constexpr SetId kEmpty = 0;
constexpr SetId kAll = UINT32_MAX;  // Every parameter leaf: what is said when being exact would take too much room or time.
constexpr size_t kStoredMax = size_t{64} << 20;  // Members of all sets together.
constexpr int kLoopTurnsMax = 64;                // Until a loop's state is taken to mix entirely.
constexpr int64_t kNoLeaf = -1;

// Sets of parameter leaves by number.
class Sets {
 public:
  Sets() { Intern({}); }

  const Set& operator[](SetId id) const { return sets_[id]; }
  SetId Single(uint32_t leaf) { return Intern({leaf}); }

  SetId Union(SetId a, SetId b) {
    if (a == b || b == kEmpty) return a;
    if (a == kEmpty) return b;
    if (a == kAll || b == kAll || stored_ > kStoredMax) return kAll;
    if (a > b) std::swap(a, b);
    const auto [found, added] = unions_.try_emplace({a, b}, kEmpty);
    if (!added) return found->second;
    Set both;
    std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(), std::back_inserter(both));
    const SetId id = Intern(std::move(both));
    unions_[{a, b}] = id;
    return id;
  }

 private:
  SetId Intern(Set set) {
    const auto [found, added] = ids_.try_emplace(set, static_cast<SetId>(sets_.size()));
    if (added) {
      stored_ += set.size();
      sets_.push_back(std::move(set));
    }
    return found->second;
  }

  size_t stored_ = 0;
  std::vector<Set> sets_;
  absl::flat_hash_map<Set, SetId> ids_;
  absl::flat_hash_map<std::pair<SetId, SetId>, SetId> unions_;
};

// What is known of one leaf of a value.
struct Leaf {
  SetId set = kEmpty;
  int64_t same_as = kNoLeaf;  // The parameter leaf that it is, unchanged; a loop hands such a leaf on whatever its trip count.
  friend bool operator==(const Leaf&, const Leaf&) = default;
};
using Value = std::vector<Leaf>;  // In Leaves() order.

// What a computation's outputs are made from, in terms of its own parameter leaves.
struct Summary {
  Value outputs;
  SetId effects = kEmpty;  // What its side effects depend on.
  bool has_effects = false;
  int64_t parameter_leaves = 0;
};

class Analysis {
 public:
  explicit Analysis(const Module& module) : module_(module) {}

  const Summary& Run() {
    for (ComputationId c = 0; c < module_.computation_count(); ++c) summaries_.push_back(Summarize(module_.computation(c)));
    return summaries_[module_.entry_id()];
  }
  const Sets& sets() const { return sets_; }

 private:
  int64_t LeafCount(const Shape& shape) {
    if (!shape.IsTuple()) return 1;
    return Offsets(shape).back();
  }

  // Where the leaves of each element of a tuple begin, and their number. Shapes are interned, so their address names them.
  const std::vector<int64_t>& Offsets(const Shape& shape) {
    const auto found = offsets_.find(&shape);
    if (found != offsets_.end()) return *found->second;
    auto offsets = std::make_unique<std::vector<int64_t>>(1, 0);
    for (const Shape& element : shape.tuple) offsets->push_back(offsets->back() + LeafCount(element));
    return *(offsets_[&shape] = std::move(offsets));
  }

  SetId UnionOf(const Value& value) {
    SetId all = kEmpty;
    for (const Leaf& leaf : value) all = sets_.Union(all, leaf.set);
    return all;
  }

  // A callee's leaf (or set) over the caller's arguments.
  SetId Substitute(SetId set, const Value& arguments) {
    if (set == kAll) return UnionOf(arguments);
    SetId all = kEmpty;
    const Set leaves = sets_[set];  // A copy: unions below may move the table.
    for (const uint32_t leaf : leaves) all = sets_.Union(all, arguments[leaf].set);
    return all;
  }
  Leaf Substitute(const Leaf& leaf, const Value& arguments) {
    if (leaf.same_as != kNoLeaf) return arguments[leaf.same_as];
    return {Substitute(leaf.set, arguments), kNoLeaf};
  }

  Summary Summarize(const Computation& computation) {
    Summary summary;
    std::vector<int64_t> first_leaf;
    for (const NodeId id : computation.parameters()) {
      first_leaf.push_back(summary.parameter_leaves);
      summary.parameter_leaves += LeafCount(computation[id].shape());
    }
    std::vector<Value> values(computation.size());
    for (NodeId id = 0; id < computation.size(); ++id) {
      const Instruction instruction = computation[id];
      if (instruction.opcode() == kParameter) {
        const int64_t first = first_leaf[instruction.parameter_number()], count = LeafCount(instruction.shape());
        for (int64_t i = 0; i < count; ++i) {
          values[id].push_back({sets_.Single(static_cast<uint32_t>(first + i)), first + i});
        }
      } else {
        values[id] = Evaluate(instruction, values, summary);
      }
    }
    summary.outputs = std::move(values[computation.root_id()]);
    return summary;
  }

  void AddEffect(Summary& summary, SetId set) {
    summary.effects = sets_.Union(summary.effects, set);
    summary.has_effects = true;
  }

  Value Evaluate(Instruction instruction, const std::vector<Value>& values, Summary& summary) {
    const auto operand = [&](uint32_t i) -> const Value& { return values[instruction.operands()[i]]; };
    switch (instruction.opcode()) {
      case kTuple: {
        Value all;
        for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
          all.insert(all.end(), operand(i).begin(), operand(i).end());
        }
        return all;
      }
      case kGetTupleElement: {
        const std::vector<int64_t>& offsets = Offsets(instruction.operand(0).shape());
        const int64_t index = instruction.attributes<TupleIndexAttributes>().index;
        return Value(operand(0).begin() + offsets[index], operand(0).begin() + offsets[index + 1]);
      }
      case kCopy:
      case kOptBarrier:
      case kDomain:
        return operand(0);
      case kCall:
      case kFusion:
        return EvaluateCall(instruction, values, summary);
      case kConditional:
        return EvaluateConditional(instruction, values, summary);
      case kWhile:
        return EvaluateWhile(instruction, operand(0), summary);
      default:
        return EvaluateAny(instruction, values, summary);
    }
  }

  Value EvaluateCall(Instruction instruction, const std::vector<Value>& values, Summary& summary) {
    const Summary& callee = summaries_[instruction.called()[0]];
    Value arguments;
    for (const NodeId id : instruction.operands()) arguments.insert(arguments.end(), values[id].begin(), values[id].end());
    if (callee.has_effects) AddEffect(summary, Substitute(callee.effects, arguments));
    Value result;
    for (const Leaf& leaf : callee.outputs) result.push_back(Substitute(leaf, arguments));
    return result;
  }

  Value EvaluateConditional(Instruction instruction, const std::vector<Value>& values, Summary& summary) {
    const SetId selector = UnionOf(values[instruction.operands()[0]]);
    Value result(static_cast<size_t>(LeafCount(instruction.shape())), Leaf{selector, kNoLeaf});
    for (size_t branch = 0; branch < instruction.called().size(); ++branch) {
      const Summary& callee = summaries_[instruction.called()[branch]];
      const Value& argument = values[instruction.operands()[branch + 1]];
      if (callee.has_effects) AddEffect(summary, sets_.Union(selector, Substitute(callee.effects, argument)));
      for (size_t i = 0; i < result.size(); ++i) {
        result[i].set = sets_.Union(result[i].set, Substitute(callee.outputs[i].set, argument));
      }
    }
    return result;
  }

  Value EvaluateWhile(Instruction instruction, const Value& init, Summary& summary) {
    const Summary &body = summaries_[instruction.called()[0]], &condition = summaries_[instruction.called()[1]];
    Value state = init;
    // Sets only grow, so this ends; each turn moves a dependence at least one leaf on.
    SetId turns = kEmpty;
    int turn = 0;
    for (bool changed = true; changed;) {
      changed = false;
      if (++turn > kLoopTurnsMax) return Mixed(instruction, std::move(state), summary);
      turns = Substitute(condition.outputs[0].set, state);
      for (size_t i = 0; i < state.size(); ++i) {
        const Leaf& next = body.outputs[i];
        if (next.same_as == static_cast<int64_t>(i)) continue;
        SetId set = sets_.Union(state[i].set, turns);
        set = sets_.Union(set, Substitute(next.set, state));
        changed = changed || set != state[i].set;
        state[i] = {set, kNoLeaf};
      }
    }
    for (const Summary* callee : {&body, &condition}) {
      if (callee->has_effects) AddEffect(summary, sets_.Union(turns, Substitute(callee->effects, state)));
    }
    return state;
  }

  // The state of a loop when every leaf that it does not merely hand on depends on every other.
  Value Mixed(Instruction loop, Value state, Summary& summary) {
    const Summary& body = summaries_[loop.called()[0]];
    const SetId all = UnionOf(state);
    for (size_t i = 0; i < state.size(); ++i) {
      if (body.outputs[i].same_as != static_cast<int64_t>(i)) state[i] = {all, kNoLeaf};
    }
    for (const ComputationId callee : loop.called()) {
      if (summaries_[callee].has_effects) AddEffect(summary, all);
    }
    return state;
  }

  // Every leaf of the result from every leaf of every operand.
  Value EvaluateAny(Instruction instruction, const std::vector<Value>& values, Summary& summary) {
    SetId all = kEmpty;
    for (const NodeId id : instruction.operands()) all = sets_.Union(all, UnionOf(values[id]));
    const Opcode opcode = instruction.opcode();
    const bool effect = HasTrait(opcode, kSideEffect) ||
                        (opcode == kCustomCall && instruction.attributes<CustomCallAttributes>().has_side_effect);
    if (effect) AddEffect(summary, all);
    return Value(static_cast<size_t>(LeafCount(instruction.shape())), Leaf{all, kNoLeaf});
  }

  const Module& module_;
  Sets sets_;
  std::vector<Summary> summaries_;  // Of the computations before the one at hand.
  absl::flat_hash_map<const Shape*, std::unique_ptr<std::vector<int64_t>>> offsets_;
};

}  // namespace

std::vector<std::vector<bool>> OutputDependences(const Module& module) {
  Analysis analysis(module);
  const Summary& entry = analysis.Run();
  std::vector<std::vector<bool>> dependences;
  for (const Leaf& leaf : entry.outputs) {
    std::vector<bool>& row = dependences.emplace_back(entry.parameter_leaves);
    for (const SetId set : {leaf.set, entry.effects}) {
      if (set == kAll) {
        row.assign(row.size(), true);
        continue;
      }
      for (const uint32_t parameter : analysis.sets()[set]) row[parameter] = true;
    }
  }
  return dependences;
}

}  // namespace hlod::hlo
