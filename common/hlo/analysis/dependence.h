// Which outputs of a module depend on which parameters, leaf by leaf: what an abstract execute may still
// compute.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// result[o][p]: whether output leaf o of the entry depends on parameter leaf p (both in Leaves() order,
// parameters one after the other). Exact through tuples, calls and branches; loops by fixpoint; a loop's trip
// count and a branch's choice count as dependences. A side effect counts for every output. Where being exact
// would take too much room or time (a loop that turns its state more than 64 leaves round, tens of millions
// of set members), every leaf counts.
std::vector<std::vector<bool>> OutputDependences(const Module& module);

// A copy of `module` whose entry returns the flat tuple of only those output leaves that `keep` names
// (Leaves() order). Parameters stay; what only the other outputs need goes, leaf by leaf, also from calls,
// branches and loops: no instruction reads a parameter leaf that OutputDependences does not name for an
// output that is kept. Aliases are dropped. The copy has Tables of its own, so `module` may be in use
// meanwhile. For running what an abstract execute can still compute.
std::unique_ptr<Module> KeepOutputs(const Module& module, const std::vector<bool>& keep);

}  // namespace hlod::hlo
