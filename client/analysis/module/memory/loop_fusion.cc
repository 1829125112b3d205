// Fusion as XLA's InstructionFusion does it with the rules of its CPU backend: a cheap operand is computed
// in each of its users, an expensive one only in a single user that needs each element once. An operand that
// reads more than it gives is computed in all of its users or in none.
#include "client/analysis/module/memory/loop_fusion.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "client/analysis/module/access.h"
#include "client/analysis/module/fusible.h"

namespace hlod::analysis {
namespace {

using hlo::Instruction;
using hlo::NodeId;

// Code that a loop would contain more often than this is not computed inside.
constexpr int64_t kEmittedMax = 15;
constexpr int64_t kReductionsMax = 5;
constexpr uint32_t kJoinedMax = 8;  // The number of operands of a concatenation in a loop.
// Concatenations along rows of as many bytes are loops of their own.
constexpr int64_t kJoinedRowMin = 64, kJoinedBytesMin = 2048;
// The search for paths to all users ends after N instructions.
constexpr int64_t kStepsMax = 50'000'000;
// Kernels grow until they have looked at N operands and users together. Of a module beyond that, the later
// kernels stay as they are, and the estimate is too high rather than late.
constexpr int64_t kGrowthMax = 200'000'000;

bool IsElementwise(Instruction i) {
  return hlo::HasTrait(i.opcode(), hlo::kElementwise) || i.opcode() == hlo::kCopy || i.opcode() == hlo::kMap;
}

// Returns true for what CopyInsertion inserts, after fusion.
bool IsArgumentCopy(Instruction i) {
  return i.opcode() == hlo::kCopy && i.operand(0).opcode() == hlo::kParameter;
}

// The CPU has no instruction that rounds to bf16, so XLA's CPU backend does not repeat this either.
bool IsExpensiveOnCpu(Instruction i) {
  if (i.opcode() == hlo::kConvert && i.shape().type == hlo::kBF16 && i.operand(0).shape().type == hlo::kF32)
    return true;
  return IsExpensive(i);
}

// Returns true when the loop of `i` reads elements of operand `index` several times.
bool Reuses(Instruction i, uint32_t index) {
  switch (i.opcode()) {
    case hlo::kBitcast:
    case hlo::kConcatenate:
    case hlo::kReshape:
    case hlo::kReverse:
    case hlo::kSlice:
    case hlo::kTranspose:
    case hlo::kGather: return false;
    case hlo::kPad: return index > 0;
    case hlo::kReduce: return index >= i.operand_count() / 2;
    case hlo::kDynamicSlice: return index > 0;
    case hlo::kDynamicUpdateSlice: return index > 1;
    default: return !IsElementwise(i);
  }
}

// Returns true for opcodes after which the code for an index is emitted again for each use.
bool NeedsNewCode(hlo::Opcode opcode) {
  switch (opcode) {
    case hlo::kConcatenate:
    case hlo::kDynamicUpdateSlice:
    case hlo::kPad:
    case hlo::kReduce: return true;
    default: return false;
  }
}

int64_t TrueRank(const hlo::Shape& shape) {
  return std::ranges::count_if(shape.dims, [](int64_t size) { return size != 1; });
}

// Returns true when at most one operand is as large as the result, in dimensions.
bool IsAtMostUnary(Instruction i) {
  int64_t large = 0;
  for (uint32_t index = 0; index < i.operand_count(); ++index) {
    const Instruction operand = i.operand(index);
    const hlo::Shape& shape = operand.shape();
    if (operand.opcode() == hlo::kBroadcast || operand.opcode() == hlo::kIota) continue;
    if (operand.opcode() == hlo::kConstant && TrueRank(shape) == 0) continue;
    large += TrueRank(shape) >= TrueRank(i.shape());
  }
  return large <= 1;
}

// The number of times that a loop contains the code of each thing it computes or reads.
class Emission {
 public:
  explicit Emission(Instruction root) {
    counts_[root.id()] = 1;
    Spread(root);
  }

  int64_t Of(NodeId node) const {
    const auto found = indexed_by_.find(node);
    if (found == indexed_by_.end()) return 0;
    int64_t total = 0;
    for (const NodeId user : found->second) total += counts_.at(user);
    return total;
  }
  void Compute(Instruction producer) {
    counts_[producer.id()] = Of(producer.id());
    Spread(producer);
  }

 private:
  // An operand of the same dimensions is indexed as the user is; another gets an index of its own.
  void Spread(Instruction user) {
    for (uint32_t index = 0; index < user.operand_count(); ++index) {
      auto& by = indexed_by_[user.operands()[index]];
      const bool same =
          user.opcode() == hlo::kTranspose || user.operand(index).shape().dims == user.shape().dims;
      if (const auto own = indexed_by_.find(user.id()); same && own != indexed_by_.end()) {
        const absl::flat_hash_set<NodeId> users = own->second;
        indexed_by_[user.operands()[index]].insert(users.begin(), users.end());
      } else {
        by.insert(user.id());
      }
    }
  }

  absl::flat_hash_map<NodeId, int64_t> counts_;
  absl::flat_hash_map<NodeId, absl::flat_hash_set<NodeId>> indexed_by_;
};

class LoopFusion {
 public:
  LoopFusion(const std::vector<bool>& closed, KernelGraph& graph)
      : closed_(closed),
        graph_(graph),
        computation_(graph.computation()),
        whole_(graph.computation().size(), false),
        reached_(graph.computation().size(), 0),
        needed_(graph.computation().size(), 0) {}

  void Run() {
    FindWhole();
    for (NodeId node = computation_.size(); node-- > 0;) {
      if (graph_.inside(node) || closed_[node] || !IsLoop(computation_[node].opcode()) ||
          IsArgumentCopy(computation_[node]))
        continue;
      Grow(node);
    }
  }

 private:
  // The state of the kernel that grows.
  struct Growth {
    NodeId kernel;
    Emission emission;
    absl::flat_hash_set<NodeId> reused;
    int64_t reductions = 0;
    bool grown = false;
  };

  Growth Begin(NodeId kernel) const {
    Growth growth{kernel, Emission(computation_[kernel]), {}};
    AddReused(computation_[kernel], growth);
    growth.reductions = computation_[kernel].opcode() == hlo::kReduce;
    return growth;
  }

  static void AddReused(Instruction i, Growth& growth) {
    for (uint32_t index = 0; index < i.operand_count(); ++index) {
      if (Reuses(i, index)) growth.reused.insert(i.operands()[index]);
    }
  }

  void Grow(NodeId kernel) {
    Growth growth = Begin(kernel);
    while (GrowOnce(growth)) {
    }
  }

  // Computes the last operand of the text that may be computed inside.
  bool GrowOnce(Growth& growth) {
    std::vector<NodeId> reads = graph_.reads(growth.kernel);
    growth_steps_ += static_cast<int64_t>(reads.size());
    if (growth_steps_ > kGrowthMax) return false;
    std::ranges::sort(reads, std::greater<>());
    for (const NodeId producer : reads) {
      if (whole_[producer] || !MayFuse(growth, producer)) continue;
      growth.grown = true;
      const Instruction i = computation_[producer];
      for (const NodeId read : graph_.reads(producer))
        growth_steps_ += static_cast<int64_t>(graph_.users(read).size());
      if (growth.reused.erase(producer) > 0) growth.reused.insert(i.operands().begin(), i.operands().end());
      else AddReused(i, growth);
      growth.reductions += i.opcode() == hlo::kReduce;
      growth.emission.Compute(i);
      graph_.FuseOperand(growth.kernel, producer);
      return true;
    }
    return false;
  }

  bool MayFuse(const Growth& growth, NodeId producer) const {
    const Instruction i = computation_[producer];
    if (closed_[producer] || !graph_.members(producer).empty() || producer == computation_.root_id() ||
        !IsLoop(i.opcode()) || !i.shape().IsArray() || IsArgumentCopy(i))
      return false;
    const Instruction root = computation_[growth.kernel];
    if (JoinsAlone(i) || (!growth.grown && JoinsAlone(root))) return false;
    if (IsExpensiveOnCpu(i) &&
        (growth.reused.contains(producer) || !graph_.IsReadOnlyBy(producer, growth.kernel)))
      return false;
    if (ReadsUpdated(root, i)) return false;
    if (!growth.grown) return true;
    const int64_t emitted = growth.emission.Of(producer);
    return !(i.opcode() == hlo::kReduce && growth.reductions > kReductionsMax) && emitted <= kEmittedMax &&
           !(NeedsNewCode(i.opcode()) && emitted > 1);
  }

  // Returns true for concatenations that are better loops of their own: of many arrays, or of long rows.
  static bool JoinsAlone(Instruction i) {
    if (i.opcode() != hlo::kConcatenate) return false;
    if (i.operand_count() > kJoinedMax) return true;
    const int64_t bytes = hlo::ByteSize(i.shape()).value_or(0), last = i.shape().rank() - 1;
    if (last < 1 || i.dimensions()[0] != last || bytes < kJoinedBytesMin) return false;
    const int64_t element = bytes / std::max<int64_t>(hlo::ElementCount(i.shape()).value_or(1), 1);
    return i.shape().dims.back() * element >= kJoinedRowMin;
  }

  // Returns true when `producer` reads, not element by element, the array that `root` updates in place.
  static bool ReadsUpdated(Instruction root, Instruction producer) {
    if (root.opcode() != hlo::kDynamicUpdateSlice || IsElementwise(producer)) return false;
    return std::ranges::count(producer.operands(), root.operands()[0]) > 0;
  }

  // Finds the instructions that are not computed inside, because they read more than they give and cannot be
  // computed inside all that need them.
  void FindWhole() {
    for (NodeId node = computation_.size(); node-- > 0;) {
      const Instruction i = computation_[node];
      if (graph_.inside(node) || !i.shape().IsArray() || IsAtMostUnary(i)) continue;
      int64_t read = 0;
      for (const NodeId operand : graph_.reads(node))
        read += hlo::ElementCount(computation_[operand].shape()).value_or(0);
      if (read > hlo::ElementCount(i.shape()).value_or(0) && !FusesOnAllPaths(node)) whole_[node] = true;
    }
  }

  // Returns true when every operand on every path from `producer` to its users may be computed inside.
  bool FusesOnAllPaths(NodeId producer) {
    const std::vector<NodeId>& users = graph_.users(producer);
    if (users.empty()) return true;
    const NodeId last = *std::ranges::max_element(users);
    steps_ += last - producer;
    if (steps_ > kStepsMax) return false;
    ++round_;
    reached_[producer] = round_;
    for (NodeId node = producer + 1; node <= last; ++node) {
      if (graph_.inside(node)) continue;
      const bool reads =
          std::ranges::any_of(graph_.reads(node), [&](NodeId r) { return reached_[r] == round_; });
      if (reads) reached_[node] = round_;
    }
    for (const NodeId user : users) needed_[user] = round_;
    for (NodeId node = last; node > producer; --node) {
      if (needed_[node] != round_ || reached_[node] != round_) continue;
      if (closed_[node] || !IsLoop(computation_[node].opcode())) return false;
      const Growth growth = Begin(node);
      for (const NodeId read : graph_.reads(node)) {
        if (reached_[read] != round_) continue;
        if (whole_[read] || !MayFuse(growth, read)) return false;
        needed_[read] = round_;
      }
    }
    return true;
  }

  const std::vector<bool>& closed_;
  KernelGraph& graph_;
  const hlo::Computation& computation_;
  std::vector<bool> whole_;                 // By instruction.
  std::vector<uint32_t> reached_, needed_;  // By instruction, the last round that found it.
  uint32_t round_ = 0;
  int64_t steps_ = 0, growth_steps_ = 0;
};

}  // namespace

// Accelerators read the results of these four from memory, so the list of all backends lacks them.
bool IsLoop(hlo::Opcode opcode) {
  switch (opcode) {
    case hlo::kDynamicUpdateSlice:
    case hlo::kGather:
    case hlo::kMap:
    case hlo::kReduce: return true;
    default: return IsElementByElement(opcode);
  }
}

void FuseLoops(const std::vector<bool>& closed, KernelGraph& graph) { LoopFusion(closed, graph).Run(); }

}  // namespace hlod::analysis
