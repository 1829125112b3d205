// One walk over the program finds the candidates, which may be too many; each small candidate is then checked
// exactly.
#include "client/runtime/transfer/large_results.h"

#include <algorithm>
#include <limits>

#include "common/hlo/analysis/dependence.h"
#include "common/hlo/flat_signature.h"

namespace hlod::runtime {
namespace {

constexpr size_t kExactMax = 64;  // The number of results that are examined exactly.

bool HasLargeLeaf(const hlo::Shape& shape, int64_t bytes_max) {
  const auto is_large = [&](const hlo::ShapeLeaf& leaf) {
    return hlo::ByteSize(*leaf.shape).value_or(std::numeric_limits<int64_t>::max()) > bytes_max;
  };
  const std::vector<hlo::ShapeLeaf> leaves = hlo::Leaves(shape);
  return std::any_of(leaves.begin(), leaves.end(), is_large);
}

// Returns, by computation, true if it or a callee makes a large array. Callees have smaller ids.
std::vector<bool> LargeComputations(const hlo::Module& module, int64_t bytes_max) {
  std::vector<bool> large(module.computation_count(), false);
  for (hlo::ComputationId id = 0; id < module.computation_count(); ++id) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size() && !large[id]; ++node) {
      const hlo::Instruction instruction = computation[node];
      large[id] = instruction.opcode() != hlo::kParameter && HasLargeLeaf(instruction.shape(), bytes_max);
      for (const hlo::ComputationId callee : instruction.called()) large[id] = large[id] || large[callee];
    }
  }
  return large;
}

}  // namespace

std::vector<bool> LargeResults(const hlo::Module& module, int64_t bytes_max) {
  const hlo::Computation& entry = module.entry();
  const std::vector<bool> large_computations = LargeComputations(module, bytes_max);
  std::vector<bool> large(entry.size(), false);
  for (hlo::NodeId node = 0; node < entry.size(); ++node) {
    const hlo::Instruction instruction = entry[node];
    if (instruction.opcode() == hlo::kParameter) continue;
    // A tuple is not an array; its elements are checked where they are extracted.
    large[node] = instruction.opcode() != hlo::kTuple && HasLargeLeaf(instruction.shape(), bytes_max);
    for (const hlo::NodeId operand : instruction.operands()) large[node] = large[node] || large[operand];
    for (const hlo::ComputationId callee : instruction.called())
      large[node] = large[node] || large_computations[callee];
  }
  const hlo::Instruction root = entry.root();
  const size_t count = hlo::Leaves(root.shape()).size();
  std::vector<bool> results;
  if (root.opcode() == hlo::kTuple && root.operand_count() == count) {
    for (const hlo::NodeId operand : root.operands()) results.push_back(large[operand]);
  } else {
    results.assign(count, large[root.id()]);
  }
  // A small result of a call or a loop that makes large arrays may not need them.
  const hlo::FlatSignature signature(entry);
  size_t looked_at = 0;
  for (size_t i = 0; i < results.size() && i < signature.results.size(); ++i) {
    if (!results[i] || HasLargeLeaf(signature.results[i].shape, bytes_max)) continue;
    if (++looked_at > kExactMax) break;
    std::vector<bool> keep(results.size(), false);
    keep[i] = true;
    const std::unique_ptr<hlo::Module> part = hlo::KeepOutputs(module, keep);
    results[i] = LargeComputations(*part, bytes_max)[part->entry_id()];
  }
  return results;
}

}  // namespace hlod::runtime
