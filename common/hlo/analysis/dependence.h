// The dependences of a module's outputs on its parameters, leaf by leaf: they determine what an abstract
// execute can still compute.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// For each output leaf of the entry (Leaves() order), the parameter leaves that it is computed from
// (parameters one after the other). Exact through tuples, calls and branches; loops are solved by fixpoint; a
// loop's result depends on what its trip count depends on, and a branch's on its selector. The inputs of a
// side effect count as dependences of every output. When an exact answer would take too much memory or time
// (a loop that needs more than 64 iterations of the fixpoint, millions of set members), every leaf is a
// dependence. Each distinct set of parameters is stored once, instead of a matrix of outputs and parameters.
class Dependences {
 public:
  explicit Dependences(const Module& module);

  size_t outputs() const { return set_of_.size(); }
  // Returns, by output leaf, true when it depends on none of the parameter leaves that `absent` marks. Leaves
  // beyond the end of `absent` are not absent.
  std::vector<bool> Computable(const std::vector<bool>& absent) const;
  // Returns, by parameter leaf, true when the output depends on it.
  std::vector<bool> Of(size_t output) const;

 private:
  size_t parameters_ = 0;
  std::vector<std::vector<uint32_t>> sets_;  // The distinct sets of parameter leaves.
  std::vector<size_t> set_of_;               // The index in sets_ by output leaf.
};

// Returns a copy of `module` whose entry returns the flat tuple of only those output leaves that `keep` marks
// (Leaves() order), to run what an abstract execute can still compute. Parameters stay. Instructions that
// only other outputs need are removed, leaf by leaf, also inside calls, branches and loops, so that only
// parameter leaves are read that Dependences reports for a kept output. Aliases are dropped. The copy has its
// own Tables, so other threads may use `module` meanwhile.
std::unique_ptr<Module> KeepOutputs(const Module& module, const std::vector<bool>& keep);

}  // namespace hlod::hlo
