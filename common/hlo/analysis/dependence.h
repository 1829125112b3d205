// Which outputs of a module depend on which parameters, leaf by leaf: what an abstract execute may still
// compute.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// What the output leaves of the entry are made from (Leaves() order; parameters one after the other). Exact
// through tuples, calls and branches; loops by fixpoint; a loop's trip count and a branch's choice count as
// dependences. A side effect counts for every output. Where being exact would take too much room or time (a
// loop that turns its state more than 64 leaves round, millions of set members), every leaf counts. Takes
// room for each distinct set of parameters once: many outputs over many parameters are not a matrix.
class Dependences {
 public:
  explicit Dependences(const Module& module);

  size_t outputs() const { return set_of_.size(); }
  // By output leaf: whether it depends on none of the parameter leaves that `absent` marks. Leaves beyond its
  // end are not absent.
  std::vector<bool> Computable(const std::vector<bool>& absent) const;
  // By parameter leaf: whether the output depends on it.
  std::vector<bool> Of(size_t output) const;

 private:
  size_t parameters_ = 0;
  std::vector<std::vector<uint32_t>> sets_;  // Distinct sets of parameter leaves.
  std::vector<size_t> set_of_;               // By output leaf.
};

// A copy of `module` whose entry returns the flat tuple of only those output leaves that `keep` names
// (Leaves() order). Parameters stay; what only the other outputs need goes, leaf by leaf, also from calls,
// branches and loops: no instruction reads a parameter leaf that Dependences does not name for an output
// that is kept. Aliases are dropped. The copy has Tables of its own, so `module` may be in use
// meanwhile. For running what an abstract execute can still compute.
std::unique_ptr<Module> KeepOutputs(const Module& module, const std::vector<bool>& keep);

}  // namespace hlod::hlo
