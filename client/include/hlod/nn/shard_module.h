// Divides the parameters of a module among the devices of a mesh, by rules on their names.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hlod/nn/module.h"
#include "hlod/runtime/caller.h"
#include "hlod/runtime/mesh.h"

namespace hlod::nn {

// The axes that divide the parameters whose name the regular expression (ECMAScript) is found in.
struct ShardRule {
  std::string pattern;  // "attention.*in_proj_weight$"
  PartitionSpec spec;
};

// Moves a module to a mesh of the device's daemon, and divides each parameter by the first rule that fits its
// name; parameters without a rule are whole on each device. Tensor parallelism as in Megatron is
//
//   ShardModule(model, device, mesh, {{"up.weight$", {"model", std::nullopt}},
//                                     {"down.weight$", {std::nullopt, "model"}}});
//
// Returns the specs by name. Throws for a rule that fits no parameter, for one whose spec does not fit the
// parameter, and for a mesh that the daemon does not have; the error names the rule and the parameter.
std::vector<std::pair<std::string, PartitionSpec>> ShardModule(Module& module, const Device& device,
                                                               const Mesh& mesh,
                                                               const std::vector<ShardRule>& rules,
                                                               Caller caller = Caller::Here());

// Fully sharded data parallelism: divides every parameter along `axis`, too, so that each device holds a part
// of the parameters, of the optimizer's state and of the examples. The dimension is the first that `rules`
// leave whole and whose size is a multiple of the axis's; a parameter without such a dimension is not divided
// further. Otherwise as ShardModule. torch_xla's SpmdFullyShardedDataParallel, which takes dimension 0.
std::vector<std::pair<std::string, PartitionSpec>> FullyShardModule(Module& module, const Device& device,
                                                                    const Mesh& mesh, const std::string& axis,
                                                                    const std::vector<ShardRule>& rules = {},
                                                                    Caller caller = Caller::Here());

}  // namespace hlod::nn
