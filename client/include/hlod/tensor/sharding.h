// Tensors that are divided among the devices of a mesh.
//
//   Mesh mesh({{"data", 2}, {"model", 2}});
//   MarkSharding(weight, mesh, {std::nullopt, "model"});
//   Tensor y = MatMul(ToMesh(x, device, mesh, {"data", std::nullopt}), weight);
//
// A program that takes or makes a divided tensor runs on all devices of the mesh: XLA's partitioner divides
// it, in a Python process with jaxlib that is started for the first one, and each new program waits for it.
// Shapes, views, gradients and numbers are those of the whole tensors, and reads assemble them. Tensors of
// the program that lie on one device are copied to every device of the mesh, and stay there. All divided
// tensors of a program must be on the same devices.
#pragma once

#include <string>

#include "hlod/runtime/caller.h"
#include "hlod/runtime/mesh.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// Divides a tensor, in place. A value is divided on the devices now; a tensor that is yet to be computed is
// divided by the program that computes it. Updates in place keep the sharding. Throws for a host tensor, a
// view, a spec that does not fit, and a mesh that the daemon does not have.
// torch_xla.distributed.spmd.mark_sharding.
Tensor& MarkSharding(Tensor& tensor, const Mesh& mesh, const PartitionSpec& spec,
                     Caller caller = Caller::Here());
// Returns the tensor's values as a new tensor that is divided in this way, and so is its gradient. For a host
// tensor it is a copy. torch_xla's MarkShardingFunction; jax.lax.with_sharding_constraint.
Tensor WithSharding(const Tensor& tensor, const Mesh& mesh, const PartitionSpec& spec,
                    Caller caller = Caller::Here());
// Copies a tensor to a mesh of the device's daemon; each device gets its part alone.
Tensor ToMesh(const Tensor& tensor, const Device& device, const Mesh& mesh, const PartitionSpec& spec,
              Caller caller = Caller::Here());
// A placeholder of which each device has a part.
Tensor ShardedPlaceholder(DimList dims, PrimitiveType type, const Device& device, const Mesh& mesh,
                          const PartitionSpec& spec, bool requires_grad = false,
                          Caller caller = Caller::Here());

// Returns how a tensor is divided, as HLO writes it, "{devices=[2,1]<=[2]}"; "{replicated}" when each device
// of a mesh has the whole; empty for a tensor on no mesh. For a tensor that is yet to be computed, it is the
// sharding that MarkSharding stated.
std::string ShardingOf(const Tensor& tensor);

// Annotates a tensor with a sharding for the chips of a larger machine, in HLO's spelling: "{devices=[2,1]
// <=[2]}", "{replicated}"; returns the tensor. The program still runs on one device: the annotation is sent
// to the daemon with the program's parameters, and `hloctl check` uses it. Updates in place keep it, and a
// result that takes over the tensor's memory inherits it.
Tensor& MarkSharding(Tensor& tensor, const std::string& sharding, Caller caller = Caller::Here());

}  // namespace hlod
