// Eliminates common subexpressions: an instruction is a range of words, so equal ones are found by hashing
// words.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "common/hlo/analysis/effects.h"
#include "common/passes/copy.h"
#include "common/passes/passes.h"

namespace hlod::passes {

using namespace hlo;

namespace {

bool MayMerge(Instruction instruction, const std::vector<bool>& impure) {
  switch (instruction.opcode()) {
    case kParameter:
    case kOptBarrier:  // Keeps its operand separate.
      return false;
    case kCustomCall: return false;  // Custom calls may be impure.
    default: break;
  }
  if (HasOwnSideEffect(instruction) || HasTrait(instruction.opcode(), kStateful)) return false;
  for (const ComputationId callee : instruction.called()) {
    if (impure[callee]) return false;
  }
  return true;
}

// Returns true when the computation contains an instruction (other than a parameter) that must not be merged
// with an equal one.
bool IsImpure(const Computation& computation, const std::vector<bool>& impure) {
  for (NodeId id = 0; id < computation.size(); ++id) {
    const Instruction instruction = computation[id];
    if (instruction.opcode() != kParameter && instruction.opcode() != kOptBarrier &&
        !MayMerge(instruction, impure)) {
      return true;
    }
  }
  return false;
}

// The words of an instruction as it would be appended.
using Key = absl::InlinedVector<uint32_t, 12>;

// Collects an instruction's words over its new operands: opcode and counts, shape, attributes, operands,
// callees.
void WordsOf(const ComputationCopy& copy, Instruction instruction, Key& words) {
  words.clear();
  words.push_back(static_cast<uint32_t>(instruction.opcode()) | instruction.operand_count() << 8);
  words.push_back(instruction.shape_id());
  words.push_back(instruction.attributes_id());
  for (const NodeId operand : instruction.operands()) words.push_back(copy.node(operand));
  for (const ComputationId callee : instruction.called()) words.push_back(copy.computation(callee));
}

bool SameComputation(const Computation& a, const Computation& b) {
  return a.root_id() == b.root_id() && a.config == b.config &&
         std::equal(a.words().begin(), a.words().end(), b.words().begin(), b.words().end());
}

}  // namespace

std::unique_ptr<Module> MergeEqual(const Module& module, PassWatch* watch) {
  std::unique_ptr<Module> result = EmptyCopy(module);
  std::vector<ComputationId> computations;
  std::vector<bool> impure;
  absl::flat_hash_map<size_t, std::vector<ComputationId>> computations_by_hash;
  Key words;
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& from = module.computation(c);
    impure.push_back(IsImpure(from, impure));
    ComputationCopy copy(module, from, AddEmptyCopy(*result, from), computations);
    absl::flat_hash_map<Key, NodeId> nodes;
    for (NodeId id = 0; id < from.size(); ++id) {
      if (watch != nullptr && watch->Stops()) return nullptr;
      const Instruction instruction = from[id];
      if (!MayMerge(instruction, impure)) {
        copy.set_node(id, copy.Clone(instruction));
        continue;
      }
      WordsOf(copy, instruction, words);
      const auto [found, added] = nodes.try_emplace(words, 0);
      if (added) found->second = copy.Clone(instruction);
      copy.set_node(id, found->second);
    }
    copy.to().set_root(copy.node(from.root_id()));

    const Computation& merged = copy.to();
    auto& candidates = computations_by_hash[absl::HashOf(merged.words())];
    const auto equal = std::find_if(candidates.begin(), candidates.end(), [&](ComputationId other) {
      return SameComputation(result->computation(other), merged);
    });
    computations.push_back(equal == candidates.end() ? c : *equal);
    if (equal == candidates.end()) candidates.push_back(c);
  }
  result->set_entry(computations[module.entry_id()]);
  return RemoveDead(*result, watch);
}

}  // namespace hlod::passes
