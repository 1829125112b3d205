// A computation as a graph of kernels, which grow by computing operands or users inside.
#pragma once

#include <vector>

#include "common/hlo/module.h"

namespace hlod::analysis {

// The kernels of a computation. At first there is one per instruction; a kernel has the number of the
// instruction whose result it stores.
class KernelGraph {
 public:
  explicit KernelGraph(const hlo::Computation& computation);

  const hlo::Computation& computation() const { return computation_; }
  // Returns the instructions, not computed inside, that the kernel reads, each once.
  const std::vector<hlo::NodeId>& reads(hlo::NodeId kernel) const { return reads_[kernel]; }
  // Returns the kernels that read the result, in the order in which XLA lists them: a new reader is the last,
  // and the last takes the place of one that is removed. So an instruction that is replaced keeps its place.
  const std::vector<hlo::NodeId>& users(hlo::NodeId kernel) const { return users_[kernel]; }
  // Returns what the kernel computes besides its result, users before their operands.
  const std::vector<hlo::NodeId>& members(hlo::NodeId kernel) const { return members_[kernel]; }
  // Returns true for an instruction that is only computed inside of kernels.
  bool inside(hlo::NodeId node) const { return inside_[node]; }
  bool IsReadOnlyBy(hlo::NodeId node, hlo::NodeId kernel) const {
    return users_[node].size() == 1 && users_[node][0] == kernel;
  }

  // Makes the kernel compute `producer`, one of what it reads, inside, with its members. The producer keeps
  // its kernel when others read it.
  void FuseOperand(hlo::NodeId kernel, hlo::NodeId producer);
  // Makes the kernel the inside of its only user's.
  void FuseIntoUser(hlo::NodeId kernel, hlo::NodeId user);

 private:
  void RemoveUser(hlo::NodeId node, hlo::NodeId kernel);

  const hlo::Computation& computation_;
  std::vector<std::vector<hlo::NodeId>> reads_, users_, members_;
  std::vector<bool> inside_;
};

}  // namespace hlod::analysis
