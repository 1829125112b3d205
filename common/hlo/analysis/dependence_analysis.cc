// Dependences between leaves: sets, summaries, and the rule of each opcode that treats its leaves separately.
#include "common/hlo/analysis/dependence_analysis.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "common/hlo/analysis/effects.h"

namespace hlod::hlo {
namespace {

// The limit on the members of all sets together: 128 MiB with the index.
constexpr size_t kStoredMax = size_t{16} << 20;
constexpr size_t kWalkedMax = size_t{512} << 20;  // The limit on visited members: about a second.
// The limit on iterations, after which all leaves of a loop's state are assumed to depend on each other.
constexpr int kLoopIterationsMax = 64;

}  // namespace

DependenceAnalysis::DependenceAnalysis(const Module& module) : module_(module) {
  Intern({});
  for (ComputationId c = 0; c < module_.computation_count(); ++c)
    summaries_.push_back(Summarize(module_.computation(c)));
}

bool DependenceAnalysis::HasEffects(Instruction instruction) const {
  if (HasOwnSideEffect(instruction)) return true;
  return std::any_of(instruction.called().begin(), instruction.called().end(),
                     [this](ComputationId callee) { return summaries_[callee].has_effects; });
}

DependenceAnalysis::SetId DependenceAnalysis::Intern(Set set) {
  const auto [found, added] = ids_.try_emplace(set, static_cast<SetId>(sets_.size()));
  if (added) {
    stored_ += set.size();
    sets_.push_back(std::move(set));
  }
  return found->second;
}

DependenceAnalysis::SetId DependenceAnalysis::Union(SetId a, SetId b) {
  if (a == b || b == kEmpty) return a;
  if (a == kEmpty) return b;
  if (a == kAll || b == kAll || Exhausted()) return kAll;
  if (a > b) std::swap(a, b);
  if (const auto found = unions_.find({a, b}); found != unions_.end()) return found->second;
  walked_ += sets_[a].size() + sets_[b].size();
  Set both;
  std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(),
                 std::back_inserter(both));
  return unions_[{a, b}] = Intern(std::move(both));
}

// Unites all sets at once. Uniting them one after the other would create intermediate sets, for n single
// leaves with n * n / 2 members.
DependenceAnalysis::SetId DependenceAnalysis::UnionAll(std::vector<SetId> sets) {
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  if (!sets.empty() && sets[0] == kEmpty) sets.erase(sets.begin());
  if (sets.empty()) return kEmpty;
  if (sets.size() == 1) return sets[0];
  if (sets.size() == 2) return Union(sets[0], sets[1]);
  if (sets.back() == kAll || Exhausted()) return kAll;
  Set all;
  for (const SetId set : sets) all.insert(all.end(), sets_[set].begin(), sets_[set].end());
  walked_ += all.size();
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return Intern(std::move(all));
}

DependenceAnalysis::SetId DependenceAnalysis::UnionOf(const Value& value) {
  std::vector<SetId> sets;
  for (const Leaf& leaf : value) sets.push_back(leaf.set);
  return UnionAll(std::move(sets));
}

bool DependenceAnalysis::Exhausted() const { return stored_ > kStoredMax || walked_ > kWalkedMax; }

// Returns a callee's set in terms of the leaves that the caller's arguments depend on.
DependenceAnalysis::SetId DependenceAnalysis::Substitute(SetId set, const Value& arguments) {
  if (set == kEmpty) return kEmpty;
  if (Exhausted()) return kAll;
  walked_ += set == kAll ? arguments.size() : sets_[set].size();
  if (set == kAll) return UnionOf(arguments);
  std::vector<SetId> sets;
  for (const uint32_t leaf : sets_[set]) sets.push_back(arguments[leaf].set);
  return UnionAll(std::move(sets));
}

DependenceAnalysis::Leaf DependenceAnalysis::Substitute(const Leaf& leaf, const Value& arguments) {
  if (leaf.same_as != kNoLeaf) return arguments[leaf.same_as];
  return {Substitute(leaf.set, arguments), kNoLeaf};
}

int64_t DependenceAnalysis::LeafCount(const Shape& interned) {
  return interned.IsTuple() ? Offsets(interned).back() : 1;
}

// Returns the position of the first leaf of each element of a tuple, and then their total number. Shapes are
// interned, so their address identifies them.
const std::vector<int64_t>& DependenceAnalysis::Offsets(const Shape& interned) {
  const auto found = offsets_.find(&interned);
  if (found != offsets_.end()) return *found->second;
  auto offsets = std::make_unique<std::vector<int64_t>>(1, 0);
  for (const Shape& element : interned.tuple) offsets->push_back(offsets->back() + LeafCount(element));
  return *(offsets_[&interned] = std::move(offsets));
}

int64_t DependenceAnalysis::FirstLeaf(Instruction get) {
  return Offsets(get.operand(0).shape())[get.attributes<TupleIndexAttributes>().index];
}

void DependenceAnalysis::Mark(SetId set, LeafFlags& flags) const {
  if (set == kAll) {
    flags.assign(flags.size(), true);
    return;
  }
  for (const uint32_t leaf : sets_[set]) flags[leaf] = true;
}

LeafFlags DependenceAnalysis::Needed(ComputationId c, const LeafFlags& outputs) const {
  const Summary& summary = summaries_[c];
  LeafFlags needed(static_cast<size_t>(summary.parameter_leaves));
  Mark(summary.effects, needed);
  absl::flat_hash_set<SetId> marked;  // Several outputs may share a large set, which is then visited once.
  for (size_t i = 0; i < outputs.size(); ++i) {
    const SetId set = summary.outputs[i].set;
    if (outputs[i] && marked.insert(set).second) Mark(set, needed);
  }
  return needed;
}

DependenceAnalysis::OutputSets DependenceAnalysis::OutputsOf(ComputationId c) {
  const Summary& summary = summaries_[c];
  OutputSets result;
  result.parameters = static_cast<size_t>(summary.parameter_leaves);
  absl::flat_hash_map<SetId, size_t> places;
  for (const Leaf& leaf : summary.outputs) {
    const SetId set = Union(leaf.set, summary.effects);
    const auto [place, is_new] = places.try_emplace(set, result.sets.size());
    result.set_of.push_back(place->second);
    if (!is_new) continue;
    if (set != kAll) {
      result.sets.push_back(sets_[set]);
    } else {
      auto& all = result.sets.emplace_back(result.parameters);
      std::iota(all.begin(), all.end(), 0u);
    }
  }
  return result;
}

LeafFlags DependenceAnalysis::Carried(Instruction loop, const LeafFlags& wanted) const {
  const ComputationId body = loop.called()[0];
  LeafFlags carried = Needed(loop.called()[1], {true});
  Mark(summaries_[body].effects, carried);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] && !HandsOn(body, i)) carried[i] = true;
  }
  // Adds, once per leaf, the leaves that the body computes it from.
  std::vector<size_t> open;
  for (size_t i = 0; i < carried.size(); ++i) {
    if (carried[i]) open.push_back(i);
  }
  while (!open.empty()) {
    const SetId set = summaries_[body].outputs[open.back()].set;
    open.pop_back();
    if (set == kAll) return LeafFlags(carried.size(), true);
    for (const uint32_t leaf : sets_[set]) {
      if (!carried[leaf]) open.push_back(leaf);
      carried[leaf] = true;
    }
  }
  return carried;
}

DependenceAnalysis::Summary DependenceAnalysis::Summarize(const Computation& computation) {
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
      const int64_t first = first_leaf[instruction.parameter_number()],
                    count = LeafCount(instruction.shape());
      for (int64_t i = 0; i < count; ++i) {
        values[id].push_back({Single(static_cast<uint32_t>(first + i)), first + i});
      }
    } else {
      values[id] = Evaluate(instruction, values, summary);
    }
  }
  summary.outputs = std::move(values[computation.root_id()]);
  return summary;
}

void DependenceAnalysis::AddEffect(Summary& summary, SetId set) {
  summary.effects = Union(summary.effects, set);
  summary.has_effects = true;
}

DependenceAnalysis::Value DependenceAnalysis::Evaluate(Instruction instruction,
                                                       const std::vector<Value>& values, Summary& summary) {
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
    case kDomain: return operand(0);
    case kCall:
    case kFusion: return EvaluateCall(instruction, values, summary);
    case kConditional: return EvaluateConditional(instruction, values, summary);
    case kWhile: return EvaluateWhile(instruction, operand(0), summary);
    default: return EvaluateAny(instruction, values, summary);
  }
}

DependenceAnalysis::Value DependenceAnalysis::EvaluateCall(Instruction instruction,
                                                           const std::vector<Value>& values,
                                                           Summary& summary) {
  const Summary& callee = summaries_[instruction.called()[0]];
  Value arguments;
  for (const NodeId id : instruction.operands())
    arguments.insert(arguments.end(), values[id].begin(), values[id].end());
  if (callee.has_effects) AddEffect(summary, Substitute(callee.effects, arguments));
  Value result;
  for (const Leaf& leaf : callee.outputs) result.push_back(Substitute(leaf, arguments));
  return result;
}

DependenceAnalysis::Value DependenceAnalysis::EvaluateConditional(Instruction instruction,
                                                                  const std::vector<Value>& values,
                                                                  Summary& summary) {
  const SetId selector = UnionOf(values[instruction.operands()[0]]);
  Value result(static_cast<size_t>(LeafCount(instruction.shape())), Leaf{selector, kNoLeaf});
  for (size_t branch = 0; branch < instruction.called().size(); ++branch) {
    const Summary& callee = summaries_[instruction.called()[branch]];
    const Value& argument = values[instruction.operands()[branch + 1]];
    if (callee.has_effects) AddEffect(summary, Union(selector, Substitute(callee.effects, argument)));
    for (size_t i = 0; i < result.size(); ++i) {
      result[i].set = Union(result[i].set, Substitute(callee.outputs[i].set, argument));
    }
  }
  return result;
}

DependenceAnalysis::Value DependenceAnalysis::EvaluateWhile(Instruction instruction, const Value& init,
                                                            Summary& summary) {
  const Summary &body = summaries_[instruction.called()[0]], &condition = summaries_[instruction.called()[1]];
  Value state = init;
  // Sets only grow, so this ends: each iteration carries a dependence at least one leaf further. `decides` is
  // the set that the trip count depends on.
  SetId decides = kEmpty;
  int iteration = 0;
  for (bool changed = true; changed;) {
    changed = false;
    if (++iteration > kLoopIterationsMax) return Mixed(instruction, std::move(state), summary);
    decides = Substitute(condition.outputs[0].set, state);
    for (size_t i = 0; i < state.size(); ++i) {
      const Leaf& next = body.outputs[i];
      if (next.same_as == static_cast<int64_t>(i)) continue;
      SetId set = Union(state[i].set, decides);
      set = Union(set, Substitute(next.set, state));
      changed = changed || set != state[i].set;
      state[i] = {set, kNoLeaf};
    }
  }
  for (const Summary* callee : {&body, &condition}) {
    if (callee->has_effects) AddEffect(summary, Union(decides, Substitute(callee->effects, state)));
  }
  return state;
}

// Returns the state of a loop under the assumption that every leaf that it does not pass on unchanged depends
// on every other leaf.
DependenceAnalysis::Value DependenceAnalysis::Mixed(Instruction loop, Value state, Summary& summary) {
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

// Makes every leaf of the result depend on every leaf of every operand.
DependenceAnalysis::Value DependenceAnalysis::EvaluateAny(Instruction instruction,
                                                          const std::vector<Value>& values,
                                                          Summary& summary) {
  SetId all = kEmpty;
  for (const NodeId id : instruction.operands()) all = Union(all, UnionOf(values[id]));
  if (HasOwnSideEffect(instruction)) AddEffect(summary, all);
  return Value(static_cast<size_t>(LeafCount(instruction.shape())), Leaf{all, kNoLeaf});
}

}  // namespace hlod::hlo
